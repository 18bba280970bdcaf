//! Values that are known before the simulation: exact ones from theory, which `covers` names, and published ones with their own
//! uncertainty, which `published` names. Both are held against the 95 % interval of the simulation; docs/METHOD.md says how.

use super::fold::Value as Measured;
use super::scenario::diagnostics::did_you_mean;
use super::scenario::node::{Node, Value};
use super::scenario::reader::{Context, Fields};
use super::scenario::run::quantity;
use super::scenario::scalars::{count, duration, list, number, rate, share};
use super::theory::forms::{FORMS, Form, Kind, Parameter};

/// A value that is known, with what is known of its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// The value, in the unit of its metric.
    pub value: f64,
    /// The ends of its own 95 % interval; both are the value where it is exact.
    pub interval: (f64, f64),
    /// Half of the simulation's interval may be this part of the value; None is any.
    pub within: Option<f64>,
    /// Claims that are made together, this one included: chance may break none of them in 95 % of all cases. At least 1.
    pub family: u32,
}

/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// How many standard errors chance bridges in 95 % of all cases, for so many independent comparisons together (Sidak, JASA 1967): the z at
/// which a single one has the level .95^(1 / n). Found by bisection.
pub fn bridged(family: u32) -> f64 {
    if family <= 1 {
        return NORMAL;
    }
    let beyond = 1.0 - libm::pow(0.95, 1.0 / f64::from(family));
    let (mut low, mut high) = (NORMAL, 10.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        // Two-sided: P(|Z| > z) = erfc(z / sqrt 2).
        if libm::erfc(middle * std::f64::consts::FRAC_1_SQRT_2) > beyond { low = middle } else { high = middle }
    }
    low
}

/// What two numbers may differ by that are the same but for rounding, relative to them.
const ROUNDING: f64 = 1e-9;

impl Known {
    /// How many standard errors the simulation is above the known value, those of both together: halves of intervals, each taken on the
    /// side of the other value, added in squares (Newcombe, Statistics in Medicine 1998, method 10), are 1.96 of them. None without
    /// interval.
    pub fn score(&self, measured: &Measured) -> Option<f64> {
        let (low, high) = measured.interval?;
        let difference = measured.value - self.value;
        if difference.abs() <= ROUNDING * self.value.abs() {
            return Some(0.0);
        }
        let above = difference > 0.0;
        let own = if above { measured.value - low } else { high - measured.value };
        let theirs = if above { self.interval.1 - self.value } else { self.value - self.interval.0 };
        Some(difference / (libm::hypot(own, theirs) / NORMAL))
    }

    /// Whether the difference is within 95 % of chance and the simulation is as exact as it has to be.
    pub fn holds(&self, measured: &Measured) -> bool {
        let exact_enough = |within: f64| {
            let (low, high) = measured.interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            (high - low) / 2.0 <= within * self.value.abs()
        };
        self.score(measured).is_some_and(|score| score.abs() <= bridged(self.family)) && self.within.is_none_or(exact_enough)
    }
}

/// `covers`, an exact value, with `within`.
pub fn covers(context: &mut Context, fields: &mut Fields, note: &mut impl FnMut(&str, &Node)) -> Option<Option<Known>> {
    let given = fields.has("covers");
    let value = fields.optional(context, "covers", |context, node| {
        note("covers", node);
        let value = if is_form(node) { form(context, node) } else { quantity(context, node) }?;
        if value == 0.0 {
            return context.refuse(node.place, "an interval within a percentage of 0 has no width", "write `equals = 0`, or `below`");
        }
        Some(value)
    });
    if !given {
        return Some(None);
    }
    let within = fields.or(context, "within", "2%", within);
    let (value, within) = (value??, within?);
    Some(Some(Known { value, interval: (value, value), within: Some(within), family: 1 }))
}

fn within(context: &mut Context, node: &mut Node) -> Option<f64> {
    let within = share(context, node)?;
    if within > 0.0 { Some(within) } else { context.refuse(node.place, "nothing is within 0", "write how exact: \"2%\"") }
}

