//! The closed forms that a scenario can name, as in `covers = { erlang_c = { workers = 10, arrival = "8/s", service = "1/s" } }`: each with
//! its parameters and what it gives. The formulas and their sources are in the files beside this one.

use super::{queues, retrials, retries, storm};

/// What a parameter is, and so how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number from 1.
    Count,
    /// A number above zero.
    Number,
    /// A rate above zero: `"8/s"`.
    Rate,
    /// A length of time, which may be zero: `"2s"`.
    Time,
    /// 0 to 1.
    Share,
}

/// A parameter of a closed form.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its key.
    pub key: &'static str,
    /// What it is.
    pub kind: Kind,
    /// What it is where it is left out; None where it must be there.
    pub default: Option<f64>,
}

/// A closed form by its name.
#[derive(Debug)]
pub struct Form {
    /// Its name.
    pub name: &'static str,
    /// Its parameters, in the order in which `value` takes them.
    pub parameters: &'static [Parameter],
    /// What it gives, in base units. Infinite or no number where the parameters have no such value.
    pub value: fn(&[f64]) -> f64,
}

const fn given(key: &'static str, kind: Kind) -> Parameter {
    Parameter { key, kind, default: None }
}

const WORKERS: Parameter = given("workers", Kind::Count);
const ARRIVAL: Parameter = given("arrival", Kind::Rate);
const SERVICE: Parameter = given("service", Kind::Rate);
const RETRY: Parameter = given("retry", Kind::Rate);
const TIME: Parameter = given("time", Kind::Time);
const TIMEOUT: Parameter = given("timeout", Kind::Time);
const ATTEMPTS: Parameter = given("attempts", Kind::Count);
const FAILURE: Parameter = given("failure", Kind::Share);
const BASE: Parameter = given("base", Kind::Time);
const RETRIES: Parameter = given("retries", Kind::Count);
const LAYERS: Parameter = Parameter { key: "layers", kind: Kind::Count, default: Some(1.0) };

const ONE_WORKER: &[Parameter] = &[given("places", Kind::Count), ARRIVAL, SERVICE];
const MANY_WORKERS: &[Parameter] = &[WORKERS, ARRIVAL, SERVICE];
const TAIL: &[Parameter] = &[WORKERS, ARRIVAL, SERVICE, TIME];
const PATIENCE: &[Parameter] = &[ARRIVAL, SERVICE, given("patience", Kind::Time)];
const CLOSED: &[Parameter] = &[given("clients", Kind::Count), given("think", Kind::Time), given("service_time", Kind::Time)];
const RETRIAL: &[Parameter] = &[ARRIVAL, SERVICE, RETRY, Parameter { key: "persistence", kind: Kind::Share, default: Some(1.0) }];
const TRIES: &[Parameter] = &[FAILURE, ATTEMPTS, LAYERS];
const CAPPED: &[Parameter] = &[BASE, given("cap", Kind::Time)];

const fn form(name: &'static str, parameters: &'static [Parameter], value: fn(&[f64]) -> f64) -> Form {
    Form { name, parameters, value }
}

