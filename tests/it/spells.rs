//! Faults that start by a condition are told like those with given times: in tables, charts and traces.

use std::fs;

use crate::command_line::retrystorm;
use crate::support::rows;

/// A call a tenth of a second, and a worker that needs an eighth: the queue grows by two a second. The sixth look finds more than ten
/// that wait; for three seconds there are workers for all.
const SCENARIO: &str = r#"
title = "Help comes"
[run]
horizon = "12s"
replications = 2
[clients.web]
calls = "api"
load = { open = { rate = "10/s", spacing = "even" } }
[service.api]
workers = 1
time = "125ms"
[[fault]]
when = "api.queue > 10"
for = "3s"
once = true
set = { "service.api.workers" = 100 }
[[chart]]
kind = "timeline"
y = "attempts"
"#;

/// The results of the scenario, in a folder that lasts as long as what is returned.
fn run(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("help.toml");
    fs::write(&file, text).unwrap();
    retrystorm(&["run", &file.display().to_string(), "--out", &folder.path().join("results").display().to_string(), "-q"]);
    folder
}

#[test]
fn each_spell_is_written_and_drawn() {
    let folder = run(SCENARIO);
    let read = |name: &str| fs::read_to_string(folder.path().join("results").join(name)).unwrap();
    // Nothing is drawn at random: both replications are the same.
    let spells: Vec<Vec<String>> =
        rows(&read("spells.csv")).iter().map(|row| row.iter().map(|(_, field)| field.clone()).collect()).collect();
    let spell = |replication: &str| ["0", replication, "service.api.workers = 100", "6", "9"].map(String::from).to_vec();
    assert_eq!(spells, [spell("0"), spell("1")]);
    let marks = read("marks.csv");
    assert!(marks.contains("0,fault,service.api.workers = 100,6,9,1\n"), "{marks}");
    let chart = read("timeline-attempts.svg");
    assert!(chart.contains("fault by its condition: service.api.workers = 100"), "{chart}");
    let file = folder.path().join("help.toml").display().to_string();
    let told = retrystorm(&["trace", &file, "--lines", "2000"]);
    let line = |words: &str| told.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {told}")).trim().to_string();
    assert!(line("starts by its condition").starts_with("6.000000 s"), "{told}");
    assert!(line("ends: service.api.workers = 100").starts_with("9.000000 s"), "{told}");
}

/// Where runs differ, a mark says in which share of them the fault lasts: together as long as in all runs.
#[test]
fn marks_say_in_how_many_runs_it_lasts() {
    let random = SCENARIO
        .replace("time = \"125ms\"", "time = { exponential = { mean = \"125ms\" } }")
        .replace("horizon = \"12s\"", "horizon = \"40s\"");
    let folder = run(&random.replace("replications = 2", "replications = 8"));
    let read = |name: &str| rows(&fs::read_to_string(folder.path().join("results").join(name)).unwrap());
    let number = |row: &[(String, String)], key: &str| row.iter().find(|(name, _)| name == key).unwrap().1.parse::<f64>().unwrap();
    let length = |row: &Vec<(String, String)>| number(row, "to") - number(row, "from");
    let spells = read("spells.csv");
    assert!(spells.len() > 4, "most runs need help: {spells:?}");
    let each: f64 = spells.iter().map(length).sum();
    let faults: Vec<_> = read("marks.csv").into_iter().filter(|row| row.iter().any(|(_, field)| field == "fault")).collect();
    let together: f64 = faults.iter().map(|row| 8.0 * number(row, "value") * length(row)).sum();
    assert!((each - together).abs() < 1e-6, "{each} {together}");
    assert!(faults.iter().all(|row| number(row, "value") > 0.0 && number(row, "value") <= 1.0));
    assert!(faults.windows(2).all(|pair| number(&pair[0], "to") <= number(&pair[1], "from")), "{faults:?}");
}

/// Without such faults there is no such file.
#[test]
fn other_scenarios_have_no_spells() {
    let timed = SCENARIO.replace("when = \"api.queue > 10\"", "at = \"6s\"").replace("once = true\n", "");
    let folder = run(&timed);
    assert!(!folder.path().join("results/spells.csv").exists());
    let marks = fs::read_to_string(folder.path().join("results/marks.csv")).unwrap();
    assert!(marks.contains("0,fault,service.api.workers = 100,6,9,\n"), "{marks}");
}
