//! Breakers in whole runs: the cases that people report, each with its arithmetic, and each kind from its text.

use crate::support::{scenario, study, value};

/// Calls at an even rate, by one client, to a service that can be made to fail.
const PLAIN: &str = r#"
[run]
horizon = "100s"
[clients.web]
calls = "api"
load = { open = { rate = "1/s", spacing = "even" } }
policy = "standard"
[policy.standard]
[service.api]
workers = "unlimited"
time = "1ms"
"#;

fn measured(set: &[&str], metrics: &[&str]) -> Vec<f64> {
    let study = study(&scenario(PLAIN, set));
    metrics.iter().map(|metric| value(&study, 0, metric).value).collect()
}

const FAILS: &str = "service.api.error_rate=1.0";

/// D01: while a probe hangs for 30 s, at 100 calls a second, nothing else gets through: one a cycle of 60 s, not 3000.
#[test]
fn one_probe_leaks_where_it_hangs() {
    for (probes, others, leaked) in [(1, "reject", 10.0), (1, "wait", 10.0), (4, "reject", 40.0)] {
        let set = [
            "run.horizon=600s",
            "clients.web.load.open.rate=100/s",
            "policy.standard.timeout=30s",
            "service.api.down=hang",
            // Whatever is sent in the first 30 s, before the first has timed out, passes the closed breaker.
            &format!(
                "policy.standard.breaker={{ consecutive = {{ failures = 1, open = \"30s\", probes = {probes}, others = \"{others}\" }} }}"
            ),
        ];
        let seen = measured(&set, &["attempts", "breaker_opened", "succeeded"]);
        // 3001 calls until 30 s and 1 ns; then a cycle of 60 s and a little has one set of probes: at 60, 120, ... 540 s.
        assert_eq!(seen, [3001.0 + leaked * 0.9, 10.0, 0.0], "{probes} probes, the rest {others}");
    }
}

/// D02: a probe that fails opens it again, for the whole time, though the share of failures before had been small.
#[test]
fn a_failed_probe_opens_it_for_the_whole_time_again() {
    let breaker = "policy.standard.breaker={ count_window = { size = 100, rate = \"50%\", min_calls = 4, open = \"10s\" } }";
    // 0 to 3 s fail and open it at 3 s; probes at 14, 25, 36, ... fail: each opens it for 10 s from its end at .001.
    let seen = measured(&[FAILS, breaker], &["attempts", "breaker_opened", "breaker_denied"]);
    assert_eq!(seen, [12.0, 9.0, 88.0], "4 calls and the probes at 14, 25, ..., 91 s");
}

/// D04 and D06: how many calls there must be is in print, and a hundred where nobody said otherwise; five where somebody said five.
#[test]
fn the_least_number_of_calls_is_what_it_says() {
    let breaker = |keys: &str| format!("policy.standard.breaker={{ count_window = {{ rate = \"50%\", open = \"1h\"{keys} }} }}");
    let explained = scenario(PLAIN, &[&breaker("")]).explain();
    assert!(explained.contains("size = 100, rate = \"50%\", min_calls = 100"), "{explained}");
    for (keys, attempts) in [("", 100.0), (", min_calls = 5", 5.0), (", size = 10", 10.0)] {
        let seen = measured(&[FAILS, "run.horizon=200s", &breaker(keys)], &["attempts", "breaker_opened"]);
        assert_eq!(seen, [attempts, 1.0], "{keys}");
    }
}

/// D08: a backend that flaps, 1 s up and 1 s down: each success lets everybody in again, unless more are needed than it has time for.
#[test]
fn more_successes_flap_less() {
    let mut text = String::from(PLAIN);
    for second in (1..100).step_by(2) {
        text += &format!("[[fault]]\nat = \"{second}s\"\nfor = \"1s\"\nset = {{ \"service.api.error_rate\" = 1.0 }}\n");
    }
    let opened = |close_after: u32| {
        let breaker = format!("{{ consecutive = {{ failures = 5, open = \"500ms\", close_after = {close_after} }} }}");
        let study = study(&scenario(&text, &["clients.web.load.open.rate=100/s", &format!("policy.standard.breaker={breaker}")]));
        (value(&study, 0, "breaker_opened").value, value(&study, 0, "success_rate").value)
    };
    // Down at 1.00 s, open from 1.041 to 1.541, its probe fails at 1.551, open to 2.051, closed at 2.061: twice in 2 s.
    let (easily, after_one) = opened(1);
    assert_eq!(easily, 100.0);
    assert!((after_one - 0.47).abs() < 0.01, "all of each second up but the first 60 ms: {after_one}");
    // 95 successes, one after another 10 ms apart, take longer than what is left of the second.
    let (hardly, after_many) = opened(95);
    assert!(hardly == 100.0 || hardly == 99.0, "{hardly}");
    assert!(after_many < after_one + 0.01, "{after_many}");
}

