//! Circuit breakers: after too many failures nothing is sent for a while, then a few probes decide.

mod rings;
pub mod rule;
#[cfg(test)]
mod tests;

use self::rule::{Record, Rule};
use super::outcome::{Outcome, OutcomeSet};
use super::scope::Scope;
use crate::measure::random::Draw;
use crate::measure::time::{Duration, Time};

/// When a breaker opens, for how long, what closes it, and what a caller does meanwhile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Breaker {
    /// When it opens.
    pub rule: Rule,
    /// How long it stays open. Has no meaning where the rule blocks retries only: such a breaker never opens.
    pub opening: Opening,
    /// How many attempts may be under way while it is half open; how many there are in all where a share closes it. At least 1.
    pub probes: u32,
    /// What closes it when it is half open.
    pub closing: Closing,
    /// What becomes of the attempts for which there is no place while it is half open.
    pub others: Others,
    /// The outcomes that are failures to it; all others are successes.
    pub counts: OutcomeSet,
    /// What it stands around.
    pub around: Around,
    /// What becomes of a call whose attempt it does not let through.
    pub rejection: Rejection,
    /// Who shares one.
    pub scope: Scope,
}

/// How long a breaker stays open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Opening {
    /// Always so long; above zero.
    Fixed(Duration),
    /// Longer each time that its probes fail again, and from the start once it has closed.
    Growing(Growth),
}

/// With k the times that it has opened since it was last closed, from 0, and v = min(cap, initial · factor^k):
/// below, v less up to `jitter` of it; above, min(cap, v and up to `jitter` of it). Uniform.
///
/// Below with a jitter of 1/2 is the equal jitter of the AWS Architecture Blog, "Exponential Backoff And Jitter" (2015), as in the
/// Rust crate failsafe; above is that of Linkerd's failure accrual, and with a jitter of 1 and `exact_first` that of Finagle's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The first; above zero.
    pub initial: Duration,
    /// By how much it grows; at least 1.
    pub factor: f64,
    /// The longest; at least `initial`.
    pub cap: Duration,
    /// Which part of it is left to chance, 0 to 1.
    pub jitter: f64,
    /// Where the jitter lies.
    pub side: Side,
    /// The first opening is `initial` to the nanosecond, and k counts from 0 at the second.
    pub exact_first: bool,
}

/// Where a jitter lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It shortens.
    Below,
    /// It lengthens, up to the cap.
    Above,
}

/// What closes a breaker when it is half open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Closing {
    /// So many probes that succeed, at least 1; the first that fails opens it again.
    Successes(u32),
    /// Once all probes have ended: their share of failures opens it again, or closes it (resilience4j).
    Share {
        /// The share of failures, above 0 to 1.
        rate: f64,
        /// Opens again at this share too, not only above it.
        at_least: bool,
    },
}

/// What becomes of the attempts for which there is no place while a breaker is half open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// They are not let through.
    Reject,
    /// They wait for the probes (cockatiel), and ask again, in order, when it closes or opens or a place is free.
    Wait,
}

/// What a breaker stands around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// Each attempt: it is inside the retries.
    Attempts,
    /// The whole call: it is asked when that starts, and hears how it ends.
    Call,
}

/// What becomes of a call whose attempt a breaker does not let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It fails.
    EndsCall,
    /// That was an attempt, with the outcome `rejected`, though nothing was sent.
    UsesAttempt,
    /// It waits as before a retry, and tries the same attempt again.
    Waits,
}

/// The state of one breaker.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    phase: Phase,
    /// Grows whenever it opens or begins to probe: what was sent before says nothing about what is now. Never 0.
    turn: u32,
    /// How often it has opened since it was last closed.
    streak: u32,
    /// How often it has opened in all.
    openings: u32,
    record: Record,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Attempts pass.
    Closed,
    /// Nothing passes until then.
    Open(Time),
    /// Some probes are under way, others have ended.
    HalfOpen { under_way: u32, succeeded: u32, failed: u32 },
}

/// What an attempt that was let through carries, so that its outcome counts only where it belongs. The default belongs nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass(u32);

/// What a breaker says to an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It may be sent.
    Passes(Pass),
    /// The probes come first.
    Waits,
    /// It may not be sent.
    Refused,
}

impl Breaker {
    /// A breaker that has seen nothing yet, at a time, whose passes begin with a number above 0.
    pub fn fresh(&self, first_turn: u32, now: Time) -> State {
        State { phase: Phase::Closed, turn: first_turn, streak: 0, openings: 0, record: self.rule.record(now) }
    }

    /// Where the rule judges at certain times, it may have opened since: true where it has. To be called before anything else is asked.
    #[inline]
    pub fn pass_time(&self, state: &mut State, now: Time, draw: impl FnOnce(u32) -> Draw) -> bool {
        if state.phase != Phase::Closed {
            return false;
        }
        let opened = self.rule.judge_until(&mut state.record, now);
        if let Some(at) = opened {
            self.open(state, at, draw);
        }
        opened.is_some()
    }

