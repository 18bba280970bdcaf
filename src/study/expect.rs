//! Claims about the results that can fail.

use super::compare::{Axis, Cell, Filter, filter, matches};
use super::fold::Value as Measured;
use super::known::{Known, about, covers, form, is_form, published};
use super::scenario::charts::known;
use super::scenario::node::{Node, Value};
use super::scenario::reader::{Context, Fields};
use super::scenario::run::quantity;
use super::scenario::scalars::{list, number, text};
use super::scenario::writer::inline;

/// A claim about a metric in some cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Which cells: axes and their values, (path, csv). Empty means all.
    pub filter: Filter,
    /// What is measured.
    pub metric: String,
    /// What is claimed.
    pub bound: Bound,
    /// The bound as it is written, such as `below 20s`.
    pub text: String,
    /// Who says so, such as `Brooker 2022`; None where it is the scenario itself.
    pub source: Option<String>,
    /// Whether `--set` has changed the model, and the bound is a closed form all of whose numbers are its own: they have stayed.
    pub is_fixed: bool,
}

/// What a metric is claimed to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// Less than the target.
    Below(Target),
    /// More than the target.
    Above(Target),
    /// From the first to the second, both included.
    Between(f64, f64),
    /// Exactly this.
    Equals(f64),
    /// So much but for this part of it: a law that holds in a limit only.
    About(f64, f64),
    /// A value known from theory or from print, which the interval of the simulation covers.
    Known(Known),
}

/// What a metric is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A number; lengths of time are in seconds, rates per second.
    Number(f64),
    /// So many times the same metric in the cell that has these values and otherwise the same.
    Times {
        /// The factor.
        times: f64,
        /// What is different in the other cell: (path, csv).
        of: Filter,
    },
}

/// What became of a claim in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The cell's index.
    pub cell: usize,
    /// What was claimed, with the numbers of this cell.
    pub expected: String,
    /// What was measured; None where there is no such measurement.
    pub found: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// How many standard errors it is from the known value; None for other claims.
    pub score: Option<f64>,
    /// Whether the claim holds. It does not where a number is missing.
    pub holds: bool,
}

/// One claim from its table.
pub fn expectation(context: &mut Context, node: &mut Node, metrics: &[String], axes: &[Axis]) -> Option<Expectation> {
    let mut fields = Fields::open(context, node, "[[expect]]")?;
    let cells = fields.optional(context, "where", |context, node| filter(context, node, axes));
    let metric = fields.required(context, "metric", "\"success_rate\"", |context, node| known(context, node, metrics, "metric"));
    let written = ["below", "above", "between", "equals", "covers", "about", "published"].iter().filter(|key| fields.has(key)).count();
    let place = fields.place;
    let mut texts = Vec::new();
    let mut note = |key: &str, node: &Node| texts.push(format!("{key} {}", readable(node)));
    let below = fields.optional(context, "below", |context, node| {
        note("below", node);
        target(context, node, axes).map(Bound::Below)
    });
    let above = fields.optional(context, "above", |context, node| {
        note("above", node);
        target(context, node, axes).map(Bound::Above)
    });
    let between = fields.optional(context, "between", |context, node| {
        note("between", node);
        between(context, node)
    });
    let equals = fields.optional(context, "equals", |context, node| {
        note("equals", node);
        if is_form(node) { form(context, node) } else { quantity(context, node) }.map(Bound::Equals)
    });
    let covers = covers(context, &mut fields, &mut note);
    let about = about(context, &mut fields, &mut note);
    let published = published(context, &mut fields, &mut note);
    let source = fields.optional(context, "source", text);
    fields.finish(context);
    if written != 1 {
        let help =
            "write one of `below`, `above`, `between`, `equals`, `covers`, `about`, `published`; for two bounds `between = [low, high]`";
        return context.refuse(place, format!("[[expect]] claims exactly one thing, not {written}"), help);
    }
    let known = covers?.or(published?).map(Bound::Known);
    let about = about?.map(|(value, within)| Bound::About(value, within));
    let bound = below?.or(above?).or(between?).or(equals?).or(about).or(known)?;
    Some(Expectation { filter: cells?.unwrap_or_default(), metric: metric?, bound, text: texts.concat(), source: source?, is_fixed: false })
}

