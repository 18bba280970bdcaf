//! The expectations of a scenario, a line each.

use super::files::Finished;
use crate::study::expect::{Bound, Expectation, Verdict};

/// A line for each expectation and cell: whether it holds, what was expected, what was found.
pub fn lines(finished: Finished) -> Vec<String> {
    verdicts(finished).iter().map(|(expectation, verdict)| line(finished, expectation, verdict)).collect()
}

/// Whether all expectations hold.
pub fn all_hold(finished: Finished) -> bool {
    verdicts(finished).iter().all(|(_, verdict)| verdict.holds)
}

/// Every claim about every cell that it is about, and what became of it.
pub fn verdicts(finished: Finished<'_>) -> Vec<(&Expectation, Verdict)> {
    let metrics = &finished.study.metrics;
    let value = |cell: usize, name: &str| {
        let index = metrics.iter().position(|metric| metric.name == name)?;
        finished.study.cells[cell].value(index, &metrics[index])
    };
    let scenario = finished.scenario;
    let judge = |expectation: &Expectation| expectation.judge(&scenario.axes, &scenario.cells, value);
    scenario.expectations.iter().flat_map(|expectation| judge(expectation).into_iter().map(move |verdict| (expectation, verdict))).collect()
}

/// Without the last digits, which are those of the sum and not of the number.
fn plain(value: f64) -> String {
    let digits = (12.0 - libm::floor(libm::log10(value.abs().max(1e-6)))).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// What tells a cell from the others: its axes and their values.
pub fn cell_name(finished: Finished, cell: usize) -> String {
    let scenario = finished.scenario;
    let values = scenario.cells[cell].values.iter().zip(&scenario.axes);
    values.map(|(value, axis)| format!("{} = {}", axis.path, axis.values[*value].label)).collect::<Vec<_>>().join(", ")
}

fn line(finished: Finished, expectation: &Expectation, verdict: &Verdict) -> String {
    let sign = if verdict.holds { "holds" } else { "FAILS" };
    let mut found = verdict.found.map_or("nothing measured".into(), plain);
    if matches!(expectation.bound, Bound::Known(_)) {
        found = match verdict.interval {
            Some((low, high)) => format!("{found} [{}, {}]", plain(low), plain(high)),
            None => format!("{found} without interval"),
        };
    }
    let cell = cell_name(finished, verdict.cell);
    let place = if cell.is_empty() { String::new() } else { format!("  ({cell})") };
    let source = expectation.source.as_ref().map_or(String::new(), |source| format!(" ({source})"));
    format!("{sign}  {} {}{source}: {found}{place}", expectation.metric, verdict.expected)
}
