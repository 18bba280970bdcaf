//! Reading a results folder back: the CSV files as tables. This is all that a chart knows of a run.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// A results folder: `summary.csv`, and what there is of `timeline.csv`, `latency.csv` and `marks.csv`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The compared axes by their dotted path, in the order of the columns.
    pub axes: Vec<String>,
    /// The metrics, in the order of the columns.
    pub metrics: Vec<String>,
    /// The cells, in the order of the rows.
    pub cells: Vec<Cell>,
    /// Series over time, one entry a cell and series.
    pub timeline: Vec<Series>,
    /// Latency by percentile: (cell, percentile 0 to 100, seconds).
    pub latency: Vec<(usize, f64, f64)>,
    /// Faults, warm-ups and capacities.
    pub marks: Vec<Mark>,
    /// Published series over time, as in `timeline`.
    pub published: Vec<Series>,
    /// Exact or published values of metrics: (cell, metric, value with its own interval).
    pub known: Vec<(usize, String, Measured)>,
}

/// One row of `summary.csv`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Its number, from 0.
    pub number: usize,
    /// Its value on each axis, as the file writes it.
    pub values: Vec<String>,
    /// How many runs are behind its means.
    pub replications: u64,
    /// Its value of each metric.
    pub measured: Vec<Measured>,
}

/// A mean with its 95 % interval; None where it is not defined.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// The mean over the replications.
    pub mean: Option<f64>,
    /// The lower end of the interval.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
}

/// One series of one cell over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The number of the cell.
    pub cell: usize,
    /// What is counted: `attempts`, `goodput`, `api.queue`.
    pub name: String,
    /// (start of the bin in seconds, value), in the order of time.
    pub moments: Vec<(f64, Measured)>,
}

/// One row of `marks.csv`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mark {
    /// The number of the cell.
    pub cell: usize,
    /// `fault`, `warmup` or `capacity`.
    pub kind: String,
    /// What to write beside it.
    pub label: String,
    /// The first second.
    pub from: Option<f64>,
    /// The last second; None is for good.
    pub to: Option<f64>,
    /// The capacity, per second; of a fault with a condition the share of the runs in which it lasts then.
    pub value: Option<f64>,
}

impl Results {
    /// Reads the files of `folder`.
    ///
    /// # Errors
    /// Says which file, line and column cannot be read; only `summary.csv` must be there.
    pub fn read(folder: &Path) -> Result<Results, String> {
        Results::parse(|name| match fs::read_to_string(folder.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{}: {error}", folder.join(name).display())),
        })
        .map_err(|problem| format!("{}: {problem}", folder.display()))
    }

    /// Reads the files whose text `open` gives by their name; None is a file that is not there.
    ///
    /// # Errors
    /// As [`Results::read`].
    pub fn parse(open: impl Fn(&str) -> Result<Option<String>, String>) -> Result<Results, String> {
        let table = |name: &str| open(name)?.map(|text| Table::parse(name, &text)).transpose();
        let mut results = Results::default();
        results.take_summary(&table("summary.csv")?.ok_or("there is no summary.csv: `run` writes it")?)?;
        if let Some(table) = table("timeline.csv")? {
            results.timeline = series(&table)?;
        }
        if let Some(table) = table("reference.csv")? {
            results.published = series(&table)?;
        }
        if let Some(table) = table("claims.csv")? {
            results.take_claims(&table)?;
        }
        if let Some(table) = table("latency.csv")? {
            results.take_latency(&table)?;
        }
        if let Some(table) = table("marks.csv")? {
            results.take_marks(&table)?;
        }
        Ok(results)
    }

    /// The column of `metric`, if there is one.
    pub fn metric(&self, metric: &str) -> Option<usize> {
        self.metrics.iter().position(|name| name == metric)
    }

    /// The column of the axis `path`, if there is one.
    pub fn axis(&self, path: &str) -> Option<usize> {
        self.axes.iter().position(|name| name == path)
    }

