//! The scenarios that come with the program.

/// Name and text of each, in the order of their names.
pub const CURATED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/curated.rs"));

/// The text of a curated scenario.
pub fn curated(name: &str) -> Option<&'static str> {
    CURATED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
