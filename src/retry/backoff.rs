//! Backoff: how long to wait before a retry. n is the number of the retry, from 1.
//!
//! | name | wait before retry n, with v = min(cap, base * factor^(n - 1 + first_exponent)) |
//! |---|---|
//! | none | 0 |
//! | fixed | delay |
//! | exponential | v |
//! | full jitter | U(0, v) |
//! | equal jitter | v/2 + U(0, v/2) |
//! | decorrelated jitter | s(n) = min(cap, U(base, 3 s(n - 1))), s(0) = base |
//! | random | drawn from a distribution |
//!
//! Source of the jitters: AWS Architecture Blog, "Exponential Backoff And Jitter", 2015, and its simulator.

use crate::measure::distribution::Distribution;
use crate::measure::random::Draw;
use crate::measure::time::Duration;

/// How long to wait before a retry.
#[derive(Clone, Debug, PartialEq)]
pub enum Backoff {
    /// At once.
    None,
    /// Always the same.
    Fixed(Duration),
    /// Growing by a factor each time.
    Exponential(Growth),
    /// Uniform between nothing and the exponential wait.
    FullJitter(Growth),
    /// Half the exponential wait, and up to as much again.
    EqualJitter(Growth),
    /// Uniform between the base and three times the wait before: it remembers.
    DecorrelatedJitter {
        /// The least wait, and what the first is drawn from.
        base: Duration,
        /// The greatest wait.
        cap: Duration,
    },
    /// Drawn from a distribution, each time anew.
    Random(Distribution),
}

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

impl Growth {
    /// The wait before retry number `retry` (from 1), without jitter. Saturates; never overflows.
    #[inline]
    pub fn wait(&self, retry: u32) -> Duration {
        let exponent = u64::from(retry) - 1 + u64::from(self.first_exponent);
        if self.factor == 2.0 {
            let grown = if exponent < 64 { u128::from(self.base.0) << exponent } else { u128::from(self.base.0) * u128::from(u64::MAX) };
            return Duration(grown.min(u128::from(self.cap.0)) as u64);
        }
        Duration::from_nanoseconds(self.base.0 as f64 * libm::pow(self.factor, exponent as f64)).min(self.cap)
    }
}

impl Backoff {
    /// The wait before retry number `retry` (from 1). `previous` is the wait before, zero at the first: only decorrelated jitter reads it.
    #[inline]
    pub fn wait(&self, retry: u32, previous: Duration, draw: Draw) -> Duration {
        match self {
            Backoff::None => Duration::ZERO,
            Backoff::Fixed(delay) => *delay,
            Backoff::Exponential(growth) => growth.wait(retry),
            Backoff::FullJitter(growth) => Duration(draw.up_to(growth.wait(retry).0)),
            Backoff::EqualJitter(growth) => {
                let whole = growth.wait(retry).0;
                let half = whole / 2;
                Duration(whole - half + draw.up_to(half))
            }
            Backoff::DecorrelatedJitter { base, cap } => {
                let most = previous.max(*base).0.saturating_mul(3);
                Duration(base.0 + draw.up_to(most - base.0)).min(*cap)
            }
            Backoff::Random(distribution) => distribution.sample(draw),
        }
    }

