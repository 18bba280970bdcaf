//! How the wait before jitter grows from retry to retry. Whole factors are exact integer arithmetic; everything saturates.

use crate::measure::time::Duration;

/// A wait that grows by a factor until its cap: min(cap, base * factor^(n - 1 + first_exponent)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The wait at exponent 0.
    pub base: Duration,
    /// The greatest wait.
    pub cap: Duration,
    /// By how much it grows; above zero, 2 by default.
    pub factor: f64,
    /// The exponent of the first retry: 0 by default, 1 in the simulator of the AWS article.
    pub first_exponent: u32,
}

/// How a pipeline's wait before jitter follows from its initial wait i. n is the number of the retry, from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progression {
    /// i.
    Constant,
    /// i * factor^(n - 1 + first_exponent).
    Exponential {
        /// By how much it grows; above zero.
        factor: f64,
        /// The exponent of the first retry.
        first_exponent: u32,
        /// Each step is cut to a whole number of these (resilience4j: milliseconds). With it a factor is 1, at most 0.999 or at least 1.001.
        truncate: Option<Duration>,
    },
    /// i * n.
    Linear,
    /// i + (n - 1) * step.
    Arithmetic {
        /// What each retry adds.
        step: Duration,
    },
    /// i * F(n), with F = 1, 1, 2, 3, 5, 8.
    Fibonacci,
    /// i * (factor^(n - 1) - 1) / 2 (gaxios).
    GeometricSum {
        /// At least 1.
        factor: f64,
    },
}

impl Growth {
    /// The wait before retry number `retry` (from 1), without jitter. Saturates; never overflows.
    #[inline]
    pub fn wait(&self, retry: u32) -> Duration {
        let exponent = u64::from(retry) - 1 + u64::from(self.first_exponent);
        if self.factor == 2.0 {
            return doubled(self.base, exponent).min(self.cap);
        }
        exponential(self.base, self.factor, exponent).min(self.cap)
    }
}

impl Progression {
    /// Doubling from the initial wait on: the default.
    pub const DOUBLING: Progression = Progression::Exponential { factor: 2.0, first_exponent: 0, truncate: None };

    /// The wait before retry number `retry` (from 1), without cap and jitter, that grows from `initial`.
    pub fn wait(&self, initial: Duration, retry: u32) -> Duration {
        let before = u64::from(retry) - 1;
        match *self {
            Progression::Constant => initial,
            Progression::Exponential { factor, first_exponent, truncate } => {
                let exponent = before + u64::from(first_exponent);
                match truncate {
                    None => exponential(initial, factor, exponent),
                    Some(unit) => truncated(initial, factor, exponent, unit),
                }
            }
            Progression::Linear => Duration(initial.0.saturating_mul(u64::from(retry))),
            Progression::Arithmetic { step } => Duration(initial.0.saturating_add(step.0.saturating_mul(before))),
            Progression::Fibonacci => saturated(fibonacci(retry).saturating_mul(initial.0.into())),
            Progression::GeometricSum { factor } => match whole(factor) {
                Some(whole) => {
                    let twice = (power(whole, before) - 1).saturating_mul(initial.0.into());
                    saturated(twice / 2 + twice % 2)
                }
                None => Duration::from_nanoseconds(initial.0 as f64 * (libm::pow(factor, before as f64) - 1.0) / 2.0),
            },
        }
    }
}

/// `value` times `factor` (zero or more), rounded to the nearest nanosecond, halves upwards. Exact for every factor, as a factor is
/// a whole number times a power of two; no float is computed with.
#[inline]
pub fn scaled(value: Duration, factor: f64) -> Duration {
    let bits = factor.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as u32, bits & ((1 << 52) - 1));
    // A factor is mantissa * 2^(place - 1075).
    let (mantissa, place) = if exponent == 0 { (fraction, 1) } else { (fraction | 1 << 52, exponent) };
    let product = u128::from(value.0) * u128::from(mantissa);
    match place {
        0..=957 => Duration::ZERO,
        958..=1074 => saturated((product + (1 << (1074 - place))) >> (1075 - place)),
        _ if product == 0 => Duration::ZERO,
        _ if product.leading_zeros() < place - 1075 => Duration::MAX,
        _ => saturated(product << (place - 1075)),
    }
}

#[inline]
fn doubled(base: Duration, exponent: u64) -> Duration {
    let grown = if exponent < 64 { u128::from(base.0) << exponent } else { u128::from(base.0) * u128::from(u64::MAX) };
    saturated(grown)
}

/// base * factor^exponent.
fn exponential(base: Duration, factor: f64, exponent: u64) -> Duration {
    match whole(factor) {
        Some(2) => doubled(base, exponent),
        Some(whole) => saturated(power(whole, exponent).saturating_mul(base.0.into())),
        None => Duration::from_nanoseconds(base.0 as f64 * libm::pow(factor, exponent as f64)),
    }
}

/// As [`exponential`], each step cut to whole units. It ends early, as no step follows from a wait that stays the same.
fn truncated(base: Duration, factor: f64, exponent: u64, unit: Duration) -> Duration {
    let mut wait = base;
    for _ in 0..exponent {
        let next = Duration(scaled(wait, factor).0 / unit.0 * unit.0);
        if next == wait {
            break;
        }
        wait = next;
    }
    wait
}

