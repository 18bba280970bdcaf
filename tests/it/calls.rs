//! What one call can be: hedged, done once by its key, retried by the kind of its failure. Each number is arithmetic.

use crate::support::{scenario, study, value};

/// Calls of one client to a service that answers after 100 ms.
const PLAIN: &str = r#"
[clients.web]
count = 1
calls = "api"
load = { once = { at = "0s" } }
policy = "standard"
[policy.standard]
attempts = 1
[service.api]
workers = "unlimited"
time = "100ms"
# Later than any run lasts, unless a test says otherwise.
[[fault]]
at = "1000h"
set = { "service.api.error_rate" = 1.0 }
"#;

fn metrics<const N: usize>(set: &[&str], names: [&str; N]) -> [f64; N] {
    let study = study(&scenario(PLAIN, set));
    names.map(|name| value(&study, 0, name).value)
}

/// A hedge is sent after 50 ms, the first attempt wins after 100 ms: of the other's work 50 ms are lost where it is cancelled, else 100 ms.
#[test]
fn the_work_of_a_hedge_is_lost_as_far_as_it_went() {
    let names = ["attempts", "hedges", "retries", "succeeded", "latency_max", "wasted"];
    for (cancel, wasted) in [("true", 50.0 / 150.0), ("false", 100.0 / 200.0)] {
        let hedge = format!("policy.standard.hedge={{ after = {{ delay = \"50ms\", cancel = {cancel} }} }}");
        assert_eq!(metrics(&[&hedge, "run.horizon=1s"], names), [2.0, 1.0, 0.0, 1.0, 0.1, wasted], "cancel {cancel}");
    }
    let late = "policy.standard.hedge={ after = { delay = \"100ms\" } }";
    // The answer and the hedge fall on one instant: what was scheduled first, the hedge, comes first.
    assert_eq!(metrics(&[late, "run.horizon=1s"], ["attempts", "latency_max"]), [2.0, 0.1]);
}

/// 32 slow reads are doubled, or as many of them as may be at once.
#[test]
fn hedges_at_once_have_a_limit() {
    for (concurrent, attempts) in [("\"unlimited\"", 64.0), ("8", 40.0)] {
        let hedge = format!("policy.standard.hedge={{ after = {{ delay = \"50ms\", concurrent = {concurrent} }} }}");
        assert_eq!(metrics(&["clients.web.count=32", &hedge], ["attempts", "succeeded"]), [attempts, 32.0]);
    }
}

/// All answers become slow, and all calls would be doubled: the load stays below 1 + the share, and what a quiet time had saved.
#[test]
fn hedges_have_a_share_of_the_calls() {
    let load = "clients.web.load={ open = { rate = [[\"0s\", \"100/s\"], [\"100s\", \"0/s\"]], spacing = \"even\" } }";
    let hedge = "policy.standard.hedge={ after = { delay = \"50ms\", budget = \"10%\" } }";
    let [calls, hedges] = metrics(&[load, hedge], ["calls", "hedges"]);
    assert!((calls - 10_000.0).abs() <= 1.0 && hedges == (calls / 10.0).floor(), "{hedges} hedges of {calls} calls");
}

/// One in twenty answers takes a second: doubled after 20 ms only one in four hundred is slow, and 99 % are there after 20 + 10 ms.
#[test]
fn a_hedge_cuts_the_tail() {
    let load = "clients.web.load={ open = { rate = [[\"0s\", \"100/s\"], [\"200s\", \"0/s\"]] } }";
    let time = "service.api.time={ hyperexponential = [{ share = 0.95, mean = \"1ms\" }, { share = 0.05, mean = \"10s\" }] }";
    let names = ["latency_p99", "amplification"];
    let [slow, once] = metrics(&[load, time, "run.warmup=20s"], names);
    for hedge in ["{ after = { delay = \"20ms\" } }", "{ percentile = { share = 0.94, first = \"20ms\" } }"] {
        let [fast, twice] = metrics(&[load, time, "run.warmup=20s", &format!("policy.standard.hedge={hedge}")], names);
        assert!(slow > 1.0 && fast < 0.04 && once == 1.0 && (1.04..1.08).contains(&twice), "{hedge}: {slow} {fast} {twice}");
    }
}