    fn take_summary(&mut self, table: &Table) -> Result<(), String> {
        let (cell, replications) = (table.column("cell")?, table.column("replications")?);
        self.axes = (0..replications).filter(|column| *column != cell).map(|column| table.columns[column].clone()).collect();
        let metrics: Vec<usize> = (replications + 1..table.columns.len())
            .filter(|column| table.find(&format!("{}_low", table.columns[*column])).is_some())
            .collect();
        self.metrics = metrics.iter().map(|column| table.columns[*column].clone()).collect();
        for row in 0..table.rows.len() {
            let measured = metrics.iter().map(|column| table.measured(row, *column, &table.columns[*column])).collect::<Result<_, _>>()?;
            self.cells.push(Cell {
                number: table.whole(row, cell)?,
                values: (0..replications).filter(|column| *column != cell).map(|column| table.text(row, column).to_string()).collect(),
                replications: table.whole(row, replications)? as u64,
                measured,
            });
        }
        if self.cells.is_empty() { Err("summary.csv has no rows: there is nothing to draw".to_string()) } else { Ok(()) }
    }

    fn take_claims(&mut self, table: &Table) -> Result<(), String> {
        let (cell, metric, known) = (table.column("cell")?, table.column("metric")?, table.column("known")?);
        for row in 0..table.rows.len() {
            let value = table.measured(row, known, "known")?;
            if value.mean.is_some() {
                self.known.push((table.whole(row, cell)?, table.text(row, metric).to_string(), value));
            }
        }
        Ok(())
    }

    fn take_latency(&mut self, table: &Table) -> Result<(), String> {
        let (cell, percentile, value) = (table.column("cell")?, table.column("percentile")?, table.column("value")?);
        for row in 0..table.rows.len() {
            if let Some(seconds) = table.number(row, value)? {
                self.latency.push((table.whole(row, cell)?, table.needed(row, percentile)?, seconds));
            }
        }
        Ok(())
    }

    fn take_marks(&mut self, table: &Table) -> Result<(), String> {
        let (cell, kind, label) = (table.column("cell")?, table.column("kind")?, table.column("label")?);
        let (from, to, value) = (table.column("from")?, table.column("to")?, table.column("value")?);
        for row in 0..table.rows.len() {
            self.marks.push(Mark {
                cell: table.whole(row, cell)?,
                kind: table.text(row, kind).to_string(),
                label: table.text(row, label).to_string(),
                from: table.number(row, from)?,
                to: table.number(row, to)?,
                value: table.number(row, value)?,
            });
        }
        Ok(())
    }
}

