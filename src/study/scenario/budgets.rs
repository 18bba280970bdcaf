//! Readers of budgets: what limits the attempts of many calls together.

use super::node::{Node, Value};
use super::policies::outcomes;
use super::reader::{Context, Fields, Variant, choose, tagged, unit};
use super::scalars::{boolean, count, list, number, one_of, rate, some_duration, whole};
use super::scopes::scope;
use crate::measure::time::{Duration, NANOSECONDS};
use crate::retry::budget::adaptive_reject::AdaptiveReject;
use crate::retry::budget::bucket::Bucket;
use crate::retry::budget::concurrency::{Concurrency, Limit};
use crate::retry::budget::cubic::Cubic;
use crate::retry::budget::quota::{Quota, Refund};
use crate::retry::budget::ratio::Ratio;
use crate::retry::budget::ratio_cap::{Of, RatioCap};
use crate::retry::budget::token_throttle::{TokenThrottle, WhenEmpty};
use crate::retry::budget::window::{DepositOn, Slots, Window};
use crate::retry::budget::{Budget, Kind, Part};

const QUOTA: Variant = tagged("quota", "{ capacity = 500, cost = 14 }");
const TOKEN_THROTTLE: Variant = tagged("token_throttle", "{ max = 10, ratio = 0.1 }");
const WINDOW: Variant = tagged("window", "{ ratio = 0.2, min_per_second = 10 }");
const CONCURRENCY: Variant = tagged("concurrency", r#"{ share = "20%", min = 3 }"#);
const RATIO_CAP: Variant = tagged("ratio_cap", r#"{ share = "10%" }"#);
const ADAPTIVE_REJECT: Variant = tagged("adaptive_reject", "{ k = 2.0 }");
const CUBIC: Variant = tagged("cubic", "{ beta = 0.7 }");
const BUCKET: Variant = tagged("bucket", r#"{ share = "10%", capacity = 5 }"#);
const RATIO: Variant = tagged("ratio", r#"{ share = "10%" }"#);

/// What can stand in `all`.
const PARTS: &[Variant] = &[QUOTA, TOKEN_THROTTLE, WINDOW, CONCURRENCY, RATIO_CAP, ADAPTIVE_REJECT, CUBIC, BUCKET, RATIO];

const BUDGETS: &[Variant] = &[
    unit("none"),
    tagged("all", r#"[{ quota = {} }, { cubic = {} }]"#),
    QUOTA,
    TOKEN_THROTTLE,
    WINDOW,
    CONCURRENCY,
    RATIO_CAP,
    ADAPTIVE_REJECT,
    CUBIC,
    BUCKET,
    RATIO,
];

/// A budget, or none.
pub fn budget(context: &mut Context, node: &mut Node) -> Option<Option<Budget>> {
    match choose(context, node, "a budget", BUDGETS)? {
        (_, None) => Some(None),
        ("all", Some(value)) => all(context, value).map(Some),
        (name, Some(value)) => part(context, name, value).map(|part| Some(Budget::of(vec![part]))),
    }
}

/// Whether a retry that it does not grant goes on to the next wait.
pub fn waits(budget: &Budget) -> bool {
    budget.parts().iter().any(|part| matches!(&part.kind, Kind::TokenThrottle(throttle) if throttle.when_empty == WhenEmpty::Wait))
}

fn all(context: &mut Context, node: &mut Node) -> Option<Budget> {
    let place = node.place;
    let nodes = list(context, node, r#"[{ quota = {} }, { cubic = {} }]"#)?;
    if nodes.is_empty() {
        return context.refuse(place, "`all` holds no budget", "write at least one, or budget = \"none\"");
    }
    // All are read, whatever is wrong with one of them.
    let read = |node: &mut Node| choose(context, node, "a budget in `all`", PARTS).and_then(|(name, value)| part(context, name, value?));
    let parts: Vec<Option<Part>> = nodes.iter_mut().map(read).collect();
    let parts: Vec<Part> = parts.into_iter().collect::<Option<_>>()?;
    let quotas = |part: &&Part| matches!(part.kind, Kind::Quota(_));
    if parts.iter().filter(quotas).count() > 1 {
        return context.refuse(place, "`all` holds more than one `quota`: a refund would not know which", "leave all but one out");
    }
    Some(Budget::of(parts))
}

fn part(context: &mut Context, name: &'static str, value: &mut Node) -> Option<Part> {
    let mut fields = Fields::open(context, value, format!("`{name}`"))?;
    let kind = match name {
        "quota" => quota(context, &mut fields).map(Kind::Quota),
        "token_throttle" => token_throttle(context, &mut fields).map(Kind::TokenThrottle),
        "window" => window(context, &mut fields).map(Kind::Window),
        "concurrency" => concurrency(context, &mut fields).map(Kind::Concurrency),
        "ratio_cap" => ratio_cap(context, &mut fields).map(Kind::RatioCap),
        "adaptive_reject" => adaptive_reject(context, &mut fields).map(Kind::AdaptiveReject),
        "cubic" => cubic(context, &mut fields).map(Kind::Cubic),
        "bucket" => bucket(context, &mut fields).map(Kind::Bucket),
        _ => ratio(context, &mut fields).map(Kind::Ratio),
    };
    let scope = scope(context, &mut fields);
    fields.finish(context);
    Some(Part { kind: kind?, scope: scope? })
}

/// How many retries a call is worth: a share that may be more than one.
const MOST_RETRIES: f64 = 10.0;

/// A number from 0 to `most`, or a percentage.
fn share_to(most: f64) -> impl FnOnce(&mut Context, &mut Node) -> Option<f64> {
    move |context, node| {
        let help = format!("write a number from 0 to {most}, or \"10%\" (at most \"{}%\")", most * 100.0);
        let (written, value) = match &node.value {
            Value::Whole(whole) => (whole.to_string(), Some(*whole as f64)),
            Value::Number(number) => (number.to_string(), Some(*number)),
            // 7 * 0.01 is 0.07000000000000001; 7 / 100 is 0.07.
            Value::Text(text) => {
                (text.clone(), text.trim().strip_suffix('%').and_then(|part| part.trim().parse().ok()).map(|part: f64| part / 100.0))
            }
            other => (other.kind().to_string(), None),
        };
        match value.filter(|value| (0.0..=most).contains(value)) {
            Some(value) => Some(value),
            None => context.refuse(node.place, format!("{written} is not a share from 0 to {most}"), help),
        }
    }
}

fn ratio(context: &mut Context, fields: &mut Fields) -> Option<Ratio> {
    let share = fields.required(context, "share", "\"10%\"", share_to(MOST_RETRIES));
    let min_per_second = fields.or(context, "min_per_second", 0, |context: &mut Context, node: &mut Node| match node.value {
        Value::Text(_) => rate(context, node),
        _ => number(0.0, 1e9)(context, node),
    });
    let window = fields.or(context, "window", "10s", some_duration);
    Some(Ratio { share: share?, min_per_second: min_per_second?, window: window? })
}

/// A price, a reward, a capacity: a whole number up to a million.
fn tokens(least: i64) -> impl FnOnce(&mut Context, &mut Node) -> Option<u32> {
    move |context, node| whole(least, 1_000_000)(context, node).and_then(|tokens| u32::try_from(tokens).ok())
}

fn quota(context: &mut Context, fields: &mut Fields) -> Option<Quota> {
    let capacity = fields.or(context, "capacity", 500, tokens(1));
    let cost = fields.or(context, "cost", 14, tokens(0));
    let throttled_cost = fields.or(context, "throttled_cost", 5, tokens(0));
    let timeout_cost = fields.or(context, "timeout_cost", Value::Whole(cost.unwrap_or(0).into()), tokens(0));
    let success_reward = fields.or(context, "success_reward", 1, tokens(0));
    let refund = fields.or(context, "refund", "last", one_of(&[("last", Refund::Last), ("none", Refund::None)]));
    let refill = fields.or(context, "refill", "0/s", rate);
    let partial = fields.or(context, "partial", false, boolean);
    Some(Quota {
        capacity: capacity?,
        cost: cost?,
        throttled_cost: throttled_cost?,
        timeout_cost: timeout_cost?,
        success_reward: success_reward?,
        refund: refund?,
        refill: refill?,
        partial: partial?,
    })
}

fn token_throttle(context: &mut Context, fields: &mut Fields) -> Option<TokenThrottle> {
    // Thousandths, of which gRPC knows no parts.
    let thousandths = |tokens: f64| (tokens * 1000.0 + 0.5) as u64;
    let max = fields.or(context, "max", 10, number(0.001, 1e6));
    let ratio = fields.or(context, "ratio", 0.1, number(0.0, 1e6));
    let threshold = fields.or(context, "threshold", 0.5, share_to(1.0));
    let failure_cost = fields.or(context, "failure_cost", 1, number(0.0, 1e6));
    let when_empty = fields.or(context, "when_empty", "fail", one_of(&[("fail", WhenEmpty::Fail), ("wait", WhenEmpty::Wait)]));
    Some(TokenThrottle {
        max: thousandths(max?),
        ratio: thousandths(ratio?),
        threshold: threshold?,
        failure_cost: thousandths(failure_cost?),
        when_empty: when_empty?,
    })
}

/// Both libraries refuse other windows.
fn ttl(context: &mut Context, node: &mut Node) -> Option<Duration> {
    let ttl = some_duration(context, node)?;
    if !(NANOSECONDS..=60 * NANOSECONDS).contains(&ttl.0) {
        return context.refuse(node.place, format!("a window of {ttl} is out of range"), "write a length of time from \"1s\" to \"60s\"");
    }
    Some(ttl)
}

fn window(context: &mut Context, fields: &mut Fields) -> Option<Window> {
    let ratio = fields.or(context, "ratio", 0.2, share_to(MOST_RETRIES));
    let min_per_second = fields.or(context, "min_per_second", 10, tokens(0));
    let ttl = fields.or(context, "ttl", "10s", ttl);
    let slots = fields.or(context, "slots", "tower", one_of(&[("tower", Slots::Tower), ("finagle", Slots::Finagle)]));
    let deposits = &[("call", DepositOn::Call), ("success", DepositOn::Success), ("end", DepositOn::End)];
    let deposit_on = fields.or(context, "deposit_on", "call", one_of(deposits));
    Some(Window { ratio: ratio?, min_per_second: min_per_second?, ttl: ttl?, slots: slots?, deposit_on: deposit_on? })
}

fn concurrency(context: &mut Context, fields: &mut Fields) -> Option<Concurrency> {
    let fixed = fields.has("most");
    if let Some(key) = ["share", "min"].into_iter().find(|key| fixed && fields.has(key)) {
        let place = fields.place_of(key);
        fields.optional(context, "share", |_, _| Some(()));
        fields.optional(context, "min", |_, _| Some(()));
        fields.optional(context, "most", |_, _| Some(()));
        fields.optional(context, "counts_backoff", |_, _| Some(()));
        return context.refuse(place, format!("`most` and `{key}` are two limits"), "leave out `most`, or both `share` and `min`");
    }
    let limit = if fixed {
        fields.required(context, "most", "3", count(0)).map(Limit::Most)
    } else {
        let share = fields.or(context, "share", "20%", share_to(MOST_RETRIES));
        let min = fields.or(context, "min", 3, count(0));
        share.zip(min).map(|(share, min)| Limit::Share { share, min })
    };
    let counts_backoff = fields.or(context, "counts_backoff", true, boolean);
    Some(Concurrency { limit: limit?, counts_backoff: counts_backoff? })
}

fn ratio_cap(context: &mut Context, fields: &mut Fields) -> Option<RatioCap> {
    let share = fields.or(context, "share", "10%", share_to(MOST_RETRIES));
    let of = fields.or(context, "of", "calls", one_of(&[("calls", Of::Calls), ("attempts", Of::Attempts)]));
    let window = fields.or(context, "window", "2m", some_duration);
    Some(RatioCap { share: share?, of: of?, window: window? })
}

fn adaptive_reject(context: &mut Context, fields: &mut Fields) -> Option<AdaptiveReject> {
    let k = fields.or(context, "k", 2.0, number(0.001, 1e6));
    let window = fields.or(context, "window", "2m", some_duration);
    let most = fields.or(context, "most", 1.0, share_to(1.0));
    let only_retries = fields.or(context, "applies_to", "all", one_of(&[("all", false), ("retries", true)]));
    Some(AdaptiveReject { k: k?, window: window?, most: most?, only_retries: only_retries? })
}

fn cubic(context: &mut Context, fields: &mut Fields) -> Option<Cubic> {
    let beta = fields.or(context, "beta", 0.7, number(0.001, 0.999));
    let scale = fields.or(context, "scale", 0.4, number(1e-6, 1e6));
    let smoothing = fields.or(context, "smoothing", 0.8, number(0.001, 1.0));
    let least_rate = fields.or(context, "least_rate", 0.5, number(1e-6, 1e9));
    let throttled = Node { value: Value::from("throttled"), place: Default::default() };
    let cuts_on = fields.or(context, "cuts_on", Value::List(vec![throttled]), outcomes);
    Some(Cubic { beta: beta?, scale: scale?, smoothing: smoothing?, least_rate: least_rate?, cuts_on: cuts_on? })
}

fn bucket(context: &mut Context, fields: &mut Fields) -> Option<Bucket> {
    let share = fields.required(context, "share", "\"10%\"", share_to(MOST_RETRIES));
    let capacity = fields.required(context, "capacity", "5", number(1.0, 1e6));
    let initial = fields.or(context, "initial", capacity.unwrap_or(1.0), number(0.0, 1e6));
    let at_least = fields.or(context, "at_least", true, boolean);
    let place = fields.place_of("initial");
    let (share, capacity, initial, at_least) = (share?, capacity?, initial?, at_least?);
    if initial > capacity {
        let message = format!("a bucket of {capacity} cannot hold {initial} at first");
        return context.refuse(place, message, format!("write at most {capacity}, or a greater `capacity`"));
    }
    Some(Bucket { deposit: share, capacity, initial, at_least })
}
