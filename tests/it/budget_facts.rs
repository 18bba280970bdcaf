//! Budgets against traces of the real libraries, to the last printed digit.

use retrystorm::measure::time::{Duration, NANOSECONDS, Time};
use retrystorm::retry::budget::cubic::{self, Cubic};
use retrystorm::retry::budget::quota::{self, Quota, Refund};
use retrystorm::retry::budget::token_throttle::{self, TokenThrottle, WhenEmpty};
use retrystorm::retry::budget::window::{self, DepositOn, Slots, Window};
use retrystorm::retry::outcome::{Outcome, OutcomeSet};

use crate::json::Json;

/// The facts of a name in `tests/data/golden_delays.json`.
fn facts(name: &str) -> Vec<Json> {
    let data = Json::parse(include_str!("../data/golden_delays.json"));
    let wanted = Json::Text(name.to_owned());
    let found: Vec<Json> = data.get("entries").list().iter().filter(|entry| *entry.get("fact") == wanted).cloned().collect();
    assert!(!found.is_empty(), "there is no fact {name}");
    found
}

fn says(value: &Json, key: &str) -> bool {
    *value.get(key) == Json::Boolean(true)
}

/// A whole number, where there is one.
fn whole(value: &Json) -> Option<u64> {
    (!value.is_null()).then(|| value.number() as u64)
}

/// The printed number has nine digits after the point.
fn assert_printed(found: f64, printed: &Json, what: &str) {
    assert!((found - printed.number()).abs() < 0.6e-9, "{what}: {found} is not {printed:?}");
}

fn seconds(text: f64) -> Time {
    Time((text * NANOSECONDS as f64 + 0.5) as u64)
}

#[test]
fn the_quota_grants_what_was_counted() {
    for fact in facts("retry_quota") {
        let params = format!("{:?}", fact.get("params")).to_lowercase();
        let (pre_2026, throttled) = (params.contains("pre-2026"), params.contains("throttling"));
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
        assert_eq!(Some(retries), whole(fact.get("total_retries_until_dry")), "{fact:?}");
        if let Some(first) = whole(fact.get("first_call_without_any_retry")) {
            assert_eq!(first_without, Some(first), "{fact:?}");
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
        for step in fact.get("trace").list() {
            let now = seconds(step.get("t").number());
            let rate = match (!step.get("current_rate").is_null()).then(|| step.get("current_rate").number()) {
                Some(rate) => cubic.cut(&mut ledger, rate, now),
                None => cubic.grow(&ledger, now),
            };
            assert_printed(rate, step.get("new_rate"), &format!("{step:?}"));
            assert_printed(cubic.plateau(&ledger), step.get("k"), &format!("{step:?}"));
        }
    }
}

/// The clock of the recording was a sum of binary fractions, a hair behind each half second that it shows: here it is a nanosecond behind
/// throughout, at its start too, where the stretch that is measured begins with the second.
#[test]
fn the_limiter_is_that_of_botocore() {
    for fact in facts("adaptive_limiter_trace") {
        let (cubic, behind) = (aws(), |text: f64| Time(seconds(text).0 - 1));
        let mut ledger = cubic::Ledger::new(seconds(fact.get("params").get("t0").number()));
        ledger.refilled_at(behind(fact.get("params").get("t0").number()));
        for step in fact.get("trace").list() {
            let outcome = if says(step, "throttled") { Outcome::Throttled } else { Outcome::Ok };
            cubic.end(&mut ledger, outcome, behind(step.get("t").number()));
            let (capacity, max_capacity) = ledger.capacity();
            assert_eq!(ledger.is_enabled(), says(step, "enabled"), "{step:?}");
            for (found, key) in [
                (ledger.measured_rate(), "measured_rate"),
                (ledger.fill_rate(), "fill_rate"),
                (capacity, "capacity"),
                (max_capacity, "max_capacity"),
            ] {
                assert_printed(found, step.get(key), &format!("{key} of {step:?}"));
            }
        }
    }
}

#[test]
fn the_throttle_is_that_of_grpc() {
    for fact in facts("retry_throttler_trace") {
        let throttle = TokenThrottle { max: 10_000, ratio: 100, threshold: 0.5, failure_cost: 1000, when_empty: WhenEmpty::Fail };
        let mut ledger = token_throttle::Ledger::default();
        for step in fact.get("trace").list() {
            match step.get("ev").text() {
                "fail" => throttle.fail(&mut ledger),
                "ok" => throttle.succeed(&mut ledger),
                _ => {}
            }
            assert_eq!(throttle.tokens(&ledger) as f64 / 1000.0, step.get("tokens").number(), "{step:?}");
            assert_eq!(throttle.allows(&ledger), says(step, "can_retry"), "{step:?}");
        }
    }
}

fn tower(params: &Json) -> Window {
    let params = params.get("TpsBudget");
    Window {
        ratio: params.get("retry_percent").number(),
        min_per_second: params.get("min_per_sec").number() as u32,
        ttl: Duration((params.get("ttl_s").number() * NANOSECONDS as f64) as u64),
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
        let (window, mut ledger) = (tower(fact.get("params")), window::Ledger::default());
        let deposits = if fact.get("params").get("pattern").text().starts_with("100 deposits") { 100 } else { 0 };
        if deposits == 0 {
            assert_eq!(drain(&window, &mut ledger, Time::ZERO), 100, "a burst of the whole reserve");
        }
        for step in fact.get("trace").list() {
            let now = seconds(step.get("t_s").number());
            (0..deposits).for_each(|_| window.deposit(&mut ledger, now));
            assert_eq!(Some(drain(&window, &mut ledger, now)), whole(step.get("withdrawals")), "{step:?}");
        }
    }
    for fact in facts("withdrawals_after_deposits") {
        let (window, mut ledger) = (tower(fact.get("params")), window::Ledger::default());
        (0..fact.get("params").get("deposits").number() as u32).for_each(|_| window.deposit(&mut ledger, Time::ZERO));
        assert_eq!(Some(drain(&window, &mut ledger, Time::ZERO)), whole(fact.get("value")), "{fact:?}");
    }
}

/// tower 0.5.3 itself, its clock moved on by hand so many microseconds at a time; each time one deposit and three withdrawals are tried.
/// Retries granted in each ten seconds of a minute. Between the ticks of its tenths its ring moves two slots at once: entries count for
/// about half of the time, and the reserve of 100 comes back twice in ten seconds.
#[test]
fn the_window_is_that_of_tower_between_its_ticks() {
    for (ratio, min_per_second, step, granted) in [
        (0.2, 10, 10_300, [393, 394, 293, 393, 393, 293]),
        (0.2, 0, 10_300, [193, 194, 193, 193, 193, 193]),
        (0.15, 1, 33_333, [69, 70, 61, 69, 71, 59]),
        (2.5, 0, 100_100, [250, 250, 250, 250, 250, 250]),
        (0.2, 10, 1_000_100, [30, 30, 30, 30, 30, 30]),
    ] {
        let ttl = Duration(10 * NANOSECONDS);
        let window = Window { ratio, min_per_second, ttl, slots: Slots::Tower, deposit_on: DepositOn::Call };
        let (mut ledger, mut found) = (window::Ledger::default(), [0; 6]);
        for now in (0..60_000_000u64).step_by(step) {
            let at = Time(now * 1000);
            window.deposit(&mut ledger, at);
            for _ in 0..3 {
                if window.covers(&mut ledger, at) {
                    window.withdraw(&mut ledger);
                    found[(now / 10_000_000) as usize] += 1;
                }
            }
        }
        assert_eq!(found, granted, "{ratio} {min_per_second} {step}");
    }
}
