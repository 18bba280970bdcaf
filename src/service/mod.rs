//! Floor 1: what a service is. Parameters and a queue: it schedules nothing and never looks into its callers' pockets.

pub mod admission;
pub mod autoscaler;
pub mod balancer;
pub mod cache;
pub mod codel;
pub mod crash;
pub mod criticality;
pub mod hint;
pub mod limit;
pub mod load_time;
pub mod queue;
pub mod script;
pub mod sharing;

use admission::Shed;
use autoscaler::Autoscaler;
use cache::Cache;
use codel::Codel;
use crash::Crash;
use hint::Hint;
use limit::RateLimit;
use load_time::LoadTime;
use script::Answer;

use crate::measure::distribution::Distribution;
use crate::measure::time::Duration;

/// The numbers of a service. Any of them may be different while a fault lasts.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// Attempts worked on at once; None is unlimited.
    pub workers: Option<u32>,
    /// How long the work on an attempt takes.
    pub time: Distribution,
    /// How fast the work goes: 1 is normal, 0.5 takes twice as long, 0 stands still.
    pub speed: f64,
    /// Attempts that may wait for a worker; None is unlimited, 0 is no waiting room.
    pub queue_limit: Option<u32>,
    /// Who is next.
    pub order: Order,
    /// What happens to work whose caller has left.
    pub abandoned: Abandoned,
    /// The share of attempts that end in `error` after their work.
    pub error_rate: f64,
    /// Whether and how the service is down.
    pub down: Option<Down>,
    /// The hint that goes with `rejected` and `throttled`: how long to wait before a retry.
    pub retry_after: Option<Hint>,
    /// What is let in at the door; the rest is `throttled`.
    pub rate_limit: Option<RateLimit>,
    /// What the service answers to the first, second ... attempt of each call; empty where it has no script.
    pub script: Vec<Answer>,
    /// The share of attempts that end in `permanent` after their work. At most 1 with `error_rate`.
    pub permanent_rate: f64,
    /// What it costs to answer `rejected` or `throttled`: work that comes before all other.
    pub reject_time: Distribution,
    /// What has waited longer when its turn comes is turned away; None waits for ever.
    pub max_wait: Option<Duration>,
    /// What watches how long attempts wait, and turns some of them away.
    pub codel: Option<Codel>,
    /// What happens to attempts whose time is over, or will be.
    pub shed: Shed,
    /// What the work in progress does to the time of more work.
    pub load_time: Option<LoadTime>,
    /// Whether the workers share all attempts in service equally, instead of one attempt each.
    pub sharing: bool,
    /// Where they share: how many attempts are in service at once; None is unlimited.
    pub in_service_limit: Option<u32>,
    /// Whether the work on an attempt is drawn when it arrives, by the numbers that hold then, and not when the work starts.
    pub reserves: bool,
    /// For each service that it calls, whether that call has no more time than is left to the caller.
    pub inherits_deadline: Vec<bool>,
    /// For each service that it calls, the share of calls that need it, 0 to 1.
    pub shares: Vec<f64>,
    /// What answers a share of the attempts without the service.
    pub cache: Option<Cache>,
    /// What changes the number of workers; `workers` is then how many there are at first.
    pub autoscaler: Option<Autoscaler>,
    /// Of what its process dies; None where it does not.
    pub crash: Option<Crash>,
}

/// Who of the queued is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first come.
    Fifo,
    /// The last come.
    Lifo,
    /// Any, each as likely.
    Random,
    /// The last come where more wait than this number, otherwise the first.
    AdaptiveLifo(u32),
    /// The first come of the most important class.
    Priority,
}

/// What happens to an attempt whose caller has left (its timeout or its call's end has passed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abandoned {
    /// It is served like any other: that is what makes storms.
    Serve,
    /// It is dropped when its turn comes.
    Skip,
    /// It is dropped at once, queued or in progress.
    Cancel,
}

/// How a service is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Down {
    /// The process died: what was queued or in progress is lost, and its callers and all new arrivals are `refused` at once.
    Refuse,
    /// Arrivals vanish without an answer, and so does what was queued or in progress.
    Hang,
    /// Arrivals wait in the network and are delivered in order when it ends; work in progress goes on.
    Hold,
}

impl Service {
    /// One worker, constant time of zero, an unlimited first-in-first-out queue: the defaults.
    pub fn plain() -> Service {
        Service {
            workers: Some(1),
            time: Distribution::Constant(Duration::ZERO),
            speed: 1.0,
            queue_limit: None,
            order: Order::Fifo,
            abandoned: Abandoned::Serve,
            error_rate: 0.0,
            down: None,
            retry_after: None,
            rate_limit: None,
            script: Vec::new(),
            permanent_rate: 0.0,
            reject_time: Distribution::Constant(Duration::ZERO),
            max_wait: None,
            codel: None,
            shed: Shed::None,
            load_time: None,
            sharing: false,
            in_service_limit: None,
            reserves: false,
            inherits_deadline: Vec::new(),
            shares: Vec::new(),
            cache: None,
            autoscaler: None,
            crash: None,
        }
    }

    /// Attempts that can be in service at once; None is unlimited.
    #[inline]
    pub fn places(&self) -> Option<u32> {
        if self.sharing { self.in_service_limit } else { self.workers }
    }

    /// Whether work may take no time at all.
    pub fn works_at_once(&self) -> bool {
        self.time.is_zero() && self.load_time.is_none_or(|load| load.apply(Duration::ZERO, 1) == Duration::ZERO)
    }
}
