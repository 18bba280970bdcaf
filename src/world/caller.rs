//! The calling side: calls start, attempts are sent, and what comes of them is settled. All retry logic is in `settle`.

use super::World;
use super::agenda::Event;
use super::arrivals::Start;
use super::flight::{Attempt, Call, NOBODY, Root, State};
use super::model::{Caller, Origin};
use super::probe::Count;
use super::trace::{Listener, What};
use crate::measure::identifier::{CallerIndex, ClientIndex, GroupIndex};
use crate::measure::random::{Address, Purpose};
use crate::measure::time::{Duration, Time};
use crate::retry::breaker::Pass;
use crate::retry::budget::Paid;
use crate::retry::outcome::Outcome;
use crate::service::Abandoned;

/// What a new call is told by whoever makes it.
pub(super) struct NewCall {
    pub caller: CallerIndex,
    pub client: ClientIndex,
    pub address: Address,
    /// The attempt whose worker calls on, and its stamp.
    pub parent: Option<(u32, u32)>,
}

impl<L: Listener> World<'_, L> {
    /// All calls of a group that start now.
    pub(super) fn arrive(&mut self, group: GroupIndex) {
        let shape = &self.model.groups[group.at()];
        loop {
            let start = self.arrivals[group.at()].start(&shape.load);
            self.start_client_call(group, start);
            match self.arrivals[group.at()].next() {
                Some(next) if next <= self.now => {}
                Some(next) => return self.agenda.add(next, Event::Arrive(group)),
                None => {
                    self.loads -= 1;
                    return;
                }
            }
        }
    }

    pub(super) fn wake(&mut self, group: GroupIndex, client: u32) {
        let start = self.arrivals[group.at()].wake(client);
        self.start_client_call(group, start);
    }

    fn start_client_call(&mut self, group: GroupIndex, start: Start) {
        let caller = self.model.groups[group.at()].caller;
        self.tell(self.started, caller, || What::CallStarts(group, start.client));
        self.start_call(NewCall { caller, client: start.client, address: start.address, parent: None });
    }

    /// Starts a call and sends its first attempt; the place of the call.
    pub(super) fn start_call(&mut self, new: NewCall) -> u32 {
        let (now, measures, number) = (self.now, self.probe.measures(self.now), self.started);
        let above = new.parent.map(|(attempt, _)| self.calls[self.attempts[attempt].call.0].clone_position());
        let place = self.calls.take(Call {
            address: new.address,
            started: now,
            previous_wait: Duration::ZERO,
            stamp: self.calls.before().map_or(0, |call| call.stamp.wrapping_add(1)),
            attempts: 0,
            client: new.client,
            caller: new.caller,
            measured: above.map_or(measures, |(_, measured)| measured),
            settled: false,
            last: Outcome::Rejected,
            pass: Pass::default(),
            paid: Paid::default(),
            skipped: 0,
            served: 0,
            under_way: 0,
            current: NOBODY,
            parent: new.parent.unwrap_or((NOBODY, 0)),
            root: above.map_or(Root { place: NOBODY, number }, |(root, _)| root),
        });
        if new.parent.is_none() {
            self.calls[place].root.place = place;
            self.count_start(place);
        }
        let numbers = self.numbers;
        if let Some(budget) = &numbers.callers[new.caller.at()].policy.budget {
            self.books.call_starts(budget, &self.calls[place], now);
        }
        self.send(place);
        place
    }

    fn count_start(&mut self, place: u32) {
        let measured = self.calls[place].measured;
        // Only tells neighbours apart, and names calls in a trace: it may begin anew.
        self.started = self.started.wrapping_add(1);
        self.open += 1;
        self.open_measured += u64::from(measured);
        self.probe.totals.calls += u64::from(measured);
        self.probe.count(Count::Call);
        let services = self.model.services.len();
        if !self.visits.is_empty() && self.visits.len() < (place as usize + 1) * services {
            self.visits.resize((place as usize + 1) * services, 0);
        }
    }

    /// Sends the next attempt of a call.
    fn send(&mut self, place: u32) {
        let numbers = self.numbers;
        let Caller { policy, .. } = &numbers.callers[self.calls[place].caller.at()];
        let budget = policy.budget.as_ref().filter(|budget| budget.follows_attempts());
        if let Some(budget) = budget
            && !self.may_send(place, budget)
        {
            return;
        }
        let call = &mut self.calls[place];
        let (caller, client) = (call.caller, call.client);
        let pass = policy.breaker.as_ref().map(|breaker| breaker.admit(self.callers[caller.at()].breaker(client), self.now));
        if pass == Some(None) {
            self.probe.totals.breaker_denied += u64::from(call.measured);
            self.unsent += u64::from(call.measured && call.attempts == 0 && call.parent.0 == NOBODY);
            self.tell_of(place, || What::BreakerDenies);
            return self.end_call(place, false);
        }
        call.pass = pass.flatten().unwrap_or_default();
        call.attempts += 1;
        let number = call.attempts;
        if let Some(budget) = budget {
            self.books.sent(budget, call, self.now);
        }
        let left = policy.deadline.map(|deadline| (call.started + deadline).since(self.now));
        let most = policy.timeout.map_or(left, |timeout| Some(left.map_or(timeout, |left| left.min(timeout))));
        if let Some(most) = most {
            // A reply at the very end of its time is in time: the timeout comes one nanosecond later.
            let (at, event) = (self.now + most + Duration(1), Event::Timeout(place, call.stamp));
            match policy.timeout {
                Some(_) => self.agenda.add_in_order(self.callers[caller.at()].ring, at, event),
                None => self.agenda.add(at, event),
            }
        }
        self.count_attempt(place, number);
        self.tell_of(place, || What::Sent(number));
        self.transmit(place, number);
    }

    /// Sends an attempt on its way.
    fn transmit(&mut self, place: u32, number: u32) {
        let numbers = self.numbers;
        let caller = self.calls[place].caller;
        let link = &numbers.callers[caller.at()].link;
        let (address, stamp) = (self.calls[place].address, self.calls[place].stamp);
        if link.loses(|| address.draw(Purpose::Loss, number.into())) {
            self.calls[place].current = NOBODY;
            return self.tell_of(place, || What::Lost(number));
        }
        let attempt = self.attempts.take(Attempt {
            address,
            since: Time::ZERO,
            work_left: Duration::ZERO,
            worked: Duration::ZERO,
            stamp: self.attempts.before().map_or(0, |attempt| attempt.stamp.wrapping_add(1)),
            call: (place, stamp),
            number,
            caller,
            state: State::Travelling,
            outcome: Outcome::Ok,
            calls_made: 0,
            child: NOBODY,
            version: None,
        });
        self.calls[place].under_way += 1;
        self.calls[place].current = attempt;
        if link.is_direct() {
            self.deliver(attempt);
        } else {
            let delay = link.delay.sample(address.draw(Purpose::Link, number.into()));
            self.agenda.add(self.now + delay, Event::Deliver(attempt));
        }
    }

    fn count_attempt(&mut self, place: u32, number: u32) {
        let call = &self.calls[place];
        if call.parent.0 == NOBODY {
            let (now, measured) = (self.now, u64::from(call.measured));
            self.probe.totals.attempts += measured;
            self.probe.count(Count::Attempt);
            self.probe.attempt_sent(now);
            if number > 1 {
                self.probe.totals.retries += measured;
                self.probe.count(Count::Retry);
            }
        }
        if !self.visits.is_empty() {
            self.count_visit(place);
        }
    }

    /// Attempts belong to the client's call at the top, and count once that has ended.
    fn count_visit(&mut self, place: u32) {
        let call = &self.calls[place];
        let service = self.model.callers[call.caller.at()].to.at();
        let (root, measured) = (call.root, call.measured);
        let top = &self.calls[root.place];
        if top.root == root && !top.settled {
            self.visits[root.place as usize * self.model.services.len() + service] += 1;
        } else if measured {
            self.probe.services[service].attempts += 1;
        }
    }

    pub(super) fn time_out(&mut self, place: u32, stamp: u32) {
        if self.calls[place].settled || self.calls[place].stamp != stamp {
            return;
        }
        let number = self.calls[place].attempts;
        self.tell_of(place, || What::TimedOut(number));
        self.leave(place);
        self.settle(place, Outcome::Timeout, None);
    }

    /// The caller stops waiting for its present attempt: where the service is told, it drops the work.
    pub(super) fn leave(&mut self, place: u32) {
        let call = &self.calls[place];
        let service = self.model.callers[call.caller.at()].to;
        if call.current != NOBODY && self.numbers.services[service.at()].abandoned == Abandoned::Cancel {
            self.drop_attempt(call.current);
        }
    }

    /// An attempt of a call has ended: is there another, and when?
    pub(super) fn settle(&mut self, place: u32, outcome: Outcome, hint: Option<Duration>) {
        let numbers = self.numbers;
        let call = &mut self.calls[place];
        let (caller, client, attempts) = (call.caller, call.client, call.attempts + call.skipped);
        let policy = &numbers.callers[caller.at()].policy;
        call.stamp = call.stamp.wrapping_add(1);
        call.last = outcome;
        call.current = NOBODY;
        if let Some(breaker) = &policy.breaker {
            breaker.settle(self.callers[caller.at()].breaker(client), call.pass, outcome == Outcome::Ok, self.now);
        }
        if let Some(budget) = policy.budget.as_ref().filter(|budget| budget.follows_attempts()) {
            self.books.attempt_ends(budget, call, policy.retry_on.contains(outcome), self.now);
        }
        if outcome == Outcome::Ok || !policy.retries(attempts, outcome) {
            return self.end_call(place, outcome == Outcome::Ok);
        }
        let wait = policy.wait(attempts, call.previous_wait, hint, call.address.draw(Purpose::Backoff, attempts.into()));
        if policy.deadline.is_some_and(|deadline| self.now + wait >= call.started + deadline) {
            self.tell_of(place, || What::DeadlineDenies);
            return self.end_call(place, false);
        }
        if let Some(budget) = &policy.budget
            && !self.books.retry(budget, call, self.now)
        {
            self.probe.totals.budget_denied += u64::from(call.measured);
            self.tell_of(place, || What::BudgetDenies);
            return self.end_call(place, false);
        }
        call.previous_wait = wait;
        // No wait is no event, where the link takes its time; without a link there could be no end of it at one instant.
        if wait == Duration::ZERO && !numbers.callers[caller.at()].link.is_direct() {
            return self.send(place);
        }
        let event = Event::Retry(place, call.stamp);
        self.agenda.add(self.now + wait, event);
        self.tell_of(place, || What::Waits(wait));
    }

    pub(super) fn retry(&mut self, place: u32, stamp: u32) {
        if !self.calls[place].settled && self.calls[place].stamp == stamp {
            self.send(place);
        }
    }

    pub(super) fn end_call(&mut self, place: u32, succeeded: bool) {
        let call = &mut self.calls[place];
        let policy = &self.numbers.callers[call.caller.at()].policy;
        if let Some(budget) = policy.budget.as_ref().filter(|budget| budget.follows_ends()) {
            self.books.call_ends(budget, call, policy.retry_on.contains(call.last), self.now);
        }
        call.settled = true;
        call.stamp = call.stamp.wrapping_add(1);
        let (parent, latency) = (call.parent, self.now - call.started);
        let last = (call.attempts > 0).then_some(call.last);
        self.tell_of(place, || What::CallEnds(last, latency));
        if parent.0 == NOBODY {
            self.end_client_call(place, succeeded.then_some(latency));
        }
        if self.calls[place].under_way == 0 {
            self.calls.give_back(place);
        }
        if parent.0 != NOBODY {
            self.hear_from_below(parent, succeeded);
        }
    }

    fn end_client_call(&mut self, place: u32, latency: Option<Duration>) {
        let call = &self.calls[place];
        let (measured, attempts, caller, client) = (call.measured, call.attempts, call.caller, call.client);
        self.open -= 1;
        self.last_settled = self.now;
        self.probe.count(if latency.is_some() { Count::Success } else { Count::Failure });
        self.gather_visits(place, measured, attempts);
        let Origin::Group(group) = self.model.callers[caller.at()].from else { return };
        if measured {
            self.open_measured -= 1;
            self.probe.call_ended(group, attempts, latency);
        }
        if let Some(think) = self.arrivals[group.at()].think(&self.model.groups[group.at()].load, client.0) {
            self.agenda.add(self.now + think, Event::Wake(group, client.0));
        }
    }

    /// The attempts that the call has cost each service.
    fn gather_visits(&mut self, place: u32, measured: bool, attempts: u32) {
        if self.visits.is_empty() {
            let service = self.model.callers[self.calls[place].caller.at()].to.at();
            self.probe.services[service].attempts += u64::from(attempts) * u64::from(measured);
            return;
        }
        let services = self.model.services.len();
        let visits = &mut self.visits[place as usize * services..][..services];
        for (visit, totals) in visits.iter_mut().zip(&mut self.probe.services) {
            totals.attempts += u64::from(std::mem::take(visit)) * u64::from(measured);
        }
    }

    /// Tells the listener what happened to a call.
    #[inline]
    pub(super) fn tell_of(&mut self, place: u32, what: impl FnOnce() -> What) {
        if L::LISTENS {
            let call = &self.calls[place];
            self.listener.hear(self.now, call.root.number, call.caller, what());
        }
    }

    #[inline]
    pub(super) fn tell(&mut self, number: u32, caller: CallerIndex, what: impl FnOnce() -> What) {
        if L::LISTENS {
            self.listener.hear(self.now, number, caller, what());
        }
    }
}

impl Call {
    /// What a call made on its behalf inherits.
    fn clone_position(&self) -> (Root, bool) {
        (self.root, self.measured)
    }
}
