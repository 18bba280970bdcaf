//! What is held for each call and attempt under way: upper bounds, which docs/PERFORMANCE.md repeats. A field more shows here.

use crate::world::flight::{Attempt, Call};

/// A call under way, in bytes.
const CALL: usize = 136;
/// An attempt under way, in bytes.
const ATTEMPT: usize = 104;

#[test]
fn calls_and_attempts_are_no_larger_than_the_documentation_says() {
    for (what, size, most) in [("call", size_of::<Call>(), CALL), ("attempt", size_of::<Attempt>(), ATTEMPT)] {
        assert!(size <= most, "{what}: {size} bytes; {most} at most");
        let row = format!("| {what} under way | {most} |");
        assert!(include_str!("../../../docs/PERFORMANCE.md").contains(&row), "docs/PERFORMANCE.md has no row `{row}`");
    }
}
