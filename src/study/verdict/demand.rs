//! What is asked of each service, retries included, against what it can do.
//!
//! A queue that grows by 3 % of what comes is hard to see in a short run: by chance it grows or falls by more. But how much is asked
//! is known much better than what has become of it. Of an open load the mean is known, so only what each call comes to is measured:
//! the attempts that arrived, times the calls expected over the calls that came. What is left of chance is that of the attempts that
//! are not the first of their call, or (where not every call comes to the service) of which calls do. And what a service can do is
//! known exactly where it only works: it calls on nobody, answers nothing without work, and its workers are as many as they are, and never die.

use std::ops::Range;

use super::series::{Bins, edge};
use crate::load::Load;
use crate::measure::time::Time;
use crate::retry::policy::Idempotent;
use crate::service::admission::Shed;
use crate::service::{Abandoned, Service};
use crate::world::model::{Epoch, Model};

/// How many standard errors chance bridges.
const CHANCE: f64 = 2.0;

/// What two numbers may differ by that are the same but for rounding, relative to them.
const ROUNDING: f64 = 1e-9;

/// What is asked of a service over some bins, in what it can do: 1 is a service that can just do it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// What is asked, 0 or more.
    ratio: f64,
    /// Its standard error.
    error: f64,
    /// What is asked at most: if each call were tried as often as it may be. Infinite where that has no limit.
    most: f64,
    /// Attempts a second that it can do.
    capacity: f64,
    /// Whether it keeps what it cannot do at once until it is done, so that what waits grows without end if more is asked.
    keeps: bool,
}

impl Demand {
    /// Surely less is asked than it can do.
    pub fn is_within(self) -> bool {
        self.most.min(self.ratio + CHANCE * self.error) < 1.0 - ROUNDING
    }

    /// Surely more is asked than it can do.
    pub fn is_beyond(self) -> bool {
        self.ratio - CHANCE * self.error > 1.0 + ROUNDING
    }

    /// Whether it is beyond, and what waits must grow.
    pub fn piles_up(self) -> bool {
        self.keeps && self.is_beyond()
    }
}

/// The demand on each service over some bins in which these numbers hold; None where it or the capacity is not known so well.
pub fn demands(model: &Model, bins: &Bins, numbers: &Epoch, stretch: Range<usize>) -> Vec<Option<Demand>> {
    let seconds: f64 = bins.seconds[stretch.clone()].iter().sum();
    let calls: f64 = bins.calls[stretch.clone()].iter().sum();
    let expected = expected_calls(model, stretch.clone());
    let steady = is_steady(model, stretch.clone());
    let capacities = model.capacities(numbers);
    let most = most_attempts(model, numbers, edge(model, stretch.start));
    let demand = |service: usize| {
        let capacity = capacities[service];
        if !steady || seconds <= 0.0 || capacity <= 0.0 || !only_works(model, numbers, service) {
            return None;
        }
        let arrived: f64 = bins.arrivals[service][stretch.clone()].iter().sum();
        let (scale, variance) = match expected {
            // Attempts beyond one a call are as if drawn by themselves; of fewer, each call comes or does not.
            Some(expected) if calls > 0.0 => {
                (expected / calls, if arrived > calls { arrived - calls } else { arrived * (1.0 - arrived / calls) })
            }
            _ => (1.0, arrived),
        };
        let can = capacity * seconds;
        Some(Demand {
            ratio: arrived * scale / can,
            error: variance.sqrt() * scale / can,
            most: most[service] / capacity,
            capacity,
            keeps: keeps(&numbers.services[service]),
        })
    };
    (0..model.services.len()).map(demand).collect()
}

/// Whether what waits at each service falls as it must where less is asked than it can do: there is such a service, it has had
/// somebody waiting in each of these bins, and at the end as many less than at the beginning as what arrived and what it can do say.
pub fn drains(bins: &Bins, demands: &[Option<Demand>], stretch: Range<usize>) -> bool {
    let waits = |service: &usize| bins.queues[*service][stretch.clone()].iter().all(|waiting| *waiting > 0.0);
    // Levels are those at the end of a bin: between the first and the last lie all bins but the first.
    let between = |series: &[f64]| series[stretch.clone()].iter().skip(1).sum::<f64>();
    let falls = |service: usize| {
        let Some(demand) = demands[service].filter(|demand| demand.is_within()) else { return false };
        let queue = &bins.queues[service];
        let done = demand.capacity * between(&bins.seconds);
        // Three standard deviations of what is done, where that varies by twice as much as exponential work.
        let chance = 3.0 * (2.0 * done).sqrt();
        queue[stretch.end - 1] - queue[stretch.start] <= between(&bins.arrivals[service]) - done + chance
    };
    let mut backlogs = (0..demands.len()).filter(waits).peekable();
    !stretch.is_empty() && backlogs.peek().is_some() && backlogs.all(falls)
}

