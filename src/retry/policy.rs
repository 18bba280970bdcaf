//! A policy: everything that decides whether and when a caller tries again.

use super::backoff::Backoff;
use super::breaker::Breaker;
use super::budget::Budget;
use super::hedge::Hedge;
use super::outcome::{Outcome, OutcomeSet};
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
    /// The probability, 0 to 1, that a caller whose attempt has failed goes on at all.
    pub persistence: f64,
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

/// What a server's hint (`Retry-After`) does to the computed wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetryAfter {
    /// Nothing.
    #[default]
    Ignore,
    /// The hint is the wait.
    Replace,
    /// The wait is at least the hint.
    Floor,
    /// The wait is at least the computed one and at most 5 s more than it: the hint within these (AWS, 2026).
    Clamp,
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
            persistence: 1.0,
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

    /// The wait that a backoff gives before retry number `retry` (from 1), after `previous` where it remembers, given the server's hint.
    #[inline]
    pub fn wait(&self, backoff: &Backoff, retry: u32, previous: Duration, hint: Option<Duration>, draw: Draw) -> Duration {
        let wait = backoff.wait(retry, previous, draw);
        match (hint, self.retry_after) {
            (None, _) | (_, RetryAfter::Ignore) => wait,
            (Some(hint), RetryAfter::Replace) => hint,
            (Some(hint), RetryAfter::Floor) => hint.max(wait),
            (Some(hint), RetryAfter::Clamp) => hint.clamp(wait, wait.saturating_add(Duration(5_000_000_000))),
        }
    }
}
