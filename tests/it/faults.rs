//! Faults that ramp, come again, and start by a condition: loads and services whose numbers can be counted on fingers.

use retrystorm::measure::random::Seed;
use retrystorm::world::run::Run;

use crate::support::scenario;

/// Ten calls a second, evenly, to a service that answers at once. Calls start at 0, 100 ms, 200 ms ...
const EVEN: &str = r#"
[run]
horizon = "40s"
[clients.web]
calls = "api"
load = { open = { rate = "10/s", spacing = "even" } }
policy = "plain"
[policy.plain]
[service.api]
workers = "unlimited"
time = "0s"
"#;

fn first(more: &str, set: &[&str]) -> Run {
    let model = scenario(&format!("{EVEN}{more}"), set).base_model().unwrap();
    retrystorm::world::run(&model, Seed { seed: 1, replication: 0 })
}

/// Calls in each bin of a second.
fn calls(run: &Run) -> Vec<u32> {
    run.timeline.series(0).collect()
}

/// At the end of the first second a condition holds; from then on for ten seconds there are half as many, or thrice, or none.
#[test]
fn a_condition_moves_the_calls_of_an_open_load_exactly() {
    for (factor, during) in [(0.5, 5), (3.0, 30), (0.0, 0)] {
        let fault =
            format!("[[fault]]\nwhen = 'goodput > 5/s'\nonce = true\nfor = '10s'\nset = {{ 'clients.web.load_factor' = {factor} }}\n");
        // The look at one second comes before the call of that instant, which was scheduled later, and so moves it too.
        let run = first(&fault, &[]);
        let expected: Vec<u32> = (0..40).map(|second| if (1..11).contains(&second) { during } else { 10 }).collect();
        assert_eq!(calls(&run), expected, "{factor}");
        let changes: Vec<(f64, u32)> = run.changes.iter().map(|change| (change.at.seconds(), change.lasting)).collect();
        assert_eq!(changes, [(1.0, 1), (11.0, 0)]);
    }
}

/// A Poisson load under a factor that a condition sets is the one that the same factor set by the clock gives: the same calls.
#[test]
fn a_load_factor_by_condition_is_the_one_by_the_clock() {
    let poisson = [
        "clients.web.load.open.rate=[[\"0s\",\"50/s\"],[\"20s\",\"150/s\"]]",
        "clients.web.load.open.spacing=poisson",
        "clients.web.load.open.shape=ramp",
    ];
    let by_clock = first("[[fault]]\nat = '5s'\nfor = '10s'\nset = { 'clients.web.load_factor' = 2.5 }\n", &poisson);
    let by_condition = first(
        "[[fault]]\nat = '4s'\nwhen = 'attempts > 0/s'\nonce = true\nfor = '10s'\nset = { 'clients.web.load_factor' = 2.5 }\n",
        &poisson,
    );
    assert_eq!(by_clock.totals, by_condition.totals);
    assert_eq!(by_clock.timeline, by_condition.timeline);
    assert!(by_clock.totals.calls > 4000);
}

/// Two calls a second more than are done: the sixth look finds more than ten that wait, the ninth has found so for three seconds, and
/// two and a half seconds later there are workers for all, until the next look finds that nobody waits.
#[test]
fn a_condition_must_be_sustained_and_the_action_takes_its_time() {
    let set = ["service.api.time=125ms", "service.api.workers=1"];
    let fault = "[[fault]]\nwhen = 'api.queue > 10'\n\
                 sustained = '3s'\nafter = '2500ms'\nuntil = 'api.queue < 1'\nset = { 'service.api.workers' = 100 }\n";
    let run = first(fault, &set);
    let levels: Vec<u32> = run.timeline.series(8).collect();
    let crossed = levels.iter().position(|queue| *queue > 10).unwrap() as f64 + 1.0;
    assert_eq!(crossed, 6.0, "{levels:?}");
    let starts: Vec<f64> = run.changes.iter().filter(|change| change.lasting == 1).map(|change| change.at.seconds()).collect();
    let ends: Vec<f64> = run.changes.iter().filter(|change| change.lasting == 0).map(|change| change.at.seconds()).collect();
    assert_eq!((starts[0], ends[0]), (11.5, 12.0), "{:?}", run.changes);
    assert!(starts.len() > 1, "it begins anew");
    let once = first(&format!("{fault}once = true\n"), &set);
    assert_eq!(once.changes.len(), 2);
}

