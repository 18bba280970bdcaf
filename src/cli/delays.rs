//! `delays`: the schedule of a policy. Does it span the outage, does it fit the deadline?

use clap::{ArgGroup, Args};

use super::speak::{Failure, print};
use super::{Outcome, ScenarioArguments, load};
use crate::measure::time::Duration;
use crate::report::schedule::{self as written, Named};
use crate::retry::outcome::{self, FAILURES};
use crate::retry::policy::Policy;
use crate::study::presets;
use crate::study::scenario::parse_policy;
use crate::study::schedule::{Question, Schedule, Step, drawn, schedule};

/// What `delays` is told.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("whose").required(true).args(["scenario", "policy", "preset"])))]
pub struct DelaysArguments {
    /// A scenario file, or the name of a curated scenario: the policies under [policy]
    scenario: Option<String>,
    /// Only this policy of the scenario
    #[arg(long, value_name = "POLICY", requires = "scenario")]
    name: Option<String>,
    /// A policy as a scenario writes it, such as '{ attempts = 4, backoff = { fixed = { delay = "1s" } } }'
    #[arg(long, value_name = "TOML")]
    policy: Option<String>,
    /// A policy that comes with the program
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Set a value of the scenario by its dotted path (repeatable)
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "scenario")]
    set: Vec<String>,
    /// How many retries are shown [default: all; 20 of a policy without an end]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    retries: Option<u32>,
    /// The waits for these draws, each from 0 to below 1, used in turn: 0.5 or 0.1,0.9,0.3
    #[arg(long, value_name = "U", value_delimiter = ',', value_parser = uniform, allow_negative_numbers = true)]
    u: Vec<f64>,
    /// As if each failure carried this hint
    #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
    retry_after: Option<Duration>,
    /// How every attempt ends: throttled takes `throttled_backoff` [default: error, or the first that is retried]
    #[arg(long, value_name = "OUTCOME", value_parser = outcome_named)]
    outcome: Option<outcome::Outcome>,
    /// With what probability does the last attempt start after an outage of this length?
    #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
    cover: Option<Duration>,
    /// How long an attempt takes before it fails; the policy's timeout ends it
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = Duration::parse)]
    attempt_time: Duration,
    /// Is the whole schedule sent before this deadline, and how many retries are?
    #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
    deadline: Option<Duration>,
    /// How to print it
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Draw it too, to a file that ends in .svg or .png
    #[cfg(feature = "charts")]
    #[arg(long, value_name = "FILE", value_parser = chart_file)]
    chart: Option<std::path::PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Csv,
    Json,
}

fn uniform(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(u) if (0.0..1.0).contains(&u) => Ok(u),
        _ => Err(format!("`{text}` is no draw: write a number from 0 to below 1")),
    }
}

fn outcome_named(text: &str) -> Result<outcome::Outcome, String> {
    let names: Vec<&str> = FAILURES.iter().map(|outcome| outcome.name()).collect();
    let known = FAILURES.iter().find(|outcome| outcome.name() == text);
    known.copied().ok_or_else(|| format!("an attempt can end in {}", names.join(", ")))
}

#[cfg(feature = "charts")]
fn chart_file(text: &str) -> Result<std::path::PathBuf, String> {
    let path = std::path::PathBuf::from(text);
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("svg") => Ok(path),
        Some("png") if cfg!(feature = "png") => Ok(path),
        _ => Err("write a file that ends in .svg or .png".into()),
    }
}

/// Prints the schedules.
pub fn delays(arguments: &DelaysArguments) -> Outcome {
    let mut policies = policies(arguments)?;
    let question = |policy: &Policy| Question {
        retries: arguments.retries,
        outcome: arguments.outcome.unwrap_or_else(|| policy.first_retried()),
        hint: arguments.retry_after,
        attempt_time: arguments.attempt_time,
        deadline: arguments.deadline,
        cover: arguments.cover,
    };
    let mut answers: Vec<(Question, Schedule, Option<Vec<Step>>)> = Vec::new();
    for (name, policy) in &mut policies {
        let question = question(policy);
        *policy = policy.met_by(question.outcome);
        let answer = schedule(policy, &question)
            .map_err(|problem| Failure::Wrong(format!("{name}: {problem}; --attempt-time says how long an attempt takes")))?;
        let steps = (!arguments.u.is_empty()).then(|| drawn(policy, &question, &arguments.u));
        answers.push((question, answer, steps));
    }
    let all: Vec<Named> = policies
        .iter()
        .zip(&answers)
        .map(|((name, policy), (question, schedule, drawn))| Named { name, policy, question, schedule, drawn: drawn.as_deref() })
        .collect();
    // Of a whole scenario there may be several, however many there are.
    let several = arguments.scenario.is_some() && arguments.name.is_none();
    print(&match arguments.format {
        Format::Table => all.iter().map(written::table).collect::<Vec<_>>().join("\n"),
        Format::Csv => written::csv(&all, several),
        Format::Json if several => format!("[{}]\n", all.iter().map(written::json).collect::<Vec<_>>().join(",\n")),
        Format::Json => all.iter().map(|named| format!("{}\n", written::json(named))).collect(),
    })?;
    #[cfg(feature = "charts")]
    if let Some(path) = &arguments.chart {
        draw(path, &all)?;
    }
    Ok(())
}

/// The policies that are asked for, each with its name.
fn policies(arguments: &DelaysArguments) -> Result<Vec<(String, Policy)>, Failure> {
    if let Some(text) = &arguments.policy {
        return Ok(vec![(text.trim().to_owned(), parse_policy("--policy", text)?)]);
    }
    if let Some(name) = &arguments.preset {
        return Ok(vec![(name.clone(), parse_policy("--preset", &presets::written(name))?)]);
    }
    let scenario = arguments.scenario.clone().unwrap_or_default();
    let loaded = load::load(&ScenarioArguments { scenario: scenario.clone(), set: arguments.set.clone(), seed: None })?;
    let mut policies = loaded.policies();
    let names: Vec<String> = policies.iter().map(|(name, _)| name.clone()).collect();
    let known = if names.is_empty() { "none is under [policy]".to_owned() } else { format!("there are {}", names.join(", ")) };
    if let Some(name) = &arguments.name {
        policies.retain(|(known, _)| known == name);
        if policies.is_empty() {
            return Err(Failure::Wrong(format!("{scenario} has no policy `{name}`: {known}")));
        }
    } else if policies.is_empty() {
        return Err(Failure::Wrong(format!("{scenario} names no policy: {known}; use --policy")));
    }
    Ok(policies)
}

#[cfg(feature = "charts")]
fn draw(path: &std::path::Path, all: &[Named]) -> Outcome {
    use crate::report::chart::{Theme, schedules};
    let title = if all.len() == 1 { "When does it try again?" } else { "When do they try again?" };
    let of: Vec<(&str, &Schedule)> = all.iter().map(|named| (named.name, named.schedule)).collect();
    let svg = schedules(title, &of, Theme::Light).map_err(|problem| Failure::at(path, &problem))?;
    let bytes = match path.extension().and_then(|ending| ending.to_str()) {
        #[cfg(feature = "png")]
        Some("png") => crate::report::chart::to_light_png(&svg).map_err(|problem| Failure::at(path, &problem))?,
        _ => svg.into_bytes(),
    };
    crate::report::files::replace(path, &bytes).map_err(|error| Failure::at(path, &error))
}
