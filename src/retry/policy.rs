//! A policy: everything that decides whether and when a caller tries again.

use super::backoff::Backoff;
use super::breaker::Breaker;
use super::budget::Budget;
use super::hint::RetryAfter;
use super::outcome::{Outcome, OutcomeSet};
use crate::measure::random::Draw;
use crate::measure::time::Duration;

/// What a caller does after a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Tries in all, the first included; None is unlimited. At least 1.
    pub attempts: Option<u32>,
    /// Time of one attempt, from its sending to the arrival of the reply; None waits for ever.
    pub timeout: Option<Duration>,
    /// Time of the whole call, waits included; None has no limit.
    pub deadline: Option<Duration>,
    /// The wait before a retry.
    pub backoff: Backoff,
    /// What limits the retries of many calls together.
    pub budget: Option<Budget>,
    /// What stops attempts altogether after too many failures.
    pub breaker: Option<Breaker>,
    /// The outcomes that are worth a retry.
    pub retry_on: OutcomeSet,
    /// What a server's hint does to the computed wait.
    pub retry_after: RetryAfter,
    /// The backoff that is used instead where the outcome is `throttled`; None is the same.
    pub throttled_backoff: Option<Backoff>,
    /// No retry is sent later than this after the start of the call; None has no limit. A running attempt goes on.
    pub max_elapsed: Option<Duration>,
    /// Whether all calls of the group draw the same jitter: the fault of clients that seed alike.
    pub shared_seed: bool,
}

impl Policy {
    /// One attempt, no timeout, no deadline: what a caller does that names no policy.
    pub fn once() -> Policy {
        Policy {
            attempts: Some(1),
            timeout: None,
            deadline: None,
            backoff: Backoff::None,
            budget: None,
            breaker: None,
            retry_on: OutcomeSet::transient(),
            retry_after: RetryAfter::Ignore,
            throttled_backoff: None,
            max_elapsed: None,
            shared_seed: false,
        }
    }

    /// Whether the outcome of attempt number `attempt` (from 1) is worth another, budgets and time aside.
    #[inline]
    pub fn retries(&self, attempt: u32, outcome: Outcome) -> bool {
        self.attempts.is_none_or(|most| attempt < most) && self.retry_on.contains(outcome)
    }

    /// The backoff that an outcome asks for.
    #[inline]
    pub fn backoff_after(&self, outcome: Outcome) -> &Backoff {
        match &self.throttled_backoff {
            Some(backoff) if outcome == Outcome::Throttled => backoff,
            _ => &self.backoff,
        }
    }

    /// The wait before retry number `retry` (from 1), after a failure and the hint that came with it; None where the hint says not to try
    /// again. `memory` is the call's, zero at its start.
    #[inline]
    pub fn wait(&self, retry: u32, (outcome, hint): (Outcome, Option<Duration>), memory: &mut u64, draw: Draw) -> Option<Duration> {
        let backoff = self.backoff_after(outcome);
        match hint {
            Some(hint) if self.retry_after != RetryAfter::Ignore => backoff.hinted(retry, memory, draw, (self.retry_after, hint)),
            _ => Some(backoff.wait(retry, memory, draw)),
        }
    }

    /// Whether a retry that is sent so long after the start of its call comes too late: at or after the deadline, or after `max_elapsed`.
    #[inline]
    pub fn is_too_late(&self, after: Duration) -> bool {
        self.deadline.is_some_and(|deadline| after >= deadline) || self.max_elapsed.is_some_and(|most| after > most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retry::hint::Beyond;

    const S: u64 = 1_000_000_000;

    /// The number of the retry is the call's, whichever backoff its outcomes choose.
    #[test]
    fn an_outcome_chooses_the_backoff() {
        let growth = |base| super::super::backoff::Growth { base: Duration(base), cap: Duration(20 * S), factor: 2.0, first_exponent: 0 };
        let policy = Policy {
            backoff: Backoff::Exponential(growth(S / 20)),
            throttled_backoff: Some(Backoff::Exponential(growth(S))),
            retry_after: RetryAfter::Replace { cap: Duration(60 * S), beyond: Beyond::Stop },
            ..Policy::once()
        };
        let wait = |retry, outcome, hint| policy.wait(retry, (outcome, hint), &mut 0, Draw(0)).map(|wait| wait.0);
        assert_eq!(wait(1, Outcome::Error, None), Some(S / 20));
        assert_eq!(wait(3, Outcome::Throttled, None), Some(4 * S));
        assert_eq!(wait(4, Outcome::Timeout, None), Some(S / 20 * 8));
        assert_eq!(wait(4, Outcome::Throttled, Some(Duration(60 * S))), Some(60 * S));
        assert_eq!(wait(4, Outcome::Throttled, Some(Duration(61 * S))), None);
    }

    #[test]
    fn a_retry_may_come_at_max_elapsed_but_not_at_the_deadline() {
        let late = |deadline, max_elapsed, after| Policy { deadline, max_elapsed, ..Policy::once() }.is_too_late(Duration(after));
        assert!(!late(None, Some(Duration(5)), 5) && late(None, Some(Duration(5)), 6));
        assert!(!late(Some(Duration(5)), None, 4) && late(Some(Duration(5)), None, 5));
        assert!(!late(None, None, u64::MAX));
    }
}
