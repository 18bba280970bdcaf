//! `retrystorm delays` as its users meet it.

use crate::command_line::{fails_with, retrystorm};
use crate::json::Json;

const JITTERED: &str = "{ attempts = 6, backoff = { full_jitter = { base = '1s', cap = '20s' } } }";

fn delays(arguments: &[&str]) -> String {
    retrystorm(&[&["delays"], arguments].concat())
}

fn json(arguments: &[&str]) -> Json {
    Json::parse(&delays(&[arguments, &["--format", "json"]].concat()))
}

#[test]
fn a_schedule_is_told_as_a_table() {
    let told = delays(&["--policy", JITTERED]);
    assert!(told.contains("6 attempts = the first and 5 retries"), "{told}");
    let rows: Vec<Vec<&str>> = told.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.contains(&"5 0 s 8 s 16 s 0 s 15.5 s 31 s 0 %".split(' ').collect()), "{told}");
    assert_eq!(rows.iter().filter(|row| row.first().is_some_and(|word| word.parse::<u32>().is_ok())).count(), 5, "{told}");
    let endless = delays(&["--policy", "{ attempts = 'unlimited', backoff = { fixed = { delay = '1s' } } }", "--format", "csv"]);
    assert_eq!(endless.lines().count(), 1 + 20);
    assert_eq!(endless.lines().last(), Some("20,1.000000000,1.000000000,1.000000000,20.000000000,20.000000000,20.000000000,,"));
}

#[test]
fn given_draws_are_used_in_turn() {
    let csv = delays(&["--policy", JITTERED, "--u", "0.1,0.9,0.3", "--format", "csv"]);
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows[0], "retry,wait,at");
    let wanted = [(1, 0.1, 0.1), (2, 1.8, 1.9), (3, 1.2, 3.1), (4, 0.8, 3.9), (5, 14.4, 18.3)];
    for (row, (retry, wait, at)) in rows[1..].iter().zip(wanted) {
        let fields: Vec<f64> = row.split(',').map(|field| field.parse().unwrap()).collect();
        // A draw of 53 bits and whole nanoseconds.
        assert!(fields[0] == f64::from(retry) && (fields[1] - wait).abs() < 1e-8 && (fields[2] - at).abs() < 1e-8, "{row}");
    }
    assert_eq!(rows.len(), 6);
}

/// 2 of 3 hints at the cap of 2 h; throttled attempts wait for longer.
#[test]
fn hints_and_outcomes_choose_the_wait() {
    let hinted =
        "{ attempts = 3, retry_after = { replace = { cap = '2min', beyond = 'stop' } }, throttled_backoff = { fixed = { delay = '1s' } } }";
    let wait = |arguments: &[&str]| {
        let found = json(&[&["--policy", hinted, "--u", "0.5"], arguments].concat());
        found.get("schedule").list().iter().map(|row| row.get("wait").number()).collect::<Vec<_>>()
    };
    assert_eq!(wait(&[]), [0.0, 0.0]);
    assert_eq!(wait(&["--outcome", "throttled"]), [1.0, 1.0]);
    assert_eq!(wait(&["--retry-after", "120s"]), [120.0, 120.0]);
    assert!(wait(&["--retry-after", "121s"]).is_empty());
    assert!(delays(&["--policy", hinted, "--retry-after", "121s"]).contains("1 attempt = the first and no retry"));
}

/// The sum of two uniform waits of 1 s: below 0.5 s in 1/8 of cases.
#[test]
fn outages_are_spanned_and_deadlines_met_with_a_probability() {
    let even = "{ attempts = 3, backoff = { full_jitter = { base = '1s', factor = 1.0 } } }";
    let found = json(&["--policy", even, "--cover", "500ms", "--deadline", "1500ms"]);
    for (key, right) in [("cover", 7.0 / 8.0), ("deadline", 7.0 / 8.0)] {
        let chance = found.get(key);
        let (low, high) = (chance.get("low").number(), chance.get("high").number());
        // Wilson's interval of 200,000 calls is 0.0029 wide; twice as much to either side for the one case in twenty that it misses.
        assert!(low - 0.0015 <= right && right <= high + 0.0015 && high - low < 0.004, "{key}: {chance:?}");
    }
    let fit = found.get("deadline");
    assert_eq!((fit.get("retries_least").text(), fit.get("retries_greatest").text()), ("1", "2"));
    let fixed = "{ attempts = 6, backoff = { fixed = { delay = '4s' } } }";
    for (cover, deadline, covered, fits) in [("20s", "21s", "1.000000", "1.000000"), ("21s", "20s", "0.000000", "0.000000")] {
        let found = json(&["--policy", fixed, "--cover", cover, "--deadline", deadline]);
        let chances = ["cover", "deadline"].map(|key| found.get(key).get("probability").text().to_owned());
        assert_eq!(chances, [covered, fits]);
        assert!(found.get("cover").get("low").is_null() && found.get("cover").get("how").text() == "exact");
    }
    let told = delays(&["--policy", fixed, "--deadline", "20s", "--attempt-time", "1s"]);
    assert!(told.contains("All retries are sent in time: never; 3 are."), "{told}");
}

#[test]
fn a_scenario_shows_the_policies_that_it_names() {
    let all = json(&["outage"]);
    assert_eq!(
        all.list().len(),
        retrystorm::study::scenario::Scenario::parse("outage", retrystorm::study::curated::curated("outage").unwrap(), None, &[])
            .unwrap()
            .policies()
            .len()
    );
    let first = all.list()[0].get("policy").text().to_owned();
    assert_eq!(json(&["outage", "--name", &first]).get("policy").text(), first);
    assert!(delays(&["outage", "--format", "csv"]).starts_with("policy,retry,least,"));
}

