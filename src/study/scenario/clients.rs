//! Readers of groups of clients and of their loads.

use std::cell::Cell;

use super::distributions::{column, distribution};
use super::node::{Node, Value};
use super::queues::via;
use super::reader::{Context, Fields, Variant, choose, tagged};
use super::references::PolicyReference;
use super::scalars::{MOST_RATE, duration, list, number, one_of, rate, some_duration, text, whole};
use super::serving::CRITICALITIES;
use crate::load::{Load, Profile, Spacing};
use crate::measure::time::Time;
use crate::retry::receive::Sqs;
use crate::service::criticality::Criticality;

/// A group of clients as it is written: what it calls is still a name.
pub struct WrittenGroup {
    /// How many clients.
    pub count: u32,
    /// The name of the service, where it was written.
    pub calls: Node,
    /// How its calls arise.
    pub load: WrittenLoad,
    /// What it multiplies the rate of an open load by.
    pub load_factor: f64,
    /// What a client does after a failure.
    pub policy: PolicyReference,
    /// The queue that its calls go through.
    pub via: Option<Sqs>,
    /// How much its calls matter.
    pub criticality: Criticality,
}

/// A load, and what the checks need to know of it.
pub struct WrittenLoad {
    /// The load, without load factors.
    pub load: Load,
    /// Where it was written.
    pub place: super::diagnostics::Place,
    /// The greatest rate of an open load.
    pub peak: f64,
    /// Whether calls may go on for ever.
    pub endless: bool,
}

const LOADS: &[Variant] = &[
    tagged("closed", r#"{ think = "1s" }"#),
    tagged("once", r#"{ at = "0s" }"#),
    tagged("periodic", r#"{ every = "60s" }"#),
    tagged("trace", r#"{ file = "load.csv" }"#),
    tagged("open", r#"{ rate = "700/s" }"#),
];

/// A group of clients from its table.
pub fn group(context: &mut Context, node: &mut Node, name: &str) -> Option<WrittenGroup> {
    let mut fields = Fields::open(context, node, format!("[clients.{name}]"))?;
    let count = fields.or(context, "count", 1, whole(1, 4_000_000_000));
    let calls = fields.required(context, "calls", "\"api\"", |context, node| text(context, node).map(|_| node.clone()));
    let load = fields.required(context, "load", "{ open = { rate = \"100/s\" } }", load);
    let is_open = load.as_ref().is_some_and(|load| matches!(load.load, Load::Open { .. }));
    let factor_place = fields.place_of("load_factor");
    let load_factor = if is_open {
        fields.or(context, "load_factor", 1.0, number(0.0, 1e6))
    } else {
        let factor = fields.optional(context, "load_factor", number(0.0, 1e6));
        if load.is_some() && matches!(factor, Some(Some(_))) {
            context.problem(
                factor_place,
                "only an open load has a load factor",
                "leave it out, or change the count or the times of the load",
            );
        }
        Some(1.0)
    };
    let policy = fields.or(context, "policy", Value::empty_table(), PolicyReference::read);
    let via = fields.or(context, "via", "none", via);
    let criticality = fields.or(context, "criticality", "critical", one_of(CRITICALITIES));
    fields.finish(context);
    let (load, load_factor) = (load?, load_factor?);
    if load.peak * load_factor > MOST_RATE {
        return context.refuse(factor_place, "this is more than one call a nanosecond", "write a smaller load factor or rate");
    }
    Some(WrittenGroup {
        count: u32::try_from(count?).ok()?,
        calls: calls?,
        load,
        load_factor,
        policy: policy?,
        via: via?,
        criticality: criticality?,
    })
}

fn load(context: &mut Context, node: &mut Node) -> Option<WrittenLoad> {
    let place = node.place;
    let (name, value) = choose(context, node, "a load", LOADS)?;
    let mut fields = Fields::open(context, value?, format!("`{name}`"))?;
    let read = match name {
        "open" => open(context, &mut fields),
        "closed" => fields.required(context, "think", "\"1s\"", distribution).map(|think| (Load::Closed { think }, 0.0, true)),
        "once" => {
            let at = fields.or(context, "at", "0s", duration);
            let spread = fields.or(context, "spread", "0s", duration);
            at.zip(spread).map(|(at, spread)| (Load::Once { at: Time(at.0), spread }, 0.0, false))
        }
        "periodic" => {
            let every = fields.required(context, "every", "\"60s\"", some_duration);
            let splay = fields.or(context, "splay", "0s", duration);
            if let Some((every, splay)) = every.zip(splay).filter(|(every, splay)| splay > every) {
                let message = format!("the splay {splay} is longer than the period {every}");
                context.problem(place, message, "write a splay of at most one period");
            }
            every.zip(splay).map(|(every, splay)| (Load::Periodic { every, splay }, 0.0, true))
        }
        _ => column(context, &mut fields).map(|values| {
            let mut times: Vec<Time> = values.iter().map(|value| Time(value.0)).collect();
            times.sort_unstable();
            (Load::Trace { times: times.into() }, 0.0, false)
        }),
    };
    fields.finish(context);
    read.map(|(load, peak, endless)| WrittenLoad { load, place, peak, endless })
}

fn open(context: &mut Context, fields: &mut Fields) -> Option<(Load, f64, bool)> {
    let varies = Cell::new(false);
    let points = fields.required(context, "rate", "\"700/s\"", |context, node| {
        if let Value::List(_) = node.value {
            varies.set(true);
            points(context, node)
        } else {
            rate(context, node).map(|rate| vec![(Time::ZERO, rate)])
        }
    });
    let shape = if varies.get() {
        fields.or(context, "shape", "step", one_of(&[("step", false), ("ramp", true)]))
    } else {
        let place = fields.place_of("shape");
        if fields.optional(context, "shape", text)?.is_some() {
            return context.refuse(
                place,
                "a constant rate has no shape",
                "leave out `shape`, or write the rate as [[\"0s\", \"300/s\"], [\"60s\", \"900/s\"]]",
            );
        }
        Some(false)
    };
    let spacing = fields.or(context, "spacing", "poisson", one_of(&[("poisson", Spacing::Poisson), ("even", Spacing::Even)]));
    let points = points?;
    let profile = if shape? { Profile::ramp(&points) } else { Profile::step(&points) };
    let peak = points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let endless = points.last().is_some_and(|(_, rate)| *rate > 0.0);
    Some((Load::Open { profile, spacing: spacing? }, peak, endless))
}

/// A rate over time: pairs of a time and the rate from then on, or at that moment of a ramp.
fn points(context: &mut Context, node: &mut Node) -> Option<Vec<(Time, f64)>> {
    const EXAMPLE: &str = r#"[["0s", "300/s"], ["60s", "900/s"]]"#;
    let place = node.place;
    let mut points: Vec<(Time, f64)> = Vec::new();
    for pair in list(context, node, EXAMPLE)? {
        let pair_place = pair.place;
        let [at, value] = &mut list(context, pair, EXAMPLE)?[..] else {
            return context.refuse(pair_place, "a point of a rate is a pair of a time and a rate", format!("write pairs: {EXAMPLE}"));
        };
        let (at, value) = (duration(context, at), rate(context, value));
        let at = Time(at?.0);
        if points.last().is_some_and(|(before, _)| *before >= at) {
            return context.refuse(
                pair_place,
                format!("the time {at} is not after the one before it"),
                "write the points in the order of time",
            );
        }
        points.push((at, value?));
    }
    if points.is_empty() {
        return context.refuse(place, "a rate needs at least one point", format!("write pairs: {EXAMPLE}"));
    }
    Some(points)
}
