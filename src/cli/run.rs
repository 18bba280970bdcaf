//! `run`: the main job.

use clap::Args;

use super::speak::{Failure, print, say};
use super::{Outcome, OutputArguments, ScenarioArguments, SimulationArguments, load, simulate};
use crate::report::files::{self, Finished};
use crate::report::{manifest, table};

/// What `run` is told.
#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    #[command(flatten)]
    simulation: SimulationArguments,
    #[command(flatten)]
    output: OutputArguments,
}

/// Simulates, writes, draws, prints.
pub fn run(arguments: &RunArguments, quiet: bool) -> Outcome {
    let scenario = load::load(&arguments.scenario)?;
    let folder = arguments.output.out.clone().unwrap_or_else(|| std::path::Path::new("results").join(&scenario.name));
    // Better to know before the work that its results have no place.
    std::fs::create_dir_all(&folder).map_err(|error| Failure::at(&folder, &error))?;
    let (models, study) = simulate::simulate(&scenario, &arguments.simulation, quiet)?;
    let finished = Finished { scenario: &scenario, models: &models, study: &study };
    files::write(finished, &folder).map_err(|error| Failure::at(&folder, &error))?;
    manifest::write(finished, &command_line(), &folder).map_err(|error| Failure::at(&folder, &error))?;
    print(&format!("{}\n\n{}", scenario.title, table::table(finished)))?;
    super::check::warn(finished, quiet);
    if !arguments.output.no_charts {
        draw(&scenario, &folder, quiet)?;
    }
    if !quiet {
        say(&format!("written to {}", folder.display()));
    }
    if study.interrupted {
        return Err(Failure::Interrupted);
    }
    super::check::judge(finished, quiet)
}

/// Draws the charts of a folder of results.
#[cfg(feature = "charts")]
pub(super) fn draw(scenario: &crate::study::scenario::Scenario, folder: &std::path::Path, quiet: bool) -> Outcome {
    super::plot::draw(scenario, folder, crate::report::chart::Theme::Light, quiet).map(|_| ())
}

/// This program draws nothing.
#[cfg(not(feature = "charts"))]
pub(super) fn draw(_: &crate::study::scenario::Scenario, _: &std::path::Path, _: bool) -> Outcome {
    Ok(())
}

/// As it was typed, whatever the program was called.
pub(super) fn command_line() -> String {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    format!("retrystorm {}", arguments.join(" "))
}
