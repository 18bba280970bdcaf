//! What a run found: counts and sums, no rates yet. Everything is of the measured window unless it says otherwise.

use hdrhistogram::Histogram;

use super::invariant::Violation;
use crate::measure::random::Seed;
use crate::measure::time::{Duration, Time};

/// The result of one replication.
#[derive(Clone, Debug)]
pub struct Run {
    /// Which replication it was.
    pub seed: Seed,
    /// A hash over all events: two runs with the same one did the same.
    pub fingerprint: u64,
    /// The changes of the numbers that happened, in order.
    pub changes: Vec<Change>,
    /// Events handled.
    pub events: u64,
    /// The end: the horizon, or the last settled call.
    pub ended: Time,
    /// Where time stood still, if it did: more events at one instant than any model can mean.
    pub stalled: Option<Time>,
    /// What was found to be impossible, if anything: the run is worth nothing then.
    pub violation: Option<Violation>,
    /// Counts of calls and attempts.
    pub totals: Totals,
    /// For each service.
    pub services: Vec<ServiceTotals>,
    /// Measured calls that ended, by group.
    pub ended_by_group: Vec<u64>,
    /// Latencies of the calls that succeeded.
    pub latency: Latency,
    /// How many calls needed so many attempts (by index), of those that ended.
    pub attempts_needed: Vec<u64>,
    /// The time series, of the whole run.
    pub timeline: Timeline,
}

/// A change of the numbers: a fault started or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: Time,
    /// The epoch that held from then on.
    pub epoch: u32,
    /// The conditional faults that lasted from then on, a bit each.
    pub lasting: u32,
}

/// Counts of the clients' calls that started in the measured window, and of their attempts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Calls started.
    pub calls: u64,
    /// Calls that ended with `ok`.
    pub succeeded: u64,
    /// Calls that ended otherwise.
    pub failed: u64,
    /// Calls that were still open at the end.
    pub unfinished: u64,
    /// Attempts sent.
    pub attempts: u64,
    /// Attempts sent that were not the first of their call.
    pub retries: u64,
    /// Calls that were done more than once.
    pub duplicates: u64,
    /// Retries that a budget did not grant, at every layer.
    pub budget_denied: u64,
    /// Attempts that an open breaker did not let through, at every layer.
    pub breaker_denied: u64,
    /// Attempts sent beside one that was under way.
    pub hedges: u64,
    /// State transitions of calls that have retriers: one for each attempt.
    pub state_transitions: u64,
    /// Calls whose message was received as often as it may be.
    pub dead_lettered: u64,
    /// The most attempts sent within the width of one bin.
    pub peak: u64,
    /// When the last call ended.
    pub last_settled: Time,
    /// How often a breaker opened in the measured window, at every layer.
    pub breaker_opened: u64,
    /// Time that calls of clients waited for their next attempt, in nanoseconds, by all together.
    pub backing_off: u128,
    /// Attempts that their pool had no place for, at every layer.
    pub pool_denied: u64,
}

/// Counts and sums of one service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceTotals {
    /// Attempts that reached it; for an optimistic row, writes.
    pub arrivals: u64,
    /// Attempts done with `ok`.
    pub served: u64,
    /// Attempts turned away because the queue was full.
    pub rejected: u64,
    /// Attempts that found nobody, or whose process died.
    pub refused: u64,
    /// Attempts that ended in `error` or `conflict`.
    pub errors: u64,
    /// Attempts sent to it for calls that have ended.
    pub attempts: u64,
    /// Worker time held, in nanoseconds.
    pub busy: u128,
    /// Time spent in service by all attempts together, in nanoseconds: more than `busy` where they share the workers.
    pub in_service: u128,
    /// Time spent in the queue, in nanoseconds, by all attempts together.
    pub queued: u128,
    /// The most that waited at once.
    pub queue_peak: u64,
    /// Attempts that a worker took up.
    pub started: u64,
    /// How long these had waited, in nanoseconds.
    pub waited: u128,
    /// How many of these had waited at all.
    pub delayed: u64,
    /// Service time of attempts whose work is over, in nanoseconds.
    pub worked: u128,
    /// The part of it that did nobody any good: the caller had left, the reply was lost, the work was broken off.
    pub wasted: u128,
    /// Attempts over the rate limit.
    pub throttled: u64,
    /// Attempts turned away because they had waited too long, or because their time was over or would be.
    pub shed: u64,
    /// Attempts answered from the cache in front of it.
    pub hits: u64,
    /// Time of its workers, in nanoseconds; only where there is an autoscaler.
    pub offered: u128,
    /// How often its process died of its queue.
    pub crashes: u64,
    /// How long it was down, by a fault or since it had died, in nanoseconds; of all replicas together.
    pub down: u128,
}