/// D09: 3 attempts, all fail, at least half of at least 10. Inside the retries it opens after 10 attempts, in the fourth call;
/// around them it hears of calls, and opens after 10 of these, which are 30 attempts.
#[test]
fn inside_or_around_the_retries() {
    let set = |around: &str, rejection: &str| {
        let breaker = format!(
            "policy.standard.breaker={{ count_window = {{ size = 10, rate = \"50%\", open = \"1h\", around = \"{around}\", rejection = \"{rejection}\" }} }}"
        );
        let set = [FAILS, "policy.standard.attempts=3", "policy.standard.backoff={ fixed = { delay = \"10ms\" } }", &breaker];
        measured(&set, &["attempts", "breaker_opened", "breaker_denied", "calls", "failed"])
    };
    assert_eq!(set("attempts", "ends_call"), [10.0, 1.0, 97.0, 100.0, 100.0]);
    assert_eq!(set("call", "ends_call"), [30.0, 1.0, 90.0, 100.0, 100.0]);
    // D10: what is refused uses up attempts, or does not: two more in the fourth call, three in each after it; or for ever.
    assert_eq!(set("attempts", "uses_attempt"), [10.0, 1.0, 2.0 + 96.0 * 3.0, 100.0, 100.0]);
    let waits = set("attempts", "waits");
    assert_eq!((waits[0], waits[4]), (10.0, 3.0), "three calls have failed, the others wait");
}

/// D10: an outage of 2 s, a breaker open for 1 s, retries after 300 ms: refusals that use up attempts end the call before the
/// breaker lets anybody try; where they do not, every call succeeds in the end.
#[test]
fn waiting_for_the_breaker_outlives_the_outage() {
    let set = |rejection: &str| {
        let breaker = format!("policy.standard.breaker={{ consecutive = {{ failures = 2, open = \"1s\", rejection = \"{rejection}\" }} }}");
        let set = [
            "policy.standard.attempts=3",
            "policy.standard.backoff={ fixed = { delay = \"300ms\" } }",
            "fault=[{ at = \"10s\", for = \"2s\", set = { \"service.api.error_rate\" = 1.0 } }]",
            &breaker,
        ];
        measured(&set, &["calls", "failed", "breaker_opened"])
    };
    // Call 10 fails at 10.001 and 10.302: open until 11.302. Its third attempt, at 10.6, is refused.
    // Call 11 is refused at 11, tries at 11.3 and 11.6: refused at 11.3, the probe of 11.6 fails; all three are used.
    assert_eq!(set("ends_call")[1..], [3.0, 2.0]);
    assert_eq!(set("uses_attempt")[1..], [2.0, 2.0]);
    assert_eq!(set("waits")[1..], [0.0, 2.0]);
}

/// Half open, the rest waits for the probe, and goes in order when it has succeeded: no call fails, nobody overtakes.
#[test]
fn the_rest_waits_for_the_probe() {
    let set = |others: &str, more: &str| {
        let breaker = format!("policy.standard.breaker={{ consecutive = {{ failures = 1, open = \"4500ms\", others = \"{others}\" }} }}");
        let set = [
            "clients.web.load.open.rate=10/s",
            "policy.standard.timeout=10s",
            "fault=[{ at = \"50s\", for = \"50ms\", set = { \"service.api.error_rate\" = 1.0 } }, { at = \"54s\", for = \"1s\", set = { \"service.api.time\" = \"2s\" } }]",
            &breaker,
            more,
        ];
        measured(&set, &["failed", "breaker_denied", "latency_max", "breaker_opened"])
    };
    // Opens at 50.001, refuses 45 calls from 50.1 to 54.5; the probe of 54.6 takes 2 s, during which 19 calls come and wait.
    let rejects = set("reject", "run.seed=1");
    assert_eq!(rejects[..3], [1.0 + 45.0 + 20.0, 65.0, 2.0]);
    let waits = set("wait", "run.seed=1");
    assert_eq!(waits[..2], [1.0 + 45.0, 45.0]);
    assert!((waits[2] - 2.0).abs() < 1e-9, "{waits:?}");
    // Who has no time for that fails at its deadline, and the probe too.
    let short = set("wait", "policy.standard.deadline=1s");
    assert_eq!(short[1], 45.0 + 0.0, "{short:?}");
}
