//! A pool at the caller: connections or threads, of which each attempt under way needs one.

use super::scope::Scope;
use crate::measure::time::Duration;

/// The places of a pool, and who may wait for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Attempts under way at once; at least 1.
    pub limit: u32,
    /// Attempts that may wait for a place; None is unlimited.
    pub wait: Option<u32>,
    /// How long one waits, above zero; None waits for ever.
    pub timeout: Option<Duration>,
    /// Who shares one.
    pub scope: Scope,
}

/// What an attempt that asks for a place is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It has one.
    Given,
    /// It waits, behind all who came before it.
    Waits,
    /// There is none, and no room to wait.
    Denied,
}

impl Pool {
    /// What happens to an attempt that comes while so many places are taken and so many wait. Where somebody waits no place is free.
    #[inline]
    pub fn entry(&self, taken: u32, waiting: u32) -> Entry {
        if taken < self.limit {
            Entry::Given
        } else if self.wait.is_none_or(|most| waiting < most) {
            Entry::Waits
        } else {
            Entry::Denied
        }
    }

    /// Whether it is the same pool with other numbers.
    pub fn goes_on_as(&self, other: &Pool) -> bool {
        self.scope == other.scope
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_then_a_line_then_nothing() {
        let pool = Pool { limit: 2, wait: Some(1), timeout: None, scope: Scope::Client };
        assert_eq!(
            [(0, 0), (1, 0), (2, 0), (2, 1)].map(|(taken, waiting)| pool.entry(taken, waiting)),
            [Entry::Given, Entry::Given, Entry::Waits, Entry::Denied]
        );
        assert_eq!(Pool { wait: None, ..pool }.entry(2, u32::MAX), Entry::Waits);
        assert_eq!(Pool { wait: Some(0), ..pool }.entry(2, 0), Entry::Denied);
    }
}
