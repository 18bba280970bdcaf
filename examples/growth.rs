//! Draws docs/growth.csv, which `benches/growth` writes, with the charts of the results: `growth TABLE PICTURE`.

use std::error::Error;

use retrystorm::report::chart::{Theme, draw};
use retrystorm::report::data::{Cell, Measured, Results};
use retrystorm::study::chart::{Chart, ChartKind, Scale};

/// Columns of the table, and what the panels call them.
const PANELS: [(&str, &str); 3] = [
    ("nanoseconds_per_event", "nanoseconds a model event"),
    ("million_events_per_second", "million model events a second"),
    ("peak_megabytes", "most memory, MB"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let [_, table, picture] = std::env::args().collect::<Vec<String>>().try_into().map_err(|_| "usage: growth TABLE PICTURE")?;
    let mut reader = csv::Reader::from_path(&table)?;
    let header = reader.headers()?.clone();
    let column = |name: &str| header.iter().position(|known| known == name).ok_or_else(|| format!("{table} has no column {name}"));
    let (clients, runs) = (column("clients")?, column("runs")?);
    let columns = PANELS.iter().map(|(name, _)| column(name)).collect::<Result<Vec<usize>, _>>()?;
    let mut results =
        Results { axes: vec!["clients".into()], metrics: PANELS.iter().map(|(_, words)| (*words).into()).collect(), ..Results::default() };
    for (number, row) in reader.records().enumerate() {
        let row = row?;
        let measured = |column: &usize| row[*column].parse().map(|value| Measured { mean: Some(value), ..Measured::default() });
        let cell = Cell {
            number,
            values: vec![row[clients].into()],
            replications: row[runs].parse()?,
            measured: columns.iter().map(measured).collect::<Result<_, _>>()?,
        };
        results.cells.push(cell);
    }
    let chart = Chart { kind: ChartKind::Lines, y: results.metrics.clone(), scale: (Scale::Log, Scale::Log), ..Chart::default() };
    let drawn = draw(&[chart], "What the reference storm costs as its clients grow", &results, Theme::Light)?;
    std::fs::write(&picture, &drawn.first().ok_or("nothing was drawn")?.svg)?;
    Ok(())
}
