//! The breakers of all edges: who shares which, who waits for one, and what becomes of an attempt that one does not let through.

use std::collections::{BTreeMap, VecDeque};

use super::World;
use super::agenda::Event;
use super::model::{Epoch, Model};
use super::trace::{Listener, What};
use crate::measure::identifier::{CallerIndex, ClientIndex};
use crate::measure::random::{Address, Draw, Purpose};
use crate::measure::time::Time;
use crate::retry::breaker::{Answer, Around, Breaker, Others, Rejection, State};
use crate::retry::outcome::Outcome;
use crate::retry::scope::Scope;

/// What it was that ended before a retry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// An attempt that was sent.
    Sent,
    /// An attempt that its breaker refused, which counts as one.
    Refused,
    /// Nothing: its breaker put the attempt off.
    Postponed,
}

/// The breakers of one run.
#[derive(Debug)]
pub(super) struct Breakers {
    /// By edge: those of edges that share another's stay empty.
    pools: Vec<Pool>,
    /// The pool of each edge.
    pool_of: Vec<usize>,
    /// Of their random draws.
    address: Address,
}

/// The breakers of one edge, or of all edges that share them.
#[derive(Debug)]
struct Pool {
    /// By place in their scope; empty before the first is asked.
    states: Vec<State>,
    /// Who waits for a place at which, first come first: calls and their stamps.
    waiting: BTreeMap<usize, VecDeque<(u32, u32)>>,
    /// When they began.
    since: Time,
    /// The number of their first turn.
    first_turn: u32,
}

impl Breakers {
    pub(super) fn new(model: &Model, address: Address) -> Breakers {
        let pools = model.callers.iter().map(|_| Pool::new(Time::ZERO, 1)).collect();
        Breakers { pools, pool_of: pool_of(model, &model.epochs[0]), address }
    }

    /// A client's breaker, and where its draws come from.
    fn of(
        &mut self,
        breaker: &Breaker,
        caller: CallerIndex,
        client: ClientIndex,
        clients: u32,
    ) -> (&mut State, impl Fn(u32) -> Draw + use<>) {
        let (index, place) = (self.pool_of[caller.at()], breaker.scope.place(client));
        let pool = &mut self.pools[index];
        if pool.states.is_empty() {
            pool.states.resize(breaker.scope.size(clients), breaker.fresh(pool.first_turn, pool.since));
        }
        let address = self.address;
        let draw = move |opening: u32| address.child(index as u64).child(place as u64).draw(Purpose::Opening, opening.into());
        (&mut pool.states[place], draw)
    }
}

impl Pool {
    fn new(since: Time, first_turn: u32) -> Pool {
        Pool { states: Vec::new(), waiting: BTreeMap::new(), since, first_turn }
    }
}

/// The edge whose breakers each edge uses: its own, or those of the first that calls the same service by the same breaker of that scope.
fn pool_of(model: &Model, epoch: &Epoch) -> Vec<usize> {
    let breaker = |caller: usize| epoch.callers[caller].policy.breaker.as_ref();
    let shares = |caller: usize, other: usize| model.callers[other].to == model.callers[caller].to && breaker(other) == breaker(caller);
    let first = |caller: usize| match breaker(caller) {
        Some(Breaker { scope: Scope::Service, .. }) => (0..caller).find(|other| shares(caller, *other)).unwrap_or(caller),
        _ => caller,
    };
    (0..model.callers.len()).map(first).collect()
}

