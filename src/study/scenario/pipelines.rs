//! Readers of a custom backoff: every step of the delay pipeline.

use super::node::{Node, Value};
use super::reader::{Context, Fields, Variant, choose, tagged, unit};
use super::scalars::{boolean, count, duration, number, one_of, share, some_duration, word_or};
use crate::measure::time::Duration;
use crate::retry::backoff::growth::Progression;
use crate::retry::backoff::jitter::Jitter;
use crate::retry::backoff::pipeline::{CapOrder, Pipeline, Quantise};

const GROWTHS: &[Variant] = &[
    unit("constant"),
    unit("linear"),
    tagged("arithmetic", r#"{ step = "2s" }"#),
    unit("fibonacci"),
    tagged("geometric_sum", "{ factor = 2.0 }"),
    tagged("exponential", "{ factor = 2.0 }"),
];

const JITTERS: &[Variant] = &[
    unit("none"),
    tagged("add", r#"{ most = "1s" }"#),
    tagged("plus_minus", r#"{ most = "200ms" }"#),
    tagged("between", r#"{ low = "0s" }"#),
    unit("polly"),
    unit("aws_decorrelated"),
    unit("finagle_decorrelated"),
    unit("finagle_equal"),
    unit("finagle_exponential"),
    unit("crt_decorrelated"),
    tagged("tower", "{ share = 0.5 }"),
    tagged("whole", r#"{ unit = "1s" }"#),
    tagged("multiply", "{ low = 0.5, high = 1.5 }"),
];

const ROUNDINGS: &[Variant] = &[unit("none"), tagged("round", "\"1ms\""), tagged("ceiling", "\"1s\""), tagged("floor", "\"1ms\"")];

/// A pipeline from the table of `custom`.
pub fn pipeline(context: &mut Context, node: &mut Node) -> Option<Pipeline> {
    let mut fields = Fields::open(context, node, "`custom`")?;
    let initial = fields.required(context, "initial", "\"100ms\"", duration);
    let first = fields.or(context, "first", "none", word_or("none", duration));
    let growth = fields.or(context, "growth", choice("exponential"), growth);
    let cap = fields.or(context, "cap", "none", word_or("none", duration));
    let orders = &[("before", CapOrder::Before), ("after", CapOrder::After)];
    let cap_order = fields.or(context, "cap_order", "before", one_of(orders));
    let first_uncapped = fields.or(context, "first_uncapped", false, boolean);
    let floor_before = fields.or(context, "floor_before", "0s", duration);
    let floor_after = fields.or(context, "floor_after", "0s", duration);
    let offset = fields.or(context, "offset", "0s", duration);
    let jitter = fields.or(context, "jitter", "none", jitter);
    let quantise = fields.or(context, "quantise", "none", quantise);
    let pipeline = (|| {
        Some(Pipeline {
            initial: initial?,
            first: first?,
            growth: growth?,
            cap: cap?.unwrap_or(Duration::MAX),
            cap_order: cap_order?,
            first_uncapped: first_uncapped?,
            floor_before: floor_before?,
            floor_after: floor_after?,
            offset: offset?,
            jitter: jitter?,
            quantise: quantise?,
        })
    })();
    let fits = pipeline.and_then(|pipeline| steps_fit(context, &fields, &pipeline).map(|()| pipeline));
    fields.finish(context);
    fits
}

/// Steps that would undo each other, or that a jitter with a way of its own would pass over.
fn steps_fit(context: &mut Context, fields: &Fields, pipeline: &Pipeline) -> Option<()> {
    let before = context.problems.len();
    let Pipeline { initial, cap, growth, jitter, .. } = *pipeline;
    if initial > cap && !pipeline.first_uncapped {
        let message = format!("the cap {cap} is below the initial wait {initial}: every wait would be the cap");
        let help = format!("write a cap of at least \"{initial}\", or growth = \"constant\" for a constant wait, or first_uncapped = true");
        context.problem(fields.place_of("cap"), message, help);
    }
    for (key, floor) in [("floor_before", pipeline.floor_before), ("floor_after", pipeline.floor_after)] {
        if floor > cap {
            let message = format!("the floor {floor} is above the cap {cap}: every wait would be the floor");
            context.problem(fields.place_of(key), message, format!("write a floor of at most \"{cap}\""));
        }
    }
    let doubles = growth == Progression::DOUBLING;
    let is_plain = matches!(growth, Progression::Exponential { factor: 1.0.., first_exponent: 0, truncate: None });
    if jitter == Jitter::Polly && !is_plain {
        let help = "write growth = { exponential = { factor = 2.0 } } with no other key, or another jitter";
        context.problem(fields.place_of("growth"), "the jitter `polly` has no other growth than a factor of 1 or more", help);
    } else if jitter.makes_its_own() && !matches!(jitter, Jitter::Polly | Jitter::CrtDecorrelated) && !doubles {
        context.problem(fields.place_of("growth"), "this jitter grows in its own way", "leave out `growth`, or write another jitter");
    }
    if jitter.makes_its_own() && pipeline.floor_before > Duration::ZERO {
        let help = "write `floor_after` instead";
        context.problem(fields.place_of("floor_before"), "this jitter makes its own wait, which has no floor before it", help);
    }
    (context.problems.len() == before).then_some(())
}

/// A choice without any of its keys, to be filled in as it is read.
fn choice(name: &str) -> Value {
    let place = Default::default();
    let node = Node { value: Value::empty_table(), place };
    Value::Table(vec![super::node::Entry { key: name.to_owned(), place, node }])
}

fn growth(context: &mut Context, node: &mut Node) -> Option<Progression> {
    let (name, value) = choose(context, node, "a growth", GROWTHS)?;
    let Some(value) = value else {
        return Some(match name {
            "linear" => Progression::Linear,
            "fibonacci" => Progression::Fibonacci,
            _ => Progression::Constant,
        });
    };
    let mut fields = Fields::open(context, value, format!("`{name}`"))?;
    let growth = match name {
        "arithmetic" => fields.required(context, "step", "\"2s\"", duration).map(|step| Progression::Arithmetic { step }),
        "geometric_sum" => fields.or(context, "factor", 2.0, number(1.0, 1e9)).map(|factor| Progression::GeometricSum { factor }),
        _ => exponential(context, &mut fields),
    };
    fields.finish(context);
    growth
}

fn exponential(context: &mut Context, fields: &mut Fields) -> Option<Progression> {
    let factor = fields.or(context, "factor", 2.0, number(1e-3, 1e9));
    let first_exponent = fields.or(context, "first_exponent", 0, count(0));
    let truncate = fields.or(context, "truncate", "none", word_or("none", some_duration));
    let (factor, truncate) = (factor?, truncate?);
    if truncate.is_some() && factor != 1.0 && (factor - 1.0).abs() < 0.000_999 {
        let help = "write a factor of 1, of at most 0.999, or of at least 1.001, or truncate = \"none\"";
        return context.refuse(fields.place_of("factor"), "so small a step is mostly cut away again", help);
    }
    Some(Progression::Exponential { factor, first_exponent: first_exponent?, truncate })
}

fn jitter(context: &mut Context, node: &mut Node) -> Option<Jitter> {
    let (name, value) = choose(context, node, "a jitter", JITTERS)?;
    let Some(value) = value else {
        return Some(match name {
            "polly" => Jitter::Polly,
            "aws_decorrelated" => Jitter::AwsDecorrelated,
            "finagle_decorrelated" => Jitter::FinagleDecorrelated,
            "finagle_equal" => Jitter::FinagleEqual,
            "finagle_exponential" => Jitter::FinagleExponential,
            "crt_decorrelated" => Jitter::CrtDecorrelated,
            _ => Jitter::None,
        });
    };
    let mut fields = Fields::open(context, value, format!("`{name}`"))?;
    let jitter = match name {
        "add" => fields.required(context, "most", "\"1s\"", duration).map(|most| Jitter::Add { most }),
        "plus_minus" => fields.required(context, "most", "\"200ms\"", duration).map(|most| Jitter::PlusMinus { most }),
        "between" => fields.or(context, "low", "0s", duration).map(|low| Jitter::Between { low }),
        "tower" => fields.required(context, "share", "0.5", share).map(|share| Jitter::Tower { share }),
        "whole" => whole(context, &mut fields),
        _ => multiply(context, &mut fields),
    };
    fields.finish(context);
    jitter
}

fn multiply(context: &mut Context, fields: &mut Fields) -> Option<Jitter> {
    let low = fields.required(context, "low", "0.5", number(0.0, 1e6));
    let high = fields.required(context, "high", "1.5", number(0.0, 1e6));
    let plus = fields.or(context, "plus", "0s", duration);
    Some(Jitter::Multiply { low: low?, high: high?, plus: plus? })
}

fn whole(context: &mut Context, fields: &mut Fields) -> Option<Jitter> {
    let unit = fields.or(context, "unit", "1s", some_duration);
    let end = fields.or(context, "end", "included", one_of(&[("included", true), ("excluded", false)]));
    Some(Jitter::Whole { unit: unit?, included: end? })
}

fn quantise(context: &mut Context, node: &mut Node) -> Option<Quantise> {
    let (name, value) = choose(context, node, "a rounding", ROUNDINGS)?;
    let Some(value) = value else {
        return Some(Quantise::None);
    };
    let unit = some_duration(context, value)?;
    Some(match name {
        "round" => Quantise::Round(unit),
        "ceiling" => Quantise::Ceiling(unit),
        _ => Quantise::Floor(unit),
    })
}
