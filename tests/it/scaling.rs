//! Autoscalers: how many workers there are when, by arithmetic.

use crate::support::{scenario, study, value};

/// Ten calls a second, evenly, each for 100 ms: one worker is always busy. A look every 10 s.
const EVEN: &str = r#"
[run]
horizon = "100s"
[clients.web]
calls = "api"
load = { open = { rate = "10/s", spacing = "even" } }
[service.api]
workers = 4
time = "100ms"
"#;

fn workers(first: u32, scaler: &str, more: &[&str]) -> f64 {
    let set = [format!("service.api.workers={first}"), format!("service.api.autoscaler={{ every = \"10s\", most = 9, {scaler} }}")];
    let set: Vec<&str> = set.iter().map(String::as_str).chain(more.iter().copied()).collect();
    value(&study(&scenario(EVEN, &set)), 0, "api.workers_mean").value
}

#[test]
fn workers_go_at_once_and_come_after_the_lag() {
    let half = "signal = \"busy\", target = \"50%\"";
    assert_eq!(workers(2, half, &[]), 2.0);
    // Four until 10 s, then two.
    assert_eq!(workers(4, half, &[]), (4.0 * 10.0 + 2.0 * 90.0) / 100.0);
    // A second is ordered at 10 s, and there at 70 s or at 30 s.
    assert_eq!(workers(1, half, &[]), (70.0 + 2.0 * 30.0) / 100.0);
    let soon = format!("{half}, lag = \"20s\"");
    assert_eq!(workers(1, &soon, &[]), (30.0 + 2.0 * 70.0) / 100.0);
    assert_eq!(workers(1, "signal = \"arrivals\", target = 5, lag = \"20s\"", &[]), 1.7);
    assert_eq!(workers(1, "signal = \"goodput\", target = 5, lag = \"20s\"", &[]), 1.7);
    // One at a time, not below the least, not above the most; and near enough is left alone.
    assert_eq!(workers(4, &format!("{half}, step = 1, least = 1"), &[]), (40.0 + 30.0 + 2.0 * 80.0) / 100.0);
    assert_eq!(workers(4, &format!("{half}, least = 3"), &[]), (40.0 + 3.0 * 90.0) / 100.0);
    assert_eq!(workers(1, "signal = \"arrivals\", target = 0.1, lag = \"0s\"", &[]), (10.0 + 9.0 * 90.0) / 100.0);
    assert_eq!(workers(1, "signal = \"busy\", target = \"95%\"", &[]), 1.0);
    // What was sent away meanwhile does not come: two are ordered at 10 s, and at 20 s only one, since half of the load is gone.
    let fault = "[[fault]]\nat = \"10s\"\nset = { \"clients.web.load_factor\" = 0.5 }\n";
    let set =
        ["service.api.workers=1", "service.api.autoscaler={ every = \"10s\", most = 9, signal = \"arrivals\", target = 5, lag = \"20s\" }"];
    let text = format!("{EVEN}{fault}");
    assert_eq!(value(&study(&scenario(&text, &set)), 0, "api.workers_mean").value, 1.0);
}

/// An error is no goodput: workers are sent away one after the other, though all that come are busy.
#[test]
fn goodput_scales_in_when_it_fails() {
    let set = ["service.api.error_rate=1.0"];
    assert_eq!(workers(4, "signal = \"goodput\", target = 5, step = 1", &set), (40.0 + 30.0 + 20.0 + 70.0) / 100.0);
}

/// Twenty calls a second for one worker: ten more wait each second, 50 on average in the first 10 s, and five workers are wanted.
#[test]
fn a_queue_orders_what_it_has_grown_to() {
    let twice = ["clients.web.load.open.rate=20/s", "run.horizon=20s"];
    assert_eq!(workers(1, "signal = \"queue\", target = 10, lag = \"5s\"", &twice), (15.0 + 5.0 * 5.0) / 20.0);
}

/// The utilisation is that of the workers there are, of the measured window.
#[test]
fn utilisation_knows_the_workers() {
    let set = ["service.api.autoscaler={ signal = \"busy\", target = \"50%\", every = \"10s\", most = 9 }", "run.warmup=5s"];
    let study = study(&scenario(EVEN, &set));
    assert_eq!(value(&study, 0, "api.workers_mean").value, (4.0 * 5.0 + 2.0 * 90.0) / 95.0);
    assert_eq!(value(&study, 0, "api.utilisation").value, 95.0 / (4.0 * 5.0 + 2.0 * 90.0));
}

/// Ten calls a second hold a worker for 20 ms of work and for 80 ms of waiting below: one is busy, a fifth of one is at work.
#[test]
fn cpu_is_the_work_without_the_waiting() {
    let below = "[service.db]\nworkers = 'unlimited'\ntime = '80ms'\n";
    let text = format!("{EVEN}calls = [{{ service = 'db' }}]\n{below}");
    let after = |signal: &str, target: &str| {
        let scaler =
            format!("service.api.autoscaler={{ every = '10s', most = 9, signal = '{signal}', target = '{target}', tolerance = 0 }}");
        value(&study(&scenario(&text, &["service.api.time=20ms", "service.api.workers=4", &scaler])), 0, "api.workers_mean").value
    };
    // Four for the first 10 s, then what the target says: 1 busy / 50 %, .2 at work / 50 %, .2 / 7 %.
    let then = |workers: f64| (4.0 * 10.0 + workers * 90.0) / 100.0;
    assert_eq!((after("busy", "50%"), after("cpu", "50%"), after("cpu", "7%")), (then(2.0), then(1.0), then(3.0)));
}

/// Where workers never wait, cpu is what is busy: no more than all of them, at twice the load and at eight times. So both order the same,
/// two for one at 50 %, where arrivals order as many as are needed.
#[test]
fn cpu_does_not_see_how_deep_an_overload_is() {
    let ordered = |rate: u32, signal: &str, target: &str| {
        let scaler = format!("signal = \"{signal}\", target = {target}, lag = \"5s\"");
        workers(1, &scaler, &[&format!("clients.web.load.open.rate={rate}/s"), "run.horizon=20s"])
    };
    let then = |workers: f64| (15.0 + workers * 5.0) / 20.0;
    for rate in [20, 80] {
        assert_eq!(ordered(rate, "cpu", "\"50%\""), then(2.0), "{rate}/s");
    }
    assert_eq!((ordered(20, "arrivals", "10"), ordered(80, "arrivals", "10")), (then(2.0), then(8.0)));
}
