//! Optimistic rows: an attempt reads, then writes, and its write is taken where no other was taken in between.

use super::World;
use super::agenda::Event;
use super::trace::{Listener, What};
use crate::measure::identifier::ServiceIndex;
use crate::measure::random::Purpose;
use crate::retry::outcome::Outcome;

impl<L: Listener> World<'_, L> {
    /// The read of an attempt reaches its row.
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
        if !self.numbers.services[service.at()].time.is_zero() {
            return self.begin_write(attempt, service);
        }
        let outcome = self.compare(attempt, service);
        self.count_done(attempt, service, outcome);
        self.reply(attempt, outcome);
    }

    /// A write that takes time is work, of which any number goes on at once; it is compared at its end.
    fn begin_write(&mut self, attempt: u32, service: ServiceIndex) {
        self.probe.service(service, self.now).into_iter().for_each(|totals| totals.started += 1);
        let held = &self.attempts[attempt];
        let work = self.numbers.services[service.at()].time.sample(held.address.draw(Purpose::Service, held.number.into()));
        self.occupy(attempt, service, work);
        self.tell_of_attempt(attempt, |number| What::WorkStarts(number, work));
    }

    /// How a write ends: by whether another was taken since its read.
    pub(super) fn compare(&mut self, attempt: u32, service: ServiceIndex) -> Outcome {
        let state = &mut self.services[service.at()];
        let outcome = if self.attempts[attempt].version == state.version { Outcome::Ok } else { Outcome::Conflict };
        state.version += u64::from(outcome == Outcome::Ok);
        self.tell_of_attempt(attempt, |number| What::RowWritten(number, outcome));
        outcome
    }
}
