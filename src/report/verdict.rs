//! The expectations of a scenario, a line each.

use super::files::Finished;
use crate::study::expect::{Expectation, Verdict};

/// A line for each expectation and cell: whether it holds, what was expected, what was found.
pub fn lines(finished: Finished) -> Vec<String> {
    verdicts(finished).iter().map(|(metric, verdict)| line(finished, metric, verdict)).collect()
}

/// Whether all expectations hold.
pub fn all_hold(finished: Finished) -> bool {
    verdicts(finished).iter().all(|(_, verdict)| verdict.holds)
}

/// Each with its metric.
fn verdicts(finished: Finished<'_>) -> Vec<(&str, Verdict)> {
    let metrics = &finished.study.metrics;
    let value = |cell: usize, name: &str| {
        let index = metrics.iter().position(|metric| metric.name == name)?;
        finished.study.cells[cell].value(index, &metrics[index]).map(|value| value.value)
    };
    let scenario = finished.scenario;
    let judge = |expectation: &Expectation| expectation.judge(&scenario.axes, &scenario.cells, value);
    scenario
        .expectations
        .iter()
        .flat_map(|expectation| judge(expectation).into_iter().map(|verdict| (expectation.metric.as_str(), verdict)))
        .collect()
}

/// Without the last digits, which are those of the sum and not of the number.
fn plain(value: f64) -> String {
    let digits = (12.0 - libm::floor(libm::log10(value.abs().max(1e-6)))).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

fn line(finished: Finished, metric: &str, verdict: &Verdict) -> String {
    let scenario = finished.scenario;
    let values = scenario.cells[verdict.cell].values.iter().zip(&scenario.axes);
    let cell: Vec<String> = values.map(|(value, axis)| format!("{} = {}", axis.path, axis.values[*value].label)).collect();
    let sign = if verdict.holds { "holds" } else { "FAILS" };
    let found = verdict.found.map_or("nothing measured".into(), plain);
    let place = if cell.is_empty() { String::new() } else { format!("  ({})", cell.join(", ")) };
    format!("{sign}  {metric} {}: {found}{place}", verdict.expected)
}
