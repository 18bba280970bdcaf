//! Retriers: the count of each, for each call.

use super::World;
use super::model::Epoch;
use super::trace::Listener;
use crate::retry::backoff::Backoff;
use crate::retry::backoff::jitter::Jitter;
use crate::retry::outcome::Outcome;
use crate::retry::policy::Policy;
use crate::retry::retrier::{Use, Uses, choose};

impl<'a, L: Listener> World<'a, L> {
    /// A call starts whose policy has retriers.
    pub(super) fn begin_retriers(&mut self, place: u32) {
        *self.uses_of(place) = Uses::default();
        self.probe.totals.state_transitions += u64::from(self.calls[place].measured());
    }

    fn uses_of(&mut self, place: u32) -> &mut Uses {
        if self.retrier_uses.len() <= place as usize {
            self.retrier_uses.resize(place as usize + 1, Uses::default());
        }
        &mut self.retrier_uses[place as usize]
    }

    /// The backoff after an outcome, the number of the retry that it counts from 1, and what it remembers; None where no retrier has a
    /// use left.
    pub(super) fn backoff_of(&mut self, place: u32, attempts: u32, outcome: Outcome) -> Option<(&'a Backoff, u32, &mut u64)> {
        let policy = &self.numbers.callers[self.calls[place].caller.at()].policy;
        if policy.retriers.is_empty() {
            return Some((policy.backoff_after(outcome), attempts, &mut self.extra[place].memory));
        }
        choose(&policy.retriers, self.uses_of(place), outcome).map(|(retrier, own)| (&retrier.backoff, own.count, &mut own.memory))
    }

    /// Other numbers hold: where a backoff remembers something else than the one before, what calls remember means nothing to it.
    pub(super) fn change_memories(&mut self, before: &Epoch) {
        if L::PLAIN {
            return;
        }
        let numbers = self.numbers;
        let differs = |caller: usize| memories(&before.callers[caller].policy).ne(memories(&numbers.callers[caller].policy));
        if !(0..numbers.callers.len()).any(differs) {
            return;
        }
        for (place, _) in self.calls.places().filter(|(_, call)| differs(call.caller.at())) {
            self.extra[place].memory = 0;
            let uses = self.retrier_uses.get_mut(place as usize).into_iter().flatten();
            uses.for_each(|own: &mut Use| own.memory = 0);
        }
    }
}

/// What each backoff of a policy remembers.
fn memories(policy: &Policy) -> impl Iterator<Item = Option<Jitter>> {
    let retriers = policy.retriers.iter().map(|retrier| &retrier.backoff);
    [&policy.backoff].into_iter().chain(&policy.throttled_backoff).chain(retriers).map(Backoff::memory)
}
