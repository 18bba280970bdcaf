//! What is held for each call and attempt under way: upper bounds, which docs/PERFORMANCE.md repeats. A field more shows here.

use crate::world::flight::{Attempt, AttemptExtra, Call, CallExtra};

/// A call under way, in bytes, and what a model that is not plain adds to it.
const CALL: [usize; 2] = [32, 120];
/// An attempt under way, in bytes, and what a model that is not plain adds to it.
const ATTEMPT: [usize; 2] = [64, 40];

#[test]
fn calls_and_attempts_are_no_larger_than_the_documentation_says() {
    let sizes = [
        ("call", [size_of::<Call>(), size_of::<CallExtra>()], CALL),
        ("attempt", [size_of::<Attempt>(), size_of::<AttemptExtra>()], ATTEMPT),
    ];
    for (what, sizes, most) in sizes {
        assert!(sizes[0] <= most[0] && sizes[1] <= most[1], "{what}: {sizes:?} bytes; {most:?} at most");
        let row = format!("| {what} under way | {} + {} |", most[0], most[1]);
        assert!(include_str!("../../../docs/PERFORMANCE.md").contains(&row), "docs/PERFORMANCE.md has no row `{row}`");
    }
}
