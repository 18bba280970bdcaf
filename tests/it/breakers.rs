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
    measured_in(PLAIN, set, metrics)
}

fn measured_in(text: &str, set: &[&str], metrics: &[&str]) -> Vec<f64> {
    let study = study(&scenario(text, set));
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

/// D08: a backend that flaps, 1 s up and 1 s down, whose work takes 100 ms. One success lets everybody in again; ten, one after another,
/// are not there before it is down again, so that nothing but probes meets the failures.
#[test]
fn more_successes_send_less_into_a_flapping_backend() {
    let mut text = String::from(PLAIN);
    for second in (1..100).step_by(2) {
        text += &format!("[[fault]]\nat = \"{second}s\"\nfor = \"1s\"\nset = {{ \"service.api.error_rate\" = 1.0 }}\n");
    }
    let flaps = |close_after: u32| {
        let breaker = format!("{{ consecutive = {{ failures = 5, open = \"500ms\", close_after = {close_after} }} }}");
        let set =
            ["clients.web.load.open.rate=100/s", "service.api.time=100ms", &format!("policy.standard.breaker={breaker}")].map(String::from);
        measured_in(&text, &set.each_ref().map(String::as_str), &["api.errors", "breaker_opened"])
    };
    // What was sent from 0.90 to 1.03 s, until five have failed at 1.04, and a probe at 1.54: 15 failures in each of 50 rounds.
    assert_eq!(flaps(1), [750.0, 100.0]);
    // From the second round on only the probe of that time and another half a second later.
    assert_eq!(flaps(10), [15.0 + 49.0 * 2.0, 100.0]);
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
        let set = ["policy.standard.attempts=4", "policy.standard.backoff={ fixed = { delay = \"300ms\" } }", &breaker];
        let fault = "[[fault]]\nat = \"10s\"\nfor = \"2s\"\nset = { \"service.api.error_rate\" = 1.0 }\n";
        measured_in(&format!("{PLAIN}{fault}"), &set, &["calls", "failed", "breaker_opened"])
    };
    // Call 10 fails at 10.001 and 10.302: open until 11.302. Its other attempts, at 10.602 and 10.902, are refused.
    // Call 11 is refused at 11.0 and 11.3, fails at 11.601: open until 12.601, and refused at 11.901. Call 12 gets through at 12.9.
    assert_eq!(set("ends_call")[1..], [2.0, 1.0], "calls 10 and 11; call 12 closes it");
    assert_eq!(set("uses_attempt")[1..], [2.0, 2.0]);
    assert_eq!(set("waits")[1..], [0.0, 2.0]);
}

/// Half open, the rest waits for the probe, and goes in order when it has succeeded: no call fails, nobody overtakes.
#[test]
fn the_rest_waits_for_the_probe() {
    let set = |others: &str, more: &str| {
        let breaker = format!("policy.standard.breaker={{ consecutive = {{ failures = 1, open = \"4500ms\", others = \"{others}\" }} }}");
        let set = ["clients.web.load.open.rate=10/s", "policy.standard.timeout=10s", &breaker, more];
        let faults = r#"
[[fault]]
at = "50s"
for = "50ms"
set = { "service.api.error_rate" = 1.0 }
[[fault]]
at = "54s"
for = "1s"
set = { "service.api.time" = "2s" }
"#;
        measured_in(&format!("{PLAIN}{faults}"), &set, &["failed", "breaker_denied", "latency_max", "breaker_opened"])
    };
    // Opens at 50.001, refuses 45 calls from 50.1 to 54.5; the probe of 54.6 takes 2 s, during which 19 calls come and wait.
    assert_eq!(set("reject", "run.seed=1"), [1.0 + 45.0 + 19.0, 45.0 + 19.0, 2.0, 1.0]);
    assert_eq!(set("wait", "run.seed=1"), [1.0 + 45.0, 45.0, 2.0, 1.0]);
    // With a deadline of 1 s the probe times out, which opens it anew for the ten that wait and the 45 calls from 55.7 to 60.1.
    let short = set("wait", "policy.standard.deadline=1s");
    assert_eq!(short[..2], [1.0 + 45.0 + 1.0 + 10.0 + 45.0, 45.0 + 10.0 + 45.0]);
}

