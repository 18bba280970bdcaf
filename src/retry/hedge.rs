//! Hedging: another attempt while the first is still under way, so that one slow answer does not slow the call.
//!
//! Source: Dean and Barroso, "The Tail at Scale", CACM 56 (2), 2013; gRPC's proposal A6 for what a failure does.

use crate::measure::time::Duration;

/// When and how often an attempt is doubled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hedge {
    /// After how long without an answer.
    pub after: After,
    /// At most so many further attempts beside each; at least 1.
    pub most: u32,
    /// Whether the others are cancelled when one has won: the service then drops them, queued or in progress.
    pub cancel: bool,
    /// What each call adds to the tokens of its group, of which a hedge takes one; None has no such limit.
    pub share: Option<f64>,
    /// Hedges of the group under way at once, at most; None has no such limit.
    pub concurrent: Option<u32>,
}

/// After how long an attempt without an answer is doubled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum After {
    /// Always the same.
    Fixed(Duration),
    /// A share (0 to 1) of the last answers were faster, from the first sending to the first `ok`. Until there are enough of them, `first`; None is not at all.
    Percentile {
        /// The share.
        share: f64,
        /// Before there are [`LEAST_ANSWERS`].
        first: Option<Duration>,
    },
}

/// The tokens of a share are whole billionths of a hedge, and at most so many hedges are saved up.
const TOKEN: u64 = 1_000_000_000;

/// Hedges that a quiet time can save up.
const MOST_SAVED: u64 = 10;

/// A percentile is that of so many last answers, computed again after each hundredth.
pub const KEPT_ANSWERS: usize = 1000;

/// Answers that a percentile needs.
pub const LEAST_ANSWERS: usize = 100;

/// What a group of clients keeps about its hedges.
#[derive(Clone, Debug, Default)]
pub struct State {
    tokens: u64,
    under_way: u32,
    answers: Vec<u64>,
    next: usize,
    percentile: Option<Duration>,
    /// The answers in another order; their room is used again.
    sorted: Vec<u64>,
}

impl Hedge {
    /// A call starts: it adds its share.
    #[inline]
    pub fn call_starts(&self, state: &mut State) {
        if let Some(share) = self.share {
            state.tokens = (state.tokens + (share * TOKEN as f64 + 0.5) as u64).min(MOST_SAVED * TOKEN);
        }
    }

    /// After how long without an answer a further attempt is sent; None where it is not.
    #[inline]
    pub fn wait(&self, state: &State) -> Option<Duration> {
        match self.after {
            After::Fixed(wait) => Some(wait),
            After::Percentile { first, .. } => state.percentile.or(first),
        }
    }

    /// Whether one more may be sent, after `sent` beside the same attempt; it is then counted.
    pub fn admit(&self, state: &mut State, sent: u32) -> bool {
        let paid = self.share.is_none() || state.tokens >= TOKEN;
        if sent >= self.most || !paid || self.concurrent.is_some_and(|most| state.under_way >= most) {
            return false;
        }
        state.tokens = state.tokens.saturating_sub(TOKEN);
        state.under_way += 1;
        true
    }

    /// So many hedges are under way no more: their attempt has ended.
    #[inline]
    pub fn end(state: &mut State, hedges: u32) {
        state.under_way -= hedges;
    }

    /// An answer `ok` came after so long.
    pub fn observe(&self, state: &mut State, latency: Duration) {
        let After::Percentile { share, .. } = self.after else { return };
        if state.answers.len() < KEPT_ANSWERS {
            state.answers.push(latency.0);
        } else {
            state.answers[state.next] = latency.0;
        }
        state.next = (state.next + 1) % KEPT_ANSWERS;
        if state.next.is_multiple_of(LEAST_ANSWERS) {
            let sorted = &mut state.sorted;
            sorted.clone_from(&state.answers);
            let rank = (share * sorted.len() as f64) as usize;
            let rank = rank.min(sorted.len() - 1);
            state.percentile = Some(Duration(*sorted.select_nth_unstable(rank).1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEDGE: Hedge = Hedge { after: After::Fixed(Duration(5)), most: 1, cancel: true, share: None, concurrent: None };

    #[test]
    fn no_more_than_most_beside_one_attempt_and_than_concurrent_at_once() {
        let (hedge, mut state) = (Hedge { most: 2, concurrent: Some(3), ..HEDGE }, State::default());
        assert!(hedge.admit(&mut state, 0) && hedge.admit(&mut state, 1) && !hedge.admit(&mut state, 2));
        assert!(hedge.admit(&mut state, 0) && !hedge.admit(&mut state, 0), "three are under way");
        Hedge::end(&mut state, 2);
        assert!(hedge.admit(&mut state, 0));
    }

    #[test]
    fn ten_calls_pay_for_one_and_ten_are_saved() {
        let (hedge, mut state) = (Hedge { share: Some(0.1), ..HEDGE }, State::default());
        (0..9).for_each(|_| hedge.call_starts(&mut state));
        assert!(!hedge.admit(&mut state, 0));
        hedge.call_starts(&mut state);
        assert!(hedge.admit(&mut state, 0) && !hedge.admit(&mut state, 0));
        (0..1000).for_each(|_| hedge.call_starts(&mut state));
        assert_eq!((0..100).filter(|_| hedge.admit(&mut state, 0)).count(), 10);
    }

    #[test]
    fn a_percentile_is_that_of_the_last_answers() {
        let first = Some(Duration(7));
        let (hedge, mut state) = (Hedge { after: After::Percentile { share: 0.95, first }, ..HEDGE }, State::default());
        assert_eq!(hedge.wait(&state), first);
        (1..=100).for_each(|latency| hedge.observe(&mut state, Duration(latency)));
        assert_eq!(hedge.wait(&state), Some(Duration(96)), "95 of 100 were faster");
        (0..1000).for_each(|_| hedge.observe(&mut state, Duration(1000)));
        assert_eq!(hedge.wait(&state), Some(Duration(1000)), "the old ones are forgotten");
    }
}
