//! The expectations of a scenario, a line each.

use super::files::Finished;
use crate::study::expect::Verdict;

/// A line for each expectation and cell: whether it holds, what was expected, what was found.
pub fn lines(finished: Finished) -> Vec<String> {
    verdicts(finished).iter().map(|verdict| line(finished, verdict)).collect()
}

/// Whether all expectations hold.
pub fn all_hold(finished: Finished) -> bool {
    verdicts(finished).iter().all(|verdict| verdict.holds)
}

fn verdicts(finished: Finished) -> Vec<Verdict> {
    let metrics = &finished.study.metrics;
    let value = |cell: usize, name: &str| {
        let index = metrics.iter().position(|metric| metric.name == name)?;
        finished.study.cells[cell].value(index, &metrics[index]).map(|value| value.value)
    };
    let scenario = finished.scenario;
    scenario.expectations.iter().flat_map(|expectation| expectation.judge(scenario, &value)).collect()
}

fn line(finished: Finished, verdict: &Verdict) -> String {
    let scenario = finished.scenario;
    let values = scenario.cells[verdict.cell].values.iter().zip(&scenario.axes);
    let cell: Vec<String> = values.map(|(value, axis)| format!("{} = {}", axis.path, axis.values[*value].label)).collect();
    let sign = if verdict.holds { "holds" } else { "FAILS" };
    let found = verdict.found.map_or("nothing measured".into(), |found| found.to_string());
    let place = if cell.is_empty() { String::new() } else { format!("  ({})", cell.join(", ")) };
    format!("{sign}  {} {}: {found}{place}", verdict.metric, verdict.expected)
}
