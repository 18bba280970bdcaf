//! Readers of distributions: a bare length of time is constant.

use super::node::{Node, Value};
use super::reader::{Context, Fields, Variant, choose, tagged};
use super::scalars::{duration, list, number, share, text};
use crate::measure::distribution::Distribution;
use crate::measure::time::Duration;

const DISTRIBUTIONS: &[Variant] = &[
    tagged("normal", r#"{ mean = "10ms", sd = "2ms" }"#),
    tagged("lognormal", r#"{ median = "80ms", sigma = 0.5 }"#),
    tagged("uniform", r#"{ low = "50ms", high = "150ms" }"#),
    tagged("gamma", r#"{ shape = 2.0, mean = "100ms" }"#),
    tagged("weibull", r#"{ shape = 0.7, mean = "100ms" }"#),
    tagged("pareto", r#"{ shape = 2.5, minimum = "50ms" }"#),
    tagged("hyperexponential", r#"[{ share = "90%", mean = "10ms" }, { share = "10%", mean = "1s" }]"#),
    tagged("empirical", r#"{ file = "times.csv", column = "time" }"#),
    tagged("exponential", r#"{ mean = "100ms" }"#),
];

/// A distribution: `"10ms"`, or `{ exponential = { mean = "10ms" } }` and its like.
pub fn distribution(context: &mut Context, node: &mut Node) -> Option<Distribution> {
    if !matches!(node.value, Value::Table(_)) {
        let before = context.problems.len();
        let constant = duration(context, node).map(Distribution::Constant);
        for problem in &mut context.problems[before..] {
            problem.help.push_str(", or a distribution: { exponential = { mean = \"100ms\" } }");
        }
        return constant;
    }
    let place = node.place;
    let (name, value) = choose(context, node, "a distribution", DISTRIBUTIONS)?;
    let value = value?;
    if name == "hyperexponential" {
        return hyperexponential(context, value);
    }
    let mut fields = Fields::open(context, value, format!("`{name}`"))?;
    let built = match name {
        "exponential" => fields.required(context, "mean", "\"100ms\"", duration).map(|mean| Ok(Distribution::exponential(mean))),
        "normal" => normal(context, &mut fields),
        "lognormal" => lognormal(context, &mut fields),
        "uniform" => uniform(context, &mut fields),
        "empirical" => empirical(context, &mut fields),
        shaped => by_shape(context, &mut fields, shaped),
    };
    fields.finish(context);
    context.check(place, built?)
}

type Built = Option<Result<Distribution, String>>;

fn normal(context: &mut Context, fields: &mut Fields) -> Built {
    let mean = fields.required(context, "mean", "\"10ms\"", duration);
    let sd = fields.required(context, "sd", "\"2ms\"", duration);
    Some(Ok(Distribution::normal(mean?, sd?)))
}

fn lognormal(context: &mut Context, fields: &mut Fields) -> Built {
    if fields.has("mean") || fields.has("p99") {
        let mean = fields.required(context, "mean", "\"100ms\"", duration);
        let tail = fields.required(context, "p99", "\"500ms\"", duration);
        return Some(Distribution::lognormal_tail(mean?, tail?));
    }
    let median = fields.required(context, "median", "\"80ms\"", duration);
    let sigma = fields.required(context, "sigma", "0.5", number(0.0, 100.0));
    Some(Distribution::lognormal(median?, sigma?))
}

fn uniform(context: &mut Context, fields: &mut Fields) -> Built {
    let low = fields.required(context, "low", "\"50ms\"", duration);
    let high = fields.required(context, "high", "\"150ms\"", duration);
    Some(Distribution::uniform(low?, high?))
}

/// Gamma, Weibull and Pareto: a shape, and either the scale (the least value) or the mean from which it follows.
fn by_shape(context: &mut Context, fields: &mut Fields, name: &str) -> Built {
    let build = |shape: f64, scale: Duration| match name {
        "gamma" => Distribution::gamma(shape, scale),
        "weibull" => Distribution::weibull(shape, scale),
        _ => Distribution::pareto(shape, scale),
    };
    let shape = fields.required(context, "shape", "2.0", number(0.001, 1e6));
    let place = fields.place_of("mean");
    let scale_key = if name == "pareto" { "minimum" } else { "scale" };
    let mean = fields.optional(context, "mean", duration)?;
    let scale = match mean {
        None => fields.required(context, scale_key, "\"100ms\"", duration),
        Some(_) if fields.has(scale_key) => {
            let message = format!("`mean` and `{scale_key}` say the same thing twice");
            fields.optional(context, scale_key, duration);
            return context.refuse(place, message, "leave out one of them");
        }
        Some(mean) => {
            // For the shape given, the mean is in proportion to the scale.
            let unit = build(shape?, Duration(1_000_000_000)).map(|distribution| distribution.mean());
            match unit {
                Ok(unit) if unit.is_finite() && unit > 0.0 => Some(Duration::from_seconds(mean.seconds() / unit)),
                Ok(_) => return Some(Err(format!("a {name} of shape {} has no finite mean; write `{scale_key}` instead", shape?))),
                Err(message) => return Some(Err(message)),
            }
        }
    };
    Some(build(shape?, scale?))
}

fn empirical(context: &mut Context, fields: &mut Fields) -> Built {
    column(context, fields).map(|values| Distribution::empirical(values.to_vec()))
}

/// A column of a CSV file: `file`, and `column`, by default `time`.
pub fn column(context: &mut Context, fields: &mut Fields) -> Option<std::sync::Arc<[Duration]>> {
    let place = fields.place_of("file");
    let file = fields.required(context, "file", "\"times.csv\"", text);
    let column = fields.or(context, "column", "time", text);
    match context.files.column(context.folder, &file?, &column?) {
        Ok(values) => Some(values),
        Err((message, help)) => context.refuse(place, message, help),
    }
}

fn hyperexponential(context: &mut Context, node: &mut Node) -> Option<Distribution> {
    let place = node.place;
    let phases = list(context, node, r#"[{ share = "90%", mean = "10ms" }, { share = "10%", mean = "1s" }]"#)?;
    let mut read = Vec::new();
    for phase in phases {
        let mut fields = Fields::open(context, phase, "a phase of `hyperexponential`")?;
        let share = fields.required(context, "share", "\"50%\"", share);
        let mean = fields.required(context, "mean", "\"100ms\"", duration);
        fields.finish(context);
        read.push((share?, mean?));
    }
    context.check(place, Distribution::hyperexponential(&read))
}
