//! The pools of all edges: who has a place, who waits for one, and what becomes of an attempt that gets none.

use std::collections::VecDeque;

use super::World;
use super::agenda::Event;
use super::breakers::Ended;
use super::model::{Epoch, Model};
use super::trace::{Listener, What};
use crate::measure::time::{Duration, Time};
use crate::retry::breaker::Around;
use crate::retry::outcome::Outcome;
use crate::retry::pool::{Entry, Pool};
use crate::retry::scope::Scope;

/// What a call has of its pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seat {
    /// Places that its attempts hold.
    held: u32,
    /// Whether its next attempt waits for a place.
    waits: bool,
    /// Whether the place is that of an attempt that waited for it, and is about to be sent.
    given: bool,
}

impl Seat {
    /// Whether its next attempt waits for a place.
    #[inline]
    pub fn waits(self) -> bool {
        self.waits
    }

    /// Whether its next attempt has waited, and has its place now.
    #[inline]
    pub fn is_given(self) -> bool {
        self.given
    }
}

/// The pools of one run.
#[derive(Debug)]
pub(super) struct Pools {
    /// By edge and place in the scope: those of edges that share another's stay empty, and all do before the first is asked.
    places: Vec<Vec<Places>>,
    /// The edge whose pool each edge uses.
    homes: Vec<usize>,
}

/// One pool.
#[derive(Clone, Debug, Default)]
struct Places {
    taken: u32,
    /// Who waits; the line may also hold calls that have left it, whose stamps are others by now.
    waiting: u32,
    line: VecDeque<(u32, u32)>,
}

impl Pools {
    pub(super) fn new(model: &Model) -> Pools {
        Pools { places: vec![Vec::new(); model.callers.len()], homes: homes(model, &model.epochs[0]) }
    }
}

/// The edge whose pool each edge uses: its own, or that of the first that calls the same service by the same pool of that scope.
fn homes(model: &Model, epoch: &Epoch) -> Vec<usize> {
    let pool = |caller: usize| epoch.callers[caller].policy.pool.as_ref();
    let shares = |caller: usize, other: usize| model.callers[other].to == model.callers[caller].to && pool(other) == pool(caller);
    let first = |caller: usize| match pool(caller) {
        Some(Pool { scope: Scope::Service, .. }) => (0..caller).find(|other| shares(caller, *other)).unwrap_or(caller),
        _ => caller,
    };
    (0..model.callers.len()).map(first).collect()
}

