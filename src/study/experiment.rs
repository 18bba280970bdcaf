//! Runs every cell and replication on all cores. The work is handed out in order, one run at a time, so that no thread waits for
//! a long cell and no more results are kept than there are threads; what comes of it does not depend on who ran what.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::fold::{CellResult, Digest, Folder};
use super::metrics::{Metric, metrics};
use crate::measure::random::Seed;
use crate::world::model::Model;

/// When there have been enough replications.
#[derive(Clone, Debug, PartialEq)]
pub struct Precision {
    /// The metric that must be precise.
    pub metric: String,
    /// Half the width of its 95 % interval.
    pub half_width: HalfWidth,
    /// But no more replications than this.
    pub max_replications: u32,
}

/// How precise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HalfWidth {
    /// In the metric's own unit.
    Absolute(f64),
    /// As a part of its value.
    Relative(f64),
}

/// What to run.
#[derive(Debug)]
pub struct Plan {
    /// The model of each cell.
    pub models: Vec<Model>,
    /// The series to keep of each cell.
    pub series: Vec<Vec<String>>,
    /// The scenario's seed.
    pub seed: u64,
    /// The numbers of the replications.
    pub replications: Range<u32>,
    /// Whether to go on until a metric is precise.
    pub precision: Option<Precision>,
}

/// What came of it.
#[derive(Debug)]
pub struct Study {
    /// The metrics, in the order of the values.
    pub metrics: Vec<Metric>,
    /// The results of each cell, in order.
    pub cells: Vec<CellResult>,
    /// Whether it was broken off; what was finished is there.
    pub interrupted: bool,
}

/// How the outside follows a study, and can break it off.
#[derive(Debug, Default)]
pub struct Watch {
    /// Runs finished so far.
    pub finished: AtomicUsize,
    /// Runs planned so far; grows where precision asks for more.
    pub planned: AtomicUsize,
    /// Set from outside to break off after the runs under way.
    pub stop: AtomicBool,
}

/// Runs a plan on the threads of the present pool.
pub fn run(plan: &Plan, watch: &Watch) -> Study {
    let services: Vec<String> =
        plan.models.first().map_or(Vec::new(), |model| model.services.iter().map(|service| service.name.clone()).collect());
    let metrics = metrics(&services);
    let folders: Vec<Mutex<Folder>> = plan.series.iter().map(|series| Mutex::new(Folder::new(plan.replications.start, series))).collect();
    let mut rounds: Vec<Range<u32>> = vec![plan.replications.clone(); plan.models.len()];
    while rounds.iter().any(|round| !round.is_empty()) && !watch.stop.load(Ordering::Relaxed) {
        run_round(plan, &rounds, &folders, watch);
        for (round, folder) in rounds.iter_mut().zip(&folders) {
            *round = next_round(plan, &metrics, round, lock(folder).so_far());
        }
    }
    let cells = folders.into_iter().map(|folder| folder.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).result()).collect();
    Study { metrics, cells, interrupted: watch.stop.load(Ordering::Relaxed) }
}

/// Runs the replications of each cell's round.
fn run_round(plan: &Plan, rounds: &[Range<u32>], folders: &[Mutex<Folder>], watch: &Watch) {
    // The first job of each cell, among all jobs in order.
    let starts: Vec<usize> = rounds
        .iter()
        .scan(0, |sum, round| {
            let start = *sum;
            *sum += round.len();
            Some(start)
        })
        .collect();
    let jobs = rounds.iter().map(ExactSizeIterator::len).sum();
    watch.planned.fetch_add(jobs, Ordering::Relaxed);
    let next = AtomicUsize::new(0);
    let work = || {
        while !watch.stop.load(Ordering::Relaxed) {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= jobs {
                return;
            }
            // The last cell that starts at or before the job: cells without jobs start where the next does.
            let cell = starts.partition_point(|start| *start <= job) - 1;
            let replication = rounds[cell].start + (job - starts[cell]) as u32;
            let model = &plan.models[cell];
            let run = crate::world::run(model, Seed { seed: plan.seed, replication });
            let digest = Digest::of(model, run, &plan.series[cell]);
            lock(&folders[cell]).take(digest);
            watch.finished.fetch_add(1, Ordering::Relaxed);
        }
    };
    rayon::scope(|scope| (0..rayon::current_num_threads()).for_each(|_| scope.spawn(|_| work())));
}

/// The replications that a cell still needs: half as many again as it has, until it is precise or has the most.
fn next_round(plan: &Plan, metrics: &[Metric], done: &Range<u32>, result: &CellResult) -> Range<u32> {
    let none = done.end..done.end;
    let Some(precision) = &plan.precision else { return none };
    if done.is_empty() || is_precise(precision, metrics, result) {
        return none;
    }
    let count = done.end - plan.replications.start;
    let target = (count + count.div_ceil(2)).max(count + 2).min(precision.max_replications);
    done.end..plan.replications.start + target.max(count)
}

fn is_precise(precision: &Precision, metrics: &[Metric], result: &CellResult) -> bool {
    let value = metrics.iter().position(|metric| metric.name == precision.metric).and_then(|index| result.value(index, &metrics[index]));
    let Some((value, (low, high))) = value.and_then(|value| Some((value.value, value.interval?))) else { return false };
    let most = match precision.half_width {
        HalfWidth::Absolute(most) => most,
        HalfWidth::Relative(part) => part * value.abs(),
    };
    (high - low) / 2.0 <= most
}

fn lock(folder: &Mutex<Folder>) -> std::sync::MutexGuard<'_, Folder> {
    folder.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