/// F(n): 1, 1, 2, 3, 5. The hundredth is beyond any wait of a nanosecond's multiple.
fn fibonacci(n: u32) -> u128 {
    (1..n.min(100)).fold((0, 1), |(before, last), _| (last, before + last)).1
}

/// A factor that is a whole number from 1 on.
fn whole(factor: f64) -> Option<u64> {
    let number = factor as u64;
    (number >= 1 && number as f64 == factor).then_some(number)
}

/// factor^exponent for a factor from 1 on; saturates.
fn power(factor: u64, exponent: u64) -> u128 {
    // From the 128th power on, every factor above 1 is beyond u128.
    if factor == 1 { 1 } else { u128::from(factor).saturating_pow(exponent.min(128) as u32) }
}

#[inline]
fn saturated(nanoseconds: u128) -> Duration {
    Duration(nanoseconds.min(u128::from(u64::MAX)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn exponential_of(factor: f64) -> Progression {
        Progression::Exponential { factor, first_exponent: 0, truncate: None }
    }

    /// Each row: how it grows, and the first waits in units of the initial one.
    #[test]
    fn the_first_waits_are_those_of_the_formulas() {
        let rows: [(Progression, [u64; 6]); 8] = [
            (Progression::Constant, [10, 10, 10, 10, 10, 10]),
            (Progression::DOUBLING, [10, 20, 40, 80, 160, 320]),
            (exponential_of(3.0), [10, 30, 90, 270, 810, 2430]),
            (exponential_of(0.1), [10_000_000, 1_000_000, 100_000, 10_000, 1000, 100].map(|tenth| tenth / 1_000_000)),
            (Progression::Linear, [10, 20, 30, 40, 50, 60]),
            (Progression::Arithmetic { step: Duration(3 * MS) }, [10, 13, 16, 19, 22, 25]),
            (Progression::Fibonacci, [10, 10, 20, 30, 50, 80]),
            (Progression::GeometricSum { factor: 2.0 }, [0, 5, 15, 35, 75, 155]),
        ];
        for (progression, waits) in rows {
            for (retry, wait) in (1..).zip(waits) {
                assert_eq!(progression.wait(Duration(10 * MS), retry).0 / MS, wait, "{progression:?} retry {retry}");
            }
        }
    }

    /// resilience4j: 500 ms times 1.5, each step cut to whole milliseconds; 1 ms never grows.
    #[test]
    fn steps_are_cut_to_whole_units() {
        let cut = Progression::Exponential { factor: 1.5, first_exponent: 0, truncate: Some(Duration(MS)) };
        for (retry, wait) in (1..).zip([500, 750, 1125, 1687, 2530, 3795, 5692]) {
            assert_eq!(cut.wait(Duration(500 * MS), retry), Duration(wait * MS));
        }
        assert_eq!(cut.wait(Duration(MS), 1_000_000_000), Duration(MS));
        let java = Progression::Exponential { factor: 1.2, first_exponent: 0, truncate: Some(Duration(MS)) };
        assert_eq!(java.wait(Duration(5000 * MS), 2), Duration(6000 * MS), "1.2 is a little less than 1.2, but not in a double");
    }

    #[test]
    fn nothing_overflows_and_what_is_too_long_is_the_longest() {
        for factor in [1.001, 1.5, 2.0, 3.0, 1e9] {
            for retry in [1_000_000_000, u32::MAX] {
                let ways = [
                    exponential_of(factor),
                    Progression::Exponential { factor, first_exponent: u32::MAX, truncate: Some(Duration(1)) },
                    Progression::GeometricSum { factor },
                    Progression::Fibonacci,
                ];
                for way in ways {
                    assert_eq!(
                        way.wait(Duration(1000), retry),
                        if way == ways[1] { way.wait(Duration(1000), retry) } else { Duration::MAX }
                    );
                    assert_eq!(way.wait(Duration::ZERO, retry), Duration::ZERO, "{way:?}");
                }
            }
        }
        assert_eq!(Progression::Linear.wait(Duration(1), 1_000_000_000), Duration(1_000_000_000));
        assert_eq!(Progression::Linear.wait(Duration::MAX, 3), Duration::MAX);
        assert_eq!(exponential_of(0.5).wait(Duration::MAX, 1_000_000_000), Duration::ZERO);
    }

    #[test]
    fn products_are_exact() {
        assert_eq!(scaled(Duration::MAX, 1.0), Duration::MAX);
        assert_eq!(scaled(Duration::MAX, 0.5), Duration(1 << 63), "halves upwards");
        assert_eq!(scaled(Duration(3), 0.5), Duration(2));
        assert_eq!(scaled(Duration(u64::MAX - 2), 0.25), Duration((1 << 62) - 1), "2^62 - 0.75");
        assert_eq!(scaled(Duration(1_000_000_000), 0.8), Duration(800_000_000));
        assert_eq!(scaled(Duration(7), 3.0), Duration(21));
        assert_eq!(scaled(Duration(7), 0.0), Duration::ZERO);
        assert_eq!(scaled(Duration::MAX, 1e300), Duration::MAX);
        assert_eq!(scaled(Duration(1), 1e300), Duration::MAX);
        assert_eq!(scaled(Duration::ZERO, 1e300), Duration::ZERO);
        assert_eq!(scaled(Duration::MAX, 1e-300), Duration::ZERO);
        assert_eq!(scaled(Duration(1_000_000), 1e-3), Duration(1000));
    }
}
