//! Floor 2: the only place that schedules and counts. A run is a pure function of its model and its seed.
//!
//! ```text
//!    arrivals ──> caller.rs ──attempt──> server.rs ──> reply ──> settle.rs: again? when?
//!                     every event passes through World::step; change.rs applies the faults; probe.rs counts
//! ```

mod admission;
pub mod agenda;
mod arrivals;
mod books;
mod breakers;
mod caching;
mod caller;
mod change;
pub mod condition;
mod dying;
mod fetch;
mod flight;
mod hedging;
pub mod invariant;
mod keys;
mod mailbox;
pub mod model;
mod plain;
mod pools;
mod probe;
mod replicas;
mod retriers;
mod rows;
pub mod run;
mod scaling;
mod server;
mod settle;
mod sharing;
mod slots;
mod spending;
mod state;
pub mod trace;

#[cfg(test)]
mod tests;

use agenda::{Agenda, CROWD, Event, Packed};
use arrivals::Arrivals;
use books::Books;
use breakers::Breakers;
use condition::Watch;
use flight::{Attempt, AttemptExtra, Call, CallExtra};
use invariant::{Invariant, Violation};
use mailbox::Mailboxes;
use model::{Epoch, Model};
use pools::Pools;
use probe::Probe;
use replicas::{Front, fronts};
use run::{Change, Run};
use slots::{Extras, Slots};
use state::{CallerState, ServiceState};
use trace::{Deaf, DeafToPlain, Listener};

use crate::measure::identifier::GroupIndex;
use crate::measure::random::Seed;
use crate::measure::time::{Duration, Time};
use crate::retry::policy::Idempotent;
use crate::retry::retrier::Uses;

/// Simulates one replication.
pub fn run(model: &Model, seed: Seed) -> Run {
    if model.is_plain() {
        let mut listener = DeafToPlain;
        let mut world = World::new(model, seed, &mut listener);
        world.start();
        world.go_on();
        // Without a horizon a call that is open for ever leaves the end to the last event, also one that finds nothing to do.
        let ends_alike = model.horizon.is_some() || world.open == 0;
        let run = world.finish();
        if ends_alike {
            // A violation is told with the number of its call, which only the loop for all models keeps. Where that finds none, it is
            // the loop for plain models that is wrong, and that must not pass unheard.
            let full = run.violation.is_some().then(|| run_in_full(model, seed));
            return full.filter(|full| full.violation.is_some()).unwrap_or(run);
        }
    }
    run_in_full(model, seed)
}

/// As [`run()`], as if the model were not plain. The result is the same, but for the fingerprint.
pub fn run_in_full(model: &Model, seed: Seed) -> Run {
    run_heard(model, seed, &mut Deaf)
}

/// As [`run()`], where the agenda takes more events than this for many (see [`agenda::Agenda::new`]). The result is the same.
pub fn run_with_crowd(model: &Model, seed: Seed, crowd: usize) -> Run {
    if model.is_plain() { crowded(model, seed, crowd, &mut DeafToPlain) } else { crowded(model, seed, crowd, &mut Deaf) }
}

fn crowded<L: Listener>(model: &Model, seed: Seed, crowd: usize, listener: &mut L) -> Run {
    let mut world = World::new(model, seed, listener);
    world.agenda = Agenda::new(callers_with_timeouts(model, model.callers.len()), crowd);
    world.start();
    world.go_on();
    world.finish()
}

/// As [`run()`], telling a listener what happens. The result is the same, but for the fingerprint where the model is plain.
pub fn run_heard<L: Listener>(model: &Model, seed: Seed, listener: &mut L) -> Run {
    let mut world = World::new(model, seed, listener);
    world.start();
    world.go_on();
    world.finish()
}

/// Whatever happens at one instant, it is fewer events than this for each client, or time stands still.
const INSTANT_MOST: u64 = 100_000_000;

