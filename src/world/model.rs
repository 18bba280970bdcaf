//! The model of a run: everything that a run depends on but its seed. Built and checked by the study floor; here it is only data.

use super::condition::Conditional;
use crate::link::Link;
use crate::load::Load;
use crate::measure::identifier::{CallerIndex, GroupIndex, ServiceIndex};
use crate::measure::time::{Duration, Time};
use crate::retry::policy::Policy;
use crate::retry::receive::Sqs;
use crate::service::Service;
use crate::service::balancer::Balancer;
use crate::service::criticality::Criticality;

/// What is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The end; None where all load is finite: the run then ends with the last settled call.
    pub horizon: Option<Time>,
    /// Calls that start before it are left out of the summaries.
    pub warmup: Time,
    /// The width of a bin of the time series, above zero.
    pub bin: Duration,
    /// The groups of clients, in the order of the scenario.
    pub groups: Vec<Group>,
    /// The services that never change shape, in the order of the scenario.
    pub services: Vec<ServiceShape>,
    /// The edges: first one for each group in order, then those of the services.
    pub callers: Vec<CallerShape>,
    /// The service of each further replica. In lists of all, these come after the services.
    pub replicas: Vec<ServiceIndex>,
    /// The numbers over time, ascending, the first at time zero. Each fault's start and end begins a new one.
    pub epochs: Vec<Epoch>,
    /// When which fault lasts, for charts and for the time of recovery. Ascending by start.
    pub faults: Vec<FaultSpan>,
    /// Faults that start by a condition.
    pub conditional: Conditional,
}

/// A group of like clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name in the scenario.
    pub name: String,
    /// How many clients; at least 1.
    pub count: u32,
    /// Through which edge it calls.
    pub caller: CallerIndex,
    /// How its calls arise.
    pub load: Load,
    /// The queue that its calls go through; None where they are made at once.
    pub via: Option<Sqs>,
    /// How much its calls matter to a queue of the order `priority`.
    pub criticality: Criticality,
}

/// What does not change about a service.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceShape {
    /// Its name in the scenario.
    pub name: String,
    /// Whether it is an optimistic row: a read, then a write that fails where another write came between.
    pub optimistic: bool,
    /// What a worker calls, one after the other, before it replies. No cycles.
    pub calls: Vec<CallerIndex>,
    /// What spreads its attempts over its replicas; None where there is only one.
    pub balancer: Option<Balancer>,
}

/// What does not change about an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct CallerShape {
    /// Its name: `web->api`.
    pub name: String,
    /// Who calls.
    pub from: Origin,
    /// Who is called.
    pub to: ServiceIndex,
}

/// Who stands at the calling end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The clients of a group.
    Group(GroupIndex),
    /// The workers of a service.
    Service(ServiceIndex),
}

/// The numbers that hold from a time on.
#[derive(Clone, Debug, PartialEq)]
pub struct Epoch {
    /// From when.
    pub at: Time,
    /// For each service, and after them for each further replica.
    pub services: Vec<Service>,
    /// For each edge.
    pub callers: Vec<Caller>,
}

/// The numbers of an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct Caller {
    /// What the caller does after a failure.
    pub policy: Policy,
    /// The way there and back.
    pub link: Link,
}

/// A fault's time.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultSpan {
    /// When it starts.
    pub from: Time,
    /// When it ends; [`Time::NEVER`] where it is for good.
    pub until: Time,
    /// What it sets, as in the scenario: `service.api.down = refuse`.
    pub label: String,
}

impl Model {
    /// The numbers of an epoch while a combination of conditional faults lasts, a bit each.
    pub fn numbers(&self, epoch: u32, lasting: u32) -> &Epoch {
        match lasting as usize {
            0 => &self.epochs[epoch as usize],
            combination => &self.conditional.combined[(combination - 1) * self.epochs.len() + epoch as usize],
        }
    }

    /// All numbers that can hold.
    pub fn all_epochs(&self) -> impl Iterator<Item = &Epoch> {
        self.epochs.iter().chain(&self.conditional.combined)
    }

    /// What multiplies the profile of a group's open load in an epoch while a combination of conditional faults lasts.
    pub fn load_factor(&self, epoch: u32, lasting: u32, group: usize) -> f64 {
        let at = lasting as usize * self.epochs.len() + epoch as usize;
        self.conditional.load_factors.get(at).map_or(1.0, |factors| factors[group])
    }

