//! A token bucket: calls put parts of a token in, up to its capacity, and a retry takes one out.
//!
//! Source: Marc Brooker, "Fixing retries with token buckets and circuit breakers" (2022): a tenth of a token a call, five tokens at
//! most and at first, and a retry needs more than one. As in his program, tokens are binary floating numbers, in which ten tenths are a
//! little less than one, or a little more after a retry: his published load is one retry in twenty clients above that of exact tenths.

/// A bucket of tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// What a call that starts puts in: 0 to 10 tokens.
    pub deposit: f64,
    /// The most that it holds; from one token on.
    pub capacity: f64,
    /// What is in it at first; at most the capacity.
    pub initial: f64,
    /// Whether exactly one token is enough for a retry, not only more.
    pub at_least: bool,
}

/// What is in it; None before it is first used.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Option<f64>);

impl Bucket {
    /// The tokens that are in it.
    pub fn tokens(&self, ledger: &Ledger) -> f64 {
        // A fault may have made it smaller.
        ledger.0.unwrap_or(self.initial).min(self.capacity)
    }

    /// A call starts.
    pub fn deposit(&self, ledger: &mut Ledger) {
        ledger.0 = Some((self.tokens(ledger) + self.deposit).min(self.capacity));
    }

    /// Whether there is enough for a retry.
    pub fn allows(&self, ledger: &Ledger) -> bool {
        let tokens = self.tokens(ledger);
        tokens > 1.0 || (self.at_least && tokens == 1.0)
    }

    /// A retry takes a token.
    pub fn withdraw(&self, ledger: &mut Ledger) {
        ledger.0 = Some((self.tokens(ledger) - 1.0).max(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BROOKER: Bucket = Bucket { deposit: 0.1, capacity: 5.0, initial: 5.0, at_least: false };

    /// Which of so many calls can make a retry, and how many, when each makes as many as it can get.
    fn retries(bucket: &Bucket, calls: usize) -> Vec<(usize, u32)> {
        let mut ledger = Ledger::default();
        let mut made = Vec::new();
        for call in 1..=calls {
            bucket.deposit(&mut ledger);
            let mut retries = 0;
            while bucket.allows(&ledger) {
                bucket.withdraw(&mut ledger);
                retries += 1;
            }
            made.extend((retries > 0).then_some((call, retries)));
        }
        made
    }

    /// A full bucket of five pays for four retries, since the fifth would need more than one; then for one of each ten calls. Where one is
    /// enough it pays for five, and the next takes eleven calls, since ten tenths are not quite one.
    #[test]
    fn a_bucket_is_emptied_and_filled() {
        assert_eq!(retries(&BROOKER, 34), [(1, 4), (2, 1), (12, 1), (22, 1), (32, 1)]);
        assert_eq!(retries(&Bucket { at_least: true, ..BROOKER }, 34), [(1, 5), (12, 1), (22, 1), (32, 1)]);
        assert_eq!(retries(&Bucket { initial: 0.0, ..BROOKER }, 34), [(11, 1), (21, 1), (31, 1)]);
        // Quarters are exact.
        let quarters = Bucket { deposit: 0.25, initial: 0.0, at_least: true, ..BROOKER };
        assert_eq!(retries(&quarters, 12), [(4, 1), (8, 1), (12, 1)]);
        assert_eq!(BROOKER.tokens(&Ledger(Some(9.0))), 5.0);
    }
}
