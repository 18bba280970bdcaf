//! What the replications of one cell come to. They are folded in the order of their numbers, whichever ran first, so that the
//! last bit of every sum is the same for any number of threads.

use std::collections::BTreeMap;
use std::ops::Range;

use hdrhistogram::Histogram;

use super::metrics::{self, Metric, Summary};
use super::verdict::conditional_spells;
use crate::measure::statistics::{Estimate, Moments, wilson};
use crate::measure::time::{Duration, Time};
use crate::world::invariant::Violation;
use crate::world::model::Model;
use crate::world::run::{COUNTS, Latency, Run, SERVICE_SERIES, empty_histogram};

/// What is kept of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Replication {
    /// Its number, from 0.
    pub number: u32,
    /// A hash over all its events.
    pub fingerprint: u64,
    /// The value of each metric; None where it is undefined.
    pub values: Vec<Option<f64>>,
    /// When which fault with a condition lasted: its number among them, its start, and its end, the run's at most. By fault, then time.
    pub spells: Vec<(usize, Range<Time>)>,
}

/// A number with its 95 % interval and the standard deviation of a replication.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The number.
    pub value: f64,
    /// The ends of its interval; None where a single replication gives none.
    pub interval: Option<(f64, f64)>,
    /// The standard deviation of a replication.
    pub sd: Option<f64>,
    /// The replications in which it is defined.
    pub count: u32,
}

/// The results of one cell.
#[derive(Clone, Debug)]
pub struct CellResult {
    /// In the order of their numbers.
    pub replications: Vec<Replication>,
    /// Events of all replications.
    pub events: u64,
    /// Latencies of all successful calls of all replications, in nanoseconds.
    latency: Histogram<u64>,
    greatest: Duration,
    /// Calls by the attempts they needed, of all replications.
    pub attempts_needed: Vec<u64>,
    /// The series that were asked for, by bin.
    pub timeline: Vec<(String, Vec<Moments>)>,
    /// The first replication in which time stood still, and where.
    pub stalled: Option<(u32, Time)>,
    /// The first replication in which something impossible was found, and what.
    pub violation: Option<(u32, Violation)>,
}

/// What a run leaves behind once its details are no longer needed.
#[derive(Debug)]
pub struct Digest {
    replication: Replication,
    events: u64,
    latency: Latency,
    attempts_needed: Vec<u64>,
    series: Vec<Vec<f64>>,
    stalled: Option<Time>,
    violation: Option<Violation>,
}

impl Digest {
    /// Of a run, with the series of these names.
    pub fn of(model: &Model, mut run: Run, series: &[String]) -> Digest {
        let values = metrics::values(model, &mut run);
        let until_end = |(fault, time): (usize, Range<Time>)| (fault, time.start..time.end.min(run.ended));
        let spells = conditional_spells(model, &run).into_iter().map(until_end).collect();
        Digest {
            replication: Replication { number: run.seed.replication, fingerprint: run.fingerprint, values, spells },
            events: run.events,
            series: series.iter().map(|name| series_of(model, &run, name)).collect(),
            latency: run.latency,
            attempts_needed: run.attempts_needed,
            stalled: run.stalled,
            violation: run.violation,
        }
    }
}

/// One series of a run, a number a bin: per second, or a level.
fn series_of(model: &Model, run: &Run, name: &str) -> Vec<f64> {
    let columns = columns_of(model, name);
    let level = metrics::unit_of_series(name) != metrics::Unit::PerSecond;
    let mut values = vec![0.0; run.timeline.bins()];
    for column in columns {
        for (value, count) in values.iter_mut().zip(run.timeline.series(column)) {
            *value += f64::from(count);
        }
    }
    if !level {
        for (bin, value) in values.iter_mut().enumerate() {
            // The last bin may end before its width is full.
            let start = Time(model.bin.0.saturating_mul(bin as u64));
            let width = model.horizon.map_or(model.bin, |end| end.since(start).min(model.bin));
            *value /= width.max(Duration(1)).seconds();
        }
    }
    values
}

/// The columns of a timeline that make up a series: one, or the same one of every service.
fn columns_of(model: &Model, name: &str) -> Vec<usize> {
    if let Some(column) = COUNTS.iter().position(|known| *known == name) {
        return vec![column];
    }
    let of_service = |(index, service): (usize, &crate::world::model::ServiceShape)| {
        SERVICE_SERIES
            .iter()
            .position(|series| *series == name || name.strip_prefix(&service.name).and_then(|rest| rest.strip_prefix('.')) == Some(series))
            .map(|column| COUNTS.len() + index * SERVICE_SERIES.len() + column)
    };
    model.services.iter().enumerate().filter_map(of_service).collect()
}

