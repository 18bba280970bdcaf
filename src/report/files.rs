//! Writes the results: the only door between simulating and drawing. Columns are documented in docs/FORMAT.md.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::{claims, spells};
use crate::measure::time::Time;
use crate::study::experiment::Study;
use crate::study::scenario::Scenario;
use crate::world::model::Model;

/// The percentiles in `latency.csv`.
const PERCENTILES: [f64; 12] = [0.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.99, 100.0];

/// A finished study with what it was made from.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The model of each cell.
    pub models: &'a [Model],
    /// The results.
    pub study: &'a Study,
}

/// One table: its header, then its rows.
pub type Table = Vec<Vec<String>>;

type Writer = fn(Finished) -> Table;

/// Writes all tables into a folder, each to a temporary file first, so that a table is there whole or not at all.
///
/// # Errors
/// What the file system says.
pub fn write(finished: Finished, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let tables: [(&str, Writer); 6] = [
        ("summary.csv", summary),
        ("differences.csv", differences),
        ("timeline.csv", timeline),
        ("latency.csv", latency),
        ("attempts.csv", attempts),
        ("marks.csv", marks),
    ];
    for (name, table) in tables {
        write_table(&folder.join(name), table(finished))?;
    }
    write_table(&folder.join("runs.csv"), runs(finished))?;
    if finished.scenario.charts.iter().any(|chart| !chart.reference.is_empty()) {
        write_table(&folder.join("reference.csv"), reference(finished))?;
    }
    if finished.models.iter().any(|model| !model.conditional.faults.is_empty()) {
        write_table(&folder.join("spells.csv"), spells::rows(finished))?;
    }
    let claims = claims::claims(finished);
    // Only where there is a known value: a bound is no figure to look at beside ours.
    if claims.iter().any(|claim| claim.known.is_some()) {
        write_table(&folder.join("claims.csv"), claims::rows(&claims))?;
    }
    Ok(())
}

/// Writes one table, whole or not at all. Its rows need not be there all at once.
///
/// # Errors
/// What the file system says.
pub fn write_table(path: &Path, rows: impl IntoIterator<Item = Vec<String>>) -> io::Result<()> {
    replace_by(path, |file| {
        let mut writer = csv::Writer::from_writer(file);
        for row in rows {
            writer.write_record(row)?;
        }
        writer.flush()
    })
}

/// Writes a file whole or not at all.
///
/// # Errors
/// What the file system says.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, |file| file.write_all(bytes))
}

fn replace_by(path: &Path, write: impl FnOnce(&mut fs::File) -> io::Result<()>) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".tmp");
    let temporary = path.with_file_name(name);
    let mut file = fs::File::create(&temporary)?;
    write(&mut file)?;
    drop(file);
    fs::rename(&temporary, path)
}

impl Finished<'_> {
    /// The columns that name a cell: its number, then its axes.
    fn cell_header(&self) -> Vec<String> {
        let axes = self.scenario.axes.iter().map(|axis| axis.path.clone());
        std::iter::once("cell".to_string()).chain(axes).collect()
    }

    fn cell_columns(&self, cell: usize) -> Vec<String> {
        let values = self.scenario.cells[cell].values.iter().zip(&self.scenario.axes);
        std::iter::once(cell.to_string()).chain(values.map(|(value, axis)| axis.values[*value].csv.clone())).collect()
    }

    /// The cell that a cell is compared with: the same but for the first value of the first axis. None for the baseline itself.
    pub fn baseline(&self, cell: usize) -> Option<usize> {
        let values = &self.scenario.cells[cell].values;
        if *values.first()? == 0 {
            return None;
        }
        self.scenario.cells.iter().position(|other| other.values[0] == 0 && other.values[1..] == values[1..])
    }
}

/// Published series, a row a bin, as in `timeline.csv`.
fn reference(finished: Finished) -> Table {
    let scenario = finished.scenario;
    let mut table = vec![["cell", "time", "series", "mean", "low", "high"].map(String::from).to_vec()];
    for cell in &scenario.cells {
        for row in scenario.charts.iter().flat_map(|chart| &chart.reference).filter(|row| row.is_for(&scenario.axes, cell)) {
            let (mean, low, high) = row.value;
            let fields =
                [cell.index.to_string(), row.time.to_string(), row.series.clone(), mean.to_string(), number(low), number(high)].to_vec();
            // Several charts may name the same file.
            if !table.contains(&fields) {
                table.push(fields);
            }
        }
    }
    table
}

pub(super) fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn summary(finished: Finished) -> Table {
    let mut header = finished.cell_header();
    header.push("replications".into());
    for metric in &finished.study.metrics {
        header.extend(["", "_low", "_high", "_sd"].map(|suffix| format!("{}{suffix}", metric.name)));
    }
    let rows = finished.study.cells.iter().enumerate().map(|(cell, result)| {
        let mut row = finished.cell_columns(cell);
        row.push(result.replications.len().to_string());
        for (index, metric) in finished.study.metrics.iter().enumerate() {
            let value = result.value(index, metric);
            let interval = value.and_then(|value| value.interval);
            row.extend(
                [
                    value.map(|value| value.value),
                    interval.map(|ends| ends.0),
                    interval.map(|ends| ends.1),
                    value.and_then(|value| value.sd),
                ]
                .map(number),
            );
        }
        row
    });
    std::iter::once(header).chain(rows).collect()
}