struct World<'a, L> {
    model: &'a Model,
    /// The numbers that hold now.
    numbers: &'a Epoch,
    /// Which they are: the epoch, and the combination of conditional faults that last.
    epoch: u32,
    lasting: u32,
    changes: Vec<Change>,
    watches: Vec<Watch>,
    seed: Seed,
    now: Time,
    agenda: Agenda,
    calls: Slots<Call>,
    attempts: Slots<Attempt>,
    /// What only some models need of them: empty where the model is plain.
    extra: Extras<CallExtra>,
    attempt_extra: Extras<AttemptExtra>,
    arrivals: Vec<Arrivals>,
    mailboxes: Mailboxes,
    /// Those with a name, and after them the further replicas.
    services: Vec<ServiceState>,
    fronts: Vec<Option<Front>>,
    callers: Vec<CallerState>,
    breakers: Breakers,
    pools: Pools,
    /// The ledgers of the callers' budgets.
    books: Books,
    probe: Probe,
    listener: &'a mut L,
    /// Client calls started so far, and those of them that have not ended.
    started: u32,
    open: u64,
    /// Of `open`, those that are measured.
    open_measured: u64,
    /// Measured calls no attempt of which was sent so far: a breaker or a budget did not let it out, or it waits.
    unsent: u64,
    /// Groups whose load is not at its end.
    loads: usize,
    /// Attempts sent to each service, for the client's call in each place: only where services call on.
    visits: Vec<u32>,
    /// How often the call in each place has used its retriers: only where a policy has some.
    retrier_uses: Vec<Uses>,
    last_settled: Time,
    /// Whether any attempts carry keys, at any time.
    keyed: bool,
    /// How long the calls of each service are expected to take, where a service turns away what cannot be done in time.
    expected: Vec<Duration>,
    fingerprint: u64,
    events: u64,
    stalled: Option<Time>,
    /// Nothing happens from then on: the horizon, or zero after a violation.
    end: Time,
    violation: Option<Violation>,
}

/// The reference storm has 1.44 calls of each client under way at its worst.
const CALLS_OF_A_CLIENT: usize = 2;
/// For no more calls than this is there room from the start: a gigabyte.
const MOST_ROOM: usize = 1 << 25;

/// Room for the calls under way of all clients together, more than a storm has: what is not used is not touched, and costs nothing.
/// A table that grows has to be copied, and stands there twice.
fn calls_at_once(model: &Model) -> usize {
    let calls: usize = model.groups.iter().map(|group| CALLS_OF_A_CLIENT * group.count as usize).sum();
    calls.min(MOST_ROOM)
}

/// How many of the first callers have a timeout at any time: each has a ring of the agenda.
fn callers_with_timeouts(model: &Model, first: usize) -> usize {
    (0..first).filter(|caller| model.all_epochs().any(|epoch| epoch.callers[*caller].policy.timeout.is_some())).count()
}

fn has_keys(numbers: &Epoch) -> bool {
    numbers.callers.iter().any(|caller| caller.policy.idempotent == Idempotent::Key)
}

