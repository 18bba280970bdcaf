//! More of the cases: what calls come to in an outage, in a blip, by chance and through layers.

use crate::support::{scenario, study, value};

/// One client, one call, a service that does it at once.
const ONE: &str =
    "[clients.a]\ncalls = 'b'\nload = { once = {} }\npolicy = 'p'\n[policy.p]\n[service.b]\nworkers = 'unlimited'\ntime = '0s'\n";

/// Attempts, and when the call ends, at a service that is down like this.
fn down(how: &str, policy: &str) -> (f64, f64) {
    let study = study(&scenario(ONE, &[&format!("service.b.down={how}"), &format!("policy.p={policy}"), "run.horizon=1h"]));
    (value(&study, 0, "attempts").value, value(&study, 0, "completion_time").value)
}

/// B08: a call of one second, attempts that may take longer or shorter: none is sent after it, and the last is cut.
#[test]
fn no_attempt_outlives_the_call() {
    let (attempts, end) = down("hang", "{ attempts = 9, timeout = '10s', deadline = '1s' }");
    assert_eq!((attempts, end), (1.0, 1.000000001));
    let (attempts, end) = down("hang", "{ attempts = 9, timeout = '400ms', deadline = '1s' }");
    assert_eq!((attempts, (end * 1e6).round() / 1e6), (3.0, 1.0), "at 0, 0.4 and 0.8 s");
}

/// B09: three attempts of ten seconds with waits of 0.2 and 0.4 s: a hang takes 30.6 s, a refusal 0.6 s.
#[test]
fn a_hang_takes_all_its_timeouts() {
    let policy = "{ attempts = 3, timeout = '10s', backoff = { exponential = { base = '200ms' } } }";
    let (attempts, end) = down("hang", policy);
    assert_eq!((attempts, (end * 1e6).round() / 1e6), (3.0, 30.6));
    assert_eq!(down("refuse", policy), (3.0, 0.6));
}

/// B11: four retries at once are all inside a blip of 10 ms; one after 10 ms is not.
#[test]
fn immediate_retries_do_not_outlast_a_blip() {
    let text = format!("{ONE}[[fault]]\nat = '0s'\nfor = '10ms'\nset = {{ 'service.b.down' = 'refuse' }}\n");
    let success =
        |policy: &str| value(&study(&scenario(&text, &[&format!("policy.p={policy}"), "link.delay=1us"])), 0, "success_rate").value;
    assert_eq!(success("{ retries = 4 }"), 0.0);
    assert_eq!(success("{ retries = 4, backoff = { fixed = { delay = '10ms' } } }"), 1.0);
    assert_eq!(success("{ retries = 1, backoff = { custom = { initial = '10ms', jitter = { add = { most = '1s' } } } } }"), 1.0);
}

/// B12: failures by chance. Mean attempts (1 - p^n) / (1 - p), success 1 - p^n, within four standard errors of 20,000 calls.
#[test]
fn attempts_by_chance() {
    for (p, n) in [(0.5, 3), (0.9, 3), (0.1, 5), (0.99, 10)] {
        let set = [format!("service.b.error_rate={p}"), format!("policy.p={{ attempts = {n} }}"), "clients.a.count=20000".to_string()];
        let study = study(&scenario(ONE, &set.each_ref().map(String::as_str)));
        let mean = (1.0 - libm::pow(p, f64::from(n))) / (1.0 - p);
        let square: f64 = (1..=n).map(|k| f64::from(k * k) * libm::pow(p, f64::from(k - 1)) * if k < n { 1.0 - p } else { 1.0 }).sum();
        let found = value(&study, 0, "amplification").value;
        assert!((found - mean).abs() < 4.0 * ((square - mean * mean) / 20_000.0).sqrt(), "p {p}, n {n}: {found}, not {mean}");
        let (rate, right) = (value(&study, 0, "success_rate").value, 1.0 - libm::pow(p, f64::from(n)));
        assert!((rate - right).abs() < 4.0 * (right * (1.0 - right) / 20_000.0).sqrt(), "p {p}, n {n}: {rate}, not {right}");
    }
    let study = study(&scenario(ONE, &["service.b.error_rate=1", "policy.p.attempts=7", "clients.a.count=20000"]));
    assert_eq!(value(&study, 0, "amplification").value, 7.0);
}

/// E13: L layers of a attempts each over a bottom that is down: a^L. Three retries are four attempts.
#[test]
fn layers_multiply() {
    for (layers, policy, leaves) in [
        (3, "attempts = 3", 27.0),
        (3, "attempts = 4", 64.0),
        (3, "retries = 3", 64.0),
        (5, "attempts = 3", 243.0),
        (2, "attempts = 3", 9.0),
    ] {
        let mut text = format!("[clients.a]\ncalls = 's1'\nload = {{ once = {{}} }}\npolicy = {{ {policy} }}\n");
        for layer in 1..layers {
            let below = layer + 1;
            text += &format!(
                "[service.s{layer}]\nworkers = 'unlimited'\ntime = '1ms'\ncalls = [{{ service = 's{below}', policy = {{ {policy} }} }}]\n"
            );
        }
        text += &format!("[service.s{layers}]\nworkers = 'unlimited'\ntime = '1ms'\nerror_rate = 1.0\n");
        let study = study(&scenario(&text, &[]));
        assert_eq!(value(&study, 0, &format!("s{layers}.arrivals")).value, leaves, "{layers} layers, {policy}");
    }
}
