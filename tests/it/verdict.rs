//! Verdicts against runs whose outcome is known: by the load alone, or by the theory of the storm (A lambda against mu). How often
//! each is wrong is what docs/METHOD.md states.

use crate::support::{scenario, study, value, values};

/// Ten workers of 100 ms: mu = 100 a second. Work whose caller has left is done all the same.
pub const BASE: &str = r#"
[run]
horizon = "120s"
replications = 100
[clients.web]
count = 500
calls = "api"
load = { open = { rate = "60/s" } }
policy = { attempts = 3, timeout = "1s" }
[service.api]
workers = 10
time = { exponential = { mean = "100ms" } }
"#;

pub const FAULT: &str = r#"
[[fault]]
at = "20s"
for = "10s"
set = { "service.api.down" = "hang" }
"#;

/// In place of a value to set: without the fault.
const QUIET: &str = "nothing ever happens";

/// The label, what makes it true, and what may be found.
const LABELLED: [(&str, &[&str], &[&str]); 14] = [
    // No trigger, and no retries that could make one: 90 % load, then 60 %.
    ("stable at 90 %", &[QUIET, "clients.web.load.open.rate=90/s", "clients.web.policy={ timeout = \"2s\" }"], &["stable"]),
    // One worker that takes a second: few calls a bin, and a queue that wanders as far as they come in.
    (
        "stable at 90 %, slow",
        &[
            QUIET,
            "service.api.workers=1",
            "service.api.time={ exponential = { mean = \"1s\" } }",
            "clients.web.load.open.rate=0.9/s",
            "clients.web.policy={}",
            "run.horizon=2000s",
        ],
        &["stable"],
    ),
    ("stable, errors", &[QUIET, "service.api.error_rate=0.3", "clients.web.policy={ attempts = 2 }"], &["stable"]),
    (
        "stable, closed",
        &[QUIET, "clients.web.load={ closed = { think = { exponential = { mean = \"6s\" } } } }", "clients.web.policy={}"],
        &["stable"],
    ),
    // One worker of ten is away for ten seconds, at 30 % load.
    ("unharmed", &["fault.0.set={ \"service.api.workers\" = 9 }", "clients.web.load.open.rate=30/s"], &["stable"]),
    // A lambda = 180 and 120 of mu = 100, and a queue that outlives its callers.
    ("stuck", &["fault.0.set={ \"service.api.down\" = \"hold\" }"], &["stuck"]),
    ("stuck, near", &["fault.0.set={ \"service.api.down\" = \"hold\" }", "clients.web.load.open.rate=40/s", "fault.0.for=20s"], &["stuck"]),
    ("stuck, bounded", &["fault.0.set={ \"service.api.down\" = \"hold\" }", "service.api.queue.limit=500"], &["stuck"]),
    // A lambda = 60 of 100: 1,200 attempts are held in 20 s, back (1,200 - 100) / (100 - 60) = 27.5 s after.
    (
        "recovers",
        &["fault.0.set={ \"service.api.down\" = \"hold\" }", "clients.web.load.open.rate=20/s", "fault.0.for=20s"],
        &["recovered"],
    ),
    // No retries: back at once.
    ("recovers at once", &["clients.web.policy={ timeout = \"1s\" }"], &["recovered"]),
    // The same storm, seen until 22 s after, while it is still being worked off: 200 or so are left.
    (
        "cut short",
        &["fault.0.set={ \"service.api.down\" = \"hold\" }", "clients.web.load.open.rate=20/s", "fault.0.for=20s", "run.horizon=62s"],
        &["undecided"],
    ),
    // And until 35 s after: back for 7 s, give or take.
    (
        "back at last",
        &["fault.0.set={ \"service.api.down\" = \"hold\" }", "clients.web.load.open.rate=20/s", "fault.0.for=20s", "run.horizon=75s"],
        &["recovered", "undecided"],
    ),
    // 120 of 100 a second, long before the trigger, and without any.
    ("collapsed before", &["clients.web.load.open.rate=120/s", "fault.0.at=60s", "fault.0.for=5s"], &["collapsed"]),
    ("collapsed", &[QUIET, "clients.web.load.open.rate=110/s", "clients.web.policy={ attempts = 1 }"], &["collapsed"]),
];

#[test]
fn labelled_runs_are_judged_right() {
    let (mut runs, mut wrong) = (0.0, 0.0);
    for (label, set, right) in LABELLED {
        let quiet = set.first() == Some(&QUIET);
        let text = if quiet { BASE.to_string() } else { [BASE, FAULT].concat() };
        let study = study(&scenario(&text, &set[usize::from(quiet)..]));
        let share = |verdict: &str| values(&study, 0, verdict).iter().sum::<f64>() / 100.0;
        let found: f64 = right.iter().map(|verdict| share(verdict)).sum();
        let all = ["stable", "recovered", "stuck", "collapsed", "undecided"].map(share);
        println!("{label}: {found} (stable, recovered, stuck, collapsed, undecided: {all:?})");
        assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{label}: {all:?}");
        assert!(found > 0.98, "{label}: only {found} are {right:?}: {all:?}");
        runs += 100.0;
        wrong += 100.0 * (1.0 - found);
    }
    assert!(wrong / runs < 0.01, "{wrong} of {runs} are wrong");
}

/// The theory says when: (B - mu tau) / (mu - A lambda).
#[test]
fn the_time_of_recovery_is_that_of_the_theory() {
    let set =
        ["fault.0.set={ \"service.api.down\" = \"hold\" }", "clients.web.load.open.rate=20/s", "fault.0.for=20s", "run.replications=40"];
    let time = value(&study(&scenario(&[BASE, FAULT].concat(), &set)), 0, "recovery_time").value;
    assert!((time / 27.5 - 1.0).abs() < 0.1, "{time}");
}
