//! What to show: the results folder read back, and the charts drawn from it. Knows nothing of the simulation.
#[cfg(feature = "charts")]
pub mod chart;
pub mod data;
