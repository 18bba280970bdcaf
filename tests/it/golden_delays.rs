//! The delays of real libraries, measured, rebuilt by the pipeline: tests/data/golden_delays.json.

use retrystorm::measure::time::Duration;
use retrystorm::retry::outcome::Outcome;
use retrystorm::study::scenario::parse_policy;
use retrystorm::study::schedule::{Question, Schedule, Step, drawn, schedule};

use crate::json::Json;

/// A question with nothing asked but so many retries.
pub fn plain(retries: Option<u32>) -> Question {
    Question { retries, outcome: Outcome::Error, hint: None, attempt_time: Duration::ZERO, deadline: None, cover: None }
}

/// The schedule of a policy without an end, with this custom backoff.
fn of_pipeline(custom: &str, retries: u32) -> Schedule {
    let policy = parse_policy("test", &custom_policy(custom)).unwrap_or_else(|error| panic!("{error}"));
    schedule(&policy, &plain(Some(retries))).unwrap()
}

fn custom_policy(custom: &str) -> String {
    format!("{{ attempts = \"unlimited\", backoff = {{ custom = {{ {custom} }} }} }}")
}

/// The waits in seconds for these draws.
fn waits(custom: &str, us: &[f64], retries: u32) -> Vec<f64> {
    let policy = parse_policy("test", &custom_policy(custom)).unwrap_or_else(|error| panic!("{error}"));
    drawn(&policy, &plain(Some(retries)), us).iter().map(|step| step.wait.seconds()).collect()
}

fn entries(kind: &str) -> Vec<Json> {
    let data = Json::parse(include_str!("../data/golden_delays.json"));
    data.get("entries").list().iter().filter(|entry| entry.get("kind").text() == kind).cloned().collect()
}

/// How a list is changed to see whether the comparison would notice.
#[derive(Clone, Copy)]
struct Change {
    factor: f64,
    u: f64,
}

/// A policy of the format from the model of an entry: a translation of its words, whatever the library.
fn policy_of(model: &Json, change: Change) -> String {
    let seconds = |value: &Json| if value.number() > 1.8e10 { "\"none\"".to_owned() } else { format!("\"{}s\"", value.text()) };
    let mut keys = vec![format!("initial = {}", seconds(model.get("initial_s")))];
    let factor = model.get("factor").number() * change.factor;
    keys.push(match model.get("growth").text() {
        "exp" => {
            let first = model.get("exponent_of_first_retry").text();
            format!("growth = {{ exponential = {{ factor = {factor:?}, first_exponent = {first} }} }}")
        }
        "arith" => format!("growth = {{ arithmetic = {{ step = \"{factor}s\" }} }}"),
        "const" => "growth = \"constant\"".into(),
        "fib" => "growth = \"fibonacci\"".into(),
        "linear" => "growth = \"linear\"".into(),
        other => panic!("a growth that is not known: {other}"),
    });
    let jitter = model.get("jitter");
    keys.push(match jitter.get("kind").text() {
        "mul" => format!("jitter = {{ multiply = {{ low = {}, high = {} }} }}", jitter.get("lo").text(), jitter.get("hi").text()),
        "add" => format!("jitter = {{ add = {{ most = {} }} }}", seconds(jitter.get("a_s"))),
        "between" => format!("jitter = {{ between = {{ low = {} }} }}", seconds(jitter.get("lo_s"))),
        "tower" => format!("jitter = {{ tower = {{ share = {} }} }}", jitter.get("f").text()),
        "polly_v2" => "jitter = \"polly\"".into(),
        other => panic!("a jitter that is not known: {other}"),
    });
    for (key, name) in
        [("cap_s", "cap"), ("first_retry_s", "first"), ("floor_before_jitter_s", "floor_before"), ("floor_after_s", "floor_after")]
    {
        let value = model.get(key);
        keys.extend((!value.is_null()).then(|| format!("{name} = {}", seconds(value))));
    }
    keys.extend((!model.get("cap_order").is_null()).then(|| format!("cap_order = \"{}\"", model.get("cap_order").text())));
    keys.extend((*model.get("first_retry_not_capped") == Json::Boolean(true)).then(|| "first_uncapped = true".to_owned()));
    match model.get("quantise") {
        Json::Null => {}
        Json::Text(text) if text == "floor_ms" => keys.push("quantise = { floor = \"1ms\" }".into()),
        other => panic!("a rounding that is not known: {other:?}"),
    }
    let hint = match model.get("retry_after") {
        Json::Null => "\"ignore\"".to_owned(),
        hint => match hint.get("policy").text() {
            "replace" => "\"replace\"".into(),
            "floor_before_jitter" => "\"floor_before_jitter\"".into(),
            "clamp_t_to_t_plus" => format!("{{ clamp = {{ plus = {} }} }}", seconds(hint.get("plus_s"))),
            other => panic!("a rule that is not known: {other}"),
        },
    };
    format!("{{ attempts = \"unlimited\", retry_after = {hint}, backoff = {{ custom = {{ {} }} }} }}", keys.join(", "))
}

