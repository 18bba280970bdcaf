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

/// A herd that is turned away at once, and whoever hangs: neither has an end of its own.
const WITHOUT_END: &str = r#"
[clients.fast]
count = 3
calls = "full"
load = { once = { at = "1s" } }
policy = { timeout = "30s" }
[clients.slow]
calls = "gone"
load = { once = { at = "1s" } }
[service.full]
workers = 0
time = "1s"
queue = { limit = 0 }
[service.gone]
down = "hang"
time = "1s"
"#;

#[test]
fn a_call_without_an_end_ends_both_loops_alike() {
    let model = &models("without_end", WITHOUT_END)[0];
    assert!(model.is_plain());
    let (short, full) = (run(model, SEED), run_in_full(model, SEED));
    // The timeouts of the attempts that were turned away at once: they find nothing to do, but happen.
    assert_eq!(short.ended.0, 31_000_000_001);
    assert_eq!(found(short), found(full));
}

/// A throttled backoff changes nothing where nobody throttles, but a fault that sets one is another policy.
#[test]
fn a_fault_sets_a_throttled_backoff() {
    let text = r#"
[run]
horizon = "20s"
[clients.web]
count = 10
calls = "api"
load = { open = { rate = "10/s" } }
policy = { attempts = 3, timeout = "1s" }
[service.api]
time = "1s"
[[fault]]
at = "5s"
for = "5s"
set = { "clients.web.policy" = { attempts = 3, timeout = "1s", throttled_backoff = { decorrelated_jitter = { base = "1s" } } } }
"#;
    let model = &models("throttled", text)[0];
    assert!(model.is_plain());
    assert_eq!(found(run(model, SEED)), found(run_in_full(model, SEED)));
}
