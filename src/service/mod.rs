//! Floor 1: what a service is. Parameters and a queue: it schedules nothing and never looks into its callers' pockets.

pub mod queue;

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
    /// The hint that goes with `rejected`: how long to wait before a retry.
    pub retry_after: Option<Duration>,
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
        }
    }
}
