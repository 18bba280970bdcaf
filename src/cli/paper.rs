//! `paper`: published laws and experiments, each a scenario, held against their exact or published values.

use std::path::{Path, PathBuf};

use clap::Args;

use super::run::{command_line, draw};
use super::speak::{Failure, print, say};
use super::{Outcome, ScenarioArguments, SimulationArguments, load, simulate};
use crate::report::claims::{self, Claim};
use crate::report::files::{self, Finished};
use crate::report::manifest;
use crate::study::curated::{PAPERS, paper_of};

/// What `paper` is told.
#[derive(Debug, Args)]
pub struct PaperArguments {
    /// One paper, such as `queues`, or one of its scenarios, such as `queues/erlang` [default: all papers]
    name: Option<String>,
    /// The seed, instead of the scenarios'
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
    #[command(flatten)]
    simulation: SimulationArguments,
    /// The folder to write to
    #[arg(long, value_name = "FOLDER", default_value = "results/paper")]
    out: PathBuf,
    /// Write no charts
    #[arg(long)]
    no_charts: bool,
}

/// Simulates the scenarios of one paper or of all; a table a paper, and at the end how many claims hold.
pub fn paper(arguments: &PaperArguments, quiet: bool) -> Outcome {
    let chosen = chosen(arguments.name.as_deref())?;
    let (mut all, mut told): (Vec<Claim>, Vec<Claim>) = (Vec::new(), Vec::new());
    for (place, name) in chosen.iter().enumerate() {
        told.extend(one(arguments, name, quiet)?);
        let paper = |name: &str| paper_of(name).map(|(paper, _)| paper.to_owned());
        if chosen.get(place + 1).is_none_or(|next| paper(next) != paper(name)) {
            print(&format!("{}\n{}\n", paper(name).unwrap_or_default(), claims::table(&told)))?;
            all.append(&mut told);
        }
    }
    files::write_table(&arguments.out.join("claims.csv"), claims::rows(&all)).map_err(|error| Failure::at(&arguments.out, &error))?;
    print(&format!("{}\n", claims::conclusion(&all)))?;
    if !quiet {
        say(&format!("written to {}", arguments.out.display()));
    }
    if all.iter().all(|claim| claim.holds) { Ok(()) } else { Err(Failure::Expectation) }
}

/// The names of the scenarios of a paper.
fn chosen(name: Option<&str>) -> Result<Vec<&'static str>, Failure> {
    let wanted = |full: &&'static str| {
        let (paper, part) = paper_of(full).unwrap_or_default();
        name.is_none_or(|name| name == paper || name.split_once('/') == Some((paper, part)))
    };
    let chosen: Vec<&str> = PAPERS.iter().map(|(full, _)| *full).filter(wanted).collect();
    if chosen.is_empty() {
        let mut papers: Vec<&str> = PAPERS.iter().filter_map(|(full, _)| paper_of(full)).map(|(paper, _)| paper).collect();
        papers.dedup();
        return Err(Failure::Wrong(format!("there is no paper `{}`\n  papers: {}", name.unwrap_or_default(), papers.join(", "))));
    }
    Ok(chosen)
}

fn one(arguments: &PaperArguments, name: &str, quiet: bool) -> Result<Vec<Claim>, Failure> {
    let (paper, part) = paper_of(name).unwrap_or_default();
    let scenario = load::load(&ScenarioArguments { scenario: name.to_owned(), set: Vec::new(), seed: arguments.seed })?;
    let folder = arguments.out.join(paper).join(part);
    std::fs::create_dir_all(&folder).map_err(|error| Failure::at(&folder, &error))?;
    if !quiet {
        say(&format!("{paper}/{part}: {}", scenario.title));
    }
    let (models, study) = simulate::simulate(&scenario, &arguments.simulation, quiet)?;
    let finished = Finished { scenario: &scenario, models: &models, study: &study };
    let written = |result: std::io::Result<()>| result.map_err(|error| Failure::at(&folder, &error));
    written(files::write(finished, &folder))?;
    written(manifest::write(finished, &command_line(), &folder))?;
    if study.interrupted {
        return Err(Failure::Interrupted);
    }
    if !arguments.no_charts && !scenario.charts.is_empty() {
        draw(&scenario, Path::new(&folder), quiet)?;
    }
    Ok(claims::claims(finished))
}
