//! Readers of services and of the links to them.

use super::diagnostics::Place;
use super::distributions::distribution;
use super::machines::{self, Replicas, WAYS};
use super::node::{Entry, Node, Value};
use super::reader::{Context, Fields};
use super::references::PolicyReference;
use super::scalars::{boolean, count, list, number, one_of, share, text, word_or};
use super::serving::{self, hint, queue};
use crate::link::{Link, Replies};
use crate::measure::distribution::Distribution;
use crate::measure::time::Duration;
use crate::service::{Abandoned, Service};

const REPLIES: &[(&str, Replies)] = &[("all", Replies::All), ("failures", Replies::Failures)];

const ABANDONED: &[(&str, Abandoned)] = &[("serve", Abandoned::Serve), ("skip", Abandoned::Skip), ("cancel", Abandoned::Cancel)];

/// A service as it is written: what it calls is still a name.
pub struct WrittenService {
    /// Its numbers.
    pub service: Service,
    /// Whether it is an optimistic row.
    pub optimistic: bool,
    /// What its workers call.
    pub calls: Vec<WrittenCall>,
    /// Its replicas.
    pub replicas: Replicas,
}

/// What a worker calls.
pub struct WrittenCall {
    /// The name of the service, where it was written.
    pub service: Node,
    /// What the worker does after a failure.
    pub policy: PolicyReference,
    /// Whether the call has no more time than is left to the attempt that the worker is busy with.
    pub inherits_deadline: bool,
    /// The share of calls that need it.
    pub share: f64,
}

/// The keys whose places are kept for problems of the service as a whole. An optimistic row has none of them.
const PLAIN_KEYS: [&str; 14] = [
    "time_drawn",
    "speed",
    "queue",
    "abandoned",
    "error_rate",
    "retry_after",
    "rate_limit",
    "script",
    "permanent_rate",
    "reject_time",
    "shed",
    "load_time",
    "sharing",
    "in_service_limit",
];

/// Refuses what an optimistic row has not: any number of writes goes on at once, nobody waits, and none fails but by conflict.
fn only_a_row(context: &mut Context, service: &Service, places: &[(&str, Place)]) {
    let plain = Service { down: service.down, workers: None, ..Service::plain() };
    let differs = |key: &str| match key {
        "speed" => service.speed != plain.speed,
        "queue" => service.queue_limit.is_some() || service.order != plain.order || service.max_wait.is_some() || service.codel.is_some(),
        "abandoned" => service.abandoned != plain.abandoned,
        "error_rate" => service.error_rate > 0.0,
        "retry_after" => service.retry_after.is_some(),
        other => serving::differs(service, other),
    };
    for (key, place) in places.iter().filter(|(key, _)| differs(key)) {
        context.problem(
            *place,
            format!("an optimistic row has no `{key}`"),
            format!("leave out `{key}`: a row takes any number of writes at once and turns nobody away"),
        );
    }
}

/// A service from its table.
pub fn service(context: &mut Context, node: &mut Node, name: &str) -> Option<WrittenService> {
    let is_scripted = matches!(node.get("script").map(|script| &script.value), Some(Value::List(items)) if !items.is_empty());
    let mut fields = Fields::open(context, node, format!("[service.{name}]"))?;
    let optimistic = fields.or(context, "optimistic", false, boolean);
    let is_optimistic = optimistic == Some(true);
    let limited = if is_optimistic { Value::from("unlimited") } else { Value::from(1) };
    let workers_place = fields.place_of("workers");
    let workers = fields.or(context, "workers", limited, word_or("unlimited", count(0)));
    let time = if is_optimistic || is_scripted {
        fields.or(context, "time", "0s", distribution)
    } else {
        fields.required(context, "time", "{ exponential = { mean = \"100ms\" } }", distribution)
    };
    let places = PLAIN_KEYS.map(|key| (key, fields.place_of(key)));
    let speed = fields.or(context, "speed", 1.0, number(0.0, 1e6));
    let queue = fields.or(context, "queue", Value::empty_table(), queue);
    let abandoned = fields.or(context, "abandoned", "serve", one_of(ABANDONED));
    let error_rate = fields.or(context, "error_rate", 0.0, share);
    let down = fields.or(context, "down", "none", word_or("none", one_of(WAYS)));
    let retry_after = fields.or(context, "retry_after", "none", word_or("none", hint));
    let calls_place = fields.place_of("calls");
    let calls = fields.or(context, "calls", Value::List(Vec::new()), calls);
    let crash_place = fields.place_of("crash");
    let rest = serving::rest(context, &mut fields);
    let replicas = machines::replicas(context, &mut fields);
    fields.finish(context);
    if is_optimistic && workers.is_some_and(|workers| workers.is_some()) {
        context.problem(workers_place, "an optimistic row has no limit of workers", "leave out `workers`, or write \"unlimited\"");
    }
    let calls = calls?;
    if is_optimistic && !calls.is_empty() {
        context.problem(calls_place, "an optimistic row calls nothing", "leave out `calls`");
    }
    let (queue, rest, replicas) = (queue?, rest?, replicas?);
    let service = Service {
        workers: workers?,
        time: time?,
        speed: speed?,
        queue_limit: queue.limit,
        order: queue.order,
        max_wait: queue.max_wait,
        codel: queue.codel,
        abandoned: abandoned?,
        error_rate: error_rate?,
        down: down?,
        retry_after: retry_after?,
        inherits_deadline: calls.iter().map(|call| call.inherits_deadline).collect(),
        shares: calls.iter().map(|call| call.share).collect(),
        ..rest
    };
    serving::fits_together(context, &service, &places);
    machines::can_scale(context, workers_place, &service);
    if is_optimistic {
        only_a_row(context, &service, &places);
        machines::only_a_row(context, calls_place, &service, &replicas);
    } else {
        machines::can_die(context, crash_place, &service);
    }
    Some(WrittenService { service, optimistic: optimistic?, calls, replicas })
}