fn readable(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => text.clone(),
        Value::List(nodes) => nodes.iter().map(readable).collect::<Vec<_>>().join(" and "),
        Value::Table(entries) if is_form(node) => {
            let parameters = entries[0].node.entries().unwrap_or(&[]).iter();
            let parameters: Vec<String> = parameters.map(|entry| format!("{} {}", entry.key, readable(&entry.node))).collect();
            format!("{} ({})", entries[0].key, parameters.join(", "))
        }
        _ => inline(node),
    }
}

fn between(context: &mut Context, node: &mut Node) -> Option<Bound> {
    let place = node.place;
    let ends: Vec<f64> = list(context, node, "[0.9, 1.0]")?.iter_mut().map(|node| quantity(context, node)).collect::<Option<_>>()?;
    match ends[..] {
        [low, high] if low <= high => Some(Bound::Between(low, high)),
        _ => context.refuse(place, "`between` is a list of the least and the greatest value", "write [low, high]"),
    }
}

fn target(context: &mut Context, node: &mut Node, axes: &[Axis]) -> Option<Target> {
    if !matches!(node.value, Value::Table(_)) {
        return quantity(context, node).map(Target::Number);
    }
    if is_form(node) {
        return form(context, node).map(Target::Number);
    }
    let mut fields = Fields::open(context, node, "a comparison with another cell")?;
    let times = fields.or(context, "times", 1.0, number(-1e12, 1e12));
    let of = fields.required(context, "of", "{ \"clients.web.policy\" = \"none\" }", |context, node| filter(context, node, axes));
    fields.finish(context);
    Some(Target::Times { times: times?, of: of? })
}

impl Expectation {
    /// The cells that the claim is about.
    pub fn cells<'a>(&'a self, axes: &'a [Axis], cells: &'a [Cell]) -> impl Iterator<Item = &'a Cell> {
        cells.iter().filter(|cell| matches(axes, cell, &self.filter))
    }

    /// The axes and values of the other cell that the bound names.
    pub fn compared_with(&self) -> &[(String, String)] {
        match &self.bound {
            Bound::Below(Target::Times { of, .. }) | Bound::Above(Target::Times { of, .. }) => of,
            _ => &[],
        }
    }

    /// What becomes of the claim in each of its cells. `measure` is the metric of a cell, None where it has no data.
    pub fn judge(&self, axes: &[Axis], cells: &[Cell], measure: impl Fn(usize, &str) -> Option<Measured>) -> Vec<Verdict> {
        let value = |cell: usize, metric: &str| measure(cell, metric).map(|measured| measured.value);
        let judge_cell = |cell: &Cell| {
            let measured = measure(cell.index, &self.metric);
            let found = measured.map(|measured| measured.value);
            let mut score = None;
            let limit = |target: &Target| match target {
                Target::Number(number) => Some(*number),
                Target::Times { times, of } => {
                    let other = other_cell(axes, cells, cell, of)?;
                    value(other, &self.metric).map(|value| times * value)
                }
            };
            let (expected, holds) = match &self.bound {
                Bound::Below(target) => {
                    (self.explained("below", target, limit(target)), holds(found, limit(target), |found, limit| found < limit))
                }
                Bound::Above(target) => {
                    (self.explained("above", target, limit(target)), holds(found, limit(target), |found, limit| found > limit))
                }
                Bound::Between(low, high) => (self.text.clone(), found.is_some_and(|found| (*low..=*high).contains(&found))),
                Bound::Equals(exact) => (self.text.clone(), found == Some(*exact)),
                Bound::About(value, within) => {
                    let near = |found: f64| (found - value).abs() <= within * value.abs();
                    (format!("{} within {}%", self.text, within * 100.0), found.is_some_and(near))
                }
                Bound::Known(known) => {
                    score = measured.and_then(|measured| known.score(&measured));
                    (self.text.clone(), measured.is_some_and(|measured| known.holds(&measured)))
                }
            };
            Verdict { cell: cell.index, expected, found, interval: measured.and_then(|measured| measured.interval), score, holds }
        };
        self.cells(axes, cells).map(judge_cell).collect()
    }

    fn explained(&self, side: &str, target: &Target, limit: Option<f64>) -> String {
        match (target, limit) {
            (Target::Number(_), _) => self.text.clone(),
            (Target::Times { times, of }, limit) => {
                let values: Vec<String> = of.iter().map(|(path, csv)| format!("{path} = {csv}")).collect();
                let limit = limit.map_or_else(|| "no data".to_owned(), |limit| limit.to_string());
                format!("{side} {limit}, {times} times that of {}", values.join(", "))
            }
        }
    }
}

