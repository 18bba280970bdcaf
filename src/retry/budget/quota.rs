//! The retry quota of the AWS SDKs: a purse that is full at first, pays for retries, and gets something back for successes.
//!
//! Source: botocore/retries/quota.py and standard.py (1.44.8: capacity 500, 14 a retry, 5 after throttling); `partial` is that of
//! aws-c-io, `refill` that of smithy-rs.

use crate::measure::time::{Duration, Time};
use crate::retry::outcome::Outcome;

/// A purse of `capacity`, from which retries are paid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quota {
    /// What is in the purse at first, and at most; at least 1.
    pub capacity: u32,
    /// What a retry costs after most outcomes.
    pub cost: u32,
    /// What it costs after `throttled`.
    pub throttled_cost: u32,
    /// What it costs after `timeout`.
    pub timeout_cost: u32,
    /// What a call that succeeds at its first attempt puts in.
    pub success_reward: u32,
    /// What a call that succeeds after a retry gets back.
    pub refund: Refund,
    /// What comes into the purse by itself, a second: 0 to 1e9.
    pub refill: f64,
    /// Whether what is left, if it is anything, is enough for a retry.
    pub partial: bool,
}

/// What a call gets back that succeeds after a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refund {
    /// What its last retry has cost.
    Last,
    /// No more than a call without retry: the reward.
    None,
}

/// Billionths, so that a refill of any rate adds up.
const ONE: u64 = 1_000_000_000;

/// A purse: what has been taken out of it, so that it is full at first.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    spent: u64,
    refilled: Time,
}

impl Quota {
    /// What is in the purse, in whole units.
    pub fn available(&self, ledger: &Ledger) -> u32 {
        ((u64::from(self.capacity) * ONE).saturating_sub(ledger.spent) / ONE) as u32
    }

    /// Lets come in what has come in by now.
    pub fn refill(&self, ledger: &mut Ledger, now: Time) {
        if self.refill > 0.0 {
            // Units a second are billionths a nanosecond.
            let come = Duration::from_nanoseconds((now - ledger.refilled).0 as f64 * self.refill);
            ledger.spent = ledger.spent.saturating_sub(come.0);
        }
        ledger.refilled = now;
    }

    /// The price of a retry after this outcome; None where the purse does not hold it.
    pub fn price(&self, ledger: &mut Ledger, outcome: Outcome, now: Time) -> Option<u32> {
        self.refill(ledger, now);
        let cost = match outcome {
            Outcome::Throttled => self.throttled_cost,
            Outcome::Timeout => self.timeout_cost,
            _ => self.cost,
        };
        let available = self.available(ledger);
        if available >= cost { Some(cost) } else { (self.partial && available > 0).then_some(available) }
    }

    /// A retry is paid, at its [`Quota::price`].
    pub fn pay(&self, ledger: &mut Ledger, price: u32) {
        ledger.spent += u64::from(price) * ONE;
    }

    /// A call has succeeded, after a retry or without one; `last` is what its last retry cost.
    pub fn succeed(&self, ledger: &mut Ledger, retried: bool, last: u32, now: Time) {
        self.refill(ledger, now);
        let back = if retried && self.refund == Refund::Last { last } else { self.success_reward };
        ledger.spent = ledger.spent.min(u64::from(self.capacity) * ONE).saturating_sub(u64::from(back) * ONE);
    }

    /// The least that a retry can cost.
    pub fn least_cost(&self) -> u32 {
        self.cost.min(self.throttled_cost).min(self.timeout_cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::time::NANOSECONDS;

    const AWS: Quota = Quota {
        capacity: 500,
        cost: 14,
        throttled_cost: 5,
        timeout_cost: 14,
        success_reward: 1,
        refund: Refund::Last,
        refill: 0.0,
        partial: false,
    };

    fn retry(quota: &Quota, ledger: &mut Ledger, outcome: Outcome, now: u64) -> Option<u32> {
        let price = quota.price(ledger, outcome, Time(now));
        price.into_iter().for_each(|price| quota.pay(ledger, price));
        price
    }

    /// floor(500 / 14) and 500 / 5; what is left of 500 after 35 retries is 10, which a partial purse gives away too.
    #[test]
    fn a_purse_pays_for_so_many_retries() {
        for (outcome, partial, retries, left) in [
            (Outcome::Error, false, 35, 10),
            (Outcome::Timeout, false, 35, 10),
            (Outcome::Throttled, false, 100, 0),
            (Outcome::Error, true, 36, 0),
        ] {
            let (quota, mut ledger) = (Quota { partial, ..AWS }, Ledger::default());
            let granted = (0..1000).filter(|_| retry(&quota, &mut ledger, outcome, 0).is_some()).count();
            assert_eq!((granted, quota.available(&ledger)), (retries, left), "{outcome:?} {partial}");
        }
    }

    /// Without a retry +1, one retry nets nothing, two net minus one cost, a failure minus all: the accounting of botocore.
    #[test]
    fn successes_put_back() {
        for (refund, retries, succeeds, left) in [
            (Refund::Last, 0, true, 401),
            (Refund::Last, 1, true, 400),
            (Refund::Last, 2, true, 386),
            (Refund::Last, 2, false, 372),
            (Refund::None, 2, true, 373),
        ] {
            let (quota, mut ledger) = (Quota { refund, ..AWS }, Ledger { spent: 100 * ONE, refilled: Time::ZERO });
            let last = (0..retries).filter_map(|_| retry(&quota, &mut ledger, Outcome::Error, 0)).last();
            if succeeds {
                quota.succeed(&mut ledger, retries > 0, last.unwrap_or(0), Time::ZERO);
            }
            assert_eq!(quota.available(&ledger), left, "{refund:?} {retries} {succeeds}");
        }
        let mut full = Ledger::default();
        AWS.succeed(&mut full, false, 0, Time::ZERO);
        assert_eq!(AWS.available(&full), 500, "and no more");
    }

    /// Ten tokens a second from an empty purse: a retry of 14 after 1.4 s and not before.
    #[test]
    fn a_refill_adds_up() {
        let (quota, mut ledger) = (Quota { refill: 10.0, ..AWS }, Ledger { spent: 500 * ONE, refilled: Time::ZERO });
        for step in 1..14 {
            assert_eq!(retry(&quota, &mut ledger, Outcome::Error, step * NANOSECONDS / 10), None);
        }
        assert_eq!(retry(&quota, &mut ledger, Outcome::Error, 14 * NANOSECONDS / 10), Some(14));
        assert_eq!(quota.available(&ledger), 0);
    }
}
