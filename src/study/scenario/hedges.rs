//! Reader of hedges.

use super::node::{Node, Value};
use super::reader::{Context, Fields, Variant, choose, tagged, unit};
use super::scalars::{boolean, count, duration, share, word_or};
use crate::retry::hedge::{After, Hedge};

const HEDGES: &[Variant] = &[unit("none"), tagged("after", r#"{ delay = "50ms" }"#), tagged("percentile", r#"{ share = "95%" }"#)];

/// A hedge from its choice.
pub fn hedge(context: &mut Context, node: &mut Node) -> Option<Option<Hedge>> {
    let (name, value) = choose(context, node, "a hedge", HEDGES)?;
    let Some(value) = value else { return Some(None) };
    let mut fields = Fields::open(context, value, format!("`{name}`"))?;
    let after = if name == "after" {
        fields.required(context, "delay", "\"50ms\"", duration).map(After::Fixed)
    } else {
        let reached = fields.required(context, "share", "\"95%\"", share);
        let first = fields.or(context, "first", "none", word_or("none", duration));
        reached.zip(first).map(|(share, first)| After::Percentile { share, first })
    };
    let most = fields.or(context, "most", 1, count(1));
    let cancel = fields.or(context, "cancel", true, boolean);
    let budget = fields.or(context, "budget", "none", word_or("none", share));
    let concurrent = fields.or(context, "concurrent", Value::from("unlimited"), word_or("unlimited", count(1)));
    fields.finish(context);
    Some(Some(Hedge { after: after?, most: most?, cancel: cancel?, share: budget?, concurrent: concurrent? }))
}
