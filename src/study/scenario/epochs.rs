//! The numbers over time: each moment at which a timed fault changes something begins an epoch, and each combination of conditional
//! faults has numbers of its own in each epoch. A tree is read once for each set of faults that can last together.

use std::collections::{BTreeMap, BTreeSet};

use super::faults::{Course, WrittenFault, patched};
use super::node::Node;
use super::numbers::{Numbers, numbers};
use super::reader::Context;
use crate::measure::time::Time;
use crate::service::Service;
use crate::world::condition::{Conditional, ConditionalFault, Signal};
use crate::world::model::{Caller, Epoch};

/// Moments at which timed faults change something, at most.
const MOST_MOMENTS: u64 = 4_000;

/// Conditional faults, at most: each doubles the combinations.
const MOST_CONDITIONAL: usize = 8;

/// Epochs in all combinations, at most.
const MOST_EPOCHS: usize = 50_000;

/// The numbers over time.
pub struct Epochs {
    /// Without conditional faults, by time.
    pub timed: Vec<Epoch>,
    /// With them.
    pub conditional: Conditional,
    /// The load factor of each group over time, without conditional faults.
    pub factors: Vec<Vec<(Time, f64)>>,
    /// The groups whose load factor a conditional fault sets.
    pub scaled: Vec<bool>,
}

/// What is read of a tree with some faults.
struct Reading {
    services: Vec<Service>,
    callers: Vec<Caller>,
    factors: Vec<f64>,
}

/// All numbers that the model can have. `tree` is the scenario as it is written.
pub fn epochs(context: &mut Context, tree: &Node, base: &Numbers, faults: &[WrittenFault], horizon: Option<Time>) -> Option<Epochs> {
    let moments = moments(context, faults, horizon)?;
    let conditional: Vec<(usize, &ConditionalFault)> =
        faults.iter().enumerate().filter_map(|(index, fault)| Some((index, fault.course.conditional()?))).collect();
    if !conditional.is_empty() {
        check_conditional(context, base, faults, moments.len())?;
    }
    let scaled: Vec<bool> = base.groups.iter().map(|(name, _)| faults.iter().any(|fault| fault.scales_by_condition(name))).collect();
    let mut found = Epochs {
        timed: Vec::new(),
        conditional: Conditional { faults: conditional.iter().map(|(_, fault)| (*fault).clone()).collect(), ..Conditional::default() },
        factors: vec![Vec::new(); base.groups.len()],
        scaled,
    };
    let mut readings: BTreeMap<Vec<(usize, usize)>, Option<Reading>> = BTreeMap::new();
    for combination in 0..1usize << conditional.len() {
        let bit = |index: usize| conditional.iter().position(|(known, _)| *known == index).is_some_and(|bit| combination >> bit & 1 == 1);
        for at in &moments {
            let lasting = |(index, fault): (usize, &WrittenFault)| match &fault.course {
                Course::Timed(timing) => timing.step(*at).map(|step| (index, step)),
                Course::Conditional(_) => bit(index).then_some((index, 0)),
            };
            let lasting: Vec<(usize, usize)> = faults.iter().enumerate().filter_map(lasting).collect();
            let reading = readings.entry(lasting.clone()).or_insert_with(|| read(context, tree, faults, &lasting));
            if let Some(reading) = reading {
                found.add(*at, combination, reading);
            }
        }
    }
    if !found.scaled.contains(&true) {
        found.conditional.load_factors.clear();
    }
    Some(found)
}

impl Epochs {
    fn add(&mut self, at: Time, combination: usize, reading: &Reading) {
        let epoch = Epoch { at, services: reading.services.clone(), callers: reading.callers.clone() };
        let scaled = self.scaled.iter().zip(&reading.factors).map(|(scaled, factor)| if *scaled { *factor } else { 1.0 });
        self.conditional.load_factors.push(scaled.collect());
        if combination > 0 {
            return self.conditional.combined.push(epoch);
        }
        self.timed.push(epoch);
        self.factors.iter_mut().zip(&reading.factors).for_each(|(factors, factor)| factors.push((at, *factor)));
    }
}