/// A failure sends the next hedge at once, and the call fails when all of them have.
#[test]
fn failures_bring_hedges_forward() {
    let hedge = "policy.standard.hedge={ after = { delay = \"50ms\", most = 2 } }";
    let set = [hedge, "policy.standard.attempts=2", "service.api.error_rate=1", "service.api.time=10ms"];
    assert_eq!(metrics(&set, ["attempts", "hedges", "retries", "failed", "completion_time"]), [6.0, 4.0, 1.0, 1.0, 0.06]);
}

/// A timeout of 200 ms, an answer after 300 ms: without a key the call is done by every attempt; with one the second or third is told
/// what the first has done, or that it is being done.
#[test]
fn a_key_does_a_call_once() {
    let names = ["attempts", "succeeded", "api.served", "duplicates", "completion_time"];
    let run = |idempotent: &str, wait: &str| {
        let policy = format!(
            "policy.standard={{ attempts = 3, timeout = \"200ms\", backoff = {{ fixed = {{ delay = \"{wait}\" }} }}, idempotent = \"{idempotent}\" }}"
        );
        // A timeout comes one nanosecond later.
        metrics(&[&policy, "service.api.time=300ms", "run.horizon=10s"], names).map(|value| (value * 1e6).round() / 1e6)
    };
    assert_eq!(run("no", "200ms"), [3.0, 0.0, 3.0, 1.0, 1.0], "0, 400, 800 ms, each given up after 200 ms");
    assert_eq!(run("yes", "200ms"), [3.0, 0.0, 3.0, 0.0, 1.0]);
    assert_eq!(run("key", "200ms"), [2.0, 1.0, 1.0, 0.0, 0.4], "done at 300 ms, asked again at 400 ms");
    assert_eq!(run("key", "60ms"), [3.0, 1.0, 1.0, 0.0, 0.32], "a conflict at 260 ms, the answer at 320 ms");
    assert_eq!(run("key", "1ms"), [3.0, 0.0, 1.0, 0.0, 0.202], "conflicts only: too soon");
}

/// Six messages at once through a queue with one function at a time and batches of three, for which a function waits up to 10 s.
fn queued(set: &[&str]) -> [f64; 6] {
    let via =
        "clients.web.via={ sqs = { visibility_timeout = \"30s\", max_receives = 3, batch_size = 3, window = \"10s\", concurrency = 1 } }";
    let base = ["clients.web.count=6", "run.horizon=300s", "service.api.time=1s", via];
    let set: Vec<&str> = base.iter().chain(set).copied().collect();
    metrics(&set, ["attempts", "succeeded", "failed", "dead_lettered", "duplicates", "completion_time"])
}

/// Batches of three are done in 3 s each; a batch with a failure comes back 30 s after it was received.
#[test]
fn a_batch_comes_back_whole_or_in_part() {
    assert_eq!(queued(&[]), [6.0, 6.0, 0.0, 0.0, 0.0, 6.0]);
    // From 2 s to 3 s work fails: the third message's. Two are done a second time, from 30 s on.
    let fails = ["fault.0.at=2500ms", "fault.0.for=1s"];
    assert_eq!(queued(&fails), [9.0, 6.0, 0.0, 0.0, 2.0, 33.0]);
    // Alone it waits 10 s for others.
    let reports = [&fails[..], &["clients.web.via.sqs.report_failures=true"]].concat();
    assert_eq!(queued(&reports), [7.0, 6.0, 0.0, 0.0, 0.0, 41.0]);
}

