use super::*;
use crate::measure::random::{Purpose, Seed};

fn milliseconds(value: f64) -> Duration {
    Duration::from_seconds(value / 1e3)
}

fn every_kind() -> Vec<(Distribution, f64)> {
    let ms = milliseconds;
    // With the standard deviation in seconds, in closed form.
    vec![
        (Distribution::Constant(ms(3.0)), 0.0),
        (Distribution::exponential(ms(5.0)), 0.005),
        (Distribution::normal(ms(10.0), ms(2.0)), 0.002),
        (Distribution::lognormal(ms(10.0), 0.25).unwrap(), 0.010_317_5 * (libm::exp(0.0625) - 1.0).sqrt()),
        (Distribution::lognormal_tail(ms(10.0), ms(30.0)).unwrap(), 0.006_150),
        (Distribution::uniform(ms(2.0), ms(8.0)).unwrap(), 0.006 / 12f64.sqrt()),
        (Distribution::gamma(2.5, ms(4.0)).unwrap(), 0.004 * 2.5f64.sqrt()),
        (Distribution::gamma(0.5, ms(4.0)).unwrap(), 0.004 * 0.5f64.sqrt()),
        (Distribution::weibull(2.0, ms(10.0)).unwrap(), 0.010 * (1.0 - std::f64::consts::PI / 4.0).sqrt()),
        (Distribution::pareto(3.0, ms(10.0)).unwrap(), 0.010 * 0.75f64.sqrt()),
        (
            Distribution::hyperexponential(&[(0.1, ms(5.5)), (0.9, ms(0.5))]).unwrap(),
            (2.0 * (0.1 * 30.25 + 0.9 * 0.25) - 1.0f64).sqrt() / 1e3,
        ),
        (Distribution::empirical(vec![ms(3.0), ms(1.0), ms(2.0)]).unwrap(), 0.001 * (2.0f64 / 3.0).sqrt()),
    ]
}

#[test]
fn samples_have_the_mean_in_closed_form() {
    let root = Seed { seed: 3, replication: 0 }.address();
    let count = 400_000;
    for (distribution, sd) in every_kind() {
        let mean = (0..count).map(|i| distribution.sample(root.draw(Purpose::Service, i)).seconds()).sum::<f64>() / count as f64;
        // Five standard errors, and the rounding to a nanosecond.
        let tolerance = 5.0 * sd / (count as f64).sqrt() + 1e-9;
        assert!(
            (mean - distribution.mean()).abs() < tolerance,
            "{distribution:?}: {mean} is not {} within {tolerance}",
            distribution.mean()
        );
    }
}

/// The first draws of every kind, to the nanosecond: a change here is value-breaking and belongs in CHANGELOG.md.
#[test]
fn the_first_draws_do_not_change() {
    let root = Seed { seed: 1, replication: 0 }.address();
    let drawn: Vec<String> = every_kind()
        .iter()
        .map(|(distribution, _)| {
            (0..3).map(|i| distribution.sample(root.draw(Purpose::Service, i)).0.to_string()).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(drawn.join("\n"), include_str!("distribution_golden.txt").trim_end());
}

#[test]
fn impossible_parameters_are_refused() {
    let ms = milliseconds;
    assert!(Distribution::lognormal(Duration::ZERO, 1.0).is_err());
    assert!(Distribution::lognormal(ms(1.0), f64::NAN).is_err());
    assert!(Distribution::lognormal_tail(ms(10.0), ms(9.0)).is_err());
    assert!(Distribution::lognormal_tail(ms(10.0), ms(150.0)).is_err());
    assert!(Distribution::uniform(ms(2.0), ms(1.0)).is_err());
    assert!(Distribution::gamma(0.0, ms(1.0)).is_err());
    assert!(Distribution::hyperexponential(&[(0.5, ms(1.0))]).is_err());
    assert!(Distribution::empirical(vec![]).is_err());
}
