//! The calling side: calls start and attempts are sent.

use super::World;
use super::admission::gives_up;
use super::agenda::Event;
use super::arrivals::Start;
use super::flight::{Attempt, Call, NOBODY, Root, State};
use super::model::Caller;
use super::pools::Seat;
use super::probe::Count;
use super::trace::{Listener, What};
use crate::measure::identifier::{CallerIndex, ClientIndex, GroupIndex};
use crate::measure::random::{Address, Purpose};
use crate::measure::time::{Duration, Time};
use crate::retry::breaker::Pass;
use crate::retry::budget::Paid;
use crate::retry::outcome::Outcome;
use crate::retry::policy::Policy;
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
            paid: Paid::default(),
            skipped: 0,
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
            seat: Seat::default(),
            replica: u16::MAX,
        });
        if new.parent.is_none() {
            self.calls[place].root.place = place;
            self.count_start(place);
        }
        match self.mailbox_of(place) {
            Some(group) => self.enqueue(place, group),
            None => self.begin(place),
        }
        place
    }

    /// The policy of a call begins, with its first attempt.
    #[inline]
    pub(super) fn begin(&mut self, place: u32) {
        let caller = self.calls[place].caller.at();
        let policy = &self.numbers.callers[caller].policy;
        if let Some(budget) = &policy.budget {
            self.books.call_starts(budget, &self.calls[place], self.now);
        }
        if let Some(hedge) = &policy.hedge {
            hedge.call_starts(&mut self.callers[caller].hedges);
        }
        if !policy.retriers.is_empty() {
            self.begin_retriers(place);
        }
        self.send(place);
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
        let budget = policy.budget.as_ref().filter(|budget| budget.follows_attempts());
        if let Some(budget) = budget
            && !self.may_send(place, budget)
        {
            return;
        }
        if let Some(breaker) = &policy.breaker
            && !self.calls[place].seat.is_given()
            && !self.passes_breaker(place, breaker)
        {
            return;
        }
        if let Some(pool) = &policy.pool
            && !self.enters_pool(place, pool)
        {
            return;
        }
        let call = &mut self.calls[place];
        if let Some(budget) = budget {
            self.books.sent(budget, call, self.now);
        }
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
        call.replica = u16::MAX;
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
            service: self.model.callers[caller.at()].to,
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
