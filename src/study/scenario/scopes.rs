//! Reader of a scope: who shares one account, of a budget or of a breaker.

use super::node::Node;
use super::reader::{Context, Fields, Variant, choose, tagged, unit};
use super::scalars::count;
use crate::retry::scope::Scope;

const SCOPES: &[Variant] = &[unit("group"), unit("service"), tagged("processes_of", "8"), unit("client")];

/// Who shares one account; a key `scope` of its table, each client alone where it is left out.
pub fn scope(context: &mut Context, fields: &mut Fields) -> Option<Scope> {
    fields.or(context, "scope", "client", written)
}

fn written(context: &mut Context, node: &mut Node) -> Option<Scope> {
    let (name, value) = choose(context, node, "a scope", SCOPES)?;
    match (name, value) {
        ("group", _) => Some(Scope::Group),
        ("service", _) => Some(Scope::Service),
        (_, Some(clients)) => count(1)(context, clients).map(Scope::Processes),
        _ => Some(Scope::Client),
    }
}
