//! A process that dies of its queue: how long a queue kills it, how long it takes to start again, and how slow it is at first.

use super::Down;
use crate::measure::time::Duration;

/// Of what a process dies, and what comes after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crash {
    /// Attempts in the queue of which it dies, at least 1: as soon as so many wait. Those in service do not count.
    pub queue: u32,
    /// What callers see of its death and until it is up again: [`Down::Refuse`] or [`Down::Hang`].
    pub down: Down,
    /// How long it takes to start again; above zero.
    pub restart: Duration,
    /// How long after that it is cold.
    pub cold: Duration,
    /// How fast it is as it starts, as a part of its speed: 0 to 1.
    pub cold_speed: f64,
    /// In how many equal steps of time it gets warm, 1 to 1000.
    pub steps: u32,
}

impl Crash {
    /// How fast it is in a step, from 0, as a part of its speed: `cold_speed` in the first, 1 in the last, on a straight line in
    /// between, so that the mean over all of them is that of the line. A single step is as slow as the first.
    pub fn warmth(&self, step: u32) -> f64 {
        if step >= self.steps {
            return 1.0;
        }
        let passed = f64::from(step) / f64::from(self.steps.max(2) - 1);
        self.cold_speed + (1.0 - self.cold_speed) * passed
    }

    /// How long a step takes, from 0: all of them together take as long as it is cold, to the nanosecond.
    pub fn step_length(&self, step: u32) -> Duration {
        let end = |step: u32| (u128::from(self.cold.0) * u128::from(step) / u128::from(self.steps)) as u64;
        Duration(end(step + 1) - end(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crash(steps: u32) -> Crash {
        Crash { queue: 10, down: Down::Refuse, restart: Duration(5), cold: Duration(1000), cold_speed: 0.2, steps }
    }

    #[test]
    fn it_gets_warm_in_equal_steps() {
        assert_eq!([0, 1, 2, 3, 4, 5].map(|step| crash(5).warmth(step)), [0.2, 0.4, 0.6000000000000001, 0.8, 1.0, 1.0]);
        assert_eq!([0, 1, 2].map(|step| crash(1).warmth(step)), [0.2, 1.0, 1.0]);
        assert_eq!([0, 1, 2].map(|step| crash(2).warmth(step)), [0.2, 1.0, 1.0]);
        let mean = (0..20).map(|step| crash(20).warmth(step)).sum::<f64>() / 20.0;
        assert!((mean - 0.6).abs() < 1e-15, "{mean} is not the mean of the straight line");
    }

    #[test]
    fn its_steps_take_as_long_as_it_is_cold() {
        for steps in [1, 3, 7, 20, 1000] {
            let lengths: Vec<u64> = (0..steps).map(|step| crash(steps).step_length(step).0).collect();
            assert_eq!(lengths.iter().sum::<u64>(), 1000);
            assert!(lengths.iter().all(|length| length.abs_diff(1000 / u64::from(steps)) <= 1), "{lengths:?}");
        }
    }
}
