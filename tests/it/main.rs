//! One test crate. Each file states right values: closed forms, reference numbers, arithmetic.

mod aws;
mod breakers;
mod broken_breakers;
mod broken_delays;
mod broken_faults;
mod broken_machines;
mod broken_scenarios;
mod broken_services;
mod budget_facts;
mod budget_texts;
mod budgets;
mod calls;
mod case_runs;
mod cases;
#[cfg(feature = "charts")]
mod charts;
mod command_line;
mod common_numbers;
mod delays;
mod determinism;
mod doors;
mod edges;
mod faults;
mod golden_delays;
mod json;
mod pools;
mod queues;
mod replicas;
mod results;
mod scenarios;
mod serving;
mod storm;
mod support;
mod theory;
mod tidy;
mod verdict;