/// A service that turns everybody away for 7 hours: whoever follows a hint for at most 6 hours gives up at once, or comes back after 6.
#[test]
fn a_hint_can_stop_a_call() {
    let text = "[run]\nhorizon = '10h'\n[clients.a]\ncalls = 'b'\nload = { once = {} }\npolicy = 'p'\n[policy.p]\nattempts = 2\n\
                [service.b]\nworkers = 0\ntime = '1s'\nqueue = { limit = 0 }\nretry_after = '7h'\n";
    for (beyond, attempts) in [("stop", 1.0), ("cap", 2.0), ("ignore", 2.0)] {
        let rule = format!("policy.p.retry_after={{ replace = {{ cap = \"6h\", beyond = \"{beyond}\" }} }}");
        let study = crate::support::study(&crate::support::scenario(text, &[&rule]));
        assert_eq!(crate::support::value(&study, 0, "attempts").value, attempts, "{beyond}");
        assert_eq!(crate::support::value(&study, 0, "failed").value, 1.0, "{beyond}");
    }
}

/// `explain` fills in every default of a pipeline and of a hint's rule, and what it prints is the same policy.
#[test]
fn every_step_is_explained_and_reads_back() {
    let growths = [
        "'constant'",
        "'linear'",
        "'fibonacci'",
        "{ arithmetic = { step = '2s' } }",
        "{ geometric_sum = {} }",
        "{ exponential = { factor = 1.5, truncate = '1ms' } }",
    ];
    let jitters = [
        "'none'",
        "{ multiply = { low = 1, high = 0.75 } }",
        "{ add = { most = '1s' } }",
        "{ plus_minus = { most = '1s' } }",
        "{ between = {} }",
        "{ tower = { share = '50%' } }",
        "{ whole = { end = 'excluded' } }",
        "'crt_decorrelated'",
    ];
    let own = ["'polly'", "'aws_decorrelated'", "'finagle_decorrelated'", "'finagle_equal'", "'finagle_exponential'"];
    let hints = [
        "'ignore'",
        "'replace'",
        "'floor'",
        "'floor_before_jitter'",
        "'clamp'",
        "{ clamp = { plus = '1s' } }",
        "{ replace = { cap = '6h', beyond = 'stop' } }",
        "{ spread = {} }",
    ];
    let roundings = ["'none'", "{ floor = '1ms' }", "{ round = '1ms' }", "{ ceiling = '1s' }"];
    let grown = growths.iter().flat_map(|growth| jitters.iter().map(move |jitter| format!("growth = {growth}, jitter = {jitter}")));
    let customs: Vec<String> = grown.chain(own.iter().map(|jitter| format!("jitter = {jitter}"))).collect();
    for (place, custom) in customs.iter().enumerate() {
        let (hint, rounding) = (hints[place % hints.len()], roundings[place % roundings.len()]);
        let backoff = format!("{{ custom = {{ initial = '100ms', quantise = {rounding}, {custom} }} }}");
        let text = format!(
            "[clients.a]\ncalls = 'b'\nload = {{ once = {{}} }}\npolicy = 'p'\n[service.b]\ntime = '1s'\n[policy.p]\nmax_elapsed = '9s'\n\
             retry_after = {hint}\nbackoff = {backoff}\nthrottled_backoff = {backoff}\n"
        );
        let written = crate::support::scenario(&text, &[]);
        let explained = written.explain();
        assert_eq!(crate::support::scenario(&explained, &[]).policies(), written.policies(), "{explained}");
        for key in ["first = ", "cap_order = ", "first_uncapped = ", "floor_before = ", "offset = ", "shared_seed = "] {
            assert!(explained.contains(key), "{key} in {explained}");
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    for (arguments, message) in [
        (&["--policy", "{ attempts = 3, backof = 'none' }"][..], "did you mean `backoff`?"),
        (&["--policy", "{ attempts = 3"], "not TOML"),
        (&["--policy", "{ attempts = 3 }\nseed = 3"], "more than one policy"),
        (&["--preset", "aws"], "there is no preset `aws`"),
        (&["outage", "--name", "nobody"], "has no policy `nobody`"),
        (&["--policy", JITTERED, "--u", "1"], "from 0 to below 1"),
        (&["--policy", JITTERED, "--cover", "10"], "has no unit"),
        (&["--policy", JITTERED, "--retry-after=-5s"], "is negative"),
        (&["--policy", JITTERED, "--outcome", "ok"], "an attempt can end in"),
        (&["--policy", "{ attempts = 'unlimited' }", "--deadline", "1s"], "the waits are too short"),
        (&[], "required"),
        (&["outage", "--policy", JITTERED], "cannot be used with"),
    ] {
        fails_with(2, &[&["delays"], arguments].concat(), message);
    }
}

#[cfg(feature = "charts")]
#[test]
fn a_schedule_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("schedule.svg");
    delays(&["outage", "--chart", path.to_str().unwrap()]);
    let svg = std::fs::read_to_string(&path).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
    assert!(svg.contains("wait, seconds") && svg.contains("full_jitter"));
    fails_with(2, &["delays", "outage", "--chart", "schedule.pdf"], ".svg or .png");
}