    /// Lets an attempt through, or not; `first` is that of its call. A probe that is let through is counted.
    pub fn admit(&self, state: &mut State, first: bool, now: Time) -> Answer {
        let full = self.places(state) == 0;
        match &mut state.phase {
            Phase::Closed if !first && self.rule.blocks_retry(&state.record) => return Answer::Refused,
            Phase::Closed => {}
            Phase::Open(until) if now < *until => return Answer::Refused,
            Phase::Open(_) => {
                state.phase = Phase::HalfOpen { under_way: 1, succeeded: 0, failed: 0 };
                state.turn = after(state.turn);
            }
            Phase::HalfOpen { .. } if full => {
                return if self.others == Others::Wait { Answer::Waits } else { Answer::Refused };
            }
            Phase::HalfOpen { under_way, .. } => *under_way += 1,
        }
        if first {
            self.rule.call_starts(&mut state.record);
        }
        Answer::Passes(Pass(state.turn))
    }

    /// How many attempts it would let through, or refuse at once, before it made one wait.
    pub fn places(&self, state: &State) -> u32 {
        match (state.phase, self.closing) {
            (Phase::Closed | Phase::Open(_), _) => u32::MAX,
            (Phase::HalfOpen { under_way, .. }, Closing::Successes(_)) => self.probes.saturating_sub(under_way),
            (Phase::HalfOpen { under_way, succeeded, failed }, Closing::Share { .. }) => {
                self.probes.saturating_sub(under_way.saturating_add(succeeded).saturating_add(failed))
            }
        }
    }

    /// What was let through has ended: true where the breaker opens. `draw` is the chance in its so-manyth opening, from 0.
    pub fn settle(&self, state: &mut State, pass: Pass, outcome: Outcome, now: Time, draw: impl FnOnce(u32) -> Draw) -> bool {
        if pass.0 != state.turn {
            return false;
        }
        let fails = self.counts.contains(outcome);
        let opens = match &mut state.phase {
            Phase::Open(_) => return false,
            Phase::Closed => self.rule.hear(&mut state.record, fails, now),
            Phase::HalfOpen { under_way, succeeded, failed } => {
                *under_way = under_way.saturating_sub(1);
                *(if fails { &mut *failed } else { &mut *succeeded }) += 1;
                let (good, bad) = (*succeeded, *failed);
                self.rule.hear_probe(&mut state.record, fails);
                match self.decision(good, bad) {
                    None => return false,
                    Some(true) => true,
                    Some(false) => {
                        self.close(state, now);
                        return false;
                    }
                }
            }
        };
        if opens {
            self.open(state, now, draw);
        }
        opens
    }

    /// Whether so many good and bad probes open it again; None where it is too early to say.
    fn decision(&self, good: u32, bad: u32) -> Option<bool> {
        match self.closing {
            Closing::Successes(_) if bad > 0 => Some(true),
            Closing::Successes(wanted) => (good >= wanted).then_some(false),
            Closing::Share { rate, at_least } => {
                let share = f64::from(bad) / (f64::from(good) + f64::from(bad));
                (good.saturating_add(bad) >= self.probes).then_some(if at_least { share >= rate } else { share > rate })
            }
        }
    }

    fn open(&self, state: &mut State, now: Time, draw: impl FnOnce(u32) -> Draw) {
        state.phase = Phase::Open(now + self.opening.length(state.streak, || draw(state.openings)));
        state.turn = after(state.turn);
        state.streak = state.streak.saturating_add(1);
        state.openings = state.openings.wrapping_add(1);
    }

    fn close(&self, state: &mut State, now: Time) {
        state.phase = Phase::Closed;
        state.streak = 0;
        if self.rule.forgets() {
            state.record = self.rule.record(now);
        }
    }

    /// What was let through will never be heard of: a probe gives its place back.
    pub fn forget(state: &mut State, pass: Pass) {
        if let Phase::HalfOpen { under_way, .. } = &mut state.phase
            && pass.0 == state.turn
        {
            *under_way = under_way.saturating_sub(1);
        }
    }

    /// Bytes that one of them takes, at most.
    pub fn bytes(&self) -> u64 {
        size_of::<State>() as u64 + self.rule.bytes()
    }
}

impl State {
    /// The number of a turn that none of its passes has.
    pub fn next_turn(&self) -> u32 {
        after(self.turn)
    }
}

/// The next turn; 0 is none.
fn after(turn: u32) -> u32 {
    turn.wrapping_add(1).max(1)
}

impl Opening {
    /// How long it is open when it has opened `streak` times since it was last closed.
    fn length(&self, streak: u32, draw: impl FnOnce() -> Draw) -> Duration {
        let growth = match self {
            Opening::Fixed(length) => return *length,
            Opening::Growing(growth) => growth,
        };
        if growth.exact_first && streak == 0 {
            return growth.initial;
        }
        let exponent = streak - u32::from(growth.exact_first);
        let grown = growth.initial.0 as f64 * libm::pow(growth.factor, f64::from(exponent));
        let length = Duration::from_nanoseconds(grown).min(growth.cap);
        let part = if growth.jitter > 0.0 {
            Duration::from_nanoseconds(length.0 as f64 * growth.jitter * draw().uniform())
        } else {
            Duration::ZERO
        };
        match growth.side {
            Side::Below => Duration(length.0.saturating_sub(part.0).max(1)),
            Side::Above => length.saturating_add(part).min(growth.cap),
        }
    }
}
