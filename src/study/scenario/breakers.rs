//! Readers of breakers: when they open, for how long, what closes them, and what a caller does meanwhile.

use super::diagnostics::Place;
use super::node::{Node, Value};
use super::reader::{Context, Fields, Variant, choose, tagged, unit};
use super::scalars::{boolean, count, duration, list, number, one_of, share, some_duration, whole, word_or};
use super::scopes::scope;
use crate::measure::time::Duration;
use crate::retry::breaker::rule::{Blocks, Judged, Limit, Of, Rule};
use crate::retry::breaker::{Around, Breaker, Closing, Growth, Opening, Others, Rejection, Side};
use crate::retry::outcome::{FAILURES, Outcome, OutcomeSet};

const BREAKERS: &[Variant] = &[
    unit("none"),
    tagged("count_window", r#"{ rate = "50%", open = "60s" }"#),
    tagged("time_window", r#"{ rate = "50%", open = "5s" }"#),
    tagged("average", r#"{ success_rate = "80%", open = "5s" }"#),
    tagged("cumulative", r#"{ rate = "10%", open = "30s" }"#),
    tagged("consecutive", r#"{ failures = 5, open = "30s" }"#),
];

const OPENINGS: &[Variant] = &[tagged("exponential", r#"{ initial = "5s", cap = "300s" }"#)];

/// Every outcome that is a failure, by its name; `permanent` is the last.
pub(super) const COUNTED: &[(&str, Outcome)] = &[
    ("error", Outcome::Error),
    ("rejected", Outcome::Rejected),
    ("throttled", Outcome::Throttled),
    ("refused", Outcome::Refused),
    ("timeout", Outcome::Timeout),
    ("conflict", Outcome::Conflict),
    ("permanent", Outcome::Permanent),
];

/// The longest window of results, and the most buckets of one of time.
const MOST_RESULTS: i64 = 1_000_000;
const MOST_BUCKETS: i64 = 1000;

/// A breaker, or none.
pub fn breaker(context: &mut Context, node: &mut Node) -> Option<Option<Breaker>> {
    let (name, value) = choose(context, node, "a breaker", BREAKERS)?;
    let Some(value) = value else {
        return Some(None);
    };
    let mut fields = Fields::open(context, value, format!("`{name}`"))?;
    let rule = match name {
        "count_window" => count_window(context, &mut fields),
        "time_window" => time_window(context, &mut fields),
        "average" => average(context, &mut fields),
        "cumulative" => cumulative(context, &mut fields),
        _ => fields.required(context, "failures", "5", count(1)).map(|failures| Rule::Consecutive { failures }),
    };
    let breaker =
        if rule.is_some_and(|rule| rule.never_opens()) { blocks_retries(context, &mut fields) } else { opens(context, &mut fields) };
    fields.finish(context);
    Some(Some(Breaker { rule: rule?, ..breaker? }))
}

/// What any breaker has that opens; its rule is yet to be put in.
fn opens(context: &mut Context, fields: &mut Fields) -> Option<Breaker> {
    let opening = fields.required(context, "open", "\"30s\"", opening);
    let probes = fields.or(context, "probes", 1, count(1));
    let closing = fields.or(context, "close_after", 1, closing);
    let others = fields.or(context, "others", "reject", one_of(&[("reject", Others::Reject), ("wait", Others::Wait)]));
    let counts = fields.or(context, "counts", all_failures(), counts);
    let around = fields.or(context, "around", "attempts", one_of(&[("attempts", Around::Attempts), ("call", Around::Call)]));
    let rejection = rejection(context, fields);
    let scope = scope(context, fields);
    let (around, rejection) = (around?, rejection?);
    if around == Around::Call && rejection != Rejection::EndsCall {
        let message = "a breaker around the call has no attempt to put off: the retries are inside it";
        return context.refuse(fields.place_of("rejection"), message, "write rejection = \"ends_call\", or around = \"attempts\"");
    }
    let rule = Rule::Consecutive { failures: 1 };
    Some(Breaker {
        rule,
        opening: opening?,
        probes: probes?,
        closing: closing?,
        others: others?,
        counts: counts?,
        around,
        rejection,
        scope: scope?,
    })
}

/// What a breaker has that only blocks retries: it never opens, and so has nothing to say about that.
fn blocks_retries(context: &mut Context, fields: &mut Fields) -> Option<Breaker> {
    let mut right = true;
    for key in ["open", "probes", "close_after", "others", "around"] {
        let nothing = |context: &mut Context, node: &mut Node| {
            let message = format!("a breaker that blocks retries only is never open: it has no `{key}`");
            context.refuse::<()>(node.place, message, format!("leave out `{key}`, or write blocks = \"all\""))
        };
        right &= fields.optional(context, key, nothing).is_some();
    }
    let counts = fields.or(context, "counts", all_failures(), counts);
    let rejection = rejection(context, fields);
    let scope = scope(context, fields);
    if rejection == Some(Rejection::Waits) {
        let message = "a retry that waits until the share has fallen may wait for ever, where no other call makes it fall";
        return context.refuse(fields.place_of("rejection"), message, "write \"ends_call\" or \"uses_attempt\"");
    }
    right.then_some(Breaker {
        rule: Rule::Consecutive { failures: 1 },
        opening: Opening::Fixed(Duration::MAX),
        probes: 1,
        closing: Closing::Successes(1),
        others: Others::Reject,
        counts: counts?,
        around: Around::Attempts,
        rejection: rejection?,
        scope: scope?,
    })
}

fn rejection(context: &mut Context, fields: &mut Fields) -> Option<Rejection> {
    let words = &[("ends_call", Rejection::EndsCall), ("uses_attempt", Rejection::UsesAttempt), ("waits", Rejection::Waits)];
    fields.or(context, "rejection", "ends_call", one_of(words))
}

fn count_window(context: &mut Context, fields: &mut Fields) -> Option<Rule> {
    let size = fields.or(context, "size", 100, whole(1, MOST_RESULTS));
    let limit = limit(context, fields, size.unwrap_or(1), true);
    let judged = fields.or(context, "judged", "failures", one_of(&[("failures", Judged::Failures), ("results", Judged::Results)]));
    let (size, limit) = (u32::try_from(size?).ok()?, limit?);
    if limit.min_calls > size {
        let message = format!("{} calls are never in a window of {size}: this would never open", limit.min_calls);
        return context.refuse(fields.place_of("min_calls"), message, format!("write at most {size}"));
    }
    Some(Rule::CountWindow { size, limit, judged: judged? })
}

fn time_window(context: &mut Context, fields: &mut Fields) -> Option<Rule> {
    let window = fields.or(context, "window", "10s", some_duration);
    let buckets = fields.or(context, "buckets", 10, whole(1, MOST_BUCKETS));
    let limit = limit(context, fields, 20, true);
    let words = &[("failures", Judged::Failures), ("results", Judged::Results), ("buckets", Judged::Buckets)];
    let judged = fields.or(context, "judged", "failures", one_of(words));
    let (window, buckets) = (window?, u32::try_from(buckets?).ok()?);
    if window.0 < u64::from(buckets) {
        let message = format!("{window} in {buckets} buckets is less than a nanosecond for each");
        return context.refuse(fields.place_of("window"), message, "write a longer window, such as \"10s\"");
    }
    Some(Rule::TimeWindow { window, buckets, limit: limit?, judged: judged? })
}

fn average(context: &mut Context, fields: &mut Fields) -> Option<Rule> {
    let window = fields.or(context, "window", "30s", some_duration);
    let success_rate = fields.or(context, "success_rate", "80%", share);
    let min_calls = fields.or(context, "min_calls", 5, count(0));
    let consecutive = fields.or(context, "consecutive", "none", word_or("none", count(1)));
    let (success_rate, consecutive) = (success_rate?, consecutive?);
    if success_rate == 0.0 && consecutive.is_none() {
        let message = "no average is below a success rate of 0: this would never open";
        return context.refuse(fields.place_of("success_rate"), message, "write a share above 0, such as \"80%\"");
    }
    Some(Rule::Average { window: window?, success_rate, min_calls: min_calls?, consecutive })
}

fn cumulative(context: &mut Context, fields: &mut Fields) -> Option<Rule> {
    let limit = limit(context, fields, 1, false);
    let of = fields.or(context, "of", "attempts", one_of(&[("attempts", Of::Attempts), ("calls", Of::Calls)]));
    let blocks = fields.or(context, "blocks", "all", one_of(&[("all", Blocks::All), ("retries", Blocks::Retries)]));
    Some(Rule::Cumulative { limit: limit?, of: of?, blocks: blocks? })
}

/// A share of failures that is too much, and of how many calls at least.
fn limit(context: &mut Context, fields: &mut Fields, min_calls: i64, at_least: bool) -> Option<Limit> {
    let rate = fields.required(context, "rate", "\"50%\"", share);
    let min_calls = fields.or(context, "min_calls", min_calls, count(0));
    let at_least = fields.or(context, "at_least", at_least, boolean);
    let (rate, at_least) = (rate?, at_least?);
    makes_sense(context, fields.place_of("rate"), rate, at_least)?;
    Some(Limit { rate, at_least, min_calls: min_calls? })
}

/// A share that is always reached, or never, decides nothing.
fn makes_sense(context: &mut Context, place: Place, rate: f64, at_least: bool) -> Option<()> {
    match at_least {
        true if rate == 0.0 => {
            context.refuse(place, "there are always failures of 0 or more", "write a share above 0, or at_least = false")
        }
        false if rate == 1.0 => context.refuse(place, "more than all cannot fail", "write a share below 1, or at_least = true"),
        _ => Some(()),
    }
}

fn opening(context: &mut Context, node: &mut Node) -> Option<Opening> {
    if !matches!(node.value, Value::Table(_)) {
        return some_duration(context, node).map(Opening::Fixed);
    }
    let (_, value) = choose(context, node, "a time to stay open", OPENINGS)?;
    let mut fields = Fields::open(context, value?, "`exponential`")?;
    let initial = fields.required(context, "initial", "\"5s\"", some_duration);
    let factor = fields.or(context, "factor", 2.0, number(1.0, 1e9));
    let cap = fields.or(context, "cap", "none", word_or("none", duration));
    let jitter = fields.or(context, "jitter", 0.0, share);
    let side = fields.or(context, "jitter_side", "below", one_of(&[("below", Side::Below), ("above", Side::Above)]));
    let exact_first = fields.or(context, "exact_first", false, boolean);
    let cap_place = fields.place_of("cap");
    fields.finish(context);
    let (initial, cap) = (initial?, cap?.unwrap_or(Duration::MAX));
    if cap < initial {
        let message = format!("the cap {cap} is below the initial {initial}");
        return context.refuse(cap_place, message, format!("write a cap of at least \"{initial}\", or open = \"{initial}\""));
    }
    Some(Opening::Growing(Growth { initial, factor: factor?, cap, jitter: jitter?, side: side?, exact_first: exact_first? }))
}

fn closing(context: &mut Context, node: &mut Node) -> Option<Closing> {
    if !matches!(node.value, Value::Table(_)) {
        return count(1)(context, node).map(Closing::Successes);
    }
    let mut fields = Fields::open(context, node, "`close_after`")?;
    let rate = fields.required(context, "rate", "\"50%\"", share);
    let at_least = fields.or(context, "at_least", true, boolean);
    let place = fields.place_of("rate");
    fields.finish(context);
    let (rate, at_least) = (rate?, at_least?);
    makes_sense(context, place, rate, at_least)?;
    Some(Closing::Share { rate, at_least })
}

fn all_failures() -> Value {
    let word = |outcome: &Outcome| Node { value: Value::from(outcome.name()), place: Place::default() };
    Value::List(FAILURES.iter().map(word).collect())
}

fn counts(context: &mut Context, node: &mut Node) -> Option<OutcomeSet> {
    let words = list(context, node, r#"["error", "timeout"]"#)?;
    let outcomes: Option<Vec<Outcome>> = words.iter_mut().map(|word| one_of(COUNTED)(context, word)).collect();
    Some(OutcomeSet::of(&outcomes?))
}
