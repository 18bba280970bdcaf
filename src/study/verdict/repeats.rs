//! Faults that come again until the end leave no long time after the last change. But what becomes of the system shows between two
//! of them: from the end of one to the start of the next, where what follows is only what had been before.

use std::ops::Range;

use crate::measure::time::Time;
use crate::world::model::Model;
use crate::world::run::{Change, Run};

/// A time between faults: the change that begins it, and when the next fault starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The end of the fault before.
    pub change: Change,
    /// The start of the next fault.
    pub until: Time,
}

/// A time in which a fault lasts, and which it is.
struct Spell {
    from: Time,
    until: Time,
    name: Name,
}

#[derive(Clone, PartialEq)]
enum Name {
    Timed(String),
    Conditional(usize),
}

/// The times between faults after which only faults come that had been before, the last first; none where the last fault is the
/// first of its kind.
pub fn gaps(model: &Model, run: &Run) -> Vec<Gap> {
    let spells = spells(model, run);
    let mut found = Vec::new();
    let mut until = Time::ZERO;
    for (index, spell) in spells.iter().enumerate() {
        let came = |later: &Spell| spells[..index].iter().any(|before| before.name == later.name);
        if index > 0 && spell.from > until && spells[index..].iter().all(came) {
            found.push(Gap { change: change_at(model, run, until), until: spell.from });
        }
        until = until.max(spell.until);
    }
    found.reverse();
    found
}

/// The times in which each conditional fault lasts, by its number: from its start to its end, or to that of the run.
pub fn conditional_spells(model: &Model, run: &Run) -> Vec<(usize, Range<Time>)> {
    let mut found = Vec::new();
    for fault in 0..model.conditional.faults.len() {
        let mut since = None;
        for change in &run.changes {
            match (since, change.lasting >> fault & 1 == 1) {
                (None, true) => since = Some(change.at),
                (Some(from), false) => {
                    found.push((fault, from..change.at));
                    since = None;
                }
                _ => {}
            }
        }
        found.extend(since.map(|from| (fault, from..Time::NEVER)));
    }
    found
}

fn spells(model: &Model, run: &Run) -> Vec<Spell> {
    let timed = model.faults.iter().map(|span| Spell { from: span.from, until: span.until, name: Name::Timed(span.label.clone()) });
    let conditional = conditional_spells(model, run).into_iter();
    let conditional = conditional.map(|(fault, time)| Spell { from: time.start, until: time.end, name: Name::Conditional(fault) });
    let mut spells: Vec<Spell> = timed.chain(conditional).collect();
    spells.sort_by_key(|spell| spell.from);
    spells
}

/// The numbers that hold from a time on at which no fault lasts.
fn change_at(model: &Model, run: &Run, at: Time) -> Change {
    let epoch = model.epochs.partition_point(|epoch| epoch.at <= at).saturating_sub(1) as u32;
    let lasting = run.changes.iter().take_while(|change| change.at <= at).last().map_or(0, |change| change.lasting);
    Change { at, epoch, lasting }
}
