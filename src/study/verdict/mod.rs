//! What became of a run: stable, recovered, stuck, collapsed, or the horizon is too short to tell. docs/METHOD.md says how each is
//! told from the time series, and how often that is wrong.

mod backlog;
mod recovery;
mod series;

use backlog::Trend;
use series::Bins;

use crate::measure::time::Time;
use crate::world::model::Model;
use crate::world::run::{Change, Run};

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It never left its normal state, or there was nothing to make it.
    Stable,
    /// It left its normal state, and came back for good.
    Recovered,
    /// It never came back, though the trigger is gone and it could.
    Stuck,
    /// It is in trouble at the end, and that is not the aftermath of a trigger that is gone.
    Collapsed,
    /// The run ends too early to tell.
    Undecided,
}

/// A verdict, and the two numbers that go with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// What became of the run.
    pub verdict: Verdict,
    /// Seconds from the last change until it was back for good; None where it never was, or where nothing had changed.
    pub recovery_time: Option<f64>,
    /// Whether it never came back though it could; None where nothing had changed, or the end came before.
    pub stuck: Option<bool>,
}

impl Judgement {
    fn of(verdict: Verdict) -> Judgement {
        Judgement { verdict, recovery_time: None, stuck: Some(verdict == Verdict::Stuck) }
    }

    /// Nothing had changed, or it cannot be said what was normal: there is nothing to recover from.
    fn without_recovery(verdict: Verdict) -> Judgement {
        Judgement { stuck: None, ..Judgement::of(verdict) }
    }
}

/// What became of a run.
pub fn judge(model: &Model, run: &Run) -> Judgement {
    let bins = Bins::of(model, run);
    let Some((first, last)) = changes(model, run) else {
        return Judgement::without_recovery(untriggered(model, &bins));
    };
    let start = last.at.0.div_ceil(model.bin.0) as usize;
    if start + 1 >= bins.count || bins.cut {
        return Judgement::without_recovery(Verdict::Undecided);
    }
    let trigger = ((first.0 / model.bin.0) as usize).min(bins.count);
    let warm = (model.warmup.0.div_ceil(model.bin.0) as usize).min(bins.count);
    let after = After { model, run, bins: &bins, last, start, trigger };
    match bins.healthy(warm..trigger) {
        Some(healthy) => after.judge(healthy),
        // Nothing shows what is normal before the first change: the best of the whole run does, or all calls.
        None => Judgement::without_recovery(after.judge(bins.best(0..bins.count).unwrap_or(1.0)).verdict),
    }
}

/// When the numbers changed first, and their last change: of the timed faults also what lies beyond the end, of the conditional ones
/// what happened. None where nothing changes.
fn changes(model: &Model, run: &Run) -> Option<(Time, Change)> {
    let timed = || (0..).zip(&model.epochs).skip(1).map(|(epoch, numbers)| Change { at: numbers.at, epoch, lasting: 0 });
    let first = timed().next().into_iter().chain(run.changes.first().copied()).map(|change| change.at).min()?;
    // What the run did last has the conditional faults in it; of two at the same time it is the one that counts.
    let last = timed().last().into_iter().chain(run.changes.last().copied()).max_by_key(|change| change.at)?;
    Some((first, last))
}

/// A run without any change is stable unless it is in trouble at its end. One without a horizon ends when all is done.
fn untriggered(model: &Model, bins: &Bins) -> Verdict {
    if model.horizon.is_none() {
        Verdict::Stable
    } else if bins.count < backlog::LEAST || bins.cut {
        Verdict::Undecided
    } else if !collapses(bins, bins.count) {
        Verdict::Stable
    } else if backlog::of_queues(bins, backlog::later_half(0..bins.count)) == Trend::Falls {
        Verdict::Undecided
    } else {
        Verdict::Collapsed
    }
}

/// Whether a run is in trouble by the end of its first bins, and has been since some time in them: goodput falls short of the best
/// there was, to the end and beyond chance, or nothing succeeded at all, or the queues grow without end.
fn collapses(bins: &Bins, end: usize) -> bool {
    if end < backlog::LEAST {
        return false;
    }
    let falls = |best: f64| {
        let course = bins.course(0..end, best);
        let (fall, least) = (course.last_fall(), course.believable());
        fall.low + least > end && fall.low - fall.top >= least && fall.depth > course.chance(3.0, fall.top, fall.low)
    };
    let nothing = bins.healthy(0..end).is_none() && bins.ended[..end].iter().any(|ended| *ended > 0.0);
    nothing || bins.best(0..end).is_some_and(falls) || backlog::of_queues(bins, backlog::later_half(0..end)) == Trend::Rises
}

/// A run from its last change on.
struct After<'a> {
    model: &'a Model,
    run: &'a Run,
    bins: &'a Bins,
    last: Change,
    /// The first bin that lies wholly after the last change.
    start: usize,
    /// The bin in which the first change was.
    trigger: usize,
}

impl After<'_> {
    /// `healthy` is the share of calls that succeeds normally; of a closed load, the goodput.
    fn judge(&self, healthy: f64) -> Judgement {
        let collapsed_before = collapses(self.bins, self.trigger);
        let best = || self.bins.best(0..self.trigger).unwrap_or(healthy);
        let recovered = recovery::recovered_after(self.bins, self.start, if collapsed_before { best() } else { healthy });
        if let Some(bin) = recovered {
            let at = Time(self.model.bin.0.saturating_mul((self.start + bin) as u64));
            let verdict = if !collapsed_before && self.never_left(healthy) { Verdict::Stable } else { Verdict::Recovered };
            return Judgement { recovery_time: Some(at.since(self.last.at).seconds()), ..Judgement::of(verdict) };
        }
        Judgement::of(if collapsed_before || !recovery::could_recover(self.model, self.run, &self.last, self.start) {
            Verdict::Collapsed
        } else if self.is_under_way(healthy) {
            Verdict::Undecided
        } else {
            Verdict::Stuck
        })
    }

    /// Whether nothing that followed the first change was worse than chance may be.
    fn never_left(&self, healthy: f64) -> bool {
        let course = self.bins.course(self.trigger..self.bins.count, healthy);
        let fall = course.deepest_fall();
        fall.depth <= course.chance(3.0, fall.top, fall.low)
    }

    /// Whether it may be coming back: there is less to do from moment to moment, or the last moments were good, or there were too few.
    fn is_under_way(&self, healthy: f64) -> bool {
        let stretch = backlog::later_half(self.start..self.bins.count);
        stretch.len() < backlog::LEAST
            || backlog::of_queues(self.bins, stretch.clone()) == Trend::Falls
            || backlog::of_open_calls(self.bins, stretch) == Trend::Falls
            || self.has_just_turned(healthy)
    }

    /// Whether the bins after the lowest point are normal, and better than those before by more than chance.
    fn has_just_turned(&self, healthy: f64) -> bool {
        let course = self.bins.course(self.start..self.bins.count, healthy);
        let lowest = self.start + course.lowest(0);
        let share = self.bins.healthy(self.start..lowest).unwrap_or(0.0);
        let sum = |series: &[f64]| series[lowest..].iter().sum::<f64>();
        let usual = share * sum(if self.bins.closed { &self.bins.asked } else { &self.bins.ended });
        lowest < self.bins.count && sum(&self.bins.succeeded) > usual + 3.0 * usual.max(1.0).sqrt()
    }
}
