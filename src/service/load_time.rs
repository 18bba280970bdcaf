//! Work that takes longer the more of it is in progress.

use crate::measure::time::Duration;

/// What the attempts in service do to the time of one that starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadTime {
    /// So much longer for each in service, its own included (Brooker's simple collapse).
    Linear(Duration),
    /// The universal scalability law (Gunther, 2007): n workers do X(n) = n / (1 + contention (n - 1) + coherency n (n - 1)) times the
    /// work of one, so the time of each is multiplied by the divisor.
    Scalability {
        /// What waits for a common resource, 0 to 1.
        contention: f64,
        /// What is spent on agreement between each two, 0 to 1.
        coherency: f64,
    },
}

impl LoadTime {
    /// The time of work that would take so long alone, started as one of `count` in service (from 1).
    pub fn apply(&self, alone: Duration, count: u32) -> Duration {
        let others = f64::from(count.max(1) - 1);
        match self {
            LoadTime::Linear(each) => alone.saturating_add(Duration(each.0.saturating_mul(count.into()))),
            LoadTime::Scalability { contention, coherency } => {
                Duration::from_nanoseconds(alone.0 as f64 * (1.0 + contention * others + coherency * f64::from(count) * others))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formulas() {
        let ms = |value: u64| Duration(value * 1_000_000);
        assert_eq!(LoadTime::Linear(ms(10)).apply(ms(1000), 40), ms(1400));
        let law = LoadTime::Scalability { contention: 0.05, coherency: 0.001 };
        assert_eq!([1, 2, 10].map(|count| law.apply(ms(1000), count)), [ms(1000), ms(1052), ms(1540)]);
        assert_eq!(LoadTime::Linear(Duration::MAX).apply(ms(1), 3), Duration::MAX);
        assert_eq!(law.apply(Duration::MAX, u32::MAX), Duration::MAX);
    }
}
