//! Retriers: what a failure leads to depends on its kind, and each kind has its own count. AWS Step Functions retries so.
//!
//! Source: Amazon States Language, "Retry": the first retrier whose `ErrorEquals` names the error is the one; where it is used up the
//! call fails, whatever stands after it. The wait before the n-th use of a retrier is that of retry n.

use super::backoff::Backoff;
use super::outcome::{Outcome, OutcomeSet};

/// Retriers a policy can have: a call keeps a count for each.
pub const MOST: usize = 8;

/// What some outcomes lead to.
#[derive(Clone, Debug, PartialEq)]
pub struct Retrier {
    /// The outcomes it is for.
    pub on: OutcomeSet,
    /// How often it may be used in one call; None is without end.
    pub retries: Option<u32>,
    /// The wait before each use.
    pub backoff: Backoff,
}

/// What a call keeps of one retrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// How often it was used.
    pub count: u32,
    /// What its backoff remembers, zero at first: its own, as another's may mean something else.
    pub memory: u64,
}

/// What a call keeps of each retrier.
pub type Uses = [Use; MOST];

/// The retrier for an outcome and this use of it, which is counted, from 1; None where there is none or it is used up.
pub fn choose<'a, 'u>(retriers: &'a [Retrier], uses: &'u mut Uses, outcome: Outcome) -> Option<(&'a Retrier, &'u mut Use)> {
    let (retrier, own) = retriers.iter().zip(uses).find(|(retrier, _)| retrier.on.contains(outcome))?;
    if retrier.retries.is_some_and(|most| own.count >= most) {
        return None;
    }
    own.count = own.count.saturating_add(1);
    Some((retrier, own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_names_the_outcome_counts_and_there_is_no_second_chance() {
        let retrier = |on: &[Outcome], retries| Retrier { on: OutcomeSet::of(on), retries: Some(retries), backoff: Backoff::None };
        let retriers = [retrier(&[Outcome::Error], 1), retrier(&[Outcome::Error, Outcome::Timeout], 2)];
        let mut uses = Uses::default();
        let mut use_of = |outcome| choose(&retriers, &mut uses, outcome).map(|(retrier, own)| (retrier.retries, own.count));
        assert_eq!(use_of(Outcome::Error), Some((Some(1), 1)));
        assert_eq!(use_of(Outcome::Timeout), Some((Some(2), 1)));
        assert_eq!(use_of(Outcome::Error), None, "used up, though the second names it too");
        assert_eq!(use_of(Outcome::Timeout), Some((Some(2), 2)));
        assert_eq!(use_of(Outcome::Timeout), None);
        assert_eq!(use_of(Outcome::Rejected), None);
    }
}
