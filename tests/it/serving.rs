//! The serving side: hints, rate limits, scripts, and what turning away costs. By arithmetic.

use retrystorm::measure::random::Seed;
use retrystorm::measure::time::Time;
use retrystorm::world::trace::{Recorder, What};

use crate::support::{scenario, study, value};

/// One client, one call, a service to be scripted.
const ONE: &str = r#"
[clients.web]
calls = "api"
load = { once = {} }
policy = { attempts = 5, timeout = "10s", backoff = { fixed = { delay = "1s" } } }
[service.api]
script = ["ok"]
"#;

/// A script, what else is set, attempts, latency of a success, and how often the work was done.
type Row = (&'static str, &'static [&'static str], f64, Option<f64>, f64);

/// A policy against a script: attempts, how long until success (None: the call fails), and how often the work was done.
#[test]
fn policies_meet_scripts() {
    const NANOSECOND: f64 = 1e-9;
    let rows: [Row; 19] = [
        (r#"["503", "503", "200"]"#, &[], 3.0, Some(2.0), 1.0),
        (r#"["503"]"#, &[], 5.0, None, 0.0),
        (r#"["rejected", "throttled", "refused", "error", "ok"]"#, &[], 5.0, Some(4.0), 1.0),
        (r#"["500", "502", "409", "201"]"#, &[], 4.0, Some(3.0), 1.0),
        (r#"["503", "404"]"#, &[], 2.0, None, 0.0),
        (r#"["permanent", "ok"]"#, &[], 1.0, None, 0.0),
        // A timeout comes a nanosecond after the last reply that would have been in time.
        (r#"["hang", "ok"]"#, &[], 2.0, Some(11.0 + NANOSECOND), 1.0),
        (r#"["ok"]"#, &["service.api.time=3s"], 1.0, Some(3.0), 1.0),
        (r#"["error", "ok"]"#, &["service.api.time=3s"], 2.0, Some(7.0), 1.0),
        (r#"["503", "ok"]"#, &["service.api.time=3s"], 2.0, Some(4.0), 1.0),
        (r#"[{ error = { delay = "2s" } }, { delay = "4s" }]"#, &[], 2.0, Some(7.0), 1.0),
        // Too slow the first time: it is done all the same, and the second attempt waits for the worker.
        (r#"[{ delay = "15s" }, "ok"]"#, &[], 2.0, Some(15.0), 2.0),
        (r#"[{ delay = "10s" }, "ok"]"#, &[], 1.0, Some(10.0), 1.0),
        (r#"[{ throttled = { retry_after = "5s" } }, "ok"]"#, &["clients.web.policy.retry_after=replace"], 2.0, Some(5.0), 1.0),
        (r#"[{ rejected = { retry_after = "5s" } }, "ok"]"#, &[], 2.0, Some(1.0), 1.0),
        (r#"["429", "503", "500", "ok"]"#, &["clients.web.policy.retry_after=replace", "service.api.retry_after=7s"], 4.0, Some(15.0), 1.0),
        (r#"[{ throttled = { retry_after = "30s" } }, "ok"]"#, &["clients.web.policy.retry_after=clamp"], 2.0, Some(6.0), 1.0),
        (r#"[{ throttled = { retry_after = "500ms" } }, "ok"]"#, &["clients.web.policy.retry_after=floor"], 2.0, Some(1.0), 1.0),
        (r#"["429", "ok"]"#, &["clients.web.policy.retry_on=[\"rejected\"]"], 1.0, None, 0.0),
    ];
    for (script, extra, attempts, latency, served) in rows {
        let set: Vec<&str> = extra.to_vec();
        let script_set = format!("service.api.script={script}");
        let study = study(&scenario(ONE, &[&set[..], &[script_set.as_str()]].concat()));
        assert_eq!(value(&study, 0, "attempts").value, attempts, "{script} {extra:?}");
        assert_eq!(value(&study, 0, "api.served").value, served, "{script} {extra:?}");
        match latency {
            Some(latency) => assert_eq!(value(&study, 0, "latency_max").value, latency, "{script} {extra:?}"),
            None => assert_eq!(value(&study, 0, "failed").value, 1.0, "{script} {extra:?}"),
        }
    }
}

/// Each answer of a script counts under its own name.
#[test]
fn answers_are_counted_by_kind() {
    let set = [
        "service.api.script=[\"503\", \"429\", \"429\", \"refused\", \"500\", \"409\", \"404\"]",
        "clients.web.policy.attempts=9",
        "clients.web.count=3",
    ];
    let study = study(&scenario(ONE, &set));
    let found = ["arrivals", "rejected", "throttled", "refused", "errors", "served", "shed"];
    let found = found.map(|metric| value(&study, 0, &format!("api.{metric}")).value);
    assert_eq!(found, [21.0, 3.0, 6.0, 3.0, 9.0, 0.0, 0.0]);
}

/// A thousand clients, five hundred of which are let in each minute.
const HERD: &str = r#"
[clients.herd]
count = 1000
calls = "api"
load = { once = {} }
policy = { attempts = "unlimited", backoff = { fixed = { delay = "7s" } }, retry_after = "replace" }
[service.api]
workers = "unlimited"
time = "10ms"
rate_limit = { window = { limit = 400, every = "60s" } }
retry_after = "5s"
"#;

/// The times at which attempts are sent, with how many at each.
fn sendings(set: &[&str]) -> Vec<(f64, usize)> {
    let model = scenario(HERD, set).base_model().unwrap();
    let mut recorder = Recorder { calls: (0, u32::MAX), most: 1_000_000, ..Recorder::default() };
    retrystorm::world::run_heard(&model, Seed { seed: 1, replication: 0 }, &mut recorder);
    let mut times: Vec<Time> = recorder.lines.iter().filter(|line| matches!(line.what, What::Sent(_))).map(|line| line.at).collect();
    times.sort_unstable();
    times.chunk_by(|one, other| one == other).map(|same| (same[0].seconds(), same.len())).collect()
}

/// Who is told the same comes back at the same nanosecond, all of them.
#[test]
fn an_obeyed_hint_synchronises() {
    // 600 are told 5 s, twelve times; at 60 s 400 are let in, at 120 s the rest.
    let mut expected = vec![(0.0, 1000)];
    expected.extend((1..=12).map(|turn| (f64::from(turn) * 5.0, 600)));
    expected.extend((13..=24).map(|turn| (f64::from(turn) * 5.0, 200)));
    assert_eq!(sendings(&[]), expected);
    // Told when the window begins, they come no oftener than there are windows.
    assert_eq!(sendings(&["service.api.retry_after=window"]), [(0.0, 1000), (60.0, 600), (120.0, 200)]);
    // A token bucket tells all of them when the next token comes; one of them gets it.
    let bucket = "service.api.rate_limit={ token_bucket = { rate = \"10/s\", burst = 990 } }";
    let tokens: Vec<(f64, usize)> = (1..=10).map(|turn| (f64::from(turn) / 10.0, 11 - turn as usize)).collect();
    assert_eq!(sendings(&["service.api.retry_after=window", bucket])[1..], tokens);
    // A hint that is drawn anew for each spreads them.
    let random = sendings(&["service.api.retry_after={ random = { uniform = { low = \"60s\", high = \"90s\" } } }"]);
    assert_eq!((random[0], random.len()), ((0.0, 1000), 801));
    assert!(random[1..].iter().all(|(at, count)| *at > 60.0 && *at < 180.0 && *count == 1));
}

/// What the limit lets in, to the attempt: 10 at once and 100 a second after it.
#[test]
fn a_rate_limit_lets_in_what_it_says() {
    let text = r#"
[run]
horizon = "100s"
[clients.web]
calls = "api"
load = { open = { rate = "1000/s", spacing = "even" } }
[service.api]
workers = "unlimited"
time = "1us"
"#;
    for (limit, admitted) in [
        ("{ token_bucket = { rate = \"100/s\", burst = 10 } }", 10 + 9_999),
        ("{ token_bucket = { rate = \"100/s\", burst = 10, fill = \"100ms\" } }", 10 + 9_990),
        ("{ token_bucket = { rate = \"100/s\", burst = 5, fill = \"100ms\" } }", 5 + 5 * 999),
        ("{ window = { limit = 700, every = \"30s\" } }", 4 * 700),
    ] {
        let study = study(&scenario(text, &[&format!("service.api.rate_limit={limit}")]));
        assert_eq!(value(&study, 0, "api.served").value, f64::from(admitted), "{limit}");
        assert_eq!(value(&study, 0, "api.throttled").value, f64::from(100_000 - admitted), "{limit}");
    }
}
