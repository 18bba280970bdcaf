//! The retry budgets of tower and Finagle, to the last token: a window of deposits and withdrawals, and a reserve.
//!
//! Source: tower 0.5.3 `TpsBudget` (which Linkerd uses), twitter/util `WindowedAdder` and Finagle `RetryBudget`.

use crate::measure::time::{Duration, Time};

/// What a deposit of each call, or of each that went well, pays for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Retries a deposit pays for: 0 to 10. Both libraries round 1 / ratio down.
    pub ratio: f64,
    /// Retries a second that the reserve is made for.
    pub min_per_second: u32,
    /// How long an entry counts: 1 s to 60 s.
    pub ttl: Duration,
    /// Whose arithmetic.
    pub slots: Slots,
    /// What makes a deposit.
    pub deposit_on: DepositOn,
}

/// Whose arithmetic and whose window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots {
    /// tower: ten tenths and the present one. A tenth that is over by more than nothing moves the ring by two: where it is not asked exactly
    /// at each tenth, entries count for about half of the time.
    Tower,
    /// Finagle: nine tenths and the present one; entries count for 0.9 to 1 of the time.
    Finagle,
}

/// What makes a deposit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepositOn {
    /// The start of a call (Finagle's retry filter).
    Call,
    /// A call that succeeds (Finagle's requeue filter).
    Success,
    /// A call that ends with `ok`, or with an outcome that is not worth a retry (tower, Linkerd).
    End,
}

const SLOTS: usize = 10;

/// Deposits less withdrawals of the tenths that are over, in a ring, and of the present one.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    over: [i64; SLOTS],
    present: i64,
    index: u32,
    /// When the present one began: at the first entry after the last was over, not at a multiple of a tenth.
    since: Time,
}

impl Window {
    /// What a deposit adds and a withdrawal takes.
    pub fn amounts(&self) -> (i64, i64) {
        match self.slots {
            _ if self.ratio == 0.0 => (0, 1),
            // In single precision, as there: 1 / 0.07 and the like can be rounded down or not.
            Slots::Tower if self.ratio <= 1.0 => (1, (1.0 / self.ratio as f32) as i64),
            Slots::Tower => (1000, (1000.0 / self.ratio as f32) as i64),
            Slots::Finagle => (1000, (1000.0 / self.ratio) as i64),
        }
    }

    /// A deposit is made.
    pub fn deposit(&self, ledger: &mut Ledger, now: Time) {
        self.expire(ledger, now);
        ledger.present += self.amounts().0;
    }

    /// Whether the balance covers a retry.
    pub fn covers(&self, ledger: &mut Ledger, now: Time) -> bool {
        self.expire(ledger, now);
        let price = self.amounts().1;
        let reserve = i64::from(self.min_per_second) * (self.ttl.0 / 1_000_000_000) as i64;
        let kept = &ledger.over[..self.kept()];
        ledger.present + kept.iter().sum::<i64>() + reserve.saturating_mul(price) >= price
    }

    /// A retry is paid, after [`Window::covers`].
    pub fn withdraw(&self, ledger: &mut Ledger) {
        ledger.present -= self.amounts().1;
    }

    /// How many tenths that are over count.
    fn kept(&self) -> usize {
        match self.slots {
            Slots::Tower => SLOTS,
            Slots::Finagle => SLOTS - 1,
        }
    }

    /// Where the present tenth is over, it becomes the newest of the ring, and the tenths that nothing happened in are empty.
    fn expire(&self, ledger: &mut Ledger, now: Time) {
        let (tenth, kept) = (self.ttl.0 / SLOTS as u64, self.kept());
        let passed = (now - ledger.since).0;
        if passed < tenth {
            return;
        }
        let empty = match self.slots {
            // It goes on while more than a tenth is left of the time that passed.
            Slots::Tower => (passed - 1) / tenth,
            Slots::Finagle => passed / tenth - 1,
        };
        ledger.index %= kept as u32;
        ledger.over[ledger.index as usize] = std::mem::take(&mut ledger.present);
        for step in 1..=empty.min(kept as u64) {
            ledger.over[(ledger.index as usize + step as usize) % kept] = 0;
        }
        ledger.index = ((u64::from(ledger.index) + 1 + empty) % kept as u64) as u32;
        ledger.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::time::NANOSECONDS;

    fn window(ratio: f64, min_per_second: u32, slots: Slots) -> Window {
        Window { ratio, min_per_second, ttl: Duration(10 * NANOSECONDS), slots, deposit_on: DepositOn::Call }
    }

    fn drain(window: &Window, ledger: &mut Ledger, milliseconds: u64) -> u32 {
        let mut retries = 0;
        while window.covers(ledger, Time(milliseconds * 1_000_000)) {
            window.withdraw(ledger);
            retries += 1;
        }
        retries
    }

    /// int(1 / ratio): 0.3 is a third and 0.15 a sixth in tower; Finagle counts thousandths.
    #[test]
    fn ratios_are_rounded() {
        for (ratio, tower, finagle) in [
            (0.0, 0, 0),
            (0.1, 100, 100),
            (0.15, 166, 150),
            (0.3, 333, 300),
            (0.5, 500, 500),
            (1.0, 1000, 1000),
            (2.5, 2500, 2500),
            (10.0, 10_000, 10_000),
        ] {
            for (slots, retries) in [(Slots::Tower, tower), (Slots::Finagle, finagle)] {
                let (window, mut ledger) = (window(ratio, 0, slots), Ledger::default());
                (0..1000).for_each(|_| window.deposit(&mut ledger, Time(0)));
                assert_eq!(drain(&window, &mut ledger, 0), retries, "{ratio} {slots:?}");
            }
        }
    }

    /// A burst of the whole reserve, and again when its tenth has left the window: after 11 tenths, or after 10.
    #[test]
    fn the_reserve_comes_back_in_bursts() {
        for (slots, again) in [(Slots::Tower, 11), (Slots::Finagle, 10)] {
            let (window, mut ledger) = (window(0.2, 10, slots), Ledger::default());
            for second in 0..50 {
                let expected = if second % again == 0 { 100 } else { 0 };
                assert_eq!(drain(&window, &mut ledger, second * 1000), expected, "{slots:?} {second}");
            }
        }
    }

    /// A deposit counts until its tenth has left, also where nothing was asked meanwhile.
    #[test]
    fn deposits_expire() {
        for (slots, last, gone) in [(Slots::Tower, 10_000, 10_001), (Slots::Finagle, 9_999, 10_000)] {
            for (at, retries) in [(0, 1), (5000, 1), (last, 1), (gone, 0), (60_000, 0)] {
                let (window, mut ledger) = (window(1.0, 0, slots), Ledger::default());
                window.deposit(&mut ledger, Time(0));
                assert_eq!(drain(&window, &mut ledger, at), retries, "{slots:?} at {at} ms");
            }
        }
    }
}
