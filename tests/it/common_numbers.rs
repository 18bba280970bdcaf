//! What common random numbers are for: the same luck on both sides of a comparison.

use crate::support::{difference, scenario, study, values};

const LIGHT: &str = r#"
[run]
horizon = "300s"
replications = 200
[clients.web]
count = 100
calls = "api"
load = { open = { rate = "20/s" } }
policy = "full"
[service.api]
workers = 10
time = { exponential = { mean = "100ms" } }
error_rate = 0.1
[policy.full]
attempts = 4
backoff = { full_jitter = { base = "100ms", cap = "20s" } }
[policy.equal]
attempts = 4
backoff = { equal_jitter = { base = "100ms", cap = "20s" } }
[compare]
"clients.web.policy" = ["full", "equal"]
"#;

/// Two jitters at light load: the variance of the paired difference of mean latency against that with independent seeds.
#[test]
fn pairs_are_at_least_three_times_sharper() {
    let paired = study(&scenario(LIGHT, &[]));
    let other = study(&scenario(LIGHT, &["run.seed=2"]));
    let pair = difference(&paired, "latency_mean", &paired.cells[1], &paired.cells[0]);
    let full = values(&paired, 0, "latency_mean");
    let apart = values(&other, 1, "latency_mean").iter().zip(&full).map(|(equal, full)| equal - full).collect::<Vec<f64>>();
    let apart = retrystorm::measure::statistics::Estimate::of(apart).unwrap();
    let ratio = apart.sd.unwrap() / pair.sd.unwrap();
    let factor = ratio * ratio;
    println!("variance of the difference: {factor:.1} times smaller in pairs");
    assert!(factor > 3.0, "only {factor} times");
    // And both say the same: equal jitter waits longer.
    let (low, high) = pair.interval().unwrap();
    assert!(low > 0.0 && (low..high).contains(&pair.mean), "{pair:?}");
}
