//! What became of a run: stable, recovered, stuck, collapsed, or the horizon is too short to tell. docs/METHOD.md says how each is
//! told from the time series, and how often that is wrong.

mod after;
mod backlog;
mod demand;
mod recovery;
mod reference;
mod repeats;
mod series;

use std::ops::Range;

use after::After;
use backlog::Trend;
use series::Bins;

pub use repeats::conditional_spells;

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
    if bins.cut {
        return Judgement::without_recovery(Verdict::Undecided);
    }
    let view = |change: Change, end: usize| After::new(model, &bins, first, change, end);
    let whole = view(last, bins.count);
    if whole.can_tell() {
        return whole.judge();
    }
    // The faults go on to the end: the last time between two of them that is long enough tells.
    let gaps = repeats::gaps(model, run);
    let views = gaps.iter().map(|gap| view(gap.change, (gap.until.0 / model.bin.0) as usize));
    if let Some(between) = views.into_iter().find(After::can_tell) {
        return between.judge();
    }
    let stays = !gaps.is_empty() && whole.stays_normal();
    let verdict = if stays { Verdict::Stable } else { whole.judge().verdict };
    Judgement::without_recovery(verdict)
}

/// When the numbers changed first, and their last change: of the timed faults also what lies beyond the end, of the conditional ones
/// what happened. None where nothing changes.
fn changes(model: &Model, run: &Run) -> Option<(Time, Change)> {
    let timed = || (0..).zip(&model.epochs).skip(1).map(|(epoch, numbers)| Change { at: numbers.at, epoch, lasting: 0 });
    let first = timed().next().into_iter().chain(run.changes.first().copied()).map(|change| change.at).min()?;
    // What is in force from the beginning is a change of what there was before.
    let from_zero = model.faults.iter().any(|fault| fault.from == Time::ZERO);
    let first = if from_zero { Time::ZERO } else { first };
    // What the run did last has the conditional faults in it; of two at the same time it is the one that counts.
    let last = timed().last().into_iter().chain(run.changes.last().copied()).max_by_key(|change| change.at)?;
    Some((first, last))
}

/// A run without any change is stable unless it is in trouble at its end. One without a horizon ends when all is done.
fn untriggered(model: &Model, bins: &Bins) -> Verdict {
    let all = 0..bins.count;
    if model.horizon.is_none() {
        return Verdict::Stable;
    } else if bins.count < backlog::LEAST || bins.cut {
        return Verdict::Undecided;
    }
    let later = backlog::later_half(all.clone());
    let demands = demand::demands(model, bins, &model.epochs[0], later.clone());
    let queues = backlog::of_queues(bins, later.clone());
    if bins.deaths(later.clone()) > 1 {
        // A process that dies again and again is in trouble, however little that changes from one life to the next.
        return Verdict::Collapsed;
    }
    if demand::all_within(&demands) && !fails_more(bins, later) {
        // Nobody fails, and less is asked than can be done: what waits, waits by chance.
        Verdict::Stable
    } else if succeeds_less(bins, bins.count) {
        if queues == Trend::Falls { Verdict::Undecided } else { Verdict::Collapsed }
    } else if queues == Trend::Rises {
        Verdict::Collapsed
    } else if demands.iter().flatten().any(|demand| demand.piles_up()) {
        // What is asked says that the queues grow; whether they are seen to is another question.
        if backlog::of_queues(bins, all) == Trend::Rises { Verdict::Collapsed } else { Verdict::Undecided }
    } else {
        Verdict::Stable
    }
}

/// Whether of the calls that ended in these bins, the later ones of a run, fewer succeeded than in its best ones.
fn fails_more(bins: &Bins, later: Range<usize>) -> bool {
    let best = bins.best(0..bins.count);
    bins.healthy(later).is_none_or(|share| best.is_some_and(|best| share < series::NORMAL * best))
}

/// Whether a run is in trouble by the end of its first bins, and has been since some time in them: less succeeds than before, or the
/// queues grow without end.
fn collapses(bins: &Bins, end: usize) -> bool {
    succeeds_less(bins, end) || end >= backlog::LEAST && backlog::of_queues(bins, backlog::later_half(0..end)) == Trend::Rises
}

/// Whether by the end of the first bins, and since some time in them, goodput falls short of the best there was, to the end and
/// beyond chance, or nothing succeeded at all.
fn succeeds_less(bins: &Bins, end: usize) -> bool {
    if end < backlog::LEAST {
        return false;
    }
    let falls = |best: f64| {
        let course = bins.course(0..end, best);
        let (fall, least) = (course.last_fall(), course.believable());
        fall.low + least > end && fall.low - fall.top >= least && fall.depth > course.chance(3.0, fall.top, fall.low)
    };
    let nothing = bins.healthy(0..end).is_none() && bins.ended[..end].iter().any(|ended| *ended > 0.0);
    nothing || bins.best(0..end).is_some_and(falls)
}
