//! A cap on the part of the traffic that is retries.
//!
//! Source: Google SRE book, ch. 21: a client retries only as long as its ratio of retries is below 10 %.

use super::sliding::Sliding;
use crate::measure::time::{Duration, Time};

/// A retry is made as long as the retries of the window are less than a share of its calls, or of its attempts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioCap {
    /// The share that they stay below until the last of them: 0 to 10.
    pub share: f64,
    /// Of what.
    pub of: Of,
    /// How long a call and a retry count; above zero.
    pub window: Duration,
}

/// What a share is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Of the calls that started.
    Calls,
    /// Of all attempts: calls that started, and retries.
    Attempts,
}

/// The calls and the retries of the window.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Sliding);

const CALLS: usize = 0;
const RETRIES: usize = 1;

impl RatioCap {
    /// A call starts.
    pub fn start(&self, ledger: &mut Ledger, now: Time) {
        ledger.0.add(CALLS, self.window, now);
    }

    /// Whether one more retry may be made.
    pub fn allows(&self, ledger: &mut Ledger, now: Time) -> bool {
        let [calls, retries] = ledger.0.counts(self.window, now);
        let base = if self.of == Of::Calls { calls } else { calls + retries };
        // Billionths, so that 7 % of 100 is 7.
        u128::from(retries) * 1_000_000_000 < (self.share * 1e9 + 0.5) as u128 * u128::from(base)
    }

    /// A retry is made.
    pub fn retry(&self, ledger: &mut Ledger, now: Time) {
        ledger.0.add(RETRIES, self.window, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::time::NANOSECONDS;

    /// 20 % of 1000 calls are 200; of all attempts, r < 0.2 (1000 + r): 250. 7 % of 100 are 7, and the first of one call is below any share.
    #[test]
    fn retries_stay_below_the_share() {
        for (share, of, calls, retries) in [
            (0.2, Of::Calls, 1000, 200),
            (0.2, Of::Attempts, 1000, 250),
            (0.07, Of::Calls, 100, 7),
            (0.1, Of::Calls, 1, 1),
            (0.1, Of::Calls, 11, 2),
            (3.0, Of::Calls, 100, 300),
            (0.0, Of::Calls, 100, 0),
            (0.5, Of::Calls, 0, 0),
        ] {
            let (cap, mut ledger) = (RatioCap { share, of, window: Duration(10 * NANOSECONDS) }, Ledger::default());
            (0..calls).for_each(|_| cap.start(&mut ledger, Time(0)));
            let mut made = 0;
            while cap.allows(&mut ledger, Time(1)) {
                cap.retry(&mut ledger, Time(1));
                made += 1;
            }
            assert_eq!(made, retries, "{share} {of:?} {calls}");
            assert!(!cap.allows(&mut ledger, Time(10 * NANOSECONDS)), "nothing of it counts after the window");
        }
    }
}
