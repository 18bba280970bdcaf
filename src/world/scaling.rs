//! Autoscalers in the loop: each looks at its service now and then, and orders workers, which come later, or sends some away.

use super::World;
use super::agenda::Event;
use super::trace::Listener;
use crate::measure::identifier::ServiceIndex;
use crate::measure::time::Time;
use crate::service::autoscaler::{Autoscaler, Signal};

/// What changes about an autoscaled service.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaled {
    /// Workers that are there.
    pub workers: u32,
    /// With those on their way.
    ordered: u32,
    since: Time,
    /// Attempts that have arrived, and that were served in time, in all.
    pub seen: [u64; 2],
    /// Workers that wait for a service they call.
    waiting: u32,
    /// How long they have waited together, as of a time, in nanoseconds.
    waited: (u64, Time),
    /// The signal as it was at the last look, added up.
    last: u64,
}

impl Scaled {
    /// How long workers have waited for services they call, until now, in nanoseconds.
    fn waited_until(&mut self, now: Time) -> u64 {
        let (waited, since) = self.waited;
        self.waited = (waited.wrapping_add(now.since(since).0.wrapping_mul(self.waiting.into())), now);
        self.waited.0
    }
}

impl<L: Listener> World<'_, L> {
    /// The first look at each autoscaled service.
    pub(super) fn start_scaling(&mut self) {
        for index in 0..self.services.len() {
            let numbers = &self.numbers.services[index];
            let Some((scaler, workers)) = numbers.autoscaler.zip(numbers.workers) else { continue };
            self.services[index].scaled =
                Some(Scaled { workers, ordered: workers, since: Time::ZERO, seen: [0; 2], waiting: 0, waited: (0, Time::ZERO), last: 0 });
            self.agenda.add(self.now + scaler.every, Event::Scale(ServiceIndex(index as u16), 0));
        }
    }

    /// A look at a service (0), or so many workers are there that were ordered.
    pub(super) fn scale(&mut self, service: ServiceIndex, arriving: u32) {
        let Some((scaler, scaled)) = self.numbers.services[service.at()].autoscaler.zip(self.services[service.at()].scaled) else { return };
        if arriving > 0 {
            // What was sent away meanwhile does not come.
            return self.set_workers(service, scaled.workers.saturating_add(arriving).min(scaled.ordered.max(scaled.workers)));
        }
        self.agenda.add(self.now + scaler.every, Event::Scale(service, 0));
        let signal = self.signal_since_last_look(service, &scaler);
        let wanted = scaler.wanted(scaled.ordered, signal);
        let Some(state) = &mut self.services[service.at()].scaled else { return };
        state.ordered = wanted;
        if wanted > scaled.ordered {
            self.agenda.add(self.now + scaler.lag, Event::Scale(service, wanted - scaled.ordered));
        } else if wanted < scaled.workers {
            self.set_workers(service, wanted);
        }
    }

    /// The signal of all workers together, averaged or a second, since the last look.
    fn signal_since_last_look(&mut self, service: ServiceIndex, scaler: &Autoscaler) -> f64 {
        let now = self.now;
        let state = &mut self.services[service.at()];
        let (busy, queue) = (state.working.area_until(now, state.busy.into()), state.queued.area_until(now, state.queue.len() as u64));
        let Some(scaled) = &mut state.scaled else { return 0.0 };
        let (sum, unit) = match scaler.signal {
            Signal::Busy => (busy, scaler.every.0 as f64),
            Signal::Cpu => (busy.wrapping_sub(scaled.waited_until(now)), scaler.every.0 as f64),
            Signal::Queue => (queue, scaler.every.0 as f64),
            Signal::Arrivals => (scaled.seen[0], scaler.every.seconds()),
            Signal::Goodput => (scaled.seen[1], scaler.every.seconds()),
        };
        sum.wrapping_sub(std::mem::replace(&mut scaled.last, sum)) as f64 / unit
    }

    /// One worker more, or one fewer, waits for a service that it calls.
    #[inline]
    pub(super) fn count_waiting(&mut self, service: ServiceIndex, change: i32) {
        let now = self.now;
        if let Some(scaled) = &mut self.services[service.at()].scaled {
            scaled.waited_until(now);
            scaled.waiting = scaled.waiting.saturating_add_signed(change);
        }
    }

    fn set_workers(&mut self, service: ServiceIndex, workers: u32) {
        self.count_workers(service);
        let (now, state) = (self.now, &mut self.services[service.at()]);
        state.offer.scales(now, state.places, state.busy, workers);
        state.places = workers;
        state.scaled.iter_mut().for_each(|scaled| scaled.workers = workers);
        self.take_up(service);
    }

    /// The workers that there were until now.
    pub(super) fn count_workers(&mut self, service: ServiceIndex) {
        let now = self.now;
        let Some(scaled) = &mut self.services[service.at()].scaled else { return };
        let since = std::mem::replace(&mut scaled.since, now);
        self.probe.services[service.at()].offered += u128::from(scaled.workers) * self.probe.measured_part(since, now);
    }
}
