//! What must always be so, checked in every run, debug and release. What counts twice must agree to the nanosecond: the area under
//! the number of attempts in a queue, or at workers, is the time that these attempts have spent there (Little's law before it is
//! divided by anything). A violation is a fault of this program. It ends the run and is kept with it.

use super::World;
use super::trace::Listener;
use crate::measure::identifier::ServiceIndex;
use crate::measure::time::{Duration, Time};
use crate::service::Service;

/// What is not as it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invariant {
    /// An event comes before one that has happened.
    TimeGoesOn,
    /// More attempts are worked on than there are workers.
    BusyWithinWorkers,
    /// More wait than the queue has places.
    QueueWithinLimit,
    /// Calls = succeeded + failed + unfinished.
    CallsConserved,
    /// Attempts = calls - those never let out + retries + hedges.
    AttemptsConserved,
    /// The area under the length of the queue is the time spent in it.
    QueueTimeAgrees,
    /// The area under the number of held workers is the time that attempts held them.
    WorkTimeAgrees,
    /// Workers are not held for longer than there are workers.
    UtilisationWithinOne,
}

impl Invariant {
    /// In words: what is wrong.
    pub fn violation(self) -> &'static str {
        match self {
            Invariant::TimeGoesOn => "time goes back",
            Invariant::BusyWithinWorkers => "more attempts are worked on than there are workers",
            Invariant::QueueWithinLimit => "more attempts wait than the queue has places",
            Invariant::CallsConserved => "calls are lost",
            Invariant::AttemptsConserved => "attempts are lost",
            Invariant::QueueTimeAgrees => "the length of the queue and the time spent in it disagree",
            Invariant::WorkTimeAgrees => "the number of busy workers and the time that they were busy disagree",
            Invariant::UtilisationWithinOne => "workers were busy for longer than there were workers",
        }
    }
}

/// A violation: what, when, where, and with which attempt, as far as that can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What is not as it must be.
    pub invariant: Invariant,
    /// When it was found.
    pub at: Time,
    /// At which service.
    pub service: Option<ServiceIndex>,
    /// With which attempt.
    pub attempt: Option<Ticket>,
}

/// An attempt by all its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Its place in the table of attempts.
    pub place: u32,
    /// The stamp of that place.
    pub stamp: u32,
    /// The client's call, by number from 0 in the order of starts.
    pub call: u32,
    /// Its number among the attempts of its call, from 1.
    pub number: u32,
}

/// A number of attempts over time, and the time that these spent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    since: Time,
    /// Nanoseconds, both; beyond 64 bits they begin anew.
    area: u64,
    spent: u64,
}

impl Level {
    /// So many were there until now; from now on it is another number.
    #[inline]
    pub(super) fn changes(&mut self, now: Time, before: u64) {
        self.area = self.area.wrapping_add(before.wrapping_mul(now.0.wrapping_sub(self.since.0)));
        self.since = now;
    }

    /// One of them leaves that has been there for so long.
    #[inline]
    pub(super) fn leaves(&mut self, spent: Duration) {
        self.spent = self.spent.wrapping_add(spent.0);
    }

    /// The area until now, where so many are there at present.
    pub(super) fn area_until(&self, now: Time, present: u64) -> u64 {
        self.area.wrapping_add(present.wrapping_mul(now.0.wrapping_sub(self.since.0)))
    }

    fn agrees(&self) -> bool {
        self.area == self.spent
    }
}

/// What a service has had to offer: the time of its workers, and the places of its queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Offer {
    /// The greatest limit of the queue so far; None where it was unlimited. What waits when the limit is lowered stays.
    places: Option<u32>,
    since: Time,
    /// Nanoseconds; None where workers were unlimited, or taken away while they were busy, so that there is nothing to compare.
    time: Option<u128>,
}

impl Offer {
    /// From time zero on.
    pub(super) fn new(service: &Service) -> Offer {
        Offer { places: service.queue_limit, since: Time::ZERO, time: Some(0) }
    }

    /// Until now there were so many workers, of which so many are busy; from now on an autoscaler has others.
    pub(super) fn scales(&mut self, now: Time, before: u32, busy: u32, after: u32) {
        self.time = self.time.map(|time| time + u128::from(before) * u128::from(now.since(self.since).0)).filter(|_| busy <= after);
        self.since = now;
    }

    /// Until now there were so many workers, and now so many are busy; from now on there may be others.
    fn changes(&mut self, now: Time, before: Option<u32>, busy: u32, after: &Service, scaled: Option<u32>) {
        let stays = scaled.or(after.places()).is_none_or(|after| busy <= after);
        self.places = self.places.zip(after.queue_limit).map(|(places, limit)| places.max(limit));
        self.time = self.time.zip(before).map(|(time, workers)| time + u128::from(workers) * u128::from(now.since(self.since).0));
        self.time = self.time.filter(|_| stays);
        self.since = now;
    }
}

