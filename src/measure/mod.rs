//! Floor 0: numbers with units, random draws with addresses, statistics. Knows nothing of retries or services.

pub mod distribution;
pub mod identifier;
pub mod logarithm;
pub mod normal;
pub mod random;
pub mod rate;
pub mod share;
pub mod statistics;
pub mod time;
