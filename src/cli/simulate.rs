//! Simulates a scenario as the command line says: on how many threads, how often, until when.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Once, PoisonError};

use super::SimulationArguments;
use super::progress::follow;
use super::speak::{Failure, say};
use crate::study::chart::ChartKind;
use crate::study::experiment::{self, Plan, Study, Watch};
use crate::study::scenario::Scenario;
use crate::world::model::Model;

/// The models of all cells and what came of them.
pub fn simulate(scenario: &Scenario, arguments: &SimulationArguments, quiet: bool) -> Result<(Vec<Model>, Study), Failure> {
    let plan = plan(scenario, arguments)?;
    let watch = Arc::new(Watch::default());
    listen(&watch);
    let threads = arguments.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| Failure::Wrong(error.to_string()))?;
    let study = follow(&watch, quiet, || pool.install(|| experiment::run(&plan, &watch)));
    if let Some((cell, (replication, at))) = (0..).zip(&study.cells).find_map(|(cell, result)| Some((cell, result.stalled?))) {
        return Err(Failure::Wrong(format!(
            "{}: time stands still at {at} in cell {cell}, replication {replication}: calls follow each other without any time passing; \
             give the link a delay, the backoff a wait, or the clients time to think",
            scenario.name
        )));
    }
    Ok((plan.models, study))
}

/// The study under way, which an interruption ends.
static UNDER_WAY: Mutex<Option<Arc<Watch>>> = Mutex::new(None);

/// Has an interruption end this study from now on.
fn listen(watch: &Arc<Watch>) {
    static LISTENING: Once = Once::new();
    *UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(watch));
    LISTENING.call_once(|| {
        // On a system without signals there is nothing to listen to, which is no reason not to run.
        let _ = ctrlc::set_handler(|| {
            let watch = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if watch.is_none_or(|watch| watch.stop.swap(true, Ordering::Relaxed)) {
                // Asked twice: a run that never ends would keep us for ever.
                std::process::exit(130);
            }
            say("ending after the runs under way; once more to end at once, and lose what was finished");
        });
    });
}

fn plan(scenario: &Scenario, arguments: &SimulationArguments) -> Result<Plan, Failure> {
    let models = scenario.cells.iter().map(|cell| scenario.model(cell)).collect::<Result<Vec<Model>, _>>()?;
    let count = arguments.replications.unwrap_or(scenario.run.replications);
    let replications = match arguments.only_replication {
        Some(only) => only..only.checked_add(1).ok_or_else(|| Failure::Wrong("--only-replication must be below 4294967295".into()))?,
        None => 0..count,
    };
    let fixed = arguments.replications.is_some() || arguments.only_replication.is_some();
    Ok(Plan {
        models,
        series: (0..scenario.cells.len()).map(|cell| series(scenario, cell)).collect(),
        seed: scenario.run.seed,
        replications,
        precision: scenario.run.precision.clone().filter(|_| !fixed),
    })
}

/// The series that the timeline charts show of a cell; without any such chart, attempts and goodput.
fn series(scenario: &Scenario, cell: usize) -> Vec<String> {
    let usual = || vec!["attempts".to_string(), "goodput".to_string()];
    let mut timelines = scenario.charts.iter().filter(|chart| chart.kind == ChartKind::Timeline).peekable();
    if timelines.peek().is_none() {
        return usual();
    }
    let mut names: Vec<String> = Vec::new();
    for chart in timelines.filter(|chart| scenario.matches(cell, &chart.filter)) {
        let wanted = if chart.y.is_empty() { usual() } else { chart.y.clone() };
        names.extend(wanted);
    }
    names.sort();
    names.dedup();
    names
}
