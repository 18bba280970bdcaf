//! Reader of pools at the caller.

use super::node::Node;
use super::reader::{Context, Fields};
use super::scalars::{count, some_duration, word_or};
use super::scopes::scope;
use crate::retry::pool::Pool;

/// A pool from its table; `"none"` is read by the caller.
pub fn pool(context: &mut Context, node: &mut Node) -> Option<Pool> {
    let mut fields = Fields::open(context, node, "`pool`")?;
    let limit = fields.required(context, "limit", "50", count(1));
    let wait = fields.or(context, "wait", "unlimited", word_or("unlimited", count(0)));
    let timeout = fields.or(context, "timeout", "none", word_or("none", some_duration));
    let scope = scope(context, &mut fields);
    fields.finish(context);
    Some(Pool { limit: limit?, wait: wait?, timeout: timeout?, scope: scope? })
}
