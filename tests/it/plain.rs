//! A plain model (`world/plain.rs`) is the same run, whichever of the two loops it goes through.

use retrystorm::measure::random::Seed;
use retrystorm::study::curated::CURATED;
use retrystorm::study::scenario::Scenario;
use retrystorm::world::model::Model;
use retrystorm::world::run::Run;
use retrystorm::world::{run, run_in_full};

const SEED: Seed = Seed { seed: 1, replication: 3 };

/// Everything that a run finds, but how many events found nothing to do.
fn found(mut run: Run) -> String {
    let latencies = (run.latency.quantiles([0.1, 0.5, 0.9, 0.999]), run.latency.sum, run.latency.greatest);
    let counts = (&run.totals, &run.services, &run.ended_by_group, &run.attempts_needed, &run.timeline);
    format!("{latencies:?} {counts:?} {:?} {:?} {:?}", run.changes, run.ended, run.violation)
}

fn models(name: &str, text: &str) -> Vec<Model> {
    let scenario = Scenario::parse(name, text, None, &[]).unwrap_or_else(|error| panic!("{error}"));
    scenario.cells.iter().map(|cell| scenario.model(cell).expect("checked when it was read")).collect()
}

#[test]
fn both_loops_find_the_same() {
    let (mut plain, mut less) = (0, 0);
    for (name, text) in CURATED.iter().chain(&[("storm", include_str!("../../benches/storm.toml"))]) {
        // The others go through the one loop anyway.
        let all: Vec<Model> = models(name, text).into_iter().filter(Model::is_plain).collect();
        for model in all.iter().step_by(all.len().div_ceil(8).max(1)) {
            let (short, full) = (run(model, SEED), run_in_full(model, SEED));
            plain += 1;
            less += u32::from(short.events < full.events);
            assert!(short.events <= full.events, "{name}");
            assert_eq!(found(short), found(full), "{name}");
        }
    }
    assert!(plain > 40 && less > 3, "only {plain} plain cells, {less} of them with attempts that are turned away at once");
}
