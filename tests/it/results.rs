//! The committed results are those of these scenarios and this version.

use retrystorm::measure::random::Seed;
use retrystorm::report::manifest::{VERSION, entry, scenario_hash};
use retrystorm::study::curated::CURATED;

use crate::support::curated;

/// A scenario's committed results name its hash and this version, and its first run still does what it did then.
#[test]
fn no_results_are_stale() {
    for (name, text) in CURATED {
        let file = format!("{}/results/{name}/manifest.toml", env!("CARGO_MANIFEST_DIR"));
        let again = format!("`cargo run --release -- run {name}` makes them again");
        let manifest = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("results/{name}/manifest.toml: {error}; {again}"));
        let says = |key: &str| entry(&manifest, key).unwrap_or_else(|| panic!("results/{name}/manifest.toml has no {key}"));
        assert_eq!(says("scenario_hash"), scenario_hash(text), "results/{name} are of another text of the scenario; {again}");
        assert_eq!(says("version"), VERSION, "results/{name} are of another version; {again}");
        assert_eq!(says("command"), format!("retrystorm run {name}"), "results/{name} were not made by the documented command; {again}");
        assert_eq!(says("interrupted"), "false");
        let scenario = curated(name, &[]);
        let model = scenario.model(&scenario.cells[0]).expect("it was checked when it was read");
        let first = retrystorm::world::run(&model, Seed { seed: scenario.run.seed, replication: 0 });
        assert_eq!(says("first_run"), format!("{:016x}", first.fingerprint), "results/{name} are of other draws or events; {again}");
    }
}