impl<L: Listener> World<'_, L> {
    fn places(&mut self, place: u32, pool: &Pool) -> &mut Places {
        let call = &self.calls[place];
        let clients = self.callers[call.caller.at()].clients;
        let pools = &mut self.pools.places[self.pools.homes[call.caller.at()]];
        if pools.is_empty() {
            pools.resize(pool.scope.size(clients), Places::default());
        }
        &mut pools[pool.scope.place(self.extra[place].client)]
    }

    /// Whether the next attempt of a call has a place now. Where not, it waits for one, or what follows has been done.
    pub(super) fn enters_pool(&mut self, place: u32, pool: &Pool) -> bool {
        if std::mem::take(&mut self.extra[place].seat.given) {
            return true;
        }
        let places = self.places(place, pool);
        let entry = pool.entry(places.taken, places.waiting);
        match entry {
            Entry::Given => {
                places.taken += 1;
                self.extra[place].seat.held += 1;
                return true;
            }
            Entry::Waits => self.wait_for_place(place, pool),
            Entry::Denied => self.deny_place(place),
        }
        false
    }

    /// Whether an attempt beside another would have a place too; it does not wait for one.
    pub(super) fn pool_has_place(&mut self, place: u32) -> bool {
        match &self.numbers.callers[self.calls[place].caller.at()].policy.pool {
            Some(pool) => self.places(place, pool).taken < pool.limit,
            None => true,
        }
    }

    /// An attempt beside another takes the place that there was.
    pub(super) fn enter_pool_beside(&mut self, place: u32) {
        if let Some(pool) = &self.numbers.callers[self.calls[place].caller.at()].policy.pool {
            self.places(place, pool).taken += 1;
            self.extra[place].seat.held += 1;
        }
    }

    fn wait_for_place(&mut self, place: u32, pool: &Pool) {
        let stamp = self.calls[place].stamp;
        self.extra[place].seat.waits = true;
        let places = self.places(place, pool);
        places.waiting += 1;
        places.line.push_back((place, stamp));
        // As with a timeout, a place that comes at the very end of the wait is in time.
        let ends =
            pool.timeout.map_or(Time::NEVER, |timeout| self.now + timeout + Duration(1)).min(self.call_deadline(place)).max(self.now);
        if ends != Time::NEVER {
            self.agenda.add(ends, Event::Retry(place, stamp));
        }
        self.tell_of(place, || What::PoolHolds);
    }

    fn call_deadline(&self, place: u32) -> Time {
        self.deadline_of(place, &self.numbers.callers[self.calls[place].caller.at()].policy)
    }

    /// A call has waited for a place as long as it may.
    pub(super) fn place_is_too_late(&mut self, place: u32) {
        self.leave_pool(place);
        if self.now >= self.call_deadline(place) {
            self.tell_of(place, || What::DeadlineDenies);
            self.break_breaker_off(place);
            return self.end_call(place, false);
        }
        self.deny_place(place);
    }

    fn break_breaker_off(&mut self, place: u32) {
        if let Some(breaker) = &self.numbers.callers[self.calls[place].caller.at()].policy.breaker
            && breaker.around == Around::Attempts
        {
            self.leave_breaker(place, breaker);
        }
    }

    /// An attempt gets no place: for all that stands around the pool it has ended with `rejected`, though nothing was sent.
    fn deny_place(&mut self, place: u32) {
        let numbers = self.numbers;
        let call = &mut self.calls[place];
        let policy = &numbers.callers[call.caller.at()].policy;
        call.last = Outcome::Rejected;
        call.stamp = call.stamp.wrapping_add(1);
        self.probe.totals.pool_denied += u64::from(call.measured());
        let extra = &mut self.extra[place];
        extra.denied += 1;
        extra.used_by_breaker += 1;
        self.tell_of(place, || What::PoolDenies);
        if let Some(breaker) = &policy.breaker {
            self.tell_breaker(place, breaker, Around::Attempts, Outcome::Rejected);
        }
        if policy.retries(self.extra[place].used(self.calls[place].attempts), Outcome::Rejected) {
            self.plan_retry(place, None, Ended::Refused);
        } else {
            self.end_call(place, false);
        }
    }

    /// What a call has of its pool is free again, all of it: its attempt has ended, or nobody waits for it.
    #[inline]
    pub(super) fn leave_pool(&mut self, place: u32) {
        if self.extra[place].seat != Seat::default() {
            self.give_back(place, u32::MAX);
        }
    }

    /// One of several attempts beside each other has ended.
    pub(super) fn leave_pool_beside(&mut self, place: u32) {
        if self.extra[place].seat.held > 0 {
            self.give_back(place, 1);
        }
    }

    /// A budget holds back an attempt that had waited for its place.
    pub(super) fn step_back_from_pool(&mut self, place: u32) {
        if self.extra[place].seat.given {
            self.leave_pool(place);
            self.break_breaker_off(place);
        }
    }

    #[inline(never)]
    fn give_back(&mut self, place: u32, most: u32) {
        let seat = &mut self.extra[place].seat;
        let (held, waits) = (seat.held.min(most), std::mem::take(&mut seat.waits));
        (seat.held, seat.given) = (seat.held - held, false);
        let Some(pool) = &self.numbers.callers[self.calls[place].caller.at()].policy.pool else { return };
        let places = self.places(place, pool);
        places.taken -= held;
        places.waiting -= u32::from(waits);
        let (waiting, line) = (places.waiting, places.line.len());
        // Who has left the line is taken out of it now and then, so that it does not grow without end.
        if waits && line > 2 * waiting as usize + 16 {
            let mut line = std::mem::take(&mut places.line);
            line.retain(|(place, stamp)| self.extra[*place].seat.waits && self.calls[*place].stamp == *stamp);
            self.places(place, pool).line = line;
        }
        if waiting > 0 {
            let (home, index) = (self.pools.homes[self.calls[place].caller.at()], pool.scope.place(self.extra[place].client));
            self.fill_places(home, index, pool.limit);
        }
    }

    /// Free places go to those who wait, in the order in which they came. They are sent as events of this instant: what follows from
    /// one cannot come between.
    fn fill_places(&mut self, home: usize, index: usize, limit: u32) {
        let places = &mut self.pools.places[home][index];
        while places.waiting > 0
            && places.taken < limit
            && let Some((place, stamp)) = places.line.pop_front()
        {
            let call = &mut self.calls[place];
            if !call.awaits(stamp) || !self.extra[place].seat.waits {
                continue;
            }
            places.waiting -= 1;
            places.taken += 1;
            self.extra[place].seat = Seat { held: 1, waits: false, given: true };
            call.stamp = call.stamp.wrapping_add(1);
            self.agenda.add(self.now, Event::Retry(place, call.stamp));
        }
    }

    /// Other numbers hold. A pool of another scope, or one that other callers share, begins anew for the edge: nobody has a place,
    /// and who waited asks again. Else it goes on, with more places or fewer.
    pub(super) fn change_pools(&mut self, before: &Epoch) {
        let (old, new) = (|caller: usize| before.callers[caller].policy.pool, |caller: usize| self.numbers.callers[caller].policy.pool);
        let count = self.model.callers.len();
        if (0..count).all(|caller| old(caller) == new(caller)) {
            return;
        }
        let after = homes(self.model, self.numbers);
        let goes_on = |caller: usize| old(caller).zip(new(caller)).is_some_and(|(old, new)| new.goes_on_as(&old));
        let moved: Vec<bool> = (0..count).map(|caller| after[caller] != self.pools.homes[caller] || !goes_on(caller)).collect();
        // An edge whose home begins anew does so too: its places were counted there.
        let anew: Vec<bool> = (0..count).map(|caller| moved[caller] || moved[after[caller]]).collect();
        let places: Vec<u32> = self.calls.places().filter(|(_, call)| anew[call.caller.at()]).map(|(place, _)| place).collect();
        let mut resumed = Vec::new();
        for place in places {
            let (caller, extra) = (self.calls[place].caller.at(), &mut self.extra[place]);
            let seat = std::mem::take(&mut extra.seat);
            if let Some(pool) = old(caller) {
                let home = &mut self.pools.places[self.pools.homes[caller]];
                if let Some(places) = home.get_mut(pool.scope.place(extra.client)) {
                    places.taken -= seat.held;
                    places.waiting -= u32::from(seat.waits);
                }
            }
            if seat.waits || seat.given {
                resumed.push(place);
            }
        }
        (0..count).filter(|caller| moved[*caller]).for_each(|caller| self.pools.places[caller].clear());
        self.pools.homes = after;
        for place in resumed {
            self.break_breaker_off(place);
            let call = &mut self.calls[place];
            call.stamp = call.stamp.wrapping_add(1);
            self.agenda.add(self.now, Event::Retry(place, call.stamp));
        }
        for caller in 0..count {
            let Some(limit) = self.numbers.callers[caller].policy.pool.map(|pool| pool.limit) else { continue };
            (0..self.pools.places[caller].len()).for_each(|index| self.fill_places(caller, index, limit));
        }
    }
}
