//! What theory says: closed forms of queues, retrials, retries and storms, to compare the simulation with. Pure functions of numbers in
//! base units: seconds, per second, shares from 0 to 1. `forms` is the list of those that a scenario can name.

pub mod forms;
pub mod queues;
pub mod retrials;
pub mod retries;
pub mod storm;

/// Asserts that a number agrees with one that is printed, to half of its last digit.
#[cfg(test)]
fn agrees(found: f64, printed: f64, within: f64) {
    assert!((found - printed).abs() <= within, "{found} is not {printed} (± {within})");
}
