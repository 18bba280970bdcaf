//! Columns of CSV files that a scenario names: lengths of time in seconds. Each is read once, however many cells need it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::diagnostics::did_you_mean;
use crate::measure::time::Duration;

/// What a column holds, or why it cannot be read and what to do about it.
type Column = Result<Arc<[Duration]>, (String, String)>;

/// The columns that were read.
#[derive(Clone, Debug, Default)]
pub struct Files(Arc<Mutex<BTreeMap<(PathBuf, String), Column>>>);

impl Files {
    /// The column of a file, as lengths of time.
    ///
    /// # Errors
    /// A message and help: no such file, no such column, no rows, or the row that is no number.
    pub fn column(&self, folder: Option<&Path>, file: &str, column: &str) -> Column {
        let Some(folder) = folder else {
            let help = "run the scenario from a file; names of files are relative to its folder";
            return Err((format!("`{file}` cannot be read: this scenario is in no folder"), help.into()));
        };
        let path = folder.join(file);
        let mut known = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.entry((path.clone(), column.to_owned())).or_insert_with(|| read(&path, file, column)).clone()
    }
}

fn read(path: &Path, file: &str, column: &str) -> Column {
    let unreadable = |error: csv::Error| (format!("`{file}` cannot be read: {error}"), format!("put the file at {}", path.display()));
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(path).map_err(unreadable)?;
    let headers = reader.headers().map_err(unreadable)?.clone();
    let Some(index) = headers.iter().position(|header| header == column) else {
        let help = did_you_mean(column, &headers.iter().collect::<Vec<_>>());
        return Err((format!("`{file}` has no column `{column}` in its first row"), help));
    };
    let mut values = Vec::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let line = record.position().map_or(0, csv::Position::line);
        values.push(seconds(record.get(index).unwrap_or("")).map_err(|message| {
            (format!("row {line} of `{file}`: {message}"), "write a number of seconds, zero or more, in every row".to_owned())
        })?);
    }
    if values.is_empty() {
        return Err((format!("`{file}` has no rows below its header"), "write a number of seconds a row".into()));
    }
    Ok(values.into())
}

/// A number of seconds; read as a decimal, which is exact, where it is one.
fn seconds(text: &str) -> Result<Duration, String> {
    if let Ok(duration) = Duration::parse(&format!("{text}s")) {
        return Ok(duration);
    }
    match text.parse::<f64>() {
        Ok(number) if (0.0..1.8e10).contains(&number) => Ok(Duration::from_seconds(number)),
        Ok(number) => Err(format!("{number} seconds is out of range")),
        Err(_) => Err(format!("`{text}` is not a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_and_faults_in_them_named() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("good.csv", "time,size\n0.1, 3\n1e-3,4\n");
        write("word.csv", "time\n1\nsoon\n");
        write("empty.csv", "time\n");
        let column = |file: &str, column: &str| Files::default().column(Some(folder.path()), file, column);
        assert_eq!(column("good.csv", "time").unwrap()[..], [Duration(100_000_000), Duration(1_000_000)]);
        for (file, name, message) in [
            ("good.csv", "tine", "no column `tine`"),
            ("word.csv", "time", "row 3 of `word.csv`: `soon`"),
            ("empty.csv", "time", "no rows"),
            ("none.csv", "time", "cannot be read"),
        ] {
            let (found, _) = column(file, name).unwrap_err();
            assert!(found.contains(message), "{found}");
        }
    }
}
