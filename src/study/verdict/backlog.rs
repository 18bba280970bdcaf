//! Is there less to do from moment to moment, or more? What waits tells a recovery that goes on from a state that stays.
//!
//! While a storm is being worked off goodput may be nothing: what is served is too old, until the last of it is gone. But the
//! queue, or the number of open calls, falls all the while. Three thirds of a stretch of time are compared, and the fall or rise
//! from the first to the last must be more than twice the square root of the attempts in it, which is what chance makes of a queue.

use std::ops::Range;

use super::series::Bins;

/// Bins in which a trend can be seen at all.
pub const LEAST: usize = 6;

/// How a level changes over a stretch of time, beyond what chance may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// Each third has less than the one before.
    Falls,
    /// Each third has more than the one before.
    Rises,
    /// Neither.
    Stays,
}

/// The later half of some bins: by then what a change set off has settled, or not.
pub fn later_half(bins: Range<usize>) -> Range<usize> {
    bins.start + bins.len() / 2..bins.end
}

/// How the queues change.
pub fn of_queues(bins: &Bins, stretch: Range<usize>) -> Trend {
    trend(&bins.queued, &bins.attempts, stretch)
}

/// How the number of open calls changes.
pub fn of_open_calls(bins: &Bins, stretch: Range<usize>) -> Trend {
    trend(&bins.open, &bins.attempts, stretch)
}

fn trend(level: &[f64], attempts: &[f64], stretch: Range<usize>) -> Trend {
    let third = stretch.len() / 3;
    if third == 0 {
        return Trend::Stays;
    }
    let mean = |part: usize| level[stretch.start + part * third..][..third].iter().sum::<f64>() / third as f64;
    let (first, second, last) = (mean(0), mean(1), mean(2));
    let chance = 2.0 * attempts[stretch].iter().sum::<f64>().sqrt();
    if first > second && second > last && first - last > chance {
        Trend::Falls
    } else if first < second && second < last && last - first > chance {
        Trend::Rises
    } else {
        Trend::Stays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_is_more_than_chance() {
        // Ten attempts a bin, nine bins: chance is 2 sqrt(90) = 19.0; from third to third a slope of s changes the mean by 3 s each.
        let level = |slope: f64| (0..9).map(|bin| 500.0 + slope * f64::from(bin)).collect::<Vec<f64>>();
        let of = |slope: f64| trend(&level(slope), &[10.0; 9], 0..9);
        assert_eq!((of(-3.1), of(-3.2)), (Trend::Stays, Trend::Falls));
        assert_eq!((of(3.1), of(3.2)), (Trend::Stays, Trend::Rises));
        let wave: Vec<f64> = [900.0, 0.0, 500.0].iter().flat_map(|level| [*level; 3]).collect();
        assert_eq!(trend(&wave, &[10.0; 9], 0..9), Trend::Stays);
    }
}
