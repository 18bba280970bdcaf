//! The order of events does not depend on what holds them: heap or ladder, whatever is the number at which one becomes the other.

use std::fs;

use retrystorm::measure::random::Seed;
use retrystorm::study::curated::CURATED;
use retrystorm::study::scenario::Scenario;
use retrystorm::world::agenda::CROWD;
use retrystorm::world::{run, run_with_crowd};

use crate::support::{curated, scenario};

/// The first and the last cell of a scenario, with an agenda that is always a ladder, mostly one, the usual, and always a heap.
fn compare(scenario: &Scenario) {
    let last = scenario.cells.len() - 1;
    for cell in [0, last] {
        let model = scenario.model(&scenario.cells[cell]).expect("checked when it was read");
        let seed = Seed { seed: 1, replication: cell as u32 };
        let usual = run(&model, seed);
        for crowd in [0, 20, CROWD, usize::MAX] {
            let other = run_with_crowd(&model, seed, crowd);
            let of = |run: &retrystorm::world::run::Run| (run.fingerprint, run.events, run.totals.clone(), run.services.clone());
            assert_eq!(of(&other), of(&usual), "{}, cell {cell}, crowd {crowd}", scenario.name);
            assert_eq!(other.timeline, usual.timeline, "{}, cell {cell}, crowd {crowd}", scenario.name);
        }
    }
}

#[test]
fn curated_scenarios_are_the_same_on_heap_and_ladder() {
    for (name, _) in CURATED {
        // Five and a half hours of two pending events say no more than ten minutes.
        let set: &[&str] = if *name == "mm1" { &["run.horizon=1000s"] } else { &[] };
        compare(&curated(name, set));
    }
}

/// Tens of thousands of events pending, of all kinds: the reference storm, and closed loops over a link.
#[test]
fn storms_are_the_same_on_heap_and_ladder() {
    let storm = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/storm.toml")).expect("a scenario");
    let rate = r#"clients.crowd.load.open.rate=[["0s", "2000/s"], ["40s", "0/s"]]"#;
    compare(&scenario(&storm, &["clients.crowd.count=20000", rate, "service.shop.workers=29", "service.shop.queue.limit=2900"]));
    let closed = r#"
        [run]
        horizon = "20s"
        [clients.crowd]
        count = 5000
        calls = "shop"
        load = { closed = { think = { lognormal = { median = "2s", sigma = 2.0 } } } }
        policy = { attempts = 5, timeout = "200ms", backoff = { exponential = { base = "10ms" } } }
        [service.shop]
        workers = 100
        time = "60ms"
        queue = { limit = 1000, order = "lifo" }
        [link]
        delay = { normal = { mean = "10ms", sd = "2ms" } }
        loss = "1%"
    "#;
    compare(&scenario(closed, &[]));
}