/// As many rows as replications: each is made when it is written, so that they take no memory.
fn runs(finished: Finished<'_>) -> impl Iterator<Item = Vec<String>> + '_ {
    let mut header = finished.cell_header();
    header.push("replication".into());
    header.extend(finished.study.metrics.iter().map(|metric| metric.name.clone()));
    header.push("fingerprint".into());
    let cells = finished.study.cells.iter().enumerate();
    let replications = cells.flat_map(|(cell, result)| result.replications.iter().map(move |replication| (cell, replication)));
    let rows = replications.map(move |(cell, replication)| {
        let mut row = finished.cell_columns(cell);
        row.push(replication.number.to_string());
        row.extend(replication.values.iter().map(|value| number(*value)));
        row.push(format!("{:016x}", replication.fingerprint));
        row
    });
    std::iter::once(header).chain(rows)
}

fn differences(finished: Finished) -> Table {
    let mut header = finished.cell_header();
    header.extend(["baseline", "metric", "difference", "low", "high"].map(String::from));
    let mut table = vec![header];
    for (cell, result) in finished.study.cells.iter().enumerate() {
        let Some(baseline) = finished.baseline(cell) else { continue };
        for (index, metric) in finished.study.metrics.iter().enumerate() {
            let Some(difference) = result.difference(index, &finished.study.cells[baseline]) else { continue };
            let interval = difference.interval();
            let mut row = finished.cell_columns(cell);
            row.extend([baseline.to_string(), metric.name.clone(), difference.mean.to_string()]);
            row.extend([interval.map(|ends| ends.0), interval.map(|ends| ends.1)].map(number));
            table.push(row);
        }
    }
    table
}

fn timeline(finished: Finished) -> Table {
    let mut table = vec![["cell", "time", "series", "mean", "low", "high"].map(String::from).to_vec()];
    for (cell, (result, model)) in finished.study.cells.iter().zip(finished.models).enumerate() {
        for (series, bins) in &result.timeline {
            for (bin, moments) in bins.iter().enumerate() {
                let Some(estimate) = moments.estimate() else { continue };
                let start = Time(model.bin.0.saturating_mul(bin as u64)).seconds();
                // Where nothing varies the interval has no width; where nothing can be below zero it has no part there.
                let interval = estimate.interval().map(|(low, high)| (low.max(0.0), high));
                let mut row = vec![cell.to_string(), start.to_string(), series.clone(), estimate.mean.to_string()];
                row.extend([interval.map(|ends| ends.0), interval.map(|ends| ends.1)].map(number));
                table.push(row);
            }
        }
    }
    table
}

fn latency(finished: Finished) -> Table {
    let mut table = vec![["cell", "percentile", "value"].map(String::from).to_vec()];
    for (cell, result) in finished.study.cells.iter().enumerate() {
        for percentile in PERCENTILES {
            let Some(value) = result.quantile(percentile / 100.0) else { continue };
            table.push(vec![cell.to_string(), percentile.to_string(), value.seconds().to_string()]);
        }
    }
    table
}

fn attempts(finished: Finished) -> Table {
    let mut table = vec![["cell", "attempts", "calls"].map(String::from).to_vec()];
    for (cell, result) in finished.study.cells.iter().enumerate() {
        for (attempts, calls) in result.attempts_needed.iter().enumerate().filter(|(_, calls)| **calls > 0) {
            table.push(vec![cell.to_string(), attempts.to_string(), calls.to_string()]);
        }
    }
    table
}

/// What charts show beside the numbers: the time of faults and warm-up, the capacity of services.
fn marks(finished: Finished) -> Table {
    let mut table = vec![["cell", "kind", "label", "from", "to", "value"].map(String::from).to_vec()];
    for (cell, model) in finished.models.iter().enumerate() {
        let mut mark = |kind: &str, label: &str, from: Option<f64>, to: Option<f64>, value: Option<f64>| {
            table.push(vec![cell.to_string(), kind.into(), label.into(), number(from), number(to), number(value)]);
        };
        if model.warmup > Time::ZERO {
            mark("warmup", "warmup", Some(0.0), Some(model.warmup.seconds()), None);
        }
        for fault in &model.faults {
            let until = (fault.until != Time::NEVER).then(|| fault.until.seconds());
            mark("fault", &fault.label, Some(fault.from.seconds()), until, None);
        }
        for spell in spells::shares(model, &finished.study.cells[cell].replications) {
            mark("fault", &spell.label, Some(spell.from.seconds()), Some(spell.until.seconds()), Some(spell.share));
        }
        for (shape, capacity) in model.services.iter().zip(model.capacities(&model.epochs[0])) {
            if capacity.is_finite() && !shape.optimistic {
                mark("capacity", &shape.name, None, None, Some(capacity));
            }
        }
    }
    table
}
