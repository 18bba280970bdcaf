//! Floor 3: what to run.

pub mod chart;
pub mod compare;
pub mod expect;
pub mod metrics;
pub mod scenario;
