//! Faults: each is a patch of the tree for a while, at given times or by a condition. What may be patched are numbers; what a model
//! is made of stays.

use super::conditions::condition;
use super::diagnostics::Place;
use super::node::{Entry, Node, Value};
use super::path;
use super::ranges::ramp;
use super::reader::{Context, Fields};
use super::scalars::{boolean, count, duration, some_duration, whole, word_or};
use super::timing::Timing;
use super::writer::inline;
use crate::measure::time::{Duration, Time};
use crate::world::condition::ConditionalFault;
use crate::world::model::FaultSpan;

/// A fault as it is written.
pub struct WrittenFault {
    /// Where it stands.
    pub place: Place,
    /// When it lasts.
    pub course: Course,
    sets: Vec<Patch>,
}

/// When a fault lasts.
pub enum Course {
    /// At given times.
    Timed(Timing),
    /// By a condition.
    Conditional(ConditionalFault),
}

impl Course {
    /// Its times, where it has some.
    pub fn timed(&self) -> Option<&Timing> {
        match self {
            Course::Timed(timing) => Some(timing),
            Course::Conditional(_) => None,
        }
    }

    /// Its condition, where it has one.
    pub fn conditional(&self) -> Option<&ConditionalFault> {
        match self {
            Course::Timed(_) => None,
            Course::Conditional(fault) => Some(fault),
        }
    }
}

impl WrittenFault {
    /// Whether it starts by a condition and sets the load factor of this group.
    pub fn scales_by_condition(&self, group: &str) -> bool {
        let path = ["clients", group, "load_factor"];
        let scales = |patch: &Patch| patch.segments.iter().map(String::as_str).eq(path);
        self.course.conditional().is_some() && self.sets.iter().any(scales)
    }
}

struct Patch {
    segments: Vec<String>,
    place: Place,
    /// What is set, at each step; a value that is no ramp stands for all of them.
    steps: Vec<Node>,
    label: String,
}

/// Faults of a scenario, at most: each moment they change is an epoch of its own.
const MOST_FAULTS: usize = 1000;

/// The faults of a scenario, in its order.
pub fn faults(context: &mut Context, node: &mut Node, services: &[String]) -> Vec<WrittenFault> {
    let place = node.place;
    match &mut node.value {
        Value::List(nodes) if nodes.len() > MOST_FAULTS => {
            context.problem(nodes[MOST_FAULTS].place, format!("there are more than {MOST_FAULTS} faults"), "write fewer");
            Vec::new()
        }
        Value::List(nodes) => nodes.iter_mut().filter_map(|node| fault(context, node, services)).collect(),
        other => {
            let message = format!("`fault` is a list of tables, not {}", other.kind());
            context.problem(place, message, "write [[fault]] above each");
            Vec::new()
        }
    }
}

fn fault(context: &mut Context, node: &mut Node, services: &[String]) -> Option<WrittenFault> {
    let mut fields = Fields::open(context, node, "[[fault]]")?;
    let place = fields.place;
    let course = if fields.has("when") { conditional(context, &mut fields, services) } else { timed(context, &mut fields) };
    let steps = match &course {
        Some(Course::Timed(timing)) => timing.steps,
        _ => 1,
    };
    let sets = fields.required(context, "set", "{ \"service.api.down\" = \"refuse\" }", |context, node| patches(context, node, steps));
    fields.finish(context);
    let (mut course, sets) = (course?, sets?);
    if let Course::Conditional(fault) = &mut course {
        fault.label = label(&sets);
    }
    Some(WrittenFault { place, course, sets })
}

