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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    phase: Phase,
    /// Grows whenever it opens or begins to probe: what was sent before says nothing about what is now.
    turns: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Attempts pass; so many failures in a row so far.
    Closed(u32),
    /// Nothing passes until then.
    Open(Time),
    /// So many probes are under way.
    HalfOpen(u32),
}

impl Default for Phase {
    fn default() -> Phase {
        Phase::Closed(0)
    }
}

/// What an attempt that was let through carries, so that its outcome counts only where it belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass(u32);

impl Breaker {
    /// Lets an attempt through, or not. A probe that is let through is counted.
    pub fn admit(&self, state: &mut State, now: Time) -> Option<Pass> {
        match state.phase {
            Phase::Closed(_) => {}
            Phase::Open(until) if now < until => return None,
            Phase::Open(_) => {
                state.phase = Phase::HalfOpen(1);
                state.turns = state.turns.wrapping_add(1);
            }
            Phase::HalfOpen(under_way) if under_way < self.probes => state.phase = Phase::HalfOpen(under_way + 1),
            Phase::HalfOpen(_) => return None,
        }
        Some(Pass(state.turns))
    }

    /// An attempt that was let through has ended.
    pub fn settle(&self, state: &mut State, pass: Pass, succeeded: bool, now: Time) {
        if pass.0 != state.turns {
            return;
        }
        let opens = match state.phase {
            Phase::Open(_) => return,
            _ if succeeded => {
                state.phase = Phase::Closed(0);
                return;
            }
            Phase::HalfOpen(_) => true,
            Phase::Closed(failed) => {
                state.phase = Phase::Closed(failed + 1);
                failed + 1 >= self.failures
            }
        };
        if opens {
            state.phase = Phase::Open(now + self.open);
            state.turns = state.turns.wrapping_add(1);
        }
    }

    /// An attempt that was let through will never be heard of: a probe gives its place back.
    pub fn forget(state: &mut State, pass: Pass) {
        if let Phase::HalfOpen(under_way) = &mut state.phase
            && pass.0 == state.turns
        {
            *under_way = under_way.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BREAKER: Breaker = Breaker { failures: 3, open: Duration(30), probes: 1 };

    /// One attempt that is let through at `now` and ends at once.
    fn attempt(state: &mut State, succeeded: bool, now: u64) -> bool {
        let pass = BREAKER.admit(state, Time(now));
        if let Some(pass) = pass {
            BREAKER.settle(state, pass, succeeded, Time(now));
        }
        pass.is_some()
    }

    #[test]
    fn opens_probes_and_closes() {
        let mut state = State::default();
        attempt(&mut state, false, 0);
        attempt(&mut state, false, 1);
        attempt(&mut state, true, 2);
        assert_eq!(state.phase, Phase::Closed(0), "a success forgives");
        for now in 3..6 {
            assert!(attempt(&mut state, false, now));
        }
        assert_eq!(state.phase, Phase::Open(Time(35)));
        assert!(!attempt(&mut state, true, 34));
        let probe = BREAKER.admit(&mut state, Time(35)).expect("one probe");
        assert_eq!(BREAKER.admit(&mut state, Time(35)), None, "and no more");
        BREAKER.settle(&mut state, probe, false, Time(40));
        assert_eq!(state.phase, Phase::Open(Time(70)), "a failed probe starts the time again");
        assert!(attempt(&mut state, true, 70));
        assert_eq!(state.phase, Phase::Closed(0));
    }

    #[test]
    fn what_was_sent_before_it_opened_says_nothing() {
        let mut state = State::default();
        let old = BREAKER.admit(&mut state, Time(0)).expect("closed");
        for now in 1..4 {
            attempt(&mut state, false, now);
        }
        BREAKER.settle(&mut state, old, true, Time(10));
        assert_eq!(state.phase, Phase::Open(Time(33)), "a late success does not close it");
        let probe = BREAKER.admit(&mut state, Time(33)).expect("half open");
        BREAKER.settle(&mut state, old, false, Time(34));
        assert_eq!(state.phase, Phase::HalfOpen(1), "nor does a late failure of old decide for the probe");
        BREAKER.settle(&mut state, probe, true, Time(35));
        assert_eq!(state.phase, Phase::Closed(0));
    }

    #[test]
    fn a_probe_that_is_forgotten_gives_its_place_back() {
        let mut state = State::default();
        for now in 0..3 {
            attempt(&mut state, false, now);
        }
        let probe = BREAKER.admit(&mut state, Time(40)).expect("half open");
        Breaker::forget(&mut state, probe);
        assert!(attempt(&mut state, true, 41), "another may go");
    }
}
