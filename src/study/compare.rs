//! What is compared: axes, each a path into the scenario with its values, and the cells that are their product.

use super::scenario::diagnostics::{Place, did_you_mean};
use super::scenario::node::{Entry, Node, Value};
use super::scenario::path;
use super::scenario::ranges::range;
use super::scenario::reader::Context;
use super::scenario::scalars::text;
use super::scenario::writer::inline;
use crate::measure::rate::Rate;
use crate::measure::share;
use crate::measure::time::Duration;

/// Cells of a comparison, at most.
pub const MOST_CELLS: usize = 100_000;

/// One thing that differs between the cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Where it is in the scenario: `clients.web.policy`. Also the name of its CSV column.
    pub path: String,
    /// What it takes, in order.
    pub values: Vec<AxisValue>,
}

/// A value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisValue {
    /// As it is written, for people: `650ms`, `full_jitter`; a table on one line.
    pub label: String,
    /// For CSV: lengths of time in seconds, rates per second, shares as numbers, the rest as it is written.
    pub csv: String,
    /// The value itself.
    pub node: Node,
}

/// One combination of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its number, from 0; the first axis changes slowest.
    pub index: usize,
    /// For each axis the number of its value.
    pub values: Vec<usize>,
}

impl AxisValue {
    /// The value of a node, at an axis with this path.
    pub fn new(path: &str, node: Node) -> AxisValue {
        let is_name = path.ends_with("policy") || path.ends_with("service") || path.ends_with("calls");
        let (label, csv) = match &node.value {
            Value::Text(text) if is_name => (text.clone(), text.clone()),
            Value::Text(text) => (text.clone(), in_base_units(text)),
            Value::Number(number) => (inline(&node), number.to_string()),
            _ => (inline(&node), inline(&node)),
        };
        AxisValue { label, csv, node }
    }
}

fn in_base_units(text: &str) -> String {
    let seconds = Duration::parse(text).map(Duration::seconds);
    let number = seconds.or_else(|_| Rate::parse(text).map(|rate| rate.0)).or_else(|message| match text.contains('%') {
        true => share::parse(text),
        false => Err(message),
    });
    number.map_or_else(|_| text.to_owned(), |number| number.to_string())
}

/// The axes of `[compare]`, with the place of each. Paths may be quoted keys or tables in tables.
pub fn axes(context: &mut Context, node: &Node) -> Vec<(Axis, Place)> {
    let mut found = Vec::new();
    match &node.value {
        Value::Table(entries) => collect(context, entries, &[], &mut found),
        other => {
            let message = format!("[compare] must be a table, not {}", other.kind());
            context.problem(node.place, message, "write a list a path: \"clients.web.policy\" = [\"none\", \"standard\"]");
        }
    }
    let cells = found.iter().fold(1usize, |product, (axis, _)| product.saturating_mul(axis.values.len()));
    if cells > MOST_CELLS {
        let message = format!("the axes make {cells} cells, which is more than {MOST_CELLS}");
        context.problem(found[0].1, message, "write fewer values, or fewer axes");
    }
    found
}

fn collect(context: &mut Context, entries: &[Entry], above: &[String], found: &mut Vec<(Axis, Place)>) {
    for entry in entries {
        let segments = match path::segments(&entry.key) {
            Ok(segments) => [above, &segments].concat(),
            Err((message, help)) => {
                context.problem(entry.place, message, help);
                continue;
            }
        };
        let path = path::canonical(&segments);
        let nodes = match &entry.node.value {
            Value::List(nodes) => Some(nodes.clone()),
            Value::Table(inner) if entry.node.get("from").is_none() && entry.node.get("to").is_none() => {
                collect(context, inner, &segments, found);
                continue;
            }
            Value::Table(_) => range(context, &mut entry.node.clone(), &path),
            other => {
                let message = format!("an axis is a list of values, not {}", other.kind());
                context.refuse(entry.node.place, message, format!("write [{}]", inline(&entry.node)))
            }
        };
        let Some(nodes) = nodes else { continue };
        if let Some(axis) = axis(context, entry, path, nodes) {
            if found.iter().any(|(other, _)| other.path == axis.path) {
                context.problem(entry.place, format!("the axis `{}` is there twice", axis.path), "write all its values in one list");
                continue;
            }
            found.push((axis, entry.place));
        }
    }
}

