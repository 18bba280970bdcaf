//! Budgets and throttles in the world: how many attempts a total outage costs, who shares, what faults change. Every number is arithmetic.

use retrystorm::measure::random::Seed;
use retrystorm::world::run::Run;

use crate::support::scenario;

/// Ten calls a second for ten minutes, none of which ever succeeds; each failure takes 1 ms, each wait 70 ms.
const OUTAGE: &str = r#"
[run]
horizon = "620s"
[clients.web]
calls = "api"
load = { open = { rate = [["0s", "10/s"], ["600s", "0/s"]], spacing = "even" } }
policy = "p"
[policy.p]
attempts = 3
backoff = { fixed = { delay = "70ms" } }
[service.api]
workers = "unlimited"
time = "1ms"
error_rate = 1.0
"#;

pub fn first(text: &str, set: &[&str]) -> Run {
    let scenario = scenario(text, set);
    let model = scenario.model(&scenario.cells[0]).unwrap_or_else(|error| panic!("{error}"));
    retrystorm::world::run(&model, Seed { seed: 1, replication: 0 })
}

/// The retries and the refusals of a total outage of 6000 calls, with one budget.
fn outage(budget: &str) -> (u64, u64) {
    let run = first(OUTAGE, &[&format!("policy.p.budget={budget}")]);
    assert_eq!((run.totals.calls, run.totals.failed), (6000, 6000));
    (run.totals.retries, run.totals.budget_denied)
}

#[test]
fn a_total_outage_costs_what_the_budget_says() {
    for (budget, retries, denied) in [
        ("none", 12_000, 0),
        // floor(500 / 14): amplification tends to 1. Before 2026 it was 500 / 5.
        ("{ quota = {} }", 35, 5983),
        ("{ quota = { cost = 5 } }", 100, 5950),
        // What is left of 500 after 35 retries is 10, and buys one more.
        ("{ quota = { partial = true } }", 36, 5982),
        ("{ quota = { capacity = 13 } }", 0, 6000),
        // Every tenth call: 1 + share. Three times a call is more than is ever wanted.
        ("{ ratio = { share = \"10%\" } }", 600, 6000),
        ("{ ratio = { share = \"300%\" } }", 12_000, 0),
        ("{ ratio = { share = 0 } }", 0, 6000),
        // The failures come at 1 (9 left), 72, 101 and 143 ms (6 left; the call has no more attempts) and 172 ms (5 left: no).
        ("{ token_throttle = {} }", 3, 5999),
        // The same failures; but a retry that is held back counts as made: one of call 1, two of each later one.
        ("{ token_throttle = { max = 100, ratio = 1, failure_cost = 10, when_empty = \"wait\" } }", 3, 11_997),
        // Without successes nothing comes in; with a floor of nothing there is no reserve.
        ("{ window = { min_per_second = 0, deposit_on = \"success\" } }", 0, 6000),
        ("{ window = { min_per_second = 0, deposit_on = \"end\" } }", 0, 6000),
        ("{ window = { min_per_second = 0, ratio = 0 } }", 0, 6000),
        // Two deposits a retry, and a retry asks again before the next deposit.
        ("{ window = { min_per_second = 0, ratio = 0.5 } }", 3000, 6000),
        ("{ concurrency = { most = 0 } }", 0, 6000),
        ("{ concurrency = { most = 3 } }", 12_000, 0),
        // Never ten in flight, so 10 % of them is none.
        ("{ concurrency = { share = \"10%\", min = 0 } }", 0, 6000),
        ("{ ratio_cap = { share = 0 } }", 0, 6000),
        // Only what is throttled cuts the rate, and errors are not.
        ("{ cubic = {} }", 12_000, 0),
        // The least of them decides.
        ("{ all = [{ quota = {} }, { cubic = {} }] }", 35, 5983),
        ("{ all = [{ cubic = {} }, { ratio = { share = \"10%\" } }, { quota = {} }] }", 35, 6000),
    ] {
        // A call ends with a refusal, unless it has had both of its retries.
        assert_eq!(outage(budget), (retries, denied), "{budget}");
    }
}

/// A floor of 2 a second of 10 calls a second: 1 + 0.2. No ten tenths of a window hold more than 20, and 600 s are 60 windows.
#[test]
fn a_floor_is_a_rate() {
    let (retries, _) = outage("{ ratio = { share = 0, min_per_second = 2 } }");
    assert!((1180..=1200).contains(&retries), "{retries}");
    // tower, where calls come exactly at its ticks: a fifth of the calls, and a reserve of 10 that comes back after 10 to 11 s.
    let (retries, _) = outage("{ window = { min_per_second = 1, ratio = 0.2 } }");
    assert!((1200 + 540..=1200 + 610).contains(&retries), "{retries}");
    // Finagle: after 0.9 to 1 of 10 s, 60 to 67 times.
    let (retries, _) = outage("{ window = { min_per_second = 1, ratio = 0.2, slots = \"finagle\" } }");
    assert!((1200 + 600..=1200 + 670).contains(&retries), "{retries}");
}