/// Series over time, one entry a cell and series.
fn series(table: &Table) -> Result<Vec<Series>, String> {
    let mut found: Vec<Series> = Vec::new();
    let (cell, time, name_column) = (table.column("cell")?, table.column("time")?, table.column("series")?);
    let (mean, low, high) = (table.column("mean")?, table.column("low")?, table.column("high")?);
    let mut last = usize::MAX;
    for row in 0..table.rows.len() {
        let (number, name) = (table.whole(row, cell)?, table.text(row, name_column));
        let known = |entry: &Series| entry.cell == number && entry.name == name;
        if !found.get(last).is_some_and(known) {
            last = found.iter().position(known).unwrap_or(found.len());
        }
        if last == found.len() {
            found.push(Series { cell: number, name: name.to_string(), moments: Vec::new() });
        }
        let value = Measured { mean: table.number(row, mean)?, low: table.number(row, low)?, high: table.number(row, high)? };
        found[last].moments.push((table.needed(row, time)?, value));
    }
    for series in &mut found {
        series.moments.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    Ok(found)
}

/// One CSV file, as text.
struct Table {
    name: String,
    columns: Vec<String>,
    rows: Vec<csv::StringRecord>,
}

impl Table {
    fn parse(name: &str, text: &str) -> Result<Table, String> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let columns = reader.headers().map_err(|error| format!("{name}: {error}"))?.iter().map(str::to_string).collect();
        let rows = reader.records().collect::<Result<_, _>>().map_err(|error| format!("{name}: {error}"))?;
        Ok(Table { name: name.to_string(), columns, rows })
    }

    fn find(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|name| name == column)
    }

    fn column(&self, column: &str) -> Result<usize, String> {
        self.find(column).ok_or_else(|| format!("{} has no column `{column}`; it has {}", self.name, self.columns.join(", ")))
    }

    fn text(&self, row: usize, column: usize) -> &str {
        self.rows[row].get(column).unwrap_or("")
    }

    fn complain(&self, row: usize, column: usize, wanted: &str) -> String {
        let line = self.rows[row].position().map_or(row as u64 + 2, csv::Position::line);
        format!("{}, line {line}: `{}` in column `{}` is not {wanted}", self.name, self.text(row, column), self.columns[column])
    }

    /// The number there; an empty field, or what is no finite number, is not defined.
    fn number(&self, row: usize, column: usize) -> Result<Option<f64>, String> {
        let text = self.text(row, column).trim();
        if text.is_empty() {
            return Ok(None);
        }
        let number: f64 = text.parse().map_err(|_| self.complain(row, column, "a number"))?;
        Ok(number.is_finite().then_some(number))
    }

    fn needed(&self, row: usize, column: usize) -> Result<f64, String> {
        self.number(row, column)?.ok_or_else(|| self.complain(row, column, "a number"))
    }

    fn whole(&self, row: usize, column: usize) -> Result<usize, String> {
        self.text(row, column).trim().parse().map_err(|_| self.complain(row, column, "a whole number"))
    }

    /// The mean in `column`, with the interval in the columns that are named after it.
    fn measured(&self, row: usize, column: usize, name: &str) -> Result<Measured, String> {
        let end = |suffix: &str| self.find(&format!("{name}_{suffix}")).map_or(Ok(None), |column| self.number(row, column));
        Ok(Measured { mean: self.number(row, column)?, low: end("low")?, high: end("high")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(summary: &str, timeline: &str) -> Result<Results, String> {
        Results::parse(|name| {
            let text = match name {
                "summary.csv" => summary,
                "timeline.csv" => timeline,
                _ => "",
            };
            Ok((!text.is_empty()).then(|| text.to_string()))
        })
    }

    #[test]
    fn tells_axes_from_metrics_and_empty_from_zero() {
        let text = "cell,a.b,replications,calls,calls_low,calls_high,calls_sd,stuck,stuck_low,stuck_high,stuck_sd\n0,x,3,0,,,,,,,\n";
        let results = parse(text, "").unwrap();
        assert_eq!((results.axes, results.metrics), (vec!["a.b".to_string()], vec!["calls".to_string(), "stuck".to_string()]));
        assert_eq!(results.cells[0].measured[0].mean, Some(0.0));
        assert_eq!(results.cells[0].measured[1], Measured::default());
    }

    #[test]
    fn groups_a_timeline_whatever_the_order_of_its_rows() {
        let timeline = "cell,time,series,mean,low,high\n0,1,a,2,,\n0,0,b,5,4,6\n0,0,a,1,,\n";
        let results = parse("cell,replications\n0,1\n", timeline).unwrap();
        assert_eq!(results.timeline.len(), 2);
        assert_eq!(results.timeline[0].moments.iter().map(|moment| moment.0).collect::<Vec<_>>(), [0.0, 1.0]);
    }

    #[test]
    fn names_the_line_and_the_column_it_cannot_read() {
        let problem = parse("cell,replications\n0,1\n", "cell,time,series,mean,low,high\n0,0,a,many,,\n").unwrap_err();
        assert_eq!(problem, "timeline.csv, line 2: `many` in column `mean` is not a number");
        assert!(parse("", "").unwrap_err().contains("summary.csv"));
        assert!(parse("cell,replications\n", "").unwrap_err().contains("no rows"));
        assert!(parse("cell\n0\n", "").unwrap_err().contains("replications"));
    }
}
