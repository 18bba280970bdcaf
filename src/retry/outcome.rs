//! How an attempt can end.

/// The outcome of one attempt, as its caller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Outcome {
    /// Done.
    Ok,
    /// The service failed (5xx).
    Error,
    /// The service is overloaded and did not take it (503).
    Rejected,
    /// A rate limit turned it away (429).
    Throttled,
    /// No connection: nobody listens.
    Refused,
    /// No answer in time. It is unknown whether it was done.
    Timeout,
    /// An optimistic write found that another had come between.
    Conflict,
    /// The request itself is wrong (4xx): never worth a retry.
    Permanent,
}

/// Every outcome that is a failure, in the order of the documentation.
pub const FAILURES: [Outcome; 7] =
    [Outcome::Error, Outcome::Rejected, Outcome::Throttled, Outcome::Refused, Outcome::Timeout, Outcome::Conflict, Outcome::Permanent];

impl Outcome {
    /// The name in scenario files, tables and traces.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Error => "error",
            Outcome::Rejected => "rejected",
            Outcome::Throttled => "throttled",
            Outcome::Refused => "refused",
            Outcome::Timeout => "timeout",
            Outcome::Conflict => "conflict",
            Outcome::Permanent => "permanent",
        }
    }
}

/// A set of outcomes: what counts as worth a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeSet(u8);

impl OutcomeSet {
    /// The set of these outcomes.
    pub fn of(outcomes: &[Outcome]) -> OutcomeSet {
        OutcomeSet(outcomes.iter().fold(0, |bits, outcome| bits | 1 << *outcome as u8))
    }

    /// Every failure but `permanent`: the default of `retry_on`.
    pub fn transient() -> OutcomeSet {
        OutcomeSet::of(&FAILURES[..6])
    }

    /// Whether the outcome belongs to the set.
    #[inline]
    pub fn contains(self, outcome: Outcome) -> bool {
        self.0 & (1 << outcome as u8) != 0
    }
}
