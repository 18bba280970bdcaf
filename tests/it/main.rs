//! One test crate. Each file states right values: closed forms, reference numbers, arithmetic.

mod agenda;
mod aws;
mod broken_scenarios;
#[cfg(feature = "charts")]
mod charts;
mod command_line;
mod common_numbers;
mod determinism;
mod edges;
mod results;
mod scenarios;
mod support;
mod theory;
mod tidy;
