//! A budget in proportion to the calls.

use crate::measure::time::{Duration, Time};

/// Each call deposits `share` when it starts, each retry costs 1, both for `window`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// What a call deposits, in retries: 0 to 10.
    pub share: f64,
    /// Retries a second that are granted without deposits.
    pub min_per_second: f64,
    /// How long a deposit and a withdrawal count; above zero.
    pub window: Duration,
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

impl Ratio {
    /// A call starts: it deposits its share.
    pub fn deposit(&self, ledger: &mut Ledger, now: Time) {
        let slot = self.slide(ledger, now);
        ledger.slots[slot] += (self.share * RETRY as f64 + 0.5) as i64;
    }

    /// Whether the balance covers a retry.
    pub fn covers(&self, ledger: &mut Ledger, now: Time) -> bool {
        self.slide(ledger, now);
        let granted = (self.min_per_second * self.window.seconds() * RETRY as f64) as i64;
        ledger.slots.iter().sum::<i64>().saturating_add(granted) >= RETRY
    }

    /// A retry is paid, after [`Ratio::covers`] at the same instant.
    pub fn withdraw(&self, ledger: &mut Ledger) {
        ledger.slots[(ledger.newest % SLOTS as u64) as usize] -= RETRY;
    }

    /// Drops what is older than the window; the slot that `now` belongs to.
    fn slide(&self, ledger: &mut Ledger, now: Time) -> usize {
        let tenth = (self.window.0 / SLOTS as u64).max(1);
        // Most entries belong to the tenth of the one before; a comparison is cheaper than a division.
        if now.0.checked_sub(ledger.newest.saturating_mul(tenth)).is_some_and(|passed| passed < tenth) {
            return (ledger.newest % SLOTS as u64) as usize;
        }
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

    fn budget(share: f64, min_per_second: f64) -> Ratio {
        Ratio { share, min_per_second, window: Duration(10 * NANOSECONDS) }
    }

    /// Asks for a retry, and pays where it is covered.
    fn retry(budget: &Ratio, ledger: &mut Ledger, now: Time) -> bool {
        let covered = budget.covers(ledger, now);
        if covered {
            budget.withdraw(ledger);
        }
        covered
    }

    #[test]
    fn ten_calls_pay_for_one_retry() {
        let (budget, mut ledger) = (budget(0.1, 0.0), Ledger::default());
        for _ in 0..9 {
            budget.deposit(&mut ledger, Time(0));
        }
        assert!(!retry(&budget, &mut ledger, Time(0)));
        budget.deposit(&mut ledger, Time(0));
        assert!(retry(&budget, &mut ledger, Time(1)));
        assert!(!retry(&budget, &mut ledger, Time(1)));
    }

    #[test]
    fn deposits_expire_with_the_window() {
        let (budget, mut ledger) = (budget(1.0, 0.0), Ledger::default());
        budget.deposit(&mut ledger, Time(500_000_000));
        let mut late = ledger.clone();
        assert!(retry(&budget, &mut ledger, Time(9_999_999_999)));
        assert!(!retry(&budget, &mut late, Time(10_000_000_000)));
    }

    #[test]
    fn the_floor_grants_a_window_at_once_and_then_its_rate() {
        let (budget, mut ledger) = (budget(0.0, 2.0), Ledger::default());
        let granted = (0..100).filter(|_| retry(&budget, &mut ledger, Time(0))).count();
        assert_eq!(granted, 20);
        let later = (0..100u64).filter(|i| retry(&budget, &mut ledger, Time(NANOSECONDS * i))).count();
        assert_eq!(later, 90, "none in the window of the burst, then each of the one a second that are asked for");
    }
}
