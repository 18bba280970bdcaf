//! The expectations of a scenario, a line each; and what to say where runs end too early to tell what became of them.

use super::files::Finished;
use crate::measure::time::{Duration, Time};
use crate::study::expect::{Bound, Expectation, Verdict};

/// A line for each expectation and cell: whether it holds, what was expected, what was found.
pub fn lines(finished: Finished) -> Vec<String> {
    verdicts(finished).iter().map(|(expectation, verdict)| line(finished, expectation, verdict)).collect()
}

/// Whether all expectations hold.
pub fn all_hold(finished: Finished) -> bool {
    verdicts(finished).iter().all(|(_, verdict)| verdict.holds)
}

/// Bins after the last change that show what becomes of it in most cases.
const ENOUGH_BINS: u64 = 40;

/// Where some runs end too early to tell: in how many, and what horizon to try. The time after the last change is doubled.
pub fn too_short(finished: Finished) -> Option<String> {
    let metrics = &finished.study.metrics;
    let undecided = metrics.iter().position(|metric| metric.name == "undecided")?;
    let (mut count, mut all, mut horizon) = (0, 0, Duration::ZERO);
    for (cell, model) in finished.study.cells.iter().zip(finished.models) {
        let here = cell.replications.iter().filter(|replication| replication.values[undecided] == Some(1.0)).count();
        (count, all) = (count + here, all + cell.replications.len());
        if let (true, Some(end)) = (here > 0, model.horizon) {
            let last = model.epochs.last().map_or(Time::ZERO, |epoch| epoch.at);
            let rest = Duration(model.bin.0.saturating_mul(ENOUGH_BINS)).max(end.since(last).saturating_add(end.since(last)));
            // Whole seconds read better.
            let whole = (last + rest).seconds().ceil();
            horizon = horizon.max(Duration::from_seconds(whole));
        }
    }
    let advice = if horizon > Duration::ZERO { format!("; try --set run.horizon={horizon}") } else { String::new() };
    (count > 0).then(|| format!("the horizon is too short to tell in {count} of {all} runs{advice}"))
}

/// Where `--set` has changed the model and closed forms have not followed: how many, and what to write.
pub fn left_behind(finished: Finished) -> Option<String> {
    let claims = finished.scenario.expectations.iter().filter(|expectation| expectation.is_fixed);
    let count = claims.count();
    let help = "write the path of a value in place of a number, such as workers = \"service.api.workers\", and it follows";
    (count > 0).then(|| format!("the closed forms of {count} expectations have numbers of their own, which --set has not changed; {help}"))
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
