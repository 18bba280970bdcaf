//! Optimistic rows whose writes take time, links that carry failures only, and work that is fixed when it arrives: by arithmetic.

use crate::support::{scenario, study, value};

/// So many clients at one row, all at once, over a link of 10 ms; a write takes 5 ms.
const ROW: &str = "[clients.a]\ncalls = 'row'\nload = { once = {} }\npolicy = { attempts = 'unlimited' }\n[service.row]\noptimistic = true
time = '5ms'\n[link]\ndelay = '10ms'\n";

/// Without variance one write is taken in each round of four ways and the work: N (N + 1) / 2 writes in 45 N ms. The last reply takes
/// 10 ms of them, where successes are answered at all; each write is in service for its 5 ms.
#[test]
fn one_write_is_taken_in_each_round() {
    for clients in [1.0, 2.0, 10.0, 40.0] {
        for (replies, spared) in [("all", 0.0), ("failures", 10.0)] {
            let study = study(&scenario(ROW, &[&format!("clients.a.count={clients}"), &format!("link.replies={replies}")]));
            let of = |metric: &str| value(&study, 0, metric).value;
            let (writes, time) = (clients * (clients + 1.0) / 2.0, 45.0 * clients - spared);
            assert_eq!((of("attempts"), of("row.arrivals"), of("row.served")), (writes, writes, clients));
            assert!((of("completion_time") * 1e3 - time).abs() < 1e-9, "{clients} clients, {replies}: {}", of("completion_time"));
            assert!((of("row.number_mean") * time - 5.0 * writes).abs() < 1e-6, "{clients} clients: {}", of("row.number_mean"));
        }
    }
}

/// Two writes without a read before them, the second so much later: it is taken where the first is done when it comes.
#[test]
fn a_write_meets_what_was_taken_while_it_worked() {
    let text = "[clients.a]\ncalls = 'front'\nload = { once = {} }\n[clients.b]\ncalls = 'front'\nload = { once = { at = '3ms' } }
[service.front]\nworkers = 'unlimited'\ntime = '0s'\ncalls = [{ service = 'row' }]\n[service.row]\noptimistic = true\ntime = '5ms'\n";
    for (later, served, errors) in
        [("1ns", 1.0, 1.0), ("3ms", 1.0, 1.0), ("4999999ns", 1.0, 1.0), ("5000001ns", 2.0, 0.0), ("1s", 2.0, 0.0)]
    {
        let study = study(&scenario(text, &[&format!("clients.b.load.once.at={later}")]));
        let of = |metric: &str| value(&study, 0, metric).value;
        assert_eq!((of("row.served"), of("row.errors"), of("succeeded")), (served, errors, served), "{later} later");
    }
}

/// A row that dies loses the writes in progress; one that only cannot be reached ends them.
#[test]
fn a_row_that_dies_loses_its_writes() {
    let text = format!("{ROW}[[fault]]\nat = '32ms'\nfor = '1s'\nset = {{ 'service.row.down' = 'refuse' }}\n");
    for (down, refused, succeeded) in [("refuse", 3.0, 0.0), ("hang", 0.0, 0.0), ("hold", 0.0, 1.0)] {
        let fault = format!("fault.0.set={{ \"service.row.down\" = \"{down}\" }}");
        let study = study(&scenario(&text, &["clients.a.count=3", "clients.a.policy.attempts=1", "run.horizon=500ms", &fault]));
        let of = |metric: &str| value(&study, 0, metric).value;
        assert_eq!((of("row.refused"), of("succeeded")), (refused, succeeded), "{down}");
    }
}

/// One client, 10 ms each way, 5 ms of work.
const ONE: &str =
    "[clients.a]\ncalls = 'b'\nload = { once = {} }\npolicy = { attempts = 1 }\n[service.b]\nworkers = 'unlimited'\ntime = '5ms'
[link]\ndelay = '10ms'\n";

/// A success is known when it is done, also within a timeout that the way back would pass; a failure takes its way.
#[test]
fn no_news_is_good_news() {
    for (set, time, success) in [
        (["link.replies=all", "service.b.error_rate=0"], 25.0, 1.0),
        (["link.replies=failures", "service.b.error_rate=0"], 15.0, 1.0),
        (["link.replies=failures", "service.b.error_rate=1"], 25.0, 0.0),
        (["link.replies=failures", "clients.a.policy.timeout=20ms"], 15.0, 1.0),
        (["link.replies=all", "clients.a.policy.timeout=20ms"], 20.000001, 0.0),
        (["link.\"a->b\".replies=failures", "service.b.error_rate=0"], 15.0, 1.0),
    ] {
        let study = study(&scenario(ONE, &[set[0], set[1], "run.horizon=1s"]));
        let of = |metric: &str| value(&study, 0, metric).value;
        assert!((of("completion_time") * 1e3 - time).abs() < 1e-9 && of("success_rate") == success, "{set:?}: {}", of("completion_time"));
    }
}

/// What is not sent is not lost: of messages that are lost with probability p, 1 - p succeed and not (1 - p)^2.
#[test]
fn a_success_that_is_not_answered_is_not_lost() {
    for (replies, success) in [("all", 0.49), ("failures", 0.7)] {
        let set = ["link.loss=0.3", &format!("link.replies={replies}"), "clients.a.count=20000", "clients.a.policy.timeout=1s"];
        let found = value(&study(&scenario(ONE, &set)), 0, "success_rate").value;
        assert!((found - success).abs() < 4.0 * (success * (1.0 - success) / 20_000.0f64).sqrt(), "{replies}: {found}, not {success}");
    }
}

/// Three jobs at once for one worker, 10 ms each; from 5 ms on jobs take 100 ms. Drawn on arrival none of these does.
#[test]
fn work_that_is_drawn_on_arrival_keeps_its_time() {
    let text = "[clients.a]\ncount = 3\ncalls = 'b'\nload = { once = {} }\n[service.b]\ntime = '10ms'
[[fault]]\nat = '5ms'\nset = { 'service.b.time' = '100ms' }\n";
    for (drawn, ends) in [("start", 0.21), ("arrival", 0.03)] {
        let study = study(&scenario(text, &[&format!("service.b.time_drawn={drawn}")]));
        assert_eq!(value(&study, 0, "completion_time").value, ends, "{drawn}");
    }
}

/// When it is drawn makes no difference to what is drawn: without a fault the runs are the same.
#[test]
fn when_work_is_drawn_changes_no_draw() {
    let text = "[run]\nhorizon = '2000s'\n[clients.a]\ncalls = 'b'\nload = { open = { rate = '0.8/s' } }
[service.b]\ntime = { exponential = { mean = '1s' } }\n";
    let mean = |drawn: &str| value(&study(&scenario(text, &[&format!("service.b.time_drawn={drawn}")])), 0, "b.wait_mean").value;
    assert_eq!(mean("start"), mean("arrival"));
}
