//! One test crate. Each file states right values: closed forms, reference numbers, arithmetic.

mod aws;
mod broken_scenarios;
mod broken_services;
#[cfg(feature = "charts")]
mod charts;
mod command_line;
mod common_numbers;
mod determinism;
mod doors;
mod edges;
mod queues;
mod results;
mod scenarios;
mod serving;
mod support;
mod theory;
mod tidy;
