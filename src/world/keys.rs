//! Idempotency keys: a service knows the attempts of one call, and does it once.

use super::World;
use super::trace::{Listener, What};
use crate::retry::outcome::Outcome;
use crate::retry::policy::Idempotent;

impl<L: Listener> World<'_, L> {
    #[inline]
    fn carries_key(&self, attempt: u32) -> bool {
        self.keyed && self.numbers.callers[self.attempts[attempt].caller.at()].policy.idempotent == Idempotent::Key
    }

    /// A worker would take up an attempt. True where its key tells that the call is done, or being done: then it has been answered.
    #[inline]
    pub(super) fn is_known_by_key(&mut self, attempt: u32) -> bool {
        if L::PLAIN || !self.carries_key(attempt) {
            return false;
        }
        let held = &self.attempts[attempt];
        let in_service = &mut self.extra[held.call.0].in_service;
        let outcome = match (self.calls[held.call.0].is_served(), *in_service) {
            (false, 0) => {
                *in_service = held.number;
                return false;
            }
            (false, _) => Outcome::Conflict,
            (true, _) => Outcome::Ok,
        };
        self.tell_of_attempt(attempt, |number| What::KnownByKey(number, outcome));
        self.reply(attempt, outcome);
        true
    }

    /// A worker is no longer busy with an attempt. Whether that came with a key is not asked: a fault may have changed it meanwhile.
    #[inline]
    pub(super) fn leave_key(&mut self, attempt: u32) {
        if !L::PLAIN && self.keyed {
            let held = &self.attempts[attempt];
            let in_service = &mut self.extra[held.call.0].in_service;
            *in_service = if *in_service == held.number { 0 } else { *in_service };
        }
    }
}
