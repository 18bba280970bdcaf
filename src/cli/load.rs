//! Finds a scenario: a file, or one that comes with the program.

use std::path::Path;

use super::ScenarioArguments;
use super::speak::Failure;
use crate::study::curated::{CURATED, curated};
use crate::study::scenario::Scenario;

/// The scenario of the command line, with what the command line sets in it.
pub fn load(arguments: &ScenarioArguments) -> Result<Scenario, Failure> {
    let mut overrides = arguments.set.clone();
    overrides.extend(arguments.seed.map(|seed| format!("run.seed={seed}")));
    let path = Path::new(&arguments.scenario);
    if path.extension().is_none() && !path.is_file() {
        let text = curated(&arguments.scenario).ok_or_else(|| unknown(&arguments.scenario))?;
        return Ok(Scenario::parse(&arguments.scenario, text, None, &overrides)?);
    }
    let text = std::fs::read_to_string(path).map_err(|error| Failure::at(path, &error))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(Scenario::parse(&name, &text, Some(folder), &overrides)?)
}

fn unknown(name: &str) -> Failure {
    let nearest =
        CURATED.iter().map(|(known, _)| *known).max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
    let known: Vec<&str> = CURATED.iter().map(|(known, _)| *known).collect();
    let hint = nearest
        .filter(|nearest| strsim::jaro_winkler(nearest, name) > 0.7)
        .map_or(String::new(), |nearest| format!("; did you mean `{nearest}`?"));
    Failure::Wrong(format!(
        "there is no scenario `{name}`{hint}\n  curated scenarios: {}\n  or give the path of a .toml file",
        known.join(", ")
    ))
}
