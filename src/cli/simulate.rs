//! Simulates a scenario as the command line says: on how many threads, how often, until when.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Once, PoisonError};

use super::SimulationArguments;
use super::progress::follow;
use super::speak::{Failure, say};
use crate::measure::random::Seed;
use crate::study::chart::{Chart, ChartKind};
use crate::study::experiment::{self, Plan, Study, Watch};
use crate::study::scenario::Scenario;
use crate::world::invariant::Violation;
use crate::world::model::Model;

/// The models of all cells and what came of them.
pub fn simulate(scenario: &Scenario, arguments: &SimulationArguments, quiet: bool) -> Result<(Vec<Model>, Study), Failure> {
    let plan = plan(scenario, arguments)?;
    let watch = Arc::new(Watch::default());
    listen(&watch);
    let threads = arguments.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| Failure::Wrong(error.to_string()))?;
    let study = follow(&watch, quiet, || pool.install(|| experiment::run(&plan, &watch)));
    for (cell, (model, result)) in plan.models.iter().zip(&study.cells).enumerate() {
        if let Some((replication, violation)) = result.violation {
            let place = format!("cell {cell} of {}", scenario.name);
            return Err(Failure::Broken(contradiction(model, &place, Seed { seed: plan.seed, replication }, violation)));
        }
    }
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

/// What to say of a violation: all that it takes to find it again.
pub fn contradiction(model: &Model, place: &str, Seed { seed, replication }: Seed, violation: Violation) -> String {
    let service =
        violation.service.map_or(String::new(), |service| format!(" at service `{}`", model.services[model.base(service).at()].name));
    let attempt = violation.attempt.map_or(String::new(), |ticket| {
        format!(", attempt {} of call {} (place {}, stamp {})", ticket.number, ticket.call, ticket.place, ticket.stamp)
    });
    format!(
        "retrystorm contradicts itself: {}{service}, in {place}, seed {seed}, replication {replication}, at {}{attempt}; the results would be \
         worthless. This is a fault of the program: please report it with this line and the scenario",
        violation.invariant.violation(),
        violation.at
    )
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

/// The series that the charts over time show of a cell; without any such chart, attempts and goodput.
fn series(scenario: &Scenario, cell: usize) -> Vec<String> {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect::<Vec<String>>();
    let over_time = |chart: &&Chart| matches!(chart.kind, ChartKind::Timeline | ChartKind::Hysteresis);
    let mut charts = scenario.charts.iter().filter(over_time).peekable();
    if charts.peek().is_none() {
        return owned(&["attempts", "goodput"]);
    }
    let mut names: Vec<String> = Vec::new();
    for chart in charts.filter(|chart| scenario.matches(cell, &chart.filter)) {
        let (load, usual): (&[&str], &[&str]) =
            if chart.kind == ChartKind::Hysteresis { (&["calls"], &["goodput"]) } else { (&[], &["attempts", "goodput"]) };
        names.extend(owned(load));
        names.extend(if chart.y.is_empty() { owned(usual) } else { chart.y.clone() });
    }
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::identifier::ServiceIndex;
    use crate::measure::time::Time;
    use crate::world::invariant::{Invariant, Ticket};

    /// Whoever reports it names the run and the attempt.
    #[test]
    fn a_contradiction_is_told_with_all_that_it_takes() {
        let text = crate::study::curated::curated("tipping").unwrap_or_default();
        let model = Scenario::parse("tipping", text, None, &[]).and_then(|scenario| scenario.base_model()).unwrap();
        let ticket = Ticket { place: 5, stamp: 9, call: 17, number: 2 };
        let violation = Violation {
            invariant: Invariant::BusyWithinWorkers,
            at: Time(12_500_000_000),
            service: Some(ServiceIndex(0)),
            attempt: Some(ticket),
        };
        let told = contradiction(&model, "cell 3 of tipping", Seed { seed: 1, replication: 4 }, violation);
        for part in
            ["more attempts are worked on than there are workers at service `db`", "cell 3 of tipping, seed 1, replication 4, at 12.5s"]
        {
            assert!(told.contains(part), "{told}");
        }
        assert!(told.contains("attempt 2 of call 17 (place 5, stamp 9)") && told.contains("please report it"), "{told}");
    }
}
