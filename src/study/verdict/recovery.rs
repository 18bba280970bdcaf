//! Does it come back, and when? From the time series alone.
//!
//! A single bin says little: with 50 calls a second, a healthy second often shows 45. So nothing is smoothed and no window is
//! chosen. X(t) is what has succeeded since the last change, less 95 % of what would have, if of the calls that started since as
//! many succeeded as before the first change. While the service is worse than that, X falls; once it is better for good, X rises.
//! Every stretch of time that starts at the lowest point of X has at least 95 %, and none that ends there has. The recovery is the
//! first time from which X falls no further than chance may: twice the square root of what was expected until the lowest point.
//!
//! A closed load asks less while it is in trouble, so its calls are no measure: there, goodput is compared with goodput before.

use std::ops::Range;

use super::series::{Bins, edge};
use crate::load::Load;
use crate::measure::identifier::ServiceIndex;
use crate::world::model::Model;
use crate::world::run::Change;

/// The bin after the last change, of the bins that are all after it, at whose beginning it was back for good; None where it never was.
pub fn recovered_after(bins: &Bins, after: Range<usize>, healthy: f64) -> Option<usize> {
    let course = bins.course(after.clone(), healthy);
    let lowest = course.lowest(0);
    let falls_no_further = |from: &usize| course.heights[*from] - course.heights[lowest] <= course.chance(2.0, *from, lowest);
    let recovered = (0..lowest).find(falls_no_further).unwrap_or(lowest);
    // What rises only in the last moments may be noise: a twentieth of what follows the last change, and at least three bins, must be good.
    (recovered + course.believable() <= after.len()).then_some(recovered)
}

/// Whether the calls after the last change, each tried once, are less than every service on their way can do.
pub fn could_recover(model: &Model, bins: &Bins, last: &Change, after: Range<usize>) -> bool {
    let numbers = model.numbers(last.epoch, last.lasting);
    let ended = edge(model, after.end);
    let measured = bins.calls[after.clone()].iter().sum::<f64>() / bins.seconds[after].iter().sum::<f64>();
    let clients = model.groups.iter().map(|group| f64::from(group.count)).sum::<f64>();
    let mut demand = vec![0.0; model.services.len()];
    for (index, group) in model.groups.iter().enumerate() {
        demand[model.callers[group.caller.at()].to.at()] += match &group.load {
            Load::Open { profile, .. } => profile.rate(last.at.max(ended)) * model.load_factor(last.epoch, last.lasting, index),
            // Loads without a rate: what was asked is shared out by head.
            _ => measured * f64::from(group.count) / clients,
        };
    }
    for service in model.called_first().into_iter().rev() {
        for (caller, share) in model.services[service.at()].calls.iter().zip(&numbers.services[service.at()].shares) {
            demand[model.callers[caller.at()].to.at()] += demand[service.at()] * share;
        }
    }
    let is_up = |service: usize| model.stations(ServiceIndex(service as u16)).any(|place| numbers.services[place].down.is_none());
    let enough = |((demand, capacity), service): ((&f64, f64), usize)| *demand == 0.0 || (*demand < capacity && is_up(service));
    demand.iter().zip(model.capacities(numbers)).zip(0..).all(enough)
}