impl<L: Listener> World<'_, L> {
    /// Whether the next attempt of a call may be sent now. Where not, what becomes of the call is already decided.
    pub(super) fn passes_breaker(&mut self, place: u32, breaker: &Breaker) -> bool {
        let (call, extra) = (&self.calls[place], &self.extra[place]);
        let first = extra.rounds(call.attempts) == 0;
        if breaker.around == Around::Call && !first {
            return true;
        }
        let (caller, client) = (call.caller, extra.client);
        let (state, draw) = self.breakers.of(breaker, caller, client, self.callers[caller.at()].clients);
        let opened = breaker.pass_time(state, self.now, draw);
        let answer = breaker.admit(state, first, self.now);
        self.count_opening(place, opened);
        match answer {
            Answer::Passes(pass) => {
                self.extra[place].pass = pass;
                return true;
            }
            Answer::Waits => self.park(place, breaker),
            Answer::Refused => self.refuse(place, breaker),
        }
        false
    }

    fn count_opening(&mut self, place: u32, opened: bool) {
        if opened {
            self.probe.totals.breaker_opened += u64::from(self.probe.measures(self.now));
            self.tell_of(place, || What::BreakerOpens);
        }
    }

    /// The attempt is not let through.
    fn refuse(&mut self, place: u32, breaker: &Breaker) {
        self.probe.totals.breaker_denied += u64::from(self.calls[place].measured());
        self.tell_of(place, || What::BreakerDenies);
        let numbers = self.numbers;
        let (call, extra) = (&mut self.calls[place], &mut self.extra[place]);
        let policy = &numbers.callers[call.caller.at()].policy;
        match breaker.rejection {
            Rejection::EndsCall => self.end_call(place, false),
            Rejection::UsesAttempt => {
                extra.denied += 1;
                extra.used_by_breaker += 1;
                call.last = Outcome::Rejected;
                if policy.retries(extra.used(call.attempts), Outcome::Rejected) {
                    self.plan_retry(place, None, Ended::Refused);
                } else {
                    self.end_call(place, false);
                }
            }
            Rejection::Waits => {
                extra.denied += 1;
                self.plan_retry(place, None, Ended::Postponed);
            }
        }
    }

    /// The attempt waits until the breaker turns, or its deadline comes.
    fn park(&mut self, place: u32, breaker: &Breaker) {
        self.extra[place].parked = true;
        let (caller, client, stamp) = (self.calls[place].caller, self.extra[place].client, self.calls[place].stamp);
        // The one that is handed down counts as well.
        let deadline = self.deadline_of(place, &self.numbers.callers[caller.at()].policy).max(self.now);
        let pool = &mut self.breakers.pools[self.breakers.pool_of[caller.at()]];
        pool.waiting.entry(breaker.scope.place(client)).or_default().push_back((place, stamp));
        if deadline < Time::NEVER {
            self.agenda.add(deadline, Event::Retry(place, stamp));
        }
        self.tell_of(place, || What::BreakerHolds);
    }

    /// What passed a breaker has ended: an attempt, or a call, whichever it stands around.
    pub(super) fn tell_breaker(&mut self, place: u32, breaker: &Breaker, around: Around, outcome: Outcome) {
        if breaker.around != around {
            return;
        }
        let extra = &mut self.extra[place];
        let (caller, client, pass) = (self.calls[place].caller, extra.client, std::mem::take(&mut extra.pass));
        let (state, draw) = self.breakers.of(breaker, caller, client, self.callers[caller.at()].clients);
        let opened = breaker.pass_time(state, self.now, &draw) | breaker.settle(state, pass, outcome, self.now, &draw);
        self.count_opening(place, opened);
        self.wake_waiting(breaker, caller, client);
    }

    /// What passed a breaker will never be heard of.
    pub(super) fn leave_breaker(&mut self, place: u32, breaker: &Breaker) {
        let extra = &mut self.extra[place];
        let (caller, client, pass) = (self.calls[place].caller, extra.client, std::mem::take(&mut extra.pass));
        let (state, _) = self.breakers.of(breaker, caller, client, self.callers[caller.at()].clients);
        Breaker::forget(state, pass);
        self.wake_waiting(breaker, caller, client);
    }

    /// Those who wait at a breaker ask again, as many as it has places for; all of them where it is open or closed.
    fn wake_waiting(&mut self, breaker: &Breaker, caller: CallerIndex, client: ClientIndex) {
        if breaker.others != Others::Wait {
            return;
        }
        let pool = &mut self.breakers.pools[self.breakers.pool_of[caller.at()]];
        let scoped = breaker.scope.place(client);
        let Some(waiting) = pool.waiting.get_mut(&scoped).filter(|waiting| !waiting.is_empty()) else { return };
        // Who waits here next finds its place in the map and its room.
        let mut waiting = std::mem::take(waiting);
        let mut places = breaker.places(&pool.states[scoped]);
        while places > 0
            && let Some((place, stamp)) = waiting.pop_front()
        {
            places -= u32::from(self.resume(place, stamp));
        }
        self.breakers.pools[self.breakers.pool_of[caller.at()]].waiting.insert(scoped, waiting);
    }

    /// A call that waited asks its breaker again; false where it has ended meanwhile. As an event of this instant, so that they come in order.
    fn resume(&mut self, place: u32, stamp: u32) -> bool {
        let (call, extra) = (&mut self.calls[place], &mut self.extra[place]);
        let waits = call.awaits(stamp) && extra.parked;
        if waits {
            extra.parked = false;
            call.stamp = call.stamp.wrapping_add(1);
            self.agenda.add(self.now, Event::Retry(place, call.stamp));
        }
        waits
    }

    /// Other numbers hold. A breaker that differs begins anew; what the old one has let through says nothing about it, and who
    /// waited at it asks again.
    pub(super) fn change_breakers(&mut self, before: &Epoch) {
        let differs = |caller: usize| before.callers[caller].policy.breaker != self.numbers.callers[caller].policy.breaker;
        let count = self.model.callers.len();
        if !(0..count).any(differs) {
            return;
        }
        let first_turn =
            self.breakers.pools.iter().flat_map(|pool| pool.states.iter().map(State::next_turn).chain([pool.first_turn])).max();
        let first_turn = first_turn.unwrap_or(1);
        let pool_of = std::mem::replace(&mut self.breakers.pool_of, pool_of(self.model, self.numbers));
        let fresh = (0..count).map(|_| Pool::new(self.now, first_turn)).collect();
        let mut old: Vec<Option<Pool>> = std::mem::replace(&mut self.breakers.pools, fresh).into_iter().map(Some).collect();
        for caller in (0..count).filter(|caller| !differs(*caller)) {
            // Where several edges now share what they had each on their own, the first keeps its state.
            let pool = &mut self.breakers.pools[self.breakers.pool_of[caller]];
            if pool.states.is_empty() {
                *pool = old[pool_of[caller]].take().unwrap_or(Pool::new(self.now, first_turn));
            }
        }
        let left: Vec<(u32, u32)> = old.into_iter().flatten().flat_map(|pool| pool.waiting.into_values().flatten()).collect();
        for (place, stamp) in left {
            self.resume(place, stamp);
        }
    }
}
