//! Readers of what a service is made of: replicas behind a balancer, caches, autoscalers, and processes that die.

use super::diagnostics::{Place, did_you_mean};
use super::node::{Entry, Node, Value};
use super::reader::{Context, Fields};
use super::scalars::{count, duration, number, one_of, share, some_duration, whole, word_or};
use crate::service::autoscaler::{Autoscaler, Signal};
use crate::service::balancer::{Balancer, Ejection, Rule};
use crate::service::cache::Cache;
use crate::service::crash::Crash;
use crate::service::{Down, Service};

/// Replicas of a service, at most.
const MOST_REPLICAS: i64 = 1000;

/// The ways to be down.
pub const WAYS: &[(&str, Down)] = &[("refuse", Down::Refuse), ("hang", Down::Hang), ("hold", Down::Hold)];

const RULES: &[(&str, Rule)] =
    &[("round_robin", Rule::RoundRobin), ("random", Rule::Random), ("least_loaded", Rule::LeastLoaded), ("two_choices", Rule::TwoChoices)];

/// The replicas of a service, as they are written.
pub struct Replicas {
    count: u32,
    /// How attempts are spread over them.
    pub balancer: Balancer,
    differences: Vec<(u32, Difference)>,
}

/// In what one replica differs from the others.
struct Difference {
    down: Option<Option<Down>>,
    workers: Option<Option<u32>>,
    speed: Option<f64>,
    error_rate: Option<f64>,
}

impl Replicas {
    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The numbers of each.
    pub fn of(&self, service: &Service) -> Vec<Service> {
        let mut replicas = vec![service.clone(); self.count as usize];
        for (index, difference) in &self.differences {
            let replica = &mut replicas[*index as usize];
            replica.down = difference.down.unwrap_or(replica.down);
            replica.workers = difference.workers.unwrap_or(replica.workers);
            replica.speed = difference.speed.unwrap_or(replica.speed);
            replica.error_rate = difference.error_rate.unwrap_or(replica.error_rate);
        }
        replicas
    }
}

/// The replicas of a service from its keys.
pub fn replicas(context: &mut Context, fields: &mut Fields) -> Option<Replicas> {
    let count = fields.or(context, "replicas", 1, whole(1, MOST_REPLICAS));
    let rule = fields.or(context, "balancer", "round_robin", one_of(RULES));
    let ejection = fields.or(context, "ejection", "none", word_or("none", ejection));
    let count = u32::try_from(count?).ok()?;
    let differences = fields.optional(context, "replica", |context, node| differences(context, node, count));
    Some(Replicas { count, balancer: Balancer { rule: rule?, ejection: ejection? }, differences: differences?.unwrap_or_default() })
}

fn ejection(context: &mut Context, node: &mut Node) -> Option<Ejection> {
    let mut fields = Fields::open(context, node, "`ejection`")?;
    let consecutive = fields.or(context, "consecutive", 5, count(1));
    let time = fields.or(context, "time", "30s", some_duration);
    let most = fields.or(context, "most", "50%", share);
    fields.finish(context);
    Some(Ejection { consecutive: consecutive?, time: time?, most: most? })
}

/// A cache from its table; `"none"` is read by the caller.
pub fn cache(context: &mut Context, node: &mut Node) -> Option<Cache> {
    let mut fields = Fields::open(context, node, "`cache`")?;
    let hit_rate = fields.required(context, "hit_rate", "0.9", share);
    let time = fields.or(context, "time", "1ms", some_duration);
    let keys = fields.or(context, "keys", 100_000, count(1));
    fields.finish(context);
    Some(Cache { hit_rate: hit_rate?, time: time?, keys: keys? })
}

const SIGNALS: &[(&str, Signal)] =
    &[("busy", Signal::Busy), ("cpu", Signal::Cpu), ("queue", Signal::Queue), ("arrivals", Signal::Arrivals), ("goodput", Signal::Goodput)];

/// An autoscaler from its table; `"none"` is read by the caller.
pub fn autoscaler(context: &mut Context, node: &mut Node) -> Option<Autoscaler> {
    let mut fields = Fields::open(context, node, "`autoscaler`")?;
    let signal = fields.required(context, "signal", "\"busy\"", one_of(SIGNALS));
    let place = fields.place_of("target");
    let target = match signal {
        Some(Signal::Busy | Signal::Cpu) => fields.required(context, "target", "\"70%\"", share),
        Some(_) => fields.required(context, "target", "5", number(0.0, 1e9)),
        // What fits a signal that is not known cannot be said.
        None => fields.optional(context, "target", |_, _| Some(())).and(None),
    };
    if target == Some(0.0) {
        context.problem(place, "a target of nothing wants workers without end", "write a target above zero");
    }
    let every = fields.or(context, "every", "15s", some_duration);
    let lag = fields.or(context, "lag", "60s", duration);
    let least = fields.or(context, "least", 1, count(1));
    let most_place = fields.place_of("most");
    let most = fields.required(context, "most", "100", count(1));
    let step = fields.or(context, "step", Value::from("unlimited"), word_or("unlimited", count(1)));
    let tolerance = fields.or(context, "tolerance", 0.1, share);
    fields.finish(context);
    if least.zip(most).is_some_and(|(least, most)| most < least) {
        context.problem(most_place, "`most` is below `least`", "write a greater `most`, or a smaller `least`");
    }
    let step = step?.unwrap_or(u32::MAX);
    let (signal, target, every, lag) = (signal?, target?, every?, lag?);
    Some(Autoscaler { signal, target, every, lag, least: least?, most: most?, step, tolerance: tolerance? })
}