/// Refuses keys that only go with another, which is not there.
fn only_with(context: &mut Context, fields: &mut Fields, keys: &[&'static str], message: &str, help: &str) {
    for key in keys {
        let place = fields.place_of(key);
        if fields.optional(context, key, |_, _| Some(())) == Some(Some(())) {
            context.problem(place, format!("`{key}` {message}"), help);
        }
    }
}

fn timed(context: &mut Context, fields: &mut Fields) -> Option<Course> {
    let at = fields.required(context, "at", "\"60s\"", duration);
    let length = fields.or(context, "for", "forever", word_or("forever", some_duration));
    let length_place = fields.place_of("for");
    let (steps, hold) = if fields.value("set").is_some_and(has_ramp) {
        (fields.or(context, "steps", 20, whole(2, 1000)), fields.or(context, "hold", "0s", word_or("forever", duration)))
    } else {
        only_with(context, fields, &["steps", "hold"], "goes with a ramp, and this fault sets none", RAMP);
        (Some(1), Some(Some(Duration::ZERO)))
    };
    let every_place = fields.place_of("every");
    let every = fields.optional(context, "every", some_duration);
    let times = if fields.has("every") {
        fields.or(context, "times", "unlimited", word_or("unlimited", count(1)))
    } else {
        only_with(context, fields, &["times"], "goes with `every`", "add `every = \"60s\"`, or leave it out");
        Some(None)
    };
    let help = "write `when = \"api.queue > 5000\"`, or leave it out";
    only_with(context, fields, &["until", "sustained", "after", "once", "check"], "goes with `when`", help);
    let (length, steps, hold, times) = (length?, steps?, hold?, times?);
    if steps > 1 && length.is_none() {
        context.problem(length_place, "a ramp that takes for ever gets nowhere", "write how long it takes, such as `for = \"30s\"`");
    }
    let repeats = every?.map(|every| (every, times));
    let timing = Timing { from: Time(at?.0), length, steps: steps as u64, hold, repeats };
    if let Some((every, _)) = repeats
        && timing.whole().is_none_or(|whole| whole > every)
    {
        context.problem(every_place, "the fault comes again before it is over", "write a longer `every`, or a shorter `for` or `hold`");
    }
    Some(Course::Timed(timing))
}

fn conditional(context: &mut Context, fields: &mut Fields, services: &[String]) -> Option<Course> {
    let at = fields.or(context, "at", "0s", duration);
    let length = fields.or(context, "for", "forever", word_or("forever", some_duration));
    let when = fields.required(context, "when", "\"api.queue > 5000\"", condition(services));
    let until = fields.optional(context, "until", condition(services));
    let check = fields.or(context, "check", "1s", some_duration);
    let sustained = fields.or(context, "sustained", "0s", duration);
    let after = fields.or(context, "after", "0s", duration);
    let once = fields.or(context, "once", false, boolean);
    if fields.value("set").is_some_and(has_ramp) {
        let help = "write a value in place of the ramp, or leave out `when` and give its times";
        context.problem(fields.place_of("set"), "a fault with a condition cannot ramp", help);
    }
    only_with(context, fields, &["steps", "hold"], "goes with a ramp, which a fault with a condition cannot have", "leave it out");
    let help = "leave it out: the fault comes again whenever its condition holds, unless `once = true`";
    only_with(context, fields, &["every", "times"], "does not go with `when`", help);
    Some(Course::Conditional(ConditionalFault {
        label: String::new(),
        when: when?,
        until: until?,
        from: Time(at?.0),
        check: check?,
        sustained: sustained?,
        after: after?,
        length: length?,
        once: once?,
    }))
}

const RAMP: &str = "write a ramp, such as { \"service.api.speed\" = { from = 1.0, to = 0.2 } }, or leave it out";

/// Whether a table of patches has a ramp.
fn has_ramp(set: &Node) -> bool {
    set.entries().unwrap_or(&[]).iter().any(|entry| is_ramp(&entry.node))
}

/// No value that can be set has one of these keys.
fn is_ramp(node: &Node) -> bool {
    node.get("from").is_some() || node.get("to").is_some()
}

fn patches(context: &mut Context, node: &mut Node, steps: u64) -> Option<Vec<Patch>> {
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
            Ok(segments) => patches.extend(patch(context, segments, entry, steps)),
            Err((message, help)) => context.problem(entry.place, message, help),
        }
    }
    Some(patches)
}

