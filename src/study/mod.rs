//! Floor 3: what to run.

pub mod chart;
