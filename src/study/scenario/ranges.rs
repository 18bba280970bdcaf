//! Ranges of values for an axis: `{ from = 10, to = 190, step = 10 }`, over numbers, lengths of time and rates.

use super::node::{Node, Value};
use super::reader::{Context, Fields};
use super::run::quantity;
use super::scalars::{one_of, whole};
use crate::measure::time::Duration;

/// Values of one range, at most.
const MOST: i64 = 100_000;

/// Keys that take whole numbers only: a value between two of them is rounded.
const WHOLE_KEYS: [&str; 12] = [
    "count",
    "workers",
    "attempts",
    "retries",
    "limit",
    "failures",
    "probes",
    "first_exponent",
    "max_replications",
    "wait",
    "keys",
    "replicas",
];

/// What the ends of a range are, and so its values.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Whole,
    Number,
    Time,
    Rate,
}

/// The values of a range, both ends included where the step meets them.
pub fn range(context: &mut Context, node: &mut Node, path: &str) -> Option<Vec<Node>> {
    let place = node.place;
    let mut fields = Fields::open(context, node, "a range")?;
    let from = fields.required(context, "from", "10", measured);
    let to = fields.required(context, "to", "190", measured);
    let step = fields.optional(context, "step", measured);
    let count = fields.optional(context, "count", whole(2, MOST));
    let scale = fields.or(context, "scale", "linear", one_of(&[("linear", false), ("log", true)]));
    fields.finish(context);
    let ((first, unit), (last, last_unit), step, count, logarithmic) = (from?, to?, step?, count?, scale?);
    let unit = match (unit, last_unit) {
        (Unit::Whole, Unit::Number) | (Unit::Number, Unit::Whole) => Unit::Number,
        (same, other) if same == other => same,
        _ => return context.refuse(place, "the ends of the range have different units", "write both ends in the same unit"),
    };
    if first >= last || logarithmic && first <= 0.0 {
        return context.refuse(place, "a range goes upwards, and on a logarithmic scale begins above zero", "write a greater `to`");
    }
    let values = match (step, count) {
        (Some((step, step_unit)), None) if !logarithmic && same_kind(step_unit, unit) => {
            let unit = if step_unit == Unit::Number { Unit::Number } else { unit };
            return stepped(context, place, (first, last, step), unit);
        }
        (None, Some(count)) => (0..count).map(move |i| between(first, last, i as f64 / (count - 1) as f64, logarithmic)),
        _ => {
            let help = "write `step` (in the unit of the ends, on a linear scale), or `count`; not both";
            return context.refuse(place, "a range needs either a step or a count", help);
        }
    };
    let whole_only = is_whole(path);
    let mut nodes: Vec<Node> = values.map(|value| node_of(if whole_only { value.round() } else { value }, unit, place)).collect();
    nodes.dedup();
    Some(nodes)
}

/// The values of a ramp, both ends included, one a step; it may go upwards or downwards.
pub fn ramp(context: &mut Context, node: &mut Node, path: &str, steps: u64) -> Option<Vec<Node>> {
    let place = node.place;
    let mut fields = Fields::open(context, node, "a ramp")?;
    let from = fields.required(context, "from", "1.0", |context, node| end_of_ramp(context, node, path));
    let to = fields.required(context, "to", "0.2", |context, node| end_of_ramp(context, node, path));
    fields.finish(context);
    let ((first, unit), (last, last_unit)) = (from?, to?);
    let unit = match (unit, last_unit) {
        (Unit::Whole, Unit::Number) | (Unit::Number, Unit::Whole) => Unit::Number,
        (same, other) if same == other => same,
        _ => return context.refuse(place, "the ends of the ramp have different units", "write both ends in the same unit"),
    };
    let whole_only = is_whole(path);
    let value = |step: u64| between(first, last, step as f64 / steps.max(2).saturating_sub(1) as f64, false);
    Some((0..steps).map(value).map(|value| node_of(if whole_only { value.round() } else { value }, unit, place)).collect())
}

/// An end of a ramp: between two words, or a word and a number, there is nothing.
fn end_of_ramp(context: &mut Context, node: &mut Node, path: &str) -> Option<(f64, Unit)> {
    let measure = |text: &str| text.trim_start_matches(['-', '+', '.']).starts_with(|first: char| first.is_ascii_digit());
    let written = match &node.value {
        Value::Text(text) if measure(text) => return measured(context, node),
        Value::Whole(_) | Value::Number(_) => return measured(context, node),
        Value::Text(text) => format!("the word `{text}`"),
        other => other.kind().to_string(),
    };
    let message = format!("a ramp of `{path}` goes from number to number, and its `from` and `to` cannot be {written}");
    let help =
        "to change it at once, write the value in place of the ramp; to change it again later, add a second [[fault]] with its own `at`";
    context.refuse(node.place, message, help)
}

/// Whether the last key of a path takes whole numbers only.
fn is_whole(path: &str) -> bool {
    WHOLE_KEYS.iter().any(|key| path.rsplit('.').next() == Some(key))
}

fn same_kind(step: Unit, unit: Unit) -> bool {
    step == unit || matches!((step, unit), (Unit::Whole | Unit::Number, Unit::Whole | Unit::Number))
}

fn stepped(context: &mut Context, place: super::diagnostics::Place, (first, last, step): (f64, f64, f64), unit: Unit) -> Option<Vec<Node>> {
    // The allowance is for ends such as 0.3 with a step of 0.1, which no sum of binary fractions meets.
    let steps = if step > 0.0 { ((last - first) / step + 1e-9).floor() } else { f64::INFINITY };
    if steps >= MOST as f64 {
        return context.refuse(place, format!("the range has more than {MOST} values"), "write a greater step");
    }
    Some((0..=steps as i64).map(|i| node_of(rounded(first + i as f64 * step, 12), unit, place)).collect())
}

/// The value at a part of the way. Between the ends it is rounded to four digits, so that it can be read.
fn between(first: f64, last: f64, part: f64, logarithmic: bool) -> f64 {
    if part <= 0.0 {
        first
    } else if part >= 1.0 {
        last
    } else if logarithmic {
        rounded(first * libm::pow(last / first, part), 4)
    } else {
        rounded(first + (last - first) * part, 12)
    }
}

/// Rounded to so many decimal digits.
fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

fn measured(context: &mut Context, node: &mut Node) -> Option<(f64, Unit)> {
    let unit = match &node.value {
        Value::Whole(_) => Unit::Whole,
        Value::Text(text) if text.contains('/') => Unit::Rate,
        Value::Text(text) if !text.contains('%') => Unit::Time,
        _ => Unit::Number,
    };
    quantity(context, node).map(|value| (value, unit))
}

fn node_of(value: f64, unit: Unit, place: super::diagnostics::Place) -> Node {
    let value = match unit {
        Unit::Whole if value.fract() == 0.0 => Value::Whole(value as i64),
        Unit::Whole | Unit::Number => Value::Number(value),
        Unit::Time => Value::Text(Duration::from_seconds(value).to_string()),
        Unit::Rate => Value::Text(format!("{value}/s")),
    };
    Node { value, place }
}