/// Below 10 % of the calls of a window, and of the attempts: r < 0.1 (c + r) is a ninth of the calls. At most one above at each look.
#[test]
fn a_cap_is_a_share() {
    for (of, share) in [("calls", 0.1), ("attempts", 1.0 / 9.0)] {
        let (retries, _) = outage(&format!("{{ ratio_cap = {{ share = \"10%\", of = \"{of}\" }} }}"));
        // Six windows of two minutes of 1200 calls, at the edges of which a tenth of a window's calls is forgotten early.
        let expected = 6000.0 * share;
        assert!((retries as f64 - expected).abs() <= 6.0, "{of}: {retries}");
    }
}

/// With n requests in the window and no accepted one an attempt is sent with probability 1 / (n + 1). n grows to between 1080 and 1200
/// and stays there, so of 6000 calls about H(1080) + 4900 / 1140 = 12 are sent.
#[test]
fn adaptive_throttling_sends_next_to_nothing() {
    let run = first(OUTAGE, &["policy.p.budget={ adaptive_reject = {} }"]);
    assert!((3..=25).contains(&run.totals.attempts), "{} attempts", run.totals.attempts);
    assert_eq!(run.totals.failed, 6000);
    // Half of them at most: each is sent with probability 1/2 at least.
    let half = first(OUTAGE, &["policy.p.budget={ adaptive_reject = { most = \"50%\" } }", "policy.p.attempts=1"]);
    let expected = 3000.0;
    // Five standard errors of a binomial number.
    assert!((half.totals.attempts as f64 - expected).abs() < 5.0 * 1500.0f64.sqrt(), "{}", half.totals.attempts);
    // First attempts are not turned away where only retries are.
    let retries = first(OUTAGE, &["policy.p.budget={ adaptive_reject = { applies_to = \"retries\" } }"]);
    assert!(retries.totals.attempts >= 6000 && retries.totals.retries < 60, "{}", retries.totals.retries);
}

/// One token each two seconds, from the first rejection on: at 0 s without one, then at 2, 4 ... 600 s, and at 602 s the last that has time.
#[test]
fn a_throttled_client_sends_at_the_least_rate() {
    let set = [
        "service.api={ workers = 0, time = \"1ms\", queue = { limit = 0 } }",
        "policy.p={ deadline = \"3s\", budget = { cubic = { cuts_on = [\"rejected\"] } } }",
    ];
    let run = first(OUTAGE, &set);
    assert_eq!((run.totals.attempts, run.totals.calls, run.totals.failed), (302, 6000, 6000));
    // Without a deadline all wait, and the end finds them waiting: those that were sent have failed.
    let run = first(OUTAGE, &[set[0], "policy.p={ budget = { cubic = { cuts_on = [\"rejected\"] } } }", "run.horizon=601s"]);
    assert_eq!((run.totals.attempts, run.totals.failed, run.totals.unfinished), (301, 301, 5699));
}

/// 1200 calls, 20 a second, for a service that does 10 and rejects the rest: botocore's own limiter, driven by a simulator of its own with
/// the same calls, lets 1152 of them succeed, has 48 rejected, and is done after 139.1 s. Who of those that wait comes first differs, and
/// the last bits of the rate with it: hence one in a hundred.
#[test]
fn cubic_finds_the_rate() {
    let set = [
        "service.api={ workers = 1, time = \"100ms\", queue = { limit = 0 } }",
        "clients.web.load.open.rate=[[\"0s\", \"20/s\"], [\"60s\", \"0/s\"]]",
        "policy.p={ budget = { cubic = { cuts_on = [\"rejected\"] } } }",
    ];
    let run = first(OUTAGE, &set);
    let found = (run.totals.succeeded, run.services[0].rejected, run.totals.last_settled.seconds());
    assert!(found.0.abs_diff(1152) <= 12 && found.1.abs_diff(48) <= 12 && (found.2 - 139.1).abs() < 1.4, "{found:?}");
}

