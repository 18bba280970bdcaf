//! Everything that a door and a queue can do, together and while faults come and go: nothing is lost, and nothing stays behind.

use retrystorm::measure::random::Seed;

use crate::support::scenario;

/// Two layers, two classes of clients, and faults that change what is in use. Calls come for ten seconds; a minute later all is over.
const BUSY: &str = r#"
[run]
horizon = "70s"
[clients.users]
count = 50
calls = "front"
load = { open = { rate = [["0s", "60/s"], ["10s", "0/s"]] } }
criticality = "critical_plus"
policy = { attempts = 3, timeout = "600ms", backoff = { full_jitter = { base = "50ms" } }, retry_after = "clamp" }
[clients.reports]
count = 50
calls = "api"
load = { open = { rate = [["0s", "60/s"], ["10s", "0/s"]] } }
criticality = "sheddable"
policy = { attempts = 4, timeout = "900ms", deadline = "3s", backoff = { fixed = { delay = "100ms" } }, retry_after = "floor" }
[service.front]
workers = 40
time = "1ms"
queue = { limit = 30 }
calls = [{ service = "api", policy = { attempts = 2, timeout = "500ms" }, inherits_deadline = true }]
[service.api]
workers = 4
time = { exponential = { mean = "40ms" } }
queue = { limit = 20 }
error_rate = 0.05
permanent_rate = 0.05
retry_after = { random = { exponential = { mean = "100ms" } } }
[link]
delay = { exponential = { mean = "1ms" } }
[[fault]]
at = "2s"
for = "1s"
set = { "service.api.speed" = 0.2 }
[[fault]]
at = "3500ms"
for = "500ms"
set = { "service.api.workers" = 1, "service.api.queue.order" = "lifo" }
[[fault]]
at = "5s"
for = "300ms"
set = { "service.api.down" = "hold" }
[[fault]]
at = "6s"
for = "300ms"
set = { "service.api.down" = "refuse" }
[[fault]]
at = "7s"
for = "1s"
set = { "service.api.rate_limit" = { token_bucket = { rate = "20/s", burst = 5 } }, "service.api.queue.order" = "priority", "service.api.speed" = 0 }
"#;

/// Runs it, and checks that all are gone in the end and that each arrival has become exactly one thing.
fn check(set: &[String], all_are_answered: bool) {
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    let model = scenario(BUSY, &set).base_model().unwrap();
    let run = retrystorm::world::run(&model, Seed { seed: 3, replication: 0 });
    assert_eq!((run.totals.unfinished, run.stalled), (0, None), "{set:?}");
    let last = &run.timeline.values[run.timeline.values.len() - run.timeline.width..];
    assert!(last.iter().all(|count| *count == 0), "{set:?}: something is left: {last:?}");
    for service in &run.services {
        let became = service.served + service.errors + service.rejected + service.throttled + service.refused + service.shed;
        // What was held is counted as it is delivered; what was refused in progress had arrived before.
        assert!(became <= service.arrivals, "{set:?}: {became} of {}", service.arrivals);
        assert!(!all_are_answered || became == service.arrivals, "{set:?}: {became} of {}", service.arrivals);
        assert!(service.busy <= 70_000_000_000 * 40, "{set:?}");
    }
}

#[test]
fn nothing_is_lost_and_nothing_stays() {
    let doors = [
        "service.api.rate_limit=none",
        "service.api.queue.max_wait=100ms",
        "service.api.queue.codel={}",
        "service.api.shed=expired",
        "service.api.shed=doomed",
        "service.api.rate_limit={ window = { limit = 300, every = \"4s\" } }",
        "service.api.script=[\"503\", \"ok\", { error = { delay = \"20ms\" } }, \"ok\"]",
        "service.api.load_time={ linear = { per_attempt = \"5ms\" } }",
    ];
    for door in doors {
        for order in ["fifo", "lifo", "random", "adaptive_lifo", "priority"] {
            for abandoned in ["serve", "skip", "cancel"] {
                for (sharing, cost) in [(false, "0s"), (true, "0s"), (false, "2ms"), (true, "2ms")] {
                    let mut set = vec![
                        door.to_owned(),
                        format!("service.api.queue.order={order}"),
                        format!("service.api.abandoned={abandoned}"),
                        format!("service.front.abandoned={abandoned}"),
                        format!("service.api.reject_time={cost}"),
                    ];
                    if sharing {
                        set.extend(["service.api.sharing=true".to_owned(), "service.api.in_service_limit=9".to_owned()]);
                    }
                    check(&set, abandoned == "serve");
                }
            }
        }
    }
}

/// Broken off or slowed down under sharing, what is left goes on as it should: two works of a second, one of them given up after half.
#[test]
fn shared_workers_notice_every_change() {
    let text = r#"
[clients.two]
count = 2
calls = "api"
load = { once = {} }
[service.api]
time = "1s"
sharing = true
"#;
    let ended = |set: &[&str], fault: &str| {
        let model = scenario(&format!("{text}{fault}"), set).base_model().unwrap();
        retrystorm::world::run(&model, Seed { seed: 1, replication: 0 }).ended.seconds()
    };
    assert_eq!(ended(&[], ""), 2.0);
    assert_eq!(ended(&["service.api.workers=2"], ""), 1.0);
    assert_eq!(ended(&["service.api.in_service_limit=1"], ""), 2.0);
    let faulty = |set: &str| ended(&[], &format!("[[fault]]\nat = \"500ms\"\nfor = \"1s\"\nset = {{ {set} }}\n"));
    // Half a unit of work in all is done by .5 s; 1.5 remain.
    assert_eq!(faulty("\"service.api.workers\" = 2"), 1.25);
    assert_eq!(faulty("\"service.api.speed\" = 0"), 3.0);
    assert_eq!(faulty("\"service.api.speed\" = 0.5"), 2.5);
    assert_eq!(faulty("\"service.api.workers\" = 0"), 3.0);
    // One caller leaves after .5 s and its work is dropped: the other has .75 s to go, alone.
    let leaves = "[clients.one]\ncalls = \"api\"\nload = { once = {} }\npolicy = { timeout = \"500ms\" }\n";
    let found = ended(&["service.api.abandoned=cancel", "clients.two.count=1"], leaves);
    // The timeout comes a nanosecond after the half second, so that 750 million nanoseconds less a half are left: rounded up.
    assert_eq!(found, 1.250_000_001);
}