/// Takes the digests of a cell as they come, and folds them in order.
#[derive(Debug)]
pub struct Folder {
    next: u32,
    waiting: BTreeMap<u32, Digest>,
    result: CellResult,
}

impl Folder {
    /// For the replications from `first` on, and the series of these names.
    pub fn new(first: u32, series: &[String]) -> Folder {
        let result = CellResult {
            replications: Vec::new(),
            events: 0,
            latency: empty_histogram(),
            greatest: Duration::ZERO,
            attempts_needed: Vec::new(),
            timeline: series.iter().map(|name| (name.clone(), Vec::new())).collect(),
            stalled: None,
            violation: None,
        };
        Folder { next: first, waiting: BTreeMap::new(), result }
    }

    /// Takes one digest; those that wait for it follow.
    pub fn take(&mut self, digest: Digest) {
        self.waiting.insert(digest.replication.number, digest);
        while let Some(digest) = self.waiting.remove(&self.next) {
            self.result.fold(digest);
            self.next += 1;
        }
    }

    /// What has been folded. Replications beyond a gap, as an interruption leaves, are not in it.
    pub fn result(self) -> CellResult {
        self.result
    }

    /// What has been folded so far.
    pub fn so_far(&self) -> &CellResult {
        &self.result
    }
}

impl CellResult {
    fn fold(&mut self, digest: Digest) {
        let seen = self.replications.len();
        self.events += digest.events;
        digest.latency.add_to(&mut self.latency);
        self.greatest = self.greatest.max(digest.latency.greatest);
        if self.attempts_needed.len() < digest.attempts_needed.len() {
            self.attempts_needed.resize(digest.attempts_needed.len(), 0);
        }
        self.attempts_needed.iter_mut().zip(&digest.attempts_needed).for_each(|(sum, count)| *sum += count);
        for ((_, moments), values) in self.timeline.iter_mut().zip(&digest.series) {
            let bins = moments.len().max(values.len());
            // Runs without a horizon end at different times: nothing happens in a run that is over.
            moments.resize(bins, Moments::zeros(seen as u32));
            moments.iter_mut().enumerate().for_each(|(bin, moments)| moments.add(values.get(bin).copied().unwrap_or(0.0)));
        }
        if self.stalled.is_none() {
            self.stalled = digest.stalled.map(|at| (digest.replication.number, at));
        }
        if self.violation.is_none() {
            self.violation = digest.violation.map(|violation| (digest.replication.number, violation));
        }
        self.replications.push(digest.replication);
    }

    /// The latency that this share of all successful calls of all replications did not exceed; None without any.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        // A value stands for its bucket, whose end may lie beyond the greatest.
        (!self.latency.is_empty()).then(|| Duration(self.latency.value_at_quantile(share)).min(self.greatest))
    }

    /// The value of the `index`-th metric over the replications; None where it is defined in none of them.
    pub fn value(&self, index: usize, metric: &Metric) -> Option<Value> {
        let defined = || self.replications.iter().filter_map(|replication| replication.values[index]);
        let estimate = Estimate::of(defined())?;
        let (value, interval) = match metric.summary {
            Summary::Mean => (estimate.mean, estimate.interval()),
            Summary::Share => {
                let hits = defined().filter(|value| *value > 0.0).count() as u32;
                (f64::from(hits) / f64::from(estimate.count), wilson(hits, estimate.count))
            }
            Summary::Percentile(hundredths) => {
                let merged = self.quantile(f64::from(hundredths) / 1e4)?.seconds();
                (merged, estimate.half_width().map(|half| (merged - half, merged + half)))
            }
        };
        Some(Value { value, interval, sd: estimate.sd, count: estimate.count })
    }

    /// The mean of the paired differences to another cell: replication by replication the same luck, so that it cancels.
    pub fn difference(&self, index: usize, baseline: &CellResult) -> Option<Estimate> {
        let pairs = self.replications.iter().zip(&baseline.replications).filter(|(own, other)| own.number == other.number);
        Estimate::of(pairs.filter_map(|(own, other)| Some(own.values[index]? - other.values[index]?)))
    }

    /// A hash over the fingerprints of all replications.
    pub fn fingerprint(&self) -> u64 {
        self.replications.iter().fold(0, |hash, replication| crate::measure::random::mix(hash ^ replication.fingerprint))
    }
}
