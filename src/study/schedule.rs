//! The schedule of a policy: when its retries are sent if every attempt fails, whether they span an outage, and whether they fit a deadline.
//!
//! Waits whose draws are independent have exact ends and means over even draws. What depends on several draws (a backoff that remembers,
//! a sum against a limit) is decided by the extreme draws where these agree, and else counted over calls drawn at fixed addresses.

mod tally;
mod walk;

use crate::measure::random::{Draw, Purpose, Seed};
use crate::measure::statistics::wilson;
use crate::measure::time::Duration;
use crate::retry::backoff::Backoff;
use crate::retry::backoff::jitter::Jitter;
use crate::retry::hint::RetryAfter;
use crate::retry::outcome::Outcome;
use crate::retry::policy::Policy;
use tally::Tally;
use walk::Walk;

pub use walk::Step;

/// Retries that are shown of a policy without an end.
pub const USUAL_RETRIES: u32 = 20;

/// Even draws behind a mean: the middles of so many equal parts of the range of a draw.
pub const STRATA: u64 = 1 << 14;

/// Calls that are drawn where a schedule depends on several draws: so many, or fewer (but [`LEAST_CALLS`]) where that is so much work.
const MOST_CALLS: u32 = 200_000;
const LEAST_CALLS: u32 = 2_000;
const MOST_DRAWS: u64 = 20_000_000;

/// What is asked of a schedule.
#[derive(Clone, Debug)]
pub struct Question {
    /// Retries to show; None is all, or [`USUAL_RETRIES`] where there is no end.
    pub retries: Option<u32>,
    /// How every attempt ends.
    pub outcome: Outcome,
    /// The hint that comes with each failure.
    pub hint: Option<Duration>,
    /// How long an attempt takes before it fails; its timeout ends it.
    pub attempt_time: Duration,
    /// A deadline to try, beside those of the policy: a retry at or after it is not sent.
    pub deadline: Option<Duration>,
    /// The length of an outage to be spanned.
    pub cover: Option<Duration>,
}

/// The retries of a call that always fails.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Attempts in all; None is unlimited. One where the outcome is not retried or the hint says to stop.
    pub attempts: Option<u32>,
    /// A row a retry, as many as are shown.
    pub rows: Vec<Row>,
    /// Where the means and shares come from.
    pub means: Means,
    /// With what probability the last attempt starts when the outage is over.
    pub cover: Option<Chance>,
    /// How much of the schedule is sent in time; None where nothing limits it.
    pub fit: Option<Fit>,
}

/// One retry. Waits and times are as if no deadline were there.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its number, from 1.
    pub retry: u32,
    /// The wait before it.
    pub wait: Spread,
    /// When it is sent, from the start of the call.
    pub at: Spread,
    /// The share of waits that are exactly the cap; None where there is no cap.
    pub at_cap: Option<f64>,
    /// With what probability it is sent in time; None where nothing limits it.
    pub sent: Option<Chance>,
}

/// The range of a length of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The least.
    pub least: Duration,
    /// The mean, in seconds.
    pub mean: f64,
    /// The greatest.
    pub greatest: Duration,
}

/// A probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chance {
    /// 0 to 1.
    pub share: f64,
    /// Wilson's 95 % interval where it was counted over drawn calls; None where it is exact.
    pub interval: Option<(f64, f64)>,
}

/// How much of a schedule is sent in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The probability that every retry is. Zero where there is no last one.
    pub whole: Chance,
    /// The fewest retries that are.
    pub least: u32,
    /// How many are on average.
    pub mean: f64,
    /// The most; None where there is no end to how many may be.
    pub greatest: Option<u32>,
}

/// Where means and shares come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Means {
    /// Nothing is drawn.
    Exact,
    /// [`STRATA`] even draws of each wait.
    Even,
    /// So many drawn calls; the widest 95 % interval of a mean wait, as a share of the mean to either side.
    Drawn {
        /// How many calls.
        calls: u32,
        /// Half the interval, divided by the mean.
        error: f64,
        /// Whether the least and the greatest are those of the drawn calls too.
        ends: bool,
    },
}

impl Chance {
    /// A probability that is known.
    pub fn exactly(share: f64) -> Chance {
        Chance { share, interval: None }
    }

    fn counted(hits: u32, count: u32) -> Chance {
        Chance { share: f64::from(hits) / f64::from(count), interval: wilson(hits, count) }
    }
}

/// The draw that stands for the uniform number `u`, 0 or more and below 1.
pub fn draw_of(u: f64) -> Draw {
    Draw((u * 18_446_744_073_709_551_616.0) as u64)
}

/// The retries that are sent in time where the draws are these, in turn and over again.
pub fn drawn(policy: &Policy, question: &Question, us: &[f64]) -> Vec<Step> {
    let walk = Walk::new(policy, question);
    let mut steps = Vec::new();
    walk.follow(
        walk.shown,
        |retry| draw_of(us[(retry as usize - 1) % us.len()]),
        |step| {
            let in_time = !walk.is_too_late(step.at);
            steps.extend(in_time.then_some(step));
            in_time
        },
    );
    steps
}

