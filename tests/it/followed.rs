//! Closed forms whose parameters are paths follow what `--set` and the comparison do.

use retrystorm::study::expect::Bound;
use retrystorm::study::scenario::Scenario;
use retrystorm::study::theory::queues::{erlang_c, mmc_response_tail};

use crate::command_line::output;
use crate::support::{curated, scenario};

const TEXT: &str = r#"
[run]
horizon = "100s"
[clients.callers]
calls = "line"
load = { open = { rate = "8/s" } }
policy = { attempts = 1, timeout = "3s" }
[service.line]
workers = 10
time = { exponential = { mean = "1s" } }
[compare]
"clients.callers.policy.timeout" = ["1s", "3s"]
[[expect]]
metric = "line.delayed"

[expect.covers.erlang_c]
workers = "service.line.workers"
arrival = "clients.callers.load.open.rate"
service = "service.line.time.exponential.mean"

[[expect]]
where = { "clients.callers.policy.timeout" = "3s" }
metric = "success_rate"

[expect.above.one_minus.mmc_response_tail]
workers = "service.line.workers"
arrival = "8/s"
service = "1/s"
time = "clients.callers.policy.timeout"
"#;

fn known(scenario: &Scenario) -> f64 {
    match &scenario.expectations[0].bound {
        Bound::Known(known) => known.value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn parameters_follow_the_model() {
    let close = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
    close(known(&scenario(TEXT, &[])), erlang_c(10, 8.0));
    close(known(&scenario(TEXT, &["service.line.workers=12"])), erlang_c(12, 8.0));
    // A time where a rate is wanted: two a second.
    close(known(&scenario(TEXT, &["service.line.time.exponential.mean=500ms"])), erlang_c(10, 4.0));
    let tail = |scenario: &Scenario| match &scenario.expectations[1].bound {
        Bound::Above(retrystorm::study::expect::Target::Number(value)) => *value,
        other => panic!("{other:?}"),
    };
    // Of the values under comparison it is that of `where`.
    close(tail(&scenario(TEXT, &[])), 1.0 - mmc_response_tail(10, 8.0, 1.0, 3.0));
    let explained = scenario(TEXT, &["service.line.workers=12"]).explain();
    assert!(explained.contains("\"service.line.workers\""), "{explained}");
    close(known(&scenario(&explained, &["service.line.workers=14"])), erlang_c(14, 8.0));
    close(known(&curated("paper/queues/erlang", &["service.line.workers=11"])), erlang_c(11, 8.0));
}

#[test]
fn a_path_that_leads_nowhere_is_refused() {
    let problem = |from: &str, to: &str| Scenario::parse("test", &TEXT.replace(from, to), None, &[]).unwrap_err().to_string();
    let wrong =
        problem("workers = \"service.line.workers\"\narrival = \"clients", "workers = \"service.lin.workers\"\narrival = \"clients");
    assert!(wrong.contains("`service.lin.workers` does not lead to a number") && wrong.contains("test.toml"), "{wrong}");
    let table = problem("service = \"service.line.time.exponential.mean\"", "service = \"service.line.time\"");
    assert!(table.contains("does not lead to a number"), "{table}");
    // That a path is no number is not said as well.
    assert_eq!((wrong.matches("error:").count(), table.matches("error:").count()), (1, 1), "{wrong}\n{table}");
    let compared = problem("where = { \"clients.callers.policy.timeout\" = \"3s\" }\n", "");
    assert!(compared.contains("is not the same in all cells") && compared.contains("add `where"), "{compared}");
    let text = problem("arrival = \"clients.callers.load.open.rate\"", "arrival = \"clients.callers.calls\"");
    assert!(text.contains("`line`"), "{text}");
}

/// Numbers that stay behind are told of.
#[test]
fn what_does_not_follow_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fixed.toml");
    let numbers = [
        ("arrival = \"clients.callers.load.open.rate\"", "arrival = \"8/s\""),
        ("service = \"service.line.time.exponential.mean\"", "service = \"1/s\""),
        (
            "workers = \"service.line.workers\"\narrival = \"8/s\"\nservice = \"1/s\"\n\n",
            "workers = 10\narrival = \"8/s\"\nservice = \"1/s\"\n\n",
        ),
    ];
    let fixed = numbers.iter().fold(TEXT.to_string(), |text, (from, to)| text.replace(from, to));
    std::fs::write(&file, fixed).unwrap();
    let file = file.display().to_string();
    let talk = |set: &[&str]| {
        let arguments = [&["check", &file, "--replications", "2"], set].concat();
        String::from_utf8(output(&arguments).stderr).unwrap()
    };
    let warning = "the closed forms of 1 expectations have numbers of their own";
    assert!(talk(&["--set", "service.line.workers=12"]).contains(warning));
    assert!(!talk(&[]).contains(warning) && !talk(&["--set", "run.horizon=50s"]).contains(warning));
}
