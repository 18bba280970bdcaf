//! Floor 4: what to show. Writes the results as CSV, and draws from the CSV alone.

#[cfg(feature = "charts")]
pub mod chart;
pub mod claims;
#[cfg(feature = "charts")]
pub mod data;
pub mod files;
mod inline;
pub mod manifest;
pub mod schedule;
pub mod spells;
pub mod story;
pub mod table;
pub mod verdict;
