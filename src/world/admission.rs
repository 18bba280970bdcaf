//! The door of a service and the order of its queue: who is let in, who waits, who is turned away, and when.

use super::World;
use super::flight::State;
use super::invariant::Invariant;
use super::probe::ServiceCount;
use super::trace::{Listener, What};
use crate::measure::identifier::ServiceIndex;
use crate::measure::random::{Draw, Purpose};
use crate::measure::time::{Duration, Time};
use crate::retry::outcome::Outcome;
use crate::service::admission::Shed;
use crate::service::hint::Hint;
use crate::service::script::{Answer, answer};
use crate::service::{Abandoned, Order, Service, limit};

/// Why an attempt is turned away.
#[derive(Clone, Copy, PartialEq)]
enum Reason {
    /// The queue is full.
    Full,
    /// It is over the rate limit.
    Limit,
    /// It has waited too long, or its time is over or will be.
    Shed,
    /// The script says so: with this outcome.
    Script(Outcome),
}

impl<L: Listener> World<'_, L> {
    /// An attempt reaches its service.
    #[inline]
    pub(super) fn deliver(&mut self, attempt: u32) {
        let service = self.service_of(attempt);
        if L::PLAIN {
            return self.arrive_at(attempt, service);
        }
        if self.services[service.at()].cached && self.meets_cache(attempt, service) {
            return;
        }
        let service = if self.fronts.is_empty() { service } else { self.balance(attempt, service) };
        self.arrive_at(attempt, service);
    }

    /// An attempt reaches its service, or the replica that was chosen for it.
    #[inline]
    pub(super) fn arrive_at(&mut self, attempt: u32, service: ServiceIndex) {
        match self.services[service.at()].life.down {
            None => {}
            Some(down) => return self.meet_down(attempt, service, down),
        }
        if self.model.services[self.model.base(service).at()].optimistic {
            return self.read_row(attempt, service);
        }
        self.count_arrival(service);
        let numbers = &self.numbers.services[service.at()];
        if numbers.abandoned != Abandoned::Serve && !self.is_awaited(attempt) {
            self.tell_of_attempt(attempt, What::Dropped);
            return self.forget(attempt);
        }
        if !L::PLAIN && self.services[service.at()].looks && !self.pass_door(attempt, service) {
            return;
        }
        let state = &mut self.services[service.at()];
        if state.busy < state.places {
            return self.begin_work(attempt, service);
        }
        let places = numbers.queue_limit.unwrap_or(u32::MAX);
        if state.queue.len() < places as usize {
            return self.queue(attempt, service, places);
        }
        let Some(pushed_out) = self.make_room(attempt, service) else {
            return self.turn_away_at_door(attempt, service, Reason::Full);
        };
        // The place is taken before its former holder is told, whose next attempt may be here within the same event. Where the
        // limit has been lowered more wait than that, and the exchange leaves as many.
        let as_many = self.services[service.at()].queue.len() as u32 + 1;
        self.queue(attempt, service, as_many);
        self.turn_away_at_door(pushed_out, service, Reason::Full);
    }

    /// Whether a service of a plain model has no place for an attempt that would reach it now.
    #[inline]
    pub(super) fn is_full(&self, service: ServiceIndex) -> bool {
        let (numbers, state) = (&self.numbers.services[service.at()], &self.services[service.at()]);
        let waits = state.life.down.is_none() && state.busy >= state.places && !self.model.services[service.at()].optimistic;
        waits && numbers.queue_limit.is_some_and(|places| state.queue.len() >= places as usize)
    }

    /// The next attempt of a call reaches a full service at once, and is back in the same instant: nobody needs to hold it.
    #[inline]
    pub(super) fn turn_away_at_once(&mut self, place: u32, service: ServiceIndex) {
        self.count_arrival(service);
        let outcome = self.count_turned_away(service, Reason::Full);
        self.settle(place, outcome, None);
    }

    /// Lets an attempt wait, where there are so many places.
    #[inline]
    fn queue(&mut self, attempt: u32, service: ServiceIndex, places: u32) {
        let order = self.numbers.services[service.at()].order;
        let class = || self.extra[self.attempts[attempt].call.0].criticality;
        let state = &mut self.services[service.at()];
        let ahead = state.queue.len() as u32;
        let kills = ahead >= state.life.bears;
        state.queued.changes(self.now, ahead.into());
        state.queue.push(attempt, order, class);
        self.attempts[attempt].state = State::Queued;
        self.attempts[attempt].since = self.now;
        if ahead >= places {
            self.violate(Invariant::QueueWithinLimit, Some(service), Some(attempt));
        }
        if let Some(totals) = self.probe.service(service, self.now) {
            totals.queue_peak = totals.queue_peak.max(u64::from(ahead) + 1);
        }
        self.tell_of_attempt(attempt, |number| What::Queued(number, ahead));
        if !L::PLAIN && kills {
            self.die(service, attempt);
        }
    }

    /// Takes up queued work as long as there is a worker for it.
    #[inline]
    pub(super) fn take_up(&mut self, service: ServiceIndex) {
        let numbers = &self.numbers.services[service.at()];
        loop {
            let state = &mut self.services[service.at()];
            if state.busy >= state.places {
                return;
            }
            if !L::PLAIN && !state.turned_away.is_empty() {
                self.begin_turning_away(service);
                continue;
            }
            if state.queue.is_empty() {
                return;
            }
            state.queued.changes(self.now, state.queue.len() as u64);
            let looks = state.looks;
            let (address, chosen) = (state.address, &mut state.chosen);
            let draw = || -> Draw {
                *chosen += 1;
                address.draw(Purpose::Order, *chosen)
            };
            let Some(attempt) = state.queue.pop(numbers.order, draw) else { return };
            if state.fetched == 0 {
                self.fetch_queued(service);
            }
            self.services[service.at()].fetched -= 1;
            self.count_wait(attempt, service);
            let late = !L::PLAIN && looks && self.is_late(attempt, service);
            if numbers.abandoned != Abandoned::Serve && !self.is_awaited(attempt) {
                self.tell_of_attempt(attempt, What::Dropped);
                self.forget(attempt);
            } else if late {
                self.turn_away(attempt, service, Reason::Shed);
            } else {
                self.begin_work(attempt, service);
            }
        }
    }

    /// Whether an attempt may come in; if not, it is on its way back already.
    fn pass_door(&mut self, attempt: u32, service: ServiceIndex) -> bool {
        let numbers = &self.numbers.services[service.at()];
        if let Some(limit) = &numbers.rate_limit
            && !limit.admits(&mut self.services[service.at()].account, self.now)
        {
            self.turn_away_at_door(attempt, service, Reason::Limit);
            return false;
        }
        match answer(&numbers.script, self.attempts[attempt].number) {
            Some(Answer::Hang) => {
                self.tell_of_attempt(attempt, What::Ignored);
                self.forget(attempt);
                return false;
            }
            Some(Answer::AtOnce(outcome, _)) => {
                self.turn_away_at_door(attempt, service, Reason::Script(*outcome));
                return false;
            }
            Some(Answer::Work(..)) | None => {}
        }
        if self.is_shed(attempt, service) {
            self.turn_away_at_door(attempt, service, Reason::Shed);
            return false;
        }
        if numbers.reserves {
            let held = &mut self.attempts[attempt];
            held.work_left = numbers.time.sample(held.address.draw(Purpose::Service, held.number.into()));
        }
        let state = &mut self.services[service.at()];
        if let Some(codel) = numbers.codel.as_ref().filter(|_| state.busy < state.places) {
            codel.drops(&mut state.codel, Duration::ZERO, self.now);
        }
        true
    }

    /// Whether the caller has given up, or will have before the work can be done.
    fn is_shed(&self, attempt: u32, service: ServiceIndex) -> bool {
        let (numbers, state) = (&self.numbers.services[service.at()], &self.services[service.at()]);
        let work = || {
            let below = self.expected[service.at()];
            let own = Duration::from_seconds(numbers.time.mean());
            let loaded = numbers.load_time.map_or(own, |load| load.apply(own, state.busy + 1));
            let shared = if numbers.sharing { state.processor.stretch(self.pace(service)) } else { 1.0 };
            Duration::from_nanoseconds(loaded.0 as f64 * shared / (numbers.speed * state.life.warmth)).saturating_add(below)
        };
        numbers.shed.turns_away(self.now, self.attempt_extra[attempt].until, work)
    }

    /// Whether an attempt whose turn it is has come too late for it.
    fn is_late(&mut self, attempt: u32, service: ServiceIndex) -> bool {
        let numbers = &self.numbers.services[service.at()];
        let waited = self.now - self.attempts[attempt].since;
        let codel = &mut self.services[service.at()].codel;
        let dropped = numbers.codel.is_some_and(|parameters| parameters.drops(codel, waited, self.now));
        dropped || numbers.max_wait.is_some_and(|most| waited > most) || self.is_shed(attempt, service)
    }

    /// In a full queue of the order `priority`: the newest of the least important makes room for what is more important.
    fn make_room(&mut self, attempt: u32, service: ServiceIndex) -> Option<u32> {
        if self.numbers.services[service.at()].order != Order::Priority {
            return None;
        }
        let class = self.extra[self.attempts[attempt].call.0].criticality;
        let state = &mut self.services[service.at()];
        state.queued.changes(self.now, state.queue.len() as u64);
        let pushed_out = state.queue.push_out(class)?;
        self.count_wait(pushed_out, service);
        Some(pushed_out)
    }

    fn turn_away_at_door(&mut self, attempt: u32, service: ServiceIndex, reason: Reason) {
        self.turn_away(attempt, service, reason);
        if !self.services[service.at()].turned_away.is_empty() {
            self.take_up(service);
        }
    }

    /// Answers without doing the work: at once, or where that costs something, as the next work of a worker.
    fn turn_away(&mut self, attempt: u32, service: ServiceIndex, reason: Reason) {
        let outcome = self.count_turned_away(service, reason);
        self.tell_of_attempt(attempt, |number| match reason {
            Reason::Full => What::Rejected(number),
            Reason::Limit => What::Throttled(number),
            Reason::Shed => What::Shed(number),
            Reason::Script(outcome) => What::Answered(number, outcome),
        });
        self.attempts[attempt].outcome = outcome;
        let costs = matches!(outcome, Outcome::Rejected | Outcome::Throttled) && !self.numbers.services[service.at()].reject_time.is_zero();
        if costs {
            self.attempts[attempt].state = State::TurnedAway;
            self.services[service.at()].turned_away.push_back(attempt);
        } else {
            self.send_away(attempt, service);
        }
    }

    fn count_turned_away(&mut self, service: ServiceIndex, reason: Reason) -> Outcome {
        let outcome = match reason {
            Reason::Full | Reason::Shed => Outcome::Rejected,
            Reason::Limit => Outcome::Throttled,
            Reason::Script(outcome) => outcome,
        };
        let counted = match (reason, outcome) {
            (Reason::Shed, _) => Some(ServiceCount::Shed),
            (_, Outcome::Rejected) => Some(ServiceCount::Rejected),
            (_, Outcome::Throttled) => Some(ServiceCount::Throttled),
            _ => None,
        };
        if let Some(count) = counted {
            self.probe.count_at(service, count);
        }
        if let Some(totals) = self.probe.service(service, self.now) {
            match (reason, outcome) {
                (Reason::Shed, _) => totals.shed += 1,
                (_, Outcome::Rejected) => totals.rejected += 1,
                (_, Outcome::Throttled) => totals.throttled += 1,
                (_, Outcome::Refused) => totals.refused += 1,
                _ => totals.errors += 1,
            }
        }
        outcome
    }

    #[inline(never)]
    fn begin_turning_away(&mut self, service: ServiceIndex) {
        let Some(attempt) = self.services[service.at()].turned_away.pop_front() else { return };
        let held = &self.attempts[attempt];
        let cost = self.numbers.services[service.at()].reject_time.sample(held.address.draw(Purpose::Reject, held.number.into()));
        self.occupy(attempt, service, cost);
    }

    /// A worker has turned an attempt away: it is free, the caller hears.
    pub(super) fn end_turning_away(&mut self, attempt: u32, service: ServiceIndex) {
        self.free_worker(attempt, service);
        self.take_up(service);
        self.send_away(attempt, service);
    }

    fn send_away(&mut self, attempt: u32, service: ServiceIndex) {
        let outcome = self.attempts[attempt].outcome;
        if !L::PLAIN && matches!(outcome, Outcome::Rejected | Outcome::Throttled) {
            self.attempt_extra[attempt].hint = self.hint(attempt, service);
        }
        self.reply(attempt, outcome);
    }

    fn hint(&mut self, attempt: u32, service: ServiceIndex) -> Option<Duration> {
        let (numbers, held) = (&self.numbers.services[service.at()], &self.attempts[attempt]);
        let own = match answer(&numbers.script, held.number) {
            Some(Answer::AtOnce(_, hint)) => hint.as_ref(),
            _ => None,
        };
        match own.or(numbers.retry_after.as_ref())? {
            Hint::Constant(length) => Some(*length),
            Hint::Random(distribution) => Some(distribution.sample(held.address.draw(Purpose::Hint, held.number.into()))),
            Hint::Window => {
                let wait = numbers.rate_limit?.wait(&mut self.services[service.at()].account, self.now);
                (wait > Duration::ZERO).then_some(wait)
            }
        }
    }

    /// Other numbers hold: what is kept for the door and the queue goes over to them.
    pub(super) fn change_door(&mut self, service: ServiceIndex, before: &Service) {
        let after = &self.numbers.services[service.at()];
        let state = &mut self.services[service.at()];
        limit::change(&mut state.account, before.rate_limit.as_ref(), after.rate_limit.as_ref(), self.now);
        if before.order != after.order {
            let (attempts, extra) = (&self.attempts, &self.extra);
            // A plain model has no classes.
            let class = |attempt| if L::PLAIN { Default::default() } else { extra[attempts[attempt].call.0].criticality };
            state.queue.change(after.order, class);
        }
        self.change_cache(service, before.cache.as_ref());
        let state = &mut self.services[service.at()];
        if before.codel != after.codel {
            state.codel = Default::default();
        }
    }

    /// The numbers are others: what is derived from them for every attempt.
    pub(super) fn take_in(&mut self) {
        for (state, numbers) in self.services.iter_mut().zip(&self.numbers.services) {
            state.places = state.scaled.map(|scaled| scaled.workers).or(numbers.places()).unwrap_or(u32::MAX);
            let door = numbers.rate_limit.is_some() || !numbers.script.is_empty() || numbers.shed != Shed::None;
            state.looks = door || numbers.reserves || numbers.max_wait.is_some() || numbers.codel.is_some();
            state.cached = numbers.cache.is_some();
            state.special = numbers.sharing || numbers.load_time.is_some() || numbers.reserves || !numbers.script.is_empty();
        }
        (0..self.services.len()).for_each(|index| self.take_in_life(ServiceIndex(index as u16)));
        if self.numbers.services.iter().any(|service| service.shed == Shed::Doomed) {
            let below = self.model.holding_times(self.numbers);
            let of_replica = self.model.replicas.iter().map(|base| below[base.at()]);
            self.expected = below.iter().copied().chain(of_replica).map(|(_, below)| Duration::from_seconds(below)).collect();
        }
    }
}

/// When the caller of an attempt gives up that has so much time from now on.
pub(super) fn gives_up(now: Time, most: Option<Duration>) -> Time {
    most.map_or(Time::NEVER, |most| now + most)
}