/// `about`, a value that is known but for `within`: the limit of a law, which the simulation is not. (value, within).
pub fn about(context: &mut Context, fields: &mut Fields, note: &mut impl FnMut(&str, &Node)) -> Option<Option<(f64, f64)>> {
    let (given, place) = (fields.has("about"), fields.place_of("within"));
    let value = fields.optional(context, "about", |context, node| {
        note("about", node);
        if is_form(node) { form(context, node) } else { quantity(context, node) }
    });
    if given {
        let within = fields.required(context, "within", "\"10%\"", within);
        return Some(value?.zip(Some(within?)));
    }
    if fields.has("within") && !fields.has("covers") {
        fields.optional(context, "within", |_, _| Some(()));
        let help = "add `covers = VALUE` or `about = VALUE`, or leave out `within`";
        return context.refuse(place, "`within` belongs to `covers` or `about`", help);
    }
    value.map(|_| None)
}

/// `published`: the ends of an interval, or its value between them; with `family`.
pub fn published(context: &mut Context, fields: &mut Fields, note: &mut impl FnMut(&str, &Node)) -> Option<Option<Known>> {
    let (given, family_place) = (fields.has("published"), fields.place_of("family"));
    let known = interval(context, fields, note);
    if given {
        let family = fields.or(context, "family", 1, count(1))?;
        return known.map(|known| known.map(|known| Known { family, ..known }));
    }
    if fields.has("family") {
        fields.optional(context, "family", |_, _| Some(()));
        return context.refuse(family_place, "`family` belongs to `published`", "add `published = [low, high]`, or leave out `family`");
    }
    known
}

fn interval(context: &mut Context, fields: &mut Fields, note: &mut impl FnMut(&str, &Node)) -> Option<Option<Known>> {
    fields.optional(context, "published", |context, node| {
        note("published", node);
        let place = node.place;
        let numbers: Vec<f64> =
            list(context, node, "[0.66, 0.77]")?.iter_mut().map(|node| quantity(context, node)).collect::<Option<_>>()?;
        let (low, value, high) = match numbers[..] {
            [low, high] => (low, (low + high) / 2.0, high),
            [low, value, high] => (low, value, high),
            _ => (1.0, 0.0, 0.0),
        };
        if low <= value && value <= high {
            return Some(Known { value, interval: (low, high), within: None, family: 1 });
        }
        let message = "`published` is an interval: its low end, the value if it is not the middle, its high end";
        context.refuse(place, message, "write [low, high] or [low, value, high], in this order")
    })
}

/// Whether a table names a closed form instead of another cell.
pub fn is_form(node: &Node) -> bool {
    matches!(&node.value, Value::Table(entries) if entries.len() == 1 && entries[0].key != "of" && entries[0].key != "times")
}

/// The value of a closed form by its name: `{ erlang_c = { workers = 10, arrival = "8/s", service = "1/s" } }`; with `one_minus` before it,
/// what is left of 1.
pub fn form(context: &mut Context, node: &mut Node) -> Option<f64> {
    let place = node.place;
    let Value::Table(entries) = &mut node.value else { return None };
    let entry = entries.first_mut()?;
    if entry.key == "one_minus" {
        if !is_form(&entry.node) {
            return context.refuse(entry.node.place, "`one_minus` is of a closed form", "write `{ one_minus = { erlang_b = { ... } } }`");
        }
        return form(context, &mut entry.node).map(|value| 1.0 - value);
    }
    let Some(form) = FORMS.iter().find(|form| form.name == entry.key) else {
        let names: Vec<&str> = FORMS.iter().map(|form| form.name).collect();
        return context.refuse(entry.place, format!("there is no closed form `{}`", entry.key), did_you_mean(&entry.key, &names));
    };
    let value = (form.value)(&parameters(context, &mut entry.node, form)?);
    if value.is_finite() {
        return Some(value);
    }
    let message = format!("`{}` has no finite value for these parameters", form.name);
    context.refuse(place, message, "write parameters in which the system is stable: less load than capacity")
}

