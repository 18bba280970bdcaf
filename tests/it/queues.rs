//! Who waits, who is turned away, and how long work takes: the disciplines of a queue and of its workers, by arithmetic and closed forms.

use crate::support::{curated, scenario, study, value};

/// One value of the scenario `late_work` (200 calls a second, one worker for 100, patience of a second) as one cell.
fn late_work(set: &[&str], metric: &str) -> f64 {
    let text = retrystorm::study::curated::curated("late_work").unwrap();
    let model = text.split("[compare]").next().unwrap();
    value(&study(&scenario(model, set)), 0, metric).value
}

/// The queue's own limit of time is one parameter, the time of the service another: together they must fit the caller's patience.
#[test]
fn what_is_dropped_must_be_dropped_in_time() {
    let succeeded = |set: &[&str]| late_work(set, "succeeded");
    assert_eq!(succeeded(&[]), 199.0);
    // Who waits for 990 ms is done at the last moment; from then on the worker does all its work for somebody.
    assert_eq!(succeeded(&["service.disk.queue.max_wait=990ms"]), 5999.0);
    // Who waits for a whole second is taken up and is late, for ever.
    assert_eq!(succeeded(&["service.disk.queue.max_wait=1s"]), 199.0);
    // Expired is too late: what is next is nearly expired, and will be when it is done. Doomed knows how long the work takes.
    assert_eq!(succeeded(&["service.disk.shed=expired"]), 199.0);
    assert_eq!(succeeded(&["service.disk.shed=doomed"]), 5999.0);
    // A service that takes half of the patience: of 120 that could be done, expired work leaves hardly one.
    let slow = ["service.disk.time=500ms", "clients.readers.load.open.rate=4/s"];
    assert!(succeeded(&[&slow[..], &["service.disk.shed=expired"]].concat()) <= 4.0);
    assert_eq!(succeeded(&[&slow[..], &["service.disk.shed=doomed"]].concat()), 119.0);
}

/// Turned away at their turn, they count as shed; of all arrivals that are not queued, each was served or shed.
#[test]
fn what_is_shed_is_counted() {
    for set in ["service.disk.queue.max_wait=990ms", "service.disk.shed=doomed", "service.disk.queue.codel={}"] {
        let of = |metric: &str| late_work(&[set], metric);
        let inside = of("disk.arrivals") - of("disk.served") - of("disk.shed");
        assert!(of("disk.shed") > 5_000.0 && (0.0..=201.0).contains(&inside), "{set}: {inside} are inside");
        assert_eq!((of("disk.rejected"), of("disk.served")), (0.0, 5999.0), "{set}");
    }
}

#[test]
fn adaptive_lifo_turns_round_when_the_queue_is_long() {
    let adaptive =
        |above: u32| late_work(&["service.disk.queue.order=adaptive_lifo", &format!("service.disk.queue.lifo_above={above}")], "succeeded");
    assert_eq!(adaptive(0), late_work(&["service.disk.queue.order=lifo"], "succeeded"));
    // 100 more wait each second: until the queue has been turned round, what is begun after two seconds is late. A queue of 300 is
    // there after three: that is one second's work.
    assert_eq!(adaptive(150), 5999.0);
    assert!((adaptive(300) - 5899.0).abs() <= 2.0, "{}", adaptive(300));
}

/// Controlled delay: once overloaded, what has waited more than 10 ms is dropped, and the rest is in time.
#[test]
fn controlled_delay_keeps_waits_short() {
    let set = ["service.disk.queue.codel={ target = \"5ms\", interval = \"100ms\" }"];
    assert_eq!(late_work(&set, "succeeded"), 5999.0);
    // A call every 5 ms and a start every 10 ms: who is served has waited 10 ms, the first of each of 545 intervals of 110 ms another
    // 5 ms, and some 20 at the beginning up to 110 ms: 10 + 545 x 5 / 6000 + 20 x 50 / 6000 = 10.6 ms.
    let wait = late_work(&set, "disk.wait_mean");
    assert!((0.0100..0.0107).contains(&wait), "{wait}");
    // The first interval, from 10 to 110 ms, has a wait of 5 ms; the second, from 120 ms, has none below 60 ms, which is known at 230 ms.
    // That turn is the first of its interval; at the next, one more has come each 10 ms.
    assert_eq!(late_work(&set, "disk.queue_peak"), 24.0);
}

/// Two kinds of clients, each behind a front of its own, so that what becomes of them can be told apart.
const CLASSES: &str = r#"
[run]
horizon = "20000s"
warmup = "1000s"
replications = 20
bin = "100s"
[clients.reports]
calls = "reports_front"
load = { open = { rate = "0.4/s" } }
criticality = "sheddable"
[clients.users]
calls = "users_front"
load = { open = { rate = "0.4/s" } }
criticality = "critical_plus"
[service.reports_front]
workers = 1000
time = "0s"
calls = [{ service = "line" }]
[service.users_front]
workers = 1000
time = "0s"
calls = [{ service = "line" }]
[service.line]
workers = 1
time = { exponential = { mean = "1s" } }
queue = { order = "priority" }
"#;

