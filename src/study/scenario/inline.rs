//! Policies outside of a scenario: a text from the command line, and those that a scenario names.

use std::sync::Arc;

use super::Scenario;
use super::diagnostics::{Place, ScenarioError, Source, Sources};
use super::files::Files;
use super::node::Node;
use super::policies::policy;
use super::reader::Context;
use crate::retry::policy::Policy;

/// Reads a policy as a scenario writes it: `{ attempts = 4, backoff = { fixed = { delay = "1s" } } }`. `name` names the text in messages.
///
/// # Errors
/// Every problem of the text.
pub fn parse_policy(name: &str, text: &str) -> Result<Policy, ScenarioError> {
    // As a line of a file, so that every value remembers its column.
    let line = format!("policy = {}", text.trim());
    let (mut root, mut problems) = Node::parse(&line, 0);
    let files = Files::default();
    let mut context = Context::new(None, &files);
    let entries = root.entries().map_or(0, <[_]>::len);
    let mut read = None;
    if problems.is_empty() {
        read = match root.get_mut("policy") {
            Some(node) if entries == 1 => policy(&mut context, node),
            _ => {
                let whole = Place { source: 0, start: 0, end: line.len() };
                context.refuse(whole, "this is more than one policy", "write one table: { attempts = 4, backoff = \"none\" }")
            }
        };
    }
    problems.append(&mut context.problems);
    match read {
        Some(policy) if problems.is_empty() => Ok(policy),
        _ => Err(ScenarioError::new(Arc::new(Sources(vec![Source { name: name.to_owned(), text: line }])), problems)),
    }
}

impl Scenario {
    /// The policies under `[policy]`, by name, in the order of the scenario.
    pub fn policies(&self) -> Vec<(String, Policy)> {
        let mut context = Context::new(self.folder.as_deref(), &self.files);
        let mut tree = self.tree.clone();
        let Some(Node { value: super::node::Value::Table(entries), .. }) = tree.get_mut("policy") else {
            return Vec::new();
        };
        entries.iter_mut().filter_map(|entry| Some((entry.key.clone(), policy(&mut context, &mut entry.node)?))).collect()
    }
}