fn axis(context: &mut Context, entry: &Entry, path: String, nodes: Vec<Node>) -> Option<Axis> {
    if nodes.is_empty() {
        return context.refuse(
            entry.node.place,
            format!("the axis `{path}` has no values"),
            "write at least one value, or leave out the axis",
        );
    }
    if nodes.len() > MOST_CELLS {
        return context.refuse(entry.node.place, format!("the axis `{path}` has more than {MOST_CELLS} values"), "write fewer values");
    }
    let values: Vec<AxisValue> = nodes.into_iter().map(|node| AxisValue::new(&path, node)).collect();
    let mut seen = std::collections::BTreeSet::new();
    for value in &values {
        if !seen.insert(&value.csv) {
            let message = format!("the value `{}` is there twice", value.label);
            return context.refuse(value.node.place, message, "write each value once");
        }
    }
    Some(Axis { path, values })
}

/// The product of the axes, the first outermost. Without axes there is one cell.
pub fn cells(axes: &[Axis]) -> Vec<Cell> {
    let count: usize = axes.iter().map(|axis| axis.values.len()).product();
    let cell = |index: usize| {
        let mut rest = index;
        let mut values: Vec<usize> = axes
            .iter()
            .rev()
            .map(|axis| {
                let value = rest % axis.values.len();
                rest /= axis.values.len();
                value
            })
            .collect();
        values.reverse();
        Cell { index, values }
    };
    (0..count).map(cell).collect()
}

/// The path of an axis that exists.
pub fn known_axis(context: &mut Context, node: &mut Node, axes: &[Axis]) -> Option<String> {
    let written = text(context, node)?;
    find_axis(context, &written, node.place, axes).map(|axis| axis.path.clone())
}

fn find_axis<'a>(context: &mut Context, written: &str, place: Place, axes: &'a [Axis]) -> Option<&'a Axis> {
    let path = path::segments(written).map_or_else(|_| written.to_owned(), |segments| path::canonical(&segments));
    let found = axes.iter().find(|axis| axis.path == path);
    if found.is_none() {
        let paths: Vec<&str> = axes.iter().map(|axis| axis.path.as_str()).collect();
        let help = if paths.is_empty() {
            "there is no [compare]: leave this out, or add the axis there".into()
        } else {
            did_you_mean(&path, &paths)
        };
        context.problem(place, format!("`{written}` is not an axis of [compare]"), help);
    }
    found
}

/// A choice of cells: axes and the value of each, (path, csv).
pub type Filter = Vec<(String, String)>;

/// A `where` table: every axis and value in it must exist.
pub fn filter(context: &mut Context, node: &mut Node, axes: &[Axis]) -> Option<Filter> {
    let Value::Table(entries) = &node.value else {
        let message = format!("a choice of cells is a table, not {}", node.value.kind());
        return context.refuse(node.place, message, "write { \"clients.web.policy\" = \"standard\" }");
    };
    let mut filter = Vec::new();
    for entry in entries {
        let axis = find_axis(context, &entry.key, entry.place, axes)?;
        let value = AxisValue::new(&axis.path, entry.node.clone());
        let Some(known) = axis.values.iter().find(|known| known.csv == value.csv) else {
            let labels: Vec<&str> = axis.values.iter().map(|value| value.label.as_str()).collect();
            let message = format!("`{}` is not a value of the axis `{}`", value.label, axis.path);
            return context.refuse(entry.node.place, message, did_you_mean(&value.label, &labels));
        };
        filter.push((axis.path.clone(), known.csv.clone()));
    }
    Some(filter)
}

/// Whether a cell has the values of a filter. A value that no axis has belongs to no cell.
pub fn matches(axes: &[Axis], cell: &Cell, filter: &[(String, String)]) -> bool {
    filter
        .iter()
        .all(|(path, csv)| axes.iter().zip(&cell.values).any(|(axis, value)| axis.path == *path && axis.values[*value].csv == *csv))
}
