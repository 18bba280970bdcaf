//! The calling side: calls start and attempts are sent.

use super::World;
use super::admission::gives_up;
use super::agenda::{Entry, Event};
use super::arrivals::Start;
use super::flight::{Attempt, AttemptExtra, Call, CallExtra, NOBODY, Root, State, UNREAD};
use super::probe::Count;
use super::trace::{Listener, What};
use crate::measure::identifier::{CallerIndex, ClientIndex, GroupIndex};
use crate::measure::random::{Address, Purpose};
use crate::measure::time::{Duration, Time};
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
    #[inline]
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

    #[inline]
    fn start_client_call(&mut self, group: GroupIndex, start: Start) {
        let shape = &self.model.groups[group.at()];
        let (caller, criticality) = (shape.caller, shape.criticality);
        self.tell(self.started, caller, || What::CallStarts(group, start.client));
        self.start_call(NewCall { caller, client: start.client, address: start.address, parent: None, until: Time::NEVER, criticality });
    }

    /// Starts a call and sends its first attempt; the place of the call.
    #[inline]
    pub(super) fn start_call(&mut self, new: NewCall) -> u32 {
        let measures = self.probe.measures(self.now);
        let above = new.parent.map(|(attempt, _)| self.attempts[attempt].call.0);
        let measured = above.map_or(measures, |above| self.calls[above].measured());
        let place = self.calls.take(|before| {
            let stamp = before.map_or(0, |call| call.stamp.wrapping_add(1));
            Call::new(new.address, self.now, new.caller, measured, stamp)
        });
        if !L::PLAIN {
            let root = above.map_or(Root { place, number: self.started }, |above| self.extra[above].root);
            self.extra.put(place, CallExtra::new(new.client, new.parent, root, new.criticality, new.until));
        }
        if new.parent.is_none() {
            self.count_start(place, measured);
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
        if !L::PLAIN {
            self.tell_policy_of_start(place);
        }
        self.send(place);
    }

    fn tell_policy_of_start(&mut self, place: u32) {
        let caller = self.calls[place].caller;
        let policy = &self.numbers.callers[caller.at()].policy;
        if let Some(budget) = &policy.budget {
            self.books.call_starts(budget, caller, self.extra[place].client, self.now);
        }
        if let Some(hedge) = &policy.hedge {
            hedge.call_starts(&mut self.callers[caller.at()].hedges);
        }
        if !policy.retriers.is_empty() {
            self.begin_retriers(place);
        }
    }

    #[inline]
    fn count_start(&mut self, place: u32, measured: bool) {
        let measured = u64::from(measured);
        // Only tells neighbours apart, and names calls in a trace: it may begin anew.
        self.started = self.started.wrapping_add(1);
        self.open += 1;
        self.open_measured += measured;
        self.unsent += measured;
        self.probe.totals.calls += measured;
        self.probe.count(Count::Call);
        let services = self.model.services.len();
        if !L::PLAIN && !self.visits.is_empty() && self.visits.len() < (place as usize + 1) * services {
            self.visits.resize((place as usize + 1) * services, 0);
        }
    }

    /// Sends the next attempt of a call.
    #[inline]
    pub(super) fn send(&mut self, place: u32) {
        if !L::PLAIN && !self.is_let_out(place) {
            return;
        }
        let call = &self.calls[place];
        let (caller, stamp) = (call.caller, call.stamp);
        let policy = &self.numbers.callers[caller.at()].policy;
        let most = self.time_left(place, policy, self.now);
        // A reply at the very end of its time is in time: the timeout comes one nanosecond later.
        let timeout = most.map(|most| self.agenda.entry(self.now + most + Duration(1), Event::Timeout(place, stamp)));
        if !L::PLAIN {
            self.wait_for(timeout, caller, policy);
            if policy.hedge.is_some() {
                self.begin_hedging(place);
            }
            return self.transmit(place, gives_up(self.now, most));
        }
        self.transmit(place, Time::NEVER);
        // Nothing else is sent meanwhile: an attempt that has been turned away at once needs no timeout.
        if self.calls[place].awaits(stamp) {
            self.wait_for(timeout, caller, policy);
        }
    }

    #[inline]
    fn wait_for(&mut self, timeout: Option<Entry>, caller: CallerIndex, policy: &Policy) {
        match (timeout, policy.timeout) {
            (Some(timeout), Some(_)) => self.agenda.put_in_order(self.callers[caller.at()].ring, timeout),
            (Some(timeout), None) => self.agenda.put(timeout),
            (None, _) => {}
        }
    }

    /// Whether budget, breaker and pool let the next attempt of a call out. Where they do not, what follows has been done.
    fn is_let_out(&mut self, place: u32) -> bool {
        let numbers = self.numbers;
        let caller = self.calls[place].caller;
        let policy = &numbers.callers[caller.at()].policy;
        let budget = policy.budget.as_ref().filter(|budget| budget.follows_attempts());
        if let Some(budget) = budget
            && !self.may_send(place, budget)
        {
            return false;
        }
        if let Some(breaker) = &policy.breaker
            && !self.extra[place].seat.is_given()
            && !self.passes_breaker(place, breaker)
        {
            return false;
        }
        if let Some(pool) = &policy.pool
            && !self.enters_pool(place, pool)
        {
            return false;
        }
        if let Some(budget) = budget {
            self.books.sent(budget, (&self.calls[place], &mut self.extra[place]), self.now);
        }
        self.extra[place].current = NOBODY;
        true
    }

    /// Sends an attempt on its way, the next of a call or one beside it; its caller gives up at `until`.
    #[inline]
    pub(super) fn transmit(&mut self, place: u32, until: Time) {
        let call = &mut self.calls[place];
        call.attempts += 1;
        let (caller, number, address, stamp) = (call.caller, call.attempts, call.address, call.stamp);
        let link = &self.numbers.callers[caller.at()].link;
        if !L::PLAIN {
            self.extra[place].replica = u16::MAX;
        }
        self.count_attempt(place, number);
        self.tell_of(place, || What::Sent(number));
        if link.loses(|| address.draw(Purpose::Loss, number.into())) {
            return self.tell_of(place, || What::Lost(number));
        }
        let service = self.model.callers[caller.at()].to;
        if L::PLAIN && link.is_direct() && self.is_full(service) {
            return self.turn_away_at_once(place, service);
        }
        let attempt = self.attempts.take(|before| Attempt {
            address,
            since: Time::ZERO,
            work_left: Duration::ZERO,
            worked: Duration::ZERO,
            version: UNREAD,
            call: (place, stamp),
            stamp: before.map_or(0, |attempt| attempt.stamp.wrapping_add(1)),
            number,
            caller,
            service,
            state: State::Travelling,
            outcome: Outcome::Ok,
        });
        self.calls[place].under_way += 1;
        if !L::PLAIN {
            let extra = &mut self.extra[place];
            self.attempt_extra.put(attempt, AttemptExtra::new(extra.current, until));
            extra.current = attempt;
        }
        if link.is_direct() {
            self.deliver(attempt);
        } else {
            let delay = link.delay.sample(address.draw(Purpose::Link, number.into()));
            self.agenda.add(self.now + delay, Event::Deliver(attempt));
        }
    }

    #[inline]
    fn count_attempt(&mut self, place: u32, number: u32) {
        if self.is_of_client(place) {
            let (now, measured) = (self.now, u64::from(self.calls[place].measured()));
            self.probe.totals.attempts += measured;
            self.probe.count(Count::Attempt);
            self.probe.attempt_sent(now);
            if !L::PLAIN && self.extra[place].hedges.1 > 0 {
                self.probe.totals.hedges += measured;
            } else if number > 1 {
                self.probe.totals.retries += measured;
                self.probe.count(Count::Retry);
            } else {
                self.unsent -= measured;
            }
        }
        if !L::PLAIN && !self.visits.is_empty() {
            self.count_visit(place);
        }
    }

    /// Attempts belong to the client's call at the top, and count once that has ended.
    fn count_visit(&mut self, place: u32) {
        let call = &self.calls[place];
        let service = self.model.callers[call.caller.at()].to.at();
        let (root, measured) = (self.extra[place].root, call.measured());
        if self.extra[root.place].root == root && !self.calls[root.place].settled() {
            self.visits[root.place as usize * self.model.services.len() + service] += 1;
        } else if measured {
            self.probe.services[service].attempts += 1;
        }
    }

    /// Whether a client makes the call, and not a worker.
    #[inline]
    pub(super) fn is_of_client(&self, place: u32) -> bool {
        L::PLAIN || self.extra[place].parent.0 == NOBODY
    }

    /// The longest that an attempt sent then may take: its timeout, or what is left of the deadlines of the call and of the attempt above.
    #[inline]
    pub(super) fn time_left(&self, place: u32, policy: &Policy, sent: Time) -> Option<Duration> {
        let deadline = self.deadline_of(place, policy);
        let left = (deadline != Time::NEVER).then(|| deadline.since(sent));
        policy.timeout.map_or(left, |timeout| Some(left.map_or(timeout, |left| left.min(timeout))))
    }

    /// When a call must have ended, by its own deadline or by that of the attempt above.
    #[inline]
    pub(super) fn deadline_of(&self, place: u32, policy: &Policy) -> Time {
        let own = policy.deadline.map_or(Time::NEVER, |deadline| self.calls[place].started + deadline);
        if L::PLAIN { own } else { own.min(self.extra[place].until) }
    }

    /// Tells the listener what happened to a call.
    #[inline]
    pub(super) fn tell_of(&mut self, place: u32, what: impl FnOnce() -> What) {
        if L::LISTENS {
            self.listener.hear(self.now, self.extra[place].root.number, self.calls[place].caller, what());
        }
    }

    #[inline]
    pub(super) fn tell(&mut self, number: u32, caller: CallerIndex, what: impl FnOnce() -> What) {
        if L::LISTENS {
            self.listener.hear(self.now, number, caller, what());
        }
    }
}