impl<L: Listener> World<'_, L> {
    /// Something is not as it must be: nothing more happens in this run. The first violation is kept, the others may come of it.
    #[cold]
    pub(super) fn violate(&mut self, invariant: Invariant, service: Option<ServiceIndex>, attempt: Option<u32>) {
        let ticket = |place: u32| {
            let held = &self.attempts[place];
            // A plain model keeps no numbers of calls: where its run is not sound it is made again with them.
            let call = if L::PLAIN { 0 } else { self.extra[held.call.0].root.number };
            Ticket { place, stamp: held.stamp, call, number: held.number }
        };
        let violation = Violation { invariant, at: self.now, service, attempt: attempt.map(ticket) };
        self.violation.get_or_insert(violation);
        self.end = Time::ZERO;
    }

    /// The numbers change now: what the workers' time is compared with is theirs until now.
    pub(super) fn offer_changes(&mut self, before: &[Service]) {
        for ((state, before), after) in self.services.iter_mut().zip(before).zip(&self.numbers.services) {
            let scaled = state.scaled.map(|scaled| scaled.workers);
            state.offer.changes(self.now, scaled.or(before.places()), state.busy, after, scaled);
        }
    }

    /// At the end, once all that is left has been counted.
    pub(super) fn check_at_the_end(&mut self) {
        let totals = &self.probe.totals;
        let calls = totals.calls == totals.succeeded + totals.failed + totals.unfinished;
        let attempts = totals.attempts + self.unsent == totals.calls + totals.retries + totals.hedges;
        if !calls {
            self.violate(Invariant::CallsConserved, None, None);
        }
        if !attempts {
            self.violate(Invariant::AttemptsConserved, None, None);
        }
        let numbers = self.numbers;
        self.offer_changes(&numbers.services);
        for index in 0..self.services.len() {
            let (now, service) = (self.now, Some(ServiceIndex(index as u16)));
            let state = &mut self.services[index];
            state.queued.changes(now, state.queue.len() as u64);
            state.working.changes(now, state.busy.into());
            let (queued, working, offer, waiting) = (state.queued, state.working, state.offer, state.queue.len());
            if offer.places.is_some_and(|places| waiting > places as usize) {
                self.violate(Invariant::QueueWithinLimit, service, None);
            }
            if !queued.agrees() {
                self.violate(Invariant::QueueTimeAgrees, service, None);
            }
            if !working.agrees() {
                self.violate(Invariant::WorkTimeAgrees, service, None);
            }
            // Where the workers' time fits 64 bits, so does what they were busy.
            if offer.time.and_then(|time| u64::try_from(time).ok()).is_some_and(|time| working.spent > time) {
                self.violate(Invariant::UtilisationWithinOne, service, None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Load, Profile, Spacing};
    use crate::measure::random::Seed;
    use crate::retry::policy::Policy;
    use crate::service::Order;
    use crate::world::run::Run;
    use crate::world::trace::Deaf;

    /// Two calls a second, evenly, to a worker that takes a second for each, for ten seconds: one more waits each second.
    fn run(tamper: impl FnOnce(&mut World<Deaf>)) -> Run {
        let service = Service { time: crate::measure::distribution::Distribution::Constant(Duration(1_000_000_000)), ..Service::plain() };
        let service = Service { queue_limit: Some(7), ..service };
        let load = Load::Open { profile: Profile::constant(2.0), spacing: Spacing::Even };
        let mut model = crate::world::tests::model(load, 1, Policy::once(), service);
        model.horizon = Some(Time(10_000_000_000));
        let mut listener = Deaf;
        let mut world = World::new(&model, Seed { seed: 1, replication: 0 }, &mut listener);
        world.start();
        world.end = Time(5_200_000_000);
        world.go_on();
        world.end = Time(10_000_000_000);
        tamper(&mut world);
        world.go_on();
        world.finish()
    }

    fn found(tamper: impl FnOnce(&mut World<Deaf>)) -> Option<(Invariant, f64, bool)> {
        run(tamper).violation.map(|violation| (violation.invariant, violation.at.seconds(), violation.attempt.is_some()))
    }

    #[test]
    fn what_is_sound_is_left_alone() {
        assert_eq!(run(|_| ()).violation, None);
    }

    type Tamper = fn(&mut World<Deaf>);

    #[test]
    fn every_violation_is_found() {
        let rows: [(Tamper, Invariant, f64, bool); 8] = [
            (|world| world.now = Time(6_000_000_000), Invariant::TimeGoesOn, 6.0, false),
            (|world| world.begin_work(0, ServiceIndex(0)), Invariant::BusyWithinWorkers, 5.0, true),
            (
                |world| (0..10).for_each(|_| world.services[0].queue.push(0, Order::Fifo, Default::default)),
                Invariant::QueueWithinLimit,
                10.0,
                false,
            ),
            (|world| world.probe.totals.calls += 1, Invariant::CallsConserved, 10.0, false),
            (|world| world.probe.totals.retries += 1, Invariant::AttemptsConserved, 10.0, false),
            (|world| world.services[0].queued.leaves(Duration(1)), Invariant::QueueTimeAgrees, 10.0, false),
            (|world| world.attempts[3].since.0 += 1, Invariant::WorkTimeAgrees, 10.0, false),
            (|world| world.services[0].offer.since = Time(1), Invariant::UtilisationWithinOne, 10.0, false),
        ];
        for (tamper, invariant, at, names_attempt) in rows {
            assert_eq!(found(tamper), Some((invariant, at, names_attempt)));
        }
    }
}
