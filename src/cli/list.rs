//! `list`: the scenarios that come with the program.

use super::Outcome;
use super::speak::{Failure, print};
use crate::report::table::align;
use crate::study::curated::CURATED;
use crate::study::scenario::Scenario;

/// Prints a line for each.
pub fn list() -> Outcome {
    let row = |(name, text): &(&str, &str)| Ok(vec![(*name).to_string(), Scenario::parse(name, text, None, &[])?.title]);
    let rows = CURATED.iter().map(row).collect::<Result<Vec<_>, Failure>>()?;
    print(&align(&rows, 2))
}
