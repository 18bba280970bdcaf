//! When faults with a condition lasted: in each replication for `spells.csv`, and in which share of them for the marks of the charts.

use super::files::{Finished, Table};
use crate::measure::time::Time;
use crate::study::fold::Replication;
use crate::world::model::Model;

/// A time in which a fault with a condition lasts in the same share of the replications.
#[derive(Clone, Debug, PartialEq)]
pub struct Spell {
    /// What the fault sets.
    pub label: String,
    /// The start.
    pub from: Time,
    /// The end.
    pub until: Time,
    /// The share, above 0 and at most 1.
    pub share: f64,
}

/// `spells.csv`: a row each time such a fault lasted, in each replication.
pub fn rows(finished: Finished) -> Table {
    let mut table = vec![["cell", "replication", "label", "from", "to"].map(String::from).to_vec()];
    for (cell, (model, result)) in finished.models.iter().zip(&finished.study.cells).enumerate() {
        for replication in &result.replications {
            for (fault, time) in &replication.spells {
                let label = model.conditional.faults[*fault].label.clone();
                let times = [time.start, time.end].map(|time| time.seconds().to_string());
                table.push([cell.to_string(), replication.number.to_string(), label].into_iter().chain(times).collect());
            }
        }
    }
    table
}

/// In which share of the replications each such fault lasts, from change to change, where it does in some.
pub fn shares(model: &Model, replications: &[Replication]) -> Vec<Spell> {
    let mut found: Vec<Spell> = Vec::new();
    for (index, fault) in model.conditional.faults.iter().enumerate() {
        let times = replications.iter().flat_map(|replication| &replication.spells).filter(|(fault, _)| *fault == index);
        let mut steps: Vec<(Time, i64)> = times.flat_map(|(_, time)| [(time.start, 1), (time.end, -1)]).collect();
        steps.sort_unstable();
        let mut lasting = 0;
        for (place, (at, step)) in steps.iter().enumerate() {
            lasting += step;
            let Some((until, _)) = steps.get(place + 1).filter(|(until, _)| lasting > 0 && until > at) else { continue };
            let share = lasting as f64 / replications.len() as f64;
            // Where one run's fault ends as another's begins nothing changes.
            match found.last_mut().filter(|last| last.until == *at && last.share == share && last.label == fault.label) {
                Some(last) => last.until = *until,
                None => found.push(Spell { label: fault.label.clone(), from: *at, until: *until, share }),
            }
        }
    }
    found
}
