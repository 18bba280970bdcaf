//! The delay pipeline: one order of steps that all retry libraries follow, each with some of the steps left out.
//!
//! ```text
//! first? -> grow -> cap (before) -> floor_before -> [hint] -> jitter -> cap (after) -> floor_after -> offset -> [hint] -> quantise
//! ```

use super::growth::Progression;
use super::jitter::Jitter;
use crate::measure::random::Draw;
use crate::measure::time::Duration;
use crate::retry::hint::RetryAfter;

/// The steps from the number of a retry to the wait before it. Everything saturates at 584 years.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pipeline {
    /// What the wait grows from.
    pub initial: Duration,
    /// The wait before the first retry, whatever the rest says but for a server's hint.
    pub first: Option<Duration>,
    /// How it grows.
    pub growth: Progression,
    /// The greatest wait; [`Duration::MAX`] where there is none.
    pub cap: Duration,
    /// Whether the cap is applied before the jitter or after it.
    pub cap_order: CapOrder,
    /// Whether the first wait has no cap (grpc-js).
    pub first_uncapped: bool,
    /// The least wait before jitter.
    pub floor_before: Duration,
    /// The least wait after jitter and cap.
    pub floor_after: Duration,
    /// Added after jitter, cap and floors.
    pub offset: Duration,
    /// What chance makes of it.
    pub jitter: Jitter,
    /// Which multiples a wait is rounded to.
    pub quantise: Quantise,
}

/// Where the cap stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapOrder {
    /// Before the jitter: a wait may be longer than the cap.
    Before,
    /// After it: waits pile up at the cap.
    After,
}

/// How waits are rounded. Each unit is above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantise {
    /// Not at all.
    None,
    /// Down to whole units.
    Floor(Duration),
    /// To the nearest whole unit, halves upwards.
    Round(Duration),
    /// Up to whole units.
    Ceiling(Duration),
}

impl Quantise {
    /// The wait in whole units.
    #[inline]
    pub fn apply(self, wait: Duration) -> Duration {
        match self {
            Quantise::None => wait,
            Quantise::Floor(unit) => Duration(wait.0 / unit.0 * unit.0),
            Quantise::Round(unit) => {
                let (whole, rest) = (wait.0 / unit.0, wait.0 % unit.0);
                Duration((whole + u64::from(rest >= unit.0.div_ceil(2))).saturating_mul(unit.0))
            }
            Quantise::Ceiling(unit) => Duration(wait.0.div_ceil(unit.0).saturating_mul(unit.0)),
        }
    }
}

impl Pipeline {
    /// Always `initial`: every step that can be left out is.
    pub fn constant(initial: Duration) -> Pipeline {
        Pipeline {
            initial,
            first: None,
            growth: Progression::Constant,
            cap: Duration::MAX,
            cap_order: CapOrder::Before,
            first_uncapped: false,
            floor_before: Duration::ZERO,
            floor_after: Duration::ZERO,
            offset: Duration::ZERO,
            jitter: Jitter::None,
            quantise: Quantise::None,
        }
    }

    /// The wait before retry number `retry` (from 1), without a hint. `memory` is the call's; it begins at zero.
    #[inline]
    pub fn wait(&self, retry: u32, memory: &mut u64, draw: Draw) -> Duration {
        match self.first {
            Some(first) if retry == 1 => first,
            _ => self.quantise.apply(self.steps(retry, memory, draw, None)),
        }
    }

    /// As [`Pipeline::wait`], where the server has given a hint; None where that says not to try again.
    pub fn hinted(&self, retry: u32, memory: &mut u64, draw: Draw, (rule, hint): (RetryAfter, Duration)) -> Option<Duration> {
        let is_before = rule == RetryAfter::FloorBeforeJitter && !self.jitter.makes_its_own();
        match self.first {
            Some(first) if retry == 1 => rule.apply(first, hint, draw),
            _ if is_before => Some(self.quantise.apply(self.steps(retry, memory, draw, Some(hint)))),
            _ => rule.apply(self.steps(retry, memory, draw, None), hint, draw).map(|wait| self.quantise.apply(wait)),
        }
    }

    /// All steps but the first override, a hint after the jitter, and rounding.
    #[inline]
    fn steps(&self, retry: u32, memory: &mut u64, draw: Draw, hint: Option<Duration>) -> Duration {
        let cap = if self.first_uncapped && retry == 1 { Duration::MAX } else { self.cap };
        let grown = self.growth.wait(self.initial, retry);
        let capped = if self.cap_order == CapOrder::Before { grown.min(cap) } else { grown };
        let floored = capped.max(self.floor_before);
        // A wait that the hint has set is not clipped afterwards: where the two are equal, it would pile up at the cap.
        let raised = hint.filter(|hint| *hint >= floored.min(cap));
        let jittered = self.jitter.apply(self, retry, raised.unwrap_or(floored), memory, draw);
        let clips = raised.is_none() && (self.cap_order == CapOrder::After || self.jitter.makes_its_own());
        let clipped = if clips { jittered.min(cap) } else { jittered };
        clipped.max(self.floor_after).saturating_add(self.offset)
    }
}
