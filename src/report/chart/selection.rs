//! Which cells a chart shows, and the shortest names that tell them apart.

use super::number;
use super::unit::{self, Unit};
use crate::report::data::{Cell, Results};
use crate::report::inline;

/// The verdicts of runs that have no time of recovery though something had changed.
const OTHERS: [&str; 3] = ["stuck", "undecided", "collapsed"];

/// The metric that is not defined where a run never recovers.
const RECOVERY: &str = "recovery_time";

/// The cells of one chart.
pub struct Selection<'a> {
    /// Where they are from.
    pub results: &'a Results,
    /// The cells, in the order of the summary.
    pub cells: Vec<&'a Cell>,
    /// The axes on which they differ.
    pub varying: Vec<usize>,
    /// What they were selected by, in words; empty where they are all there are.
    pub condition: String,
}

/// Cells that differ only on some axes, and what is the same for them.
pub struct Group<'a> {
    /// Their common values, named.
    pub name: String,
    /// The cells.
    pub cells: Vec<&'a Cell>,
}

impl<'a> Selection<'a> {
    /// The cells whose axes have the values of `filter`.
    ///
    /// # Errors
    /// An axis that is not there, or values that no cell has: with those it could be.
    pub fn new(results: &'a Results, filter: &[(String, String)]) -> Result<Selection<'a>, String> {
        let mut cells: Vec<&Cell> = results.cells.iter().collect();
        let mut conditions = Vec::new();
        for (path, wanted) in filter {
            let axis = results.axis(path).ok_or_else(|| format!("`where` names `{path}`, {}", those(results)))?;
            let known = distinct(cells.iter().map(|cell| cell.values[axis].as_str()));
            cells.retain(|cell| is_same(&cell.values[axis], wanted));
            if cells.is_empty() {
                return Err(format!("no cell has `{path}` = `{wanted}`; there are {}", known.join(", ")));
            }
            conditions.push(format!("{path} = {}", value_text(path, wanted)));
        }
        let varying =
            (0..results.axes.len()).filter(|axis| cells.iter().any(|cell| cell.values[*axis] != cells[0].values[*axis])).collect();
        Ok(Selection { results, cells, varying, condition: conditions.join(", ") })
    }

    /// The axis `path`, or where it is left out the last one with numbers, and failing that the last one, on which cells differ.
    ///
    /// # Errors
    /// An axis that is not there.
    pub fn axis(&self, path: Option<&str>) -> Result<Option<usize>, String> {
        let Some(path) = path else {
            let numbers = self.varying.iter().rev().find(|axis| self.is_numeric(**axis));
            return Ok(numbers.or(self.varying.last()).copied());
        };
        self.results.axis(path).map(Some).ok_or_else(|| format!("`{path}` is no axis, {}", those(self.results)))
    }

    /// The column of `metric`.
    ///
    /// # Errors
    /// A metric that is not there.
    pub fn metric(&self, metric: &str) -> Result<usize, String> {
        let known = || self.results.metrics.join(", ");
        self.results.metric(metric).ok_or_else(|| format!("`{metric}` is no metric of summary.csv; it has {}", known()))
    }

    /// Whether all values of `axis` are numbers.
    pub fn is_numeric(&self, axis: usize) -> bool {
        self.cells.iter().all(|cell| cell.values[axis].parse::<f64>().is_ok_and(f64::is_finite))
    }

    /// The values of `axis` as written: numbers in their order, texts in that of the summary.
    pub fn values(&self, axis: usize) -> Vec<&'a str> {
        let mut values = distinct(self.cells.iter().map(|cell| cell.values[axis].as_str()));
        if self.is_numeric(axis) {
            let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
            values.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
        values
    }

    /// The groups of cells that are the same but for the axes `but`.
    pub fn groups(&self, but: &[usize]) -> Vec<Group<'a>> {
        let axes: Vec<usize> = self.varying.iter().copied().filter(|axis| !but.contains(axis)).collect();
        let mut groups: Vec<Group> = Vec::new();
        for cell in &self.cells {
            let same = |group: &&mut Group| axes.iter().all(|axis| group.cells[0].values[*axis] == cell.values[*axis]);
            match groups.iter_mut().find(same) {
                Some(group) => group.cells.push(cell),
                None => groups.push(Group { name: self.name(cell, but), cells: vec![cell] }),
            }
        }
        groups
    }

