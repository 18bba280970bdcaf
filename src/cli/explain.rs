//! `explain`: what exactly would be simulated?

use clap::Args;

use super::speak::print;
use super::{Outcome, ScenarioArguments, load};

/// What `explain` is told.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
}

/// Prints the model with all defaults filled in.
pub fn explain(arguments: &ExplainArguments) -> Outcome {
    print(&load::load(&arguments.scenario)?.explain())
}
