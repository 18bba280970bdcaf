//! The serving side: attempts are worked on and answered; how they are let in is in admission.rs. A service never looks into its callers' pockets.

use super::World;
use super::agenda::Event;
use super::caller::NewCall;
use super::flight::{NOBODY, State, UNREAD};
use super::invariant::Invariant;
use super::probe::ServiceCount;
use super::trace::{Listener, What};
use crate::link::Replies;
use crate::measure::identifier::ServiceIndex;
use crate::measure::random::Purpose;
use crate::measure::time::{Duration, Time};
use crate::retry::outcome::Outcome;
use crate::retry::policy::Idempotent;
use crate::service::Down;
use crate::service::script::{Answer, answer};

impl<L: Listener> World<'_, L> {
    #[inline]
    pub(super) fn service_of(&self, attempt: u32) -> ServiceIndex {
        self.attempts[attempt].service
    }

    #[inline]
    pub(super) fn count_arrival(&mut self, service: ServiceIndex) {
        self.probe.count_at(service, ServiceCount::Arrival);
        if let Some(totals) = self.probe.service(service, self.now) {
            totals.arrivals += 1;
        }
        if !L::PLAIN {
            self.services[service.at()].scaled.iter_mut().for_each(|scaled| scaled.seen[0] += 1);
        }
    }

    pub(super) fn meet_down(&mut self, attempt: u32, service: ServiceIndex, down: Down) {
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

    /// Time in the queue counts when it ends.
    #[inline]
    pub(super) fn count_wait(&mut self, attempt: u32, service: ServiceIndex) {
        let part = self.probe.measured_part(self.attempts[attempt].since, self.now);
        self.probe.services[service.at()].queued += part;
        self.services[service.at()].queued.leaves(self.now.since(self.attempts[attempt].since));
    }

    #[inline]
    pub(super) fn begin_work(&mut self, attempt: u32, service: ServiceIndex) {
        if self.is_known_by_key(attempt) {
            return;
        }
        let held = &self.attempts[attempt];
        if let Some(totals) = self.probe.service(service, self.now) {
            totals.started += 1;
            totals.waited += if held.state == State::Queued { u128::from(self.now.since(held.since).0) } else { 0 };
            totals.delayed += u64::from(held.state == State::Queued && self.now > held.since);
        }
        let numbers = &self.numbers.services[service.at()];
        let drawn = numbers.time.sample(held.address.draw(Purpose::Service, held.number.into()));
        let work = if !L::PLAIN && self.services[service.at()].special { self.special_work(attempt, service, drawn) } else { drawn };
        self.occupy(attempt, service, work);
        self.tell_of_attempt(attempt, |number| What::WorkStarts(number, work));
    }

    /// The work on an attempt where a script or the load has a say in it.
    #[inline(never)]
    fn special_work(&self, attempt: u32, service: ServiceIndex, drawn: Duration) -> Duration {
        let numbers = &self.numbers.services[service.at()];
        let own = match answer(&numbers.script, self.attempts[attempt].number) {
            Some(Answer::Work(_, Some(delay))) => *delay,
            _ if numbers.reserves => self.attempts[attempt].work_left,
            _ => drawn,
        };
        numbers.load_time.map_or(own, |load| load.apply(own, self.services[service.at()].busy + 1))
    }

    /// A worker is busy with an attempt for so much work.
    #[inline(always)]
    pub(super) fn occupy(&mut self, attempt: u32, service: ServiceIndex, work: Duration) {
        let state = &mut self.services[service.at()];
        state.working.changes(self.now, state.busy.into());
        state.busy += 1;
        let (now, special, warmth) = (self.now, state.special, state.life.warmth);
        if state.busy > state.places {
            self.violate(Invariant::BusyWithinWorkers, Some(service), Some(attempt));
        }
        let held = &mut self.attempts[attempt];
        held.state = State::Working;
        held.since = now;
        held.work_left = work;
        let stamp = held.stamp;
        let numbers = &self.numbers.services[service.at()];
        if !L::PLAIN && special && numbers.sharing {
            return self.enter_processor(attempt, service, work);
        }
        if let Some(time) = time_for(work, if L::PLAIN { numbers.speed } else { numbers.speed * warmth }) {
            self.agenda.add(now + time, Event::Finish(attempt, stamp));
        }
    }

    /// The worker's own time is over: does it fail, or call on?
    #[inline]
    pub(super) fn finish_work(&mut self, attempt: u32, stamp: u32) {
        let held = &mut self.attempts[attempt];
        if held.stamp != stamp || held.state != State::Working {
            return;
        }
        let turned_away = held.outcome != Outcome::Ok;
        held.work_left = Duration::ZERO;
        let service = self.service_of(attempt);
        if !L::PLAIN && self.services[service.at()].special && self.numbers.services[service.at()].sharing {
            self.leave_processor(attempt, service);
        }
        if turned_away {
            return self.end_turning_away(attempt, service);
        }
        let is_write = self.attempts[attempt].version != UNREAD;
        match if is_write { self.compare(attempt, service) } else { self.outcome_of_work(attempt, service) } {
            Outcome::Ok if !L::PLAIN => self.go_on_with(attempt, service),
            outcome => self.complete(attempt, outcome),
        }
    }

    /// How the worker's own work ends: by the script, or by chance. One draw decides, so that the two shares are of all work.
    #[inline]
    fn outcome_of_work(&self, attempt: u32, service: ServiceIndex) -> Outcome {
        let (numbers, held) = (&self.numbers.services[service.at()], &self.attempts[attempt]);
        let scripted = if !L::PLAIN && self.services[service.at()].special { answer(&numbers.script, held.number) } else { None };
        if let Some(Answer::Work(outcome, _)) = scripted {
            return *outcome;
        }
        let (error, failure) = (numbers.error_rate, numbers.error_rate + numbers.permanent_rate);
        if failure == 0.0 {
            return Outcome::Ok;
        }
        let draw = held.address.draw(Purpose::Error, held.number.into());
        match draw {
            draw if draw.hits(error) => Outcome::Error,
            draw if draw.hits(failure) => Outcome::Permanent,
            _ => Outcome::Ok,
        }
    }

    /// The worker makes its next further call, or replies.
    fn go_on_with(&mut self, attempt: u32, service: ServiceIndex) {
        let shares = &self.numbers.services[service.at()].shares;
        let (held, extra) = (&mut self.attempts[attempt], &mut self.attempt_extra[attempt]);
        while shares.get(usize::from(extra.calls_made)).is_some_and(|share| !held.takes_way(extra.calls_made, *share)) {
            extra.calls_made += 1;
        }
        let base = self.model.base(service);
        let Some(caller) = self.model.services[base.at()].calls.get(usize::from(extra.calls_made)).copied() else {
            return self.complete(attempt, Outcome::Ok);
        };
        let inherits = self.numbers.services[service.at()].inherits_deadline.get(usize::from(extra.calls_made)) == Some(&true);
        let until = if inherits { extra.until } else { Time::NEVER };
        if self.now > until {
            // Nobody waits any more, and the worker knows.
            return self.complete(attempt, Outcome::Error);
        }
        // The time until now is this worker's own; from here on it is held.
        let address = held.address.child(u64::from(held.number) << 16 | u64::from(extra.calls_made));
        extra.calls_made += 1;
        let worked = held.state == State::Working;
        held.worked = held.worked.saturating_add(self.now - held.since);
        held.since = self.now;
        held.state = State::Waiting;
        let (parent, above) = ((attempt, held.stamp), held.call.0);
        if worked {
            self.count_waiting(service, 1);
        }
        self.tell_of_attempt(attempt, |_| What::CallsOn(self.model.callers[caller.at()].to));
        let criticality = self.extra[above].criticality;
        let client = self.replica_number(service, base);
        let child = self.start_call(NewCall { caller, client, address, parent: Some(parent), until, criticality });
        // A call that ended at once has moved the worker on, or away, already.
        let held = &self.attempts[attempt];
        let waits = held.stamp == parent.1 && held.state == State::Waiting;
        if waits && !self.calls[child].settled() && self.extra[child].parent == parent {
            self.attempt_extra[attempt].child = child;
        }
    }

    /// A further call has ended: its worker goes on, where it still waits.
    pub(super) fn hear_from_below(&mut self, (attempt, stamp): (u32, u32), succeeded: bool) {
        let held = &mut self.attempts[attempt];
        if held.stamp != stamp || held.state != State::Waiting {
            return;
        }
        self.attempt_extra[attempt].child = NOBODY;
        if succeeded {
            let service = self.service_of(attempt);
            self.go_on_with(attempt, service);
        } else {
            self.complete(attempt, Outcome::Error);
        }
    }

    /// The work on an attempt is over: the worker is free, the caller hears.
    #[inline]
    fn complete(&mut self, attempt: u32, outcome: Outcome) {
        let service = self.service_of(attempt);
        self.free_worker(attempt, service);
        self.tell_of_attempt(attempt, |number| What::WorkEnds(number, outcome));
        self.count_done(attempt, service, outcome);
        if !L::PLAIN && outcome == Outcome::Ok {
            self.store_in_cache(service);
            if self.services[service.at()].scaled.is_some() && self.is_awaited(attempt) {
                self.services[service.at()].scaled.iter_mut().for_each(|scaled| scaled.seen[1] += 1);
            }
        }
        self.take_up(service);
        self.reply(attempt, outcome);
    }

    #[inline]
    pub(super) fn count_done(&mut self, attempt: u32, service: ServiceIndex, outcome: Outcome) {
        let call = self.attempts[attempt].call.0;
        if outcome == Outcome::Ok {
            self.probe.count_at(service, ServiceCount::Served);
            if self.calls[call].serve() && self.is_of_client(call) {
                let call = &self.calls[call];
                let counts = self.numbers.callers[call.caller.at()].policy.idempotent == Idempotent::No;
                self.probe.totals.duplicates += u64::from(counts && call.measured());
            }
        }
        if let Some(totals) = self.probe.service(service, self.now) {
            totals.served += u64::from(outcome == Outcome::Ok);
            totals.errors += u64::from(outcome != Outcome::Ok);
        }
    }

    /// Takes an attempt from its worker, adding up the time it has had.
    #[inline]
    pub(super) fn free_worker(&mut self, attempt: u32, service: ServiceIndex) {
        let state = &mut self.services[service.at()];
        state.working.changes(self.now, state.busy.into());
        state.busy -= 1;
        self.count_busy(attempt, service);
        self.leave_key(attempt);
        if !L::PLAIN && self.attempts[attempt].state == State::Waiting {
            self.count_waiting(service, -1);
        }
        let held = &mut self.attempts[attempt];
        held.worked = held.worked.saturating_add(self.now - held.since);
        held.stamp = held.stamp.wrapping_add(1);
        held.state = State::Travelling;
    }

    #[inline]
    fn count_busy(&mut self, attempt: u32, service: ServiceIndex) {
        let held = &self.attempts[attempt];
        // Since it was taken up: the parts before and after each further call lie end to end.
        let begun = Time(held.since.0.saturating_sub(held.worked.0));
        let state = &mut self.services[service.at()];
        state.working.leaves(self.now.since(begun));
        // Where workers are shared, the processor counts as it goes on.
        let (shares, part) =
            (!L::PLAIN && state.special && self.numbers.services[service.at()].sharing, self.probe.measured_part(begun, self.now));
        let totals = &mut self.probe.services[service.at()];
        totals.in_service += part;
        totals.busy += if shares { 0 } else { part };
    }

    /// Sends the answer on its way.
    #[inline]
    pub(super) fn reply(&mut self, attempt: u32, outcome: Outcome) {
        self.balancer_sees(attempt, outcome);
        let held = &mut self.attempts[attempt];
        held.outcome = outcome;
        held.state = State::Travelling;
        let (address, number) = (held.address, u64::from(held.number));
        let link = &self.numbers.callers[held.caller.at()].link;
        let is_silent = link.replies == Replies::Failures && outcome == Outcome::Ok;
        if !is_silent && link.loses(|| address.draw_way(Purpose::Loss, 3, number)) {
            self.tell_of_attempt(attempt, What::Lost);
            self.count_work(attempt, false);
            return self.forget(attempt);
        }
        if is_silent || link.is_direct() {
            return self.receive(attempt);
        }
        let delay = link.delay.sample(address.draw_way(Purpose::Link, 3, number));
        self.agenda.add(self.now + delay, Event::Reply(attempt));
    }

    /// The answer reaches the caller, who may have left.
    #[inline]
    pub(super) fn receive(&mut self, attempt: u32) {
        let held = &self.attempts[attempt];
        let (place, outcome) = (held.call.0, held.outcome);
        let hint = if L::PLAIN { None } else { self.attempt_extra[attempt].hint };
        let awaited = self.is_awaited(attempt);
        self.tell_of_attempt(attempt, |number| if awaited { What::Reply(number, outcome) } else { What::LateReply(number, outcome) });
        self.count_work(attempt, awaited);
        self.forget(attempt);
        if awaited {
            self.hear(place, outcome, hint);
        }
    }

    /// Whether its caller still waits for this attempt.
    #[inline]
    pub(super) fn is_awaited(&self, attempt: u32) -> bool {
        let (place, stamp) = self.attempts[attempt].call;
        self.calls[place].awaits(stamp)
    }

    /// Service time was well spent, or wasted: known only when the answer arrives.
    #[inline]
    pub(super) fn count_work(&mut self, attempt: u32, awaited: bool) {
        let service = self.service_of(attempt);
        let worked = u128::from(self.attempts[attempt].worked.0);
        if let Some(totals) = self.probe.service(service, self.now) {
            totals.worked += worked;
            totals.wasted += if awaited { 0 } else { worked };
        }
    }

    /// An attempt is nowhere any more: its place is free, and its call's too where that had only waited for it.
    #[inline]
    pub(super) fn forget(&mut self, attempt: u32) {
        let held = &mut self.attempts[attempt];
        held.stamp = held.stamp.wrapping_add(1);
        held.state = State::Gone;
        let place = held.call.0;
        self.attempts.give_back(attempt);
        let call = &mut self.calls[place];
        call.under_way -= 1;
        let is_free = call.settled() && call.under_way == 0;
        if !L::PLAIN {
            let (beside, extra) = (self.attempt_extra[attempt].beside, &mut self.extra[place]);
            if extra.current == attempt {
                extra.current = beside;
            } else if extra.hedges.1 > 0 {
                self.unlink(place, attempt, beside);
            }
        }
        if is_free {
            self.calls.give_back(place);
        }
    }

    /// Whatever is still queued or worked on at the end has waited, or kept a worker busy, until then.
    pub(super) fn count_what_is_left(&mut self, ended: Time) {
        self.now = ended.max(self.now);
        for (index, _) in (0..).zip(&self.numbers.services).filter(|(_, numbers)| numbers.sharing) {
            self.bring_up_to_date(ServiceIndex(index), self.pace(ServiceIndex(index)));
        }
        (0..self.services.len()).for_each(|index| self.count_workers(ServiceIndex(index as u16)));
        self.count_what_is_down();
        let left: Vec<(u32, State)> = self.attempts.places().map(|(place, attempt)| (place, attempt.state)).collect();
        for (attempt, state) in left {
            match state {
                State::Queued => self.count_wait(attempt, self.service_of(attempt)),
                State::Working | State::Waiting => self.count_busy(attempt, self.service_of(attempt)),
                State::Gone | State::Travelling | State::Held | State::TurnedAway => {}
            }
        }
    }

    #[inline]
    pub(super) fn tell_of_attempt(&mut self, attempt: u32, what: impl FnOnce(u32) -> What) {
        if L::LISTENS {
            let held = &self.attempts[attempt];
            let number = held.number;
            self.listener.hear(self.now, self.extra[held.call.0].root.number, held.caller, what(number));
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
