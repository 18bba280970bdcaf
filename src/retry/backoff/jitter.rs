//! Jitter: what chance makes of a wait. b is the wait before it, U a uniform draw; both ends of a range can be drawn, in whole nanoseconds.

use super::growth::{Progression, scaled};
use super::pipeline::Pipeline;
use crate::measure::random::Draw;
use crate::measure::time::{Duration, NANOSECONDS};

/// What chance makes of the wait before a retry. Those from [`Jitter::Polly`] to [`Jitter::CrtDecorrelated`] make their own wait of the
/// pipeline's initial wait and cap; those that remember keep one word for each call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jitter {
    /// b.
    None,
    /// U(low b, high b + plus), the end not included where `plus` is above zero. Where `high` is below `low` it counts down: the draw 0 is low b.
    Multiply {
        /// At the draw 0; zero or more.
        low: f64,
        /// At the draw 1; zero or more.
        high: f64,
        /// How far the range reaches beyond high b.
        plus: Duration,
    },
    /// b + U(0, most).
    Add {
        /// The most that is added.
        most: Duration,
    },
    /// max(0, b + U(-most, most)).
    PlusMinus {
        /// The most that is added or taken away.
        most: Duration,
    },
    /// U(low, max(low, b)).
    Between {
        /// The least.
        low: Duration,
    },
    /// Polly 8 (RetryHelper.cs): t = n - 1 + U, f(n) = factor^t tanh(sqrt(4 t)), wait = (f(n) - f(n - 1)) initial / 1.4. Remembers f.
    Polly,
    /// AWS Architecture Blog (2015): min(cap, U(initial, 3 s)), s the wait before, at first the initial one. Remembers s.
    AwsDecorrelated,
    /// Finagle (Backoff.scala): first the initial wait, then U(s, 3 s); once that reaches the cap, always the cap. Remembers s.
    FinagleDecorrelated,
    /// Finagle: first the initial wait, then h + U(0, h) with h = initial 2^(n - 2); the cap once that is reached.
    FinagleEqual,
    /// Finagle: first the initial wait, then U(0, s 2^(n - 1)), s the wait before; once the range reaches the cap, always the cap. Remembers s.
    FinagleExponential,
    /// aws-c-io (exponential_backoff_retry_strategy.c): first U(0, b), then U(initial, min(cap, 3 s)). Remembers s.
    CrtDecorrelated,
    /// tower 0.5 (retry/backoff.rs): b + min(j, cap - b), j = whole seconds of (seconds of b) share U, plus (the rest of b) share U.
    Tower {
        /// 0 to 1.
        share: f64,
    },
    /// A whole number of units, each from 0 to floor(b / unit) as likely (celery), that one left out where `included` is false (Envoy).
    Whole {
        /// Above zero.
        unit: Duration,
        /// Whether floor(b / unit) itself can be drawn.
        included: bool,
    },
}

impl Jitter {
    /// Whether a wait depends on the draws of the waits before it.
    pub fn remembers(self) -> bool {
        matches!(
            self,
            Jitter::Polly | Jitter::AwsDecorrelated | Jitter::FinagleDecorrelated | Jitter::FinagleExponential | Jitter::CrtDecorrelated
        )
    }

    /// Whether it makes its own wait of the initial wait and the cap, instead of changing b.
    pub fn makes_its_own(self) -> bool {
        self.remembers() || self == Jitter::FinagleEqual
    }

