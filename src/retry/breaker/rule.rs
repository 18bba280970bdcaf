//! The rules by which breakers open, and what they remember for it.

use super::rings::{Buckets, Last};
use crate::measure::time::{Duration, Time};

/// When a breaker opens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// So many failures in a row, at least 1.
    Consecutive {
        /// How many.
        failures: u32,
    },
    /// The share of failures of the last calls (resilience4j's count-based window, cockatiel's CountBreaker).
    CountWindow {
        /// How many calls, at least 1.
        size: u32,
        /// Which share.
        limit: Limit,
        /// When it is judged.
        judged: Judged,
    },
    /// The share of failures of a stretch of time, in buckets (Polly, Hystrix, opossum, Linkerd, resilience4j's time-based window).
    TimeWindow {
        /// Its length, at least a nanosecond a bucket.
        window: Duration,
        /// How many buckets it is made of, at least 1; the present one counts.
        buckets: u32,
        /// Which share.
        limit: Limit,
        /// When it is judged.
        judged: Judged,
    },
    /// The average success, weighted by age: w = exp(−gap / window), average ← result · (1 − w) + average · w, the first result as it is.
    /// Judged at failures, once the window has passed since it began or closed. Finagle's `successRateWithinDuration`, with its
    /// `consecutiveFailures` beside it.
    Average {
        /// The mean lifetime of a result, above zero.
        window: Duration,
        /// Opens where the average is below, 0 to 1.
        success_rate: f64,
        /// How many calls there must have been within the window, in fifths of it.
        min_calls: u32,
        /// Opens after so many failures in a row, too.
        consecutive: Option<u32>,
    },
    /// The share of failures of everything so far, whether it was open in between or not.
    Cumulative {
        /// Which share. Judged at failures.
        limit: Limit,
        /// What the failed attempts are a share of.
        of: Of,
        /// What is not let through.
        blocks: Blocks,
    },
}

/// A share of failures that is too much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The share, above 0 to 1.
    pub rate: f64,
    /// It is too much at this share already, not only above it.
    pub at_least: bool,
    /// Fewer calls than this are never too much.
    pub min_calls: u32,
}

/// When a share is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// With each failure (Polly, opossum, cockatiel).
    Failures,
    /// With each result (resilience4j).
    Results,
    /// At the end of each bucket, over the buckets that are over (Hystrix).
    Buckets,
}

/// What failed attempts are a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// All attempts that have ended.
    Attempts,
    /// All calls whose first attempt was sent, however many attempts failed (Brooker).
    Calls,
}

/// What a cumulative breaker does not let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// Everything: it opens, and probes.
    All,
    /// Retries, as long as the share is too much. It never opens (Brooker).
    Retries,
}

/// What a rule remembers.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// Failures in a row.
    Row(u32),
    /// The last results.
    Last(Last),
    /// The last stretch of time.
    Recent {
        /// Its buckets.
        buckets: Buckets,
        /// The last bucket before whose start it was judged.
        judged: u64,
    },
    /// A weighted average.
    Average(Box<Average>),
    /// Everything: of how many, and how many failed.
    Total(u64, u64),
}

/// A weighted average of successes.
#[derive(Clone, Debug, PartialEq)]
pub struct Average {
    /// When it began.
    began: Time,
    /// Its value, and the time of the last result; None before the first.
    value: Option<(f64, Time)>,
    /// The calls of the window.
    buckets: Buckets,
    /// Failures in a row.
    row: u32,
}

/// The slices of the window in which Finagle counts its calls.
const SLICES: u32 = 5;

impl Limit {
    /// Whether so many failures of so many calls are too much. A quotient is rounded as the written share is: 3 of 30 is 10 %.
    fn is_reached(&self, calls: u64, failed: u64) -> bool {
        let share = failed as f64 / calls as f64;
        calls > 0 && calls >= u64::from(self.min_calls) && if self.at_least { share >= self.rate } else { share > self.rate }
    }
}

/// The width of a bucket, in nanoseconds rounded up: so many are never shorter than the window.
fn width(window: Duration, buckets: u32) -> Duration {
    Duration(window.0.div_ceil(u64::from(buckets)).max(1))
}

impl Rule {
    /// What it remembers before anything has happened.
    pub(super) fn record(&self, now: Time) -> Record {
        match self {
            Rule::Consecutive { .. } => Record::Row(0),
            Rule::CountWindow { .. } => Record::Last(Last::default()),
            Rule::TimeWindow { window, buckets, .. } => {
                Record::Recent { buckets: Buckets::default(), judged: now.0 / width(*window, *buckets).0 }
            }
            Rule::Average { .. } => Record::Average(Box::new(Average { began: now, value: None, buckets: Buckets::default(), row: 0 })),
            Rule::Cumulative { .. } => Record::Total(0, 0),
        }
    }

    /// Whether it begins anew when the breaker closes.
    pub(super) fn forgets(&self) -> bool {
        !matches!(self, Rule::Cumulative { .. })
    }