/// Cobham (1954), M/M/1 without pre-emption: W1 = W0 / (1 - rho1), W2 = W0 / ((1 - rho1) (1 - rho)), W0 = lambda E[S^2] / 2 = .8.
#[test]
fn the_important_wait_as_long_as_cobham_says() {
    let study = study(&scenario(CLASSES, &[]));
    for (front, wait) in [("users_front", 0.8 / 0.6), ("reports_front", 0.8 / (0.6 * 0.2))] {
        // Mean attempts in the front over their rate: the time that each is held, of which a second is the service.
        let held = value(&study, 0, &format!("{front}.utilisation"));
        let scale = 1000.0 / 0.4;
        let error = held.sd.unwrap() / f64::from(held.count).sqrt() * scale;
        assert!((held.value * scale - 1.0 - wait).abs() < 4.0 * error, "{front}: {} is not {wait} ({error})", held.value * scale - 1.0);
        assert!(error < 0.05 * wait, "too vague: {error}");
    }
}

/// A full queue: 60 a second of each kind, room for 100 in all. The important lose nothing, the others what is too much.
#[test]
fn the_important_push_the_others_out() {
    let loads = "{ open = { rate = \"60/s\", spacing = \"even\" } }";
    let set = [
        "run.horizon=100s",
        "run.warmup=0s",
        "run.replications=1",
        "service.line.time=10ms",
        "service.line.queue.limit=10",
        &format!("clients.users.load={loads}"),
        &format!("clients.reports.load={loads}"),
    ];
    let priority = study(&scenario(CLASSES, &set));
    assert_eq!(value(&priority, 0, "users_front.errors").value, 0.0);
    let turned_away = value(&priority, 0, "reports_front.errors").value;
    // 20 of 120 a second for 100 s are too much; ten wait at the end, and the worker has one.
    assert!((1985.0..=2000.0).contains(&turned_away), "{turned_away}");
    let fifo = study(&scenario(CLASSES, &[&set[..], &["service.line.queue.order=fifo"]].concat()));
    assert!(value(&fifo, 0, "users_front.errors").value > 500.0);
}

/// Over a link without delay the hedge of who is pushed out is there within the same event: the place is taken by then. And where the limit is
/// lowered under those who wait, each exchange leaves as many.
#[test]
fn who_is_pushed_out_finds_its_place_taken() {
    let eager = "clients.reports.policy={ hedge = { after = { delay = \"10s\" } } }";
    let loads = ["clients.users.load.open.rate=2/s", "clients.reports.load.open.rate=2/s"];
    let one = ["run.horizon=1000s", "run.warmup=0s", "run.replications=2", loads[0], loads[1]];
    // The clients call the line itself: nothing is between them and its queue.
    let direct = CLASSES.replace("calls = \"users_front\"", "calls = \"line\"").replace("calls = \"reports_front\"", "calls = \"line\"");
    let full = study(&scenario(&direct, &[&one[..], &["service.line.queue.limit=1", eager]].concat()));
    assert_eq!(value(&full, 0, "line.queue_peak").value, 1.0);
    let lowered = format!("{direct}[[fault]]\nat = \"25s\"\nset = {{ \"service.line.queue.limit\" = 0 }}\n");
    let lowered = study(&scenario(&lowered, &[&one[..], &["service.line.queue.limit=50"]].concat()));
    assert_eq!(value(&lowered, 0, "line.queue_peak").value, 50.0);
}

/// M/G/1 with processor sharing: S / (1 - rho) for any distribution of the work; ten sharing workers are M/M/10.
#[test]
fn sharing_does_not_look_at_the_distribution() {
    const LINE: &str = r#"
[run]
horizon = "20000s"
warmup = "1000s"
replications = 20
bin = "100s"
[clients.callers]
calls = "line"
load = { open = { rate = "0.8/s" } }
[service.line]
workers = 1
time = { exponential = { mean = "1s" } }
sharing = true
"#;
    let mixture = r#"service.line.time={ hyperexponential = [{ share = 0.1, mean = "5.5s" }, { share = 0.9, mean = "500ms" }] }"#;
    let ten = ["service.line.workers=10", "clients.callers.load.open.rate=8/s"];
    let rows: [(&[&str], &str, f64); 9] = [
        (&[], "latency_mean", 5.0),
        // Little's law: .8 a second are there for 5 s each, all of them in service.
        (&[], "line.number_mean", 4.0),
        (&[], "line.utilisation", 0.8),
        (&["service.line.time=1s"], "latency_mean", 5.0),
        (&[mixture, "run.horizon=100000s"], "latency_mean", 5.0),
        (&["service.line.speed=2", "clients.callers.load.open.rate=1.6/s"], "latency_mean", 2.5),
        (&ten, "latency_mean", 1.20459),
        (&ten, "line.utilisation", 0.8),
        // One at a time is a queue: Pollaczek and Khinchine for constant work.
        (&["service.line.in_service_limit=1", "service.line.time=1s"], "line.wait_mean", 2.0),
    ];
    for (set, metric, exact) in rows {
        let found = value(&study(&scenario(LINE, set)), 0, metric);
        let error = found.sd.unwrap() / f64::from(found.count).sqrt();
        assert!((found.value - exact).abs() < 4.0 * error, "{set:?}: {metric} = {} is not {exact} (±{error})", found.value);
        assert!(error < 0.03 * exact, "{set:?}: {metric} is too vague to tell: ±{error}");
    }
}

