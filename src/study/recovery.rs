//! Does it come back, and when? From the time series alone.
//!
//! A single bin says little: with 50 calls a second, a healthy second often shows 45. So nothing is smoothed and no window is
//! chosen. X(t) is what has succeeded since the last change, less 95 % of what would have, if of the calls that started since as
//! many succeeded as before the first change. While the service is worse than that, X falls; once it is better for good, X rises.
//! Every stretch of time that starts at the lowest point of X has at least 95 %, and none that ends there has. The recovery is the
//! first time from which X falls no further than chance may: twice the square root of what was expected until the lowest point.
//!
//! A closed load asks less while it is in trouble, so its calls are no measure: there, goodput is compared with goodput before.

use crate::load::Load;
use crate::measure::time::Time;
use crate::world::model::{Epoch, Model};
use crate::world::run::{COUNTS, Run};

/// The share of the goodput before that counts as recovered.
const RECOVERED: f64 = 0.95;

/// What became of a run after its last change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Recovery {
    /// Seconds from the last change until it was back for good; None where it never was, or where nothing had changed.
    pub time: Option<f64>,
    /// Whether it never came back though it could; None where nothing had changed, or the end came before.
    pub stuck: Option<bool>,
}

/// Whether and when the run came back after its last change (the end of its last fault, or the start of one that is for good).
pub fn recovery(model: &Model, run: &Run) -> Recovery {
    let (Some(first), Some(last)) = (model.epochs.get(1), model.epochs.last()) else { return Recovery::default() };
    let bins = Bins::of(model, run);
    let start = last.at.0.div_ceil(model.bin.0) as usize;
    if start + 1 >= bins.count || run.timeline.cut {
        return Recovery::default();
    }
    let before = (model.warmup.0.div_ceil(model.bin.0) as usize).min(bins.count)..((first.at.0 / model.bin.0) as usize).min(bins.count);
    let Some(healthy) = bins.healthy(before) else { return Recovery::default() };
    // What would have succeeded by each edge of a bin, from the first after the last change, and how far X is from it.
    let (mut expected, mut heights) = (vec![0.0], vec![0.0]);
    for bin in start..bins.count {
        expected.push(expected[bin - start] + RECOVERED * healthy * bins.asked[bin]);
        heights.push(heights[bin - start] + bins.succeeded[bin] - RECOVERED * healthy * bins.asked[bin]);
    }
    let lowest = (0..heights.len()).min_by(|a, b| heights[*a].total_cmp(&heights[*b])).unwrap_or(0);
    let chance = |from: usize| 2.0 * (expected[lowest] - expected[from]).sqrt();
    let recovered = (0..lowest).find(|from| heights[*from] - heights[lowest] <= chance(*from)).unwrap_or(lowest);
    // What rises only in the last moments may be noise: a twentieth of what follows the last change, and at least three bins, must be good.
    let rest = bins.count - start;
    if recovered + (rest / 20).max(3) <= rest {
        let at = Time(model.bin.0.saturating_mul((start + recovered) as u64));
        return Recovery { time: Some(at.since(last.at).seconds()), stuck: Some(false) };
    }
    Recovery { time: None, stuck: Some(could_recover(model, run, last, start)) }
}

/// The series that recovery is judged by, a number a bin.
struct Bins {
    count: usize,
    succeeded: Vec<f64>,
    ended: Vec<f64>,
    /// Calls that started; where some load is closed, the seconds of the bin.
    asked: Vec<f64>,
    closed: bool,
}

impl Bins {
    fn of(model: &Model, run: &Run) -> Bins {
        let column = |name: &str| COUNTS.iter().position(|known| *known == name).unwrap_or_default();
        let series = |name: &str| run.timeline.series(column(name)).map(f64::from).collect::<Vec<f64>>();
        let succeeded = series("goodput");
        let ended = succeeded.iter().zip(series("failed")).map(|(succeeded, failed)| succeeded + failed).collect();
        let closed = model.groups.iter().any(|group| matches!(group.load, Load::Closed { .. }));
        // The last bin may end before its width is full.
        let edge = |bin: usize| Time(model.bin.0.saturating_mul(bin as u64)).min(run.ended);
        let seconds = || (0..succeeded.len()).map(|bin| (edge(bin + 1) - edge(bin)).seconds()).collect();
        let asked = if closed { seconds() } else { series("calls") };
        Bins { count: succeeded.len(), succeeded, ended, asked, closed }
    }

    /// What succeeded for each call that ended (for a closed load: each second) in these bins; None where nothing did.
    fn healthy(&self, bins: std::ops::Range<usize>) -> Option<f64> {
        let sum = |series: &[f64]| series.get(bins.clone()).map_or(0.0, |part| part.iter().sum::<f64>());
        let (succeeded, of) = (sum(&self.succeeded), sum(if self.closed { &self.asked } else { &self.ended }));
        (succeeded > 0.0).then(|| succeeded / of)
    }
}

/// Whether the calls after the last change, each tried once, are less than every service on their way can do.
fn could_recover(model: &Model, run: &Run, last: &Epoch, start: usize) -> bool {
    let seconds = run.ended.since(Time(model.bin.0.saturating_mul(start as u64))).seconds();
    let measured = run.timeline.series(0).skip(start).map(f64::from).sum::<f64>() / seconds;
    let clients = model.groups.iter().map(|group| f64::from(group.count)).sum::<f64>();
    let mut demand = vec![0.0; model.services.len()];
    for group in &model.groups {
        demand[model.callers[group.caller.at()].to.at()] += match &group.load {
            Load::Open { profile, .. } => profile.rate(last.at.max(run.ended)),
            // Loads without a rate: what was asked is shared out by head.
            _ => measured * f64::from(group.count) / clients,
        };
    }
    for service in model.called_first().into_iter().rev() {
        for caller in &model.services[service.at()].calls {
            demand[model.callers[caller.at()].to.at()] += demand[service.at()];
        }
    }
    let enough = |((demand, capacity), service): ((&f64, f64), &crate::service::Service)| {
        *demand == 0.0 || (*demand < capacity && service.down.is_none())
    };
    demand.iter().zip(model.capacities(last)).zip(&last.services).all(enough)
}
