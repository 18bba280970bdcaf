//! Replicas: each is a service of its own in the loop, numbered after all that have a name. What they count is joined at the end.

use super::World;
use super::model::Model;
use super::run::{COUNTS, SERVICE_SERIES, ServiceTotals, Timeline};
use super::trace::{Listener, What};
use crate::measure::identifier::{ClientIndex, ServiceIndex};
use crate::measure::random::Purpose;
use crate::retry::outcome::Outcome;
use crate::service::balancer::{self, Balancer};

impl Model {
    /// The service by name that a replica belongs to; itself for any other.
    #[inline]
    pub fn base(&self, service: ServiceIndex) -> ServiceIndex {
        match service.at().checked_sub(self.services.len()) {
            Some(index) => self.replicas[index],
            None => service,
        }
    }

    /// A service with a name and its further replicas: their places in lists of all.
    pub fn stations(&self, service: ServiceIndex) -> impl Iterator<Item = usize> + '_ {
        let further = (self.services.len()..).zip(&self.replicas).filter(move |(_, base)| **base == service);
        std::iter::once(service.at()).chain(further.map(|(index, _)| index))
    }

    /// How many replicas a service has.
    pub fn replica_count(&self, service: ServiceIndex) -> u32 {
        self.stations(service).count() as u32
    }
}

/// The balancer of a service in the course of a run.
#[derive(Debug)]
pub(super) struct Front {
    balancer: Balancer,
    replicas: Vec<ServiceIndex>,
    state: balancer::State,
}

/// The balancers by service; empty where there are none.
pub(super) fn fronts(model: &Model) -> Vec<Option<Front>> {
    let front = |(index, shape): (u16, &super::model::ServiceShape)| {
        let replicas: Vec<ServiceIndex> = model.stations(ServiceIndex(index)).map(|place| ServiceIndex(place as u16)).collect();
        let state = balancer::State::new(replicas.len());
        shape.balancer.filter(|_| replicas.len() > 1).map(|balancer| Front { balancer, replicas, state })
    };
    let fronts: Vec<Option<Front>> = (0..).zip(&model.services).map(front).collect();
    if fronts.iter().any(Option::is_some) { fronts } else { Vec::new() }
}

impl<L: Listener> World<'_, L> {
    /// The replica that an attempt goes to which has reached the balancer.
    #[inline(never)]
    pub(super) fn balance(&mut self, attempt: u32, service: ServiceIndex) -> ServiceIndex {
        let services = &self.services;
        let Some(Some(front)) = self.fronts.get_mut(service.at()) else { return service };
        let held = &mut self.attempts[attempt];
        let draw = |way| held.address.draw_way(Purpose::Replica, way, held.number.into());
        let load = |replica: usize| {
            let state = &services[front.replicas[replica].at()];
            state.busy + state.queue.len() as u32
        };
        let chosen = front.balancer.choose(&mut front.state, self.now, load, [draw(0), draw(1)]);
        held.service = front.replicas[chosen];
        let (to, call) = (held.service, held.call.0);
        self.extra[call].replica = chosen as u16;
        self.tell_of_attempt(attempt, |number| What::Balanced(number, chosen as u32));
        to
    }

    /// Which client of the next service a replica is.
    #[inline]
    pub(super) fn replica_number(&self, service: ServiceIndex, base: ServiceIndex) -> ClientIndex {
        if L::PLAIN || self.fronts.is_empty() {
            return ClientIndex(0);
        }
        let place = self.fronts[base.at()].as_ref().and_then(|front| front.replicas.iter().position(|known| *known == service));
        ClientIndex(place.unwrap_or(0) as u32)
    }

    /// A replica sends an answer, which its balancer sees where its caller still waits for it.
    #[inline]
    pub(super) fn balancer_sees(&mut self, attempt: u32, outcome: Outcome) {
        if !L::PLAIN && !self.fronts.is_empty() && self.is_awaited(attempt) {
            let service = self.service_of(attempt);
            let failed = matches!(outcome, Outcome::Error | Outcome::Rejected | Outcome::Refused);
            let base = self.model.base(service);
            let replica = self.fronts[base.at()].as_ref().and_then(|front| front.replicas.iter().position(|known| *known == service));
            self.note_at_balancer(base, replica, failed);
        }
    }

    /// A caller gives up on what was sent to it: so does the balancer.
    pub(super) fn balancer_sees_timeout(&mut self, place: u32) {
        let (base, replica) = (self.model.callers[self.calls[place].caller.at()].to, self.extra[place].replica);
        let replica = (replica != u16::MAX).then_some(usize::from(replica));
        self.note_at_balancer(base, replica, true);
    }

    fn note_at_balancer(&mut self, base: ServiceIndex, replica: Option<usize>, failed: bool) {
        if let (Some(Some(front)), Some(replica)) = (self.fronts.get_mut(base.at()), replica) {
            front.balancer.observe(&mut front.state, replica, failed, self.now);
        }
    }

    /// What the replicas have counted becomes that of their services.
    pub(super) fn join_replicas(&self, services: &mut Vec<ServiceTotals>, timeline: &mut Timeline) {
        let named = self.model.services.len();
        for (totals, base) in services.split_off(named).into_iter().zip(&self.model.replicas) {
            services[base.at()].join(totals);
        }
        let column = |service: usize| COUNTS.len() + service * SERVICE_SERIES.len();
        let mut values = Vec::with_capacity(timeline.bins() * column(named));
        for row in timeline.values.chunks(timeline.width.max(1)) {
            let start = values.len();
            values.extend_from_slice(&row[..column(named)]);
            for (index, base) in (named..).zip(&self.model.replicas) {
                let own = &row[column(index)..column(index + 1)];
                values[start + column(base.at())..].iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            }
        }
        *timeline = Timeline { width: column(named), values, cut: timeline.cut };
    }
}

impl ServiceTotals {
    /// Adds those of another replica. The greatest queue is that of one of them.
    fn join(&mut self, other: ServiceTotals) {
        self.arrivals += other.arrivals;
        self.served += other.served;
        self.rejected += other.rejected;
        self.refused += other.refused;
        self.errors += other.errors;
        self.attempts += other.attempts;
        self.busy += other.busy;
        self.queued += other.queued;
        self.queue_peak = self.queue_peak.max(other.queue_peak);
        self.started += other.started;
        self.waited += other.waited;
        self.worked += other.worked;
        self.wasted += other.wasted;
        self.throttled += other.throttled;
        self.shed += other.shed;
        self.delayed += other.delayed;
        self.in_service += other.in_service;
        self.hits += other.hits;
        self.offered += other.offered;
        self.crashes += other.crashes;
        self.down += other.down;
    }
}
