//! Hints: what a server that says "not before" (`Retry-After`) does to the wait that the caller has computed.

use super::backoff::growth::scaled;
use crate::measure::random::Draw;
use crate::measure::time::Duration;

/// What a server's hint (`Retry-After`) does to the computed wait.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RetryAfter {
    /// Nothing.
    #[default]
    Ignore,
    /// The hint is the wait.
    Replace {
        /// The longest hint that is followed; [`Duration::MAX`] where there is none.
        cap: Duration,
        /// What a longer one does.
        beyond: Beyond,
    },
    /// The wait is at least the hint.
    Floor,
    /// The wait before jitter is at least the hint (axios-retry); of a jitter that makes its own wait, the wait itself.
    FloorBeforeJitter,
    /// The hint, but at least the computed wait and at most `plus` more than that (AWS, 2026: 5 s).
    Clamp {
        /// How much longer than computed the wait may be.
        plus: Duration,
    },
    /// Uniform from the hint to `factor` times it (Envoy).
    Spread {
        /// At least 1.
        factor: f64,
        /// A longer hint is ignored; [`Duration::MAX`] where there is no limit.
        cap: Duration,
    },
}

/// What a hint does that is longer than its cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The wait is the cap.
    Cap,
    /// The wait is the computed one, as without a hint.
    Ignore,
    /// There is no retry at all.
    Stop,
}

impl RetryAfter {
    /// The hint is the wait, however long.
    pub const REPLACE: RetryAfter = RetryAfter::Replace { cap: Duration::MAX, beyond: Beyond::Cap };

    /// The wait that the hint leaves of the computed one; None where there is no retry at all.
    pub fn apply(self, computed: Duration, hint: Duration, draw: Draw) -> Option<Duration> {
        Some(match self {
            RetryAfter::Ignore => computed,
            RetryAfter::Replace { cap, .. } if hint <= cap => hint,
            RetryAfter::Replace { cap, beyond: Beyond::Cap } => cap,
            RetryAfter::Replace { beyond: Beyond::Ignore, .. } => computed,
            RetryAfter::Replace { beyond: Beyond::Stop, .. } => return None,
            RetryAfter::Floor | RetryAfter::FloorBeforeJitter => hint.max(computed),
            RetryAfter::Clamp { plus } => hint.clamp(computed, computed.saturating_add(plus)),
            RetryAfter::Spread { cap, .. } if hint > cap => computed,
            RetryAfter::Spread { factor, .. } => Duration(hint.0 + draw.up_to(scaled(hint, factor).0.saturating_sub(hint.0))),
        })
    }

    /// Whether a hint of zero leaves no wait, whatever was computed.
    pub fn can_leave_no_wait(self) -> bool {
        matches!(self, RetryAfter::Replace { .. } | RetryAfter::Spread { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// The wait that is left at the draws 0 and 1, in seconds.
    type Left = Option<(u64, u64)>;

    /// Each row: the rule, the computed wait and the hint in seconds, and the wait that is left at the draws 0 and 1.
    #[test]
    fn hints_do_what_their_rule_says() {
        let replace = |cap, beyond| RetryAfter::Replace { cap: Duration(cap * S), beyond };
        let spread = RetryAfter::Spread { factor: 1.5, cap: Duration(300 * S) };
        let clamp = RetryAfter::Clamp { plus: Duration(5 * S) };
        let rows: [(RetryAfter, u64, u64, Left); 17] = [
            (RetryAfter::Ignore, 2, 7, Some((2, 2))),
            (RetryAfter::REPLACE, 2, 7, Some((7, 7))),
            (RetryAfter::REPLACE, 2, 0, Some((0, 0))),
            (replace(21_600, Beyond::Cap), 2, 9_999_999_999, Some((21_600, 21_600))),
            (replace(120, Beyond::Ignore), 2, 120, Some((120, 120))),
            (replace(120, Beyond::Ignore), 2, 121, Some((2, 2))),
            (replace(120, Beyond::Stop), 2, 120, Some((120, 120))),
            (replace(120, Beyond::Stop), 2, 121, None),
            (RetryAfter::Floor, 2, 7, Some((7, 7))),
            (RetryAfter::Floor, 9, 7, Some((9, 9))),
            (RetryAfter::FloorBeforeJitter, 2, 7, Some((7, 7))),
            (clamp, 2, 1, Some((2, 2))),
            (clamp, 2, 4, Some((4, 4))),
            (clamp, 2, 60, Some((7, 7))),
            (spread, 2, 4, Some((4, 6))),
            (spread, 2, 300, Some((300, 450))),
            (spread, 2, 301, Some((2, 2))),
        ];
        for (rule, computed, hint, left) in rows {
            let wait = |word| rule.apply(Duration(computed * S), Duration(hint * S), Draw(word)).map(|wait| wait.0 / S);
            assert_eq!((wait(0), wait(u64::MAX)), (left.map(|left| left.0), left.map(|left| left.1)), "{rule:?} {computed} {hint}");
        }
    }

    #[test]
    fn the_longest_hint_overflows_nothing() {
        for rule in [RetryAfter::Clamp { plus: Duration::MAX }, RetryAfter::Spread { factor: 1e6, cap: Duration::MAX }, RetryAfter::REPLACE]
        {
            assert_eq!(rule.apply(Duration(1), Duration::MAX, Draw(u64::MAX)), Some(Duration::MAX), "{rule:?}");
        }
    }
}