/// A thousand fail at once, and wait a second. The k-th finds 1000 - k in flight and k - 1 retries, and needs k - 1 < floor((1000 - k) / 5).
#[test]
fn retries_in_backoff_count_or_not() {
    for (counts, retries) in [("true", 166), ("false", 1000)] {
        let run = first(
            OUTAGE,
            &[
                "clients.web={ count = 1000, calls = \"api\", load = { once = {} }, policy = \"p\" }",
                &format!(
                    "policy.p={{ retries = 1, backoff = {{ fixed = {{ delay = \"1s\" }} }}, \
                     budget = {{ concurrency = {{ counts_backoff = {counts}, scope = \"group\" }} }} }}"
                ),
            ],
        );
        assert_eq!(run.totals.retries, retries, "{counts}");
    }
}

/// Gateway API: 1000 requests in a window, 20 %: 200 retries. A hundred requests retried three times each are 300.
#[test]
fn a_cap_counts_retries_and_not_calls() {
    for (count, share, retries) in [(1000, "20%", 200), (100, "300%", 300)] {
        let group = format!("clients.web={{ count = {count}, calls = \"api\", load = {{ once = {{}} }}, policy = \"p\" }}");
        let budget = format!(
            "policy.p={{ retries = 3, backoff = {{ fixed = {{ delay = \"1s\" }} }}, \
             budget = {{ ratio_cap = {{ share = \"{share}\", window = \"10s\", scope = \"group\" }} }} }}"
        );
        assert_eq!(first(OUTAGE, &[&group, &budget]).totals.retries, retries);
    }
}

/// One client, one call after the other: 17 calls of two retries, one of one, and from index 18 on none; the dear one ends at index 50.
#[test]
fn the_purse_is_empty_at_the_call_that_was_measured() {
    for (cost, with_two, with_one) in [(14, 17, 1), (5, 50, 0)] {
        let budget = format!("policy.p.budget={{ quota = {{ cost = {cost} }} }}");
        let run = first(OUTAGE, &["clients.web.load.open.rate=[[\"0s\", \"1/s\"], [\"200s\", \"0/s\"]]", &budget]);
        assert_eq!(run.attempts_needed, [0, 200 - with_two - with_one, with_one, with_two]);
        let retries: Vec<u32> = run.timeline.series(2).collect();
        let (first_part, rest) = retries.split_at((with_two + with_one) as usize);
        assert!(first_part[..with_two as usize].iter().all(|retries| *retries == 2) && rest.iter().all(|retries| *retries == 0));
    }
}

/// Ten clients with 600 calls each on average, or two groups of one: as many purses as there are scopes, of 35 retries each.
#[test]
fn scopes_share() {
    for (scope, purses) in
        [("\"client\"", 10), ("\"group\"", 1), ("\"service\"", 1), ("{ processes_of = 5 }", 2), ("{ processes_of = 3 }", 4)]
    {
        let budget = format!("policy.p.budget={{ quota = {{ scope = {scope} }} }}");
        assert_eq!(first(OUTAGE, &["clients.web.count=10", &budget]).totals.retries, 35 * purses, "{scope}");
    }
    let two =
        OUTAGE.replace("[policy.p]", "[clients.app]\ncalls = \"api\"\nload = { open = { rate = \"5/s\" } }\npolicy = \"p\"\n[policy.p]");
    for (other, scope, purses) in [("", "service", 1), ("", "group", 2), ("capacity = 499, ", "service", 2)] {
        let budget = format!("policy.p.budget={{ quota = {{ scope = \"{scope}\" }} }}");
        let own = format!(
            "clients.app.policy={{ attempts = 3, backoff = {{ fixed = {{ delay = \"70ms\" }} }}, budget = {{ quota = {{ {other}scope = \"{scope}\" }} }} }}"
        );
        assert_eq!(first(&two, &[&budget, &own]).totals.retries, 35 * purses, "{other}{scope}");
    }
}

fn with_faults(faults: &str, budget: &str) -> Run {
    first(&format!("{OUTAGE}{faults}"), &[&format!("policy.p.budget={budget}")])
}

/// Other numbers: the purse goes on with what is left in it. Another kind in between: it is full again.
#[test]
fn a_fault_changes_numbers_or_begins_anew() {
    let at_100 = |budget: &str| format!("[[fault]]\nat = \"100s\"\nset = {{ \"policy.p.budget\" = {budget} }}\n");
    let for_a_while = |budget: &str| at_100(budget).replace("set", "for = \"100s\"\nset");
    for (faults, retries) in [
        (at_100("{ quota = { cost = 5 } }"), 35 + 2),
        (at_100("{ quota = { capacity = 518 } }"), 35 + 2),
        (for_a_while("{ concurrency = { most = 0 } }"), 35 + 35),
        (for_a_while("\"none\""), 35 + 2000 + 35),
        (at_100("{ quota = { scope = \"group\" } }"), 35 + 35),
    ] {
        assert_eq!(with_faults(&faults, "{ quota = {} }").totals.retries, retries, "{faults}");
    }
}

