//! Faults: each is a patch of the tree for a while. What may be patched are numbers; what a model is made of stays.

use super::diagnostics::Place;
use super::node::{Node, Value};
use super::path;
use super::reader::{Context, Fields};
use super::scalars::{duration, some_duration, word_or};
use super::writer::inline;
use crate::measure::time::Time;
use crate::world::model::FaultSpan;

/// A fault as it is written.
pub struct WrittenFault {
    from: Time,
    until: Time,
    sets: Vec<Patch>,
}

struct Patch {
    segments: Vec<String>,
    place: Place,
    node: Node,
}

/// Faults of a scenario, at most: each moment they change is an epoch of its own.
const MOST_FAULTS: usize = 1000;

/// The faults of a scenario, in its order.
pub fn faults(context: &mut Context, node: &mut Node) -> Vec<WrittenFault> {
    let place = node.place;
    match &mut node.value {
        Value::List(nodes) if nodes.len() > MOST_FAULTS => {
            context.problem(nodes[MOST_FAULTS].place, format!("there are more than {MOST_FAULTS} faults"), "write fewer");
            Vec::new()
        }
        Value::List(nodes) => nodes.iter_mut().filter_map(|node| fault(context, node)).collect(),
        other => {
            let message = format!("`fault` is a list of tables, not {}", other.kind());
            context.problem(place, message, "write [[fault]] above each");
            Vec::new()
        }
    }
}

fn fault(context: &mut Context, node: &mut Node) -> Option<WrittenFault> {
    let mut fields = Fields::open(context, node, "[[fault]]")?;
    let at = fields.required(context, "at", "\"60s\"", duration);
    let length = fields.or(context, "for", "forever", word_or("forever", some_duration));
    let sets = fields.required(context, "set", "{ \"service.api.down\" = \"refuse\" }", patches);
    fields.finish(context);
    let from = Time(at?.0);
    let until = length?.map_or(Time::NEVER, |length| from + length);
    Some(WrittenFault { from, until, sets: sets? })
}

fn patches(context: &mut Context, node: &mut Node) -> Option<Vec<Patch>> {
    const EXAMPLE: &str = "write { \"service.api.down\" = \"refuse\" }";
    let entries = match &node.value {
        Value::Table(entries) if !entries.is_empty() => entries,
        Value::Table(_) => return context.refuse(node.place, "the fault sets nothing", EXAMPLE),
        other => return context.refuse(node.place, format!("`set` is a table, not {}", other.kind()), EXAMPLE),
    };
    let mut patches = Vec::new();
    for entry in entries {
        if path::SECTIONS.contains(&entry.key.as_str()) {
            return context.refuse(
                entry.place,
                format!("`{}` alone is not a path", entry.key),
                format!("{EXAMPLE}, with the path in quotes"),
            );
        }
        let checked = path::segments(&entry.key).and_then(|segments| changeable(&segments, &entry.key).map(|()| segments));
        match checked {
            Ok(segments) => patches.push(Patch { segments, place: entry.place, node: entry.node.clone() }),
            Err((message, help)) => context.problem(entry.place, message, help),
        }
    }
    Some(patches)
}

/// Whether a fault may change what a path leads to.
fn changeable(segments: &[String], written: &str) -> Result<(), path::PathError> {
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let fixed = |help: String| Err((format!("`{written}` cannot change while the model runs"), help));
    match segments[..] {
        ["service", _, "down" | "workers" | "time" | "speed" | "queue" | "error_rate" | "abandoned" | "retry_after", ..] => Ok(()),
        ["service", _, "rate_limit" | "script" | "permanent_rate" | "reject_time" | "shed" | "load_time" | "in_service_limit", ..] => {
            Ok(())
        }
        ["service", _, "calls", _, "inherits_deadline"] => Ok(()),
        ["service", _, "calls", _, "policy", ..] | ["policy", _, _, ..] | ["clients", _, "policy", ..] | ["link", _, ..] => Ok(()),
        ["clients", _, "load_factor"] => Ok(()),
        ["clients", name, "load", ..] => {
            fixed(format!("to change the load, set `clients.{name}.load_factor`, which multiplies the rate of an open load"))
        }
        ["clients", ..] => fixed("of clients a fault can change `policy` and `load_factor`".into()),
        ["service", ..] => {
            let keys = ["down", "workers", "time", "speed", "queue", "error_rate", "abandoned", "retry_after"];
            let door = ["rate_limit", "script", "permanent_rate", "reject_time", "shed", "load_time", "in_service_limit"];
            let keys: Vec<&str> = keys.into_iter().chain(door).collect();
            let help = super::diagnostics::did_you_mean(segments.get(2).unwrap_or(&""), &keys);
            fixed(format!("{help}; a fault can also change `calls.0.policy`"))
        }
        ["run" | "fault" | "policy" | "link", ..] => {
            fixed("a fault changes services, policies, links, and the policy and load factor of clients".into())
        }
        _ => Err((
            format!("`{written}` does not begin with a section"),
            super::diagnostics::did_you_mean(segments[0], &["service", "policy", "clients", "link"]),
        )),
    }
}

/// The times at which the set of lasting faults changes, from zero on.
pub fn boundaries(faults: &[WrittenFault]) -> Vec<Time> {
    let mut times: Vec<Time> = faults.iter().flat_map(|fault| [fault.from, fault.until]).filter(|time| *time != Time::NEVER).collect();
    times.push(Time::ZERO);
    times.sort_unstable();
    times.dedup();
    times
}

/// The tree as it is at a time: what lasting faults set is set, later ones in the file last.
pub fn patched(context: &mut Context, tree: &Node, faults: &[WrittenFault], at: Time) -> Node {
    let mut tree = tree.clone();
    for patch in faults.iter().filter(|fault| fault.from <= at && at < fault.until).flat_map(|fault| &fault.sets) {
        if let Err((message, help)) = tree.set(&patch.segments, patch.node.clone()) {
            context.problem(patch.place, message, help);
        }
    }
    tree
}

/// The faults for the model, by their start.
pub fn spans(faults: &[WrittenFault]) -> Vec<FaultSpan> {
    let label = |patch: &Patch| {
        let value = patch.node.text().map_or_else(|| inline(&patch.node), str::to_owned);
        format!("{} = {value}", path::canonical(&patch.segments))
    };
    let span = |fault: &WrittenFault| FaultSpan {
        from: fault.from,
        until: fault.until,
        label: fault.sets.iter().map(label).collect::<Vec<_>>().join(", "),
    };
    let mut spans: Vec<FaultSpan> = faults.iter().map(span).collect();
    spans.sort_by_key(|span| span.from);
    spans
}
