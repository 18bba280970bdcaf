//! What a budget's answer means for a call: it is sent, asks again later, goes on to its next wait, or ends.

use super::World;
use super::agenda::Event;
use super::model::Epoch;
use super::trace::{Listener, What};
use crate::measure::time::Duration;
use crate::retry::budget::{Budget, Leave, Paid};

impl<L: Listener> World<'_, L> {
    /// Whether the next attempt of a call may be sent now. Where it may not, what follows has been done.
    pub(super) fn may_send(&mut self, place: u32, budget: &Budget) -> bool {
        let leave = self.books.may_send(budget, (&self.calls[place], &self.extra[place]), self.now);
        if leave != Leave::Go {
            self.step_back_from_pool(place);
        }
        match leave {
            Leave::Go => return true,
            Leave::Wait(wait) => self.put_off(place, wait, What::SendWaits(wait)),
            Leave::Skip => self.skip_retry(place),
            Leave::Deny => self.deny_send(place),
        }
        false
    }

    /// The call asks again when some time has passed, if its deadline leaves that much.
    fn put_off(&mut self, place: u32, wait: Duration, what: What) {
        let call = &self.calls[place];
        let policy = &self.numbers.callers[call.caller.at()].policy;
        if policy.is_too_late((self.now - call.started).saturating_add(wait)) || self.now + wait >= self.extra[place].until {
            self.tell_of(place, || What::DeadlineDenies);
            return self.end_call(place, false);
        }
        self.probe.backs_off(self.is_of_client(place), self.now, self.now + wait);
        self.agenda.add(self.now + wait, Event::Retry(place, self.calls[place].stamp));
        self.tell_of(place, || what);
    }

    /// A retry is held back: it counts as made, and the next wait starts.
    fn skip_retry(&mut self, place: u32) {
        let (call, extra) = (&self.calls[place], &mut self.extra[place]);
        let policy = &self.numbers.callers[call.caller.at()].policy;
        extra.skipped += 1;
        self.probe.totals.budget_denied += u64::from(call.measured());
        if !policy.retries(extra.used(call.attempts), call.last) {
            self.tell_of(place, || What::BudgetDenies);
            return self.end_call(place, false);
        }
        let Some(wait) = self.next_wait(place, None) else {
            return self.end_call(place, false);
        };
        self.put_off(place, wait, What::RetrySkipped(wait));
    }

    /// The attempt is turned away before it is sent, and that ends the call.
    fn deny_send(&mut self, place: u32) {
        self.probe.totals.budget_denied += u64::from(self.calls[place].measured());
        self.tell_of(place, || What::SendDenied);
        self.end_call(place, false);
    }

    /// A fault starts or ends: budgets of another kind have empty books, and what calls had to do with the old ones is forgotten.
    pub(super) fn change_books(&mut self, before: &Epoch) {
        let anew = self.books.change(self.model, before, self.numbers);
        if anew.contains(&true) {
            let of_these = self.calls.places().filter(|(_, call)| anew[call.caller.at()]);
            of_these.for_each(|(place, _)| self.extra[place].paid = Paid::default());
        }
    }
}