/// The greatest difference in seconds between the list of an entry and what the pipeline makes of its model.
fn difference(entry: &Json, change: Change) -> f64 {
    let (model, wanted) = (entry.get("model"), entry.get("delays_s").list());
    let text = policy_of(model, change);
    let policy = parse_policy("golden", &text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let before = model.get("list_starts_at_retry").number() as usize;
    let us: Vec<f64> = match entry.get("u") {
        Json::Null => vec![0.5],
        Json::List(us) => us.iter().map(Json::number).collect(),
        u => vec![u.number()],
    };
    // The draws are used in turn from the first delay of the list on.
    let length = before + wanted.len();
    let us: Vec<f64> = (0..length).map(|place| us[(place + us.len() * before - before) % us.len()]).collect();
    let us: Vec<f64> = us.iter().map(|u| (u + change.u).min(0.999_999_999_999)).collect();
    let hint = model.get("retry_after");
    let hint = (!hint.is_null()).then(|| Duration::from_seconds(hint.get("value_s").number()));
    let steps: Vec<Step> = drawn(&policy, &Question { hint, ..plain(Some(length as u32)) }, &us);
    assert_eq!(steps.len(), length, "{text}");
    steps[before..].iter().zip(wanted).map(|(step, wanted)| (step.wait.seconds() - wanted.number()).abs()).fold(0.0, f64::max)
}

/// Within a microsecond: the libraries compute in floats of seconds or milliseconds, and print as many digits.
const CLOSE: f64 = 1e-6;

#[test]
fn every_measured_list_is_what_the_pipeline_makes_of_its_model() {
    let entries = entries("delays");
    assert_eq!(entries.len(), 294);
    for entry in &entries {
        let difference = difference(entry, Change { factor: 1.0, u: 0.0 });
        assert!(difference <= CLOSE, "{} differs by {difference} s: {:?}", entry.get("library").text(), entry.get("params"));
    }
}

/// A comparison that any list would pass shows nothing: most do not, where growth or draws are a little different.
#[test]
fn a_slightly_different_pipeline_is_noticed() {
    let entries = entries("delays");
    let broken = |entries: &[&Json], change: Change| entries.iter().filter(|entry| difference(entry, change) > CLOSE).count();
    let replaced = |entry: &Json| {
        let hint = entry.get("model").get("retry_after");
        !hint.is_null() && hint.get("policy").text() == "replace"
    };
    let grows = |entry: &&Json| entry.get("model").get("growth").text() == "exp" && !replaced(entry);
    // A draw that does nothing cannot be noticed.
    let jitters = |entry: &&Json| {
        let jitter = entry.get("model").get("jitter");
        let pair = ["lo", "hi", "a_s"].map(|key| jitter.get(key).clone());
        !replaced(entry) && pair[0] != pair[1] && pair[2] != Json::Number("0".into()) || jitter.get("kind").text() == "tower"
    };
    let growing: Vec<&Json> = entries.iter().filter(grows).collect();
    let jittered: Vec<&Json> = entries.iter().filter(jitters).collect();
    assert!(growing.len() > 250 && jittered.len() > 180, "{} {}", growing.len(), jittered.len());
    let (factor, u) = (broken(&growing, Change { factor: 1.025, u: 0.0 }), broken(&jittered, Change { factor: 1.0, u: 0.03 }));
    println!("{factor} of {} and {u} of {}", growing.len(), jittered.len());
    assert!(factor * 2 > growing.len(), "{factor} of {}", growing.len());
    assert!(u * 2 > jittered.len(), "{u} of {}", jittered.len());
}

/// The least and greatest of many measured waits lie inside the ends, and as near to them as so many uniform draws must: a gap of
/// 20 / n of the width has the probability e^-20.
#[test]
fn measured_ends_are_those_of_the_schedule() {
    for entry in entries("fact").iter().filter(|entry| entry.get("fact").text().starts_with("empirical_min_max")) {
        let count: f64 = entry.get("fact").text().trim_start_matches("empirical_min_max_").parse().unwrap();
        let custom = match entry.get("library").text() {
            "cenkalti/backoff" => {
                r#"initial = "500ms", growth = { exponential = { factor = 1.5 } }, cap = "60s", jitter = { multiply = { low = 0.5, high = 1.5, plus = "1ns" } }"#
            }
            "go-retryablehttp" => r#"initial = "1s", growth = "linear", jitter = { multiply = { low = 0.8, high = 1.2 } }"#,
            other => panic!("no pipeline for {other}"),
        };
        let (least, greatest) = (entry.get("min_s").list(), entry.get("max_s").list());
        for (row, (low, high)) in of_pipeline(custom, least.len() as u32).rows.iter().zip(least.iter().zip(greatest)) {
            let (from, to) = (row.wait.least.seconds(), row.wait.greatest.seconds());
            let gap = 20.0 / count * (to - from);
            assert!((from..from + gap).contains(&low.number()), "{custom} {row:?}");
            assert!((to - gap..=to + 1e-9).contains(&high.number()), "{custom} {row:?}");
        }
    }
}

/// What is read in the sources of libraries that were not run. Each row: the pipeline, the draws, and the waits in milliseconds.
#[test]
fn formulas_read_in_sources() {
    let nearly_one = 1.0 - 1e-12;
    let finagle = |kind: &str| format!("initial = \"5ms\", cap = \"200ms\", jitter = \"finagle_{kind}\"");
    let gaxios = "initial = \"1s\", first = \"100ms\", growth = { geometric_sum = { factor = 2.0 } }";
    let resilience4j = "initial = \"500ms\", growth = { exponential = { factor = 1.5, truncate = \"1ms\" } }";
    let randomised =
        format!("{resilience4j}, jitter = {{ multiply = {{ low = 0.5, high = 1.5, plus = \"1ms\" }} }}, quantise = {{ floor = \"1ms\" }}");
    let celery = "initial = \"1s\", cap = \"600s\", jitter = { whole = { unit = \"1s\" } }";
    let envoy = "initial = \"25ms\", cap = \"250ms\", jitter = { whole = { unit = \"1ms\", end = \"excluded\" } }";
    let tower = |initial: &str, share: &str| format!("initial = \"{initial}\", jitter = {{ tower = {{ share = {share} }} }}");
    let crt = "initial = \"500ms\", cap = \"20s\", jitter = \"crt_decorrelated\"";
    let rows: [(String, f64, Vec<f64>); 19] = [
        (gaxios.into(), 0.5, vec![100.0, 500.0, 1500.0, 3500.0, 7500.0]),
        (resilience4j.into(), 0.5, vec![500.0, 750.0, 1125.0, 1687.0, 2530.0, 3795.0]),
        (randomised.clone(), 0.0, vec![250.0, 375.0, 562.0]),
        (randomised, nearly_one, vec![750.0, 1125.0, 1688.0]),
        (celery.into(), 0.5, vec![1000.0, 1000.0, 2000.0, 4000.0, 8000.0]),
        (celery.into(), nearly_one, vec![1000.0, 2000.0, 4000.0, 8000.0]),
        (envoy.into(), 0.0, vec![0.0, 0.0]),
        (envoy.into(), nearly_one, vec![24.0, 49.0, 99.0, 199.0, 249.0, 249.0]),
        (tower("50ms", "0.99"), 0.5, vec![74.75, 149.5, 299.0, 598.0, 1196.0, 1897.0]),
        (tower("1s", "0.5"), 0.5, vec![1000.0, 2000.0, 5000.0, 10_000.0, 20_000.0, 40_000.0]),
        (tower("1s", "0.5"), nearly_one, vec![1000.0, 2000.0]),
        (finagle("decorrelated"), 0.0, vec![5.0, 5.0, 5.0]),
        (finagle("decorrelated"), 0.5, vec![5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 200.0, 200.0]),
        (finagle("equal"), 0.5, vec![5.0, 7.5, 15.0, 30.0, 60.0, 120.0, 200.0, 200.0]),
        (finagle("exponential"), 0.5, vec![5.0, 5.0, 10.0, 40.0, 200.0, 200.0]),
        (crt.into(), 0.5, vec![250.0, 625.0, 1187.5, 2031.25]),
        (crt.into(), nearly_one, vec![500.0, 1500.0, 4500.0, 13_500.0, 20_000.0, 20_000.0]),
        ("initial = \"10ms\", jitter = { plus_minus = { most = \"40ms\" } }, growth = \"constant\"".into(), 0.0, vec![0.0]),
        ("initial = \"300ms\", quantise = { ceiling = \"1s\" }, offset = \"1s\"".into(), 0.5, vec![2000.0, 2000.0, 3000.0, 4000.0]),
    ];
    for (custom, u, wanted) in rows {
        let found = waits(&custom, &[u], wanted.len() as u32);
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((found * 1e3 - wanted).abs() <= 1e-3, "{custom} at {u}: {found} s is not {wanted} ms");
        }
    }
}

/// Only whole seconds, each as likely: 0 to 4 of celery's third retry.
#[test]
fn whole_seconds_are_equally_likely() {
    let us: Vec<f64> = (0..500).map(|place| (f64::from(place) + 0.5) / 500.0).collect();
    let mut counts = [0; 5];
    for u in us {
        let wait = waits("initial = \"1s\", cap = \"600s\", jitter = { whole = { unit = \"1s\" } }", &[u], 3)[2];
        counts[wait as usize] += 1;
    }
    assert_eq!(counts, [100; 5]);
}
