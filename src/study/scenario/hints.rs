//! Readers of `retry_after`: what a server's hint does to the wait.

use super::node::{Entry, Node, Value};
use super::reader::{Context, Fields, Variant, choose, tagged, unit};
use super::scalars::{duration, number, one_of, some_duration, word_or};
use crate::measure::time::Duration;
use crate::retry::hint::{Beyond, RetryAfter};

const RULES: &[Variant] = &[
    unit("ignore"),
    unit("floor"),
    unit("floor_before_jitter"),
    tagged("clamp", r#"{ plus = "5s" }"#),
    tagged("spread", r#"{ factor = 1.5, cap = "300s" }"#),
    tagged("replace", r#"{ cap = "6h", beyond = "stop" }"#),
];

/// What a hint does. `"replace"` and `"clamp"` alone stand for their tables with all defaults.
pub fn retry_after(context: &mut Context, node: &mut Node) -> Option<RetryAfter> {
    if let Some(name @ ("replace" | "clamp")) = node.text() {
        let place = node.place;
        let entry = Entry { key: name.to_owned(), place, node: Node { value: Value::empty_table(), place } };
        node.value = Value::Table(vec![entry]);
    }
    let (name, value) = choose(context, node, "what a hint can do", RULES)?;
    let Some(value) = value else {
        return Some(match name {
            "floor" => RetryAfter::Floor,
            "floor_before_jitter" => RetryAfter::FloorBeforeJitter,
            _ => RetryAfter::Ignore,
        });
    };
    let mut fields = Fields::open(context, value, format!("`{name}`"))?;
    let rule = match name {
        "clamp" => fields.or(context, "plus", "5s", duration).map(|plus| RetryAfter::Clamp { plus }),
        "spread" => spread(context, &mut fields),
        _ => replace(context, &mut fields),
    };
    fields.finish(context);
    rule
}

fn replace(context: &mut Context, fields: &mut Fields) -> Option<RetryAfter> {
    let cap = fields.or(context, "cap", "none", word_or("none", some_duration));
    let deeds = &[("cap", Beyond::Cap), ("ignore", Beyond::Ignore), ("stop", Beyond::Stop)];
    let beyond = fields.or(context, "beyond", "cap", one_of(deeds));
    Some(RetryAfter::Replace { cap: cap?.unwrap_or(Duration::MAX), beyond: beyond? })
}

fn spread(context: &mut Context, fields: &mut Fields) -> Option<RetryAfter> {
    let factor = fields.or(context, "factor", 1.5, number(1.0, 1e6));
    let cap = fields.or(context, "cap", "none", word_or("none", some_duration));
    Some(RetryAfter::Spread { factor: factor?, cap: cap?.unwrap_or(Duration::MAX) })
}