/// All of them. docs/FORMAT.md has the same list.
pub const FORMS: &[Form] = &[
    form("erlang_b", MANY_WORKERS, |p| queues::erlang_b(whole(p[0]), p[1] / p[2])),
    form("erlang_c", MANY_WORKERS, |p| queues::erlang_c(whole(p[0]), p[1] / p[2])),
    form("mmc_wait", MANY_WORKERS, |p| queues::mmc_wait(whole(p[0]), p[1], p[2])),
    form("mmc_wait_tail", TAIL, |p| queues::mmc_wait_tail(whole(p[0]), p[1], p[2], p[3])),
    form("mmc_response_tail", TAIL, |p| queues::mmc_response_tail(whole(p[0]), p[1], p[2], p[3])),
    form("mm1k_loss", ONE_WORKER, |p| queues::mm1k_loss(whole(p[0]), p[1], p[2])),
    form("mm1k_number", ONE_WORKER, |p| queues::mm1k_number(whole(p[0]), p[1], p[2])),
    form(
        "mg1_wait",
        &[ARRIVAL, given("service_time", Kind::Time), Parameter { key: "variation", kind: Kind::Number, default: Some(1.0) }],
        |p| queues::mg1_wait(p[0], p[1], p[2]),
    ),
    form("patience_loss", PATIENCE, |p| queues::patience_loss(p[0], p[1], p[2])),
    form("closed_throughput", CLOSED, |p| queues::closed_loop(whole(p[0]), p[1], p[2]).0),
    form("closed_response", CLOSED, |p| queues::closed_loop(whole(p[0]), p[1], p[2]).1),
    form("spread_wait", &[given("clients", Kind::Count), given("capacity", Kind::Rate), given("window", Kind::Time)], |p| {
        queues::spread_wait(p[0], p[1], p[2])
    }),
    form("retrial_busy", RETRIAL, |p| retrials::impatient(p[0], p[1], p[2], p[3]).busy),
    form("retrial_orbit", RETRIAL, |p| retrials::impatient(p[0], p[1], p[2], p[3]).orbit),
    form("retrial_attempts", RETRIAL, |p| retrials::impatient(p[0], p[1], p[2], p[3]).attempts),
    form("retry_success", TRIES, |p| retries::success(p[0], whole(p[1]), whole(p[2]))),
    form("retry_attempts", TRIES, |p| retries::attempts(p[0], whole(p[1]), whole(p[2]))),
    form("budget_bound", &[given("share", Kind::Share), given("held", Kind::Number), given("calls", Kind::Number)], |p| {
        retries::budget_bound(p[0], p[1], p[2])
    }),
    form("decorrelated_mean", &[BASE, given("retry", Kind::Count)], |p| retries::decorrelated_mean(p[0], whole(p[1]))),
    form("decorrelated_total", &[BASE, RETRIES], |p| retries::decorrelated_total(p[0], whole(p[1]))),
    form("decorrelated_wait", CAPPED, |p| retries::decorrelated_capped(p[0], p[1]).0),
    form("decorrelated_cap_share", CAPPED, |p| retries::decorrelated_capped(p[0], p[1]).1),
    form("stable_load", &[SERVICE, ATTEMPTS], |p| storm::stable_load(p[0], whole(p[1]))),
    form("held_backlog", &[given("outage", Kind::Time), TIMEOUT, ATTEMPTS, ARRIVAL], |p| {
        storm::held_backlog(p[0], p[1], whole(p[2]), p[3])
    }),
    form("held_recovery", &[given("outage", Kind::Time), SERVICE, TIMEOUT, ATTEMPTS, ARRIVAL], |p| {
        storm::recovery_time(storm::held_backlog(p[0], p[2], whole(p[3]), p[4]), p[1], p[2], whole(p[3]), p[4])
    }),
    form("smallest_spike", &[TIMEOUT, SERVICE, given("spike", Kind::Rate)], |p| storm::smallest_spike(p[0], p[1], p[2])),
];

/// A parameter that was read as a whole number.
fn whole(number: f64) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use super::super::agrees;
    use super::*;

    #[test]
    fn forms_are_found_by_name_and_documented() {
        let page = include_str!("../../../docs/FORMAT.md");
        for form in FORMS {
            assert_eq!(FORMS.iter().filter(|other| other.name == form.name).count(), 1, "{} is there twice", form.name);
            assert!(page.contains(&format!("`{}`", form.name)), "{} is not in docs/FORMAT.md", form.name);
        }
    }

    #[test]
    fn parameters_come_in_their_order() {
        let value = |name: &str, parameters: &[f64]| {
            let form = FORMS.iter().find(|form| form.name == name).expect("a form");
            assert_eq!(form.parameters.len(), parameters.len(), "{name}");
            (form.value)(parameters)
        };
        agrees(value("mmc_wait", &[10.0, 8.0, 1.0]), 0.20459, 5e-6);
        agrees(value("mm1k_number", &[20.0, 0.95, 1.0]), 8.15472, 5e-6);
        agrees(value("mg1_wait", &[0.8, 1.0, 5.5]), 13.0, 1e-12);
        agrees(value("patience_loss", &[0.9, 1.0, 2.0]), 0.218764, 5e-7);
        agrees(value("closed_throughput", &[30.0, 10.0, 0.5]), 1.983085, 5e-7);
        agrees(value("retrial_attempts", &[2.0, 1.0, 0.5, 0.5]), 1.62231, 5e-6);
        agrees(value("retrial_orbit", &[0.7, 1.0, 0.3, 1.0]), 7.0778, 5e-5);
        agrees(value("retry_attempts", &[1.0, 3.0, 3.0]), 27.0, 1e-12);
        agrees(value("held_recovery", &[10.0, 300.0, 1.0, 2.0, 140.0]), 118.0, 1e-9);
        agrees(value("spread_wait", &[50_000.0, 2000.0, 5.0]), 10.0, 1e-12);
        agrees(value("smallest_spike", &[1.0, 300.0, 450.0]), 2.0, 1e-12);
        agrees(value("decorrelated_total", &[1.0, 2.0]), 5.5, 1e-12);
    }
}
