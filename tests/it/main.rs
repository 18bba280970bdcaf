//! One test crate. Each file states right values: closed forms, reference numbers, arithmetic.

mod aws;
mod broken_faults;
mod broken_scenarios;
#[cfg(feature = "charts")]
mod charts;
mod command_line;
mod common_numbers;
mod determinism;
mod edges;
mod faults;
mod results;
mod scenarios;
mod storm;
mod support;
mod theory;
mod tidy;
mod verdict;
