//! Floor 3: what to run, and what came of it.

pub mod chart;
pub mod compare;
pub mod curated;
pub mod expect;
pub mod experiment;
pub mod fold;
mod follow;
pub mod known;
pub mod metrics;
pub mod presets;
pub mod reference;
pub mod scenario;
pub mod schedule;
pub mod theory;
pub mod verdict;