fn parameters(context: &mut Context, node: &mut Node, form: &Form) -> Option<Vec<f64>> {
    let mut fields = Fields::open(context, node, format!("`{}`", form.name))?;
    let values: Vec<Option<f64>> = form.parameters.iter().map(|wanted| parameter(context, &mut fields, wanted)).collect();
    fields.finish(context);
    values.into_iter().collect()
}

fn parameter(context: &mut Context, fields: &mut Fields, wanted: &Parameter) -> Option<f64> {
    let read = |context: &mut Context, node: &mut Node| {
        let value = match wanted.kind {
            Kind::Count => return count(1)(context, node).map(f64::from),
            Kind::Share => return share(context, node),
            Kind::Time => return duration(context, node).map(|time| time.seconds()),
            Kind::Number => return number(0.0, 1e12)(context, node),
            Kind::Rate => rate(context, node)?,
        };
        if value > 0.0 { Some(value) } else { context.refuse(node.place, "this rate must be above zero", "write one such as \"8/s\"") }
    };
    match wanted.default {
        Some(default) if wanted.kind == Kind::Count => fields.or(context, wanted.key, Value::Whole(default as i64), read),
        Some(default) => fields.or(context, wanted.key, default, read),
        None => fields.required(context, wanted.key, example(wanted.kind), read),
    }
}

/// A value of the kind, as it is written.
fn example(kind: Kind) -> &'static str {
    match kind {
        Kind::Count => "10",
        Kind::Number => "1.0",
        Kind::Rate => "\"8/s\"",
        Kind::Time => "\"1s\"",
        Kind::Share => "\"50%\"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(low: f64, value: f64, high: f64) -> Measured {
        Measured { value, interval: Some((low, high)), sd: None, count: 10 }
    }

    #[test]
    fn an_exact_value_lies_in_the_interval_or_not() {
        let exact = Known { value: 100.0, interval: (100.0, 100.0), within: Some(0.02), family: 1 };
        assert!(exact.holds(&measured(99.5, 101.0, 102.5)) && exact.holds(&measured(98.5, 99.0, 100.5)));
        assert!(!exact.holds(&measured(100.1, 101.0, 101.9)), "the interval is beside it");
        assert!(!exact.holds(&measured(95.0, 100.0, 105.0)), "the interval is too wide to tell");
        assert!(exact.holds(&measured(100.0, 100.0, 100.0)), "what never varies has no width");
        assert!(!exact.holds(&Measured { interval: None, ..measured(0.0, 100.0, 0.0) }), "a single run has no interval");
        assert!((exact.score(&measured(99.5, 101.0, 102.5)).unwrap() - NORMAL / 1.5).abs() < 1e-12);
        assert!((exact.score(&measured(98.0, 99.0, 100.5)).unwrap() + NORMAL / 1.5).abs() < 1e-12, "the side of the value counts");
    }

    /// Python 3, statistics.NormalDist: inv_cdf(1 - (1 - .95^(1/n)) / 2).
    #[test]
    fn many_comparisons_bridge_more() {
        for (family, score) in [(1, 1.959964), (2, 2.236477), (30, 3.136750)] {
            assert!((bridged(family) - score).abs() < 2e-6, "{family}: {}", bridged(family));
        }
    }

    #[test]
    fn two_uncertain_values_differ_or_not() {
        // 3, 4, 5: halves of 3 and 4 bear a difference of 5.
        let published = Known { value: 10.0, interval: (6.0, 14.0), within: None, family: 1 };
        assert!(published.holds(&measured(11.9, 14.9, 20.0)) && !published.holds(&measured(12.2, 15.2, 20.0)));
        assert!(published.holds(&measured(0.0, 5.1, 8.1)) && !published.holds(&measured(0.0, 4.8, 7.8)));
        let one_of_many = Known { family: 30, ..published };
        assert!(one_of_many.holds(&measured(0.0, 4.8, 7.8)) && !one_of_many.holds(&measured(0.0, 1.0, 4.0)));
    }
}
