//! Faults that start when something is so, as an alarm and what follows from it: a signal is looked at at each end of a bin of its
//! own, and where it has been above or below its limit for long enough, other numbers hold for a while.
//!
//! This is the only thing in the loop that reads what was counted, and it reads what a monitor could: levels of services, and what
//! the clients sent and got since the last look.

use super::World;
use super::agenda::Event;
use super::model::Epoch;
use super::run::{COUNTS, Change};
use super::trace::Listener;
use crate::load::Load;
use crate::measure::identifier::{GroupIndex, ServiceIndex};
use crate::measure::time::{Duration, Time};

/// The faults of a model that start by a condition, and the numbers while some of them last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditional {
    /// The faults, in the order of the scenario.
    pub faults: Vec<ConditionalFault>,
    /// The numbers while some of them last. A combination has bit i set where fault i lasts; that of combination c, from 1, and the
    /// e-th timed epoch stands at (c - 1) * epochs + e.
    pub combined: Vec<Epoch>,
    /// The load factor of each group, for combination c, from 0, and the e-th timed epoch at c * epochs + e. Empty where no
    /// conditional fault sets one. A group whose factor no conditional fault sets has 1 here: its profile has the timed ones.
    pub load_factors: Vec<Vec<f64>>,
}

/// A fault that starts by a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionalFault {
    /// What it sets, as in the scenario: `service.api.workers = 20`.
    pub label: String,
    /// What must be so for it to start.
    pub when: Condition,
    /// What ends it before its time; None where nothing does.
    pub until: Option<Condition>,
    /// From when on the condition is looked at.
    pub from: Time,
    /// How often; above zero.
    pub check: Duration,
    /// How long the condition must have held.
    pub sustained: Duration,
    /// How long after that the numbers change.
    pub after: Duration,
    /// How long they then differ; None for good.
    pub length: Option<Duration>,
    /// Whether it happens only once.
    pub once: bool,
}

/// A comparison of a signal with a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// What is looked at.
    pub signal: Signal,
    /// How it must compare.
    pub comparison: Comparison,
    /// With what: attempts, workers, a share, or a number a second.
    pub limit: f64,
}

/// What a condition can look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Attempts that wait at a service.
    Queue(ServiceIndex),
    /// Workers of a service that are held.
    Busy(ServiceIndex),
    /// The share of a service's workers that are held; 1 where it has none.
    Utilisation(ServiceIndex),
    /// Calls of all clients that succeeded a second, since the last look.
    Goodput,
    /// Attempts of all clients a second, since the last look.
    Attempts,
    /// Of the calls that ended since the last look, the share that succeeded; no condition on it holds where none ended.
    SuccessRate,
}

/// How a signal compares with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Greater.
    Above,
    /// Greater or equal.
    AtLeast,
    /// Less.
    Below,
    /// Less or equal.
    AtMost,
}

impl Condition {
    /// Whether it holds for this value of the signal.
    pub fn holds(&self, value: Option<f64>) -> bool {
        value.is_some_and(|value| match self.comparison {
            Comparison::Above => value > self.limit,
            Comparison::AtLeast => value >= self.limit,
            Comparison::Below => value < self.limit,
            Comparison::AtMost => value <= self.limit,
        })
    }
}

/// Where a conditional fault stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    phase: Phase,
    /// The first of the looks at which the condition has held without a break.
    held_since: Option<Time>,
    /// Grows when the fault ends: an end of another round is stale.
    round: u32,
    /// When it was looked at last, and what the clients had counted by then; None before the first look.
    last: Option<(Time, [u64; COUNTS.len()])>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Watching,
    /// The condition has held for long enough, the numbers are to change.
    Ordered,
    Lasting,
    Over,
}

/// What an [`Event::Condition`] is: a look, a start, or from here on the end of a round.
const LOOK: u32 = 0;
const START: u32 = 1;
const END: u32 = 2;