    /// The wait that it makes of `wait`, which is b.
    #[inline]
    pub fn apply(self, pipeline: &Pipeline, retry: u32, wait: Duration, memory: &mut u64, draw: Draw) -> Duration {
        let nanoseconds = match self {
            Jitter::None => wait.0,
            Jitter::Multiply { low, high, plus } => {
                let beyond = plus.0.saturating_sub(1);
                let (from, to) = (scaled(wait, low).0, scaled(wait, high).0.saturating_add(beyond));
                if from <= to { from + draw.up_to(to - from) } else { from - draw.up_to(from - to) }
            }
            Jitter::Add { most } => wait.0.saturating_add(draw.up_to(most.0)),
            Jitter::PlusMinus { most } => {
                let moved = u128::from(wait.0) + u128::from(draw.up_to(most.0.saturating_mul(2)));
                moved.saturating_sub(most.0.into()).min(u64::MAX.into()) as u64
            }
            Jitter::Between { low } => low.0 + draw.up_to(wait.0.saturating_sub(low.0)),
            Jitter::Tower { share } => wait.0.saturating_add(tower(wait, share, draw).min(pipeline.cap.0.saturating_sub(wait.0))),
            Jitter::Whole { unit, included } => {
                let units = wait.0 / unit.0;
                unit.0 * draw.up_to(if included { units } else { units.saturating_sub(1) })
            }
            Jitter::FinagleEqual => finagle_equal(pipeline, retry, draw),
            _ => remembered(self, pipeline, retry, wait, memory, draw),
        };
        Duration(nanoseconds)
    }
}

/// The uniform number in [0, 1) that a library would have drawn.
fn unit(draw: Draw) -> f64 {
    (draw.0 >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

/// The jitter of tower: whole seconds and the rest are scaled apart, the seconds cut to whole ones.
fn tower(wait: Duration, share: f64, draw: Draw) -> u64 {
    let part = unit(draw) * share;
    let (seconds, rest) = (wait.0 / NANOSECONDS, wait.0 % NANOSECONDS);
    ((seconds as f64 * part) as u64).saturating_mul(NANOSECONDS).saturating_add((rest as f64 * part) as u64)
}

fn finagle_equal(pipeline: &Pipeline, retry: u32, draw: Draw) -> u64 {
    if retry == 1 {
        return pipeline.initial.min(pipeline.cap).0;
    }
    let half = Progression::DOUBLING.wait(pipeline.initial, retry - 1).0;
    half.saturating_add(draw.up_to(half)).min(pipeline.cap.0)
}

/// The wait of a jitter that remembers, which it notes. Zero is no memory yet.
fn remembered(jitter: Jitter, pipeline: &Pipeline, retry: u32, wait: Duration, memory: &mut u64, draw: Draw) -> u64 {
    let (initial, cap, before) = (pipeline.initial.0, pipeline.cap.0, *memory);
    let next = match jitter {
        Jitter::Polly => return polly(pipeline, retry, memory, draw),
        Jitter::AwsDecorrelated => aws_decorrelated(initial, before, draw).min(cap),
        Jitter::CrtDecorrelated if before == 0 => draw.up_to(wait.0),
        Jitter::CrtDecorrelated => {
            let most = before.saturating_mul(3).min(cap);
            initial.min(most) + draw.up_to(initial.abs_diff(most))
        }
        _ if before == 0 => initial.min(cap),
        Jitter::FinagleDecorrelated => before.saturating_add(draw.up_to(before.saturating_mul(2))).min(cap),
        _ => {
            let range = Progression::DOUBLING.wait(Duration(before), retry).0;
            if range >= cap { cap } else { draw.up_to(range) }
        }
    };
    // A wait that was drawn as zero is remembered as the least above it.
    *memory = next.max(initial.min(1));
    next
}

/// U(base, 3 s), s the wait before and the base at first.
#[inline]
pub fn aws_decorrelated(base: u64, before: u64, draw: Draw) -> u64 {
    let most = before.max(base).saturating_mul(3);
    base + draw.up_to(most - base)
}

fn polly(pipeline: &Pipeline, retry: u32, memory: &mut u64, draw: Draw) -> u64 {
    let factor = if let Progression::Exponential { factor, .. } = pipeline.growth { factor } else { 2.0 };
    let t = f64::from(retry - 1) + unit(draw);
    let next = libm::pow(factor, t) * libm::tanh(libm::sqrt(4.0 * t));
    let step = next - f64::from_bits(*memory);
    *memory = next.to_bits();
    if next.is_infinite() { u64::MAX } else { Duration::from_nanoseconds(step / 1.4 * pipeline.initial.0 as f64).0 }
}
