//! Reader of [run]: how long, how often, how exactly.

use super::node::Node;
use super::node::Value;
use super::reader::{Context, Fields};
use super::scalars::{count, duration, share, some_duration, text, whole, word_or};
use crate::measure::time::{Duration, Time};
use crate::study::experiment::{HalfWidth, Precision};
use crate::study::metrics::{Unit, unit_of};

/// How often and how exactly a scenario is run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSettings {
    /// The seed of every draw.
    pub seed: u64,
    /// Runs of each cell; the least number where there is a precision.
    pub replications: u32,
    /// A stop rule instead of a fixed number of runs.
    pub precision: Option<Precision>,
}

/// The times of a run.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The end; None where all load is finite.
    pub horizon: Option<Time>,
    /// What is left out of the summaries.
    pub warmup: Time,
    /// The width of a bin.
    pub bin: Duration,
}

/// Bins of a time series, at most.
const MOST_BINS: u64 = 1_000_000;

/// [run] from its table. `metrics` are the names that a precision may use.
pub fn run(context: &mut Context, node: &mut Node, metrics: &[String]) -> Option<(Times, RunSettings)> {
    let mut fields = Fields::open(context, node, "[run]")?;
    let horizon = fields.or(context, "horizon", "none", word_or("none", some_duration));
    let warmup = fields.or(context, "warmup", "0s", duration);
    let seed = fields.or(context, "seed", 1, whole(0, i64::MAX));
    let replications = fields.or(context, "replications", 1, count(1));
    let bin = fields.or(context, "bin", "1s", some_duration);
    let precision = fields.optional(context, "precision", |context, node| precision(context, node, metrics));
    let (warmup_place, bin_place, precision_place) = (fields.place_of("warmup"), fields.place_of("bin"), fields.place_of("precision"));
    fields.finish(context);
    let (horizon, warmup, bin, replications) = (horizon?, warmup?, bin?, replications?);
    if let Some(horizon) = horizon {
        if warmup >= horizon {
            context.problem(
                warmup_place,
                format!("the warmup {warmup} leaves nothing of the horizon {horizon}"),
                "write a shorter warmup or a longer horizon",
            );
        }
        if horizon.0.div_ceil(bin.0) > MOST_BINS {
            let least = Duration(horizon.0.div_ceil(MOST_BINS));
            let message = format!("the horizon {horizon} has more than a million bins of {bin}");
            context.problem(bin_place, message, format!("write a bin of at least \"{least}\""));
        }
    }
    let precision = precision?;
    if let Some(precision) = precision.as_ref().filter(|precision| precision.max_replications < replications) {
        let message = format!("max_replications = {} is below replications = {replications}", precision.max_replications);
        context.problem(
            precision_place,
            message,
            "with a precision, `replications` is the least number of runs: lower it, or raise the most",
        );
    }
    let times = Times { horizon: horizon.map(|horizon| Time(horizon.0)), warmup: Time(warmup.0), bin };
    Some((times, RunSettings { seed: u64::try_from(seed?).ok()?, replications, precision }))
}

fn precision(context: &mut Context, node: &mut Node, metrics: &[String]) -> Option<Precision> {
    let mut fields = Fields::open(context, node, "`precision`")?;
    let metric =
        fields.required(context, "metric", "\"success_rate\"", |context, node| super::charts::known(context, node, metrics, "metric"));
    // A percentage of a share is that share itself; of anything else it is a part of the value.
    let share = metric.as_deref().and_then(unit_of) == Some(Unit::Share);
    let half_width = fields.required(context, "half_width", "\"1%\"", |context, node| {
        let relative = !share && matches!(&node.value, Value::Text(written) if written.contains('%'));
        let width = quantity(context, node)?;
        if width > 0.0 {
            return Some(if relative { HalfWidth::Relative(width) } else { HalfWidth::Absolute(width) });
        }
        context.refuse(node.place, "the half width must be above zero", "write how exact the mean should be: \"1%\", \"5ms\", 0.1")
    });
    let max_replications = fields.or(context, "max_replications", 1000, count(1));
    fields.finish(context);
    Some(Precision { metric: metric?, half_width: half_width?, max_replications: max_replications? })
}

/// A number in the unit of its metric: as it is, or a share, a length of time in seconds, a rate per second.
pub fn quantity(context: &mut Context, node: &mut Node) -> Option<f64> {
    match &node.value {
        Value::Whole(whole) => Some(*whole as f64),
        Value::Number(number) => Some(*number),
        Value::Text(written) if written.contains('%') => share(context, node),
        Value::Text(written) if written.contains('/') => super::scalars::rate(context, node),
        Value::Text(_) => duration(context, node).map(Duration::seconds),
        _ => text(context, node).and(None),
    }
}
