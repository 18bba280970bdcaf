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

/// How often a call has used each retrier.
pub type Uses = [u32; MOST];

/// The retrier for an outcome and the number of this use of it, from 1, which is counted; None where there is none or it is used up.
pub fn choose<'a>(retriers: &'a [Retrier], uses: &mut Uses, outcome: Outcome) -> Option<(&'a Retrier, u32)> {
    let (retrier, used) = retriers.iter().zip(uses).find(|(retrier, _)| retrier.on.contains(outcome))?;
    if retrier.retries.is_some_and(|most| *used >= most) {
        return None;
    }
    *used = used.saturating_add(1);
    Some((retrier, *used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_names_the_outcome_counts_and_there_is_no_second_chance() {
        let retrier = |on: &[Outcome], retries| Retrier { on: OutcomeSet::of(on), retries: Some(retries), backoff: Backoff::None };
        let retriers = [retrier(&[Outcome::Error], 1), retrier(&[Outcome::Error, Outcome::Timeout], 2)];
        let mut uses = Uses::default();
        let mut use_of = |outcome| choose(&retriers, &mut uses, outcome).map(|(retrier, number)| (retrier.retries, number));
        assert_eq!(use_of(Outcome::Error), Some((Some(1), 1)));
        assert_eq!(use_of(Outcome::Timeout), Some((Some(2), 1)));
        assert_eq!(use_of(Outcome::Error), None, "used up, though the second names it too");
        assert_eq!(use_of(Outcome::Timeout), Some((Some(2), 2)));
        assert_eq!(use_of(Outcome::Timeout), None);
        assert_eq!(use_of(Outcome::Rejected), None);
    }
}
