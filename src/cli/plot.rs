//! `plot`: draws a results folder again, from its CSV files alone.

use std::path::{Path, PathBuf};

use clap::Args;

use super::Outcome;
use super::speak::{Failure, say};
use crate::report::chart::{self, Theme};
use crate::study::chart::{Chart, ChartKind};
use crate::study::scenario::Scenario;

/// What `plot` is told.
#[derive(Debug, Args)]
pub struct PlotArguments {
    /// A folder that `run` has written
    folder: PathBuf,
    /// Light or dark
    #[arg(long, value_enum, default_value = "light")]
    theme: ThemeName,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ThemeName {
    Light,
    Dark,
}

/// Draws every chart of the scenario that lies in the folder.
pub fn plot(arguments: &PlotArguments, quiet: bool) -> Outcome {
    let file = arguments.folder.join("scenario.toml");
    let text = std::fs::read_to_string(&file).map_err(|error| Failure::at(&file, &error))?;
    let scenario = Scenario::parse(&file.display().to_string(), &text, Some(&arguments.folder), &[])?;
    let theme = match arguments.theme {
        ThemeName::Light => Theme::Light,
        ThemeName::Dark => Theme::Dark,
    };
    for path in draw(&scenario, &arguments.folder, theme, quiet)? {
        if !quiet {
            say(&path.display().to_string());
        }
    }
    Ok(())
}

/// Draws the charts of a scenario into the folder of its results; a scenario that names none gets a timeline.
pub fn draw(scenario: &Scenario, folder: &Path, theme: Theme, quiet: bool) -> Result<Vec<PathBuf>, Failure> {
    let usual = [Chart { kind: ChartKind::Timeline, ..Chart::default() }];
    let charts = if scenario.charts.is_empty() { &usual[..] } else { &scenario.charts };
    let (paths, problems) = chart::write(folder, charts, &scenario.title, theme).map_err(|error| Failure::at(folder, &error))?;
    problems.iter().filter(|_| !quiet).for_each(|problem| say(&format!("not drawn: {problem}")));
    Ok(paths)
}
