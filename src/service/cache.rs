//! A cache in front of a service: a share of the attempts is answered from it, and after it was emptied, what is served fills it again.

use crate::measure::time::Duration;

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cache {
    /// The share of calls whose answer a full cache holds, 0 to 1.
    pub hit_rate: f64,
    /// How long an answer from it takes; above zero.
    pub time: Duration,
    /// How many answers it holds when it is full; at least 1.
    pub keys: u32,
}

/// How full it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Answers that were stored since it was empty; None where it is full.
    stored: Option<u64>,
}

/// Where so many times its keys were stored, what is missing is less than the last bit of a share.
const FULL: u64 = 40;

impl Cache {
    /// The share of calls that it can answer now: hit_rate (1 - exp(-n / keys)), n the answers stored since it was empty. The first
    /// are those that are asked for most, so that it fills fast at first and ever more slowly.
    pub fn share(&self, state: &State) -> f64 {
        match state.stored {
            None => self.hit_rate,
            Some(stored) => -self.hit_rate * libm::expm1(-(stored as f64) / f64::from(self.keys)),
        }
    }

    /// The service has found an answer, which is stored.
    pub fn store(&self, state: &mut State) {
        state.stored = state.stored.map(|stored| stored + 1).filter(|stored| *stored < FULL * u64::from(self.keys));
    }
}

/// Whether such a cache holds nothing.
fn is_empty(cache: Option<&Cache>) -> bool {
    cache.is_none_or(|cache| cache.hit_rate == 0.0)
}

/// Other numbers hold: a cache that was away, or that nothing was in, begins empty.
pub fn change(state: &mut State, before: Option<&Cache>, after: Option<&Cache>) {
    if is_empty(before) && !is_empty(after) {
        state.stored = Some(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fills_with_what_is_served() {
        let cache = Cache { hit_rate: 0.9, time: Duration(1), keys: 1000 };
        let mut state = State::default();
        assert_eq!(cache.share(&state), 0.9);
        cache.store(&mut state);
        assert_eq!(state, State::default());
        change(&mut state, Some(&cache), Some(&Cache { hit_rate: 0.5, ..cache }));
        assert_eq!(cache.share(&state), 0.9);
        change(&mut state, Some(&Cache { hit_rate: 0.0, ..cache }), Some(&cache));
        assert_eq!(cache.share(&state), 0.0);
        (0..1000).for_each(|_| cache.store(&mut state));
        // 1 - 1/e, to the last digits that a table has.
        assert!((cache.share(&state) - 0.9 * 0.632_120_558_828_557_7).abs() < 1e-15);
        (0..39_000).for_each(|_| cache.store(&mut state));
        assert_eq!(state, State::default());
        change(&mut state, None, Some(&cache));
        assert_eq!(cache.share(&state), 0.0);
    }
}
