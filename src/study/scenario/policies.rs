//! Readers of policies: what a caller does after a failure.

use super::breakers::{COUNTED, breaker};
use super::budgets::{budget, waits};
use super::diagnostics::Place;
use super::distributions::distribution;
use super::hedges;
use super::hints::retry_after;
use super::node::{Node, Value};
use super::pipelines::pipeline;
use super::pools::pool;
use super::reader::{Context, Fields, Variant, choose, tagged, unit};
use super::scalars::{boolean, count, duration, list, number, one_of, share, some_duration, text, word_or};
use crate::measure::time::Duration;
use crate::retry::backoff::{Backoff, Growth};
use crate::retry::breaker::{Breaker, Rejection};
use crate::retry::outcome::{Outcome, OutcomeSet};
use crate::retry::policy::{Idempotent, Policy};
use crate::retry::retrier::{MOST as MOST_RETRIERS, Retrier};
use crate::study::presets;

const BACKOFFS: &[Variant] = &[
    unit("none"),
    tagged("fixed", r#"{ delay = "1s" }"#),
    tagged("exponential", r#"{ base = "100ms", cap = "20s" }"#),
    tagged("equal_jitter", r#"{ base = "100ms", cap = "20s" }"#),
    tagged("decorrelated_jitter", r#"{ base = "100ms", cap = "20s" }"#),
    tagged("random", r#"{ exponential = { mean = "1s" } }"#),
    tagged("custom", r#"{ initial = "100ms", cap = "20s" }"#),
    tagged("full_jitter", r#"{ base = "100ms", cap = "20s" }"#),
];

/// The outcomes that a retry can help.
const TRANSIENT: &[(&str, Outcome)] = COUNTED.split_at(COUNTED.len() - 1).0;

const IDEMPOTENT: &[(&str, Idempotent)] = &[("no", Idempotent::No), ("yes", Idempotent::Yes), ("key", Idempotent::Key)];

/// A policy from its table.
pub fn policy(context: &mut Context, node: &mut Node) -> Option<Policy> {
    presets::expand(context, node)?;
    let mut fields = Fields::open(context, node, "a policy")?;
    fields.optional(context, "preset", text)?;
    let attempts = attempts(context, &mut fields);
    let timeout = fields.or(context, "timeout", "none", word_or("none", some_duration));
    let deadline = fields.or(context, "deadline", "none", word_or("none", some_duration));
    let backoff = fields.or(context, "backoff", "none", backoff);
    let budget = fields.or(context, "budget", "none", budget);
    if budget.as_ref().is_some_and(|budget| budget.as_ref().is_some_and(waits)) && backoff.as_ref().is_some_and(Backoff::is_zero) {
        let help = "give the policy a backoff, such as { fixed = { delay = \"1s\" } }, or write when_empty = \"fail\"";
        context.problem(fields.place_of("budget"), "a throttle that waits needs a backoff: it goes on with the next wait", help);
    }
    let breaker = fields.or(context, "breaker", "none", breaker);
    let retry_on = fields.or(context, "retry_on", transient(), outcomes);
    let retry_after = fields.or(context, "retry_after", "ignore", retry_after);
    let throttled_backoff = fields.or(context, "throttled_backoff", "same", word_or("same", self::backoff));
    if let (Some(backoff), Some(Some(throttled))) = (&backoff, &throttled_backoff) {
        one_memory(context, fields.place_of("throttled_backoff"), backoff, throttled);
    }
    let max_elapsed = fields.or(context, "max_elapsed", "none", word_or("none", some_duration));
    let shared_seed = fields.or(context, "shared_seed", false, boolean);
    let hedge = fields.or(context, "hedge", "none", hedges::hedge);
    let retriers = fields.or(context, "retriers", Value::List(Vec::new()), retriers);
    let waits = matches!(breaker, Some(Some(Breaker { rejection: Rejection::Waits, .. })));
    if waits && retriers.as_ref().is_some_and(|retriers| !retriers.is_empty()) {
        let help = "write rejection = \"uses_attempt\" and a retrier for `rejected`, or `backoff` instead of `retriers`";
        context.problem(
            fields.place_of("breaker"),
            "a breaker that puts attempts off needs one backoff: a retrier's waits are its retries",
            help,
        );
    }
    let idempotent = fields.or(context, "idempotent", "no", one_of(IDEMPOTENT));
    let persistence = fields.or(context, "persistence", 1.0, share);
    let pool = fields.or(context, "pool", "none", word_or("none", pool));
    fields.finish(context);
    Some(Policy {
        attempts: attempts?,
        timeout: timeout?,
        deadline: deadline?,
        backoff: backoff?,
        budget: budget?,
        breaker: breaker?,
        retry_on: retry_on?,
        retry_after: retry_after?,
        hedge: hedge?,
        retriers: retriers?,
        idempotent: idempotent?,
        throttled_backoff: throttled_backoff?,
        max_elapsed: max_elapsed?,
        shared_seed: shared_seed?,
        persistence: persistence?,
        pool: pool?,
    })
}

/// `attempts`, or `retries`, which is one less; left out, one attempt.
fn attempts(context: &mut Context, fields: &mut Fields) -> Option<Option<u32>> {
    if !fields.has("retries") {
        // Retriers have their own counts.
        let default = if fields.has_some("retriers") { Value::from("unlimited") } else { Value::from(1) };
        return fields.or(context, "attempts", default, word_or("unlimited", count(1)));
    }
    let place = fields.place_of("retries");
    let both = fields.has("attempts");
    let retries = fields.optional(context, "retries", word_or("unlimited", count(0)))??;
    if both {
        fields.optional(context, "attempts", |_, _| Some(()));
        return context.refuse(
            place,
            "`attempts` and `retries` say the same thing twice",
            "leave out `retries`; it is one less than `attempts`",
        );
    }
    let attempts = retries.map(|retries| retries.saturating_add(1));
    let written = attempts.map_or(Value::from("unlimited"), |attempts| Value::Whole(i64::from(attempts)));
    fields.replace("retries", "attempts", written);
    fields.optional(context, "attempts", |_, _| Some(attempts)).flatten()
}

fn backoff(context: &mut Context, node: &mut Node) -> Option<Backoff> {
    let (name, value) = choose(context, node, "a backoff", BACKOFFS)?;
    let Some(value) = value else {
        return Some(Backoff::None);
    };
    if name == "random" {
        return distribution(context, value).map(Backoff::Random);
    }
    if name == "custom" {
        return pipeline(context, value).map(|pipeline| Backoff::Custom(Box::new(pipeline)));
    }
    let mut fields = Fields::open(context, value, format!("`{name}`"))?;
    let backoff = match name {
        "fixed" => fields.required(context, "delay", "\"1s\"", duration).map(Backoff::Fixed),
        "decorrelated_jitter" => base_and_cap(context, &mut fields).map(|(base, cap)| Backoff::DecorrelatedJitter { base, cap }),
        grows => growth(context, &mut fields).map(match grows {
            "exponential" => Backoff::Exponential,
            "equal_jitter" => Backoff::EqualJitter,
            _ => Backoff::FullJitter,
        }),
    };
    fields.finish(context);
    backoff
}

/// A call has one memory: where both its backoffs remember, they must remember the same thing.
fn one_memory(context: &mut Context, place: Place, backoff: &Backoff, throttled: &Backoff) {
    if let (Some(one), Some(other)) = (backoff.memory(), throttled.memory())
        && one != other
    {
        let message = "`backoff` and `throttled_backoff` have jitters that remember different things, and a call has one memory";
        context.problem(place, message, "write the same jitter for both, or for one of them a jitter without a memory, such as `multiply`");
    }
}

fn growth(context: &mut Context, fields: &mut Fields) -> Option<Growth> {
    let bounds = base_and_cap(context, fields);
    let factor = fields.or(context, "factor", 2.0, number(1e-3, 1e9));
    let first_exponent = fields.or(context, "first_exponent", 0, count(0));
    let (base, cap) = bounds?;
    Some(Growth { base, cap, factor: factor?, first_exponent: first_exponent? })
}

fn base_and_cap(context: &mut Context, fields: &mut Fields) -> Option<(Duration, Duration)> {
    let base = fields.required(context, "base", "\"100ms\"", duration);
    let cap = fields.or(context, "cap", "none", word_or("none", duration));
    let (base, cap) = (base?, cap?.unwrap_or(Duration::MAX));
    if base > cap {
        let message = format!("the cap {cap} is below the base {base}: every wait would be the cap");
        return context.refuse(
            fields.place_of("cap"),
            message,
            format!("write a cap of at least \"{base}\", or `fixed` for a constant wait"),
        );
    }
    Some((base, cap))
}

fn retriers(context: &mut Context, node: &mut Node) -> Option<Vec<Retrier>> {
    let (place, nodes) = (node.place, list(context, node, r#"[{ on = ["timeout"], retries = 3, backoff = "none" }]"#)?);
    if nodes.len() > MOST_RETRIERS {
        let message = format!("{} retriers are more than the {MOST_RETRIERS} that a call can count", nodes.len());
        return context.refuse(place, message, "write fewer: several outcomes can share one");
    }
    // All are read, whatever is wrong with one of them.
    let retriers: Vec<Option<Retrier>> = nodes.iter_mut().map(|node| retrier(context, node)).collect();
    retriers.into_iter().collect()
}

fn retrier(context: &mut Context, node: &mut Node) -> Option<Retrier> {
    let mut fields = Fields::open(context, node, "a retrier")?;
    let on = fields.required(context, "on", r#"["error", "timeout"]"#, outcomes);
    if on == Some(OutcomeSet::of(&[])) {
        context.problem(
            fields.place_of("on"),
            "a retrier that is for no outcome is never used",
            r#"write some, such as ["error", "timeout"]"#,
        );
    }
    let retries = fields.or(context, "retries", 3, word_or("unlimited", count(0)));
    let backoff = fields.or(context, "backoff", "none", backoff);
    fields.finish(context);
    Some(Retrier { on: on?, retries: retries?, backoff: backoff? })
}

fn transient() -> Value {
    let word = |(name, _): &(&'static str, Outcome)| Node { value: Value::from(*name), place: Default::default() };
    Value::List(TRANSIENT.iter().map(word).collect())
}

/// Outcomes that a retry can help.
pub fn outcomes(context: &mut Context, node: &mut Node) -> Option<OutcomeSet> {
    let words = list(context, node, r#"["error", "timeout"]"#)?;
    let mut read = |word: &mut Node| match word.text() {
        Some("permanent") => context.refuse(word.place, "`permanent` is never worth a retry", "leave it out"),
        _ => one_of(TRANSIENT)(context, word),
    };
    let outcomes: Vec<Option<Outcome>> = words.iter_mut().map(&mut read).collect();
    outcomes.into_iter().collect::<Option<Vec<Outcome>>>().map(|outcomes| OutcomeSet::of(&outcomes))
}