/// Three groups share the breaker of a service. The first opens it until 1.001 s. The third probes at 1.1 s, which takes 2 s; the
/// second, refused at 0.9 s, waits for the probe from 1.4 s on, until its deadline at 1.9 s: it never sends anything.
#[test]
fn a_deadline_ends_the_waiting_for_a_probe() {
    let run = |scope: &str| {
        let breaker =
            format!("{{ consecutive = {{ failures = 1, open = \"1s\", others = \"wait\", rejection = \"waits\", scope = \"{scope}\" }} }}");
        let backoff = "backoff = { fixed = { delay = \"500ms\" } }";
        let text = format!(
            r#"
[clients.first]
calls = "api"
load = {{ once = {{ at = "0s" }} }}
policy = {{ breaker = {breaker}, {backoff}, timeout = "1m" }}
[clients.second]
calls = "api"
load = {{ once = {{ at = "900ms" }} }}
policy = {{ breaker = {breaker}, {backoff}, deadline = "1s" }}
[clients.third]
calls = "api"
load = {{ once = {{ at = "1100ms" }} }}
policy = {{ breaker = {breaker}, {backoff}, timeout = "1m" }}
[service.api]
workers = "unlimited"
time = "1ms"
[[fault]]
at = "0s"
for = "500ms"
set = {{ "service.api.error_rate" = 1.0 }}
[[fault]]
at = "1050ms"
set = {{ "service.api.time" = "2s" }}
"#
        );
        measured_in(&text, &[], &["attempts", "failed", "breaker_denied", "completion_time"])
    };
    assert_eq!(run("service"), [2.0, 2.0, 1.0, 3.1]);
    assert_eq!(run("group"), [3.0, 1.0, 0.0, 3.1], "each group on its own");
}

/// Ten clients, one call each at once, all fail: how many get through before each breaker has seen two failures, by who shares one.
#[test]
fn a_scope_is_who_learns_from_whom() {
    for (scope, attempts) in [("\"client\"", 20.0), ("\"group\"", 2.0), ("{ processes_of = 4 }", 6.0), ("\"service\"", 2.0)] {
        let breaker = format!("policy.standard.breaker={{ consecutive = {{ failures = 2, open = \"1h\", scope = {scope} }} }}");
        let set = [
            "clients.web.load={ periodic = { every = \"10s\", splay = \"10s\" } }",
            "clients.web.count=10",
            "service.api.time=1ns",
            FAILS,
            &breaker,
        ];
        // Their starts are spread over 10 s, so that one call has failed before the next begins.
        assert_eq!(measured(&set, &["attempts"]), [attempts], "{scope}");
    }
}

/// Theory: "Fixing retries", the breaker of the article, which stops retries once more than 10 % of what was started has failed. Failures
/// are independent; each row: the share of failures, and the article's success rate and load with the
/// half-width of its mean over 100 runs; ours has 40, and as wide an interval.
#[test]
fn a_cumulative_breaker_is_that_of_the_article() {
    let text = r#"
[run]
replications = 40
[clients.web]
count = 100
calls = "api"
load = { open = { rate = [["0s", "1000/s"], ["10s", "0/s"]] } }
policy = { attempts = 4, breaker = { cumulative = { rate = "10%", of = "calls", blocks = "retries" } } }
[service.api]
workers = "unlimited"
time = "0s"
[link]
delay = { exponential = { mean = "10ms" } }
"#;
    for (rate, success, success_half, load, load_half) in [
        (0.01, 0.998947, 0.000354, 1.00914, 0.00021),
        (0.05, 0.986707, 0.001709, 1.03859, 0.0004),
        (0.1, 0.92866, 0.004946, 1.03141, 0.00054),
        (0.3, 0.701142, 0.004599, 1.00059, 0.0001),
        (0.5, 0.499939, 0.004977, 1.00002, 0.0001),
    ] {
        let study = study(&scenario(text, &[&format!("service.api.error_rate={rate}"), "run.horizon=12s"]));
        let own = |metric| value(&study, 0, metric);
        for (metric, expected, half) in [("success_rate", success, success_half), ("amplification", load, load_half)] {
            let own = own(metric);
            let (low, high) = own.interval.expect("40 replications");
            assert!(low - half <= expected && expected <= high + half, "{rate}: {metric} {} [{low}, {high}], not {expected}", own.value);
        }
    }
}