/// Reads the tree with these faults and the steps at which they are. What is wrong in one place is told once.
fn read(context: &mut Context, tree: &Node, faults: &[WrittenFault], lasting: &[(usize, usize)]) -> Option<Reading> {
    let before = context.problems.len();
    let mut patched = patched(context, tree, faults, lasting);
    let numbers = numbers(context, &mut patched);
    let known: Vec<_> = context.problems[..before].iter().map(|problem| problem.place).collect();
    let new = context.problems.split_off(before);
    context.problems.extend(new.into_iter().filter(|problem| !known.contains(&problem.place)));
    numbers.map(|numbers| Reading {
        services: stations(&numbers),
        callers: numbers.edges.into_iter().map(|edge| edge.caller).collect(),
        factors: numbers.groups.iter().map(|(_, group)| group.load_factor).collect(),
    })
}

/// The numbers of all services, and after them those of the further replicas.
fn stations(numbers: &Numbers) -> Vec<Service> {
    let (mut first, mut further) = (Vec::new(), Vec::new());
    for (_, written) in &numbers.services {
        let mut replicas = written.replicas.of(&written.service).into_iter();
        first.extend(replicas.next());
        further.extend(replicas);
    }
    first.extend(further);
    first
}

/// The moments at which timed faults change something, from zero on.
fn moments(context: &mut Context, faults: &[WrittenFault], horizon: Option<Time>) -> Option<BTreeSet<Time>> {
    let timed = || faults.iter().filter_map(|fault| Some((fault.place, fault.course.timed()?)));
    let endless = timed().find(|(_, timing)| matches!(timing.repeats, Some((_, None))) && horizon.is_none());
    if let Some((place, _)) = endless {
        let message = "this fault comes again for ever, and so would the run go on";
        return context.refuse(place, message, "write how often with `times`, or add `horizon = \"5m\"` to [run]");
    }
    let end = horizon.unwrap_or(Time::NEVER);
    let mut sum = 0u64;
    for (place, timing) in timed() {
        sum = sum.saturating_add(timing.count(end).saturating_mul(timing.steps + 1));
        if sum > MOST_MOMENTS {
            let message = format!("the faults up to this one change numbers at more than {MOST_MOMENTS} moments");
            return context.refuse(place, message, "write fewer `steps`, fewer `times`, or a longer `every`");
        }
    }
    let times = timed().flat_map(|(_, timing)| (0..timing.count(end)).flat_map(|index| timing.moments(index)));
    let mut moments: BTreeSet<Time> = times.filter(|time| *time != Time::NEVER).collect();
    moments.insert(Time::ZERO);
    Some(moments)
}

/// What conditional faults need of the rest of the model.
fn check_conditional(context: &mut Context, base: &Numbers, faults: &[WrittenFault], moments: usize) -> Option<()> {
    let before = context.problems.len();
    let conditional: Vec<&WrittenFault> = faults.iter().filter(|fault| fault.course.conditional().is_some()).collect();
    let first = conditional.first()?.place;
    if conditional.len() > MOST_CONDITIONAL {
        let message = format!("there are more than {MOST_CONDITIONAL} faults with a condition");
        context.problem(conditional[MOST_CONDITIONAL].place, message, "write fewer: each doubles the combinations that can last together");
    } else if moments << conditional.len() > MOST_EPOCHS {
        let message = format!("{} faults with a condition at {moments} moments are too many combinations", conditional.len());
        context.problem(first, message, "write fewer of them, or fewer `steps` and `times` of the others");
    }
    for fault in &conditional {
        let conditions = fault.course.conditional().into_iter().flat_map(|fault| [Some(fault.when), fault.until]).flatten();
        for service in conditions.filter_map(|condition| match condition.signal {
            Signal::Utilisation(service) => Some(service),
            _ => None,
        }) {
            let (name, written) = &base.services[service.at()];
            if written.service.workers.is_none() {
                let message = format!("`{name}` has unlimited workers, and so no utilisation");
                context.problem(fault.place, message, format!("look at `{name}.busy`, or give it a number of workers"));
            }
        }
    }
    (context.problems.len() == before).then_some(())
}