impl<'a, L: Listener> World<'a, L> {
    fn new(model: &'a Model, seed: Seed, listener: &'a mut L) -> World<'a, L> {
        let address = seed.address();
        // One kind of address a child: groups 0, services 1, breakers 2.
        let (groups, services) = (address.child(0), address.child(1));
        let clients = |caller: &model::CallerShape| match caller.from {
            model::Origin::Group(group) => model.groups[group.at()].count,
            // Workers of a service are all one client of the next, those of each replica one.
            model::Origin::Service(service) => model.replica_count(service),
        };
        let layered = model.services.iter().any(|service| !service.calls.is_empty());
        World {
            model,
            numbers: &model.epochs[0],
            epoch: 0,
            lasting: 0,
            changes: Vec::new(),
            watches: Vec::new(),
            seed,
            now: Time::ZERO,
            agenda: Agenda::new(callers_with_timeouts(model, model.callers.len()), CROWD),
            calls: Slots::with_room(calls_at_once(model)),
            attempts: Slots::default(),
            extra: Extras::default(),
            attempt_extra: Extras::default(),
            arrivals: (0..).zip(&model.groups).map(|(index, group)| Arrivals::new(group, groups.child(index))).collect(),
            mailboxes: Mailboxes::new(model.groups.iter().map(|group| group.via)),
            services: (0..)
                .zip(&model.epochs[0].services)
                .map(|(index, numbers)| ServiceState::new(services.child(index), numbers))
                .collect(),
            fronts: fronts(model),
            callers: (0..).zip(&model.callers).map(|(index, caller)| CallerState::new(model, index, clients(caller))).collect(),
            breakers: Breakers::new(model, address.child(2)),
            pools: Pools::new(model),
            books: Books::new(model, model.callers.iter().map(clients).collect()),
            probe: Probe::new(
                model.epochs[0].services.len(),
                model.groups.len(),
                (model.warmup, model.horizon.unwrap_or(Time::NEVER)),
                model.bin,
            ),
            listener,
            started: 0,
            open: 0,
            open_measured: 0,
            unsent: 0,
            loads: 0,
            visits: vec![0; if layered { model.services.len() } else { 0 }],
            retrier_uses: Vec::new(),
            last_settled: Time::ZERO,
            keyed: model.all_epochs().any(has_keys),
            expected: Vec::new(),
            fingerprint: 0,
            events: 0,
            stalled: None,
            end: model.horizon.unwrap_or(Time::NEVER),
            violation: None,
        }
    }

    fn start(&mut self) {
        self.take_in();
        for (index, epoch) in (0..).zip(&self.model.epochs).skip(1) {
            self.agenda.add(epoch.at, Event::Epoch(index));
        }
        self.start_watches();
        self.start_scaling();
        for index in 0..self.model.groups.len() {
            let group = GroupIndex(index as u16);
            if let Some(at) = self.arrivals[index].next() {
                self.loads += 1;
                self.agenda.add(at, Event::Arrive(group));
            }
            for client in 0..self.model.groups[index].count {
                let Some(think) = self.arrivals[index].think(&self.model.groups[index].load, client) else { break };
                self.agenda.add(Time::ZERO + think, Event::Wake(group, client));
            }
        }
        self.scale_loads();
    }

    fn go_on(&mut self) {
        let most = INSTANT_MOST + 1000 * self.model.groups.iter().map(|group| u64::from(group.count)).sum::<u64>();
        let is_endless = self.model.horizon.is_none();
        let mut instant = 0;
        while let Some((at, event)) = self.agenda.next(self.end) {
            if at == self.now {
                instant += 1;
                if instant > most {
                    self.stalled = Some(at);
                    break;
                }
            } else {
                if at < self.now {
                    return self.violate(Invariant::TimeGoesOn, None, None);
                }
                instant = 0;
                self.now = at;
                if self.probe.bin_is_over(at) {
                    let services = &self.services;
                    self.probe.close_bins(at, |index| services[index].levels());
                }
            }
            if self.agenda.has_news() {
                self.fetch();
            }
            self.step(event);
            if is_endless && self.open == 0 && self.loads == 0 {
                break;
            }
        }
    }

    /// All that can happen.
    #[inline]
    fn step(&mut self, packed: Packed) {
        self.events += 1;
        self.fingerprint = (self.fingerprint.rotate_left(5) ^ self.now.0 ^ (packed.kind << 56)).wrapping_mul(0x517c_c1b7_2722_0a95);
        match packed.event() {
            Event::Arrive(group) => self.arrive(group),
            Event::Wake(group, client) => self.wake(group, client),
            Event::Deliver(attempt) => self.deliver(attempt),
            Event::Write(attempt) => self.write(attempt),
            Event::Finish(attempt, stamp) => self.finish_work(attempt, stamp),
            Event::Reply(attempt) => self.receive(attempt),
            Event::Timeout(call, stamp) => self.time_out(call, stamp),
            Event::Retry(call, stamp) => self.retry(call, stamp),
            Event::Epoch(index) => self.change(index, self.lasting),
            Event::Condition(fault, what) => self.meet_condition(fault, what),
            Event::Poll(group, wait) => self.fill_is_over(group, wait),
            Event::Batch(batch, stamp) => self.batch_is_over(batch, stamp),
            Event::Cached(attempt) => self.answer_from_cache(attempt),
            Event::Scale(service, arriving) => self.scale(service, arriving),
            Event::Life(service, round) => self.live_on(service, round),
        }
    }

    fn finish(mut self) -> Run {
        // A call that is open for ever leaves the end where the last event was.
        let last = if self.open > 0 { self.now } else { self.last_settled };
        let ended = self.model.horizon.filter(|_| self.stalled.is_none()).unwrap_or(last);
        self.count_what_is_left(ended);
        self.probe.totals.unfinished = self.open_measured;
        self.probe.totals.last_settled = self.last_settled;
        self.check_at_the_end();
        let services = &self.services;
        let mut timeline = self.probe.close(ended, |index| services[index].levels());
        let mut services = std::mem::take(&mut self.probe.services);
        if !self.model.replicas.is_empty() {
            self.join_replicas(&mut services, &mut timeline);
        }
        let Probe { totals, latency, attempts_needed, ended_by_group, .. } = self.probe;
        Run {
            seed: self.seed,
            fingerprint: self.fingerprint,
            changes: self.changes,
            events: self.events,
            ended,
            stalled: self.stalled,
            violation: self.violation,
            totals,
            services,
            ended_by_group,
            latency,
            attempts_needed,
            timeline,
        }
    }
}
