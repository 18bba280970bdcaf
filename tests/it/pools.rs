//! Pools at the caller: places, the line for them, and what becomes of who gets none. By arithmetic, to the nanosecond.

use retrystorm::measure::random::Seed;
use retrystorm::measure::time::Time;
use retrystorm::world::trace::{Recorder, What};

use crate::support::{scenario, study, value};

/// Ten clients that call at once a service that takes a second for each and never makes anybody wait.
const TEN: &str = r#"
[clients.web]
count = 10
calls = "api"
load = { once = {} }
policy = { pool = { limit = 4, scope = "group" } }
[service.api]
workers = "unlimited"
time = "1s"
"#;

/// What is set, and then: attempts, `pool_denied`, calls that succeed, mean latency of these, and the end.
type Row = (&'static [&'static str], [f64; 5]);

#[test]
fn places_are_given_in_turn_and_waiting_is_latency() {
    const NANOSECOND: f64 = 1e-9;
    let rows: &[Row] = &[
        // Four at 1 s, four at 2 s, two at 3 s.
        (&[], [10.0, 0.0, 10.0, 1.8, 3.0]),
        (&["clients.web.policy.pool.scope=client"], [10.0, 0.0, 10.0, 1.0, 1.0]),
        // Clients 0 to 4 and 5 to 9: of each five, four at once and one after them.
        (&["clients.web.policy.pool.scope={ processes_of = 5 }"], [10.0, 0.0, 10.0, 1.2, 2.0]),
        // Three may wait, the other three are turned away at once.
        (&["clients.web.policy.pool.wait=3"], [7.0, 3.0, 7.0, 10.0 / 7.0, 2.0]),
        (&["clients.web.policy.pool.wait=0"], [4.0, 6.0, 4.0, 1.0, 1.0]),
        // A place that comes at the very end of the wait is in time.
        (&["clients.web.policy.pool.timeout=1s"], [8.0, 2.0, 8.0, 1.5, 2.0]),
        (&["clients.web.policy.pool.timeout=999ms"], [4.0, 6.0, 4.0, 1.0, 1.0]),
        // The attempt's timeout runs from its sending, the deadline from the start of the call.
        (&["clients.web.policy.timeout=1s"], [10.0, 0.0, 10.0, 1.8, 3.0]),
        (&["clients.web.policy.deadline=2500ms"], [10.0, 0.0, 8.0, 1.5, 2.5 + NANOSECOND]),
        (&["clients.web.policy.deadline=1500ms"], [8.0, 0.0, 4.0, 1.0, 1.5 + NANOSECOND]),
        // Who gives up gives its place back, though the service goes on.
        (&["clients.web.policy.timeout=500ms"], [10.0, 0.0, 0.0, f64::NAN, 1.5 + 3.0 * NANOSECOND]),
        // Turned away, they wait two seconds and have their place then: four of the six, and two a second later.
        (
            &[
                "clients.web.policy.pool.wait=0",
                "clients.web.policy.attempts=3",
                "clients.web.policy.backoff={ fixed = { delay = \"2s\" } }",
            ],
            [10.0, 8.0, 10.0, (4.0 + 4.0 * 3.0 + 2.0 * 5.0) / 10.0, 5.0],
        ),
        // Turning away uses up attempts.
        (
            &[
                "clients.web.policy.pool.wait=0",
                "clients.web.policy.attempts=2",
                "clients.web.policy.backoff={ fixed = { delay = \"2s\" } }",
            ],
            [8.0, 8.0, 8.0, 2.0, 3.0],
        ),
        // It is no retry where `rejected` is none.
        (
            &["clients.web.policy.pool.wait=0", "clients.web.policy.attempts=3", "clients.web.policy.retry_on=[\"timeout\"]"],
            [4.0, 6.0, 4.0, 1.0, 1.0],
        ),
        // A breaker around it hears `rejected`: six in a row, and the second opens it.
        (
            &[
                "clients.web.policy.pool.wait=0",
                "clients.web.policy.breaker={ consecutive = { failures = 2, open = \"1h\", scope = \"group\" } }",
            ],
            [4.0, 2.0, 4.0, 1.0, 1.0],
        ),
    ];
    for (set, expected) in rows {
        let study = study(&scenario(TEN, set));
        let found = ["attempts", "pool_denied", "succeeded", "latency_mean", "completion_time"];
        for (metric, expected) in found.into_iter().zip(expected).filter(|(_, expected)| !expected.is_nan()) {
            let found = value(&study, 0, metric).value;
            // The mean of latencies is a quotient of two sums: exact but for its last bit.
            assert!((found - expected).abs() < 1e-12, "{set:?}: {metric} is {found}, not {expected}");
        }
    }
}

/// Two groups that call the same service by the same pool share it, where its scope says so.
#[test]
fn callers_of_a_service_share_its_pool() {
    let other = "[clients.cron]\ncount = 10\ncalls = \"api\"\nload = { once = {} }\npolicy = { pool = { limit = 4, scope = \"group\" } }\n";
    let text = format!("{TEN}{other}");
    let ends = |set: &[&str]| value(&study(&scenario(&text, set)), 0, "completion_time").value;
    assert_eq!(ends(&[]), 3.0);
    let shared = ["clients.web.policy.pool.scope=service", "clients.cron.policy.pool.scope=service"];
    assert_eq!(ends(&shared), 5.0);
    // Not the same pool.
    assert_eq!(ends(&[shared[0], shared[1], "clients.cron.policy.pool.limit=5"]), 3.0);
}

