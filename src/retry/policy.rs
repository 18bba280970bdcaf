//! A policy: everything that decides whether and when a caller tries again.

use super::backoff::Backoff;
use super::breaker::Breaker;
use super::budget::Budget;
use super::hedge::Hedge;
use super::hint::RetryAfter;
use super::outcome::{FAILURES, Outcome, OutcomeSet};
use super::pool::Pool;
use super::retrier::Retrier;
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
    /// Further attempts while one is under way.
    pub hedge: Option<Hedge>,
    /// What failures lead to by their kind, each counted by itself; empty where `backoff` is for all.
    pub retriers: Vec<Retrier>,
    /// What doing a call twice means.
    pub idempotent: Idempotent,
    /// The backoff that is used instead where the outcome is `throttled`; None is the same.
    pub throttled_backoff: Option<Backoff>,
    /// No retry is sent later than this after the start of the call; None has no limit. A running attempt goes on.
    pub max_elapsed: Option<Duration>,
    /// Whether all calls of the group draw the same jitter: the fault of clients that seed alike.
    pub shared_seed: bool,
    /// The probability, 0 to 1, that a caller whose attempt has failed goes on at all.
    pub persistence: f64,
    /// Connections or threads, of which each attempt under way needs one; None is no limit.
    pub pool: Option<Pool>,
}

/// What it means that a call is done twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Idempotent {
    /// It is done twice: money is charged twice.
    #[default]
    No,
    /// Nothing: the second time changes nothing.
    Yes,
    /// It is not: the attempts carry a key by which the service knows them. One whose call is done already is answered from what was
    /// stored; one whose call is being done gets a `conflict`.
    Key,
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
            hedge: None,
            retriers: Vec::new(),
            idempotent: Idempotent::No,
            throttled_backoff: None,
            max_elapsed: None,
            shared_seed: false,
            persistence: 1.0,
            pool: None,
        }
    }

    /// Whether the outcome of attempt number `attempt` (from 1) is worth another, budgets and time aside.
    #[inline]
    pub fn retries(&self, attempt: u32, outcome: Outcome) -> bool {
        self.attempts.is_none_or(|most| attempt < most) && self.retry_on.contains(outcome)
    }

    /// Whether the caller has had enough, given the draw of this failure: a person who retries at a website, not a machine.
    #[inline]
    pub fn gives_up(&self, draw: impl FnOnce() -> Draw) -> bool {
        self.persistence < 1.0 && !draw().hits(self.persistence)
    }

    /// Whether no count of attempts ends a call, whatever its outcomes.
    pub fn never_gives_up(&self) -> bool {
        self.attempts.is_none() && (self.retriers.is_empty() || self.retriers.iter().any(|retrier| retrier.retries.is_none()))
    }

    /// Whether it can retry without a wait, as often as it may at all.
    pub fn can_retry_at_once(&self) -> bool {
        if self.retriers.is_empty() {
            return self.backoff.is_zero();
        }
        self.retriers.iter().any(|retrier| retrier.retries.is_none() && retrier.backoff.is_zero())
    }

    /// The first outcome, in the order of the documentation, that it retries; `error` where it retries none.
    pub fn first_retried(&self) -> Outcome {
        let by_retrier = |outcome: Outcome| self.retriers.is_empty() || self.retriers.iter().any(|retrier| retrier.on.contains(outcome));
        FAILURES.into_iter().find(|outcome| self.retry_on.contains(*outcome) && by_retrier(*outcome)).unwrap_or(Outcome::Error)
    }

    /// The policy that a call meets whose attempts all end with this outcome: of several retriers the one for it, and its count.
    pub fn met_by(&self, outcome: Outcome) -> Policy {
        let mut policy = self.clone();
        let retriers = std::mem::take(&mut policy.retriers);
        if retriers.is_empty() {
            return policy;
        }
        let retrier = retriers.into_iter().find(|retrier| retrier.on.contains(outcome));
        let most = retrier.as_ref().map_or(Some(0), |retrier| retrier.retries).map(|retries| retries.saturating_add(1));
        policy.attempts = [policy.attempts, most].into_iter().flatten().min();
        policy.backoff = retrier.map_or(Backoff::None, |retrier| retrier.backoff);
        policy.throttled_backoff = None;
        policy
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
        self.wait_by(self.backoff_after(outcome), retry, hint, memory, draw)
    }

    /// As [`Policy::wait`], by this backoff.
    #[inline]
    pub fn wait_by(&self, backoff: &Backoff, retry: u32, hint: Option<Duration>, memory: &mut u64, draw: Draw) -> Option<Duration> {
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
