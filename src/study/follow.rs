//! Parameters of closed forms that follow the model: a path in place of a number, as in `workers = "service.api.workers"`, is what
//! the scenario has there, with what `--set` sets and, where that is compared, with the value that `where` names.

use super::compare::Axis;
use super::scenario::node::{Node, Value};
use super::scenario::path::{self, SECTIONS};
use super::scenario::reader::Context;
use super::theory::forms::{FORMS, Kind};
use crate::measure::time::Duration;

/// The keys of a claim that may name a closed form.
const BOUNDS: [&str; 5] = ["below", "above", "equals", "covers", "about"];

/// Where a path stood in a claim, and the path.
pub struct Followed {
    keys: Vec<String>,
    path: Node,
}

/// Puts what the scenario says in the place of each path in a claim's closed form; what there was, for [`restore`].
pub fn follow(context: &mut Context, claim: &mut Node, tree: &Node, axes: &[Axis]) -> Vec<Followed> {
    let mut followed = Vec::new();
    let filter = claim.get("where").cloned();
    for bound in BOUNDS {
        let Some(form) = claim.get_mut(bound) else { continue };
        let mut keys = vec![bound.to_owned()];
        let Some((name, parameters)) = innermost(form, &mut keys) else { continue };
        let Some(form) = FORMS.iter().find(|form| form.name == name) else { continue };
        let Value::Table(entries) = &mut parameters.value else { continue };
        for entry in entries {
            let Some(kind) = form.parameters.iter().find(|known| known.key == entry.key).map(|known| known.kind) else { continue };
            let Some(path) = entry.node.text().filter(|text| is_path(text)).map(str::to_owned) else { continue };
            let place = entry.node.place;
            match found(&path, tree, axes, filter.as_ref()) {
                Ok(node) => {
                    let value = as_kind(kind, &node).unwrap_or(node.value);
                    let keys = keys.iter().chain([&entry.key]).cloned().collect();
                    followed.push(Followed { keys, path: std::mem::replace(&mut entry.node, Node { value, place }) });
                }
                Err((message, help)) => context.problem(place, message, help),
            }
        }
    }
    followed
}

/// Puts the paths back: the claim as it was written.
pub fn restore(claim: &mut Node, followed: Vec<Followed>) {
    for Followed { keys, path } in followed {
        let found = keys.iter().try_fold(&mut *claim, |node, key| node.get_mut(key));
        found.into_iter().for_each(|node| *node = path.clone());
    }
}

/// Whether a claim names a closed form all of whose numbers are its own.
pub fn is_fixed(claim: &Node) -> bool {
    let mut claim = claim.clone();
    BOUNDS.iter().any(|bound| {
        let form = claim.get_mut(bound).and_then(|form| innermost(form, &mut Vec::new()));
        let Some((name, parameters)) = form else { return false };
        let follows = |node: &Node| node.text().is_some_and(is_path);
        let entries = parameters.entries().unwrap_or(&[]);
        FORMS.iter().any(|form| form.name == name) && !entries.iter().any(|entry| follows(&entry.node))
    })
}

/// The name of a closed form and the table of its parameters, below any `one_minus`; `keys` is the way there.
fn innermost<'n>(node: &'n mut Node, keys: &mut Vec<String>) -> Option<(String, &'n mut Node)> {
    let mut node = node;
    loop {
        let Value::Table(entries) = &mut node.value else { return None };
        let entry = entries.first_mut()?;
        keys.push(entry.key.clone());
        if entry.key != "one_minus" {
            return Some((entry.key.clone(), &mut entry.node));
        }
        node = &mut entry.node;
    }
}

/// No number with a unit begins with the name of a section.
fn is_path(text: &str) -> bool {
    SECTIONS.iter().any(|section| text.strip_prefix(section).is_some_and(|rest| rest.starts_with('.')))
}

fn found(path: &str, tree: &Node, axes: &[Axis], filter: Option<&Node>) -> Result<Node, path::PathError> {
    let segments = path::segments(path)?;
    let canonical = path::canonical(&segments);
    let within = |long: &str, short: &str| long == short || long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'));
    if let Some(axis) = axes.iter().find(|axis| within(&canonical, &axis.path) || within(&axis.path, &canonical)) {
        let only = axis.values.first().filter(|_| axis.values.len() == 1).map(|value| &value.node);
        let named = filter.and_then(|filter| filter.get(&axis.path)).filter(|node| !matches!(node.value, Value::List(_))).or(only);
        return named.filter(|_| axis.path == canonical).cloned().ok_or_else(|| {
            let help = format!("add `where = {{ \"{}\" = ... }}` with one value of `{canonical}`, or write a number", axis.path);
            (format!("`{canonical}` is not the same in all cells, and the closed form needs one value"), help)
        });
    }
    let node = tree.at(&segments).filter(|node| !matches!(node.value, Value::Table(_) | Value::List(_)));
    node.cloned().ok_or_else(|| {
        let help =
            "write the path of one value, such as \"service.api.workers\" or \"service.api.time.exponential.mean\", or the number itself";
        (format!("the path `{canonical}` does not lead to a number in this scenario"), help.to_owned())
    })
}

/// A rate where the model has a time, and the other way round.
fn as_kind(kind: Kind, node: &Node) -> Option<Value> {
    let text = node.text()?;
    match kind {
        Kind::Rate if !text.contains('/') => {
            let seconds = Duration::parse(text).ok()?.seconds();
            (seconds > 0.0).then(|| Value::Text(format!("{}/s", 1.0 / seconds)))
        }
        _ => None,
    }
}
