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
//! | custom | what a [`Pipeline`] of steps makes of n |
//!
//! Source of the jitters: AWS Architecture Blog, "Exponential Backoff And Jitter", 2015, and its simulator. All but `random` are pipelines;
//! the names are their short forms, to the same nanosecond.

pub mod growth;
pub mod jitter;
pub mod pipeline;

pub use growth::Growth;

use super::hint::RetryAfter;
use crate::measure::distribution::Distribution;
use crate::measure::random::Draw;
use crate::measure::time::Duration;
use growth::Progression;
use jitter::{Jitter, aws_decorrelated};
use pipeline::Pipeline;

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
    /// A pipeline of steps.
    Custom(Box<Pipeline>),
}

impl Backoff {
    /// The wait before retry number `retry` (from 1). `memory` is what the call remembers, zero at its start: only some backoffs use it.
    #[inline]
    pub fn wait(&self, retry: u32, memory: &mut u64, draw: Draw) -> Duration {
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
                *memory = aws_decorrelated(base.0, *memory, draw).min(cap.0);
                Duration(*memory)
            }
            Backoff::Random(distribution) => distribution.sample(draw),
            Backoff::Custom(pipeline) => pipeline.wait(retry, memory, draw),
        }
    }

    /// As [`Backoff::wait`], where the server has given a hint; None where that says not to try again.
    pub fn hinted(&self, retry: u32, memory: &mut u64, draw: Draw, (rule, hint): (RetryAfter, Duration)) -> Option<Duration> {
        match self.pipeline() {
            Some(pipeline) => pipeline.hinted(retry, memory, draw, (rule, hint)),
            None => rule.apply(self.wait(retry, memory, draw), hint, draw),
        }
    }

    /// The pipeline that it is a short form of; `random` is none.
    pub fn pipeline(&self) -> Option<Pipeline> {
        let grown = |growth: &Growth, low, jitters: bool| Pipeline {
            cap: growth.cap,
            growth: Progression::Exponential { factor: growth.factor, first_exponent: growth.first_exponent, truncate: None },
            jitter: if jitters { Jitter::Multiply { low, high: 1.0, plus: Duration::ZERO } } else { Jitter::None },
            ..Pipeline::constant(growth.base)
        };
        match self {
            Backoff::None => Some(Pipeline::constant(Duration::ZERO)),
            Backoff::Fixed(delay) => Some(Pipeline::constant(*delay)),
            Backoff::Exponential(growth) => Some(grown(growth, 1.0, false)),
            Backoff::FullJitter(growth) => Some(grown(growth, 0.0, true)),
            Backoff::EqualJitter(growth) => Some(grown(growth, 0.5, true)),
            Backoff::DecorrelatedJitter { base, cap } => {
                Some(Pipeline { cap: *cap, growth: Progression::DOUBLING, jitter: Jitter::AwsDecorrelated, ..Pipeline::constant(*base) })
            }
            Backoff::Random(_) => None,
            Backoff::Custom(pipeline) => Some(**pipeline),
        }
    }

    /// Whether a wait depends on the draws of the waits before it.
    pub fn remembers(&self) -> bool {
        self.pipeline().is_some_and(|pipeline| pipeline.jitter.remembers())
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
            // A growth that is zero so often is zero for ever, and so is a rounding.
            Backoff::Custom(pipeline) => [1, 2, 3, 4, 64, u32::MAX]
                .iter()
                .all(|retry| [0, u64::MAX].iter().all(|word| pipeline.wait(*retry, &mut 0, Draw(*word)) == Duration::ZERO)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::random::{Address, Purpose};

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
            let wait = |word| backoff.wait(retry, &mut (previous * MS), Draw(word));
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
                    let _ = backoff.wait(retry, &mut u64::MAX.clone(), Draw(u64::MAX));
                }
            }
        }
        let widest = Backoff::DecorrelatedJitter { base: Duration::MAX, cap: Duration::MAX };
        assert_eq!(widest.wait(1, &mut u64::MAX.clone(), Draw(u64::MAX)), Duration::MAX);
    }

    /// Uncapped, the mean of decorrelated jitter grows as (base + 3 mean) / 2: 2, 3.5, 5.75 in units of the base.
    #[test]
    fn decorrelated_means_are_exact() {
        let base = Duration(MS);
        let backoff = Backoff::DecorrelatedJitter { base, cap: Duration::MAX };
        let count = 100_000u64;
        let mut sums = [0.0; 3];
        for call in 0..count {
            let mut memory = 0;
            for (retry, sum) in (1..).zip(&mut sums) {
                let draw = Address(call).child(1).draw(Purpose::Backoff, retry.into());
                *sum += backoff.wait(retry, &mut memory, draw).0 as f64 / MS as f64;
            }
        }
        // Five standard errors; the variances are 1/3, 1.9 and 7.7 in units of the base squared.
        for ((sum, mean), variance) in sums.iter().zip([2.0, 3.5, 5.75]).zip([0.34f64, 1.9, 7.7]) {
            assert!((sum / count as f64 - mean).abs() < 5.0 * (variance / count as f64).sqrt(), "{} is not {mean}", sum / count as f64);
        }
    }

    /// The names are short forms of pipelines: the same nanosecond for every draw, also where floats would round.
    #[test]
    fn short_forms_are_their_pipelines() {
        let mut backoffs = vec![Backoff::None, Backoff::Fixed(Duration(7))];
        for (base, cap) in [(5 * MS, 2000 * MS), (3, 1000), (1, u64::MAX), (u64::MAX - 1, u64::MAX)] {
            let (base, cap) = (Duration(base), Duration(cap));
            backoffs.push(Backoff::DecorrelatedJitter { base, cap });
            for (factor, first_exponent) in [(2.0, 0), (2.0, 1), (1.5, 0), (3.0, 2), (0.7, 0)] {
                let growth = Growth { base, cap, factor, first_exponent };
                backoffs.extend([Backoff::Exponential(growth), Backoff::FullJitter(growth), Backoff::EqualJitter(growth)]);
            }
        }
        for backoff in backoffs {
            let custom = Backoff::Custom(Box::new(backoff.pipeline().expect("no distribution")));
            let (mut one, mut other) = (0, 0);
            for retry in (1..100).chain([1_000_000_000, u32::MAX]) {
                for word in [0, 1, u64::MAX / 2, u64::MAX, Address(retry.into()).draw(Purpose::Backoff, 1).0] {
                    let pair = (backoff.wait(retry, &mut one, Draw(word)), custom.wait(retry, &mut other, Draw(word)));
                    assert_eq!(pair.0, pair.1, "{backoff:?} retry {retry} draw {word}");
                }
            }
        }
    }

    /// Every jitter over every growth, at the ends of what can be written.
    #[test]
    fn no_pipeline_overflows() {
        let (most, nothing) = (Duration::MAX, Duration::ZERO);
        let jitters = [
            Jitter::Multiply { low: 0.0, high: 1e6, plus: most },
            Jitter::Multiply { low: 1e6, high: 0.0, plus: nothing },
            Jitter::Add { most },
            Jitter::PlusMinus { most },
            Jitter::Between { low: most },
            Jitter::Polly,
            Jitter::AwsDecorrelated,
            Jitter::FinagleDecorrelated,
            Jitter::FinagleEqual,
            Jitter::FinagleExponential,
            Jitter::CrtDecorrelated,
            Jitter::Tower { share: 1.0 },
            Jitter::Whole { unit: Duration(1), included: true },
            Jitter::Whole { unit: most, included: false },
        ];
        for jitter in jitters {
            for (initial, cap, offset) in
                [(Duration(1), most, nothing), (most, most, most), (nothing, nothing, nothing), (Duration(1), Duration(MS), nothing)]
            {
                for quantise in [pipeline::Quantise::None, pipeline::Quantise::Ceiling(Duration(7)), pipeline::Quantise::Round(most)] {
                    let pipeline =
                        Pipeline { initial, cap, offset, jitter, quantise, growth: Progression::DOUBLING, ..Pipeline::constant(initial) };
                    for word in [0, u64::MAX] {
                        let mut memory = 0;
                        for retry in (1..130).chain([1_000_000_000, u32::MAX]) {
                            let wait = pipeline.wait(retry, &mut memory, Draw(word));
                            let hinted = pipeline.hinted(retry, &mut memory, Draw(word), (RetryAfter::FloorBeforeJitter, most));
                            assert!(hinted.is_some());
                            let clips = jitter.makes_its_own() && quantise == pipeline::Quantise::None && offset == nothing;
                            assert!(!clips || wait <= cap, "{pipeline:?} retry {retry}: {wait}");
                        }
                    }
                }
            }
        }
    }

    /// Uncapped and capped after the jitter, a hint of the cap's length leaves no atom: every draw has its own wait.
    #[test]
    fn a_hint_as_long_as_the_cap_is_spread() {
        let jitter = Jitter::Multiply { low: 1.0, high: 1.2, plus: Duration::ZERO };
        let after = Pipeline { cap: Duration(30 * MS), cap_order: pipeline::CapOrder::After, jitter, ..Pipeline::constant(Duration(MS)) };
        let pipeline = Pipeline { growth: Progression::DOUBLING, ..after };
        let wait = |retry, u: u64| {
            pipeline.hinted(retry, &mut 0, Draw(u64::MAX / 10 * u), (RetryAfter::FloorBeforeJitter, Duration(30 * MS))).unwrap().0 / 1000
        };
        for retry in [1, 4, 5, 6, 60] {
            assert_eq!((wait(retry, 0), wait(retry, 5), wait(retry, 10)), (30_000, 33_000, 36_000), "retry {retry}");
        }
    }
}