/// Latencies of successful calls, from the first sending, in nanoseconds. A short run keeps each, a long one a histogram of three digits.
#[derive(Clone, Debug, Default)]
pub struct Latency {
    /// Those that are in no histogram.
    few: Vec<u64>,
    many: Option<Box<Histogram<u64>>>,
    /// The exact sum.
    pub sum: u128,
    /// The greatest.
    pub greatest: Duration,
}

/// A histogram takes 200 kB, which a short run would spend most of its time to clear.
const FEW: usize = 4096;
/// A histogram is larger than the first cache: counted so many at a time its misses overlap.
const COUNTED_AT_ONCE: usize = 256;

impl Latency {
    /// One more call succeeded after this time.
    #[inline]
    pub fn add(&mut self, latency: Duration) {
        self.sum += u128::from(latency.0);
        self.greatest = self.greatest.max(latency);
        self.few.push(latency.0);
        if self.few.len() >= COUNTED_AT_ONCE {
            self.count();
        }
    }

    /// Counts those that are in no histogram yet, if there is one or must be.
    #[inline(never)]
    fn count(&mut self) {
        if self.many.is_none() && self.few.len() >= FEW {
            self.many = Some(Box::new(empty_histogram()));
        }
        if let Some(histogram) = &mut self.many {
            self.few.drain(..).for_each(|latency| record(histogram, latency));
        }
    }

    /// Adds all of them to a histogram.
    pub fn add_to(&self, histogram: &mut Histogram<u64>) {
        self.few.iter().for_each(|latency| record(histogram, *latency));
        if let Some(many) = &self.many {
            histogram.add(&**many).expect("the histogram grows by itself");
        }
    }

    /// The latency that each of these shares of the calls (ascending, 0 to 1) did not exceed; None without calls.
    pub fn quantiles<const N: usize>(&mut self, shares: [f64; N]) -> Option<[Duration; N]> {
        self.count();
        if let Some(many) = &self.many {
            // A value stands for its bucket, whose end may lie beyond the greatest.
            return Some(shares.map(|share| Duration(many.value_at_quantile(share)).min(self.greatest)));
        }
        self.few.sort_unstable();
        let last = self.few.len().checked_sub(1)?;
        let rank = |share: f64| libm::ceil(share * self.few.len() as f64).max(1.0) as usize - 1;
        Some(shares.map(|share| Duration(self.few[rank(share).min(last)])))
    }
}

/// A histogram of three digits, which grows by itself.
pub fn empty_histogram() -> Histogram<u64> {
    Histogram::new(3).expect("three digits are a valid precision")
}

#[inline]
fn record(histogram: &mut Histogram<u64>, latency: u64) {
    histogram.record(latency.max(1)).expect("the histogram grows by itself");
}

/// Counts and levels by bin. A row has [`COUNTS`] numbers of the clients, then [`SERVICE_SERIES`] of each service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Numbers in a row.
    pub width: usize,
    /// The rows, one after the other.
    pub values: Vec<u32>,
    /// True where the run had more bins than are kept.
    pub cut: bool,
}

/// The series of the clients, counted in each bin.
pub const COUNTS: [&str; 5] = ["calls", "attempts", "retries", "goodput", "failed"];

/// The series of each service, counted in each bin; `queue`, `busy` and `down` are levels at its end.
pub const SERVICE_SERIES: [&str; 8] = ["arrivals", "served", "rejected", "queue", "busy", "throttled", "shed", "down"];

/// More bins than this are not kept.
pub const MOST_BINS: usize = 1_000_000;

impl Timeline {
    /// How many bins there are.
    pub fn bins(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// One series, a number a bin.
    pub fn series(&self, column: usize) -> impl Iterator<Item = u32> + '_ {
        self.values.iter().skip(column).step_by(self.width.max(1)).copied()
    }
}
