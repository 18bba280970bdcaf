//! Floor 2: the only place that schedules and counts.

pub mod model;
