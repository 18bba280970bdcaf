//! `check`: do the expectations of a scenario hold?

use clap::Args;

use super::speak::{Failure, print, say};
use super::{Outcome, ScenarioArguments, SimulationArguments, load, simulate};
use crate::report::files::Finished;
use crate::report::verdict;

/// What `check` is told.
#[derive(Debug, Args)]
pub struct CheckArguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    #[command(flatten)]
    simulation: SimulationArguments,
}

/// Simulates, and prints a line for each expectation.
pub fn check(arguments: &CheckArguments, quiet: bool) -> Outcome {
    let scenario = load::load(&arguments.scenario)?;
    let (models, study) = simulate::simulate(&scenario, &arguments.simulation, quiet)?;
    if study.interrupted {
        return Err(Failure::Interrupted);
    }
    let finished = Finished { scenario: &scenario, models: &models, study: &study };
    let lines = verdict::lines(finished);
    if lines.is_empty() {
        print(&format!("{}: no expectations\n", scenario.name))?;
    }
    for line in &lines {
        print(&format!("{line}\n"))?;
    }
    warn(finished, quiet);
    if verdict::all_hold(finished) { Ok(()) } else { Err(Failure::Expectation) }
}

/// Says where runs end too early to tell what became of them, and which claims are not about the model that `--set` has made.
pub fn warn(finished: Finished, quiet: bool) {
    for warning in [verdict::too_short(finished), verdict::left_behind(finished)].into_iter().flatten().filter(|_| !quiet) {
        say(&format!("warning: {warning}"));
    }
}

/// Says which expectations do not hold, if any.
pub fn judge(finished: Finished, quiet: bool) -> Outcome {
    if verdict::all_hold(finished) {
        return Ok(());
    }
    if !quiet {
        verdict::lines(finished).iter().for_each(|line| say(line));
    }
    Err(Failure::Expectation)
}
