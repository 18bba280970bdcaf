//! Published series that a chart shows beside the simulated ones: a CSV file of the scenario's folder, matched to the cells by the values
//! of their axes.

use std::path::Path;

use super::compare::{Axis, Cell};
use super::curated::PUBLISHED;
use super::scenario::diagnostics::did_you_mean;

/// A published series of one cell over time: (start of the bin in seconds, mean, ends of its interval).
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedSeries {
    /// The values of the axes it is for: (path, value as CSV writes it).
    pub values: Vec<(String, String)>,
    /// The series, by its name here.
    pub series: String,
    /// The start of the bin, in seconds.
    pub time: f64,
    /// The mean, and the ends of its 95 % interval where they are known.
    pub value: (f64, Option<f64>, Option<f64>),
}

/// Reads the file that a chart names, relative to the scenario's folder; a scenario that comes with the program has its files in it.
///
/// # Errors
/// A message and help.
pub fn read(scenario: &str, folder: Option<&Path>, file: &str, axes: &[Axis]) -> Result<Vec<PublishedSeries>, (String, String)> {
    let text = match folder {
        Some(folder) => std::fs::read_to_string(folder.join(file))
            .map_err(|error| (format!("`{file}` cannot be read: {error}"), format!("put the file at {}", folder.join(file).display())))?,
        None => embedded(scenario, file).ok_or_else(|| {
            let help = "run the scenario from a file; names of files are relative to its folder";
            (format!("`{file}` cannot be read: this scenario is in no folder"), help.to_owned())
        })?,
    };
    parse(file, &text, axes)
}

fn embedded(scenario: &str, file: &str) -> Option<String> {
    let (folder, _) = scenario.rsplit_once('/')?;
    let name = format!("{folder}/{}", file.strip_suffix(".csv")?);
    PUBLISHED.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
}

/// The columns beside those of the axes.
const COLUMNS: [&str; 5] = ["time", "series", "mean", "low", "high"];

fn parse(file: &str, text: &str, axes: &[Axis]) -> Result<Vec<PublishedSeries>, (String, String)> {
    let unreadable = |error: csv::Error| (format!("`{file}` cannot be read: {error}"), "write a CSV file with a header row".to_owned());
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().map_err(unreadable)?.iter().map(str::to_owned).collect();
    let place = |column: &str| header.iter().position(|known| known == column);
    for column in &COLUMNS[..3] {
        if place(column).is_none() {
            return Err((
                format!("`{file}` has no column `{column}`"),
                "its columns are the axes, `time`, `series`, `mean`, `low`, `high`".into(),
            ));
        }
    }
    for column in header.iter().filter(|column| !COLUMNS.contains(&column.as_str())) {
        if axes.iter().all(|axis| axis.path != *column) {
            let known: Vec<&str> = axes.iter().map(|axis| axis.path.as_str()).chain(COLUMNS).collect();
            return Err((format!("`{file}` has a column `{column}`, which is no axis"), did_you_mean(column, &known)));
        }
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let line = record.position().map_or(0, csv::Position::line);
        let text = |column: &str| place(column).and_then(|place| record.get(place)).unwrap_or("");
        let number = |column: &str| match text(column) {
            "" => Ok(None),
            text => text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Some).ok_or_else(|| {
                (
                    format!("row {line} of `{file}`: `{text}` in column `{column}` is not a number"),
                    "write a number, or leave it empty".to_owned(),
                )
            }),
        };
        let needed = |column: &str| {
            number(column)?.ok_or_else(|| (format!("row {line} of `{file}` has no `{column}`"), "write a number".to_owned()))
        };
        let values = axes.iter().filter(|axis| place(&axis.path).is_some());
        rows.push(PublishedSeries {
            values: values.map(|axis| (axis.path.clone(), text(&axis.path).to_owned())).collect(),
            series: text("series").to_owned(),
            time: needed("time")?,
            value: (needed("mean")?, number("low")?, number("high")?),
        });
    }
    Ok(rows)
}

impl PublishedSeries {
    /// Whether it is for this cell.
    pub fn is_for(&self, axes: &[Axis], cell: &Cell) -> bool {
        super::compare::matches(axes, cell, &self.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_and_faults_in_them_named() {
        let rows = parse("a.csv", "time,series,mean,low,high\n0,goodput,1.5,,\n1,goodput,2,1,3\n", &[]).unwrap();
        assert_eq!((rows.len(), rows[0].value, rows[1].value), (2, (1.5, None, None), (2.0, Some(1.0), Some(3.0))));
        for (text, message) in [
            ("time,series\n", "no column `mean`"),
            ("time,series,mean,b.c\n", "`b.c`, which is no axis"),
            ("time,series,mean\n0,goodput,many\n", "row 2 of `a.csv`: `many`"),
            ("time,series,mean\n,goodput,1\n", "no `time`"),
        ] {
            let (found, _) = parse("a.csv", text, &[]).unwrap_err();
            assert!(found.contains(message), "{found}");
        }
    }

    #[test]
    fn a_scenario_of_a_paper_has_its_figures_with_it() {
        assert!(embedded("paper/brooker_collapse/collapse", "collapse.csv").unwrap().starts_with("clients.web.policy,time"));
        assert_eq!(embedded("herd", "collapse.csv"), None);
    }
}
