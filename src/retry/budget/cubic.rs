//! The client-side rate limiter of the AWS SDKs' adaptive mode: a token bucket whose rate follows CUBIC.
//!
//! ```text
//! measured <- smoothing * (answers in a half second or more / its length) + (1 - smoothing) * measured
//! throttled:  w_max = measured, or min(measured, rate) from the second time on;  K = cbrt(w_max (1 - beta) / scale);  new = beta w_max
//! otherwise:  new = scale (t - t_throttled - K)^3 + w_max
//! rate = max(min(new, 2 measured), least_rate);   bucket of max(min(new, 2 measured), 1) tokens, one a sending
//! ```
//! Source: botocore/retries/adaptive.py, throttling.py, bucket.py (beta 0.7, scale 0.4, smoothing 0.8, least rate 0.5).

use crate::measure::time::{Duration, NANOSECONDS, Time};
use crate::retry::outcome::{Outcome, OutcomeSet};

/// Limits all sendings, once an attempt has been throttled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cubic {
    /// What is left of the rate after a throttled attempt: above 0, below 1.
    pub beta: f64,
    /// How steeply the rate grows with the third power of the time; above 0.
    pub scale: f64,
    /// The weight of the newest half second in the measured rate: above 0, at most 1.
    pub smoothing: f64,
    /// The least rate, a second; above 0.
    pub least_rate: f64,
    /// The outcomes that cut the rate: `throttled`, in the SDKs.
    pub cuts_on: OutcomeSet,
}

/// The state of one limiter.
#[derive(Clone, Debug)]
pub struct Ledger {
    enabled: bool,
    /// Answers since the measured rate was last changed.
    answers: u32,
    /// When that was: the start of a half second, counted in half seconds.
    counted_from: u64,
    measured_rate: f64,
    capacity: f64,
    max_capacity: f64,
    fill_rate: f64,
    refilled: Time,
    w_max: f64,
    throttled: Time,
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger::new(Time::ZERO)
    }
}

const HALF_SECOND: u64 = NANOSECONDS / 2;

/// The rate is at most so many times what is measured.
const MOST_GROWTH: f64 = 2.0;

impl Ledger {
    /// A limiter that is made at a time. Its first stretch begins with the second.
    pub fn new(now: Time) -> Ledger {
        Ledger {
            enabled: false,
            answers: 0,
            counted_from: now.0 / NANOSECONDS * 2,
            measured_rate: 0.0,
            capacity: 0.0,
            max_capacity: 1.0,
            fill_rate: 1.0,
            refilled: now,
            w_max: 0.0,
            throttled: now,
        }
    }

    /// The same limiter, its bucket and its curve as if made at this time.
    pub fn refilled_at(&mut self, now: Time) {
        self.refilled = now;
        self.throttled = now;
    }

    /// Answers a second, smoothed.
    pub fn measured_rate(&self) -> f64 {
        self.measured_rate
    }

    /// Tokens a second.
    pub fn fill_rate(&self) -> f64 {
        self.fill_rate
    }

    /// The tokens that are there, and the most there can be.
    pub fn capacity(&self) -> (f64, f64) {
        (self.capacity, self.max_capacity)
    }

    /// Whether anything was throttled yet: until then nothing is limited.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    fn refill(&mut self, now: Time) {
        self.capacity = self.max_capacity.min(self.capacity + (now - self.refilled).seconds() * self.fill_rate);
        self.refilled = now;
    }

    fn measure(&mut self, smoothing: f64, now: Time) {
        let stretch = now.0 / HALF_SECOND;
        self.answers = self.answers.saturating_add(1);
        if stretch > self.counted_from {
            let rate = f64::from(self.answers) / ((stretch - self.counted_from) as f64 * 0.5);
            self.measured_rate = rate * smoothing + self.measured_rate * (1.0 - smoothing);
            self.answers = 0;
            self.counted_from = stretch;
        }
    }
}

impl Cubic {
    /// How long a sending must wait for a token; None where there is one, or nothing is limited.
    pub fn wait(&self, ledger: &mut Ledger, now: Time) -> Option<Duration> {
        if !ledger.enabled {
            return None;
        }
        ledger.refill(now);
        // Rounded up, and never nothing: what is short by the last bit of a number would otherwise be asked for again at once.
        let seconds = (1.0 - ledger.capacity) / ledger.fill_rate;
        (ledger.capacity < 1.0).then(|| Duration((libm::ceil(seconds * NANOSECONDS as f64) as u64).max(1)))
    }

    /// An attempt is sent, after [`Cubic::wait`] said that it may.
    pub fn send(&self, ledger: &mut Ledger) {
        if ledger.enabled {
            ledger.capacity -= 1.0;
        }
    }

    /// An attempt has ended.
    pub fn end(&self, ledger: &mut Ledger, outcome: Outcome, now: Time) {
        ledger.measure(self.smoothing, now);
        let new = if self.cuts_on.contains(outcome) {
            let rate = if ledger.enabled { ledger.measured_rate.min(ledger.fill_rate) } else { ledger.measured_rate };
            ledger.enabled = true;
            self.cut(ledger, rate, now)
        } else {
            self.grow(ledger, now)
        };
        let rate = new.min(MOST_GROWTH * ledger.measured_rate);
        ledger.refill(now);
        ledger.fill_rate = rate.max(self.least_rate);
        ledger.max_capacity = rate.max(1.0);
        ledger.capacity = ledger.capacity.min(ledger.max_capacity);
    }

    /// The new rate after something was throttled at `rate`.
    pub fn cut(&self, ledger: &mut Ledger, rate: f64, now: Time) -> f64 {
        ledger.w_max = rate;
        ledger.throttled = now;
        rate * self.beta
    }

    /// The new rate after something was not.
    pub fn grow(&self, ledger: &Ledger, now: Time) -> f64 {
        let since = (now - ledger.throttled).seconds() - self.plateau(ledger);
        self.scale * since * since * since + ledger.w_max
    }

    /// K: seconds after a cut at which the rate is what it was.
    pub fn plateau(&self, ledger: &Ledger) -> f64 {
        libm::cbrt(ledger.w_max * (1.0 - self.beta) / self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aws() -> Cubic {
        Cubic { beta: 0.7, scale: 0.4, smoothing: 0.8, least_rate: 0.5, cuts_on: OutcomeSet::of(&[Outcome::Throttled]) }
    }

    /// A bucket of one token and two a second: sendings come half a second apart, to the nanosecond.
    #[test]
    fn a_token_is_waited_for() {
        let mut ledger = Ledger { enabled: true, fill_rate: 2.0, capacity: 1.0, ..Ledger::default() };
        let mut now = Time::ZERO;
        for _ in 0..5 {
            assert_eq!(aws().wait(&mut ledger, now), None);
            aws().send(&mut ledger);
            assert_eq!(aws().wait(&mut ledger, now), Some(Duration(HALF_SECOND)));
            now += Duration(HALF_SECOND);
        }
    }

    /// Until something is throttled, nothing is limited.
    #[test]
    fn it_is_bypassed_at_first() {
        let mut ledger = Ledger::default();
        for step in 0..1000 {
            assert_eq!(aws().wait(&mut ledger, Time(step)), None);
            aws().send(&mut ledger);
            aws().end(&mut ledger, Outcome::Ok, Time(step));
        }
        aws().end(&mut ledger, Outcome::Throttled, Time(1000));
        assert!(ledger.is_enabled() && aws().wait(&mut ledger, Time(1000)).is_some());
    }
}
