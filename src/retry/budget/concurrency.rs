//! How many retries may be under way at once: Envoy's retry budget and its circuit breaker `max_retries`.
//!
//! Source: Envoy, `retry_budget` (share 20 %, at least 3) and `max_retries` (3) of `circuit_breakers`.

/// So many retries at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Concurrency {
    /// How many.
    pub limit: Limit,
    /// Whether a retry counts from its scheduling, its wait included (true), or from its sending.
    pub counts_backoff: bool,
}

/// How many retries may be under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// A share of the attempts in flight, rounded down, and no fewer than `min`.
    Share {
        /// 0 to 10.
        share: f64,
        /// Always allowed.
        min: u32,
    },
    /// A fixed number.
    Most(u32),
}

/// What is under way.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Attempts sent that have not ended, first ones and retries.
    pub in_flight: u32,
    /// Retries that count.
    pub retries: u32,
}

impl Concurrency {
    /// How many retries may be under way now.
    pub fn allowed(&self, ledger: &Ledger) -> u64 {
        match self.limit {
            // Billionths, so that 29 % of 100 is 29.
            Limit::Share { share, min } => ((share * 1e9 + 0.5) as u64 * u64::from(ledger.in_flight) / 1_000_000_000).max(u64::from(min)),
            Limit::Most(most) => u64::from(most),
        }
    }

    /// Whether one more fits.
    pub fn fits(&self, ledger: &Ledger) -> bool {
        u64::from(ledger.retries) < self.allowed(ledger)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 %, at least 3: five of 25, three of 2.
    #[test]
    fn a_share_of_what_is_in_flight() {
        let limit = |share, min| Concurrency { limit: Limit::Share { share, min }, counts_backoff: true };
        for (budget, in_flight, allowed) in [
            (limit(0.2, 3), 25, 5),
            (limit(0.2, 3), 24, 4),
            (limit(0.2, 3), 2, 3),
            (limit(0.29, 0), 100, 29),
            (limit(1.0, 0), 7, 7),
            (limit(0.0, 0), 1000, 0),
            (Concurrency { limit: Limit::Most(3), counts_backoff: false }, 1000, 3),
        ] {
            let mut ledger = Ledger { in_flight, retries: 0 };
            assert_eq!(budget.allowed(&ledger), allowed, "{budget:?}");
            while budget.fits(&ledger) {
                ledger.retries += 1;
            }
            assert_eq!(u64::from(ledger.retries), allowed);
        }
    }
}
