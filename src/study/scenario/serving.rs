//! Readers of what a service does at its door: hints, rate limits, scripts, queues, and which attempts it turns away.

use super::diagnostics::Place;
use super::distributions::distribution;
use super::machines;
use super::node::{Node, Value};
use super::reader::{Context, Fields, Variant, choose, tagged, unit};
use super::scalars::{boolean, count, duration, list, number, one_of, rate, share, some_duration, word_or};
use crate::measure::time::Duration;
use crate::retry::outcome::Outcome;
use crate::service::admission::Shed;
use crate::service::codel::Codel;
use crate::service::criticality::Criticality;
use crate::service::hint::Hint;
use crate::service::limit::RateLimit;
use crate::service::load_time::LoadTime;
use crate::service::script::Answer;
use crate::service::{Order, Service};

const HINTS: &[Variant] = &[unit("window"), tagged("random", r#"{ uniform = { low = "1s", high = "5s" } }"#)];

const LIMITS: &[Variant] =
    &[tagged("window", r#"{ limit = 500, every = "60s" }"#), tagged("token_bucket", r#"{ rate = "100/s", burst = 50 }"#)];

const LOADS: &[Variant] =
    &[unit("none"), tagged("scalability", r#"{ contention = 0.05, coherency = 0.001 }"#), tagged("linear", r#"{ per_attempt = "10ms" }"#)];

const ANSWERS: &[Variant] = &[
    tagged("throttled", r#"{ retry_after = "5s" }"#),
    tagged("rejected", r#"{ retry_after = "5s" }"#),
    tagged("error", r#"{ delay = "1s" }"#),
    tagged("conflict", r#"{ delay = "1s" }"#),
    tagged("ok", r#"{ delay = "1s" }"#),
    tagged("delay", "\"15s\""),
];

/// The classes of calls, the most important first.
pub const CRITICALITIES: &[(&str, Criticality)] = &[
    ("critical_plus", Criticality::CriticalPlus),
    ("critical", Criticality::Critical),
    ("sheddable_plus", Criticality::SheddablePlus),
    ("sheddable", Criticality::Sheddable),
];

/// A plain service, but for what is read here.
pub fn rest(context: &mut Context, fields: &mut Fields) -> Option<Service> {
    let rate_limit = fields.or(context, "rate_limit", "none", word_or("none", rate_limit));
    let script = fields.or(context, "script", Value::List(Vec::new()), script);
    let permanent_rate = fields.or(context, "permanent_rate", 0.0, share);
    let reject_time = fields.or(context, "reject_time", "0s", distribution);
    let shed = fields.or(context, "shed", "none", one_of(&[("none", Shed::None), ("expired", Shed::Expired), ("doomed", Shed::Doomed)]));
    let load_time = fields.or(context, "load_time", "none", load_time);
    let sharing = fields.or(context, "sharing", false, boolean);
    let in_service_limit = fields.or(context, "in_service_limit", "unlimited", word_or("unlimited", count(1)));
    let reserves = fields.or(context, "time_drawn", "start", one_of(&[("start", false), ("arrival", true)]));
    let cache = fields.or(context, "cache", "none", word_or("none", machines::cache));
    let autoscaler = fields.or(context, "autoscaler", "none", word_or("none", machines::autoscaler));
    let crash = fields.or(context, "crash", "none", word_or("none", machines::crash));
    Some(Service {
        crash: crash?,
        cache: cache?,
        autoscaler: autoscaler?,
        rate_limit: rate_limit?,
        script: script?,
        permanent_rate: permanent_rate?,
        reject_time: reject_time?,
        shed: shed?,
        load_time: load_time?,
        sharing: sharing?,
        in_service_limit: in_service_limit?,
        reserves: reserves?,
        ..Service::plain()
    })
}

/// Whether a service differs from a plain one in one of the keys that are read here.
pub fn differs(service: &Service, key: &str) -> bool {
    match key {
        "rate_limit" => service.rate_limit.is_some(),
        "script" => !service.script.is_empty(),
        "permanent_rate" => service.permanent_rate > 0.0,
        "reject_time" => !service.reject_time.is_zero(),
        "shed" => service.shed != Shed::None,
        "load_time" => service.load_time.is_some(),
        "sharing" => service.sharing,
        "time_drawn" => service.reserves,
        _ => service.in_service_limit.is_some(),
    }
}

/// What no single key shows; `places` say where the keys stand.
pub fn fits_together(context: &mut Context, service: &Service, places: &[(&str, Place)]) {
    let key = |key: &str| places.iter().find(|(known, _)| *known == key).map_or_else(Default::default, |(_, place)| *place);
    if service.retry_after == Some(Hint::Window) && service.rate_limit.is_none() {
        context.problem(
            key("retry_after"),
            "the hint \"window\" is that of a rate limit, and there is none",
            "add `rate_limit = { window = { limit = 500, every = \"60s\" } }`, or write a length of time",
        );
    }
    if service.error_rate + service.permanent_rate > 1.0 {
        context.problem(key("permanent_rate"), "`error_rate` and `permanent_rate` are more than 1 together", "write smaller shares");
    }
    if service.shed == Shed::Doomed && !service.time.mean().is_finite() {
        context.problem(
            key("shed"),
            "\"doomed\" compares with the mean of `time`, which is infinite",
            "write \"expired\", or a time with a finite mean",
        );
    }
    if service.sharing && service.workers.is_none() {
        context.problem(
            key("sharing"),
            "unlimited workers have nothing to share",
            "write how many `workers` there are, or `sharing = false`",
        );
    }
    if !service.sharing && service.in_service_limit.is_some() {
        let help = "add `sharing = true`, or leave it out: otherwise `workers` is how many are in service";
        context.problem(key("in_service_limit"), "`in_service_limit` is for workers that share", help);
    }
}

/// What a hint is: `"none"` is read by the caller.
pub fn hint(context: &mut Context, node: &mut Node) -> Option<Hint> {
    if !matches!(&node.value, Value::Table(_)) && node.text() != Some("window") {
        let before = context.problems.len();
        let constant = duration(context, node).map(Hint::Constant);
        for problem in &mut context.problems[before..] {
            problem.help.push_str(", or \"window\", or { random = { uniform = { low = \"1s\", high = \"5s\" } } }");
        }
        return constant;
    }
    match choose(context, node, "a hint", HINTS)? {
        ("random", Some(value)) => distribution(context, value).map(Hint::Random),
        _ => Some(Hint::Window),
    }
}

fn rate_limit(context: &mut Context, node: &mut Node) -> Option<RateLimit> {
    let (name, value) = choose(context, node, "a rate limit", LIMITS)?;
    let mut fields = Fields::open(context, value?, format!("`{name}`"))?;
    let limit = if name == "window" {
        let limit = fields.required(context, "limit", "500", count(1));
        let every = fields.required(context, "every", "\"60s\"", some_duration);
        limit.zip(every).map(|(limit, every)| RateLimit::Window { limit, every })
    } else {
        let rate = fields.required(context, "rate", "\"100/s\"", some_rate);
        let burst = fields.required(context, "burst", "50", count(1));
        let fill = fields.or(context, "fill", "continuous", word_or("continuous", some_duration));
        rate.zip(burst).zip(fill).map(|((rate, burst), fill)| RateLimit::TokenBucket { rate, burst, fill })
    };
    fields.finish(context);
    limit
}

fn some_rate(context: &mut Context, node: &mut Node) -> Option<f64> {
    let rate = rate(context, node)?;
    if rate == 0.0 {
        return context.refuse(node.place, "at this rate no token ever comes back", "write a rate above zero, such as \"100/s\"");
    }
    Some(rate)
}

fn script(context: &mut Context, node: &mut Node) -> Option<Vec<Answer>> {
    let items = list(context, node, r#"["503", "503", "200"]"#)?;
    let answers: Vec<Option<Answer>> = items.iter_mut().map(|item| answer(context, item)).collect();
    answers.into_iter().collect()
}

fn answer(context: &mut Context, node: &mut Node) -> Option<Answer> {
    const HELP: &str = "write a status code such as \"503\", one of ok error rejected throttled refused conflict permanent hang, \
                        or a table such as { delay = \"15s\" }";
    match &node.value {
        Value::Text(word) => match Answer::from_word(word) {
            Some(answer) => return Some(answer),
            None => {
                let message = format!("`{word}` is nothing that a service answers");
                return context.refuse(node.place, message, HELP);
            }
        },
        Value::Table(_) => {}
        other => {
            let message = format!("an answer is not {}", other.kind());
            return context.refuse(node.place, message, HELP);
        }
    }
    let (name, value) = choose(context, node, "an answer", ANSWERS)?;
    let value = value?;
    let outcome = match name {
        "delay" => return duration(context, value).map(|delay| Answer::Work(Outcome::Ok, Some(delay))),
        "throttled" => Outcome::Throttled,
        "rejected" => Outcome::Rejected,
        "error" => Outcome::Error,
        "conflict" => Outcome::Conflict,
        _ => Outcome::Ok,
    };
    let mut fields = Fields::open(context, value, format!("`{name}`"))?;
    let answer = match outcome {
        Outcome::Throttled | Outcome::Rejected => fields.optional(context, "retry_after", hint).map(|hint| Answer::AtOnce(outcome, hint)),
        _ => fields.optional(context, "delay", duration).map(|delay| Answer::Work(outcome, delay)),
    };
    fields.finish(context);
    answer
}

fn load_time(context: &mut Context, node: &mut Node) -> Option<Option<LoadTime>> {
    let (name, value) = choose(context, node, "a time that depends on the load", LOADS)?;
    let Some(value) = value else {
        return Some(None);
    };
    let mut fields = Fields::open(context, value, format!("`{name}`"))?;
    let load = if name == "linear" {
        fields.required(context, "per_attempt", "\"10ms\"", duration).map(LoadTime::Linear)
    } else {
        let contention = fields.required(context, "contention", "0.05", number(0.0, 1.0));
        let coherency = fields.required(context, "coherency", "0.001", number(0.0, 1.0));
        contention.zip(coherency).map(|(contention, coherency)| LoadTime::Scalability { contention, coherency })
    };
    fields.finish(context);
    load.map(Some)
}

/// A queue as it is written.
pub struct WrittenQueue {
    /// How many may wait; None is unlimited.
    pub limit: Option<u32>,
    /// Who is next.
    pub order: Order,
    /// How long an attempt may wait for its turn.
    pub max_wait: Option<Duration>,
    /// What watches the waits.
    pub codel: Option<Codel>,
}

const ORDERS: &[(&str, Order)] = &[
    ("fifo", Order::Fifo),
    ("lifo", Order::Lifo),
    ("random", Order::Random),
    ("adaptive_lifo", Order::AdaptiveLifo(0)),
    ("priority", Order::Priority),
];

/// A queue from its table.
pub fn queue(context: &mut Context, node: &mut Node) -> Option<WrittenQueue> {
    let mut fields = Fields::open(context, node, "`queue`")?;
    let limit = fields.or(context, "limit", "unlimited", word_or("unlimited", count(0)));
    let order = fields.or(context, "order", "fifo", one_of(ORDERS));
    let lifo_above = fields.or(context, "lifo_above", 0, count(0));
    let max_wait = fields.or(context, "max_wait", "none", word_or("none", duration));
    let codel = fields.or(context, "codel", "none", word_or("none", codel));
    fields.finish(context);
    let order = match order? {
        Order::AdaptiveLifo(_) => Order::AdaptiveLifo(lifo_above?),
        other => other,
    };
    Some(WrittenQueue { limit: limit?, order, max_wait: max_wait?, codel: codel? })
}

fn codel(context: &mut Context, node: &mut Node) -> Option<Codel> {
    let mut fields = Fields::open(context, node, "`codel`")?;
    let target = fields.or(context, "target", "5ms", some_duration);
    let interval = fields.or(context, "interval", "100ms", some_duration);
    fields.finish(context);
    Some(Codel { target: target?, interval: interval? })
}
