//! From the tree to the model: names become indices, and each change of the lasting faults an epoch.

use super::checks::{self, Places};
use super::epochs::{Epochs, epochs};
use super::faults::{faults, spans};
use super::node::Node;
use super::numbers::{Edge, Numbers, numbers};
use super::reader::Context;
use super::run::Times;
use crate::load::Load;
use crate::measure::identifier::{CallerIndex, GroupIndex, ServiceIndex};
use crate::measure::time::Time;
use crate::world::model::{CallerShape, Group, Model, Origin, ServiceShape};

/// Edges and services, at most: their indices are 16 bits.
const MOST: usize = 65_000;

/// Reads the tree into a model, and writes into the tree what it leaves out. None where there are problems, which the context then has.
pub fn build(context: &mut Context, tree: &mut Node, times: Option<Times>) -> Option<Model> {
    let model = build_or_report(context, tree, times);
    if model.is_none() && context.problems.is_empty() {
        context.problem(tree.place, "this scenario cannot be read", "please report it: a message should have said why");
    }
    model
}

fn build_or_report(context: &mut Context, tree: &mut Node, times: Option<Times>) -> Option<Model> {
    let before = context.problems.len();
    let as_written = tree.clone();
    let base = numbers(context, tree);
    let names = super::document::names(tree, "service");
    let faults = tree.get_mut("fault").map(|node| faults(context, node, &names)).unwrap_or_default();
    let base = base?;
    let (services, callers) = structure(context, tree, &base)?;
    if context.problems.len() > before {
        return None;
    }
    // Without a sound [run] the faults are read all the same, for what may be wrong with them.
    let horizon = times.map_or(Some(Time::ZERO), |times| times.horizon);
    let found = epochs(context, &as_written, &base, &faults, horizon)?;
    let times = times?;
    if context.problems.len() > before {
        return None;
    }
    let replicas = further_replicas(&base);
    let model = Model {
        horizon: times.horizon,
        warmup: times.warmup,
        bin: times.bin,
        groups: groups(&base, &found),
        services,
        callers,
        replicas,
        epochs: found.timed,
        faults: spans(&faults, times.horizon),
        conditional: found.conditional,
    };
    let places = Places {
        loads: base.groups.iter().map(|(_, group)| group.load.place).collect(),
        endless: base.groups.iter().zip(&found.factors).map(|((_, group), factors)| is_endless(group.load.endless, factors)).collect(),
        policies: base.edges.iter().map(|edge| edge.policy_place).collect(),
        conditional: faults.iter().find(|fault| fault.course.conditional().is_some()).map(|fault| fault.place),
    };
    checks::check(context, &model, &places);
    (context.problems.len() == before).then_some(model)
}

/// Calls of an open load end with the last of its rates or of its load factors.
fn is_endless(endless: bool, factors: &[(Time, f64)]) -> bool {
    endless && factors.last().is_none_or(|(_, factor)| *factor > 0.0)
}

/// Groups whose load factor a conditional fault sets have the plain profile: the run scales it.
fn groups(base: &Numbers, found: &Epochs) -> Vec<Group> {
    let group = |(index, (name, written)): (usize, &(String, super::clients::WrittenGroup))| {
        let factors = &found.factors[index];
        let load = match &written.load.load {
            Load::Open { profile, spacing } if !found.scaled[index] && factors.iter().any(|(_, factor)| *factor != 1.0) => {
                Load::Open { profile: profile.scaled(factors), spacing: *spacing }
            }
            other => other.clone(),
        };
        Group {
            name: name.clone(),
            count: written.count,
            caller: CallerIndex(index as u16),
            load,
            via: written.via,
            criticality: written.criticality,
        }
    };
    base.groups.iter().enumerate().map(group).collect()
}

