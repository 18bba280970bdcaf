//! Cases at the edge, each once found wrong by looking for trouble.

use crate::support::{scenario, study, value};

/// A group and a service, to be changed.
const PLAIN: &str = r#"
[run]
horizon = "300s"
replications = 20
[clients.web]
count = 100
calls = "api"
load = { open = { rate = "50/s" } }
[service.api]
workers = "unlimited"
time = "10ms"
[[fault]]
at = "20s"
for = "5s"
set = { "service.api.down" = "refuse" }
"#;

fn recovered(set: &[&str]) -> (f64, f64) {
    let study = study(&scenario(PLAIN, set));
    (value(&study, 0, "stuck").value, value(&study, 0, "recovery_time").value)
}

/// A service that answers at once is back at once, however its calls come and however few they are.
#[test]
fn a_healthy_service_is_never_stuck() {
    for set in [
        vec![],
        vec!["clients.web.load.open.rate=1/s"],
        vec!["run.bin=10s", "run.horizon=305s"],
        vec!["clients.web.load={ once = { spread = \"60s\" } }"],
        vec!["clients.web.load={ closed = { think = { exponential = { mean = \"2s\" } } } }"],
        vec!["clients.web.load={ periodic = { every = \"10s\" } }", "run.bin=10s"],
        vec!["clients.web.load={ periodic = { every = \"60s\" } }", "run.bin=60s", "run.horizon=20m", "fault.0.at=61s"],
    ] {
        let (stuck, time) = recovered(&set);
        assert!(stuck == 0.0 && time <= 60.0, "{set:?}: stuck {stuck}, recovery after {time} s");
    }
}

/// Half of the calls fail for good: that is not back, whatever the first seconds of an empty service looked like.
#[test]
fn half_a_recovery_is_none() {
    let set = ["service.api.time=20s", "fault.0={ at = \"40s\", set = { \"service.api.error_rate\" = 0.45 } }", "run.replications=2"];
    let study = study(&scenario(PLAIN, &set));
    assert_eq!(value(&study, 0, "stuck").value, 1.0);
}

/// A gateway whose workers call a database over an edge with a breaker.
const LAYERED: &str = r#"
[run]
horizon = "200s"
[clients.web]
calls = "api"
load = { open = { rate = "10/s", spacing = "even" } }
[service.api]
workers = "unlimited"
time = "1ms"
calls = [{ service = "db", policy = "edge" }]
[service.db]
workers = "unlimited"
time = "99ms"
[policy.edge]
timeout = "2s"
breaker = { consecutive = { failures = 3, open = "5s", probes = 1 } }
[[fault]]
at = "20s"
for = "4s"
set = { "service.db.error_rate" = 1.0 }
[[fault]]
at = "25250ms"
for = "1s"
set = { "service.api.down" = "refuse" }
"#;

/// A worker that calls on is held meanwhile: what looks like ten thousand a second is a hundred.
#[test]
fn capacity_counts_the_time_that_workers_are_held() {
    let model = scenario(LAYERED, &["service.api.workers=10"]).base_model().unwrap();
    assert_eq!(model.capacities(&model.epochs[0]), [100.0, f64::INFINITY]);
}

/// A worker that dies gives its probe back to the breaker of the service that it was calling.
#[test]
fn an_abandoned_probe_does_not_shut_the_breaker_for_ever() {
    let study = study(&scenario(LAYERED, &[]));
    assert_eq!(value(&study, 0, "stuck").value, 0.0);
    assert!(value(&study, 0, "success_rate").value > 0.95);
}

/// Whatever is broken off was for nobody.
#[test]
fn cancelled_work_is_wasted_work() {
    for abandoned in ["serve", "cancel"] {
        let set = [
            "service.api.time=900ms",
            "clients.web.policy={ timeout = \"500ms\" }",
            &format!("service.api.abandoned={abandoned}"),
            "run.replications=1",
        ];
        assert_eq!(value(&study(&scenario(PLAIN, &set)), 0, "wasted").value, 1.0, "{abandoned}");
    }
}

/// Calls that stay open for ever do not let the measured window end before the work does.
#[test]
fn utilisation_is_a_share_without_a_horizon_too() {
    let text = r#"
[clients.web]
count = 10
calls = "api"
load = { once = {} }
policy = { timeout = "1s" }
[clients.lost]
calls = "hole"
load = { once = {} }
[service.api]
workers = 1
time = "10s"
[service.hole]
time = "1s"
down = "hang"
"#;
    let study = study(&scenario(text, &[]));
    let utilisation = value(&study, 0, "api.utilisation").value;
    assert!((0.99..=1.0).contains(&utilisation), "{utilisation}");
    assert_eq!(value(&study, 0, "unfinished").value, 1.0);
}

/// Percentiles come from a histogram of three digits, but never lie above the greatest latency.
#[test]
fn a_constant_latency_has_exact_percentiles() {
    let study = study(&scenario(PLAIN, &["service.api.time=100ms", "run.replications=2"]));
    for metric in ["latency_p50", "latency_p999", "latency_max"] {
        assert_eq!(value(&study, 0, metric).value, 0.1, "{metric}");
    }
}

/// Services that call two others that call the same: the number of ways doubles with each, the work must not.
#[test]
fn diamonds_of_services_take_no_time() {
    let mut text = String::from("[run]\nhorizon = \"1s\"\n[clients.web]\ncalls = \"s0\"\nload = { open = { rate = \"3/s\" } }\n");
    for index in 0..60 {
        let calls =
            if index < 59 { format!("calls = [{{ service = \"s{0}\" }}, {{ service = \"s{0}\" }}]\n", index + 1) } else { String::new() };
        text += &format!("[service.s{index}]\nworkers = \"unlimited\"\ntime = \"1ms\"\n{calls}");
    }
    text += "[[fault]]\nat = \"0s\"\nset = { \"service.s0.down\" = \"refuse\" }\n";
    let study = study(&scenario(&text, &[]));
    assert_eq!(value(&study, 0, "success_rate").value, 0.0);
}
