//! Floor 1: how calls arise. A load knows when the next call comes, from its own draws alone: what the calls do to each other
//! never moves an open load.

use std::sync::Arc;

use crate::measure::distribution::{Distribution, exponential};
use crate::measure::random::{Address, Purpose};
use crate::measure::time::{Duration, NANOSECONDS, Time};

/// How the calls of a group arise.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// From outside, at a rate that does not depend on the answers; each call from a client drawn at random.
    Open {
        /// The group's total rate over time, load factors of faults included.
        profile: Profile,
        /// Random or even.
        spacing: Spacing,
    },
    /// Each client makes one call at a time and thinks in between, also before the first.
    Closed {
        /// The time between the end of a call and the start of the next.
        think: Distribution,
    },
    /// Every client makes one call, at `at` plus its own uniform part of `spread`.
    Once {
        /// The earliest start.
        at: Time,
        /// The latest start, after the earliest.
        spread: Duration,
    },
    /// Every client makes a call each `every`, from its own uniform part of `splay` on, whatever became of the call before.
    Periodic {
        /// The period.
        every: Duration,
        /// The latest first call. Each client keeps its offset.
        splay: Duration,
    },
    /// Calls at given times, each from a client drawn at random.
    Trace {
        /// The times, ascending.
        times: Arc<[Time]>,
    },
}

/// How the calls of an open load are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// A Poisson process.
    Poisson,
    /// Evenly, the first at once.
    Even,
}

/// A rate over time: pieces that are constant or linear, the last going on for ever.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    from: Time,
    /// Calls a second at the start of the piece.
    rate: f64,
    /// Seconds a call, at that rate: a multiplication where each call would divide.
    gap: f64,
    /// Change of the rate, per second.
    slope: f64,
    /// Calls expected before the piece.
    before: f64,
}

impl Profile {
    /// Always the same rate, in calls a second.
    pub fn constant(rate: f64) -> Profile {
        Profile::step(&[(Time::ZERO, rate)])
    }

    /// From each time on, the rate beside it. The times ascend; before the first of them the rate is zero.
    pub fn step(points: &[(Time, f64)]) -> Profile {
        Profile::new(points.iter().map(|(from, rate)| Piece::new(*from, *rate, 0.0)).collect())
    }

    /// Linear between the points, constant after the last. The times ascend; before the first the rate is zero.
    pub fn ramp(points: &[(Time, f64)]) -> Profile {
        let slope = |i: usize| match points.get(i + 1) {
            Some((until, rate)) if *until > points[i].0 => (rate - points[i].1) / (*until - points[i].0).seconds(),
            _ => 0.0,
        };
        Profile::new(points.iter().enumerate().map(|(i, (from, rate))| Piece::new(*from, *rate, slope(i))).collect())
    }

    fn new(mut pieces: Vec<Piece>) -> Profile {
        let mut before = 0.0;
        for i in 0..pieces.len() {
            pieces[i].before = before;
            if let Some(next) = pieces.get(i + 1) {
                before += pieces[i].expected((next.from - pieces[i].from).seconds());
            }
        }
        Profile { pieces }
    }

    /// The rate at a time, in calls a second.
    pub fn rate(&self, at: Time) -> f64 {
        self.piece(at).map_or(0.0, |piece| piece.rate_after((at - piece.from).seconds()))
    }

    /// Calls expected from the start until a time.
    pub fn expected(&self, until: Time) -> f64 {
        self.piece(until).map_or(0.0, |piece| piece.before + piece.expected((until - piece.from).seconds()))
    }

    fn piece(&self, at: Time) -> Option<&Piece> {
        self.pieces[..self.pieces.partition_point(|piece| piece.from <= at)].last()
    }

    /// Multiplied, from each time on, by the factor beside it (load factors of faults, the first at time zero).
    pub fn scaled(&self, factors: &[(Time, f64)]) -> Profile {
        let mut starts: Vec<Time> = self.pieces.iter().map(|piece| piece.from).chain(factors.iter().map(|(from, _)| *from)).collect();
        starts.sort_unstable();
        starts.dedup();
        let factor = |at: Time| factors.iter().rev().find(|(from, _)| *from <= at).map_or(1.0, |(_, factor)| *factor);
        let scaled = starts.iter().map(|from| {
            let slope = self.piece(*from).map_or(0.0, |piece| piece.slope);
            Piece::new(*from, self.rate(*from) * factor(*from), slope * factor(*from))
        });
        Profile::new(scaled.collect())
    }

    /// When the expected number of calls reaches `amount`; None where it never does. `hint` is the piece to look from, kept by the caller.
    #[inline]
    fn reach(&self, amount: f64, hint: &mut usize) -> Option<Time> {
        while self.pieces.get(*hint + 1).is_some_and(|next| next.before <= amount) {
            *hint += 1;
        }
        let piece = self.pieces.get(*hint)?;
        let seconds = piece.reach(amount - piece.before)?;
        // Below 2^64 ns; what lies beyond can never happen.
        let offset = seconds * NANOSECONDS as f64 + 0.5;
        (offset < 1.8e19).then(|| piece.from + Duration(offset as u64))
    }
}

impl Piece {
    fn new(from: Time, rate: f64, slope: f64) -> Piece {
        Piece { from, rate, gap: 1.0 / rate, slope, before: 0.0 }
    }

    fn rate_after(&self, seconds: f64) -> f64 {
        (self.rate + self.slope * seconds).max(0.0)
    }

    fn expected(&self, seconds: f64) -> f64 {
        (self.rate + self.slope * seconds / 2.0) * seconds
    }

