//! Controlled delay as Facebook's folly has it (folly/executors/Codel.cpp; "Fail at Scale", ACM Queue 2015): where even the shortest
//! wait of an interval is too long, what has waited twice that is dropped.

use crate::measure::time::{Duration, Time};

/// The parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codel {
    /// A wait that is good enough: an interval whose shortest wait is above it is one of overload.
    pub target: Duration,
    /// How long waits are watched before they are judged.
    pub interval: Duration,
}

/// What has been seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    shortest: Duration,
    interval_ends: Time,
    overloaded: bool,
}

impl Codel {
    /// An attempt whose turn it is has waited so long: whether it is to be dropped. The first of an interval never is.
    pub fn drops(&self, state: &mut State, waited: Duration, now: Time) -> bool {
        if now > state.interval_ends {
            state.interval_ends = now + self.interval;
            state.overloaded = state.shortest > self.target;
            state.shortest = waited;
            return false;
        }
        state.shortest = state.shortest.min(waited);
        state.overloaded && waited > Duration(self.target.0.saturating_mul(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Waits of 12 ms each 10 ms: the first interval only watches, and of each later one the first is served.
    #[test]
    fn overload_is_known_after_an_interval() {
        let codel = Codel { target: Duration(5 * MS), interval: Duration(100 * MS) };
        let mut state = State::default();
        let dropped: Vec<u64> = (1..40).filter(|index| codel.drops(&mut state, Duration(12 * MS), Time(index * 10 * MS))).collect();
        // Intervals begin at 10 ms (after 0), 120 and 230 ms: an interval is over when it is later than its end.
        let expected: Vec<u64> = (13..=22).chain(24..=33).chain(35..40).collect();
        assert_eq!(dropped, expected);
    }

    #[test]
    fn one_short_wait_clears_the_interval() {
        let codel = Codel { target: Duration(5 * MS), interval: Duration(100 * MS) };
        let mut state = State::default();
        let wait = |index: u64| Duration(if index == 5 { 5 * MS } else { 50 * MS });
        let dropped = (1..23).filter(|index| codel.drops(&mut state, wait(*index), Time(index * 10 * MS))).count();
        assert_eq!(dropped, 0);
    }
}
