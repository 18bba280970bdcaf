//! The calling side: calls start, attempts are sent, and what comes of them is settled. All retry logic is in `settle`.

use super::World;
use super::admission::gives_up;
use super::agenda::Event;
use super::arrivals::Start;
use super::breakers::Ended;
use super::flight::{Attempt, Call, NOBODY, Root, State};
use super::model::{Caller, Origin};
use super::probe::Count;
use super::trace::{Listener, What};
use crate::measure::identifier::{CallerIndex, ClientIndex, GroupIndex};
use crate::measure::random::{Address, Purpose};
use crate::measure::time::{Duration, Time};
use crate::retry::breaker::{Around, Pass};
use crate::retry::outcome::Outcome;
use crate::retry::policy::Policy;
use crate::service::Abandoned;
use crate::service::criticality::Criticality;

/// What a new call is told by whoever makes it.
pub(super) struct NewCall {
    pub caller: CallerIndex,
    pub client: ClientIndex,
    pub address: Address,
    /// The attempt whose worker calls on, and its stamp.
    pub parent: Option<(u32, u32)>,
    /// When that gives up, where it is handed down.
    pub until: Time,
    /// How much it matters.
    pub criticality: Criticality,
}

impl<L: Listener> World<'_, L> {
    /// All calls of a group that start now.
    pub(super) fn arrive(&mut self, group: GroupIndex) {
        let shape = &self.model.groups[group.at()];
        // A load factor has moved this call: it has an event of its own.
        if self.arrivals[group.at()].next().is_none_or(|next| next > self.now) {
            return;
        }
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
        let shape = &self.model.groups[group.at()];
        let (caller, criticality) = (shape.caller, shape.criticality);
        self.tell(self.started, caller, || What::CallStarts(group, start.client));
        self.start_call(NewCall { caller, client: start.client, address: start.address, parent: None, until: Time::NEVER, criticality });
    }

    /// Starts a call and sends its first attempt; the place of the call.
    pub(super) fn start_call(&mut self, new: NewCall) -> u32 {
        let (now, measures, number) = (self.now, self.probe.measures(self.now), self.started);
        let above = new.parent.map(|(attempt, _)| self.calls[self.attempts[attempt].call.0].clone_position());
        let place = self.calls.take(Call {
            address: new.address,
            started: now,
            memory: 0,
            stamp: self.calls.before().map_or(0, |call| call.stamp.wrapping_add(1)),
            attempts: 0,
            client: new.client,
            caller: new.caller,
            measured: above.map_or(measures, |(_, measured)| measured),
            settled: false,
            last: Outcome::Rejected,
            pass: Pass::default(),
            parked: false,
            denied: 0,
            used_by_breaker: 0,
            served: 0,
            under_way: 0,
            current: NOBODY,
            hedges: (0, 0),
            sent: now,
            unheard: 0,
            in_service: 0,
            parent: new.parent.unwrap_or((NOBODY, 0)),
            root: above.map_or(Root { place: NOBODY, number }, |(root, _)| root),
            criticality: new.criticality,
            until: new.until,
        });
        if new.parent.is_none() {
            self.calls[place].root.place = place;
            self.count_start(place);
        }
        let numbers = self.numbers;
        let policy = &numbers.callers[new.caller.at()].policy;
        if let Some(budget) = &policy.budget {
            budget.deposit(self.callers[new.caller.at()].ledger(budget, new.client), now);
        }
        if let Some(hedge) = &policy.hedge {
            hedge.call_starts(&mut self.callers[new.caller.at()].hedges);
        }
        if !policy.retriers.is_empty() {
            self.begin_retriers(place);
        }
        match self.mailbox_of(place) {
            Some(group) => self.enqueue(place, group),
            None => self.send(place),
        }
        place
    }

    fn count_start(&mut self, place: u32) {
        let measured = self.calls[place].measured;
        // Only tells neighbours apart, and names calls in a trace: it may begin anew.
        self.started = self.started.wrapping_add(1);
        self.open += 1;
        self.open_measured += u64::from(measured);
        self.unsent += u64::from(measured);
        self.probe.totals.calls += u64::from(measured);
        self.probe.count(Count::Call);
        let services = self.model.services.len();
        if !self.visits.is_empty() && self.visits.len() < (place as usize + 1) * services {
            self.visits.resize((place as usize + 1) * services, 0);
        }
    }

    /// Sends the next attempt of a call.
    pub(super) fn send(&mut self, place: u32) {
        let numbers = self.numbers;
        let caller = self.calls[place].caller;
        let Caller { policy, .. } = &numbers.callers[caller.at()];
        if let Some(breaker) = &policy.breaker
            && !self.passes_breaker(place, breaker)
        {
            return;
        }
        let call = &mut self.calls[place];
        call.current = NOBODY;
        let most = call.time_left(policy, self.now);
        if let Some(most) = most {
            // A reply at the very end of its time is in time: the timeout comes one nanosecond later.
            let (at, event) = (self.now + most + Duration(1), Event::Timeout(place, call.stamp));
            match policy.timeout {
                Some(_) => self.agenda.add_in_order(self.callers[caller.at()].ring, at, event),
                None => self.agenda.add(at, event),
            }
        }
        if policy.hedge.is_some() {
            self.begin_hedging(place);
        }
        self.transmit(place, gives_up(self.now, most));
    }

    /// Sends an attempt on its way, the next of a call or one beside it; its caller gives up at `until`.
    pub(super) fn transmit(&mut self, place: u32, until: Time) {
        let numbers = self.numbers;
        let call = &mut self.calls[place];
        let (caller, beside) = (call.caller, call.current);
        let link = &numbers.callers[caller.at()].link;
        call.attempts += 1;
        let number = call.attempts;
        self.count_attempt(place, number);
        self.tell_of(place, || What::Sent(number));
        let (address, stamp) = (self.calls[place].address, self.calls[place].stamp);
        if link.loses(|| address.draw(Purpose::Loss, number.into())) {
            return self.tell_of(place, || What::Lost(number));
        }
        let attempt = self.attempts.take(Attempt {
            address,
            beside,
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
            until,
            hint: None,
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
            if call.hedges.1 > 0 {
                self.probe.totals.hedges += measured;
            } else if number > 1 {
                self.probe.totals.retries += measured;
                self.probe.count(Count::Retry);
            } else {
                self.unsent -= measured;
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
        // A worker that is free by that may have done another attempt of the call at once.
        if !self.calls[place].settled && self.calls[place].stamp == stamp {
            self.settle(place, Outcome::Timeout, None);
        }
    }

    /// The caller stops waiting for its present attempt: where the service is told, it drops the work.
    pub(super) fn leave(&mut self, place: u32) {
        let call = &self.calls[place];
        let service = self.model.callers[call.caller.at()].to;
        if call.current != NOBODY && self.numbers.services[service.at()].abandoned == Abandoned::Cancel {
            self.drop_beside(place, call.current, call.stamp);
        }
    }

    /// An attempt of a call has ended: is there another, and when?
    pub(super) fn settle(&mut self, place: u32, outcome: Outcome, hint: Option<Duration>) {
        let numbers = self.numbers;
        let call = &mut self.calls[place];
        let policy = &numbers.callers[call.caller.at()].policy;
        let (stamp, current) = (call.stamp, std::mem::replace(&mut call.current, NOBODY));
        call.stamp = stamp.wrapping_add(1);
        call.last = outcome;
        let used = call.attempts - call.hedges.0 + call.used_by_breaker;
        if let Some(breaker) = &policy.breaker {
            self.tell_breaker(place, breaker, Around::Attempts, outcome);
        }
        let call = &self.calls[place];
        if call.unheard > 0 || call.hedges.1 > 0 {
            self.end_hedging(place, current, stamp);
        }
        let address = self.calls[place].address;
        let ends = outcome == Outcome::Ok || !policy.retries(used, outcome);
        if ends || policy.gives_up(|| address.draw(Purpose::Patience, used.into())) {
            return self.end_call(place, outcome == Outcome::Ok);
        }
        self.plan_retry(place, hint, Ended::Sent);
    }

    /// The call waits for its next attempt, where time and budget allow another.
    pub(super) fn plan_retry(&mut self, place: u32, hint: Option<Duration>, ended: Ended) {
        let numbers = self.numbers;
        let call = &self.calls[place];
        let (caller, client, attempts) = (call.caller, call.client, call.attempts - call.hedges.0 + call.denied);
        let policy = &numbers.callers[caller.at()].policy;
        let address = if policy.shared_seed { self.seed.shared_address(caller.at()) } else { call.address };
        let draw = address.draw(Purpose::Backoff, attempts.into());
        let Some((backoff, retry)) = self.backoff_of(place, attempts, call.last) else {
            return self.end_call(place, false);
        };
        let call = &mut self.calls[place];
        let Some(wait) = policy.wait_by(backoff, retry, hint, &mut call.memory, draw) else {
            self.tell_of(place, || What::HintDenies);
            return self.end_call(place, false);
        };
        if policy.is_too_late((self.now - call.started).saturating_add(wait)) || self.now + wait >= call.until {
            self.tell_of(place, || What::DeadlineDenies);
            return self.end_call(place, false);
        }
        if let Some(budget) = &policy.budget
            && ended != Ended::Postponed
            && !budget.withdraw(self.callers[caller.at()].ledger(budget, client), self.now)
        {
            self.probe.totals.budget_denied += u64::from(call.measured);
            self.tell_of(place, || What::BudgetDenies);
            return self.end_call(place, false);
        }
        self.probe.totals.state_transitions += u64::from(call.measured && !policy.retriers.is_empty());
        // No wait is no event, where the link takes its time; without a link there could be no end of it at one instant.
        if wait == Duration::ZERO && ended == Ended::Sent && !numbers.callers[caller.at()].link.is_direct() {
            return self.send(place);
        }
        self.probe.backs_off(call.parent.0 == NOBODY, self.now, self.now + wait);
        self.agenda.add(self.now + wait, Event::Retry(place, call.stamp));
        self.tell_of(place, || What::Waits(wait));
    }

    pub(super) fn retry(&mut self, place: u32, stamp: u32) {
        let call = &self.calls[place];
        if call.settled || call.stamp != stamp {
            return;
        }
        if call.unheard > 0 {
            self.hedge(place);
            return;
        }
        if call.parked {
            // Nothing but the deadline comes to a call that waits for a probe.
            self.tell_of(place, || What::DeadlineDenies);
            return self.end_call(place, false);
        }
        self.send(place);
    }

    pub(super) fn end_call(&mut self, place: u32, succeeded: bool) {
        if self.processed(place, succeeded) {
            return;
        }
        if let Some(breaker) = &self.numbers.callers[self.calls[place].caller.at()].policy.breaker {
            let outcome = if succeeded { Outcome::Ok } else { self.calls[place].last };
            self.tell_breaker(place, breaker, Around::Call, outcome);
        }
        let call = &mut self.calls[place];
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
    /// The longest that an attempt sent now may take: its timeout, or what is left of the deadlines of the call and of the attempt above.
    #[inline]
    pub(super) fn time_left(&self, policy: &Policy, now: Time) -> Option<Duration> {
        let deadline = policy.deadline.map_or(self.until, |deadline| self.until.min(self.started + deadline));
        let left = (deadline != Time::NEVER).then(|| deadline.since(now));
        policy.timeout.map_or(left, |timeout| Some(left.map_or(timeout, |left| left.min(timeout))))
    }

    /// What a call made on its behalf inherits.
    fn clone_position(&self) -> (Root, bool) {
        (self.root, self.measured)
    }
}