/// Every rule with every way to wait, refuse and share, on both edges of two layers, through faults that change the breakers and kill
/// workers, with calls left at the end: a run asserts that no call and no attempt is lost, and the same run comes twice.
#[test]
fn nothing_is_lost_whatever_the_breaker() {
    let text = r#"
[run]
horizon = "20s"
[clients.web]
count = 20
calls = "api"
load = { open = { rate = "100/s" } }
policy = "edge"
[clients.more]
count = 10
calls = "api"
load = { closed = { think = { exponential = { mean = "100ms" } } } }
policy = "edge"
[service.api]
workers = 8
queue = { limit = 5 }
time = { exponential = { mean = "10ms" } }
abandoned = "cancel"
calls = [{ service = "db", policy = "edge" }]
[service.db]
workers = 6
time = { exponential = { mean = "60ms" } }
error_rate = 0.2
[policy.edge]
attempts = 3
timeout = "200ms"
deadline = "2s"
backoff = { full_jitter = { base = "20ms", cap = "1s" } }
[[fault]]
at = "5s"
for = "2s"
set = { "service.db.down" = "hang" }
[[fault]]
at = "8s"
for = "2s"
set = { "service.api.down" = "refuse" }
[[fault]]
at = "12s"
for = "2s"
set = { "policy.edge.breaker" = { consecutive = { failures = 2, open = "300ms", others = "wait", scope = "service" } } }
[[fault]]
at = "16s"
for = "1s"
set = { "policy.edge.breaker" = "none" }
"#;
    let rules = [
        "consecutive = { failures = 3",
        "count_window = { size = 10, rate = \"50%\", judged = \"results\"",
        "time_window = { window = \"1s\", min_calls = 5, rate = \"50%\", judged = \"buckets\"",
        "average = { window = \"1s\", consecutive = 4",
        "cumulative = { rate = \"30%\"",
    ];
    for (index, rule) in rules.iter().enumerate() {
        for (others, closing) in [("reject", "2"), ("wait", "2"), ("wait", "{ rate = 0.5 }")] {
            for (around, rejection) in
                [("attempts", "ends_call"), ("attempts", "uses_attempt"), ("attempts", "waits"), ("call", "ends_call")]
            {
                for scope in ["\"client\"", "\"group\"", "{ processes_of = 3 }", "\"service\""] {
                    let breaker = format!(
                        "policy.edge.breaker={{ {rule}, open = {{ exponential = {{ initial = \"100ms\", cap = \"1s\", jitter = 0.5 }} }}, probes = 3,
                         close_after = {closing}, others = \"{others}\", around = \"{around}\", rejection = \"{rejection}\", scope = {scope} }} }}"
                    )
                    .replace('\n', "");
                    let scenario = scenario(text, &[&breaker, &format!("run.seed={index}")]);
                    let (one, two) = (study(&scenario), study(&scenario));
                    assert_eq!(one.cells[0].fingerprint(), two.cells[0].fingerprint(), "{breaker}");
                    assert!(value(&one, 0, "succeeded").value > 500.0, "{breaker}: {}", value(&one, 0, "succeeded").value);
                }
            }
        }
    }
}