/// Drained by an outage, it gains one for each call of the 200 that succeed in between: 10 + 200 are 15 retries more.
#[test]
fn successes_fill_the_purse() {
    let healthy = "[[fault]]\nat = \"100s\"\nfor = \"20s\"\nset = { \"service.api.error_rate\" = 0.0 }\n";
    assert_eq!(with_faults(healthy, "{ quota = {} }").totals.retries, 35 + 15);
    let long = healthy.replace("20s", "100s");
    assert_eq!(with_faults(&long, "{ quota = {} }").totals.retries, 35 + 35, "and no more than 500");
}

/// A purse for one retry, which the other part does not grant until 100 s: it has not been paid before.
#[test]
fn what_is_not_granted_is_not_paid() {
    let both = |most: u32| format!("{{ all = [{{ quota = {{ capacity = 14 }} }}, {{ concurrency = {{ most = {most} }} }}] }}");
    let fault = format!("[[fault]]\nat = \"100s\"\nset = {{ \"policy.p.budget\" = {} }}\n", both(1));
    assert_eq!(with_faults(&fault, &both(0)).totals.retries, 1);
    assert_eq!(outage(&both(0)).0, 0);
}

/// Two layers, timeouts, cancelled work, a process that dies, budgets that come and go.
const TROUBLE: &str = r#"
[run]
horizon = "400s"
[clients.web]
count = 20
calls = "api"
load = { open = { rate = "50/s" } }
policy = "outer"
[policy.outer]
attempts = 3
timeout = "150ms"
deadline = "2s"
backoff = { fixed = { delay = "50ms" } }
[policy.inner]
attempts = 3
timeout = "100ms"
backoff = { fixed = { delay = "30ms" } }
[service.api]
workers = 8
time = "10ms"
abandoned = "cancel"
calls = [{ service = "db", policy = "inner" }]
[service.db]
workers = 2
time = { exponential = { mean = "60ms" } }
error_rate = 0.2
[[fault]]
at = "100s"
for = "20s"
set = { "service.db.down" = "hang" }
[[fault]]
at = "150s"
for = "10s"
set = { "service.api.down" = "refuse" }
[[fault]]
at = "200s"
for = "50s"
set = { "policy.inner.budget" = { ratio = { share = 0.1 } } }
[[fault]]
at = "300s"
set = { "service.db.time" = "1ms", "policy.outer.attempts" = 1, "policy.outer.budget" = "none" }
"#;

/// One retry at once, and none is forgotten: in the end a fifth of the calls still has its retry, most of which find the place free. Without
/// any 80 % would succeed, with a standard error of 0.6 %.
#[test]
fn places_of_retries_are_given_back() {
    for counts in ["true", "false"] {
        let inner = format!("policy.inner.budget={{ concurrency = {{ most = 1, counts_backoff = {counts} }} }}");
        let run = first(TROUBLE, &["policy.outer.budget={ concurrency = { most = 5, scope = \"group\" } }", &inner]);
        let last = |series: usize| run.timeline.series(series).skip(310).sum::<u32>();
        let share = f64::from(last(3)) / f64::from(last(0));
        assert!(share > 0.87, "{counts}: {share}");
    }
}

/// Whatever limits which layer: the run's own account of calls and attempts comes out even, and the same seed does the same.
#[test]
fn accounts_come_out_even_in_trouble() {
    for budget in [
        "{ quota = { capacity = 100, refill = \"1/s\", scope = \"group\" } }",
        "{ token_throttle = { max = 100, ratio = 1, failure_cost = 10, when_empty = \"wait\" } }",
        "{ window = { deposit_on = \"end\", scope = { processes_of = 7 } } }",
        "{ adaptive_reject = { k = 1.1, window = \"10s\" } }",
        "{ cubic = { cuts_on = [\"timeout\", \"error\"], scope = \"service\" } }",
        "{ all = [{ cubic = { cuts_on = [\"timeout\"] } }, { ratio_cap = {} }, { adaptive_reject = {} }, { concurrency = {} }] }",
    ] {
        let set = [format!("policy.outer.budget={budget}"), format!("policy.inner.budget={budget}")];
        let set = [set[0].as_str(), set[1].as_str()];
        let (run, again) = (first(TROUBLE, &set), first(TROUBLE, &set));
        assert_eq!(run.fingerprint, again.fingerprint);
        assert!(run.totals.succeeded > 0 && run.totals.calls > 19_000, "{budget}");
    }
}