/// The workers of a service are one client: no more of them call on at once than the pool has places.
#[test]
fn workers_share_a_pool() {
    let text = r#"
[clients.web]
count = 10
calls = "gateway"
load = { once = {} }
[service.gateway]
workers = 6
time = "1s"
calls = [{ service = "db", policy = { pool = { limit = 2 } } }]
[service.db]
workers = "unlimited"
time = "1s"
"#;
    let study = study(&scenario(text, &[]));
    // Six workers are there at 1 s. Two of them are done at 2, 3 and 4 s; each is then free for one of the four that wait, and these
    // come to the pool at 3, 3, 4 and 4 s, behind those who were there.
    assert_eq!(value(&study, 0, "completion_time").value, 6.0);
    assert_eq!(value(&study, 0, "latency_mean").value, (2.0 + 3.0 + 4.0 + 5.0 + 6.0) * 2.0 / 10.0);
}

/// The times at which attempts are sent.
fn sendings(fault: &str) -> Vec<(f64, usize)> {
    let model = scenario(&format!("{TEN}{fault}"), &[]).base_model().unwrap();
    let mut recorder = Recorder { calls: (0, u32::MAX), most: 1_000_000, ..Recorder::default() };
    retrystorm::world::run_heard(&model, Seed { seed: 1, replication: 0 }, &mut recorder);
    let times: Vec<Time> = recorder.lines.iter().filter(|line| matches!(line.what, What::Sent(_))).map(|line| line.at).collect();
    times.chunk_by(|one, other| one == other).map(|same| (same[0].seconds(), same.len())).collect()
}

/// A fault that gives the pool other numbers leaves its places as they are; another pool begins empty.
#[test]
fn a_pool_changes_while_it_is_in_use() {
    let sent = |set: &str| sendings(&format!("[[fault]]\nat = \"500ms\"\nfor = \"1s\"\nset = {{ {set} }}"));
    assert_eq!(sent("\"link.loss\" = 0.0"), [(0.0, 4), (1.0, 4), (2.0, 2)]);
    assert_eq!(sent("\"clients.web.policy.pool.limit\" = 5"), [(0.0, 4), (0.5, 1), (1.0, 4), (2.0, 1)]);
    // Two places from 0.5 s on: of the four that end at 1 s two are followed; at 1.5 s there are four again.
    assert_eq!(sent("\"clients.web.policy.pool.limit\" = 2"), [(0.0, 4), (1.0, 2), (1.5, 2), (2.0, 2)]);
    assert_eq!(sent("\"clients.web.policy.pool\" = \"none\""), [(0.0, 4), (0.5, 6)]);
    // Of its own for each: all who wait are sent.
    assert_eq!(sent("\"clients.web.policy.pool.scope\" = \"client\""), [(0.0, 4), (0.5, 6)]);
}

/// A hedge needs a place of its own, and does not wait for one; the winner gives back both.
#[test]
fn a_hedge_needs_a_place_too() {
    let hedge = "clients.web.policy.hedge={ after = { delay = \"500ms\" } }";
    let script = "service.api.script=[{ delay = \"2s\" }, { delay = \"1s\" }]";
    // Ten places: each call has two from 0.5 s on where there are any.
    let hedges =
        |limit: u32| value(&study(&scenario(TEN, &[hedge, script, &format!("clients.web.policy.pool.limit={limit}")])), 0, "hedges").value;
    assert_eq!(hedges(20), 10.0);
    assert_eq!(hedges(13), 3.0);
    // None of the first eight has one; the last two, sent at 2 s, do.
    assert_eq!(hedges(8), 2.0);
}

/// A share of the calls needs the service below, and all attempts of a call need the same.
#[test]
fn a_call_below_may_be_needed_by_some() {
    let text = r#"
[clients.web]
count = 10000
calls = "gateway"
load = { once = {} }
policy = { attempts = 3 }
[service.gateway]
workers = "unlimited"
time = "1ms"
calls = [{ service = "db", share = 0.3 }, { service = "log" }]
[service.db]
workers = "unlimited"
time = "1ms"
error_rate = 1.0
[service.log]
workers = "unlimited"
time = "1ms"
"#;
    let needed = |share: &str| {
        let study = study(&scenario(text, &[&format!("service.gateway.calls.0.share={share}")]));
        ["failed", "db.arrivals", "log.arrivals"].map(|metric| value(&study, 0, metric).value)
    };
    let [failed, db, log] = needed("0.3");
    assert_eq!((db, log), (3.0 * failed, 10_000.0 - failed));
    // Five standard errors of a binomial share.
    assert!((failed - 3000.0).abs() < 5.0 * (10_000.0f64 * 0.3 * 0.7).sqrt(), "{failed}");
    assert_eq!(needed("0.0"), [0.0, 0.0, 10_000.0]);
    assert_eq!(needed("1.0"), [10_000.0, 30_000.0, 0.0]);
}