/// The schedule of a policy.
///
/// # Errors
/// Where waits are so short that a limit is not reached within a hundred thousand retries.
pub fn schedule(policy: &Policy, question: &Question) -> Result<Schedule, String> {
    let walk = Walk::new(policy, question);
    let backoff = policy.backoff_after(question.outcome);
    let random = ends_unknown(backoff);
    let fixed = draws_nothing(policy, question, backoff);
    let mut extremes = Tally::new(&walk);
    for (odd, even) in [(0, 0), (u64::MAX, u64::MAX), (0, u64::MAX), (u64::MAX, 0)] {
        let ended = extremes.add(&walk, |retry| Draw(if retry % 2 == 1 { odd } else { even }));
        // That the shortest of drawn waits may never reach a limit is an answer; that fixed waits do not is none.
        if fixed && !ended {
            return Err(too_short());
        }
    }
    let by_calls = !fixed && (random || backoff.remembers() || !extremes.agrees(&walk));
    let mut calls = Tally::new(&walk);
    if by_calls {
        let address = Seed { seed: 1, replication: 0 }.address();
        while calls.count < MOST_CALLS && (calls.draws < MOST_DRAWS || calls.count < LEAST_CALLS) {
            let call = address.child(u64::from(calls.count));
            let ended = calls.add(&walk, |retry| call.draw(Purpose::Backoff, u64::from(retry)));
            if !ended {
                return Err(too_short());
            }
        }
    }
    let ends = if random { &calls } else { &extremes };
    let means_drawn = !fixed && (random || backoff.remembers());
    let means = match (fixed, means_drawn) {
        (true, _) => Means::Exact,
        (_, true) => Means::Drawn { calls: calls.count, error: calls.error(), ends: random },
        _ => Means::Even,
    };
    let found = Found { walk: &walk, ends, calls: by_calls.then_some(&calls), random };
    let rows = found.rows(means);
    Ok(Schedule { attempts: walk.total.map(|total| total + 1), cover: found.cover(fixed), fit: found.fit(), rows, means })
}

/// Whether the extreme draws are not those of the ends: of a distribution, and of a jitter whose short waits follow from long ones before,
/// where a cap cuts the long ones.
fn ends_unknown(backoff: &Backoff) -> bool {
    match backoff.pipeline() {
        Some(pipeline) => pipeline.jitter == Jitter::Polly && pipeline.cap < Duration::MAX,
        None => true,
    }
}

fn too_short() -> String {
    format!("after {} retries no limit is reached: the waits are too short to say more", tally::MOST_RETRIES)
}

/// Whether the whole schedule is known without a draw.
fn draws_nothing(policy: &Policy, question: &Question, backoff: &Backoff) -> bool {
    let spreads = question.hint.is_some() && matches!(policy.retry_after, RetryAfter::Spread { .. });
    !spreads && backoff.pipeline().is_some_and(|pipeline| pipeline.jitter == Jitter::None)
}

/// What the walks have found.
struct Found<'a> {
    walk: &'a Walk<'a>,
    /// The tally of the ends: of the extreme draws, or where these are unknown, of the drawn calls.
    ends: &'a Tally,
    /// The tally of the drawn calls, where any were needed.
    calls: Option<&'a Tally>,
    /// Whether the extreme draws say nothing.
    random: bool,
}

impl Found<'_> {
    fn rows(&self, means: Means) -> Vec<Row> {
        let mut at_mean = 0.0;
        let mut rows = Vec::new();
        for (place, ends) in self.ends.rows.iter().enumerate() {
            let retry = place as u32 + 1;
            let (mean, share) = match (means, self.calls) {
                (Means::Drawn { .. }, Some(calls)) => (calls.rows[place].wait.mean(), calls.rows[place].capped_share(calls.count)),
                _ => self.walk.even(retry),
            };
            at_mean += mean + self.walk.attempt_time.seconds();
            rows.push(Row {
                retry,
                wait: Spread { least: ends.wait.least, mean, greatest: ends.wait.greatest },
                at: Spread { least: ends.at.least, mean: at_mean, greatest: ends.at.greatest },
                at_cap: self.walk.cap.map(|_| share),
                sent: self.walk.has_limit().then(|| self.chance(|tally| tally.rows[place].sent)),
            });
        }
        rows
    }

    /// A count as a probability: exact where all extreme draws agree.
    fn chance(&self, hits: impl Fn(&Tally) -> u32) -> Chance {
        match (hits(self.ends), self.calls) {
            (0, _) if !self.random => Chance::exactly(0.0),
            (all, _) if !self.random && all == self.ends.count => Chance::exactly(1.0),
            (_, Some(calls)) => Chance::counted(hits(calls), calls.count),
            (some, None) => Chance::exactly(f64::from(some) / f64::from(self.ends.count)),
        }
    }

    fn cover(&self, fixed: bool) -> Option<Chance> {
        let outage = self.walk.question.cover?;
        if outage == Duration::ZERO {
            return Some(Chance::exactly(1.0));
        }
        if self.walk.total.is_none() && !self.walk.has_limit() {
            // It goes on for ever, unless no time passes at all.
            let moves = self.ends.rows.last().is_some_and(|row| row.at.greatest > Duration::ZERO);
            return Some(Chance::exactly(if moves { 1.0 } else { 0.0 }));
        }
        let covered = |tally: &Tally| tally.covered;
        // With a limit a longer wait may miss the outage's end by coming too late: the extreme draws alone say nothing.
        match self.calls {
            Some(calls) if self.walk.has_limit() && !fixed => Some(Chance::counted(calls.covered, calls.count)),
            _ => Some(self.chance(covered)),
        }
    }

    fn fit(&self) -> Option<Fit> {
        if !self.walk.has_limit() {
            return None;
        }
        let (least, greatest) = (self.ends.fewest_sent, self.ends.most_sent);
        let mean = match self.calls {
            Some(calls) if least != greatest || self.random => calls.sent_sum as f64 / f64::from(calls.count),
            _ => f64::from(least),
        };
        let whole = if self.walk.total.is_some() { self.chance(|tally| tally.whole) } else { Chance::exactly(0.0) };
        Some(Fit { whole, least, mean, greatest: (greatest < u32::MAX).then_some(greatest) })
    }
}
