//! Does it come back, and when? From the time series alone.
//!
//! A single bin says little: with 50 calls a second, a healthy second often shows 45. So nothing is smoothed and no window is
//! chosen. X(t) is what has succeeded since the last change, less 95 % of what would have at the rate of before (scaled with
//! the planned load, where that changes). While the service is worse than that, X falls; once it is better for good, X rises.
//! Every stretch of time that starts at the lowest point of X has at least 95 %, and none that ends there has. The recovery is the
//! first time from which X falls no further than chance may: twice the square root of what was expected until the lowest point.

use crate::load::Load;
use crate::measure::identifier::ServiceIndex;
use crate::measure::time::Time;
use crate::world::model::{Epoch, Model};
use crate::world::run::Run;

/// The share of the goodput before that counts as recovered.
const RECOVERED: f64 = 0.95;

/// The column of the goodput in a timeline.
const GOODPUT: usize = 3;

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
    let Some(before) = healthy_rate(model, run, first.at) else { return Recovery::default() };
    let bins = run.timeline.bins();
    let edge = |bin: usize| Time(model.bin.0.saturating_mul(bin as u64));
    let start = last.at.0.div_ceil(model.bin.0) as usize;
    if start + 1 >= bins || run.timeline.cut {
        return Recovery::default();
    }
    let expected = |until: usize| RECOVERED * before * (planned(model, edge(until)) - planned(model, edge(start)));
    // X at each edge of a bin, from the first after the last change.
    let mut heights = vec![0.0];
    let mut succeeded = 0.0;
    for (bin, count) in run.timeline.series(GOODPUT).enumerate().skip(start) {
        succeeded += f64::from(count);
        heights.push(succeeded - expected(bin + 1));
    }
    let lowest = (0..heights.len()).min_by(|a, b| heights[*a].total_cmp(&heights[*b])).unwrap_or(0);
    let chance = |from: usize| 2.0 * (expected(start + lowest) - expected(start + from)).max(0.0).sqrt();
    let recovered_at = start + (0..lowest).find(|from| heights[*from] - heights[lowest] <= chance(*from)).unwrap_or(lowest);
    // What rises only in the last moments may be noise: a twentieth of what follows the last change, and at least three bins, must be good.
    let margin = ((bins - start) / 20).max(3);
    if recovered_at + margin <= bins {
        let time = edge(recovered_at).since(last.at).seconds();
        return Recovery { time: Some(time), stuck: Some(false) };
    }
    Recovery { time: None, stuck: Some(could_recover(model, run, last)) }
}

/// Successes per planned call before the first change; None where there is no time to tell, or nothing succeeded.
fn healthy_rate(model: &Model, run: &Run, until: Time) -> Option<f64> {
    let (from, to) = (model.warmup.0.div_ceil(model.bin.0), until.0 / model.bin.0);
    let succeeded: u64 = run.timeline.series(GOODPUT).take(to as usize).skip(from as usize).map(u64::from).sum();
    let time = |bin: u64| Time(model.bin.0.saturating_mul(bin));
    let planned = planned(model, time(to)) - planned(model, time(from.min(to)));
    (succeeded > 0 && planned > 0.0).then(|| succeeded as f64 / planned)
}

/// The calls planned until a time, where every load is open; else the time itself, as if the plan were constant.
fn planned(model: &Model, until: Time) -> f64 {
    let open = model.groups.iter().map(|group| match &group.load {
        Load::Open { profile, .. } => Some(profile.expected(until)),
        _ => None,
    });
    open.sum::<Option<f64>>().unwrap_or(until.seconds())
}

/// Whether the calls after the last change, each tried once, are less than every service on their way can do.
fn could_recover(model: &Model, run: &Run, last: &Epoch) -> bool {
    let start = last.at.0.div_ceil(model.bin.0) as usize;
    let bins = run.timeline.bins() - start;
    let measured = run.timeline.series(0).skip(start).map(f64::from).sum::<f64>() / (bins as f64 * model.bin.seconds());
    let rates = model.groups.iter().map(|group| match &group.load {
        Load::Open { profile, .. } => profile.rate(last.at.max(run.ended)),
        // Loads that answer back have no plan; what they asked is shared out by head.
        _ => measured * f64::from(group.count) / model.groups.iter().map(|group| f64::from(group.count)).sum::<f64>(),
    });
    let mut demand = vec![0.0; model.services.len()];
    for (group, rate) in model.groups.iter().zip(rates) {
        visit(model, model.callers[group.caller.at()].to, rate, &mut demand);
    }
    demand.iter().zip(&last.services).all(|(demand, service)| *demand == 0.0 || (*demand < service.capacity() && service.down.is_none()))
}

fn visit(model: &Model, service: ServiceIndex, rate: f64, demand: &mut [f64]) {
    demand[service.at()] += rate;
    for caller in &model.services[service.at()].calls {
        visit(model, model.callers[caller.at()].to, rate, demand);
    }
}