/// Every signal and every sign; utilisation of workers that are all away is 1.
#[test]
fn signals_are_what_a_monitor_would_show() {
    let happens = |when: &str, set: &[&str]| {
        let fault = format!("[[fault]]\nat = '9s'\nwhen = '{when}'\nonce = true\nset = {{ 'policy.plain.attempts' = 2 }}\n");
        !first(&fault, set).changes.is_empty()
    };
    let busy = ["service.api.time=450ms", "service.api.workers=5"];
    // 10 a second of 450 ms each: at the end of a second the four of the last 400 ms are at work; that of the instant comes later.
    for (when, set, holds) in [
        ("goodput >= 10/s", &[][..], true),
        ("goodput > 10/s", &[], false),
        ("attempts <= 600/min", &[], true),
        ("attempts < 10/s", &[], false),
        ("success_rate >= 1", &[], true),
        ("success_rate < 50%", &["service.api.error_rate=1"], true),
        ("success_rate < 50%", &["service.api.down=hang"], false),
        ("api.busy >= 4", &busy, true),
        ("api.busy > 5", &busy, false),
        ("api.utilisation >= 80%", &busy, true),
        ("api.utilisation > 1.0", &busy, false),
        ("api.utilisation >= 1", &["service.api.workers=0"], true),
        ("api.queue > 80", &["service.api.workers=0"], true),
        ("api.queue > 5000", &["service.api.workers=0"], false),
    ] {
        assert_eq!(happens(when, set), holds, "{when} {set:?}");
    }
}

/// Down in four steps, kept for two seconds, again after twenty: 1, 0.8, 0.6, 0.4 times 10 calls a second.
#[test]
fn a_ramp_goes_in_steps_and_comes_again() {
    let fault = "[[fault]]\nat = '4s'\nfor = '8s'\nsteps = 4\nhold = '2s'\nevery = '20s'\ntimes = 2\n\
                 set = { 'clients.web.load_factor' = { from = 1.0, to = 0.4 } }\n";
    let run = first(fault, &[]);
    let factor = |second: usize| match second.checked_sub(4).map(|second| second % 20) {
        Some(2 | 3) => 8,
        Some(4 | 5) => 6,
        Some(6..=9) => 4,
        _ => 10,
    };
    assert_eq!(calls(&run), (0..40).map(factor).collect::<Vec<u32>>());
    let model = scenario(&format!("{EVEN}{fault}"), &[]).base_model().unwrap();
    let spans: Vec<(f64, f64, &str)> =
        model.faults.iter().map(|span| (span.from.seconds(), span.until.seconds(), span.label.as_str())).collect();
    let label = "clients.web.load_factor = 1.0 to 0.4";
    assert_eq!(spans, [(4.0, 14.0, label), (24.0, 34.0, label)]);
    let forever =
        scenario(&format!("{EVEN}{fault}"), &["fault.0.times=unlimited", "fault.0.every=10s", "fault.0.at=0s"]).base_model().unwrap();
    assert_eq!((forever.faults.len(), forever.epochs.len()), (4, 17), "until the horizon; each begins where the one before ends");
}

/// Whole numbers stay whole, lengths of time and rates keep their units, and the ends are exact.
#[test]
fn ramps_are_of_numbers_times_and_rates() {
    let fault = "[[fault]]\nat = '1s'\nfor = '3s'\nsteps = 3\nhold = 'forever'\n\
                 set = { 'service.api.workers' = { from = 9, to = 2 }, \
                 'service.api.time' = { from = '1s', to = '100ms' }, \
                 'service.api.error_rate' = { from = '0%', to = '50%' } }\n";
    let model = scenario(&format!("{EVEN}{fault}"), &[]).base_model().unwrap();
    let numbers: Vec<(Option<u32>, f64, f64)> = model
        .epochs
        .iter()
        .map(|epoch| &epoch.services[0])
        .map(|service| (service.workers, service.time.mean(), service.error_rate))
        .collect();
    assert_eq!(numbers, [(None, 0.0, 0.0), (Some(9), 1.0, 0.0), (Some(6), 0.55, 0.25), (Some(2), 0.1, 0.5)]);
}

/// Two conditional faults and a timed one: whatever lasts together holds together, the later in the file last.
#[test]
fn every_combination_has_its_numbers() {
    let fault = "[[fault]]\nwhen = 'attempts > 0/s'\nset = { 'policy.plain.attempts' = 2, 'service.api.speed' = 0.5 }\n\
                 [[fault]]\nat = '5s'\nfor = '5s'\nset = { 'policy.plain.attempts' = 3, 'policy.plain.timeout' = '3s' }\n\
                 [[fault]]\nwhen = 'attempts > 0/s'\nset = { 'policy.plain.timeout' = '4s' }\n";
    let model = scenario(&format!("{EVEN}{fault}"), &[]).base_model().unwrap();
    let at = |epoch: u32, lasting: u32| {
        let numbers = model.numbers(epoch, lasting);
        let policy = &numbers.callers[0].policy;
        (policy.attempts, policy.timeout.map(|timeout| timeout.seconds()), numbers.services[0].speed)
    };
    let (one, two, three) = (Some(1), Some(2), Some(3));
    assert_eq!(
        [at(0, 0), at(0, 1), at(0, 2), at(0, 3)],
        [(one, None, 1.0), (two, None, 0.5), (one, Some(4.0), 1.0), (two, Some(4.0), 0.5)]
    );
    assert_eq!(
        [at(1, 0), at(1, 1), at(1, 2), at(1, 3)],
        [(three, Some(3.0), 1.0), (three, Some(3.0), 0.5), (three, Some(4.0), 1.0), (three, Some(4.0), 0.5)]
    );
}
