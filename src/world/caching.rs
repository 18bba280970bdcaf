//! Caches in the loop: who is answered from one, and what fills it.

use super::World;
use super::agenda::Event;
use super::probe::ServiceCount;
use super::trace::{Listener, What};
use crate::measure::identifier::ServiceIndex;
use crate::measure::random::Purpose;
use crate::retry::outcome::Outcome;
use crate::service::cache;

impl<L: Listener> World<'_, L> {
    /// An attempt reaches the cache in front of a service. True where it is answered from there.
    #[inline(never)]
    pub(super) fn meets_cache(&mut self, attempt: u32, service: ServiceIndex) -> bool {
        let Some(cache) = &self.numbers.services[service.at()].cache else { return false };
        let held = &self.attempts[attempt];
        // What is asked for is a matter of the call: its attempts meet the same draw.
        let draw = held.address.draw(Purpose::Cache, 0);
        let was_stored = self.calls[held.call.0].is_served();
        let share = if was_stored { cache.hit_rate } else { cache.share(&self.services[service.at()].cache) };
        let hits = draw.hits(share);
        if hits {
            self.count_arrival(service);
            self.probe.service(service, self.now).into_iter().for_each(|totals| totals.hits += 1);
            self.tell_of_attempt(attempt, What::Hit);
            self.agenda.add(self.now + cache.time, Event::Cached(attempt));
        }
        hits
    }

    /// The cache has its answer ready.
    pub(super) fn answer_from_cache(&mut self, attempt: u32) {
        // Served, but not done: what was done before is not done twice.
        let service = self.service_of(attempt);
        self.probe.count_at(service, ServiceCount::Served);
        self.probe.service(service, self.now).into_iter().for_each(|totals| totals.served += 1);
        self.reply(attempt, Outcome::Ok);
    }

    /// A service has served an attempt: the cache in front of it stores the answer.
    #[inline]
    pub(super) fn store_in_cache(&mut self, service: ServiceIndex) {
        if L::PLAIN {
            return;
        }
        let base = self.model.base(service);
        if let Some(cache) = &self.numbers.services[base.at()].cache {
            cache.store(&mut self.services[base.at()].cache);
        }
    }

    /// Other numbers hold.
    pub(super) fn change_cache(&mut self, service: ServiceIndex, before: Option<&cache::Cache>) {
        cache::change(&mut self.services[service.at()].cache, before, self.numbers.services[service.at()].cache.as_ref());
    }
}