    /// Seconds until `amount` calls are expected: the smaller root of slope/2 t^2 + rate t = amount, in the form that does not cancel.
    #[inline]
    fn reach(&self, amount: f64) -> Option<f64> {
        if self.slope == 0.0 {
            return (self.rate > 0.0).then_some(amount * self.gap);
        }
        if amount <= 0.0 {
            return (self.rate > 0.0 || self.slope > 0.0).then_some(0.0);
        }
        let root = self.rate * self.rate + 2.0 * self.slope * amount;
        let below = self.rate + root.max(0.0).sqrt();
        (root >= 0.0 && below > 0.0).then(|| 2.0 * amount / below)
    }
}

/// Where an open load stands: from here the next call is a function of the draws.
#[derive(Clone, Debug, Default)]
pub struct OpenCursor {
    made: u64,
    amount: f64,
    piece: usize,
    shift: Option<Shift>,
    /// Of the present call and those up to a multiple of their number. Drawn together they overlap: one alone takes twenty times as
    /// long as an addition, and what comes next would wait for it.
    ahead: [f64; AHEAD],
}

/// So many are drawn together.
const AHEAD: usize = 16;

/// From a moment on the rate is a multiple of the profile's. The load's own clock, which counts expected calls, then runs so much
/// faster than the profile's: by `own` on it the profile had come to `profile`, and from there on to one `factor`-th as much more.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shift {
    own: f64,
    profile: f64,
    factor: f64,
}

impl OpenCursor {
    /// The time of the next call; None where no more come.
    #[inline]
    pub fn next(&mut self, profile: &Profile, spacing: Spacing, arrivals: Address) -> Option<Time> {
        match spacing {
            Spacing::Poisson => {
                let place = self.made as usize % AHEAD;
                if place == 0 {
                    self.draw_ahead(arrivals);
                }
                self.amount += self.ahead[place];
            }
            Spacing::Even => self.amount = self.made as f64,
        }
        self.made += 1;
        self.pending(profile)
    }

    #[inline(never)]
    fn draw_ahead(&mut self, arrivals: Address) {
        for (number, ahead) in (self.made..).zip(&mut self.ahead) {
            *ahead = exponential(arrivals.draw(Purpose::Arrival, number).uniform());
        }
    }

    /// The time of the call that `next` has found, by the present factor; None where it never comes.
    #[inline]
    pub fn pending(&mut self, profile: &Profile) -> Option<Time> {
        let amount = match self.shift {
            None => self.amount,
            Some(shift) if shift.factor > 0.0 => shift.profile + (self.amount - shift.own) / shift.factor,
            Some(_) => return None,
        };
        profile.reach(amount, &mut self.piece)
    }

    /// From now on the rate is this many times the profile's; false where it is already. The next call keeps its draw: what is left
    /// of its exponential passes faster or slower, which is exactly a Poisson process of the new rate.
    pub fn scale(&mut self, profile: &Profile, now: Time, factor: f64) -> bool {
        if self.shift.map_or(1.0, |shift| shift.factor) == factor {
            return false;
        }
        let reached = profile.expected(now);
        let own = self.shift.map_or(reached, |shift| shift.own + (reached - shift.profile) * shift.factor);
        self.shift = Some(Shift { own, profile: reached, factor });
        // The call that was found may have been in a later piece than it now is.
        self.piece = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(value: f64) -> Time {
        Time(Duration::from_seconds(value).0)
    }

    fn even(profile: &Profile, count: usize) -> Vec<f64> {
        let mut cursor = OpenCursor::default();
        std::iter::from_fn(|| cursor.next(profile, Spacing::Even, Address(0))).take(count).map(Time::seconds).collect()
    }

    #[test]
    fn even_calls_start_at_once_and_keep_step() {
        assert_eq!(even(&Profile::constant(200.0), 3), [0.0, 0.005, 0.010]);
        let third = Profile::constant(3.0);
        assert_eq!(even(&third, 3_000_001)[3_000_000], 1_000_000.0, "no drift");
    }

    #[test]
    fn steps_and_ramps_reach_what_their_integral_says() {
        let step = Profile::step(&[(seconds(0.0), 1.0), (seconds(2.0), 0.0), (seconds(5.0), 2.0)]);
        assert_eq!(even(&step, 6), [0.0, 1.0, 5.0, 5.5, 6.0, 6.5]);
        let ramp = Profile::ramp(&[(seconds(0.0), 0.0), (seconds(10.0), 10.0)]);
        assert_eq!(ramp.expected(seconds(10.0)), 50.0);
        let calls = even(&ramp, 61);
        assert!((calls[50] - 10.0).abs() < 1e-9 && (calls[60] - 11.0).abs() < 1e-9, "{calls:?}");
        let down = Profile::ramp(&[(seconds(0.0), 10.0), (seconds(10.0), 0.0)]);
        assert_eq!(even(&down, 1000).len(), 50, "then no more");
    }

    #[test]
    fn a_load_factor_multiplies_for_a_while() {
        let profile = Profile::constant(1.0).scaled(&[(seconds(0.0), 1.0), (seconds(10.0), 3.0), (seconds(20.0), 1.0)]);
        assert_eq!((profile.expected(seconds(30.0)), profile.rate(seconds(15.0))), (50.0, 3.0));
    }

    #[test]
    fn poisson_calls_come_at_the_rate() {
        let (profile, mut cursor) = (Profile::constant(50.0), OpenCursor::default());
        let count = 100_000u32;
        let last = (0..count).filter_map(|_| cursor.next(&profile, Spacing::Poisson, Address(9))).last().unwrap();
        // Five standard errors of a sum of exponentials.
        assert!((last.seconds() - 2000.0).abs() < 5.0 * 2000.0 / f64::from(count).sqrt(), "{last}");
    }
}
