//! The optimistic row: an attempt reads it, and writes it if nobody else has written meanwhile.

use super::World;
use super::agenda::Event;
use super::trace::{Listener, What};
use crate::measure::identifier::ServiceIndex;
use crate::measure::random::Purpose;
use crate::retry::outcome::Outcome;

impl<L: Listener> World<'_, L> {
    pub(super) fn read_row(&mut self, attempt: u32, service: ServiceIndex) {
        let version = self.services[service.at()].version;
        self.tell_of_attempt(attempt, |number| What::RowRead(number, version));
        let held = &mut self.attempts[attempt];
        held.version = version;
        let (address, number) = (held.address, u64::from(held.number));
        let link = &self.numbers.callers[held.caller.at()].link;
        // The read's reply and the write's request: two ways, which nothing can disturb in between.
        if [1, 2].into_iter().any(|way| link.loses(|| address.draw_way(Purpose::Loss, way, number))) {
            self.tell_of_attempt(attempt, What::Lost);
            return self.forget(attempt);
        }
        let way = |way| link.delay.sample(address.draw_way(Purpose::Link, way, number));
        let delay = way(1).saturating_add(way(2));
        self.agenda.add(self.now + delay, Event::Write(attempt));
    }

    /// The write reaches the row: it is taken where nobody has written since the read.
    pub(super) fn write(&mut self, attempt: u32) {
        let service = self.service_of(attempt);
        if let Some(down) = self.numbers.services[service.at()].down {
            return self.meet_down(attempt, service, down);
        }
        self.count_arrival(service);
        let state = &mut self.services[service.at()];
        let outcome = if self.attempts[attempt].version == state.version { Outcome::Ok } else { Outcome::Conflict };
        state.version += u64::from(outcome == Outcome::Ok);
        self.count_done(attempt, service, outcome);
        self.tell_of_attempt(attempt, |number| What::RowWritten(number, outcome));
        self.reply(attempt, outcome);
    }
}