    /// What tells `cell` from the others, the axes `but` left out; empty where there is nothing.
    pub fn name(&self, cell: &Cell, but: &[usize]) -> String {
        let axes = self.varying.iter().filter(|axis| !but.contains(axis));
        axes.map(|axis| self.value_name(*axis, &cell.values[*axis])).collect::<Vec<_>>().join(", ")
    }

    /// How many replications are behind each mean, in words.
    pub fn replications(&self) -> String {
        let lowest = self.cells.iter().map(|cell| cell.replications).min().unwrap_or(0);
        let highest = self.cells.iter().map(|cell| cell.replications).max().unwrap_or(0);
        match (lowest, highest) {
            (_, 0 | 1) => "one replication".to_string(),
            _ if lowest == highest => format!("mean of {highest} replications"),
            _ => format!("mean of {lowest} to {highest} replications"),
        }
    }

    /// Whether there are intervals: one replication has none.
    pub fn has_intervals(&self) -> bool {
        self.cells.iter().any(|cell| cell.replications > 1)
    }

    /// The value of `metric` in `cell`, with a star where it is only that of the replications that recovered. Where it is not
    /// defined: what never happens has no time, though it could have happened; nor has what a run ended too early to show.
    pub fn value(&self, metric: &str, cell: &Cell, unit: Option<Unit>) -> String {
        let mean = self.results.metric(metric).and_then(|column| cell.measured[column].mean);
        let has_no_stuck = self.results.metric("stuck").is_none();
        match mean {
            Some(mean) if metric == RECOVERY && !self.others(cell).is_empty() => format!("{}*", number::value(mean, unit)),
            Some(mean) => number::value(mean, unit),
            None if metric == RECOVERY && self.others(cell) == ["undecided"] => "undecided".to_string(),
            None if metric == RECOVERY && (has_no_stuck || !self.others(cell).is_empty()) => "never".to_string(),
            None => "–".to_string(),
        }
    }

    /// What became of the replications of a cell that did not recover, where there are some.
    fn others(&self, cell: &Cell) -> Vec<&'static str> {
        let share = |verdict: &&str| self.results.metric(verdict).map(|column| cell.measured[column].mean);
        OTHERS.into_iter().filter(|verdict| is_above_zero(share(verdict))).collect()
    }

    /// What a star means, where one of `metrics` has one: what became of the others.
    pub fn caveat(&self, metrics: &[String]) -> Option<String> {
        let starred = |cell: &&Cell| self.value(RECOVERY, cell, None).ends_with('*');
        let metric = metrics.iter().find(|metric| *metric == RECOVERY)?;
        let found: Vec<&str> = self.cells.iter().filter(|cell| starred(cell)).flat_map(|cell| self.others(cell)).collect();
        let mut others = OTHERS.into_iter().filter(|verdict| found.contains(verdict));
        let first = others.next()?;
        let rest = others.fold(String::new(), |text, verdict| format!("{text} or {verdict}"));
        Some(format!("* {metric} of the replications that recovered; others are {first}{rest}."))
    }

    /// One value of `axis`: alone where it is a word that says what it is, and is on no other axis, else with the name of the axis.
    fn value_name(&self, axis: usize, value: &str) -> String {
        let elsewhere = self.varying.iter().any(|other| *other != axis && self.cells.iter().any(|cell| cell.values[*other] == value));
        let path = &self.results.axes[axis];
        let text = clip(&self.telling(axis, value).unwrap_or_else(|| value_text(path, value)));
        if self.is_numeric(axis) || elsewhere || ["true", "false"].contains(&value) {
            format!("{}\u{a0}{text}", self.short_path(axis))
        } else {
            text
        }
    }

    /// Of a table with several keys, those that not all tables of the axis have alike: the others would crowd out what tells them apart.
    fn telling(&self, axis: usize, value: &str) -> Option<String> {
        let all: Vec<Vec<&str>> = self.cells.iter().filter_map(|cell| inline::entries(&cell.values[axis])).collect();
        let entries = inline::entries(value).filter(|entries| entries.len() > 1)?;
        let differing = entries.into_iter().filter(|entry| !all.iter().all(|other| other.contains(entry)));
        let words: Vec<String> = differing.map(|entry| entry.replacen(" = ", "\u{a0}", 1).replace('"', "")).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// The last word of the path; where another axis has it too, all but the first word; where that does not name the owner, all of it.
    fn short_path(&self, axis: usize) -> String {
        let last = |axis: usize| self.results.axes[axis].rsplit('.').next().unwrap_or("").to_string();
        let owned = |axis: usize| self.results.axes[axis].split_once('.').map_or("", |(_, owned)| owned).to_string();
        let alone = |name: &dyn Fn(usize) -> String| self.varying.iter().all(|other| *other == axis || name(*other) != name(axis));
        if alone(&last) {
            last(axis)
        } else if alone(&owned) && owned(axis).starts_with(char::is_alphabetic) {
            owned(axis)
        } else {
            self.results.axes[axis].clone()
        }
    }
}

