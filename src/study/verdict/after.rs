//! A run from its last change on, or from one change to the next fault.

use std::ops::Range;

use super::backlog::{self, Trend};
use super::demand::{self, Demand};
use super::series::{Bins, NORMAL, edge};
use super::{Judgement, Verdict, collapses, recovery, reference};
use crate::measure::time::Time;
use crate::world::model::{Epoch, Model};
use crate::world::run::Change;

/// A run from a change on to an end.
pub struct After<'a> {
    model: &'a Model,
    bins: &'a Bins,
    last: Change,
    numbers: &'a Epoch,
    /// The bins that lie wholly after the change.
    after: Range<usize>,
    /// The bin in which the first change was.
    trigger: usize,
    /// The share of calls that succeeded before the first change; of a closed load, the goodput. None where nothing shows it.
    before: Option<f64>,
}

impl<'a> After<'a> {
    /// From the change `last` to the end of so many bins.
    pub fn new(model: &'a Model, bins: &'a Bins, first: Time, last: Change, end: usize) -> After<'a> {
        let end = end.min(bins.count);
        let start = (last.at.0.div_ceil(model.bin.0) as usize).min(end);
        let trigger = ((first.0 / model.bin.0) as usize).min(bins.count);
        let warm = (model.warmup.0.div_ceil(model.bin.0) as usize).min(bins.count);
        let numbers = model.numbers(last.epoch, last.lasting);
        After { model, bins, last, numbers, after: start..end, trigger, before: bins.healthy(warm..trigger) }
    }

    /// Whether there is time enough to see what becomes of it.
    pub fn can_tell(&self) -> bool {
        backlog::later_half(self.after.clone()).len() >= backlog::LEAST
    }

    /// What became of it.
    pub fn judge(&self) -> Judgement {
        if self.after.len() < 2 {
            return Judgement::without_recovery(Verdict::Undecided);
        }
        match self.before {
            Some(healthy) => self.judge_by(healthy),
            // There is nothing before that it could have come back to: it has no time of recovery.
            None => Judgement { recovery_time: None, ..self.judge_by(self.reference()) },
        }
    }

    /// Whether nothing that followed the first change was worse than chance may be, to the end of the run.
    pub fn stays_normal(&self) -> bool {
        !collapses(self.bins, self.trigger) && self.before.is_some_and(|healthy| self.never_left(healthy, self.bins.count))
    }

    /// `healthy` is the share of calls that succeeds normally; of a closed load, the goodput.
    fn judge_by(&self, healthy: f64) -> Judgement {
        let collapsed_before = collapses(self.bins, self.trigger);
        let best = || self.bins.best(0..self.trigger).unwrap_or(healthy);
        let normal = if collapsed_before { best() } else { healthy };
        let could_recover = recovery::could_recover(self.model, self.bins, &self.last, self.after.clone());
        // Where more is asked than can be done, or less succeeds to the very end, a few good moments at the end are no recovery.
        let needs_no_proof = could_recover && (!self.falls_to_the_end(normal) || self.never_left(healthy, self.after.end));
        let is_believed = |bin: &usize| needs_no_proof || self.is_better_from(self.after.start + bin);
        if let Some(bin) = recovery::recovered_after(self.bins, self.after.clone(), normal).filter(is_believed) {
            if let Some(verdict) = self.piles_up(bin) {
                return Judgement::of(verdict);
            }
            let at = edge(self.model, self.after.start + bin);
            let stable = !collapsed_before && self.never_left(healthy, self.after.end);
            let verdict = if stable { Verdict::Stable } else { Verdict::Recovered };
            return Judgement { recovery_time: Some(at.since(self.last.at).seconds()), ..Judgement::of(verdict) };
        }
        Judgement::of(if collapsed_before || !could_recover {
            Verdict::Collapsed
        } else if self.is_under_way(healthy) || self.is_to_start_again() {
            Verdict::Undecided
        } else {
            Verdict::Stuck
        })
    }

    /// Goodput is back, but more is asked than can be done, and what cannot piles up: as in a run without any change.
    fn piles_up(&self, recovered: usize) -> Option<Verdict> {
        let since = self.after.start + recovered..self.after.end;
        let later = backlog::later_half(since.clone());
        if later.len() < backlog::LEAST || !self.demands(later.clone()).iter().flatten().any(|demand| demand.piles_up()) {
            return None;
        }
        let rises = |stretch: Range<usize>| backlog::of_queues(self.bins, stretch) == Trend::Rises;
        Some(if rises(later) || rises(since) { Verdict::Collapsed } else { Verdict::Undecided })
    }

    fn demands(&self, stretch: Range<usize>) -> Vec<Option<Demand>> {
        demand::demands(self.model, self.bins, self.numbers, stretch)
    }

    /// What is normal where nothing before the first change shows it. The best of the run does, where it is what the model says of
    /// calls that do not wait. Where it is less, either these calls fail for another reason, or it never came out of its storm:
    /// then somebody waits all the time, or more is asked than can be done.
    fn reference(&self) -> f64 {
        let best = self.bins.best(0..self.after.end);
        let share = if self.bins.closed { None } else { reference::normal_share(self.model, self.numbers, self.last.at) };
        match (best, share) {
            (Some(best), Some(share)) if best < NORMAL * share && self.is_in_storm() => share,
            (Some(best), _) => best,
            (None, share) => share.unwrap_or(1.0),
        }
    }

    fn is_in_storm(&self) -> bool {
        let later = backlog::later_half(self.after.clone());
        let demands = self.demands(later.clone());
        let is_beyond = demands.iter().flatten().any(|demand| demand.is_beyond());
        is_beyond || !later.is_empty() && self.bins.queued[later].iter().all(|waiting| *waiting > 0.0)
    }

    /// Whether nothing that followed the first change, until the end of so many bins, was worse than chance may be.
    fn never_left(&self, healthy: f64, end: usize) -> bool {
        let course = self.bins.course(self.trigger..end, healthy);
        let fall = course.deepest_fall();
        fall.depth <= course.chance(3.0, fall.top, fall.low)
    }

    /// Whether a process has died, once, and not yet started again: what comes of its start nobody can tell.
    fn is_to_start_again(&self) -> bool {
        self.bins.down[..self.after.end].last().is_some_and(|down| *down > 0.0) && self.bins.deaths(self.after.clone()) <= 1
    }

    /// Whether nothing says that the worst is over: the lowest point is the end, or as good as that.
    fn falls_to_the_end(&self, normal: f64) -> bool {
        let course = self.bins.course(self.after.clone(), normal);
        course.lowest(0) + course.believable() > self.after.len()
    }

    /// Whether it may be coming back: there is less to do from moment to moment, or there must be, or the last moments were good, or
    /// there were too few.
    fn is_under_way(&self, healthy: f64) -> bool {
        let stretch = backlog::later_half(self.after.clone());
        stretch.len() < backlog::LEAST
            || backlog::of_queues(self.bins, stretch.clone()) == Trend::Falls
            || backlog::of_open_calls(self.bins, stretch.clone()) == Trend::Falls
            || demand::drains(self.bins, &self.demands(stretch.clone()), stretch)
            || self.has_just_turned(healthy)
    }

    /// Whether the bins after the lowest point are normal, and better than those before by more than chance.
    fn has_just_turned(&self, healthy: f64) -> bool {
        let course = self.bins.course(self.after.clone(), healthy);
        self.is_better_from(self.after.start + course.lowest(0))
    }

    /// Whether the bins from one on succeed more often than those before, by more than three standard errors.
    fn is_better_from(&self, turn: usize) -> bool {
        let share = self.bins.healthy(self.after.start..turn).unwrap_or(0.0);
        let sum = |series: &[f64]| series[turn..self.after.end].iter().sum::<f64>();
        let usual = share * sum(if self.bins.closed { &self.bins.asked } else { &self.bins.ended });
        turn < self.after.end && sum(&self.bins.succeeded) > usual + 3.0 * usual.max(1.0).sqrt()
    }
}