/// A hundred clients that never think: n / (time (1 + a (n - 1) + b n (n - 1))) a second, which is less for many than for some.
#[test]
fn the_universal_scalability_law() {
    let text = r#"
[run]
horizon = "2000s"
warmup = "100s"
[clients.users]
count = 1
calls = "row"
load = { closed = { think = "0s" } }
[service.row]
workers = "unlimited"
time = "100ms"
load_time = { scalability = { contention = 0.05, coherency = 0.001 } }
"#;
    for (count, divisor) in [(1.0, 1.0), (10.0, 1.54), (31.0, 3.43), (100.0, 15.85)] {
        let study = study(&scenario(text, &[&format!("clients.users.count={count}")]));
        let exact = count / 0.1 / divisor;
        let goodput = value(&study, 0, "goodput").value;
        // Within one round of all clients at either end of 1900 s.
        assert!((goodput - exact).abs() <= 2.0 * count / 1900.0, "{count}: {goodput} is not {exact}");
    }
}

/// Work that takes .25 s longer for each in service, its own included: by Little and PASTA n = .8 (1 + .25 (n + 1)) = 1.25.
#[test]
fn load_that_slows_itself_down() {
    let text = r#"
[run]
horizon = "20000s"
warmup = "1000s"
replications = 20
bin = "100s"
[clients.users]
calls = "disk"
load = { open = { rate = "0.8/s" } }
[service.disk]
workers = 1000
time = "1s"
load_time = { linear = { per_attempt = "250ms" } }
"#;
    let busy = value(&study(&scenario(text, &[])), 0, "disk.utilisation");
    let error = busy.sd.unwrap() / f64::from(busy.count).sqrt() * 1000.0;
    assert!((busy.value * 1000.0 - 1.25).abs() < 4.0 * error && error < 0.01, "{} (±{error})", busy.value * 1000.0);
}

/// Brooker's collapse: 40 a second, for five seconds 80, a latency of 1 s and 10 ms for each in flight. His 400 runs, and 71.7 % of
/// 300 that never come back: a run that has collapsed serves nobody, one that has not serves all.
#[test]
fn a_service_that_slows_down_collapses_as_often_as_brooker_found() {
    let text = r#"
[run]
horizon = "80s"
replications = 200
[clients.users]
calls = "service"
load = { open = { rate = [["0s", "40/s"], ["20s", "80/s"], ["25s", "40/s"]] } }
policy = { attempts = 3, timeout = "3s" }
[service.service]
workers = "unlimited"
time = "1s"
load_time = { linear = { per_attempt = "10ms" } }
[link]
delay = { exponential = { mean = "100ms" } }
"#;
    let study = study(&scenario(text, &[]));
    let goodput = &study.cells[0].timeline.iter().find(|(name, _)| name == "goodput").unwrap().1;
    let reference = crate::support::rows(include_str!("../data/brooker_collapse.csv"));
    for row in reference.iter().filter(|row| crate::support::field(row, "run_name") == "spike_no_backoff") {
        let bin = crate::support::number(row, "t_s") as usize;
        if (5..20).contains(&bin) || bin >= 50 {
            let (found, his) = (goodput[bin].estimate().unwrap(), crate::support::number(row, "mean_successes"));
            let error = crate::support::number(row, "ci95_successes").hypot(found.half_width().unwrap()) / 1.96;
            assert!((found.mean - his).abs() < 4.0 * error, "at {bin} s: {} is not {his} (±{error})", found.mean);
        }
    }
}