    /// Which services each group's calls can reach, by group and service: whose calls count in a service's attempts per call.
    pub fn reach(&self) -> Vec<Vec<bool>> {
        let reached = |group: &Group| {
            let mut reached = vec![false; self.services.len()];
            let mut stack = vec![group.caller];
            while let Some(caller) = stack.pop() {
                let to = self.callers[caller.at()].to;
                if !std::mem::replace(&mut reached[to.at()], true) {
                    stack.extend(&self.services[to.at()].calls);
                }
            }
            reached
        };
        self.groups.iter().map(reached).collect()
    }

    /// The services in an order in which each stands after all that it calls.
    pub fn called_first(&self) -> Vec<ServiceIndex> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.services.len()];
        for start in 0..self.services.len() {
            // A service is entered, then what it calls, then it is left: without recursion, for chains of any length.
            let mut stack = vec![(ServiceIndex(start as u16), false)];
            while let Some((service, left)) = stack.pop() {
                if left {
                    order.push(service);
                } else if !std::mem::replace(&mut seen[service.at()], true) {
                    stack.push((service, true));
                    stack.extend(self.services[service.at()].calls.iter().map(|caller| (self.callers[caller.at()].to, false)));
                }
            }
        }
        order
    }

    /// How long a worker of each service is held by an attempt on average, in seconds: by its own work, where all workers are busy,
    /// and by the calls it makes. Waits and retries below are left out.
    pub fn holding_times(&self, epoch: &Epoch) -> Vec<(f64, f64)> {
        let mut held = vec![(0.0, 0.0); self.services.len()];
        for service in self.called_first() {
            let numbers = &epoch.services[service.at()];
            let below = self.services[service.at()].calls.iter().zip(&numbers.shares).map(|(caller, share)| {
                let link = &epoch.callers[caller.at()].link;
                let (own, below) = held[self.callers[caller.at()].to.at()];
                let cache = epoch.services[self.callers[caller.at()].to.at()].cache;
                let (hits, hit) = cache.map_or((0.0, 0.0), |cache| (cache.hit_rate, cache.time.seconds()));
                share * ((1.0 - hits) * (own + below) + hits * hit + link.ways() * link.delay.mean())
            });
            let below = below.sum::<f64>();
            let alone = numbers.time.mean();
            let busy = numbers.load_time.zip(numbers.places());
            let own = busy.map_or(alone, |(load, count)| load.apply(Duration::from_seconds(alone), count).seconds());
            held[service.at()] = (own / numbers.speed, below);
        }
        held
    }

    /// Attempts a second that each service can do: workers over the time that one is held, its own and that of the calls it makes,
    /// and no more than its rate limit lets in. Infinite where workers are unlimited or held for no time. Of several replicas the sum,
    /// without those that are down; with what a full cache answers and the most
    /// workers of an autoscaler.
    pub fn capacities(&self, epoch: &Epoch) -> Vec<f64> {
        let capacity = |numbers: &Service, held: f64| {
            let workers = match numbers.autoscaler.map(|scaler| scaler.most).or(numbers.workers) {
                Some(0) => 0.0,
                Some(workers) if held > 0.0 => f64::from(workers) / held,
                _ => f64::INFINITY,
            };
            numbers.rate_limit.map_or(workers, |limit| workers.min(limit.rate()))
        };
        let held = self.holding_times(epoch);
        let all = |index: usize| {
            let (own, below) = held[index];
            let first = &epoch.services[index];
            let own = |numbers: &Service| if numbers.speed == first.speed { own } else { own * first.speed / numbers.speed };
            let several = self.services[index].balancer.is_some();
            let up = self.stations(ServiceIndex(index as u16)).map(|place| &epoch.services[place]);
            let misses = first.cache.map_or(1.0, |cache| 1.0 - cache.hit_rate);
            let sum: f64 =
                up.filter(|numbers| !several || numbers.down.is_none()).map(|numbers| capacity(numbers, own(numbers) + below)).sum();
            if misses > 0.0 { sum / misses } else { f64::INFINITY }
        };
        (0..self.services.len()).map(all).collect()
    }
}
