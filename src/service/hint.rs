//! The hint that goes with `rejected` and `throttled`: how long to wait before a retry (the `Retry-After` of HTTP).

use crate::measure::distribution::Distribution;
use crate::measure::time::Duration;

/// How a service finds its hint.
#[derive(Clone, Debug, PartialEq)]
pub enum Hint {
    /// Always the same.
    Constant(Duration),
    /// Drawn anew for each reply.
    Random(Distribution),
    /// Until the service's rate limit lets an attempt in again; no hint where it would let one in at once.
    Window,
}

impl Hint {
    /// Whether it may tell the caller to come back at once, again and again.
    pub fn is_zero(&self) -> bool {
        match self {
            Hint::Constant(length) => *length == Duration::ZERO,
            Hint::Random(distribution) => distribution.is_zero(),
            Hint::Window => false,
        }
    }
}
