//! Budgets against traces of the real libraries, to the last printed digit.

use retrystorm::measure::time::{Duration, NANOSECONDS, Time};
use retrystorm::retry::budget::cubic::{self, Cubic};
use retrystorm::retry::budget::quota::{self, Quota, Refund};
use retrystorm::retry::budget::token_throttle::{self, TokenThrottle, WhenEmpty};
use retrystorm::retry::budget::window::{self, DepositOn, Slots, Window};
use retrystorm::retry::outcome::{Outcome, OutcomeSet};
use serde_json::Value;

/// The facts of a name in `tests/data/golden_delays.json`.
fn facts(name: &str) -> Vec<Value> {
    let data: Value = serde_json::from_str(include_str!("../data/golden_delays.json")).expect("the data are JSON");
    let entries = data["entries"].as_array().expect("a list of entries").clone();
    let found: Vec<Value> = entries.into_iter().filter(|entry| entry["fact"] == name).collect();
    assert!(!found.is_empty(), "there is no fact {name}");
    found
}

fn steps(fact: &Value) -> &[Value] {
    fact["trace"].as_array().expect("a trace")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The printed number has nine digits after the point.
fn assert_printed(found: f64, printed: &Value, what: &str) {
    assert!((found - number(printed)).abs() < 0.6e-9, "{what}: {found} is not {printed}");
}

fn seconds(text: f64) -> Time {
    Time((text * NANOSECONDS as f64 + 0.5) as u64)
}

#[test]
fn the_quota_grants_what_was_counted() {
    for fact in facts("retry_quota") {
        let pre_2026 = fact["params"]["mode"] == "standard (pre-2026)";
        let throttled = fact.to_string().to_lowercase().contains("throttling");
        let quota = Quota {
            capacity: 500,
            cost: if pre_2026 { 5 } else { 14 },
            throttled_cost: 5,
            timeout_cost: 14,
            success_reward: 1,
            refund: Refund::Last,
            refill: 0.0,
            partial: false,
        };
        let (mut ledger, mut retries, mut first_without) = (quota::Ledger::default(), 0, None);
        let outcome = if throttled { Outcome::Throttled } else { Outcome::Error };
        for call in 0..200u64 {
            let before = retries;
            while retries < before + 2
                && let Some(price) = quota.price(&mut ledger, outcome, Time::ZERO)
            {
                quota.pay(&mut ledger, price);
                retries += 1;
            }
            if retries == before {
                first_without = first_without.or(Some(call));
            }
        }
        assert_eq!(Some(retries), fact["total_retries_until_dry"].as_u64(), "{fact}");
        if let Some(first) = fact["first_call_without_any_retry"].as_u64() {
            assert_eq!(first_without, Some(first), "{fact}");
        }
    }
}

fn aws() -> Cubic {
    Cubic { beta: 0.7, scale: 0.4, smoothing: 0.8, least_rate: 0.5, cuts_on: OutcomeSet::of(&[Outcome::Throttled]) }
}

#[test]
fn the_cubic_curve_is_that_of_botocore() {
    for fact in facts("cubic_trace") {
        let (cubic, mut ledger) = (aws(), cubic::Ledger::default());
        for step in steps(&fact) {
            let now = seconds(number(&step["t"]));
            let rate = match step["current_rate"].as_f64() {
                Some(rate) => cubic.cut(&mut ledger, rate, now),
                None => cubic.grow(&ledger, now),
            };
            assert_printed(rate, &step["new_rate"], &step.to_string());
            assert_printed(cubic.plateau(&ledger), &step["k"], &step.to_string());
        }
    }
}

/// The clock of the recording was a sum of binary fractions, a hair behind each half second that it shows: here it is a nanosecond behind
/// throughout, at its start too, where the stretch that is measured begins with the second.
#[test]
fn the_limiter_is_that_of_botocore() {
    for fact in facts("adaptive_limiter_trace") {
        let (cubic, behind) = (aws(), |text: f64| Time(seconds(text).0 - 1));
        let mut ledger = cubic::Ledger::new(seconds(number(&fact["params"]["t0"])));
        ledger.refilled_at(behind(number(&fact["params"]["t0"])));
        for step in steps(&fact) {
            let outcome = if step["throttled"] == true { Outcome::Throttled } else { Outcome::Ok };
            cubic.end(&mut ledger, outcome, behind(number(&step["t"])));
            let (capacity, max_capacity) = ledger.capacity();
            assert_eq!(ledger.is_enabled(), step["enabled"] == true, "{step}");
            for (found, key) in [
                (ledger.measured_rate(), "measured_rate"),
                (ledger.fill_rate(), "fill_rate"),
                (capacity, "capacity"),
                (max_capacity, "max_capacity"),
            ] {
                assert_printed(found, &step[key], &format!("{key} of {step}"));
            }
        }
    }
}

#[test]
fn the_throttle_is_that_of_grpc() {
    for fact in facts("retry_throttler_trace") {
        let throttle = TokenThrottle { max: 10_000, ratio: 100, threshold: 0.5, failure_cost: 1000, when_empty: WhenEmpty::Fail };
        let mut ledger = token_throttle::Ledger::default();
        for step in steps(&fact) {
            match step["ev"].as_str() {
                Some("fail") => throttle.fail(&mut ledger),
                Some("ok") => throttle.succeed(&mut ledger),
                _ => {}
            }
            assert_eq!(throttle.tokens(&ledger) as f64 / 1000.0, number(&step["tokens"]), "{step}");
            assert_eq!(throttle.allows(&ledger), step["can_retry"] == true, "{step}");
        }
    }
}

fn tower(params: &Value) -> Window {
    let params = &params["TpsBudget"];
    Window {
        ratio: number(&params["retry_percent"]),
        min_per_second: number(&params["min_per_sec"]) as u32,
        ttl: Duration((number(&params["ttl_s"]) * NANOSECONDS as f64) as u64),
        slots: Slots::Tower,
        deposit_on: DepositOn::End,
    }
}

fn drain(window: &Window, ledger: &mut window::Ledger, now: Time) -> u64 {
    let mut withdrawals = 0;
    while window.covers(ledger, now) {
        window.withdraw(ledger);
        withdrawals += 1;
    }
    withdrawals
}

#[test]
fn the_window_is_that_of_tower() {
    for fact in facts("budget_trace") {
        let (window, mut ledger) = (tower(&fact["params"]), window::Ledger::default());
        let deposits = if fact["params"]["pattern"].as_str().is_some_and(|pattern| pattern.starts_with("100 deposits")) { 100 } else { 0 };
        if deposits == 0 {
            assert_eq!(drain(&window, &mut ledger, Time::ZERO), 100, "a burst of the whole reserve");
        }
        for step in steps(&fact) {
            let now = seconds(number(&step["t_s"]));
            (0..deposits).for_each(|_| window.deposit(&mut ledger, now));
            assert_eq!(Some(drain(&window, &mut ledger, now)), step["withdrawals"].as_u64(), "{step}");
        }
    }
    for fact in facts("withdrawals_after_deposits") {
        let (window, mut ledger) = (tower(&fact["params"]), window::Ledger::default());
        (0..number(&fact["params"]["deposits"]) as u32).for_each(|_| window.deposit(&mut ledger, Time::ZERO));
        assert_eq!(Some(drain(&window, &mut ledger, Time::ZERO)), fact["value"].as_u64(), "{fact}");
    }
}
