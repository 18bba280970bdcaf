//! What the tests share: a scenario from a text, run as `run` runs it.

use retrystorm::measure::statistics::Estimate;
use retrystorm::study::experiment::{Plan, Study, Watch, run};
use retrystorm::study::fold::{CellResult, Value};
use retrystorm::study::scenario::Scenario;

/// A text as a scenario, with values set as by `--set`.
pub fn scenario(text: &str, set: &[&str]) -> Scenario {
    let set: Vec<String> = set.iter().map(|entry| (*entry).to_string()).collect();
    Scenario::parse("test", text, None, &set).unwrap_or_else(|error| panic!("{error}"))
}

/// One of the scenarios that come with the program.
pub fn curated(name: &str, set: &[&str]) -> Scenario {
    let set: Vec<String> = set.iter().map(|entry| (*entry).to_string()).collect();
    let text = retrystorm::study::curated::curated(name).expect("a curated scenario");
    Scenario::parse(name, text, None, &set).unwrap_or_else(|error| panic!("{error}"))
}

/// All its cells and replications, or as many as it says.
pub fn study(scenario: &Scenario) -> Study {
    let plan = Plan {
        models: scenario.cells.iter().map(|cell| scenario.model(cell).expect("checked when it was read")).collect(),
        series: vec![vec!["attempts".into(), "goodput".into()]; scenario.cells.len()],
        seed: scenario.run.seed,
        replications: 0..scenario.run.replications,
        precision: scenario.run.precision.clone(),
    };
    run(&plan, &Watch::default())
}

/// The value of a metric in a cell.
pub fn value(study: &Study, cell: usize, metric: &str) -> Value {
    let index = index(study, metric);
    study.cells[cell].value(index, &study.metrics[index]).unwrap_or_else(|| panic!("{metric} is undefined"))
}

/// The values of a metric in the replications of a cell.
pub fn values(study: &Study, cell: usize, metric: &str) -> Vec<f64> {
    let index = index(study, metric);
    study.cells[cell].replications.iter().filter_map(|replication| replication.values[index]).collect()
}

/// The paired difference of a metric between two cells.
pub fn difference(study: &Study, metric: &str, own: &CellResult, other: &CellResult) -> Estimate {
    own.difference(index(study, metric), other).expect("both are defined")
}

fn index(study: &Study, metric: &str) -> usize {
    study.metrics.iter().position(|known| known.name == metric).unwrap_or_else(|| panic!("there is no metric {metric}"))
}

/// The rows of a CSV file as (header, fields).
pub fn rows(text: &str) -> Vec<Vec<(String, String)>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().expect("a header").iter().map(String::from).collect();
    let row = |record: csv::StringRecord| header.iter().cloned().zip(record.iter().map(String::from)).collect();
    reader.records().map(|record| row(record.expect("a record"))).collect()
}

/// One field of a row.
pub fn field<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    &row.iter().find(|(column, _)| column == name).unwrap_or_else(|| panic!("no column {name}")).1
}

/// One field of a row, as a number.
pub fn number(row: &[(String, String)], name: &str) -> f64 {
    field(row, name).parse().unwrap_or_else(|_| panic!("{name} is no number: {}", field(row, name)))
}
