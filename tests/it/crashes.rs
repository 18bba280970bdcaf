//! Processes that die of their queue: when they die, what is lost, when they are up and warm again, by arithmetic.

use retrystorm::measure::random::Seed;

use crate::command_line::output;
use crate::support::{scenario, study, value};

/// Six calls at once for one worker: one is served, five wait. Three more come later. Each is work for a second.
const HERD: &str = r#"
[run]
horizon = "20s"
[clients.web]
count = 6
calls = "api"
load = { once = {} }
policy = "plain"
[clients.late]
count = 3
calls = "api"
load = { once = { at = "3s" } }
[policy.plain]
[service.api]
time = "1s"
crash = { queue = 5, restart = "2s", cold = "0s" }
"#;

fn numbers<const N: usize>(text: &str, set: &[&str], metrics: [&str; N]) -> [f64; N] {
    let study = study(&scenario(text, set));
    assert_eq!(study.cells[0].violation, None, "{set:?}");
    metrics.map(|metric| value(&study, 0, metric).value)
}

#[test]
fn it_dies_of_the_last_attempt_and_of_none_before() {
    let text = &HERD.replace("3s", "10s");
    let metrics = ["api.crashes", "api.refused", "api.served", "api.queue_peak", "api.down"];
    // All six are lost at once; the three find it up again.
    assert_eq!(numbers(text, &[], metrics), [1.0, 6.0, 3.0, 5.0, 2.0 / 20.0]);
    assert_eq!(numbers(text, &["service.api.crash.queue=6"], metrics), [0.0, 0.0, 9.0, 5.0, 0.0]);
    assert_eq!(numbers(text, &["clients.web.count=5"], metrics), [0.0, 0.0, 8.0, 4.0, 0.0]);
    // The seventh finds nobody, and is refused as well.
    assert_eq!(numbers(text, &["clients.web.count=7"], metrics), [1.0, 7.0, 3.0, 5.0, 2.0 / 20.0]);
    // Those in service do not count, nor do those that a full queue turns away.
    assert_eq!(numbers(text, &["service.api.workers=2"], metrics), [0.0, 0.0, 9.0, 4.0, 0.0]);
    assert_eq!(numbers(text, &["service.api.queue.limit=4", "clients.web.count=50"], metrics), [0.0, 0.0, 8.0, 4.0, 0.0]);
    // A queue in another order dies of as many.
    for order in ["lifo", "random", "priority", "adaptive_lifo"] {
        let order = format!("service.api.queue.order={order}");
        assert_eq!(numbers(text, &[&order], metrics), [1.0, 6.0, 3.0, 5.0, 2.0 / 20.0]);
    }
}

/// The connection breaks, and callers hear of it at once; or nothing is ever heard.
#[test]
fn callers_are_refused_or_hear_nothing() {
    let timeout = "policy.plain.timeout=700ms";
    let metrics = ["failed", "completion_time", "api.refused", "api.down"];
    let alone = "clients.late.count=1";
    assert_eq!(numbers(HERD, &[timeout, alone, "clients.late.load.once.at=0s"], metrics), [7.0, 0.0, 7.0, 0.1]);
    let hang = "service.api.crash.down=hang";
    assert_eq!(numbers(HERD, &[timeout, alone, hang, "clients.late.calls=api"], metrics), [6.0, 4.0, 0.0, 0.1]);
    // A second attempt of all six, while it is away, is refused; one that comes when it is up kills it again.
    let retry = |delay: &str| format!("policy.plain={{ attempts = 2, backoff = {{ fixed = {{ delay = \"{delay}\" }} }} }}");
    let metrics = ["api.crashes", "api.refused", "api.served"];
    assert_eq!(numbers(HERD, &[&retry("1s")], metrics), [1.0, 12.0, 3.0]);
    assert_eq!(numbers(HERD, &[&retry("10s")], metrics), [2.0, 12.0, 3.0]);
}

/// Ten a second for a worker that does one: with five in the queue it dies half a second after each start. The attempts of two and a
/// half seconds are lost or refused, for ever.
#[test]
fn it_dies_again_and_again() {
    let text = r#"
[run]
horizon = "10s"
[clients.web]
calls = "api"
load = { open = { rate = "10/s", spacing = "even" } }
[service.api]
time = "1s"
crash = { queue = 5, restart = "2s", cold = "0s" }
"#;
    // At 0.5, 3, 5.5 and 8 s, and up again at the end.
    let metrics = ["api.crashes", "api.refused", "api.served", "api.down"];
    assert_eq!(numbers(text, &[], metrics), [4.0, 100.0, 0.0, 0.8]);
    // Of the measured window, from 1 to 9 s: three deaths, and 1.5 + 2 + 2 + 1 s.
    assert_eq!(numbers(text, &["run.warmup=1s", "run.horizon=9s"], metrics), [3.0, 80.0, 0.0, 6.5 / 8.0]);
}

