//! What it takes to make a folder of results again: written beside them, and read to see whether they are stale.

use std::path::Path;

use crate::measure::random::mix;
use crate::report::files::{Finished, replace};

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A hash of a scenario's text: other bytes, other hash, whatever the line ends.
pub fn scenario_hash(text: &str) -> String {
    let bytes = text.bytes().filter(|byte| *byte != b'\r');
    format!("{:016x}", bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| mix(hash ^ u64::from(byte))))
}

/// Writes `manifest.toml` and the scenario itself into a folder.
///
/// # Errors
/// What the file system says.
pub fn write(finished: Finished, command: &str, folder: &Path) -> std::io::Result<()> {
    let cells = &finished.study.cells;
    let fingerprint = cells.iter().fold(0, |hash, cell| mix(hash ^ cell.fingerprint()));
    let first = cells.first().and_then(|cell| cell.replications.first()).map_or(0, |replication| replication.fingerprint);
    let replications: usize = cells.iter().map(|cell| cell.replications.len()).sum();
    let text = format!(
        "# What made these results. The same version, scenario and seed make the same bytes again.\n\
         command = {command:?}\nversion = \"{VERSION}\"\nscenario = {:?}\nscenario_hash = \"{}\"\nseed = {}\ncells = {}\nruns = {replications}\nevents = {}\n\
         fingerprint = \"{fingerprint:016x}\"\nfirst_run = \"{first:016x}\"\ninterrupted = {}\n",
        finished.scenario.name,
        scenario_hash(&finished.scenario.text),
        finished.scenario.run.seed,
        cells.len(),
        cells.iter().map(|cell| cell.events).sum::<u64>(),
        finished.study.interrupted,
    );
    replace(&folder.join("manifest.toml"), text.as_bytes())?;
    replace(&folder.join("scenario.toml"), finished.scenario.text.as_bytes())
}

/// One entry of a manifest, as text.
pub fn entry(manifest: &str, key: &str) -> Option<String> {
    let table: toml::Table = manifest.parse().ok()?;
    match table.get(key)? {
        toml::Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
