//! Queues by criticality, where places are short.

use crate::support::{scenario, study, value};

/// Seven of the less important wait where, from 1 s on, there is room for three. An important one takes the place of one of them at 2 s, and
/// is next at 10 s; another of the less important is turned away.
#[test]
fn a_queue_that_has_become_too_long_still_makes_room() {
    let text = r#"
[run]
horizon = "100s"
[clients.reports]
count = 8
calls = "line"
load = { once = { at = "0s" } }
criticality = "sheddable"
[clients.more]
calls = "line"
load = { once = { at = "3s" } }
criticality = "sheddable"
[clients.user]
calls = "line"
load = { once = { at = "2s" } }
criticality = "critical"
policy = { timeout = "18s" }
[service.line]
workers = 1
time = "10s"
queue = { limit = 10, order = "priority" }
[[fault]]
at = "1s"
set = { "service.line.queue" = { limit = 3, order = "priority" } }
"#;
    let study = study(&scenario(text, &[]));
    let of = |metric: &str| value(&study, 0, metric).value;
    assert_eq!(["line.rejected", "succeeded", "failed", "line.queue_peak"].map(of), [2.0, 8.0, 2.0, 7.0]);
}
