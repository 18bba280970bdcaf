//! Memory ahead of time. Where the tables are larger than the cache, each event would wait for the record that it is about. What is about
//! to happen is known, so the records of many events are touched together, and all wait at once: it takes hardly longer than for one.
//! It is a matter of time alone, and changes nothing.

use super::World;
use super::agenda::Event;
use super::trace::Listener;
use crate::measure::identifier::ServiceIndex;

/// So many calls or attempts are in the cache anyway.
const FETCHED: usize = 8192;
/// So many that wait are touched together.
const FETCHED_AT_ONCE: u32 = 32;

impl<L: Listener> World<'_, L> {
    /// Touches what the next events are about, all at once.
    #[inline(never)]
    pub(super) fn fetch(&mut self) {
        let (calls, attempts) = (&self.calls, &self.attempts);
        // The news is taken where it is of no use, too, or it would be there again at the next event.
        let is_large = calls.len() > FETCHED;
        let mut touched = 0;
        for packed in self.agenda.news().filter(|_| is_large) {
            touched ^= match packed.event() {
                Event::Timeout(call, _) | Event::Retry(call, _) => calls[call].stamp,
                Event::Finish(attempt, _) => calls[attempts[attempt].call.0].stamp,
                _ => 0,
            };
        }
        // Nobody needs the sum, but whoever computes it has to look.
        std::hint::black_box(touched);
    }

    /// As [`World::fetch`], of the attempts whose turn at a worker comes next.
    #[inline(never)]
    pub(super) fn fetch_queued(&mut self, service: ServiceIndex) {
        let state = &mut self.services[service.at()];
        state.fetched = FETCHED_AT_ONCE;
        if self.attempts.len() > FETCHED {
            let next = state.queue.first(FETCHED_AT_ONCE as usize - 1);
            std::hint::black_box(next.fold(0, |touched, attempt| touched ^ self.attempts[attempt].stamp));
        }
    }
}
