//! Policies where they are used: a name under [policy], or the table itself.

use super::diagnostics::{Place, did_you_mean};
use super::node::{Node, Value};
use super::policies::policy;
use super::reader::Context;
use crate::retry::policy::Policy;

/// A policy where it is used.
pub enum PolicyReference {
    /// A name under [policy], and where it was written.
    Name(String, Place),
    /// The policy itself, and where it was written.
    Own(Box<Policy>, Place),
}

impl PolicyReference {
    /// Reads a name or a table.
    pub fn read(context: &mut Context, node: &mut Node) -> Option<PolicyReference> {
        match &node.value {
            Value::Text(name) => Some(PolicyReference::Name(name.clone(), node.place)),
            Value::Table(_) => policy(context, node).map(|policy| PolicyReference::Own(Box::new(policy), node.place)),
            other => {
                let message = format!("a policy is not {}", other.kind());
                context.refuse(node.place, message, "write a name under [policy], or a table: { attempts = 3 }")
            }
        }
    }

    /// Where it was written.
    pub fn place(&self) -> Place {
        match self {
            PolicyReference::Name(_, place) | PolicyReference::Own(_, place) => *place,
        }
    }

    /// The policy; None where it has problems, which are reported.
    pub fn resolve(&self, context: &mut Context, policies: &[(String, Option<Policy>)]) -> Option<Policy> {
        match self {
            PolicyReference::Own(policy, _) => Some((**policy).clone()),
            PolicyReference::Name(name, place) => match policies.iter().find(|(known, _)| known == name) {
                Some((_, policy)) => policy.clone(),
                None => {
                    let names: Vec<&str> = policies.iter().map(|(name, _)| name.as_str()).collect();
                    context.refuse(*place, format!("there is no policy `{name}` under [policy]"), did_you_mean(name, &names))
                }
            },
        }
    }
}
