//! Rate limits at the door: which attempts are let in, and when the next would be. Exact: tokens are counted in integers.

use crate::measure::time::{Duration, NANOSECONDS, Time};

/// What a service lets in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateLimit {
    /// An attempt takes a token, of which there are `burst` at first and at most.
    TokenBucket {
        /// Tokens that come back, a second; above zero.
        rate: f64,
        /// The most that are kept; at least 1.
        burst: u32,
        /// They come back all the time (None), or those of so long at once at its end, counted from time zero (Envoy's local rate limit).
        fill: Option<Duration>,
    },
    /// So many attempts in each stretch of time, counted from time zero.
    Window {
        /// Attempts in a window; at least 1.
        limit: u32,
        /// Its length, above zero.
        every: Duration,
    },
}

/// One token. A rate of r a second is r 10^18 of these parts a nanosecond: a whole number for any rate with up to 18 decimals.
const TOKEN: u128 = 1_000_000_000_000_000_000_000_000_000;

/// What has been let in, as of some time. The default is a limit that nobody has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// What is missing from a full bucket, or used of the window, in parts of a token.
    spent: u128,
    as_of: Time,
}

impl RateLimit {
    /// Whether an attempt that comes now is let in; it is then counted.
    pub fn admits(&self, account: &mut Account, now: Time) -> bool {
        self.refresh(account, now);
        let admits = account.spent.saturating_add(TOKEN) <= self.most();
        account.spent += if admits { TOKEN } else { 0 };
        admits
    }

    /// How long from now until an attempt would be let in.
    pub fn wait(&self, account: &mut Account, now: Time) -> Duration {
        self.refresh(account, now);
        let lacking = (account.spent + TOKEN).saturating_sub(self.most());
        if lacking == 0 {
            return Duration::ZERO;
        }
        let until = |boundary: u128| Duration(u64::try_from(boundary - u128::from(now.0)).unwrap_or(u64::MAX));
        match *self {
            RateLimit::TokenBucket { rate, fill: None, .. } => Duration(u64::try_from(lacking.div_ceil(parts(rate))).unwrap_or(u64::MAX)),
            RateLimit::TokenBucket { rate, fill: Some(fill), .. } => {
                let fills = lacking.div_ceil(parts(rate).saturating_mul(fill.0.into()));
                until((u128::from(now.0 / fill.0) + fills).saturating_mul(fill.0.into()))
            }
            RateLimit::Window { every, .. } => until((u128::from(now.0 / every.0) + 1) * u128::from(every.0)),
        }
    }

    /// Attempts a second in the long run.
    pub fn rate(&self) -> f64 {
        match *self {
            RateLimit::TokenBucket { rate, .. } => rate,
            RateLimit::Window { limit, every } => f64::from(limit) / every.seconds(),
        }
    }

    fn most(&self) -> u128 {
        let (RateLimit::TokenBucket { burst: tokens, .. } | RateLimit::Window { limit: tokens, .. }) = *self;
        u128::from(tokens) * TOKEN
    }

    /// Brings the account up to now.
    fn refresh(&self, account: &mut Account, now: Time) {
        let passed = |step: u64| u128::from(now.0 / step - account.as_of.0 / step);
        let back = match *self {
            RateLimit::TokenBucket { rate, fill: None, .. } => parts(rate).saturating_mul(passed(1)),
            RateLimit::TokenBucket { rate, fill: Some(fill), .. } => {
                parts(rate).saturating_mul(fill.0.into()).saturating_mul(passed(fill.0))
            }
            RateLimit::Window { every, .. } => u128::MAX * passed(every.0).min(1),
        };
        account.spent = account.spent.saturating_sub(back);
        account.as_of = now;
    }
}

/// A limit is changed at a time: what is spent of the old one counts for another of the same kind, and never for more than all of it.
pub fn change(account: &mut Account, before: Option<&RateLimit>, after: Option<&RateLimit>, now: Time) {
    if before == after {
        return;
    }
    match (before, after) {
        (Some(before), Some(after)) if std::mem::discriminant(before) == std::mem::discriminant(after) => {
            before.refresh(account, now);
            account.spent = account.spent.min(after.most());
        }
        _ => *account = Account { spent: 0, as_of: now },
    }
}

