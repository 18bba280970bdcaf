//! Retry budgets: what many calls may spend on retries together.

use crate::measure::time::{Duration, Time};

/// Who shares one ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every client has its own.
    Client,
    /// All clients of the group share one.
    Group,
}

/// A budget in proportion to the calls: each call deposits `share` when it starts, each retry costs 1, both for `window`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// What a call deposits, in retries: 0 to 1.
    pub share: f64,
    /// Retries a second that are granted without deposits.
    pub min_per_second: f64,
    /// How long a deposit and a withdrawal count.
    pub window: Duration,
    /// Who shares one ledger.
    pub scope: Scope,
}

/// Deposits and withdrawals are whole billionths, so that ten deposits of 10 % are one retry and not 0.9999.
const RETRY: i64 = 1_000_000_000;

/// The window slides in this many steps: entries count for nine to ten tenths of it.
const SLOTS: usize = 10;

/// The account of one scope.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Deposits less withdrawals, by tenth of the window.
    slots: [i64; SLOTS],
    /// The tenth that the newest entry belongs to, counted from the start of the run.
    newest: u64,
}

impl Budget {
    /// A call starts: it deposits its share.
    pub fn deposit(&self, ledger: &mut Ledger, now: Time) {
        let slot = self.slide(ledger, now);
        ledger.slots[slot] += (self.share * RETRY as f64 + 0.5) as i64;
    }

    /// A retry is wanted: true where the balance covers it, which is then paid.
    pub fn withdraw(&self, ledger: &mut Ledger, now: Time) -> bool {
        let slot = self.slide(ledger, now);
        let granted = (self.min_per_second * self.window.seconds() * RETRY as f64) as i64;
        let balance = ledger.slots.iter().sum::<i64>().saturating_add(granted);
        let enough = balance >= RETRY;
        if enough {
            ledger.slots[slot] -= RETRY;
        }
        enough
    }

    /// Drops what is older than the window; the slot that `now` belongs to.
    fn slide(&self, ledger: &mut Ledger, now: Time) -> usize {
        let tenth = (self.window.0 / SLOTS as u64).max(1);
        let current = now.0 / tenth;
        for passed in ledger.newest + 1..=current.min(ledger.newest + SLOTS as u64) {
            ledger.slots[(passed % SLOTS as u64) as usize] = 0;
        }
        ledger.newest = current;
        (current % SLOTS as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::time::NANOSECONDS;

    fn budget(share: f64, min_per_second: f64) -> Budget {
        Budget { share, min_per_second, window: Duration(10 * NANOSECONDS), scope: Scope::Group }
    }

    #[test]
    fn ten_calls_pay_for_one_retry() {
        let (budget, mut ledger) = (budget(0.1, 0.0), Ledger::default());
        for _ in 0..9 {
            budget.deposit(&mut ledger, Time(0));
        }
        assert!(!budget.withdraw(&mut ledger, Time(0)));
        budget.deposit(&mut ledger, Time(0));
        assert!(budget.withdraw(&mut ledger, Time(1)));
        assert!(!budget.withdraw(&mut ledger, Time(1)));
    }

    #[test]
    fn deposits_expire_with_the_window() {
        let (budget, mut ledger) = (budget(1.0, 0.0), Ledger::default());
        budget.deposit(&mut ledger, Time(500_000_000));
        let mut late = ledger.clone();
        assert!(budget.withdraw(&mut ledger, Time(9_999_999_999)));
        assert!(!budget.withdraw(&mut late, Time(10_000_000_000)));
    }

    #[test]
    fn the_floor_grants_a_window_at_once_and_then_its_rate() {
        let (budget, mut ledger) = (budget(0.0, 2.0), Ledger::default());
        let granted = (0..100).filter(|_| budget.withdraw(&mut ledger, Time(0))).count();
        assert_eq!(granted, 20);
        let later = (0..100u64).filter(|i| budget.withdraw(&mut ledger, Time(NANOSECONDS * i))).count();
        assert_eq!(later, 90, "none in the window of the burst, then each of the one a second that are asked for");
    }
}