/// The services and edges, by index.
fn structure(context: &mut Context, tree: &Node, base: &Numbers) -> Option<(Vec<ServiceShape>, Vec<CallerShape>)> {
    let place = |section: &str| tree.get(section).map_or(tree.place, |node| node.place);
    if base.groups.is_empty() {
        return context.refuse(place("clients"), "there are no clients", "add a group: [clients.web] with calls, load and policy");
    }
    if base.services.is_empty() {
        return context.refuse(place("service"), "there is no service", "add one: [service.api] with workers and time");
    }
    if base.services.len() + further_replicas(base).len() > MOST || base.edges.len() > MOST {
        return context.refuse(place("service"), format!("there are more than {MOST} services, replicas or callers"), "write fewer");
    }
    for (name, _) in base.groups.iter().filter(|(name, _)| base.services.iter().any(|(service, _)| service == name)) {
        let message = format!("`{name}` is the name of clients and of a service");
        context.problem(
            place("clients"),
            message,
            "give one of them another name: the names of edges, such as `web->api`, would be ambiguous",
        );
    }
    let names: Vec<&str> = base.services.iter().map(|(name, _)| name.as_str()).collect();
    let from = base.groups.iter().enumerate().map(|(index, _)| Origin::Group(GroupIndex(index as u16)));
    let from = from.chain(
        base.services
            .iter()
            .enumerate()
            .flat_map(|(index, (_, written))| written.calls.iter().map(move |_| Origin::Service(ServiceIndex(index as u16)))),
    );
    let index = |edge: &Edge| names.iter().position(|name| edge.to.text() == Some(name)).map(|index| ServiceIndex(index as u16));
    let caller = |(edge, from): (&Edge, Origin)| Some(CallerShape { name: edge.name.clone(), from, to: index(edge)? });
    let callers: Vec<CallerShape> = base.edges.iter().zip(from).map(caller).collect::<Option<_>>()?;
    let mut next = base.groups.len()..;
    let services: Vec<ServiceShape> = base
        .services
        .iter()
        .map(|(name, written)| ServiceShape {
            name: name.clone(),
            optimistic: written.optimistic,
            calls: next.by_ref().take(written.calls.len()).map(|index| CallerIndex(index as u16)).collect(),
            balancer: (written.replicas.count() > 1).then_some(written.replicas.balancer),
        })
        .collect();
    no_cycle(context, base, &services, &callers)?;
    Some((services, callers))
}

/// The service of each further replica.
fn further_replicas(base: &Numbers) -> Vec<ServiceIndex> {
    let of = |(index, (_, written)): (usize, &(String, super::services::WrittenService))| {
        std::iter::repeat_n(ServiceIndex(index as u16), written.replicas.count() as usize - 1)
    };
    base.services.iter().enumerate().flat_map(of).collect()
}

/// A service that waits for itself would never answer.
fn no_cycle(context: &mut Context, base: &Numbers, services: &[ServiceShape], callers: &[CallerShape]) -> Option<()> {
    let mut finished = vec![false; services.len()];
    for start in 0..services.len() {
        // Each entry: a service, and how many of its calls have been followed. No recursion: chains may be long.
        let mut trail: Vec<(usize, usize)> = if finished[start] { Vec::new() } else { vec![(start, 0)] };
        while let Some((service, followed)) = trail.last_mut() {
            let Some(call) = services[*service].calls.get(*followed) else {
                finished[*service] = true;
                trail.pop();
                continue;
            };
            *followed += 1;
            let to = callers[call.at()].to.at();
            if let Some(begin) = trail.iter().position(|(service, _)| *service == to) {
                let mut cycle: Vec<&str> = trail[begin..].iter().map(|(service, _)| services[*service].name.as_str()).collect();
                cycle.push(&services[to].name);
                let place = base.edges[call.at()].to.place;
                let message = format!("the services call each other in a circle: {}", cycle.join(" -> "));
                return context.refuse(place, message, "take out one of these calls: a service that waits for itself never answers");
            }
            if !finished[to] {
                trail.push((to, 0));
            }
        }
    }
    Some(())
}
