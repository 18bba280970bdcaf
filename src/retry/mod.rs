//! Floor 1: what a caller decides after a failure. Plain data and pure functions: they know neither the agenda nor the clock.

pub mod backoff;
pub mod breaker;
pub mod budget;
pub mod hedge;
pub mod hint;
pub mod outcome;
pub mod policy;
pub mod pool;
pub mod receive;
pub mod retrier;
pub mod scope;