    /// Something that passed the closed breaker has ended: true where that opens it.
    pub(super) fn hear(&self, record: &mut Record, fails: bool, now: Time) -> bool {
        match (self, record) {
            (Rule::Consecutive { failures }, Record::Row(row)) => {
                *row = if fails { row.saturating_add(1) } else { 0 };
                *row >= *failures
            }
            (Rule::CountWindow { size, limit, judged }, Record::Last(last)) => {
                last.add(*size, fails);
                (fails || *judged == Judged::Results) && limit.is_reached(last.calls.into(), last.failed.into())
            }
            (Rule::TimeWindow { window, buckets: count, limit, judged }, Record::Recent { buckets, .. }) => {
                // Where only full buckets count, the present one is one more.
                let kept = count.saturating_add(u32::from(*judged == Judged::Buckets));
                buckets.add(width(*window, *count), kept, fails, now);
                let (calls, failed) = buckets.sums();
                let due = *judged == Judged::Results || fails && *judged == Judged::Failures;
                due && limit.is_reached(calls, failed)
            }
            (Rule::Average { window, success_rate, min_calls, consecutive }, Record::Average(average)) => {
                let value = average.add(*window, fails, now);
                let row = consecutive.is_some_and(|most| average.row >= most);
                let enough = now - average.began >= *window && average.buckets.sums().0 >= u64::from(*min_calls);
                fails && (row || enough && value < *success_rate)
            }
            (Rule::Cumulative { limit, of, blocks }, Record::Total(total, failed)) => {
                *total += u64::from(*of == Of::Attempts);
                *failed += u64::from(fails);
                fails && *blocks == Blocks::All && limit.is_reached(*total, *failed)
            }
            _ => unreachable!("a record belongs to its rule"),
        }
    }

    /// A probe has ended: what remembers everything remembers that, too.
    pub(super) fn hear_probe(&self, record: &mut Record, fails: bool) {
        if let (Rule::Cumulative { of, .. }, Record::Total(total, failed)) = (self, record) {
            *total += u64::from(*of == Of::Attempts);
            *failed += u64::from(fails);
        }
    }

    /// The first attempt of a call is let through.
    #[inline]
    pub(super) fn call_starts(&self, record: &mut Record) {
        if let (Rule::Cumulative { of: Of::Calls, .. }, Record::Total(total, _)) = (self, record) {
            *total += 1;
        }
    }

    /// Whether it does not let a retry through though it is closed.
    #[inline]
    pub(super) fn blocks_retry(&self, record: &Record) -> bool {
        match (self, record) {
            (Rule::Cumulative { limit, blocks: Blocks::Retries, .. }, Record::Total(total, failed)) => limit.is_reached(*total, *failed),
            _ => false,
        }
    }

    /// Whether it only ever blocks retries, and so never opens.
    pub fn never_opens(&self) -> bool {
        matches!(self, Rule::Cumulative { blocks: Blocks::Retries, .. })
    }

    /// The first end of a bucket until now at which it opens, where it judges at these.
    #[inline]
    pub(super) fn judge_until(&self, record: &mut Record, now: Time) -> Option<Time> {
        match (self, record) {
            (Rule::TimeWindow { window, buckets: count, limit, judged: Judged::Buckets }, Record::Recent { buckets, judged }) => {
                let width = width(*window, *count);
                let current = now.0 / width.0;
                // After as many buckets as are kept there is nothing left to judge.
                let last = current.min(judged.saturating_add(u64::from(*count) + 1));
                let first = *judged + 1;
                *judged = current;
                (first..=last).find_map(|end| {
                    buckets.slide(end);
                    let (calls, failed) = buckets.sums();
                    limit.is_reached(calls, failed).then(|| Time(end.saturating_mul(width.0)))
                })
            }
            _ => None,
        }
    }

    /// Bytes of the heap that one record takes, at most.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Rule::Consecutive { .. } | Rule::Cumulative { .. } => 0,
            Rule::CountWindow { size, .. } => u64::from(size.div_ceil(64)) * 8,
            Rule::TimeWindow { buckets, .. } => (u64::from(*buckets) + 1) * 8,
            Rule::Average { .. } => (size_of::<Average>() + SLICES as usize * 8) as u64,
        }
    }
}

impl Average {
    /// One more result; the new average. An exponential filter in continuous time (Finagle's `Ema`).
    fn add(&mut self, window: Duration, fails: bool, now: Time) -> f64 {
        self.buckets.add(width(window, SLICES), SLICES, fails, now);
        self.row = if fails { self.row.saturating_add(1) } else { 0 };
        let result = if fails { 0.0 } else { 1.0 };
        let value = match self.value {
            None => result,
            Some((value, last)) => {
                let weight = libm::exp(-((now - last).seconds() / window.seconds()));
                result * (1.0 - weight) + value * weight
            }
        };
        self.value = Some((value, now));
        value
    }
}
