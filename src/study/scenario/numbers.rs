//! One reading of the parts of a tree that make a model: clients, policies, services, links. A fault makes another reading.

use super::clients::{WrittenGroup, group};
use super::diagnostics::{Place, did_you_mean};
use super::node::{Node, Value};
use super::policies::policy;
use super::reader::Context;
use super::scalars::is_plain_name;
use super::services::{Links, WrittenService, links, service};
use crate::retry::policy::Policy;
use crate::world::model::Caller;

/// What was read.
pub struct Numbers {
    /// Groups by name.
    pub groups: Vec<(String, WrittenGroup)>,
    /// Services by name.
    pub services: Vec<(String, WrittenService)>,
    /// The edges, first those of the groups.
    pub edges: Vec<Edge>,
}

/// An edge and its numbers.
pub struct Edge {
    /// Its name: `web->api`.
    pub name: String,
    /// The name of the service it leads to, where it was written.
    pub to: Node,
    /// Where its policy was written.
    pub policy_place: Place,
    /// Its numbers.
    pub caller: Caller,
}

/// Reads the tree, and writes into it what it leaves out. None where there are problems.
pub fn numbers(context: &mut Context, tree: &mut Node) -> Option<Numbers> {
    let before = context.problems.len();
    let policies = section(context, tree, "policy", |context, node, _| policy(context, node));
    let groups = section(context, tree, "clients", group);
    let services = section(context, tree, "service", service);
    targets_exist(context, &groups, &services)?;
    let edges = edge_names(tree);
    let links = tree.get_mut("link").and_then(|node| links(context, node, &edges));
    let groups: Vec<(String, WrittenGroup)> = groups.into_iter().filter_map(|(name, group)| Some((name, group?))).collect();
    let services: Vec<(String, WrittenService)> = services.into_iter().filter_map(|(name, service)| Some((name, service?))).collect();
    let edges = all_edges(context, &groups, &services, &policies, &links?);
    (context.problems.len() == before).then_some(Numbers { groups, services, edges })
}

/// Every named table of a section.
fn section<T>(
    context: &mut Context,
    tree: &mut Node,
    section: &str,
    mut read: impl FnMut(&mut Context, &mut Node, &str) -> Option<T>,
) -> Vec<(String, Option<T>)> {
    let Some(node) = tree.get_mut(section) else {
        return Vec::new();
    };
    let (place, kind) = (node.place, node.value.kind());
    let Value::Table(entries) = &mut node.value else {
        context.problem(place, format!("[{section}] must be a table, not {kind}"), format!("write a name: [{section}.name]"));
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in entries {
        if !is_plain_name(&entry.key) {
            let help = "write a name of letters, digits, `_` and `-`: it becomes part of paths and column names";
            context.problem(entry.place, format!("`{}` cannot be a name", entry.key), help);
        }
        found.push((entry.key.clone(), read(context, &mut entry.node, &entry.key)));
    }
    found
}

/// What is called must be there: an unknown service would also look like an unknown edge.
fn targets_exist(
    context: &mut Context,
    groups: &[(String, Option<WrittenGroup>)],
    services: &[(String, Option<WrittenService>)],
) -> Option<()> {
    let names: Vec<&str> = services.iter().map(|(name, _)| name.as_str()).collect();
    let of_groups = groups.iter().filter_map(|(_, group)| Some(&group.as_ref()?.calls));
    let of_services =
        services.iter().filter_map(|(_, service)| service.as_ref()).flat_map(|service| service.calls.iter().map(|call| &call.service));
    let unknown: Vec<&Node> = of_groups.chain(of_services).filter(|to| !names.contains(&to.text().unwrap_or(""))).collect();
    // Without any service, that is the news.
    for to in unknown.iter().filter(|_| !names.is_empty()) {
        let name = to.text().unwrap_or("");
        context.problem(to.place, format!("there is no service `{name}`"), did_you_mean(name, &names));
    }
    (unknown.is_empty() || names.is_empty()).then_some(())
}

/// The names of the edges, from the tree alone: a link is an edge's also where its caller has problems.
fn edge_names(tree: &Node) -> Vec<String> {
    let entries = |section: &str| tree.get(section).and_then(Node::entries).unwrap_or(&[]).iter();
    let mut names = Vec::new();
    for entry in entries("clients") {
        names.extend(entry.node.get("calls").and_then(Node::text).map(|to| format!("{}->{to}", entry.key)));
    }
    for entry in entries("service") {
        if let Some(Value::List(calls)) = entry.node.get("calls").map(|calls| &calls.value) {
            names.extend(calls.iter().filter_map(|call| call.get("service")?.text()).map(|to| format!("{}->{to}", entry.key)));
        }
    }
    names
}

fn all_edges(
    context: &mut Context,
    groups: &[(String, WrittenGroup)],
    services: &[(String, WrittenService)],
    policies: &[(String, Option<Policy>)],
    links: &Links,
) -> Vec<Edge> {
    let of_groups = groups.iter().map(|(name, group)| (name, &group.calls, &group.policy));
    let of_services = services.iter().flat_map(|(name, service)| service.calls.iter().map(move |call| (name, &call.service, &call.policy)));
    let mut edges = Vec::new();
    for (from, to, reference) in of_groups.chain(of_services) {
        let name = format!("{from}->{}", to.text().unwrap_or(""));
        let link = links.edges.iter().find(|(edge, _)| *edge == name).map_or(&links.common, |(_, link)| link).clone();
        if let Some(policy) = reference.resolve(context, policies) {
            edges.push(Edge { name, to: to.clone(), policy_place: reference.place(), caller: Caller { policy, link } });
        }
    }
    edges
}