/// Of what a process dies, from its table; `"none"` is read by the caller.
pub fn crash(context: &mut Context, node: &mut Node) -> Option<Crash> {
    let mut fields = Fields::open(context, node, "`crash`")?;
    let queue = fields.required(context, "queue", "10000", count(1));
    // Who dies holds nothing: the network may, which is a fault of its own.
    let down = fields.or(context, "down", "refuse", one_of(&WAYS[..2]));
    let restart = fields.or(context, "restart", "30s", some_duration);
    let cold = fields.or(context, "cold", "60s", duration);
    let cold_speed = fields.or(context, "cold_speed", 0.2, share);
    let steps = fields.or(context, "steps", 20, whole(1, 1000));
    fields.finish(context);
    Some(Crash { queue: queue?, down: down?, restart: restart?, cold: cold?, cold_speed: cold_speed?, steps: u32::try_from(steps?).ok()? })
}

/// What a process needs to die of its queue.
pub fn can_die(context: &mut Context, place: Place, service: &Service) {
    if service.crash.is_some() && service.places().is_none() {
        let message = "a process dies of its queue, and where all are in service at once nobody waits";
        let help = "write how many `workers` there are, or, where they share, an `in_service_limit`; or leave out `crash`";
        context.problem(place, message, help);
    }
}

/// What an autoscaler needs of its service.
pub fn can_scale(context: &mut Context, place: Place, service: &Service) {
    if service.autoscaler.is_some() && (service.workers.is_none() || service.sharing) {
        let message = "an autoscaler needs a number of workers that do not share";
        context.problem(place, message, "write how many `workers` there are at first, and leave out `sharing`");
    }
}

/// What a replica leaves out is not written into the tree: it follows its service, also where a fault changes that.
fn differences(context: &mut Context, node: &mut Node, count: u32) -> Option<Vec<(u32, Difference)>> {
    let (place, kind) = (node.place, node.value.kind());
    let Value::Table(entries) = &mut node.value else {
        return context.refuse(place, format!("`replica` must be a table, not {kind}"), "write a number and keys: replica.0.speed = 0.5");
    };
    let mut found = Vec::new();
    for Entry { key, place, node } in entries {
        let Some(index) = key.parse::<u32>().ok().filter(|index| *index < count && index.to_string() == *key) else {
            let message = format!("there is no replica `{key}`: there are {count}, counted from 0");
            context.problem(*place, message, format!("write a number from 0 to {}, or more `replicas`", count - 1));
            continue;
        };
        found.push((index, difference(context, node, index)?));
    }
    Some(found)
}

fn difference(context: &mut Context, node: &mut Node, index: u32) -> Option<Difference> {
    let mut fields = Fields::open(context, node, format!("replica {index}"))?;
    let down = fields.optional(context, "down", word_or("none", one_of(WAYS)));
    let workers = fields.optional(context, "workers", word_or("unlimited", count(0)));
    let speed = fields.optional(context, "speed", number(0.0, 1e6));
    let error_rate = fields.optional(context, "error_rate", share);
    fields.finish(context);
    Some(Difference { down: down?, workers: workers?, speed: speed?, error_rate: error_rate? })
}

/// Refuses what an optimistic row has not.
pub fn only_a_row(context: &mut Context, place: Place, service: &Service, replicas: &Replicas) {
    let machines = [
        ("replicas", replicas.count > 1),
        ("cache", service.cache.is_some()),
        ("autoscaler", service.autoscaler.is_some()),
        ("crash", service.crash.is_some()),
    ];
    for (key, _) in machines.into_iter().filter(|(_, differs)| *differs) {
        context.problem(
            place,
            format!("an optimistic row has no `{key}`"),
            format!("leave out `{key}`: there is one row, and it takes any number of writes at once"),
        );
    }
}

/// Whether a fault may change this key of a single replica.
pub fn changeable(key: &str) -> Result<(), String> {
    let keys = ["down", "workers", "speed", "error_rate"];
    if keys.contains(&key) { Ok(()) } else { Err(did_you_mean(key, &keys)) }
}
