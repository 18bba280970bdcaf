//! `list`: the scenarios that come with the program, or its presets.

use clap::Args;

use super::Outcome;
use super::speak::{Failure, print};
use crate::report::table::align;
use crate::study::curated::CURATED;
use crate::study::presets;
use crate::study::scenario::Scenario;

/// What is listed.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// The presets of policies instead: name, title, version and date
    #[arg(long)]
    presets: bool,
    /// All that one preset says
    #[arg(requires = "presets")]
    name: Option<String>,
}

/// Prints a line for each.
pub fn list(arguments: &ListArguments) -> Outcome {
    match &arguments.name {
        Some(name) => print(&one_preset(name)?),
        None if arguments.presets => {
            let rows: Vec<_> = presets::presets()
                .iter()
                .map(|preset| [&preset.name, &preset.title, &preset.version, &preset.date].map(String::clone).to_vec())
                .collect();
            print(&align(&rows, 4))
        }
        None => {
            let row = |(name, text): &(&str, &str)| Ok(vec![(*name).to_string(), Scenario::parse(name, text, None, &[])?.title]);
            let rows = CURATED.iter().map(row).collect::<Result<Vec<_>, Failure>>()?;
            print(&align(&rows, 2))
        }
    }
}

/// A preset, a line for each thing that is known of it.
fn one_preset(name: &str) -> Result<String, Failure> {
    let preset = presets::preset(name).ok_or_else(|| Failure::Wrong(presets::unknown(name)))?;
    let rows = [
        ("title", preset.title.clone()),
        ("version", preset.version.clone()),
        ("date", preset.date.clone()),
        ("source", preset.source.clone()),
        ("shared", preset.scope.clone()),
        ("left out", preset.leaves_out.clone()),
        ("policy", preset.policy()),
    ];
    let said = rows.into_iter().filter(|(_, text)| !text.is_empty());
    Ok(align(&said.map(|(key, text)| vec![key.to_owned(), text]).collect::<Vec<_>>(), 2))
}
