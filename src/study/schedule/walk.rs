//! One call that always fails, from retry to retry.

use super::{Question, STRATA, USUAL_RETRIES};
use crate::measure::random::Draw;
use crate::measure::time::Duration;
use crate::retry::backoff::Backoff;
use crate::retry::policy::Policy;

/// What is walked along: a policy with all that is asked of it.
pub struct Walk<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// What is asked.
    pub question: &'a Question,
    /// Retries in all; None has no end.
    pub total: Option<u32>,
    /// Retries that are shown.
    pub shown: u32,
    /// How long an attempt takes.
    pub attempt_time: Duration,
    /// The wait that the cap alone makes, where there is a cap.
    pub cap: Option<Duration>,
}

/// A retry that was walked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number, from 1.
    pub retry: u32,
    /// The wait before it.
    pub wait: Duration,
    /// When it is sent, from the start of the call.
    pub at: Duration,
}

impl<'a> Walk<'a> {
    /// At its start.
    pub fn new(policy: &'a Policy, question: &'a Question) -> Walk<'a> {
        let stops =
            !policy.retry_on.contains(question.outcome) || policy.wait(1, (question.outcome, question.hint), &mut 0, Draw(0)).is_none();
        let total = if stops { Some(0) } else { policy.attempts.map(|attempts| attempts - 1) };
        let most = total.unwrap_or(question.retries.unwrap_or(USUAL_RETRIES));
        let attempt_time = policy.timeout.map_or(question.attempt_time, |timeout| question.attempt_time.min(timeout));
        Walk {
            policy,
            question,
            total,
            shown: question.retries.map_or(most, |retries| retries.min(most)),
            attempt_time,
            cap: cap_of(policy.backoff_after(question.outcome)),
        }
    }

    /// Whether anything limits when a retry may be sent.
    pub fn has_limit(&self) -> bool {
        self.policy.deadline.is_some() || self.policy.max_elapsed.is_some() || self.question.deadline.is_some()
    }

    /// Whether a retry so long after the start of the call is not sent.
    pub fn is_too_late(&self, at: Duration) -> bool {
        self.policy.is_too_late(at) || self.question.deadline.is_some_and(|deadline| at >= deadline)
    }

    /// Walks over at most `most` retries, for as long as `visit` wants to go on.
    pub fn follow(&self, most: u32, draw: impl Fn(u32) -> Draw, mut visit: impl FnMut(Step) -> bool) {
        let (mut memory, mut at) = (0, Duration::ZERO);
        for retry in 1..=most {
            let failure = (self.question.outcome, self.question.hint);
            let Some(wait) = self.policy.wait(retry, failure, &mut memory, draw(retry)) else { return };
            at = at.saturating_add(self.attempt_time).saturating_add(wait);
            if !visit(Step { retry, wait, at }) {
                return;
            }
        }
    }

    /// The mean wait before a retry in seconds, and the share of waits at the cap, over even draws.
    pub fn even(&self, retry: u32) -> (f64, f64) {
        let (mut sum, mut capped) = (0u128, 0u64);
        for stratum in 0..STRATA {
            let draw = Draw((2 * stratum + 1) * (u64::MAX / (2 * STRATA) + 1));
            let wait = self.policy.wait(retry, (self.question.outcome, self.question.hint), &mut 0, draw).unwrap_or_default();
            sum += u128::from(wait.0);
            capped += u64::from(Some(wait) == self.cap);
        }
        (sum as f64 / STRATA as f64 / 1e9, capped as f64 / STRATA as f64)
    }
}

/// What a wait is that the cap alone has made: with the floor, the offset and the rounding that follow it.
fn cap_of(backoff: &Backoff) -> Option<Duration> {
    let pipeline = backoff.pipeline().filter(|pipeline| pipeline.cap < Duration::MAX)?;
    Some(pipeline.quantise.apply(pipeline.cap.max(pipeline.floor_after).saturating_add(pipeline.offset)))
}
