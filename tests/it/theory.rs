//! Closed forms of queueing and retrial theory: the 95 % interval of the simulation, widened to four standard errors, covers them.

use crate::support::{scenario, study, value};

/// Base of the scenarios below: one service with Poisson calls.
const QUEUE: &str = r#"
[run]
horizon = "20000s"
warmup = "1000s"
replications = 20
bin = "100s"
[clients.callers]
count = 1
calls = "line"
load = { open = { rate = "0.8/s" } }
policy = { attempts = 1 }
[service.line]
workers = 1
time = { exponential = { mean = "1s" } }
"#;

fn check(set: &[&str], metric: &str, exact: f64) {
    let study = study(&scenario(QUEUE, set));
    let found = value(&study, 0, metric);
    let error = found.sd.expect("replications") / f64::from(found.count).sqrt();
    println!("{set:?} {metric}: {:.5} ± {:.5}, exact {exact}", found.value, 1.96 * error);
    assert!(
        (found.value - exact).abs() < 4.0 * error + 1e-12,
        "{set:?}: {metric} = {} is not {exact} (standard error {error})",
        found.value
    );
    assert!(error < 0.03 * exact, "{set:?}: {metric} is too vague to tell: ±{error}");
}

#[test]
fn a_queue_of_one_worker_waits_as_long_as_it_should() {
    // M/G/1, Pollaczek and Khinchine: Wq = lambda E[S^2] / (2 (1 - rho)).
    check(&[], "line.wait_mean", 4.0);
    check(&[], "latency_mean", 5.0);
    check(&[], "line.queue_mean", 3.2);
    check(&[], "line.utilisation", 0.8);
    check(&["service.line.time=1s"], "line.wait_mean", 2.0);
    let mixture = r#"service.line.time={ hyperexponential = [{ share = 0.1, mean = "5.5s" }, { share = 0.9, mean = "500ms" }] }"#;
    check(&[mixture, "run.horizon=100000s"], "line.wait_mean", 13.0);
}

#[test]
fn ten_workers_wait_as_erlang_says() {
    // M/M/10, a = 8: Erlang C .40918, Wq .20459.
    check(&["service.line.workers=10", "clients.callers.load.open.rate=8/s"], "line.wait_mean", 0.20459);
    // M/M/10/10: the lost share is Erlang B(10, 8).
    let loss = ["service.line.workers=10", "clients.callers.load.open.rate=8/s", "service.line.queue.limit=0"];
    check(&loss, "success_rate", 1.0 - 0.121661);
    // M/M/1/20 with rho .95: 19 places to wait.
    check(&["clients.callers.load.open.rate=0.95/s", "service.line.queue.limit=19"], "success_rate", 1.0 - 0.0271812);
}

#[test]
fn lifo_and_random_order_wait_as_long_on_average() {
    check(&["service.line.queue.order=lifo"], "line.wait_mean", 4.0);
    check(&["service.line.queue.order=random"], "line.wait_mean", 4.0);
    check(&["service.line.queue.order=adaptive_lifo", "service.line.queue.lifo_above=3"], "line.wait_mean", 4.0);
}

#[test]
fn patience_on_waiting() {
    // M/M/1, rho .9, skipped when late by 2 / mu: P(abandoned) = (1 - rho) rho E / (1 - rho^2 E), E = e^(-(mu - lambda) tau). The timeout of
    // the simulator also covers the service, so the law is checked by those that were taken up: the timeout is that of the wait.
    let study = study(&scenario(
        QUEUE,
        &[
            "clients.callers.load.open.rate=0.9/s",
            "clients.callers.policy={ attempts = 1, timeout = \"2s\" }",
            "service.line.abandoned=skip",
        ],
    ));
    let (arrivals, served) = (value(&study, 0, "line.arrivals"), value(&study, 0, "line.served"));
    let skipped = 1.0 - served.value / arrivals.value;
    let error = served.sd.unwrap() / arrivals.value / f64::from(served.count).sqrt() * 2.0;
    assert!((skipped - 0.218764).abs() < 4.0 * error, "{skipped} is not .218764 (±{error})");
}

#[test]
fn a_closed_loop_is_what_mean_value_analysis_says() {
    // M/M/1//30 with think time 10 and service time .5: throughput 1.983085, response time 5.127945.
    let closed = [
        "clients.callers.count=30",
        "clients.callers.load={ closed = { think = { exponential = { mean = \"10s\" } } } }",
        "service.line.time={ exponential = { mean = \"500ms\" } }",
    ];
    check(&closed, "latency_mean", 5.127945);
    check(&closed, "goodput", 1.983085);
}

#[test]
fn geometric_retries() {
    // Failures with probability p, A attempts: (1 - p^A) / (1 - p) attempts per call, success 1 - p^A.
    let set = [
        "service.line.workers=unlimited",
        "service.line.time=1ms",
        "clients.callers.policy={ attempts = 4 }",
        "service.line.error_rate=0.5",
    ];
    check(&set, "amplification", 1.875);
    check(&set, "success_rate", 0.9375);
}

#[test]
fn who_finds_the_line_busy_comes_back() {
    // Falin and Templeton: attempts per call = 1 + rho (1 + theta / mu) / (1 - rho), for ever.
    let set = [
        "clients.callers.load.open.rate=0.7/s",
        "service.line.queue.limit=0",
        "clients.callers.policy={ attempts = \"unlimited\", backoff = { random = { exponential = { mean = \"3.3333333333s\" } } } }",
        "run.horizon=50000s",
    ];
    check(&set, "amplification", 4.033333);
}

/// Layers: leaf attempts per call are (1 - p^(A^L)) / (1 - p) where every layer retries, in the closed form of the scenario.
#[test]
fn layers_multiply_at_every_error_rate() {
    let mut layers = crate::support::curated(
        "layers",
        &["run.replications=20", "run.horizon=200s", "clients.users.policy=three", "service.gateway.calls.0.policy=three"],
    );
    layers.expectations.clear();
    let study = study(&layers);
    for (cell, p) in [0.1f64, 0.5, 0.9].into_iter().enumerate() {
        let found = value(&study, cell, "database.attempts_per_call");
        let error = found.sd.unwrap() / f64::from(found.count).sqrt();
        let exact = (1.0 - libm::pow(p, 27.0)) / (1.0 - p);
        assert!((found.value - exact).abs() < 4.0 * error, "p = {p}: {} is not {exact} (±{error})", found.value);
    }
    for (service, attempts) in [("gateway", 3.0), ("backend", 9.0), ("database", 27.0)] {
        assert_eq!(value(&study, 3, &format!("{service}.attempts_per_call")).value, attempts);
    }
}
