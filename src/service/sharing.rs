//! Processor sharing: everything in service goes on at once, each at its part of the speed. Exact: the progress of all is one number.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::measure::time::{Duration, Time};

/// What a processor is at work with. One attempt alone goes no faster than one worker; more than there are workers share them equally.
#[derive(Clone, Debug, Default)]
pub struct Processor {
    /// The work that each attempt in service has had since the run began, if it had been there: in nanoseconds times 2^32.
    progress: u128,
    /// As of when.
    as_of: Time,
    /// The attempts, by the progress at which they are done and the order in which they came: the first is at the top.
    jobs: BinaryHeap<Reverse<(u128, u64, u32)>>,
    arrived: u64,
    /// The attempt for whose end an event stands in the agenda.
    pub awaited: Option<u32>,
}

/// How fast a processor is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Attempts that would each go at full speed.
    pub workers: u32,
    /// The speed of one: work a unit of time.
    pub speed: f64,
}

const SHIFT: u32 = 32;

impl Processor {
    /// How many attempts it works on.
    pub fn len(&self) -> u32 {
        self.jobs.len() as u32
    }

    /// Whether it works on none.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Since when the progress has not been brought up to date.
    pub fn as_of(&self) -> Time {
        self.as_of
    }

    /// How many times as long as alone one more attempt would take, if it were one of as many to its end.
    pub fn stretch(&self, pace: Pace) -> f64 {
        (f64::from(self.len() + 1) / f64::from(pace.workers)).max(1.0)
    }

    /// Brings the progress up to now; the pace has been the same all the while.
    pub fn advance(&mut self, now: Time, pace: Pace) {
        let passed = u128::from(now.since(self.as_of).0) << SHIFT;
        self.as_of = now;
        let sped = scaled(passed, pace.speed);
        self.progress = self.progress.saturating_add(match self.len() {
            0 => 0,
            jobs if jobs <= pace.workers => sped,
            jobs => sped.saturating_mul(pace.workers.into()) / u128::from(jobs),
        });
    }

    /// One more attempt, with so much work. The progress must be up to date.
    pub fn add(&mut self, attempt: u32, work: Duration) {
        self.arrived += 1;
        self.jobs.push(Reverse((self.progress.saturating_add(u128::from(work.0) << SHIFT), self.arrived, attempt)));
    }

    /// Takes an attempt out, done or not; what is left of its work.
    pub fn remove(&mut self, attempt: u32) -> Duration {
        if self.awaited == Some(attempt) {
            self.awaited = None;
        }
        let Some(end) = self.take(attempt) else { return Duration::ZERO };
        Duration(u64::try_from(end.saturating_sub(self.progress) >> SHIFT).unwrap_or(u64::MAX))
    }

    /// Takes an attempt out of the heap: the progress at which it would be done. Whoever is done is at the top; others are rarely taken.
    fn take(&mut self, attempt: u32) -> Option<u128> {
        if let Some(Reverse((end, _, _))) = self.jobs.peek().copied().filter(|Reverse(job)| job.2 == attempt) {
            self.jobs.pop();
            return Some(end);
        }
        let place = self.jobs.iter().position(|Reverse(job)| job.2 == attempt)?;
        let mut jobs = std::mem::take(&mut self.jobs).into_vec();
        let Reverse((end, _, _)) = jobs.swap_remove(place);
        self.jobs = jobs.into();
        Some(end)
    }

    /// The attempt that is done first, and how long from now, if nothing changes; None where nothing is ever done.
    pub fn first(&self, pace: Pace) -> Option<(u32, Duration)> {
        let Reverse((end, _, attempt)) = self.jobs.peek()?;
        let left = end.saturating_sub(self.progress);
        let time = match left {
            0 => 0,
            _ if pace.speed <= 0.0 || pace.workers == 0 => return None,
            left => {
                let (jobs, workers) = (u128::from(self.len().max(pace.workers)), u128::from(pace.workers));
                scaled(left, 1.0 / pace.speed).saturating_mul(jobs).div_ceil(workers << SHIFT)
            }
        };
        Some((*attempt, Duration(u64::try_from(time).unwrap_or(u64::MAX))))
    }
}

fn scaled(amount: u128, factor: f64) -> u128 {
    if factor == 1.0 { amount } else { (amount as f64 * factor) as u128 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Pace = Pace { workers: 1, speed: 1.0 };

    /// Works of 3, 1 and 2 that come at 0, 1 and 2: alone until 1, by halves until 3 is done ...
    #[test]
    fn shares_are_equal() {
        let mut processor = Processor::default();
        let second = 1_000_000_000;
        processor.add(7, Duration(3 * second));
        processor.advance(Time(second), ONE);
        assert_eq!(processor.first(ONE), Some((7, Duration(2 * second))));
        processor.add(8, Duration(second));
        // At 2 the second has had half, the first a second and a half.
        processor.advance(Time(2 * second), ONE);
        processor.add(9, Duration(2 * second));
        // Thirds: the second needs half a unit more, in 1.5 s.
        assert_eq!(processor.first(ONE), Some((8, Duration(3 * second / 2))));
        processor.advance(Time(7 * second / 2), ONE);
        assert_eq!(processor.remove(8), Duration::ZERO);
        // The first has one unit to go, in two seconds by halves; the third one and a half.
        assert_eq!(processor.first(ONE), Some((7, Duration(2 * second))));
        assert_eq!(processor.remove(9), Duration(3 * second / 2));
        // Two workers do not make one attempt faster, half the speed makes it slower, none never ends it.
        assert_eq!(processor.first(Pace { workers: 2, speed: 1.0 }), Some((7, Duration(second))));
        assert_eq!(processor.first(Pace { workers: 2, speed: 0.5 }), Some((7, Duration(2 * second))));
        assert_eq!(processor.first(Pace { workers: 0, speed: 1.0 }), None);
        assert_eq!(processor.first(Pace { workers: 1, speed: 0.0 }), None);
    }

    /// An attempt is never done before its work is: lengths of time round up, progress rounds down.
    #[test]
    fn rounding_never_ends_early() {
        let mut processor = Processor::default();
        (0..7).for_each(|attempt| processor.add(attempt, Duration(100)));
        let (attempt, time) = processor.first(ONE).unwrap();
        assert_eq!((attempt, time), (0, Duration(700)));
        for step in 1..=700 {
            assert!(processor.first(ONE).unwrap().1 >= Duration(701 - step));
            processor.advance(Time(step), ONE);
        }
        assert!(processor.first(ONE).unwrap().1 <= Duration(1));
    }
}
