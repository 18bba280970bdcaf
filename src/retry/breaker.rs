//! Circuit breakers: after too many failures nothing is sent for a while.

use crate::measure::time::{Duration, Time};

/// Opens after a number of failures in a row, stays open for a time, then lets a few probes through.
/// The first success of a probe closes it, the first failure opens it again. Each client has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaker {
    /// How many failed attempts in a row open it.
    pub failures: u32,
    /// How long it stays open.
    pub open: Duration,
    /// How many attempts may be under way while it is half open.
    pub probes: u32,
}

/// The state of one breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Attempts pass; so many failures in a row so far.
    Closed(u32),
    /// Nothing passes until then.
    Open(Time),
    /// So many probes are under way.
    HalfOpen(u32),
}

impl Default for State {
    fn default() -> State {
        State::Closed(0)
    }
}

impl Breaker {
    /// Whether an attempt may be sent now. A probe that is let through is counted.
    pub fn admits(&self, state: &mut State, now: Time) -> bool {
        match *state {
            State::Closed(_) => true,
            State::Open(until) if now < until => false,
            State::Open(_) => {
                *state = State::HalfOpen(1);
                true
            }
            State::HalfOpen(under_way) if under_way < self.probes => {
                *state = State::HalfOpen(under_way + 1);
                true
            }
            State::HalfOpen(_) => false,
        }
    }

    /// An attempt that was sent has ended.
    pub fn settles(&self, state: &mut State, succeeded: bool, now: Time) {
        *state = match *state {
            // The late answer of an attempt sent before it opened says nothing new.
            State::Open(until) => State::Open(until),
            _ if succeeded => State::Closed(0),
            State::HalfOpen(_) => State::Open(now + self.open),
            State::Closed(failed) if failed + 1 >= self.failures => State::Open(now + self.open),
            State::Closed(failed) => State::Closed(failed + 1),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_probes_and_closes() {
        let (breaker, mut state) = (Breaker { failures: 3, open: Duration(30), probes: 1 }, State::default());
        let settle = |state: &mut State, succeeded, now| breaker.settles(state, succeeded, Time(now));
        settle(&mut state, false, 0);
        settle(&mut state, false, 1);
        settle(&mut state, true, 2);
        assert_eq!(state, State::Closed(0), "a success forgives");
        for now in 3..6 {
            assert!(breaker.admits(&mut state, Time(now)));
            settle(&mut state, false, now);
        }
        assert_eq!(state, State::Open(Time(35)));
        settle(&mut state, true, 10);
        assert!(!breaker.admits(&mut state, Time(34)), "late answers do not close it");
        assert!(breaker.admits(&mut state, Time(35)) && !breaker.admits(&mut state, Time(35)), "one probe, no more");
        settle(&mut state, false, 40);
        assert_eq!(state, State::Open(Time(70)), "a failed probe starts the time again");
        assert!(breaker.admits(&mut state, Time(70)));
        settle(&mut state, true, 71);
        assert_eq!(state, State::Closed(0));
    }
}