fn patch(context: &mut Context, segments: Vec<String>, entry: &Entry, steps: u64) -> Option<Patch> {
    let path = path::canonical(&segments);
    let mut node = entry.node.clone();
    let shown = |node: &Node| node.text().map_or_else(|| inline(node), str::to_owned);
    let (values, label) = if is_ramp(&node) {
        let values = ramp(context, &mut node, &path, steps)?;
        let label = format!("{path} = {} to {}", shown(values.first()?), shown(values.last()?));
        (values, label)
    } else {
        let label = format!("{path} = {}", shown(&node));
        (vec![node], label)
    };
    Some(Patch { segments, place: entry.place, steps: values, label })
}

/// Whether a fault may change what a path leads to.
fn changeable(segments: &[String], written: &str) -> Result<(), path::PathError> {
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let fixed = |help: String| Err((format!("`{written}` cannot change while the model runs"), help));
    match segments[..] {
        ["service", _, "down" | "workers" | "time" | "speed" | "queue" | "error_rate" | "abandoned" | "retry_after", ..] => Ok(()),
        [
            "service",
            _,
            "rate_limit" | "script" | "permanent_rate" | "reject_time" | "shed" | "load_time" | "in_service_limit" | "cache" | "crash",
            ..,
        ] => Ok(()),
        ["service", _, "replica", _, key] => {
            super::machines::changeable(key).or_else(|help| fixed(format!("{help}; a fault can change these of a replica")))
        }
        ["service", _, "calls", _, "inherits_deadline" | "share"] => Ok(()),
        ["service", _, "calls", _, "policy", ..] | ["policy", _, _, ..] | ["clients", _, "policy", ..] | ["link", _, ..] => Ok(()),
        ["clients", _, "load_factor"] => Ok(()),
        ["clients", name, "load", ..] => {
            fixed(format!("to change the load, set `clients.{name}.load_factor`, which multiplies the rate of an open load"))
        }
        ["clients", ..] => fixed("of clients a fault can change `policy` and `load_factor`".into()),
        ["service", ..] => {
            let keys = ["down", "workers", "time", "speed", "queue", "error_rate", "abandoned", "retry_after"];
            let door = ["rate_limit", "script", "permanent_rate", "reject_time", "shed", "load_time", "in_service_limit", "cache", "crash"];
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

/// The tree while these faults last, each at a step: later ones in the file are set last.
pub fn patched(context: &mut Context, tree: &Node, faults: &[WrittenFault], lasting: &[(usize, usize)]) -> Node {
    let mut tree = tree.clone();
    for (patch, step) in lasting.iter().flat_map(|(index, step)| faults[*index].sets.iter().map(move |patch| (patch, *step))) {
        let Some(node) = patch.steps.get(step).or(patch.steps.last()) else { continue };
        if let Err((message, help)) = tree.set(&patch.segments, node.clone()) {
            context.problem(patch.place, message, help);
        }
    }
    tree
}

/// What a fault sets, in words.
fn label(sets: &[Patch]) -> String {
    sets.iter().map(|patch| patch.label.as_str()).collect::<Vec<_>>().join(", ")
}

/// The times of the faults for the model, by their start. When a conditional fault lasts is known only by the run.
pub fn spans(faults: &[WrittenFault], horizon: Option<Time>) -> Vec<FaultSpan> {
    let mut spans = Vec::new();
    for fault in faults {
        let Some(timing) = fault.course.timed() else { continue };
        let label = label(&fault.sets);
        let span = |index: u64| {
            let from = timing.start(index);
            FaultSpan { from, until: timing.whole().map_or(Time::NEVER, |whole| from + whole), label: label.clone() }
        };
        spans.extend((0..timing.count(horizon.unwrap_or(Time::NEVER))).map(span));
    }
    spans.sort_by_key(|span| span.from);
    spans
}
