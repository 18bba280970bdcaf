//! The retry throttle of gRPC: failures take tokens, successes give a part of one back, and retries need more than half of them.
//!
//! Source: grpc/proposal A6 (max 10, ratio 0.1, threshold a half); google-cloud-gax: max 100, ratio 1, 10 a failure, `wait`.

/// Retries are made only while more than a share of the tokens is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenThrottle {
    /// Tokens at first, and at most; in thousandths.
    pub max: u64,
    /// What a success gives back; in thousandths of a token.
    pub ratio: u64,
    /// The share of `max` that there must be more of: 0 to 1.
    pub threshold: f64,
    /// What a failure that is worth a retry takes; in thousandths of a token.
    pub failure_cost: u64,
    /// What becomes of a retry that is not granted.
    pub when_empty: WhenEmpty,
}

/// What becomes of a retry that is not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenEmpty {
    /// The call ends.
    Fail,
    /// It is not sent, and counts as one that was: the next wait starts. Asked when it is due.
    Wait,
}

/// The tokens that are missing, in thousandths: none at first.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    missing: u64,
}

impl TokenThrottle {
    /// The tokens that are there, in thousandths.
    pub fn tokens(&self, ledger: &Ledger) -> u64 {
        self.max.saturating_sub(ledger.missing)
    }

    /// An attempt has failed with an outcome that is worth a retry.
    pub fn fail(&self, ledger: &mut Ledger) {
        ledger.missing = (ledger.missing + self.failure_cost).min(self.max);
    }

    /// An attempt has succeeded.
    pub fn succeed(&self, ledger: &mut Ledger) {
        ledger.missing = ledger.missing.min(self.max).saturating_sub(self.ratio);
    }

    /// Whether there are enough for a retry.
    pub fn allows(&self, ledger: &Ledger) -> bool {
        self.tokens(ledger) as f64 > self.threshold * self.max as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRPC: TokenThrottle = TokenThrottle { max: 10_000, ratio: 100, threshold: 0.5, failure_cost: 1000, when_empty: WhenEmpty::Fail };

    /// After the failures, how many successes until a retry is allowed again.
    fn successes_needed(throttle: &TokenThrottle, failures: u32) -> u32 {
        let mut ledger = Ledger::default();
        (0..failures).for_each(|_| throttle.fail(&mut ledger));
        let mut successes = 0;
        while !throttle.allows(&ledger) {
            throttle.succeed(&mut ledger);
            successes += 1;
        }
        successes
    }

    /// The fifth failure stops retries, and one success allows them again; from four tokens it takes eleven, from none fifty-one.
    #[test]
    fn half_of_the_tokens_is_not_enough() {
        for (failures, successes) in [(0, 0), (4, 0), (5, 1), (6, 11), (10, 51), (1000, 51)] {
            assert_eq!(successes_needed(&GRPC, failures), successes, "after {failures}");
        }
    }

    /// gax: 100 tokens, 10 a failure, 1 a success: throttled after 5 failures, 21 successes needed after 7.
    #[test]
    fn the_breaker_of_gax_is_the_same_machine() {
        let gax = TokenThrottle { max: 100_000, ratio: 1000, failure_cost: 10_000, ..GRPC };
        for (failures, successes) in [(4, 0), (5, 1), (7, 21)] {
            assert_eq!(successes_needed(&gax, failures), successes, "after {failures}");
        }
    }

    /// A million successes before are worth no more than a full throttle: the fifth failure stops it all the same.
    #[test]
    fn tokens_are_clamped() {
        let mut ledger = Ledger::default();
        (0..1_000_000).for_each(|_| GRPC.succeed(&mut ledger));
        (0..4).for_each(|_| GRPC.fail(&mut ledger));
        assert!(GRPC.allows(&ledger));
        GRPC.fail(&mut ledger);
        assert!(!GRPC.allows(&ledger));
    }
}