impl<L: Listener> World<'_, L> {
    /// The first look at each condition.
    pub(super) fn start_watches(&mut self) {
        for (index, fault) in (0..).zip(&self.model.conditional.faults) {
            self.watches.push(Watch::default());
            self.agenda.add(fault.from, Event::Condition(index, LOOK));
        }
    }

    /// A look at a condition, or the start or end of its fault.
    pub(super) fn meet_condition(&mut self, index: u32, what: u32) {
        match what {
            LOOK => self.look(index),
            START => self.start_conditional(index),
            _ => {
                let watch = &self.watches[index as usize];
                if watch.phase == Phase::Lasting && END.wrapping_add(watch.round) == what {
                    self.end_conditional(index);
                }
            }
        }
    }

    fn look(&mut self, index: u32) {
        let fault = &self.model.conditional.faults[index as usize];
        let (when, until) = (self.holds(index, &fault.when), fault.until.is_some_and(|until| self.holds(index, &until)));
        let (now, counted) = (self.now, self.probe.counted());
        let watch = &mut self.watches[index as usize];
        // The first look only begins the first bin.
        let is_first = watch.last.replace((now, counted)).is_none();
        self.agenda.add(now + fault.check, Event::Condition(index, LOOK));
        match watch.phase {
            Phase::Watching if when && !is_first => {
                let since = *watch.held_since.get_or_insert(now);
                if now.since(since) >= fault.sustained {
                    watch.phase = Phase::Ordered;
                    watch.held_since = None;
                    if fault.after > Duration::ZERO {
                        self.agenda.add(now + fault.after, Event::Condition(index, START));
                    } else {
                        self.start_conditional(index);
                    }
                }
            }
            Phase::Watching => watch.held_since = None,
            Phase::Lasting if until => self.end_conditional(index),
            Phase::Ordered | Phase::Lasting | Phase::Over => {}
        }
    }

    fn start_conditional(&mut self, index: u32) {
        let watch = &mut self.watches[index as usize];
        watch.phase = Phase::Lasting;
        let end = Event::Condition(index, END.wrapping_add(watch.round));
        if let Some(length) = self.model.conditional.faults[index as usize].length {
            self.agenda.add(self.now + length, end);
        }
        self.change(self.epoch, self.lasting | 1 << index);
    }

    fn end_conditional(&mut self, index: u32) {
        let watch = &mut self.watches[index as usize];
        // A thousand million rounds later an old end is long past.
        watch.round = (watch.round + 1) % (1 << 30);
        watch.phase = if self.model.conditional.faults[index as usize].once { Phase::Over } else { Phase::Watching };
        self.change(self.epoch, self.lasting & !(1 << index));
    }

    fn holds(&self, index: u32, condition: &Condition) -> bool {
        let since = self.watches[index as usize].last;
        let counted = self.probe.counted();
        let since_last = |column: usize| since.map_or(0, |(_, before)| counted[column] - before[column]) as f64;
        let rate = |column: usize| since.map(|(at, _)| since_last(column) / self.now.since(at).seconds());
        let (succeeded, failed) = (since_last(3), since_last(4));
        condition.holds(match condition.signal {
            Signal::Queue(service) => Some(self.model.stations(service).map(|place| self.services[place].queue.len() as f64).sum()),
            Signal::Busy(service) => Some(self.busy_of(service)),
            Signal::Utilisation(service) => {
                let workers = self.model.stations(service).map(|place| {
                    self.services[place].scaled.map(|scaled| scaled.workers).or(self.numbers.services[place].workers).map(f64::from)
                });
                let workers = workers.sum::<Option<f64>>();
                workers.map(|workers| if workers == 0.0 { 1.0 } else { self.busy_of(service) / workers })
            }
            Signal::Goodput => rate(3),
            Signal::Attempts => rate(1),
            Signal::SuccessRate => (succeeded + failed > 0.0).then(|| succeeded / (succeeded + failed)),
        })
    }

    /// Workers held, of all replicas.
    fn busy_of(&self, service: ServiceIndex) -> f64 {
        self.model.stations(service).map(|place| f64::from(self.services[place].busy)).sum()
    }

    /// From now on the numbers of another epoch, or of another combination of conditional faults, hold.
    pub(super) fn change(&mut self, epoch: u32, lasting: u32) {
        (self.epoch, self.lasting) = (epoch, lasting);
        self.changes.push(Change { at: self.now, epoch, lasting });
        self.renumber();
        self.scale_loads();
    }

    /// The load factors that hold now: the next call of each group comes earlier or later.
    pub(super) fn scale_loads(&mut self) {
        if self.model.conditional.load_factors.is_empty() {
            return;
        }
        for (index, group) in self.model.groups.iter().enumerate() {
            let Load::Open { profile, .. } = &group.load else { continue };
            let before = self.arrivals[index].next();
            let factor = self.model.load_factor(self.epoch, self.lasting, index);
            self.arrivals[index].scale(profile, self.now, factor);
            let next = self.arrivals[index].next();
            if next != before {
                self.loads = self.loads + usize::from(next.is_some()) - usize::from(before.is_some());
                next.into_iter().for_each(|next| self.agenda.add(next, Event::Arrive(GroupIndex(index as u16))));
            }
        }
    }
}