fn holds(found: Option<f64>, limit: Option<f64>, compare: impl Fn(f64, f64) -> bool) -> bool {
    found.zip(limit).is_some_and(|(found, limit)| compare(found, limit))
}

/// The cell with these values, and otherwise those of `cell`.
fn other_cell(axes: &[Axis], cells: &[Cell], cell: &Cell, of: &Filter) -> Option<usize> {
    let mut index = 0;
    for (axis, value) in axes.iter().zip(&cell.values) {
        let value = match of.iter().find(|(path, _)| *path == axis.path) {
            Some((_, csv)) => axis.values.iter().position(|value| value.csv == *csv)?,
            None => *value,
        };
        index = index * axis.values.len() + value;
    }
    cells.get(index).map(|cell| cell.index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::compare::{AxisValue, cells};

    fn axis(path: &str, values: &[&str]) -> Axis {
        let value = |text: &&str| AxisValue::new(path, Node { value: Value::from(*text), place: Default::default() });
        Axis { path: path.into(), values: values.iter().map(value).collect() }
    }

    fn verdicts(bound: Bound, filter: Filter) -> Vec<(usize, bool)> {
        let axes = [axis("a.policy", &["x", "y"]), axis("b", &["1s", "2s"])];
        let cells = cells(&axes);
        let expectation = Expectation { filter, metric: "attempts".into(), bound, text: "claim".into(), source: None, is_fixed: false };
        let value = |cell: usize, metric: &str| {
            assert_eq!(metric, "attempts");
            let value = [Some(1.0), Some(2.0), Some(3.0), None][cell]?;
            Some(Measured { value, interval: None, sd: None, count: 1 })
        };
        expectation.judge(&axes, &cells, value).iter().map(|verdict| (verdict.cell, verdict.holds)).collect()
    }

    #[test]
    fn claims_hold_or_not() {
        let filter = |path: &str, csv: &str| vec![(path.to_owned(), csv.to_owned())];
        assert_eq!(verdicts(Bound::Below(Target::Number(2.0)), vec![]), [(0, true), (1, false), (2, false), (3, false)]);
        assert_eq!(verdicts(Bound::Above(Target::Number(1.0)), filter("b", "2")), [(1, true), (3, false)]);
        assert_eq!(verdicts(Bound::Between(2.0, 3.0), vec![]), [(0, false), (1, true), (2, true), (3, false)]);
        assert_eq!(verdicts(Bound::Equals(3.0), filter("a.policy", "y")), [(2, true), (3, false)]);
        let half = |path: &str, csv: &str| Bound::Below(Target::Times { times: 0.5, of: filter(path, csv) });
        assert_eq!(verdicts(half("a.policy", "y"), filter("a.policy", "x")), [(0, true), (1, false)]);
        assert_eq!(verdicts(half("b", "2"), filter("b", "1")), [(0, false), (2, false)]);
    }
}