/// A value of the axis `path` as a reader wants it: `0.25` of a timeout is `250 ms`.
pub fn value_text(path: &str, value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() => number::value(number, unit::unit_of_axis(path)),
        _ => value.to_string(),
    }
}

/// The title of an axis: the dotted path, and the unit where it has one.
pub fn axis_title(path: &str, is_numeric: bool) -> String {
    if is_numeric { unit::titled(path, unit::unit_of_axis(path)) } else { path.to_string() }
}

/// `text`, without its middle where it would crowd out the other values of a name.
fn clip(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= 28 {
        return text.to_string();
    }
    letters[..17].iter().chain(&['…']).chain(&letters[letters.len() - 10..]).collect()
}

fn is_above_zero(stuck: Option<Option<f64>>) -> bool {
    stuck.flatten().is_some_and(|share| share > 0.0)
}

fn is_same(value: &str, wanted: &str) -> bool {
    match (value.parse::<f64>(), wanted.parse::<f64>()) {
        (Ok(value), Ok(wanted)) => (value - wanted).abs() <= 1e-9 * wanted.abs(),
        _ => value == wanted,
    }
}

fn those(results: &Results) -> String {
    if results.axes.is_empty() { "but nothing is compared".to_string() } else { format!("the axes are {}", results.axes.join(", ")) }
}

fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(axes: &[&str], rows: &[&[&str]]) -> Results {
        let cell = |(number, values): (usize, &&[&str])| Cell {
            number,
            values: values.iter().map(|value| (*value).to_string()).collect(),
            replications: 1,
            measured: Vec::new(),
        };
        Results {
            axes: axes.iter().map(|axis| (*axis).to_string()).collect(),
            cells: rows.iter().enumerate().map(cell).collect(),
            ..Results::default()
        }
    }

    #[test]
    fn names_are_as_short_as_they_can_be() {
        let name = |results: &Results| Selection::new(results, &[]).unwrap().name(&results.cells[0], &[]).replace('\u{a0}', " ");
        let orders = results(&["service.disk.queue.order", "service.disk.abandoned"], &[&["fifo", "serve"], &["lifo", "skip"]]);
        assert_eq!(name(&orders), "fifo, serve");
        let both = results(&["clients.users.policy", "service.gateway.calls.0.policy"], &[&["one", "three"], &["three", "one"]]);
        assert_eq!(name(&both), "users.policy one, gateway.calls.0.policy three");
        let faults = results(&["fault.0.for", "fault.1.for"], &[&["1", "2"], &["2", "1"]]);
        assert_eq!(name(&faults), "fault.0.for 1 s, fault.1.for 2 s");
        let lengths = results(&["clients.app.policy", "fault.0.for"], &[&["four", "0.65"], &["four", "2"]]);
        assert_eq!(name(&lengths), "for 650 ms");
        let flags = results(&["clients.orders.via.sqs.report_failures"], &[&["false"], &["true"]]);
        assert_eq!(name(&flags), "report_failures false");
        assert_eq!(name(&results(&[], &[&[]])), "");
        let busy = "{ signal = \"busy\", target = \"70%\", every = \"15s\", most = 100 }";
        let queue = "{ signal = \"queue\", target = 1, every = \"15s\", most = 100 }";
        assert_eq!(name(&results(&["service.api.autoscaler"], &[&[busy], &[queue], &["none"]])), "signal busy, target 70%");
        assert_eq!(
            name(&results(&["service.api.ejection"], &[&["{ most = 1, time = \"9s\" }"], &["none"]])),
            "{ most = 1, time = \"9s\" }"
        );
    }

    #[test]
    fn a_filter_compares_numbers_as_numbers_and_names_what_there_is() {
        let counts = results(&["clients.web.count"], &[&["10"], &["100"]]);
        let filter = |value: &str| [("clients.web.count".to_string(), value.to_string())];
        assert_eq!(Selection::new(&counts, &filter("100.0")).unwrap().cells.len(), 1);
        assert!(Selection::new(&counts, &filter("7")).err().unwrap().contains("there are 10, 100"));
        assert!(Selection::new(&counts, &[("count".to_string(), "1".to_string())]).err().unwrap().contains("clients.web.count"));
    }
}
