//! Replicas behind a balancer: against closed forms, and by arithmetic where one of them is ill.

use crate::support::{scenario, study, value};

/// Three workers, each 90 % busy, each with a queue of its own.
const BUSY: &str = r#"
[run]
horizon = "60000s"
warmup = "1000s"
replications = 12
bin = "100s"
[clients.web]
calls = "api"
load = { open = { rate = "2.7/s" } }
[service.api]
time = { exponential = { mean = "1s" } }
replicas = 3
"#;

/// Mean wait, with half of its 95 % interval.
fn wait(set: &[&str]) -> (f64, f64) {
    let found = value(&study(&scenario(BUSY, set)), 0, "api.wait_mean");
    let (low, high) = found.interval.expect("twelve replications");
    (found.value, (high - low) / 2.0)
}

/// The wait in G/M/1 is s / (1 - s) in units of the service time, s the root of s = A(1 - s) below 1, A the transform of the gaps.
/// Random: each replica is M/M/1, s = rho. In turn: gaps of three exponentials, A(x) = (2.7 / (2.7 + x))^3.
#[test]
fn the_waits_are_those_of_the_textbook_and_in_its_order() {
    let root = (0..10_000).fold(0.5f64, |s, _| libm::pow(2.7 / (2.7 + 1.0 - s), 3.0));
    let random = wait(&["service.api.balancer=random"]);
    let in_turn = wait(&["service.api.balancer=round_robin"]);
    let two = wait(&["service.api.balancer=two_choices"]);
    let least = wait(&["service.api.balancer=least_loaded"]);
    let one_queue = wait(&["service.api.replicas=1", "service.api.workers=3"]);
    // Twice the half-width of the interval: missed by chance once in ten thousand.
    for ((found, half), expected) in [(random, 9.0), (in_turn, root / (1.0 - root))] {
        assert!((found - expected).abs() < 2.0 * half && half < 0.15 * expected, "{found} +- {half}, not {expected}");
    }
    let order = [random, in_turn, two, least, one_queue];
    for pair in order.windows(2) {
        assert!(pair[0].0 - pair[1].0 > pair[0].1 + pair[1].1, "{order:?}");
    }
}

/// A call each 100 ms for 300 s, three replicas; what is set makes one of them ill.
const ILL: &str = r#"
[run]
horizon = "300s"
[clients.web]
calls = "api"
load = { open = { rate = "10/s", spacing = "even" } }
policy = { timeout = "50ms" }
[service.api]
time = "10ms"
replicas = 3
"#;

fn numbers<const N: usize>(set: &[&str], metrics: [&str; N]) -> [f64; N] {
    let study = study(&scenario(ILL, set));
    metrics.map(|metric| value(&study, 0, metric).value)
}

/// In turn, a third of the attempts meets the dead one; retries go to the next.
#[test]
fn a_dead_replica_takes_its_share_until_it_is_ejected() {
    let metrics = ["failed", "attempts", "api.refused"];
    let dead = "service.api.replica.0.down=refuse";
    assert_eq!(numbers(&[], metrics), [0.0, 3000.0, 0.0]);
    assert_eq!(numbers(&[dead], metrics), [1000.0, 3000.0, 1000.0]);
    assert_eq!(numbers(&[dead, "clients.web.policy.attempts=2"], metrics), [0.0, 4500.0, 1500.0]);
    // Five failures in a row; after 30 s, 60 s, 90 s and 120 s five more each: it is ejected at 1.2 s, and the fourth time until after the end.
    let ejection = "service.api.ejection={}";
    assert_eq!(numbers(&[dead, ejection], metrics), [20.0, 3000.0, 20.0]);
    // For good from the first time on.
    assert_eq!(numbers(&[dead, "service.api.ejection={ consecutive = 3, time = \"1h\" }"], metrics), [3.0, 3000.0, 3.0]);
    // No more than half of three is one.
    let two = [dead, "service.api.replica.1.error_rate=1.0", "service.api.ejection={ time = \"1h\" }"];
    assert_eq!(numbers(&two, metrics)[0], 5.0 + 5.0 + (3000.0 - 14.0) / 2.0);
}

/// A timeout is a failure too; a replica that is slow, but not too slow, is none.
#[test]
fn what_hangs_is_ejected_and_what_is_slow_is_not() {
    let ejection = "service.api.ejection={ time = \"1h\" }";
    for ill in ["service.api.replica.2.down=hang", "service.api.replica.2.speed=0.1"] {
        assert_eq!(numbers(&[ill], ["failed"]), [1000.0], "{ill}");
        assert_eq!(numbers(&[ill, ejection], ["failed"]), [5.0], "{ill}");
    }
    assert_eq!(numbers(&["service.api.replica.2.speed=0.2", ejection], ["failed", "api.served"]), [0.0, 3000.0]);
}

/// What answers at once, wrongly, has the fewest attempts: it draws all of them.
#[test]
fn the_least_loaded_may_be_the_dead_one() {
    let set = [
        "service.api.replica.1.down=refuse",
        "service.api.balancer=least_loaded",
        "service.api.time=250ms",
        "clients.web.policy.timeout=1s",
    ];
    let [failed] = numbers(&set, ["failed"]);
    // Both others are busy most of the time: then it is the only one without an attempt.
    assert!(failed > 1500.0, "{failed} of 3000: a third would be 1000");
}

/// Each replica has its own queue, and what it holds when it goes down is kept for it.
#[test]
fn replicas_have_their_own_queues() {
    let text = r#"
[clients.web]
count = 9
calls = "api"
load = { once = {} }
[service.api]
time = "1s"
queue = { limit = 1 }
replicas = 3
"#;
    let study = study(&scenario(text, &[]));
    let found = ["api.served", "api.rejected", "completion_time", "api.queue_peak"].map(|metric| value(&study, 0, metric).value);
    assert_eq!(found, [6.0, 3.0, 2.0, 1.0]);
    // One of them is away for half a second: what came to it is delivered then, and nothing is lost.
    let fault = "[[fault]]\nat = \"0s\"\nfor = \"500ms\"\nset = { \"service.api.replica.1.down\" = \"hold\" }\n";
    let study = crate::support::study(&scenario(&format!("{text}{fault}"), &[]));
    let found = ["api.served", "api.rejected", "completion_time"].map(|metric| value(&study, 0, metric).value);
    assert_eq!(found, [6.0, 3.0, 2.5]);
}

/// To the next service each replica is a client: with a breaker of its own, and a pool.
#[test]
fn a_replica_is_a_client_of_the_next_service() {
    let text = r#"
[clients.web]
count = 12
calls = "gateway"
load = { once = {} }
[service.gateway]
workers = "unlimited"
time = "0s"
replicas = 3
calls = [{ service = "db", policy = { pool = { limit = 2 } } }]
[service.db]
workers = "unlimited"
time = "1s"
"#;
    let ends = |scope: &str| {
        let set = format!("service.gateway.calls.0.policy.pool.scope={scope}");
        value(&study(&scenario(text, &[&set])), 0, "completion_time").value
    };
    // Four attempts at each, two of them at once; or six turns of two.
    assert_eq!((ends("client"), ends("group")), (2.0, 6.0));
}
