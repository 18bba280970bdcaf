//! What is normal where no time before the first change shows it: what the model says of calls to services that are not in trouble.

use crate::load::Load;
use crate::measure::time::Time;
use crate::retry::outcome::Outcome;
use crate::world::model::{Caller, Epoch, Model};

/// The share of calls that succeeds by these numbers where nobody has to wait: what is lost is only what links lose and what ends in
/// `error` or `permanent`, as often as it may be tried. None where a script answers.
pub fn normal_share(model: &Model, numbers: &Epoch, at: Time) -> Option<f64> {
    if numbers.services.iter().any(|service| !service.script.is_empty()) {
        return None;
    }
    let mut good = vec![1.0; model.services.len()];
    for service in model.called_first() {
        let own = &numbers.services[service.at()];
        let below = model.services[service.at()].calls.iter().zip(&own.shares).map(|(caller, share)| {
            let edge = caller.at();
            1.0 - share * (1.0 - succeeds(&numbers.callers[edge], good[model.callers[edge].to.at()]))
        });
        good[service.at()] = (1.0 - own.error_rate - own.permanent_rate).max(0.0) * below.product::<f64>();
    }
    let (mut sum, mut weights) = (0.0, 0.0);
    for group in &model.groups {
        let weight = match &group.load {
            Load::Open { profile, .. } => profile.rate(at),
            _ => f64::from(group.count),
        };
        let edge = group.caller.at();
        sum += weight * succeeds(&numbers.callers[edge], good[model.callers[edge].to.at()]);
        weights += weight;
    }
    (weights > 0.0).then(|| sum / weights)
}

/// The share of calls along an edge that succeeds where an attempt that arrives does with this probability.
fn succeeds(caller: &Caller, good: f64) -> f64 {
    let kept = 1.0 - caller.link.loss;
    let once = kept * kept * good;
    let attempts = match caller.policy.attempts {
        _ if !caller.policy.retry_on.contains(Outcome::Error) => 1.0,
        None => f64::INFINITY,
        Some(attempts) => f64::from(attempts),
    };
    if once > 0.0 { 1.0 - libm::pow(1.0 - once, attempts) } else { 0.0 }
}
