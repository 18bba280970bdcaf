//! `trace`: one run told event by event, so that it can be read aloud.

use clap::Args;

use super::speak::{Failure, print};
use super::{Outcome, ScenarioArguments, load, simulate};
use crate::measure::random::Seed;
use crate::report::story;
use crate::world::trace::Recorder;

/// What `trace` is told.
#[derive(Debug, Args)]
pub struct TraceArguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// Only this call, by its number in the order of starts, from 0
    #[arg(long, value_name = "N")]
    call: Option<u32>,
    /// Which replication, from 0
    #[arg(long, value_name = "K", default_value_t = 0)]
    replication: u32,
    /// At most so many lines
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    lines: u32,
}

/// Runs one replication and prints what happens. An axis under comparison is left at the value that the model itself names.
pub fn trace(arguments: &TraceArguments) -> Outcome {
    let scenario = load::load(&arguments.scenario)?;
    let model = scenario.base_model()?;
    let calls = arguments.call.map_or((0, u32::MAX), |call| (call, call));
    let mut recorder = Recorder { calls, most: arguments.lines as usize, ..Recorder::default() };
    let seed = Seed { seed: scenario.run.seed, replication: arguments.replication };
    let run = crate::world::run_heard(&model, seed, &mut recorder);
    if recorder.lines.is_empty() {
        let calls = run.timeline.series(0).map(u64::from).sum::<u64>();
        return Err(Failure::Wrong(format!("there is no call {}: the run has {calls} calls, counted from 0", calls_named(arguments.call))));
    }
    print(&story::tell(&model, &run, &recorder))?;
    match run.violation {
        Some(violation) => Err(Failure::Broken(simulate::contradiction(&model, &scenario.name, seed, violation))),
        None => Ok(()),
    }
}

fn calls_named(call: Option<u32>) -> String {
    call.map_or(String::from("at all"), |call| call.to_string())
}
