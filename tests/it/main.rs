//! One test crate. Each file states right values: closed forms, reference numbers, arithmetic.

mod aws;
mod broken_scenarios;
mod budget_facts;
mod budget_texts;
mod budgets;
#[cfg(feature = "charts")]
mod charts;
mod command_line;
mod common_numbers;
mod determinism;
mod edges;
mod json;
mod results;
mod scenarios;
mod support;
mod theory;
mod tidy;
