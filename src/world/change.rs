//! Faults start and end: other numbers hold, and what is under way feels it.

use super::World;
use super::agenda::Event;
use super::flight::{NOBODY, State, UNREAD};
use super::server::time_for;
use super::trace::{Listener, What};
use crate::measure::identifier::ServiceIndex;
use crate::measure::time::Duration;
use crate::retry::budget::Paid;
use crate::retry::outcome::Outcome;
use crate::service::{Down, Service};

impl<L: Listener> World<'_, L> {
    /// Takes up the numbers that hold now: what is under way feels what is different.
    pub(super) fn renumber(&mut self) {
        let before = self.numbers;
        self.numbers = self.model.numbers(self.epoch, self.lasting);
        self.offer_changes(&before.services);
        self.change_breakers(before);
        self.change_books(before);
        self.change_memories(before);
        self.change_pools(before);
        self.take_in();
        for index in 0..self.services.len() {
            self.change_service(ServiceIndex(index as u16), &before.services[index]);
        }
    }

    fn change_service(&mut self, service: ServiceIndex, before: &Service) {
        let after = &self.numbers.services[service.at()];
        self.change_door(service, before);
        if after.sharing {
            self.change_pace(service, before);
        } else if before.speed != after.speed {
            let warmth = self.services[service.at()].life.warmth;
            self.change_speed(service, before.speed * warmth, after.speed * warmth);
        }
        if before.down != after.down {
            match after.down {
                Some(Down::Refuse) => self.destroy(service, true),
                Some(Down::Hang) => self.destroy(service, false),
                Some(Down::Hold) | None => {}
            }
            self.change_life(service, before.down);
            for attempt in std::mem::take(&mut self.services[service.at()].held) {
                self.attempts[attempt].state = State::Travelling;
                self.deliver_held(attempt, service);
            }
        }
        self.take_up(service);
        self.check_life(service);
    }

    /// What the network had kept arrives; a write of an optimistic row had its read before.
    fn deliver_held(&mut self, attempt: u32, service: ServiceIndex) {
        if self.attempts[attempt].version != UNREAD {
            self.write(attempt);
        } else {
            self.arrive_at(attempt, service);
        }
    }

    /// What is left of the work in progress goes on at another speed.
    pub(super) fn change_speed(&mut self, service: ServiceIndex, before: f64, after: f64) {
        for attempt in self.attempts_in(service, |state| state == State::Working) {
            let (now, held) = (self.now, &mut self.attempts[attempt]);
            let passed = now - held.since;
            let done = if before == 1.0 { passed } else { Duration::from_nanoseconds(passed.0 as f64 * before) };
            held.work_left = Duration(held.work_left.0.saturating_sub(done.0));
            held.worked = held.worked.saturating_add(passed);
            held.since = now;
            held.stamp = held.stamp.wrapping_add(1);
            let (stamp, left) = (held.stamp, held.work_left);
            if let Some(time) = time_for(left, after) {
                self.agenda.add(now + time, Event::Finish(attempt, stamp));
            }
        }
    }

    /// Loses all that is queued or in progress; its callers hear of it only where the connection breaks.
    pub(super) fn destroy(&mut self, service: ServiceIndex, callers_hear: bool) {
        let state = &mut self.services[service.at()];
        state.queued.changes(self.now, state.queue.len() as u64);
        let mut lost = state.queue.drain();
        lost.extend(state.turned_away.drain(..));
        lost.extend(self.attempts_in(service, |state| matches!(state, State::Working | State::Waiting)));
        let stamps: Vec<u32> = lost.iter().map(|attempt| self.attempts[*attempt].stamp).collect();
        for (attempt, stamp) in lost.into_iter().zip(stamps) {
            // What one caller does when it hears may have ended the attempt of another, and put one in its place.
            if self.attempts[attempt].stamp != stamp {
                continue;
            }
            self.tell_of_attempt(attempt, What::Destroyed);
            self.take_away(attempt, service);
            if callers_hear {
                // What was about to be turned away has been counted as that.
                if self.attempts[attempt].outcome == Outcome::Ok {
                    self.probe.service(service, self.now).into_iter().for_each(|totals| totals.refused += 1);
                }
                self.reply(attempt, Outcome::Refused);
            } else {
                self.forget(attempt);
            }
        }
    }

    /// Drops an attempt whose caller has left, wherever it is by now; what is on its way is left to arrive.
    pub(super) fn drop_attempt(&mut self, attempt: u32) {
        let service = self.service_of(attempt);
        match self.attempts[attempt].state {
            State::Gone | State::Travelling | State::Held => return,
            State::Queued => {
                let state = &mut self.services[service.at()];
                state.queued.changes(self.now, state.queue.len() as u64);
                state.queue.remove(attempt);
            }
            State::TurnedAway => self.services[service.at()].turned_away.retain(|waiting| *waiting != attempt),
            State::Working | State::Waiting => {}
        }
        self.tell_of_attempt(attempt, What::Dropped);
        self.take_away(attempt, service);
        self.forget(attempt);
        self.take_up(service);
    }

    /// Takes an attempt that has left the queue, or its worker, out of the service, and ends the call that the worker was waiting for.
    fn take_away(&mut self, attempt: u32, service: ServiceIndex) {
        let state = self.attempts[attempt].state;
        if state == State::Queued {
            return self.count_wait(attempt, service);
        }
        if state == State::TurnedAway {
            return;
        }
        if state == State::Working && self.numbers.services[service.at()].sharing {
            self.leave_processor(attempt, service);
        }
        self.free_worker(attempt, service);
        self.count_work(attempt, false);
        self.attempts[attempt].worked = Duration::ZERO;
        if !L::PLAIN {
            let child = std::mem::replace(&mut self.attempt_extra[attempt].child, NOBODY);
            if state == State::Waiting && child != NOBODY {
                self.abandon(child);
            }
        }
    }

    /// Nobody waits for this call any more: it ends without a result, its attempt is left to the service below.
    fn abandon(&mut self, place: u32) {
        self.break_off(place);
        let call = &mut self.calls[place];
        call.settle();
        if call.under_way == 0 {
            self.calls.give_back(place);
        }
    }

    /// Its caller waits no longer for the present attempt of a call.
    pub(super) fn break_off(&mut self, place: u32) {
        self.leave(place);
        self.leave_pool(place);
        if let Some(breaker) = &self.numbers.callers[self.calls[place].caller.at()].policy.breaker {
            self.leave_breaker(place, breaker);
        }
        if let Some(budget) = &self.numbers.callers[self.calls[place].caller.at()].policy.budget {
            self.books.gives_up(budget, (&self.calls[place], &self.extra[place]));
            self.extra[place].paid = Paid::default();
        }
        let (call, extra) = (&mut self.calls[place], &mut self.extra[place]);
        let (stamp, current) = (call.stamp, std::mem::replace(&mut extra.current, NOBODY));
        call.stamp = stamp.wrapping_add(1);
        if extra.unheard > 0 || extra.hedges.1 > 0 {
            self.end_hedging(place, current, stamp);
        }
    }

    /// The attempts at a service in certain states, in the order of their places.
    fn attempts_in(&self, service: ServiceIndex, wanted: impl Fn(State) -> bool) -> Vec<u32> {
        let at = |(place, _): &(u32, _)| self.service_of(*place) == service;
        self.attempts.places().filter(|(_, attempt)| wanted(attempt.state)).filter(at).map(|(place, _)| place).collect()
    }
}
