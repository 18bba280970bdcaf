//! Same seed, same bytes: for any number of threads, in the batch or alone, whatever else is recorded.

use std::fs;
use std::path::Path;

use crate::command_line::output;

const FILES: [&str; 7] = ["summary.csv", "runs.csv", "differences.csv", "timeline.csv", "latency.csv", "attempts.csv", "marks.csv"];

fn outage(folder: &Path, extra: &[&str]) {
    let out = folder.display().to_string();
    let mut arguments = vec![
        "run",
        "outage",
        "--no-charts",
        "--quiet",
        "--set",
        "run.horizon=100s",
        "--set",
        "clients.web.load.open.rate=70/s",
        "--out",
        &out,
    ];
    arguments.extend(extra);
    // Its expectations are about the whole scenario, and need not hold for this smaller one.
    assert!(matches!(output(&arguments).status.code(), Some(0 | 1)), "{arguments:?}");
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn the_bytes_do_not_depend_on_threads_or_repetition() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    outage(&at("one"), &["--replications", "8", "--threads", "1"]);
    for (name, threads) in [("again", "1"), ("two", "2"), ("eight", "8")] {
        outage(&at(name), &["--replications", "8", "--threads", threads]);
        for file in FILES {
            assert!(read(&at("one"), file) == read(&at(name), file), "{file} differs with {threads} threads");
        }
    }
}

/// Replication 7 alone is row 7 of the batch; the first rows do not change when there are more.
#[test]
fn a_replication_is_the_same_alone_and_in_a_longer_batch() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    outage(&at("ten"), &["--replications", "10"]);
    outage(&at("alone"), &["--only-replication", "7"]);
    outage(&at("eight"), &["--replications", "8"]);
    let lines = |name: &str| read(&at(name), "runs.csv").lines().map(String::from).collect::<Vec<_>>();
    let (ten, alone, eight) = (lines("ten"), lines("alone"), lines("eight"));
    assert_eq!(alone.len(), 9, "a header, and a row for each of the eight policies");
    for row in &alone {
        assert!(ten.contains(row), "{row}");
    }
    for row in &eight {
        assert!(ten.contains(row), "{row}");
    }
}

/// Whoever listens changes nothing.
#[test]
fn a_listener_changes_nothing() {
    let scenario = crate::support::curated("outage", &["run.horizon=100s"]);
    let model = scenario.base_model().unwrap();
    let seed = retrystorm::measure::random::Seed { seed: 1, replication: 0 };
    let mut recorder = retrystorm::world::trace::Recorder { calls: (0, u32::MAX), most: 10, ..Default::default() };
    let heard = retrystorm::world::run_heard(&model, seed, &mut recorder);
    let plain = retrystorm::world::run(&model, seed);
    assert_eq!((heard.fingerprint, heard.totals), (plain.fingerprint, plain.totals));
    assert!(recorder.left_out > 1000);
}