/// Received three times, never done: three attempts each, where failures are reported; else the first of each batch keeps the others from their turn.
#[test]
fn a_message_that_is_never_done_becomes_a_dead_letter() {
    let fails = "service.api.error_rate=1";
    // Received at 0, 30 and 60 s, and the second batch 3 s after it; the third receive's visibility ends at 90 s and 93 s.
    assert_eq!(queued(&[fails, "clients.web.via.sqs.report_failures=true"]), [18.0, 0.0, 6.0, 6.0, 0.0, 93.0]);
    // One attempt fails the batch: 1 s each.
    assert_eq!(queued(&[fails]), [6.0, 0.0, 6.0, 6.0, 0.0, 91.0]);
}

/// A function that is stopped after 2 s has done one message of a batch and half of the next: all three come back, and never get further.
#[test]
fn a_function_that_is_stopped_returns_its_batch() {
    let set = ["clients.web.via.sqs.function_timeout=2500ms", "clients.web.count=3"];
    assert_eq!(queued(&set), [9.0, 0.0, 3.0, 3.0, 3.0, 90.0]);
}

/// A window waits for the batch to fill: of five messages, one each second, three are taken at 2 s; the other two when the 10 s are over
/// that began with the fourth. A batch is deleted as a whole.
#[test]
fn a_window_fills_a_batch() {
    let load = "clients.web.load={ open = { rate = [[\"0s\", \"1/s\"], [\"4500ms\", \"0/s\"]], spacing = \"even\" } }";
    let via = "clients.web.via={ sqs = { batch_size = 3, window = \"10s\" } }";
    let [calls, mean, end] = metrics(&[load, via, "service.api.time=1ms"], ["calls", "latency_mean", "completion_time"]);
    assert_eq!((calls, end), (5.0, 13.002));
    assert!((mean - (2.003 + 1.003 + 0.003 + 10.002 + 9.002) / 5.0).abs() < 1e-9, "{mean}");
}

/// The example of AWS: one retrier for errors A and B, twice, one second and then two; another for C, five seconds. A, B, C, B: waits of
/// 1, 2 and 5 s, and then the first is used up.
#[test]
fn each_retrier_has_its_own_count() {
    let retriers = "policy.standard={ retriers = [\
        { on = [\"error\", \"throttled\"], retries = 2, backoff = { exponential = { base = \"1s\" } } },\
        { on = [\"conflict\"], backoff = { fixed = { delay = \"5s\" } } }] }";
    let script = "service.api.script=[\"500\", \"429\", \"409\", \"429\", \"200\"]";
    let names = ["attempts", "state_transitions", "failed", "completion_time"];
    assert_eq!(metrics(&[retriers, script, "service.api.time=0s"], names), [4.0, 4.0, 1.0, 8.0]);
    assert_eq!(
        metrics(&[retriers, "service.api.script=[\"500\", \"409\", \"409\", \"200\"]", "service.api.time=0s"], names),
        [4.0, 4.0, 0.0, 11.0]
    );
}

/// A policy against a known course of events: two rejections, an answer after 15 s, for which an attempt has 10 s; the next is told 5 s.
#[test]
fn a_script_tests_a_policy() {
    let policy =
        "policy.standard={ attempts = 5, timeout = \"10s\", retry_after = \"floor\", backoff = { exponential = { base = \"1s\" } } }";
    let script = "service.api.script=[\"503\", \"503\", { delay = \"15s\" }, { throttled = { retry_after = \"20s\" } }, \"200\"]";
    let names = ["attempts", "succeeded", "api.served", "api.throttled", "api.rejected", "duplicates"];
    let set = [policy, script, "service.api.time=0s", "run.horizon=10min"];
    // The third attempt is done 5 s after its caller has left, so that the fifth does it again.
    assert_eq!(metrics(&set, names), [5.0, 1.0, 2.0, 1.0, 2.0, 1.0]);
    // 0, 1, 3 s; given up at 13 s; 4 s later told to wait 20 s: 37 s, and a nanosecond for the timeout.
    assert_eq!(metrics(&set, ["latency_max"]), [37.000000001]);
    let key = [policy, "policy.standard.idempotent=key", script, "service.api.time=0s", "run.horizon=10min"];
    assert_eq!(metrics(&key, ["api.served", "duplicates", "attempts"]), [1.0, 0.0, 5.0]);
}
