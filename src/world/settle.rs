//! What comes of attempts: is there another, and when? All retry logic is here.

use super::World;
use super::agenda::Event;
use super::breakers::Ended;
use super::flight::NOBODY;
use super::model::Origin;
use super::probe::Count;
use super::trace::{Listener, What};
use crate::measure::random::Purpose;
use crate::measure::time::Duration;
use crate::retry::breaker::Around;
use crate::retry::budget::Paid;
use crate::retry::outcome::Outcome;
use crate::retry::policy::Policy;
use crate::service::Abandoned;

impl<L: Listener> World<'_, L> {
    #[inline]
    pub(super) fn time_out(&mut self, place: u32, stamp: u32) {
        if !self.calls[place].awaits(stamp) {
            return;
        }
        let number = self.calls[place].attempts;
        self.tell_of(place, || What::TimedOut(number));
        if !L::PLAIN {
            if !self.fronts.is_empty() {
                self.balancer_sees_timeout(place);
            }
            self.leave(place);
            // A worker that is free by that may have done another attempt of the call at once.
            if !self.calls[place].awaits(stamp) {
                return;
            }
        }
        self.settle(place, Outcome::Timeout, None);
    }

    /// The caller stops waiting for its present attempt: where the service is told, it drops the work.
    pub(super) fn leave(&mut self, place: u32) {
        let call = &self.calls[place];
        let service = self.model.callers[call.caller.at()].to;
        let current = self.extra[place].current;
        if current != NOBODY && self.numbers.services[service.at()].abandoned == Abandoned::Cancel {
            self.drop_beside(place, current, call.stamp);
        }
    }

    /// An attempt of a call has ended: is there another, and when?
    #[inline]
    pub(super) fn settle(&mut self, place: u32, outcome: Outcome, hint: Option<Duration>) {
        let numbers = self.numbers;
        if !L::PLAIN {
            self.leave_pool(place);
        }
        let call = &mut self.calls[place];
        let policy = &numbers.callers[call.caller.at()].policy;
        let stamp = call.stamp;
        call.stamp = stamp.wrapping_add(1);
        call.last = outcome;
        let mut used = call.attempts;
        if !L::PLAIN {
            used = self.tell_policy_of_end(place, policy, stamp);
        }
        let ends = outcome == Outcome::Ok || !policy.retries(used, outcome);
        if ends || policy.gives_up(|| self.calls[place].address.draw(Purpose::Patience, used.into())) {
            return self.end_call(place, outcome == Outcome::Ok);
        }
        self.plan_retry(place, hint, Ended::Sent);
    }

    /// Breaker, budget and hedging hear how an attempt has ended, whose stamp this was; how many attempts the policy takes to be made.
    fn tell_policy_of_end(&mut self, place: u32, policy: &Policy, stamp: u32) -> u32 {
        let outcome = self.calls[place].last;
        let current = std::mem::replace(&mut self.extra[place].current, NOBODY);
        if let Some(breaker) = &policy.breaker {
            self.tell_breaker(place, breaker, Around::Attempts, outcome);
        }
        if let Some(budget) = policy.budget.as_ref().filter(|budget| budget.follows_attempts()) {
            let call = (&self.calls[place], &mut self.extra[place]);
            self.books.attempt_ends(budget, call, policy.retry_on.contains(outcome), self.now);
        }
        let extra = &self.extra[place];
        let used = extra.used(self.calls[place].attempts);
        if extra.unheard > 0 || extra.hedges.1 > 0 {
            self.end_hedging(place, current, stamp);
        }
        used
    }

    /// How long a call waits before its next retry; None where it makes none.
    #[inline]
    pub(super) fn next_wait(&mut self, place: u32, hint: Option<Duration>) -> Option<Duration> {
        let call = &self.calls[place];
        let attempts = if L::PLAIN { call.attempts } else { self.extra[place].waits(call.attempts) };
        let caller = call.caller;
        let policy = &self.numbers.callers[caller.at()].policy;
        let address = if policy.shared_seed { self.seed.shared_address(caller.at()) } else { call.address };
        let draw = address.draw(Purpose::Backoff, attempts.into());
        if L::PLAIN {
            return Some(policy.backoff.wait(attempts, &mut 0, draw));
        }
        let (backoff, retry, memory) = self.backoff_of(place, attempts, call.last)?;
        let wait = policy.wait_by(backoff, retry, hint, memory, draw);
        if wait.is_none() {
            self.tell_of(place, || What::HintDenies);
        }
        wait
    }

    /// The call waits for its next attempt, where time and budget allow another.
    #[inline]
    pub(super) fn plan_retry(&mut self, place: u32, hint: Option<Duration>, ended: Ended) {
        let numbers = self.numbers;
        let call = &self.calls[place];
        let caller = call.caller;
        let policy = &numbers.callers[caller.at()].policy;
        let Some(wait) = self.next_wait(place, hint) else {
            return self.end_call(place, false);
        };
        let call = &self.calls[place];
        let too_late = policy.is_too_late((self.now - call.started).saturating_add(wait));
        if too_late || !L::PLAIN && self.now + wait >= self.extra[place].until {
            self.tell_of(place, || What::DeadlineDenies);
            return self.end_call(place, false);
        }
        if !L::PLAIN && !self.pays_for_retry(place, policy, ended) {
            return self.end_call(place, false);
        }
        // No wait is no event, where the link takes its time; without a link there could be no end of it at one instant.
        if wait == Duration::ZERO && ended == Ended::Sent && !numbers.callers[caller.at()].link.is_direct() {
            return self.send(place);
        }
        self.probe.backs_off(self.is_of_client(place), self.now, self.now + wait);
        self.agenda.add(self.now + wait, Event::Retry(place, self.calls[place].stamp));
        self.tell_of(place, || What::Waits(wait));
    }

    /// Whether the budget grants a retry.
    fn pays_for_retry(&mut self, place: u32, policy: &Policy, ended: Ended) -> bool {
        let call = &self.calls[place];
        let measured = u64::from(call.measured());
        if let Some(budget) = &policy.budget
            && ended != Ended::Postponed
            && !self.books.retry(budget, (call, &mut self.extra[place]), self.now)
        {
            self.probe.totals.budget_denied += measured;
            self.tell_of(place, || What::BudgetDenies);
            return false;
        }
        self.probe.totals.state_transitions += if policy.retriers.is_empty() { 0 } else { measured };
        true
    }

    #[inline]
    pub(super) fn retry(&mut self, place: u32, stamp: u32) {
        if !self.calls[place].awaits(stamp) {
            return;
        }
        if !L::PLAIN {
            let extra = &self.extra[place];
            if extra.unheard > 0 {
                self.hedge(place);
                return;
            }
            if extra.seat.waits() {
                return self.place_is_too_late(place);
            }
            if extra.parked {
                // Nothing but the deadline comes to a call that waits for a probe.
                self.tell_of(place, || What::DeadlineDenies);
                return self.end_call(place, false);
            }
        }
        self.send(place);
    }

    #[inline]
    pub(super) fn end_call(&mut self, place: u32, succeeded: bool) {
        if !L::PLAIN {
            // Each receive of a message is a call to breaker and budget; its deletion, or its last return, is none.
            if !self.rests(place) {
                self.policy_ends(place, succeeded);
            }
            if self.processed(place, succeeded) {
                return;
            }
        }
        let call = &mut self.calls[place];
        call.settle();
        call.stamp = call.stamp.wrapping_add(1);
        let latency = self.now - call.started;
        let last = (call.attempts > 0).then_some(call.last);
        self.tell_of(place, || What::CallEnds(last, latency));
        let of_client = self.is_of_client(place);
        if of_client {
            self.end_client_call(place, succeeded.then_some(latency));
        }
        if self.calls[place].under_way == 0 {
            self.calls.give_back(place);
        }
        if !of_client {
            self.hear_from_below(self.extra[place].parent, succeeded);
        }
    }

    /// Breaker and budget hear how a call has ended.
    fn policy_ends(&mut self, place: u32, succeeded: bool) {
        if let Some(breaker) = &self.numbers.callers[self.calls[place].caller.at()].policy.breaker {
            let outcome = if succeeded { Outcome::Ok } else { self.calls[place].last };
            self.tell_breaker(place, breaker, Around::Call, outcome);
        }
        let call = &self.calls[place];
        let policy = &self.numbers.callers[call.caller.at()].policy;
        if let Some(budget) = policy.budget.as_ref().filter(|budget| budget.follows_ends()) {
            let extra = &mut self.extra[place];
            self.books.call_ends(budget, (call, extra), policy.retry_on.contains(call.last), self.now);
            extra.paid = Paid::default();
        }
    }

    #[inline]
    fn end_client_call(&mut self, place: u32, latency: Option<Duration>) {
        let call = &self.calls[place];
        let (measured, attempts, caller) = (call.measured(), call.attempts, call.caller);
        self.open -= 1;
        self.last_settled = self.now;
        self.probe.count(if latency.is_some() { Count::Success } else { Count::Failure });
        self.gather_visits(place, measured, attempts);
        let Origin::Group(group) = self.model.callers[caller.at()].from else { return };
        if measured {
            self.open_measured -= 1;
            self.probe.call_ended(group, attempts, latency);
        }
        if !L::PLAIN {
            let client = self.extra[place].client.0;
            if let Some(think) = self.arrivals[group.at()].think(&self.model.groups[group.at()].load, client) {
                self.agenda.add(self.now + think, Event::Wake(group, client));
            }
        }
    }

    /// The attempts that the call has cost each service.
    fn gather_visits(&mut self, place: u32, measured: bool, attempts: u32) {
        if L::PLAIN || self.visits.is_empty() {
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
}
