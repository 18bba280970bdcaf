//! Plain models: what they do not have costs them nothing.
//!
//! Most storms are made of calls, attempts, timeouts, waits, workers and a queue. All else is rare, and would cost every event of every
//! run a look whether it is there, and every call the room for what it remembers. So the loop is compiled twice: once for all that can
//! be, and once, where [`Listener::PLAIN`](super::trace::Listener::PLAIN) is true, for models that have nothing rare. There the tables of
//! [`CallExtra`](super::flight::CallExtra) and [`AttemptExtra`](super::flight::AttemptExtra) stay empty, an attempt that is turned away in
//! the instant in which it was sent needs no place in a table and no timeout, and that is all: the code is the same, and so is the run,
//! but for the fingerprint, which knows of events that find nothing to do. docs/PERFORMANCE.md says what it saves.

use super::model::{Epoch, Group, Model, ServiceShape};
use crate::load::Load;
use crate::retry::policy::{Idempotent, Policy};
use crate::service::admission::Shed;
use crate::service::{Abandoned, Order, Service};

impl Model {
    /// Whether it has nothing rare, at any time.
    pub fn is_plain(&self) -> bool {
        let shapes = self.groups.iter().all(Group::is_plain) && self.services.iter().all(ServiceShape::is_plain);
        shapes && self.replicas.is_empty() && self.all_epochs().all(Epoch::is_plain)
    }
}

impl Group {
    fn is_plain(&self) -> bool {
        !matches!(self.load, Load::Closed { .. }) && self.via.is_none()
    }
}

impl ServiceShape {
    fn is_plain(&self) -> bool {
        self.calls.is_empty() && self.balancer.is_none()
    }
}

impl Epoch {
    fn is_plain(&self) -> bool {
        self.services.iter().all(Service::is_plain) && self.callers.iter().all(|caller| caller.policy.is_plain())
    }
}

impl Service {
    // Every field is named, so that whoever adds one has to decide.
    #[rustfmt::skip]
    fn is_plain(&self) -> bool {
        let Service {
            workers: _, time: _, speed: _, queue_limit: _, error_rate: _, permanent_rate: _, down: _,
            in_service_limit: _, inherits_deadline: _, shares: _,
            order, abandoned, retry_after, rate_limit, script, reject_time, max_wait, codel, shed, load_time, sharing, reserves, cache, autoscaler,
            crash,
        } = self;
        let queue = *order != Order::Priority && *abandoned != Abandoned::Cancel && max_wait.is_none() && codel.is_none();
        let door = rate_limit.is_none() && retry_after.is_none() && *shed == Shed::None && reject_time.is_zero();
        let work = script.is_empty() && load_time.is_none() && !sharing && !reserves;
        queue && door && work && cache.is_none() && autoscaler.is_none() && crash.is_none()
    }
}

impl Policy {
    // Here too. No service of a plain model gives hints, or throttles.
    #[rustfmt::skip]
    fn is_plain(&self) -> bool {
        let Policy {
            attempts: _, timeout: _, deadline: _, max_elapsed: _, shared_seed: _, persistence: _, retry_on: _,
            retry_after: _, throttled_backoff: _,
            backoff, budget, breaker, hedge, retriers, idempotent, pool,
        } = self;
        let limits = budget.is_none() && breaker.is_none() && pool.is_none();
        limits && hedge.is_none() && retriers.is_empty() && *idempotent != Idempotent::Key && !backoff.remembers()
    }
}
