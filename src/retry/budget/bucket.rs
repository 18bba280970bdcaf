//! A token bucket: calls put parts of a token in, up to its capacity, and a retry takes one out.
//!
//! Source: Marc Brooker, "Fixing retries with token buckets and circuit breakers" (2022): a tenth of a token a call, five tokens at
//! most and at first, and a retry needs more than one.

/// A bucket of tokens, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// What a call that starts puts in: 0 to 10 tokens.
    pub deposit: u64,
    /// The most that it holds; from one token on.
    pub capacity: u64,
    /// What is in it at first; at most the capacity.
    pub initial: u64,
    /// Whether exactly one token is enough for a retry, not only more.
    pub at_least: bool,
}

/// What is in it; None before it is first used.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Option<u64>);

/// A token.
const TOKEN: u64 = 1000;

impl Bucket {
    /// What is in it, in thousandths.
    pub fn tokens(&self, ledger: &Ledger) -> u64 {
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
        tokens > TOKEN || (self.at_least && tokens == TOKEN)
    }

    /// A retry takes a token.
    pub fn withdraw(&self, ledger: &mut Ledger) {
        ledger.0 = Some(self.tokens(ledger).saturating_sub(TOKEN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BROOKER: Bucket = Bucket { deposit: 100, capacity: 5000, initial: 5000, at_least: false };

    /// Retries that are made when each of so many calls asks for as many as it can get.
    fn retries(bucket: &Bucket, calls: u32) -> Vec<u32> {
        let mut ledger = Ledger::default();
        let mut call = || {
            bucket.deposit(&mut ledger);
            let mut retries = 0;
            while bucket.allows(&ledger) {
                bucket.withdraw(&mut ledger);
                retries += 1;
            }
            retries
        };
        (0..calls).map(|_| call()).collect()
    }

    /// A full bucket of five pays for four retries, since the fifth would need more than one; then one in each tenth call.
    #[test]
    fn a_bucket_is_emptied_and_filled() {
        let mut wanted = vec![4, 1];
        wanted.extend([0; 9]);
        wanted.push(1);
        assert_eq!(retries(&BROOKER, 12), wanted);
        // Where one is enough: all five, and then one in each tenth call.
        let mut wanted = vec![5];
        wanted.extend([0; 9]);
        wanted.push(1);
        assert_eq!(retries(&Bucket { at_least: true, ..BROOKER }, 11), wanted);
        assert_eq!(retries(&Bucket { initial: 0, at_least: true, ..BROOKER }, 10).iter().sum::<u32>(), 1);
        assert_eq!(BROOKER.tokens(&Ledger(Some(9000))), 5000);
    }
}
