//! The scenarios that come with the program, and those of published laws and experiments.

/// Name and text of each, in the order of their names.
pub const CURATED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/curated.rs"));

/// The scenarios of the papers: their names are `paper/PAPER/PART`.
pub const PAPERS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/papers.rs"));

/// Published figures that the charts of the papers show beside ours, as CSV, under the same kind of name.
pub const PUBLISHED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/published.rs"));

/// The text of a scenario that comes with the program.
pub fn curated(name: &str) -> Option<&'static str> {
    CURATED.iter().chain(PAPERS).find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The paper and the part of a scenario of a paper, by its name.
pub fn paper_of(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("paper/")?.split_once('/')
}
