//! Adaptive throttling: a client turns away its own attempts, with a probability that grows with the part that is not accepted.
//!
//! Source: Google SRE book, ch. 21: p = max(0, (requests - k accepts) / (requests + 1)) over two minutes, k = 2.

use super::sliding::Sliding;
use crate::measure::random::Draw;
use crate::measure::time::{Duration, Time};

/// Turns attempts away before they are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveReject {
    /// How many requests an accepted one lets through; above zero, 2 in the book.
    pub k: f64,
    /// How long a request counts; above zero.
    pub window: Duration,
    /// The greatest probability: 0 to 1.
    pub most: f64,
    /// Whether only retries are turned away. First attempts count all the same.
    pub only_retries: bool,
}

/// The requests, those turned away included, and those accepted of the window.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Sliding);

const REQUESTS: usize = 0;
const ACCEPTS: usize = 1;

impl AdaptiveReject {
    /// The probability with which the next attempt is turned away.
    pub fn probability(&self, ledger: &mut Ledger, now: Time) -> f64 {
        let [requests, accepts] = ledger.0.counts(self.window, now);
        let (requests, accepts) = (requests as f64, accepts as f64);
        ((requests - self.k * accepts) / (requests + 1.0)).clamp(0.0, self.most)
    }

    /// Whether an attempt, the `number`-th of its call, is turned away.
    pub fn rejects(&self, ledger: &mut Ledger, number: u32, now: Time, draw: Draw) -> bool {
        (number > 1 || !self.only_retries) && draw.hits(self.probability(ledger, now))
    }

    /// An attempt is sent, or turned away.
    pub fn request(&self, ledger: &mut Ledger, now: Time) {
        ledger.0.add(REQUESTS, self.window, now);
    }

    /// An attempt has ended with `ok`.
    pub fn accept(&self, ledger: &mut Ledger, now: Time) {
        ledger.0.add(ACCEPTS, self.window, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::time::NANOSECONDS;

    const SRE: AdaptiveReject = AdaptiveReject { k: 2.0, window: Duration(120 * NANOSECONDS), most: 1.0, only_retries: false };

    /// gax, 20 failures in a row: n / (n + 1), that is 0.5, 0.667, 0.75 ... 0.952; then it falls with each success, to 0 after 20.
    #[test]
    fn it_grows_with_failures_and_falls_with_successes() {
        let mut ledger = Ledger::default();
        for failures in 1..=20 {
            SRE.request(&mut ledger, Time(0));
            assert_eq!(SRE.probability(&mut ledger, Time(0)), f64::from(failures) / f64::from(failures + 1));
        }
        for successes in 1..=20 {
            SRE.request(&mut ledger, Time(0));
            SRE.accept(&mut ledger, Time(0));
            let expected = (f64::from(20 + successes) - 2.0 * f64::from(successes)) / f64::from(21 + successes);
            assert_eq!(SRE.probability(&mut ledger, Time(0)), expected.max(0.0), "{successes}");
        }
        let capped = AdaptiveReject { most: 0.8, ..SRE };
        let mut failing = Ledger::default();
        (0..100).for_each(|_| capped.request(&mut failing, Time(0)));
        assert_eq!(capped.probability(&mut failing, Time(0)), 0.8);
        assert_eq!(capped.probability(&mut failing, Time(120 * NANOSECONDS)), 0.0, "and after the window nothing is known");
    }

    #[test]
    fn only_retries_are_turned_away_where_it_says_so() {
        let retries = AdaptiveReject { only_retries: true, ..SRE };
        let mut ledger = Ledger::default();
        (0..100).for_each(|_| retries.request(&mut ledger, Time(0)));
        let low = Draw(0);
        assert!(!retries.rejects(&mut ledger, 1, Time(0), low) && retries.rejects(&mut ledger, 2, Time(0), low));
        assert!(SRE.rejects(&mut ledger, 1, Time(0), low) && !SRE.rejects(&mut ledger, 1, Time(0), Draw(u64::MAX)));
    }
}