/// Half as fast: two seconds each. Cold for two seconds, from 2 to 4: the first has half of its work done by then. And warm in five
/// steps of a second, 0.2 to 1: 0.4 from 3 to 4, 0.6 to 5, 0.8 to 6.
#[test]
fn it_is_slow_while_it_is_cold() {
    let end = |crash: &str, more: &[&str]| {
        let crash = format!("service.api.crash={{ queue = 5, restart = \"2s\", {crash} }}");
        let [end] = numbers(HERD, &[&[crash.as_str()], more].concat(), ["completion_time"]);
        (end * 1e6).round() / 1e6
    };
    for kind in [&[][..], &["service.api.sharing=true", "service.api.in_service_limit=1"]] {
        let with = |more: &[&'static str]| [kind, more].concat();
        assert_eq!(end("cold = \"0s\"", &with(&[])), 6.0);
        assert_eq!(end("cold = \"60s\", cold_speed = 0.5, steps = 1", &with(&[])), 9.0);
        assert_eq!(end("cold = \"2s\", cold_speed = 0.5, steps = 1", &with(&[])), 6.5);
        assert_eq!(end("cold = \"5s\", cold_speed = 0.2, steps = 5", &with(&[])), 7.2);
        // It stands still until 4.
        assert_eq!(end("cold = \"2s\", cold_speed = 0, steps = 1", &with(&[])), 7.0);
        // Speeds multiply: a quarter, whichever changes first.
        let half = "service.api.speed=0.5";
        assert_eq!(end("cold = \"60s\", cold_speed = 0.5, steps = 1", &with(&[half])), 15.0);
    }
    // Two at a time share one worker: the three are done after 4, 4 and 2 s more at half the speed.
    let sharing = ["service.api.sharing=true", "service.api.in_service_limit=2", "clients.web.count=7"];
    assert_eq!(end("cold = \"60s\", cold_speed = 0.5, steps = 1", &sharing), 9.0);
    // What cannot be done in time at this speed is not begun.
    let doomed = ["service.api.shed=doomed", "clients.late.policy.timeout=1500ms"];
    let set = [&["service.api.crash={ queue = 5, restart = \"2s\", cold = \"60s\", cold_speed = 0.5, steps = 1 }"][..], &doomed].concat();
    assert_eq!(numbers(HERD, &set, ["api.shed", "api.crashes"]), [3.0, 1.0]);
}

/// A fault that kills the process, or changes of what it dies.
#[test]
fn faults_and_deaths_go_together() {
    let with = |at: &str, length: &str, set: &str| format!("{HERD}[[fault]]\nat = \"{at}\"\nfor = \"{length}\"\nset = {{ {set} }}\n");
    let cold = "service.api.crash={ queue = 5, restart = \"2s\", cold = \"4s\", cold_speed = 0.5, steps = 1 }";
    let metrics = ["completion_time", "api.down", "api.crashes"];
    let refuse = "\"service.api.down\" = \"refuse\"";
    // Dead until 2, taken away from 1 to 2.5: cold from 2.5 to 6.5, by when it has done 1.75 of the three.
    assert_eq!(numbers(&with("1s", "1500ms", refuse), &[cold], metrics), [7.75, 2.5 / 20.0, 1.0]);
    // Over before it has started again: that goes on until 2, cold until 6.
    assert_eq!(numbers(&with("500ms", "1s", refuse), &[cold], metrics), [7.5, 2.0 / 20.0, 1.0]);
    // It never died of its queue, but a killed process starts cold all the same: from 2.5 on.
    assert_eq!(numbers(&with("500ms", "2s", refuse), &[cold, "clients.web.count=1"], metrics), [7.75, 2.0 / 20.0, 0.0]);
    // A network that keeps what comes kills nobody.
    let hold = "\"service.api.down\" = \"hold\"";
    assert_eq!(numbers(&with("2s", "2s", hold), &[cold, "clients.web.count=1"], metrics), [7.0, 2.0 / 20.0, 0.0]);
    // What is delivered when it ends may kill: six at once, of which the last three are the late ones.
    assert_eq!(numbers(&with("0s", "10s", hold), &["clients.late.count=1"], ["api.crashes", "api.refused"]), [1.0, 7.0]);
    // It gets smaller: three wait at 1.5 s, which is too many from then on.
    let smaller = "\"service.api.crash.queue\" = 3";
    let five = ["clients.web.count=5", "clients.late.load.once.at=10s"];
    assert_eq!(numbers(&with("1500ms", "1s", smaller), &five, ["api.crashes", "api.refused", "api.served"]), [1.0, 4.0, 4.0]);
    assert_eq!(numbers(&with("2500ms", "1s", smaller), &five, ["api.crashes", "api.served"]), [0.0, 8.0]);
}

/// Two calls a second of 400 ms; half as fast, of 800 ms. Then of seven calls three are done until three wait for the first time, after
/// three seconds. With a second to restart that is a circle of four.
const LOOP: &str = r#"
[run]
horizon = "206s"
[clients.web]
calls = "api"
load = { open = { rate = "2/s", spacing = "even" } }
[service.api]
time = "400ms"
crash = { queue = 3, restart = "1s", cold = "100s", cold_speed = 0.5, steps = 1 }
[[fault]]
at = "4s"
for = "2s"
set = { "service.api.speed" = 0.0 }
"#;

#[test]
fn a_crash_loop_is_stuck() {
    // It stands still from 4 s on: three wait at 5.5. Up at 6.5, with 199.5 s to go: dead again at 9.5, 13.5 ... 205.5.
    let metrics = ["api.crashes", "api.served", "api.refused", "stuck", "recovered"];
    let served = 8.0 + 50.0 * 3.0;
    assert_eq!(numbers(LOOP, &[], metrics), [51.0, served, 412.0 - served, 1.0, 0.0]);
    assert_eq!(numbers(LOOP, &[], ["api.down"]), [50.5 / 206.0]);
    // Who turns away instead of dying loses two calls, those of 5.5 and 6 s. Who starts warm loses what it died of, and what came meanwhile.
    let metrics = ["api.crashes", "api.served", "api.rejected", "api.refused", "stuck"];
    assert_eq!(numbers(LOOP, &["service.api.queue.limit=2"], metrics), [0.0, 410.0, 2.0, 0.0, 0.0]);
    assert_eq!(numbers(LOOP, &["service.api.crash.cold_speed=1.0"], metrics), [1.0, 407.0, 0.0, 5.0, 0.0]);
}

/// Each replica is a process of its own, with a queue of its own.
/// What the verdict of all replications is, of a service that does 100 a second and has 250 waiting after a standstill of 30 s.
fn share(set: &[&str], verdict: &str) -> f64 {
    let text = r#"
[run]
horizon = "200s"
replications = 6
[clients.web]
calls = "api"
load = { open = { rate = "10/s" } }
policy = { attempts = 1, timeout = "1s" }
[service.api]
time = { exponential = { mean = "10ms" } }
crash = { queue = 250, restart = "300s", cold = "1s" }
[[fault]]
at = "60s"
for = "30s"
set = { "service.api.speed" = 0 }
"#;
    value(&study(&scenario(text, set)), 0, verdict).value
}

#[test]
fn who_has_yet_to_start_again_is_not_stuck() {
    assert_eq!(share(&[], "undecided"), 1.0);
    assert_eq!(share(&["run.horizon=800s"], "recovered"), 1.0);
}

/// 30 calls a second with up to four attempts for 20 that can be done: it dies every two seconds from the beginning.
#[test]
fn who_dies_again_and_again_has_collapsed() {
    let text = r#"
[run]
horizon = "60s"
replications = 6
[clients.web]
calls = "api"
load = { open = { rate = "30/s" } }
policy = { attempts = 4, timeout = "1s", backoff = { fixed = { delay = "100ms" } } }
[service.api]
time = { exponential = { mean = "50ms" } }
crash = { queue = 10, restart = "1s", cold = "0s" }
"#;
    assert_eq!(value(&study(&scenario(text, &[])), 0, "collapsed").value, 1.0);
}

#[test]
fn replicas_die_one_by_one() {
    let of = |count: u32| {
        let count = format!("clients.web.count={count}");
        numbers(HERD, &["service.api.replicas=3", "clients.late.count=1", &count], ["api.crashes", "api.refused", "api.served", "api.down"])
    };
    // In turn: the sixteenth is the sixth of the first replica.
    assert_eq!(of(15), [0.0, 0.0, 16.0, 0.0]);
    assert_eq!(of(16), [1.0, 6.0, 11.0, 2.0 / 60.0]);
    assert_eq!(of(18), [3.0, 18.0, 1.0, 6.0 / 60.0]);
}

/// Whatever else a model has: nothing is lost count of, in any of many deaths, and the same happens again.
#[test]
fn the_books_balance_across_deaths() {
    let text = r#"
[run]
horizon = "60s"
[clients.web]
count = 50
calls = "gateway"
load = { open = { rate = "60/s" } }
policy = { attempts = 4, timeout = "700ms", backoff = { full_jitter = { base = "50ms" } }, hedge = { after = { delay = "100ms" } } }
[service.gateway]
workers = 20
time = { exponential = { mean = "20ms" } }
crash = { queue = 40, restart = "2s", cold = "3s" }
calls = [{ service = "db", policy = { attempts = 3, timeout = "400ms", hedge = { after = { delay = "50ms" } } } }]
[service.db]
workers = 4
time = { exponential = { mean = "50ms" } }
crash = { queue = 10, restart = "1s", cold = "3s", steps = 7 }
[[fault]]
at = "20s"
for = "3s"
every = "10s"
set = { "service.db.down" = "refuse" }
[[fault]]
at = "22s"
for = "4s"
set = { "service.db.speed" = 0.5, "service.gateway.crash.queue" = 15 }
"#;
    let sets: [&[&str]; 8] = [
        &[],
        &["service.db.abandoned=cancel", "service.gateway.abandoned=cancel"],
        &["service.db.sharing=true", "service.db.in_service_limit=8", "service.db.abandoned=cancel"],
        &["service.db.replicas=3", "service.db.workers=2", "service.db.abandoned=skip"],
        &["service.db.crash.down=hang", "service.gateway.crash.down=hang"],
        &["service.db.reject_time=5ms", "service.db.queue={ limit = 8, order = \"priority\" }", "service.db.crash.queue=8"],
        &["service.db.autoscaler={ signal = \"queue\", target = 3, every = \"1s\", lag = \"2s\", most = 9 }"],
        &["link.delay=2ms", "service.gateway.abandoned=cancel", "service.db.crash.cold_speed=0"],
    ];
    for set in sets {
        let model = scenario(text, set).base_model().unwrap();
        let run = |crowd| retrystorm::world::run_with_crowd(&model, Seed { seed: 1, replication: 0 }, crowd);
        let (first, again) = (run(1000), run(3));
        assert_eq!((first.violation, first.stalled), (None, None), "{set:?}");
        assert!(first.services[1].crashes > 3, "{set:?}: {} deaths", first.services[1].crashes);
        assert_eq!((first.fingerprint, &first.services), (again.fingerprint, &again.services), "{set:?}");
    }
}

/// A gateway hears that one attempt is lost, fails, and its caller cancels the other, whose attempt below is lost at the same instant:
/// that one is ended once. A fault loses attempts as a death does.
#[test]
fn what_is_lost_together_is_lost_once() {
    let hedge = "timeout = \"400ms\", retry_on = [\"timeout\"], hedge = { after = { delay = \"20ms\", cancel = true } }";
    let text = format!(
        r#"
[run]
horizon = "60s"
[clients.web]
count = 50
calls = "gateway"
load = {{ open = {{ rate = "60/s" }} }}
policy = {{ attempts = 4, {hedge} }}
[service.gateway]
workers = 20
abandoned = "cancel"
time = {{ exponential = {{ mean = "20ms" }} }}
calls = [{{ service = "db", policy = {{ attempts = 3, {hedge} }} }}]
[service.db]
workers = 4
abandoned = "cancel"
time = {{ exponential = {{ mean = "50ms" }} }}
[[fault]]
at = "20s"
for = "1s"
every = "3s"
set = {{ "service.db.down" = "refuse" }}
"#
    );
    for set in [&[][..], &["service.db.crash={ queue = 3, restart = \"1s\" }"]] {
        let model = scenario(&text, set).base_model().unwrap();
        let run = retrystorm::world::run(&model, Seed { seed: 1, replication: 0 });
        assert_eq!((run.violation, run.stalled), (None, None), "{set:?}");
        assert!(run.services[1].refused > 100, "{set:?}: {} lost or refused", run.services[1].refused);
    }
}

/// Deaths by chance come at the same moments whichever thread runs them.
#[test]
fn deaths_do_not_depend_on_threads() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let text = LOOP.replace(", spacing = \"even\"", "").replace("\"400ms\"", "{ exponential = { mean = \"400ms\" } }");
    let chart = "[[chart]]\nkind = \"timeline\"\ny = [\"api.queue\", \"api.down\"]\n";
    std::fs::write(at("loop.toml"), format!("{text}{chart}")).unwrap();
    let files = |threads: &str| {
        let out = at(threads);
        let ran = output(&["run", &at("loop.toml"), "--no-charts", "-q", "--replications", "16", "--threads", threads, "--out", &out]);
        assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
        ["runs.csv", "timeline.csv", "summary.csv"].map(|file| std::fs::read_to_string(format!("{out}/{file}")).unwrap())
    };
    let one = files("1");
    assert!(one[1].contains("api.down") && one == files("8"));
}

/// The trace tells who killed it, and who was lost with it.
#[test]
fn the_trace_tells_of_the_death() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("herd.toml");
    std::fs::write(&file, HERD).unwrap();
    let told = output(&["trace", &file.display().to_string()]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert_eq!(told.matches("dies of its queue").count(), 1, "{told}");
    assert_eq!(told.matches("goes down and loses attempt 1").count(), 6, "{told}");
}