/// Parts of a token that come back each nanosecond.
fn parts(rate: f64) -> u128 {
    ((rate * (TOKEN as f64 / NANOSECONDS as f64) + 0.5) as u128).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn admitted(limit: RateLimit, times: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut account = Account::default();
        times.into_iter().filter(|at| limit.admits(&mut account, Time(*at))).collect()
    }

    /// A token comes back at the very nanosecond, also where the rate is no whole number of nanoseconds a token.
    #[test]
    fn a_token_bucket_is_exact() {
        let bucket = |rate, burst| RateLimit::TokenBucket { rate, burst, fill: None };
        assert_eq!(admitted(bucket(100.0, 1), [0, 10 * MS - 1, 10 * MS, 20 * MS, 20 * MS]), [0, 10 * MS, 20 * MS]);
        assert_eq!(admitted(bucket(3.0, 1), [0, 333_333_333, 333_333_334]), [0, 333_333_334]);
        // Thirds of a second, rounded up: with a second token to make up for it, all are let in, and no rounding adds up.
        let thirds = (0..3_000_000u64).map(|index| (index * 1_000_000_000).div_ceil(3));
        assert_eq!(admitted(bucket(3.0, 2), thirds).len(), 3_000_000);
        // At twice the rate half get in, and the burst.
        let twice = (0..100_000u64).map(|index| index * 5 * MS);
        assert_eq!(admitted(bucket(100.0, 50), twice).len(), 50_000 + 49);
        let account = &mut Account::default();
        assert!(bucket(3.0, 1).admits(account, Time(5)));
        assert_eq!(bucket(3.0, 1).wait(account, Time(5)), Duration(333_333_334));
        assert_eq!(bucket(3.0, 1).wait(account, Time(333_333_339)), Duration::ZERO);
    }

    #[test]
    fn tokens_of_an_interval_come_at_its_end() {
        let bucket = RateLimit::TokenBucket { rate: 100.0, burst: 20, fill: Some(Duration(100 * MS)) };
        let times = (0..50).chain([100 * MS - 1]).chain((0..50).map(|index| 100 * MS + index)).chain([300 * MS; 50]);
        let admitted = admitted(bucket, times);
        // 20 at first, 10 at the first fill, 20 after two more.
        assert_eq!(admitted.len(), 20 + 10 + 20);
        assert_eq!((admitted[20], admitted[30]), (100 * MS, 300 * MS));
        let account = &mut Account::default();
        (0..20).for_each(|_| assert!(bucket.admits(account, Time(7))));
        assert_eq!(bucket.wait(account, Time(30 * MS)), Duration(70 * MS));
    }

    #[test]
    fn a_window_begins_at_its_multiple() {
        let window = RateLimit::Window { limit: 2, every: Duration(60_000 * MS) };
        let times = [0, 0, 0, 59_999_999_999, 60_000_000_000, 119_999_999_999, 119_999_999_999, 180_000_000_000];
        assert_eq!(admitted(window, times), [0, 0, 60_000_000_000, 119_999_999_999, 180_000_000_000]);
        let account = &mut Account::default();
        assert!(window.admits(account, Time(1)) && window.admits(account, Time(1)));
        assert_eq!(window.wait(account, Time(1)), Duration(60_000 * MS - 1));
        assert_eq!(window.wait(account, Time(60_000 * MS)), Duration::ZERO);
    }

    /// Nothing overflows at the ends of what can be written.
    #[test]
    fn extremes() {
        let fast = RateLimit::TokenBucket { rate: 1e9, burst: u32::MAX, fill: Some(Duration::MAX) };
        let slow = RateLimit::TokenBucket { rate: 1e-12, burst: 1, fill: None };
        for limit in [fast, slow, RateLimit::Window { limit: u32::MAX, every: Duration::MAX }] {
            let account = &mut Account { spent: limit.most(), as_of: Time::ZERO };
            assert!(limit.wait(account, Time(5)) > Duration::ZERO, "{limit:?}");
            limit.admits(account, Time::NEVER);
            limit.wait(account, Time::NEVER);
        }
    }

    #[test]
    fn a_change_keeps_what_is_spent() {
        let (small, large) = (RateLimit::Window { limit: 2, every: Duration(MS) }, RateLimit::Window { limit: 5, every: Duration(MS) });
        let account = &mut Account::default();
        (0..5).for_each(|_| assert!(large.admits(account, Time(0))));
        change(account, Some(&large), Some(&small), Time(1));
        assert!(!small.admits(account, Time(2)) && small.admits(account, Time(MS)));
        change(account, Some(&small), None, Time(MS));
        change(account, None, Some(&small), Time(MS));
        assert!(small.admits(account, Time(MS)) && small.admits(account, Time(MS)) && !small.admits(account, Time(MS)));
    }
}