    /// True where every wait is zero.
    pub fn is_zero(&self) -> bool {
        match self {
            Backoff::None => true,
            Backoff::Fixed(delay) => *delay == Duration::ZERO,
            Backoff::Exponential(growth) | Backoff::FullJitter(growth) | Backoff::EqualJitter(growth) => {
                growth.base.min(growth.cap) == Duration::ZERO
            }
            Backoff::DecorrelatedJitter { base, cap } => (*base).min(*cap) == Duration::ZERO,
            Backoff::Random(distribution) => distribution.is_zero(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn growth(factor: f64, first_exponent: u32) -> Growth {
        Growth { base: Duration(5 * MS), cap: Duration(2000 * MS), factor, first_exponent }
    }

    /// Each row: a backoff, the retry, the least and the greatest wait (in ms), which the words 0 and 2^64 - 1 must reach.
    #[test]
    fn waits_lie_where_the_formulas_say() {
        let decorrelated = Backoff::DecorrelatedJitter { base: Duration(5 * MS), cap: Duration(2000 * MS) };
        let rows: [(Backoff, u32, u64, u64, u64); 14] = [
            (Backoff::None, 1, 0, 0, 0),
            (Backoff::Fixed(Duration(3 * MS)), 9, 0, 3, 3),
            (Backoff::Exponential(growth(2.0, 0)), 1, 0, 5, 5),
            (Backoff::Exponential(growth(2.0, 1)), 1, 0, 10, 10),
            (Backoff::Exponential(growth(2.0, 1)), 9, 0, 2000, 2000),
            (Backoff::Exponential(growth(3.0, 0)), 3, 0, 45, 45),
            (Backoff::Exponential(growth(1.0, 0)), u32::MAX, 0, 5, 5),
            (Backoff::FullJitter(growth(2.0, 1)), 1, 0, 0, 10),
            (Backoff::FullJitter(growth(2.0, 1)), u32::MAX, 0, 0, 2000),
            (Backoff::EqualJitter(growth(2.0, 1)), 2, 0, 10, 20),
            (decorrelated.clone(), 1, 0, 5, 15),
            (decorrelated.clone(), 2, 7, 5, 21),
            (decorrelated.clone(), 9, 2000, 5, 2000),
            (Backoff::Random(Distribution::Constant(Duration(MS))), 1, 0, 1, 1),
        ];
        for (backoff, retry, previous, least, greatest) in rows {
            let wait = |word| backoff.wait(retry, Duration(previous * MS), Draw(word));
            assert_eq!(wait(0), Duration(least * MS), "{backoff:?} retry {retry}");
            assert_eq!(wait(u64::MAX), Duration(greatest * MS), "{backoff:?} retry {retry}");
        }
    }

    #[test]
    fn nothing_overflows() {
        for factor in [0.5, 1.0, 1.5, 2.0, 1e9] {
            let growth = Growth { base: Duration(u64::MAX), cap: Duration::MAX, factor, first_exponent: u32::MAX };
            for backoff in [Backoff::Exponential(growth), Backoff::FullJitter(growth), Backoff::EqualJitter(growth)] {
                for retry in [1, 2, 63, 64, 65, 1_000_000_000, u32::MAX] {
                    let _ = backoff.wait(retry, Duration::MAX, Draw(u64::MAX));
                }
            }
        }
        let widest = Backoff::DecorrelatedJitter { base: Duration::MAX, cap: Duration::MAX };
        assert_eq!(widest.wait(1, Duration::MAX, Draw(u64::MAX)), Duration::MAX);
    }

    /// Uncapped, the mean of decorrelated jitter grows as (base + 3 mean) / 2: 2, 3.5, 5.75 in units of the base.
    #[test]
    fn decorrelated_means_are_exact() {
        let base = Duration(MS);
        let backoff = Backoff::DecorrelatedJitter { base, cap: Duration::MAX };
        let count = 100_000u64;
        let mut sums = [0.0; 3];
        for call in 0..count {
            let mut previous = Duration::ZERO;
            for (retry, sum) in (1..).zip(&mut sums) {
                previous = backoff.wait(
                    retry,
                    previous,
                    crate::measure::random::Address(call).child(1).draw(crate::measure::random::Purpose::Backoff, retry.into()),
                );
                *sum += previous.0 as f64 / MS as f64;
            }
        }
        // Five standard errors; the variances are 1/3, 1.9 and 7.7 in units of the base squared.
        for ((sum, mean), variance) in sums.iter().zip([2.0, 3.5, 5.75]).zip([0.34f64, 1.9, 7.7]) {
            assert!((sum / count as f64 - mean).abs() < 5.0 * (variance / count as f64).sqrt(), "{} is not {mean}", sum / count as f64);
        }
    }
}
