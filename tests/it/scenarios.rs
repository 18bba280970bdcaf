//! Every scenario in `scenarios/` is a test: it can be read, and its expectations hold. What takes long runs with fewer replications here;
//! `.ci/run` checks them whole.

use crate::support::{curated, study};
use retrystorm::study::curated::CURATED;

/// Fewer replications for the long ones; the expectations must hold all the same.
fn smaller(name: &str) -> Vec<&'static str> {
    match name {
        "aws_jitter" => vec!["run.replications=20", "clients.writers.count=100"],
        "mm1" | "retrial" => vec!["run.replications=4"],
        "outage" => vec!["run.replications=4"],
        _ => vec![],
    }
}

#[test]
fn every_expectation_holds() {
    for (name, _) in CURATED {
        let scenario = curated(name, &smaller(name));
        let study = study(&scenario);
        let value = |cell: usize, metric: &str| {
            let index = study.metrics.iter().position(|known| known.name == metric)?;
            study.cells[cell].value(index, &study.metrics[index])
        };
        assert!(!scenario.expectations.is_empty(), "{name} claims nothing");
        for expectation in &scenario.expectations {
            for verdict in expectation.judge(&scenario.axes, &scenario.cells, value) {
                assert!(verdict.holds, "{name}: {} {}: {:?}", expectation.metric, verdict.expected, verdict.found);
            }
        }
    }
}

#[test]
fn every_scenario_explains_itself() {
    for (name, text) in CURATED {
        let scenario = curated(name, &[]);
        assert!(!scenario.title.is_empty() && scenario.story.trim().len() > 100, "{name} has no story");
        assert!(text.is_ascii() || !text.contains('\u{feff}'), "{name} has a byte order mark");
    }
}