/// One worker does 100 a second, and turning one away costs: of 200 a second, g are served where 10 g + d (200 - g) = 1000 ms.
#[test]
fn turning_away_takes_what_is_left() {
    for (cost, calls, served) in [("0s", 200, 100), ("2ms", 200, 75), ("5ms", 150, 50), ("5ms", 200, 0), ("5ms", 300, 0)] {
        let set = [
            "clients.readers.policy={ timeout = \"10s\" }",
            "service.disk.queue.limit=3",
            &format!("service.disk.reject_time={cost}"),
            &format!("clients.readers.load.open.rate={calls}/s"),
        ];
        let found = late_work(&set, "disk.served");
        // Within the few that are served before the first is turned away, and those in the queue at the end.
        assert!((found - f64::from(served * 60)).abs() <= 10.0, "{cost} {calls}: {found}");
        assert!(late_work(&set, "disk.utilisation") > 0.998, "{cost} {calls}");
    }
    // A limit lets in 50 a second; to say so to the other 250 takes 1.25 s a second, and those that are let in wait behind it.
    let limited = [
        "clients.readers.load.open.rate=300/s",
        "service.disk.rate_limit={ token_bucket = { rate = \"50/s\", burst = 1 } }",
        "service.disk.reject_time=5ms",
    ];
    assert!(late_work(&limited, "succeeded") <= 3.0);
    assert_eq!(late_work(&[&limited[..], &["service.disk.reject_time=1ms"]].concat(), "succeeded"), 3000.0);
}

/// A front that hands its deadline down, or not, to a database that turns everybody away, hangs, or is asked too late.
#[test]
fn deadlines_are_handed_down() {
    let text = r#"
[run]
horizon = "10s"
[clients.web]
calls = "front"
load = { once = {} }
policy = { timeout = "1s" }
[service.front]
time = "0s"
calls = [{ service = "db", policy = "eager" }]
[service.db]
script = ["503"]
[policy.eager]
attempts = "unlimited"
backoff = { fixed = { delay = "300ms" } }
"#;
    let run = |set: &[&str], metric: &str| value(&study(&scenario(text, set)), 0, metric).value;
    let inherits = "service.front.calls.0.inherits_deadline=true";
    // At 0, .3, .6 and .9 s; without it every .3 s to the end.
    assert_eq!(run(&[inherits], "db.arrivals"), 4.0);
    assert_eq!(run(&[], "db.arrivals"), 34.0);
    // The front's worker is held for a second, and one nanosecond.
    let hangs = [inherits, "service.db.script=[\"hang\"]"];
    assert!((run(&hangs, "front.utilisation") - 0.1).abs() < 1e-9);
    assert_eq!(run(&["service.db.script=[\"hang\"]"], "front.utilisation"), 1.0);
    // Nobody waits any more when the front gets to its call.
    let late = ["service.front.time=2s"];
    assert_eq!((run(&late, "db.arrivals") > 0.0, run(&[&late[..], &[inherits]].concat(), "db.arrivals")), (true, 0.0));
    // The client's own deadline is handed down as well, and a timeout of the edge still counts where it is shorter.
    let deadline = [inherits, "clients.web.policy={ deadline = \"700ms\" }"];
    assert_eq!(run(&deadline, "db.arrivals"), 3.0);
    let short = [inherits, "service.db.script=[\"hang\"]", "policy.eager.timeout=100ms"];
    // 0, .4, .8 s and a few nanoseconds.
    assert_eq!(run(&short, "db.arrivals"), 3.0);
}

/// One draw decides between error and permanent: .3 and .2 of all work. Two attempts, and `permanent` is never tried again.
#[test]
fn permanent_failures_are_final() {
    let text = r#"
[run]
horizon = "1000s"
replications = 20
[clients.web]
calls = "api"
load = { open = { rate = "10/s" } }
policy = { attempts = 2 }
[service.api]
workers = "unlimited"
time = "1ms"
error_rate = 0.3
permanent_rate = 0.2
"#;
    let study = study(&scenario(text, &[]));
    for (metric, exact) in [("amplification", 1.3), ("success_rate", 0.5 + 0.3 * 0.5)] {
        let found = value(&study, 0, metric);
        let error = found.sd.unwrap() / f64::from(found.count).sqrt();
        assert!((found.value - exact).abs() < 4.0 * error, "{metric} = {} is not {exact} (±{error})", found.value);
    }
}

/// The line that charts draw, and what `stuck` compares with: limits and load count.
#[test]
fn capacity_knows_limits_and_load() {
    let capacity = |set: &[&str]| {
        let model = curated("late_work", set).base_model().unwrap();
        model.capacities(&model.epochs[0])[0]
    };
    assert!((capacity(&[]) - 100.0).abs() < 1e-9);
    assert!((capacity(&["service.disk.rate_limit={ window = { limit = 600, every = \"60s\" } }"]) - 10.0).abs() < 1e-9);
    let load = "service.disk.load_time={ linear = { per_attempt = \"5ms\" } }";
    assert!((capacity(&[load, "service.disk.workers=2"]) - 100.0).abs() < 1e-6);
    assert!((capacity(&["service.disk.sharing=true", "service.disk.workers=3"]) - 300.0).abs() < 1e-6);
}
