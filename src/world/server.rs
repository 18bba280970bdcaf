//! The serving side: attempts arrive, wait, are worked on and answered. A service never looks into its callers' pockets.

use super::World;
use super::agenda::Event;
use super::caller::NewCall;
use super::flight::{NOBODY, State};
use super::invariant::Invariant;
use super::probe::ServiceCount;
use super::trace::{Listener, What};
use crate::measure::identifier::{ClientIndex, ServiceIndex};
use crate::measure::random::{Draw, Purpose};
use crate::measure::time::{Duration, Time};
use crate::retry::outcome::Outcome;
use crate::retry::policy::Idempotent;
use crate::service::{Abandoned, Down};

impl<L: Listener> World<'_, L> {
    pub(super) fn service_of(&self, attempt: u32) -> ServiceIndex {
        self.model.callers[self.attempts[attempt].caller.at()].to
    }

    /// An attempt reaches its service.
    pub(super) fn deliver(&mut self, attempt: u32) {
        let service = self.service_of(attempt);
        match self.numbers.services[service.at()].down {
            None => {}
            Some(down) => return self.meet_down(attempt, service, down),
        }
        if self.model.services[service.at()].optimistic {
            return self.read_row(attempt, service);
        }
        self.count_arrival(service);
        let numbers = &self.numbers.services[service.at()];
        if numbers.abandoned != Abandoned::Serve && !self.is_awaited(attempt) {
            self.tell_of_attempt(attempt, What::Dropped);
            return self.forget(attempt);
        }
        let state = &mut self.services[service.at()];
        if numbers.workers.is_none_or(|workers| state.busy < workers) {
            return self.begin_work(attempt, service);
        }
        if numbers.queue_limit.is_some_and(|limit| state.queue.len() >= limit as usize) {
            self.probe.count_at(service, ServiceCount::Rejected);
            self.probe.service(service, self.now).into_iter().for_each(|totals| totals.rejected += 1);
            self.tell_of_attempt(attempt, What::Rejected);
            return self.reply(attempt, Outcome::Rejected);
        }
        let ahead = state.queue.len() as u32;
        state.queued.changes(self.now, ahead.into());
        state.queue.push(attempt);
        let beyond = numbers.queue_limit.is_some_and(|limit| state.queue.len() > limit as usize);
        self.attempts[attempt].state = State::Queued;
        self.attempts[attempt].since = self.now;
        if beyond {
            self.violate(Invariant::QueueWithinLimit, Some(service), Some(attempt));
        }
        if let Some(totals) = self.probe.service(service, self.now) {
            totals.queue_peak = totals.queue_peak.max(u64::from(ahead) + 1);
        }
        self.tell_of_attempt(attempt, |number| What::Queued(number, ahead));
    }

    fn count_arrival(&mut self, service: ServiceIndex) {
        self.probe.count_at(service, ServiceCount::Arrival);
        if let Some(totals) = self.probe.service(service, self.now) {
            totals.arrivals += 1;
        }
    }

    fn meet_down(&mut self, attempt: u32, service: ServiceIndex, down: Down) {
        self.tell_of_attempt(attempt, What::FoundDown);
        match down {
            Down::Hold => {
                self.attempts[attempt].state = State::Held;
                self.services[service.at()].held.push(attempt);
            }
            Down::Hang => {
                self.count_arrival(service);
                self.forget(attempt);
            }
            Down::Refuse => {
                self.count_arrival(service);
                self.probe.service(service, self.now).into_iter().for_each(|totals| totals.refused += 1);
                self.reply(attempt, Outcome::Refused);
            }
        }
    }

    /// Takes up queued work as long as there is a worker for it.
    pub(super) fn take_up(&mut self, service: ServiceIndex) {
        let numbers = &self.numbers.services[service.at()];
        loop {
            let state = &mut self.services[service.at()];
            if state.queue.is_empty() || numbers.workers.is_some_and(|workers| state.busy >= workers) {
                return;
            }
            state.queued.changes(self.now, state.queue.len() as u64);
            let (address, chosen) = (state.address, &mut state.chosen);
            let draw = || -> Draw {
                *chosen += 1;
                address.draw(Purpose::Order, *chosen)
            };
            let Some(attempt) = state.queue.pop(numbers.order, draw) else { return };
            self.count_wait(attempt, service);
            if numbers.abandoned != Abandoned::Serve && !self.is_awaited(attempt) {
                self.tell_of_attempt(attempt, What::Dropped);
                self.forget(attempt);
            } else {
                self.begin_work(attempt, service);
            }
        }
    }

    /// Time in the queue counts when it ends.
    pub(super) fn count_wait(&mut self, attempt: u32, service: ServiceIndex) {
        let part = self.probe.measured_part(self.attempts[attempt].since, self.now);
        self.probe.services[service.at()].queued += part;
        self.services[service.at()].queued.leaves(self.now.since(self.attempts[attempt].since));
    }

    pub(super) fn begin_work(&mut self, attempt: u32, service: ServiceIndex) {
        if self.is_known_by_key(attempt) {
            return;
        }
        let numbers = &self.numbers.services[service.at()];
        let state = &mut self.services[service.at()];
        state.working.changes(self.now, state.busy.into());
        state.busy += 1;
        if numbers.workers.is_some_and(|workers| state.busy > workers) {
            self.violate(Invariant::BusyWithinWorkers, Some(service), Some(attempt));
        }
        let now = self.now;
        let held = &mut self.attempts[attempt];
        if let Some(totals) = self.probe.service(service, now) {
            totals.started += 1;
            totals.waited += if held.state == State::Queued { u128::from(now.since(held.since).0) } else { 0 };
            totals.delayed += u64::from(held.state == State::Queued && now > held.since);
        }
        let work = numbers.time.sample(held.address.draw(Purpose::Service, held.number.into()));
        held.state = State::Working;
        held.since = now;
        held.work_left = work;
        let stamp = held.stamp;
        if let Some(time) = time_for(work, numbers.speed) {
            self.agenda.add(now + time, Event::Finish(attempt, stamp));
        }
        self.tell_of_attempt(attempt, |number| What::WorkStarts(number, work));
    }

    /// The worker's own time is over: does it fail, or call on?
    pub(super) fn finish_work(&mut self, attempt: u32, stamp: u32) {
        let held = &mut self.attempts[attempt];
        if held.stamp != stamp || held.state != State::Working {
            return;
        }
        let (address, number) = (held.address, held.number);
        held.work_left = Duration::ZERO;
        let service = self.service_of(attempt);
        let error_rate = self.numbers.services[service.at()].error_rate;
        if error_rate > 0.0 && address.draw(Purpose::Error, number.into()).hits(error_rate) {
            return self.complete(attempt, Outcome::Error);
        }
        self.go_on_with(attempt, service);
    }

    /// The worker makes its next further call, or replies.
    fn go_on_with(&mut self, attempt: u32, service: ServiceIndex) {
        let held = &mut self.attempts[attempt];
        let Some(caller) = self.model.services[service.at()].calls.get(usize::from(held.calls_made)).copied() else {
            return self.complete(attempt, Outcome::Ok);
        };
        // The time until now is this worker's own; from here on it is held.
        let address = held.address.child(u64::from(held.number) << 16 | u64::from(held.calls_made));
        held.calls_made += 1;
        held.worked = held.worked.saturating_add(self.now - held.since);
        held.since = self.now;
        held.state = State::Waiting;
        let parent = (attempt, held.stamp);
        self.tell_of_attempt(attempt, |_| What::CallsOn(self.model.callers[caller.at()].to));
        let child = self.start_call(NewCall { caller, client: ClientIndex(0), address, parent: Some(parent) });
        // A call that ended at once has moved the worker on, or away, already.
        let held = &mut self.attempts[attempt];
        if held.stamp == parent.1 && held.state == State::Waiting && !self.calls[child].settled && self.calls[child].parent == parent {
            held.child = child;
        }
    }

    /// A further call has ended: its worker goes on, where it still waits.
    pub(super) fn hear_from_below(&mut self, (attempt, stamp): (u32, u32), succeeded: bool) {
        let held = &mut self.attempts[attempt];
        if held.stamp != stamp || held.state != State::Waiting {
            return;
        }
        held.child = NOBODY;
        if succeeded {
            let service = self.service_of(attempt);
            self.go_on_with(attempt, service);
        } else {
            self.complete(attempt, Outcome::Error);
        }
    }

    /// The work on an attempt is over: the worker is free, the caller hears.
    fn complete(&mut self, attempt: u32, outcome: Outcome) {
        let service = self.service_of(attempt);
        self.free_worker(attempt, service);
        self.tell_of_attempt(attempt, |number| What::WorkEnds(number, outcome));
        self.count_done(attempt, service, outcome);
        self.take_up(service);
        self.reply(attempt, outcome);
    }

    fn count_done(&mut self, attempt: u32, service: ServiceIndex, outcome: Outcome) {
        let call = self.attempts[attempt].call.0;
        if outcome == Outcome::Ok {
            self.probe.count_at(service, ServiceCount::Served);
            let call = &mut self.calls[call];
            call.served = call.served.saturating_add(1);
            let harmless = self.numbers.callers[call.caller.at()].policy.idempotent != Idempotent::No;
            if call.served == 2 && call.parent.0 == NOBODY && !harmless {
                self.probe.totals.duplicates += u64::from(call.measured);
            }
        }
        if let Some(totals) = self.probe.service(service, self.now) {
            totals.served += u64::from(outcome == Outcome::Ok);
            totals.errors += u64::from(outcome != Outcome::Ok);
        }
    }

    /// Takes an attempt from its worker, adding up the time it has had.
    pub(super) fn free_worker(&mut self, attempt: u32, service: ServiceIndex) {
        let state = &mut self.services[service.at()];
        state.working.changes(self.now, state.busy.into());
        state.busy -= 1;
        self.count_busy(attempt, service);
        self.leave_key(attempt);
        let held = &mut self.attempts[attempt];
        held.worked = held.worked.saturating_add(self.now - held.since);
        held.stamp = held.stamp.wrapping_add(1);
        held.state = State::Travelling;
    }

    fn count_busy(&mut self, attempt: u32, service: ServiceIndex) {
        let held = &self.attempts[attempt];
        // Since it was taken up: the parts before and after each further call lie end to end.
        let begun = Time(held.since.0.saturating_sub(held.worked.0));
        self.probe.services[service.at()].busy += self.probe.measured_part(begun, self.now);
        self.services[service.at()].working.leaves(self.now.since(begun));
    }

    /// Sends the answer on its way.
    pub(super) fn reply(&mut self, attempt: u32, outcome: Outcome) {
        let held = &mut self.attempts[attempt];
        held.outcome = outcome;
        held.state = State::Travelling;
        let (address, number) = (held.address, u64::from(held.number));
        let link = &self.numbers.callers[held.caller.at()].link;
        if link.loses(|| address.draw_way(Purpose::Loss, 3, number)) {
            self.tell_of_attempt(attempt, What::Lost);
            self.count_work(attempt, false);
            return self.forget(attempt);
        }
        if link.is_direct() {
            return self.receive(attempt);
        }
        let delay = link.delay.sample(address.draw_way(Purpose::Link, 3, number));
        self.agenda.add(self.now + delay, Event::Reply(attempt));
    }

    /// The answer reaches the caller, who may have left.
    pub(super) fn receive(&mut self, attempt: u32) {
        let held = &self.attempts[attempt];
        let (place, outcome) = (held.call.0, held.outcome);
        let awaited = self.is_awaited(attempt);
        self.tell_of_attempt(attempt, |number| if awaited { What::Reply(number, outcome) } else { What::LateReply(number, outcome) });
        self.count_work(attempt, awaited);
        let service = self.service_of(attempt);
        let hint = if outcome == Outcome::Rejected { self.numbers.services[service.at()].retry_after } else { None };
        self.forget(attempt);
        if awaited {
            self.hear(place, outcome, hint);
        }
    }

    /// Whether its caller still waits for this attempt.
    pub(super) fn is_awaited(&self, attempt: u32) -> bool {
        let (place, stamp) = self.attempts[attempt].call;
        !self.calls[place].settled && self.calls[place].stamp == stamp
    }

    /// Service time was well spent, or wasted: known only when the answer arrives.
    pub(super) fn count_work(&mut self, attempt: u32, awaited: bool) {
        let service = self.service_of(attempt);
        let worked = u128::from(self.attempts[attempt].worked.0);
        if let Some(totals) = self.probe.service(service, self.now) {
            totals.worked += worked;
            totals.wasted += if awaited { 0 } else { worked };
        }
    }

    /// An attempt is nowhere any more: its place is free, and its call's too where that had only waited for it.
    pub(super) fn forget(&mut self, attempt: u32) {
        let held = &mut self.attempts[attempt];
        held.stamp = held.stamp.wrapping_add(1);
        held.state = State::Gone;
        let (place, beside) = (held.call.0, held.beside);
        self.attempts.give_back(attempt);
        let call = &mut self.calls[place];
        call.under_way -= 1;
        if call.current == attempt {
            call.current = beside;
        } else if call.hedges.1 > 0 {
            self.unlink(place, attempt, beside);
        }
        let call = &self.calls[place];
        if call.settled && call.under_way == 0 {
            self.calls.give_back(place);
        }
    }

    fn read_row(&mut self, attempt: u32, service: ServiceIndex) {
        let version = self.services[service.at()].version;
        self.tell_of_attempt(attempt, |number| What::RowRead(number, version));
        let held = &mut self.attempts[attempt];
        held.version = Some(version);
        let (address, number) = (held.address, u64::from(held.number));
        let link = &self.numbers.callers[held.caller.at()].link;
        // The read's reply and the write's request: two ways, which nothing can disturb in between.
        if [1, 2].into_iter().any(|way| link.loses(|| address.draw_way(Purpose::Loss, way, number))) {
            self.tell_of_attempt(attempt, What::Lost);
            return self.forget(attempt);
        }
        let way = |way| link.delay.sample(address.draw_way(Purpose::Link, way, number));
        let delay = way(1).saturating_add(way(2));
        self.agenda.add(self.now + delay, Event::Write(attempt));
    }

    /// The write reaches the row: it is taken where nobody has written since the read.
    pub(super) fn write(&mut self, attempt: u32) {
        let service = self.service_of(attempt);
        if let Some(down) = self.numbers.services[service.at()].down {
            return self.meet_down(attempt, service, down);
        }
        self.count_arrival(service);
        let state = &mut self.services[service.at()];
        let outcome = if self.attempts[attempt].version == Some(state.version) { Outcome::Ok } else { Outcome::Conflict };
        state.version += u64::from(outcome == Outcome::Ok);
        self.count_done(attempt, service, outcome);
        self.tell_of_attempt(attempt, |number| What::RowWritten(number, outcome));
        self.reply(attempt, outcome);
    }

    /// Whatever is still queued or worked on at the end has waited, or kept a worker busy, until then.
    pub(super) fn count_what_is_left(&mut self, ended: Time) {
        self.now = ended.max(self.now);
        let left: Vec<(u32, State)> = self.attempts.places().map(|(place, attempt)| (place, attempt.state)).collect();
        for (attempt, state) in left {
            match state {
                State::Queued => self.count_wait(attempt, self.service_of(attempt)),
                State::Working | State::Waiting => self.count_busy(attempt, self.service_of(attempt)),
                State::Gone | State::Travelling | State::Held => {}
            }
        }
    }

    #[inline]
    pub(super) fn tell_of_attempt(&mut self, attempt: u32, what: impl FnOnce(u32) -> What) {
        if L::LISTENS {
            let held = &self.attempts[attempt];
            let number = held.number;
            let call = &self.calls[held.call.0];
            self.listener.hear(self.now, call.root.number, held.caller, what(number));
        }
    }
}

/// How long some work takes at a speed; None where it never ends.
pub(super) fn time_for(work: Duration, speed: f64) -> Option<Duration> {
    if speed == 1.0 {
        Some(work)
    } else if speed > 0.0 {
        Some(Duration::from_nanoseconds(work.0 as f64 / speed))
    } else {
        None
    }
}
