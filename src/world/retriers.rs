//! Retriers: the count of each, for each call.

use super::World;
use super::trace::Listener;
use crate::retry::backoff::Backoff;
use crate::retry::outcome::Outcome;
use crate::retry::retrier::{Uses, choose};

impl<'a, L: Listener> World<'a, L> {
    /// A call starts whose policy has retriers.
    pub(super) fn begin_retriers(&mut self, place: u32) {
        *self.uses_of(place) = Uses::default();
        self.probe.totals.state_transitions += u64::from(self.calls[place].measured);
    }

    fn uses_of(&mut self, place: u32) -> &mut Uses {
        if self.retrier_uses.len() <= place as usize {
            self.retrier_uses.resize(place as usize + 1, Uses::default());
        }
        &mut self.retrier_uses[place as usize]
    }

    /// The backoff after an outcome, and the number of the retry that it counts from 1; None where no retrier has a use left.
    pub(super) fn backoff_of(&mut self, place: u32, attempts: u32, outcome: Outcome) -> Option<(&'a Backoff, u32)> {
        let policy = &self.numbers.callers[self.calls[place].caller.at()].policy;
        if policy.retriers.is_empty() {
            return Some((policy.backoff_after(outcome), attempts));
        }
        choose(&policy.retriers, self.uses_of(place), outcome).map(|(retrier, number)| (&retrier.backoff, number))
    }
}
