//! When a fault that knows its times lasts, how far its ramp has come, and when it comes again.

use crate::measure::time::{Duration, Time};

/// The times of a fault.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// When it starts for the first time.
    pub from: Time,
    /// How long it lasts, or its ramp takes; None for good.
    pub length: Option<Duration>,
    /// Equal steps of its ramp; 1 where it has none.
    pub steps: u64,
    /// How long the last value of its ramp is kept; None for good.
    pub hold: Option<Duration>,
    /// It comes again after this, so often in all; None for as long as the run lasts.
    pub repeats: Option<(Duration, Option<u32>)>,
}

impl Timing {
    /// How long it lasts, its hold included; None for good.
    pub fn whole(&self) -> Option<Duration> {
        self.length.zip(self.hold).map(|(length, hold)| length.saturating_add(hold))
    }

    /// How often it starts before the end, at least once.
    pub fn count(&self, end: Time) -> u64 {
        let Some((every, times)) = self.repeats else { return 1 };
        let fit = end.since(self.from).0.div_ceil(every.0).max(1);
        times.map_or(fit, |times| fit.min(times.into()))
    }

    /// When it starts for the `index`-th time, from 0.
    pub fn start(&self, index: u64) -> Time {
        let every = self.repeats.map_or(0, |(every, _)| every.0);
        self.from + Duration(every.saturating_mul(index))
    }

    /// The step that holds at a time, from 0; None where it does not last then.
    pub fn step(&self, at: Time) -> Option<usize> {
        if at < self.from {
            return None;
        }
        let since = at.since(self.from);
        let offset = match self.repeats {
            Some((every, times)) if times.is_none_or(|times| since.0 / every.0 < times.into()) => Duration(since.0 % every.0),
            Some(_) => return None,
            None => since,
        };
        match self.length {
            Some(length) if offset >= length => self.whole().is_none_or(|whole| offset < whole).then_some(self.steps as usize - 1),
            Some(length) => Some((u128::from(offset.0) * u128::from(self.steps) / u128::from(length.0)) as usize),
            None => Some(0),
        }
    }

    /// The moments at which something about it changes, from its `index`-th start on.
    pub fn moments(&self, index: u64) -> impl Iterator<Item = Time> + '_ {
        let start = self.start(index);
        // The first nanosecond of each step, by the division in `step`.
        let step = move |step: u64| self.length.map(|length| (u128::from(step) * u128::from(length.0)).div_ceil(u128::from(self.steps)));
        let steps = (1..self.steps).filter_map(step).map(|offset| Duration(offset as u64));
        std::iter::once(start).chain(steps.chain(self.whole()).map(move |offset| start + offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten nanoseconds in four steps, two more at the end, every twenty, twice: steps begin at 0, 3, 5, 8.
    #[test]
    fn a_ramp_climbs_holds_and_comes_again() {
        let timing = Timing {
            from: Time(100),
            length: Some(Duration(10)),
            steps: 4,
            hold: Some(Duration(2)),
            repeats: Some((Duration(20), Some(2))),
        };
        let steps: Vec<Option<usize>> =
            [99, 100, 102, 103, 105, 108, 111, 112, 119, 120, 131, 132, 140].map(|at| timing.step(Time(at))).into();
        let (none, some) = (None, Some);
        assert_eq!(steps, [none, some(0), some(0), some(1), some(2), some(3), some(3), none, none, some(0), some(3), none, none]);
        assert_eq!(timing.moments(1).map(|time| time.0).collect::<Vec<_>>(), [120, 123, 125, 128, 132]);
        assert_eq!((timing.count(Time(121)), timing.count(Time(120)), timing.count(Time::NEVER)), (2, 1, 2));
        for moment in timing.moments(0) {
            assert_ne!(timing.step(moment), timing.step(Time(moment.0 - 1)), "{moment}");
        }
    }
}
