//! The table that `run` prints: a row a cell, the metrics that matter to the scenario, each with its interval.

use std::fmt::Write as _;

use crate::report::files::Finished;
use crate::study::chart::ChartKind;
use crate::study::fold::Value;
use crate::study::metrics::{Metric, Unit};

/// More rows than this are thinned out; summary.csv has them all.
const MOST_ROWS: usize = 40;

/// Values of a long axis that are shown where a table is thinned out.
const SHOWN_VALUES: usize = 4;

/// The metrics that every scenario shows, where they are defined and say something.
const USUAL: [&str; 6] = ["success_rate", "amplification", "latency_p99", "attempts_per_second_peak", "recovery_time", "stuck"];

/// What became of the runs: shown where it became of some; `stable` where not of all.
const VERDICTS: [&str; 4] = ["recovered", "collapsed", "undecided", "stable"];

/// The whole table as text.
pub fn table(finished: Finished) -> String {
    let columns = columns(finished);
    let (rows, left_out) = rows(finished);
    let mut cells: Vec<Vec<String>> = vec![header(finished, &columns)];
    cells.extend(rows.iter().map(|cell| row(finished, &columns, *cell)));
    let mut text = align(&cells, finished.scenario.axes.len());
    if left_out > 0 {
        let _ = writeln!(text, "{left_out} more cells are in summary.csv.");
    }
    let replications = finished.study.cells.first().map_or(0, |cell| cell.replications.len());
    if replications > 1 {
        let _ = writeln!(
            text,
            "Mean of {replications} replications ± half of the 95 % interval; shares of replications with Wilson's interval."
        );
    }
    text
}

/// The places of the metrics that are shown: those that charts and expectations name, then the usual ones.
fn columns(finished: Finished) -> Vec<usize> {
    let scenario = finished.scenario;
    let drawn = scenario.charts.iter().filter(|chart| !matches!(chart.kind, ChartKind::Timeline | ChartKind::Hysteresis));
    let named = drawn
        .flat_map(|chart| chart.y.iter().chain(&chart.value))
        .chain(scenario.expectations.iter().map(|expectation| &expectation.metric));
    let wanted: Vec<&str> = named.map(String::as_str).chain(USUAL).collect();
    let metrics = &finished.study.metrics;
    let mut columns: Vec<usize> = Vec::new();
    for name in wanted {
        if let Some(index) = metrics.iter().position(|metric| metric.name == name)
            && !columns.contains(&index)
            && finished.study.cells.iter().any(|cell| cell.value(index, &metrics[index]).is_some())
        {
            columns.push(index);
        }
    }
    if finished.models.iter().all(|model| model.horizon.is_none()) {
        let completion = metrics.iter().position(|metric| metric.name == "completion_time");
        columns.extend(completion.filter(|index| !columns.contains(index)));
    }
    columns.truncate(8);
    columns.extend(verdicts(finished).filter(|index| !columns.contains(index)).collect::<Vec<_>>());
    columns
}

/// The places of the verdicts that say something.
fn verdicts(finished: Finished<'_>) -> impl Iterator<Item = usize> + '_ {
    let metrics = &finished.study.metrics;
    let shares = move |index: usize| finished.study.cells.iter().filter_map(move |cell| Some(cell.value(index, &metrics[index])?.value));
    let place = |name: &&str| metrics.iter().position(|metric| metric.name == **name);
    VERDICTS.iter().filter_map(place).filter(move |index| {
        shares(*index).any(|share| share > 0.0) && !(metrics[*index].name == "stable" && shares(*index).all(|share| share == 1.0))
    })
}

/// The cells that are shown, and how many are not: of a long axis only some values, spread evenly.
fn rows(finished: Finished) -> (Vec<usize>, usize) {
    let scenario = finished.scenario;
    let count = scenario.cells.len();
    let longest = scenario.axes.iter().map(|axis| axis.values.len()).enumerate().max_by_key(|(_, length)| *length);
    let Some((axis, length)) = longest.filter(|_| count > MOST_ROWS) else { return ((0..count).collect(), 0) };
    let shown: Vec<usize> = (0..SHOWN_VALUES).map(|step| step * (length - 1) / (SHOWN_VALUES - 1)).collect();
    let kept: Vec<usize> = (0..count).filter(|cell| shown.contains(&scenario.cells[*cell].values[axis])).take(MOST_ROWS).collect();
    let left_out = count - kept.len();
    (kept, left_out)
}

fn header(finished: Finished, columns: &[usize]) -> Vec<String> {
    let axes = finished.scenario.axes.iter().map(|axis| axis.path.clone());
    axes.chain(columns.iter().map(|index| titled(&finished.study.metrics[*index]))).collect()
}

fn titled(metric: &Metric) -> String {
    match metric.unit {
        Unit::Seconds => format!("{} [s]", metric.name),
        Unit::PerSecond => format!("{} [/s]", metric.name),
        _ => metric.name.clone(),
    }
}

fn row(finished: Finished, columns: &[usize], cell: usize) -> Vec<String> {
    let values = finished.scenario.cells[cell].values.iter().zip(&finished.scenario.axes);
    let labels = values.map(|(value, axis)| axis.values[*value].label.clone());
    let result = &finished.study.cells[cell];
    labels
        .chain(columns.iter().map(|index| shown(&finished.study.metrics[*index], result.value(*index, &finished.study.metrics[*index]))))
        .collect()
}

/// A value as a person reads it: as many digits as its interval allows.
pub fn shown(metric: &Metric, value: Option<Value>) -> String {
    let Some(Value { value, interval, .. }) = value else { return "-".into() };
    if let (crate::study::metrics::Summary::Share, Some((low, high))) = (metric.summary, interval) {
        return format!("{} [{}, {}]", rounded(value, 0.01), rounded(low, 0.01), rounded(high, 0.01));
    }
    match interval.map(|(low, high)| (high - low) / 2.0) {
        Some(half) if half > 0.0 => format!("{} ±{}", rounded(value, half), rounded(half, half)),
        _ => rounded(value, 0.0),
    }
}

/// A number with the digits that a step of this size leaves meaningful, thousands set apart.
pub fn rounded(value: f64, step: f64) -> String {
    let size = if step > 0.0 { step } else { value.abs() / 1e4 };
    let digits = if size > 0.0 && size < 10.0 { (1.0 - libm::floor(libm::log10(size))).clamp(0.0, 6.0) as usize } else { 0 };
    let text = format!("{value:.digits$}");
    let text = if step == 0.0 && text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text };
    with_thousands(&text)
}

/// `1234567.8` as `1,234,567.8`.
fn with_thousands(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) && whole.len() > 4 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    fraction.map_or_else(|| format!("{sign}{grouped}"), |fraction| format!("{sign}{grouped}.{fraction}"))
}

/// Columns of equal width: the first `words` of them to the left, numbers to the right.
pub fn align(rows: &[Vec<String>], words: usize) -> String {
    let count = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let line: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| if column < words { format!("{cell:<width$}") } else { format!("{cell:>width$}") })
            .collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_they_can_bear() {
        assert_eq!(rounded(1854.108, 2.58), "1854.1");
        assert_eq!(rounded(63_391.07, 161.0), "63,391");
        assert_eq!(rounded(0.99712, 0.0004), "0.99712");
        assert_eq!(rounded(105_000.0, 0.0), "105,000");
        assert_eq!(rounded(0.5, 0.0), "0.5");
        assert_eq!(rounded(0.0, 0.0), "0");
        assert_eq!(rounded(-1_234_567.8, 0.3), "-1,234,567.80");
    }
}