/// Whether surely less is asked of every service than it can do.
pub fn all_within(demands: &[Option<Demand>]) -> bool {
    demands.iter().all(|demand| demand.is_some_and(Demand::is_within))
}

/// The calls that an open load makes on average in these bins; None where some load is another.
fn expected_calls(model: &Model, stretch: Range<usize>) -> Option<f64> {
    let expected = |load: &Load| match load {
        Load::Open { profile, .. } => Some(profile.expected(edge(model, stretch.end)) - profile.expected(edge(model, stretch.start))),
        _ => None,
    };
    let sum = model.groups.iter().map(|group| expected(&group.load)).sum::<Option<f64>>();
    sum.filter(|_| model.conditional.load_factors.is_empty())
}

/// Attempts a second that can reach each service at most, of calls that come as often as they do at a time: each tried as often as it may
/// be, at every layer. Infinite where nothing limits that, or the load has no rate.
fn most_attempts(model: &Model, numbers: &Epoch, at: Time) -> Vec<f64> {
    let mut most = vec![0.0; model.services.len()];
    let times = |edge: usize, calls: f64| {
        let policy = &numbers.callers[edge].policy;
        let limit = policy.attempts.filter(|_| policy.hedge.is_none() && policy.retriers.is_empty());
        if calls > 0.0 { limit.map_or(f64::INFINITY, |limit| calls * f64::from(limit)) } else { 0.0 }
    };
    for group in &model.groups {
        let calls = match &group.load {
            Load::Open { profile, .. } if group.via.is_none() && model.conditional.load_factors.is_empty() => profile.rate(at),
            _ => f64::INFINITY,
        };
        most[model.callers[group.caller.at()].to.at()] += times(group.caller.at(), calls);
    }
    for service in model.called_first().into_iter().rev() {
        for (caller, share) in model.services[service.at()].calls.iter().zip(&numbers.services[service.at()].shares) {
            let calls = if *share > 0.0 { most[service.at()] * share } else { 0.0 };
            most[model.callers[caller.at()].to.at()] += times(caller.at(), calls);
        }
    }
    most
}

/// Whether each open load has the same rate all through these bins.
fn is_steady(model: &Model, stretch: Range<usize>) -> bool {
    let (from, to) = (edge(model, stretch.start), edge(model, stretch.end));
    let same = |load: &Load| match load {
        Load::Open { profile, .. } => {
            let (rate, expected) = (profile.rate(from), profile.expected(to) - profile.expected(from));
            (rate * to.since(from).seconds() - expected).abs() <= ROUNDING * expected.max(1.0)
        }
        _ => true,
    };
    model.groups.iter().all(|group| same(&group.load))
}

/// Whether what a service can do is workers over the time of an attempt, and each attempt that arrives asks for that time.
fn only_works(model: &Model, numbers: &Epoch, index: usize) -> bool {
    let (shape, service) = (&model.services[index], &numbers.services[index]);
    let keyed = |(edge, caller): (usize, &crate::world::model::Caller)| {
        model.callers[edge].to.at() == index && caller.policy.idempotent == Idempotent::Key
    };
    let answers = service.cache.is_some() || service.rate_limit.is_some() || !service.script.is_empty() || !service.reject_time.is_zero();
    let changes = service.autoscaler.is_some() || service.load_time.is_some() || shape.balancer.is_some() || service.crash.is_some();
    let stands = service.down.is_some() || shape.optimistic || !shape.calls.is_empty();
    !answers && !changes && !stands && !numbers.callers.iter().enumerate().any(keyed)
}

/// Whether everything that arrives is done in the end, however long it waits.
fn keeps(service: &Service) -> bool {
    let drops = service.max_wait.is_some() || service.codel.is_some() || service.shed != Shed::None;
    service.queue_limit.is_none() && service.abandoned == Abandoned::Serve && !drops
}
