//! Processor sharing in the loop: one event stands for the attempt that is done first, and a new one whenever the shares change.

use super::World;
use super::agenda::Event;
use super::trace::Listener;
use crate::measure::identifier::ServiceIndex;
use crate::measure::time::Duration;
use crate::service::Service;
use crate::service::sharing::Pace;

impl<L: Listener> World<'_, L> {
    /// One more attempt shares the workers from now on.
    pub(super) fn enter_processor(&mut self, attempt: u32, service: ServiceIndex, work: Duration) {
        self.bring_up_to_date(service, self.pace(service));
        self.services[service.at()].processor.add(attempt, work);
        self.await_first(service);
    }

    /// An attempt shares the workers no more: it is done, or broken off.
    pub(super) fn leave_processor(&mut self, attempt: u32, service: ServiceIndex) {
        self.bring_up_to_date(service, self.pace(service));
        self.services[service.at()].processor.remove(attempt);
        self.await_first(service);
    }

    /// The workers, or their speed, are others from now on.
    pub(super) fn change_pace(&mut self, service: ServiceIndex, before: &Service) {
        let before = pace(before, self.services[service.at()].life.warmth);
        if before != self.pace(service) {
            self.bring_up_to_date(service, before);
            self.await_first(service);
        }
    }

    /// How fast the processor is now.
    pub(super) fn pace(&self, service: ServiceIndex) -> Pace {
        pace(&self.numbers.services[service.at()], self.services[service.at()].life.warmth)
    }

    /// Workers are busy as far as there is an attempt for each.
    pub(super) fn bring_up_to_date(&mut self, service: ServiceIndex, pace: Pace) {
        let processor = &mut self.services[service.at()].processor;
        let busy = u128::from(processor.len().min(pace.workers));
        self.probe.services[service.at()].busy += busy * self.probe.measured_part(processor.as_of(), self.now);
        processor.advance(self.now, pace);
    }

    pub(super) fn await_first(&mut self, service: ServiceIndex) {
        let pace = self.pace(service);
        let processor = &mut self.services[service.at()].processor;
        let next = processor.first(pace);
        // What was awaited comes at another time now: its event is stale.
        if let Some(awaited) = std::mem::replace(&mut processor.awaited, next.map(|(attempt, _)| attempt)) {
            self.attempts[awaited].stamp = self.attempts[awaited].stamp.wrapping_add(1);
        }
        if let Some((attempt, time)) = next {
            self.agenda.add(self.now + time, Event::Finish(attempt, self.attempts[attempt].stamp));
        }
    }
}

fn pace(service: &Service, warmth: f64) -> Pace {
    Pace { workers: service.workers.unwrap_or(u32::MAX), speed: service.speed * warmth }
}