fn calls(context: &mut Context, node: &mut Node) -> Option<Vec<WrittenCall>> {
    let mut calls = Vec::new();
    for call in list(context, node, r#"[{ service = "db", policy = "standard" }]"#)? {
        let mut fields = Fields::open(context, call, "an entry of `calls`")?;
        let service = fields.required(context, "service", "\"db\"", |context, node| text(context, node).map(|_| node.clone()));
        let policy = fields.or(context, "policy", Value::empty_table(), PolicyReference::read);
        let inherits_deadline = fields.or(context, "inherits_deadline", false, boolean);
        let share = fields.or(context, "share", 1.0, share);
        fields.finish(context);
        calls.push(WrittenCall { service: service?, policy: policy?, inherits_deadline: inherits_deadline?, share: share? });
    }
    Some(calls)
}

/// The links of a scenario: one for all edges, and the edges that differ.
pub struct Links {
    /// For every edge that has none of its own.
    pub common: Link,
    /// Edges with their own: name and link.
    pub edges: Vec<(String, Link)>,
}

/// The links from their table. `edges` are the names of all edges.
pub fn links(context: &mut Context, node: &mut Node, edges: &[String]) -> Option<Links> {
    let mut fields = Fields::open(context, node, "[link]")?;
    let delay = fields.or(context, "delay", "0s", distribution);
    let loss = fields.or(context, "loss", 0.0, share);
    let replies = fields.or(context, "replies", "all", one_of(REPLIES));
    let (delay, loss) = (delay.unwrap_or(Distribution::Constant(Duration::ZERO)), loss.unwrap_or(0.0));
    let common = Link { delay, loss, replies: replies.unwrap_or(Replies::All) };
    let mut own = Vec::new();
    let names: Vec<&str> = edges.iter().map(String::as_str).collect();
    for Entry { key, place, node } in fields.others() {
        if !edges.contains(key) {
            let known: Vec<&str> = ["delay", "loss", "replies"].into_iter().chain(names.iter().copied()).collect();
            context.problem(*place, format!("[link] has no key and no edge `{key}`"), super::diagnostics::did_you_mean(key, &known));
            continue;
        }
        if let Some(link) = edge(context, node, key, &common) {
            own.push((key.clone(), link));
        }
    }
    Some(Links { common, edges: own })
}

/// What an edge leaves out is not written into the tree: it follows [link], also where a fault changes that.
fn edge(context: &mut Context, node: &mut Node, name: &str, common: &Link) -> Option<Link> {
    let mut fields = Fields::open(context, node, format!("[link.\"{name}\"]"))?;
    let delay = fields.optional(context, "delay", distribution);
    let loss = fields.optional(context, "loss", share);
    let replies = fields.optional(context, "replies", one_of(REPLIES));
    fields.finish(context);
    let (delay, loss) = (delay?.unwrap_or_else(|| common.delay.clone()), loss?.unwrap_or(common.loss));
    Some(Link { delay, loss, replies: replies?.unwrap_or(common.replies) })
}
