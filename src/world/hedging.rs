//! Hedging: attempts beside each other. The caller takes the first `ok`, and fails only when all that it has sent have failed.

use super::World;
use super::admission::gives_up;
use super::agenda::Event;
use super::flight::{NOBODY, State};
use super::trace::Listener;
use crate::measure::time::Duration;
use crate::retry::hedge::Hedge;
use crate::retry::outcome::Outcome;
use crate::retry::policy::{Idempotent, Policy};

impl<L: Listener> World<'_, L> {
    /// The first attempt is about to be sent beside which others may come.
    pub(super) fn begin_hedging(&mut self, place: u32) {
        let extra = &mut self.extra[place];
        (extra.unheard, extra.sent) = (1, self.now);
        self.wait_for_hedge(place);
    }

    /// Sets the time of the next hedge. It has the stamp of the attempt: an answer makes it stale.
    fn wait_for_hedge(&mut self, place: u32) {
        let call = &self.calls[place];
        let caller = call.caller.at();
        let Some(hedge) = &self.numbers.callers[caller].policy.hedge else { return };
        if self.extra[place].hedges.1 < hedge.most
            && let Some(wait) = hedge.wait(&self.callers[caller].hedges)
        {
            self.agenda.add(self.now + wait, Event::Retry(place, call.stamp));
        }
    }

    /// Sends one more attempt beside those under way, where it is allowed.
    pub(super) fn hedge(&mut self, place: u32) -> bool {
        let (caller, client) = (self.calls[place].caller, self.extra[place].client);
        let policy = &self.numbers.callers[caller.at()].policy;
        let Some(hedge) = &policy.hedge else { return false };
        if policy.budget.as_ref().is_some_and(|budget| !self.books.would_grant(budget, caller, client, self.now)) {
            return false;
        }
        if !self.pool_has_place(place) {
            return false;
        }
        let extra = &mut self.extra[place];
        if !hedge.admit(&mut self.callers[caller.at()].hedges, extra.hedges.1) {
            return false;
        }
        extra.hedges.0 += 1;
        extra.hedges.1 += 1;
        extra.unheard += 1;
        let sent = extra.sent;
        self.enter_pool_beside(place);
        let until = gives_up(sent, self.time_left(place, policy, sent));
        self.wait_for_hedge(place);
        self.transmit(place, until);
        true
    }

    /// The caller hears how an attempt ended that it waits for: that settles it, unless others are under way beside it.
    pub(super) fn hear(&mut self, place: u32, outcome: Outcome, hint: Option<Duration>) {
        if !L::PLAIN && self.extra[place].unheard > 0 {
            let caller = self.calls[place].caller.at();
            let policy = &self.numbers.callers[caller].policy;
            let extra = &mut self.extra[place];
            extra.unheard -= 1;
            if outcome == Outcome::Ok {
                // Since the first was sent, whichever has won: what is cancelled has taken longer than what it is compared with.
                let latency = self.now - extra.sent;
                policy.hedge.iter().for_each(|hedge| hedge.observe(&mut self.callers[caller].hedges, latency));
            } else {
                let again = policy.retry_on.contains(outcome);
                if again {
                    self.leave_pool_beside(place);
                }
                let done_beside = is_done_beside(policy, outcome);
                if again && self.hedge(place) || (again || done_beside) && self.extra[place].unheard > 0 {
                    return;
                }
            }
        }
        self.settle(place, outcome, hint);
    }

    /// The attempt has ended, and so have those beside it; `last` is the last that was sent, `stamp` was the call's until now.
    pub(super) fn end_hedging(&mut self, place: u32, last: u32, stamp: u32) {
        let (caller, extra) = (self.calls[place].caller.at(), &mut self.extra[place]);
        Hedge::end(&mut self.callers[caller].hedges, extra.hedges.1);
        (extra.unheard, extra.hedges.1) = (0, 0);
        if self.numbers.callers[caller].policy.hedge.is_some_and(|hedge| hedge.cancel) {
            self.drop_beside(place, last, stamp);
        }
    }

    /// Drops an attempt and all that were sent beside it before.
    pub(super) fn drop_beside(&mut self, place: u32, last: u32, stamp: u32) {
        // Hardly ever are there more than fit on the stack.
        let (mut few, mut more, mut count, mut next) = ([NOBODY; 8], Vec::new(), 0, last);
        while next != NOBODY {
            match few.get_mut(count) {
                Some(free) => *free = next,
                None => more.push(next),
            }
            count += 1;
            next = self.attempt_extra[next].beside;
        }
        for attempt in few.into_iter().take(count).chain(more) {
            // The worker that one of them leaves may take up another of them: by now its place may be another's.
            let held = &self.attempts[attempt];
            if held.call == (place, stamp) && held.state != State::Gone {
                self.drop_attempt(attempt);
            }
        }
    }

    /// An attempt has vanished that was not the last sent: what was sent after it now leads to what was sent before it.
    pub(super) fn unlink(&mut self, place: u32, attempt: u32, before: u32) {
        let mut next = self.extra[place].current;
        while next != NOBODY {
            let held = &mut self.attempt_extra[next];
            if held.beside == attempt {
                held.beside = before;
                return;
            }
            next = held.beside;
        }
    }
}

/// Whether the outcome says no more than that the same call is being done, maybe for an attempt beside this one.
fn is_done_beside(policy: &Policy, outcome: Outcome) -> bool {
    outcome == Outcome::Conflict && policy.idempotent == Idempotent::Key
}
