//! Axes: which values they span, where their ticks are, and where on them a value lies.

use super::number;
use super::unit::Unit;
use crate::study::chart::Scale;

/// An axis from `low` to `high`.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The value at its start.
    pub low: f64,
    /// The value at its end.
    pub high: f64,
    /// True where equal steps are equal ratios.
    pub is_log: bool,
    /// The values that are marked, and what is written there.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis up the side for `values`: from zero where it is linear, and ending at a tick.
    pub fn upright(values: &[f64], unit: Option<Unit>, scale: Scale, count: usize) -> Axis {
        if wants_log(values, scale) {
            return Axis::log(values, unit);
        }
        let (low, high) = (span(values).0.min(0.0), span(values).1.max(0.0));
        if high <= low {
            return Axis::at_steps(0.0, 1.0, 1.0, unit);
        }
        let step = nice_step(high - low, count, unit);
        let (first, last) = (libm::floor(low / step) * step, libm::ceil(high / step - 1e-9) * step);
        // A whole is never more than whole, whatever its interval says.
        let last = if unit == Some(Unit::Share) && high <= 1.2 { last.min(1.0) } else { last };
        // The last step is only drawn where it is not mostly empty.
        let last = if high * 1.05 < last - step * 0.3 && low >= 0.0 { high * 1.05 } else { last };
        Axis::at_steps(first, last, step, unit)
    }

    /// An axis along the bottom for `values`: exactly as long as they are.
    pub fn along(values: &[f64], unit: Option<Unit>, scale: Scale, count: usize) -> Axis {
        if wants_log(values, scale) {
            return Axis::log(values, unit);
        }
        let (mut low, mut high) = span(values);
        if high <= low {
            let margin = if low == 0.0 { 0.5 } else { low.abs() / 2.0 };
            (low, high) = (low - margin, high + margin);
        }
        let mut places = values.to_vec();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let apart = places.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        // A few values that are not too close are their own ticks: nothing was measured between them.
        if (3..=count).contains(&places.len()) && apart * count as f64 >= high - low {
            let labels = number::tick_labels(&places, unit);
            return Axis { low, high, is_log: false, ticks: places.into_iter().zip(labels).collect() };
        }
        Axis::at_steps(low, high, nice_step(high - low, count, unit), unit)
    }

    /// An axis of named places, at 0, 1, 2 and so on.
    pub fn places(names: Vec<String>, margin: f64) -> Axis {
        let high = names.len().max(1) as f64 - 1.0 + margin;
        let ticks = names.into_iter().enumerate().map(|(index, name)| (index as f64, name)).collect();
        Axis { low: -margin, high, is_log: false, ticks }
    }

    /// Where `value` lies: 0 at the start, 1 at the end.
    pub fn position(&self, value: f64) -> f64 {
        if self.is_log {
            // What is not above zero has no place: it lies at the start, where the picture ends.
            let power = |value: f64| libm::log10(value.max(self.low));
            (power(value) - power(self.low)) / (power(self.high) - power(self.low))
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// Whether `value` can be drawn: a logarithm has no zero.
    pub fn accepts(&self, value: f64) -> bool {
        value.is_finite() && (!self.is_log || value > 0.0)
    }

    fn at_steps(low: f64, high: f64, step: f64, unit: Option<Unit>) -> Axis {
        let (first, last) = (libm::ceil(low / step - 1e-9) as i64, libm::floor(high / step + 1e-9) as i64);
        let values: Vec<f64> = (first..=last).map(|index| index as f64 * step).collect();
        let labels = number::tick_labels(&values, unit);
        Axis { low, high, is_log: false, ticks: values.into_iter().zip(labels).collect() }
    }

    fn log(values: &[f64], unit: Option<Unit>) -> Axis {
        let positive: Vec<f64> = values.iter().copied().filter(|value| *value > 0.0).collect();
        let (low, high) = if positive.is_empty() { (1.0, 10.0) } else { span(&positive) };
        let (low, high) = if high > low { (low, high) } else { (low / 2.0, high * 2.0) };
        let decades = libm::log10(high / low);
        let factors: &[f64] = match decades {
            few if few < 2.6 => &[1.0, 2.0, 5.0],
            some if some < 4.2 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let every = libm::ceil(decades / 8.0).max(1.0) as i32;
        let (first, last) = (libm::floor(libm::log10(low)) as i32, libm::ceil(libm::log10(high)) as i32);
        // A little air, so that no marker lies on the edge.
        let air = libm::pow(10.0, decades * 0.03);
        let (low, high) = (low / air, high * air);
        let ticks = (first..=last)
            .filter(|power| power.rem_euclid(every) == 0)
            .flat_map(|power| factors.iter().map(move |factor| factor * libm::pow(10.0, f64::from(power))))
            .filter(|tick| *tick >= low && *tick <= high)
            .map(|tick| (tick, number::value(tick, unit)))
            .collect();
        Axis { low, high, is_log: true, ticks }
    }
}

/// Whether `values` are to be drawn on a logarithmic axis.
pub fn wants_log(values: &[f64], scale: Scale) -> bool {
    let (low, high) = span(values);
    match scale {
        Scale::Linear => false,
        Scale::Log => high > 0.0,
        Scale::Auto => low > 0.0 && high > 100.0 * low,
    }
}

/// The lowest and the highest of `values`; 0 and 0 where there are none.
pub fn span(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

/// The round step that divides `length` into `count` or fewer: 1, 2, 2.5 or 5 times a power of ten, or what a clock counts in.
fn nice_step(length: f64, count: usize, unit: Option<Unit>) -> f64 {
    const CLOCK: [f64; 18] = [
        5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 10_800.0, 21_600.0, 43_200.0, 86_400.0,
        172_800.0, 432_000.0,
    ];
    let step = length / count.max(1) as f64;
    if unit == Some(Unit::Seconds) && step > 2.5 && step <= CLOCK[17] {
        return CLOCK.into_iter().find(|round| *round >= step * 0.999 && (length <= number::HOURS || *round >= 1800.0)).unwrap_or(step);
    }
    let power = libm::pow(10.0, libm::floor(libm::log10(step)));
    // What is counted has no halves.
    let is_whole = matches!(unit, None | Some(Unit::Calls | Unit::Attempts | Unit::Openings));
    let factors: &[f64] = if is_whole && power <= 1.0 { &[1.0, 2.0, 5.0, 10.0] } else { &[1.0, 2.0, 2.5, 5.0, 10.0] };
    let factor = factors.iter().copied().find(|factor| *factor >= step / power * 0.999).unwrap_or(10.0);
    factor * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> String {
        axis.ticks.iter().map(|(_, label)| label.replace('\u{a0}', " ")).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(&Axis::upright(&[3.0, 19.0], Some(Unit::Calls), Scale::Auto, 5)), "0 | 5 | 10 | 15 | 20");
        assert_eq!(labels(&Axis::along(&[0.0, 240.0], Some(Unit::Seconds), Scale::Auto, 5)), "0 | 60 s | 120 s | 180 s | 240 s");
        assert_eq!(labels(&Axis::upright(&[0.5, 1.0], Some(Unit::Share), Scale::Auto, 5)), "0 | 20 % | 40 % | 60 % | 80 % | 100 %");
        assert_eq!(
            labels(&Axis::along(&[0.0, 20_000.0], Some(Unit::Seconds), Scale::Auto, 20)),
            "0 | 0.5 h | 1 h | 1.5 h | 2 h | 2.5 h | 3 h | 3.5 h | 4 h | 4.5 h | 5 h | 5.5 h"
        );
        assert_eq!(labels(&Axis::along(&[0.65, 2.0], Some(Unit::Seconds), Scale::Auto, 4)), "1 s | 1.5 s | 2 s");
    }

    #[test]
    fn two_decades_make_a_logarithmic_axis_and_a_zero_forbids_it() {
        let axis = Axis::upright(&[0.5, 844.0], Some(Unit::Seconds), Scale::Auto, 5);
        assert!(axis.is_log);
        assert_eq!(labels(&axis), "1 s | 3 s | 10 s | 30 s | 100 s | 300 s | 1,000 s");
        assert!(!Axis::upright(&[0.0, 844.0], Some(Unit::Seconds), Scale::Auto, 5).is_log);
        assert!(!axis.accepts(0.0));
        assert_eq!(axis.position(0.0), 0.0);
        assert!(Axis::upright(&[0.0, 10.0], Some(Unit::Calls), Scale::Log, 5).is_log);
    }

    #[test]
    fn nothing_and_zero_still_make_an_axis() {
        for values in [vec![], vec![0.0], vec![0.0, 0.0], vec![7.0], vec![1e-12], vec![1e14], vec![-5.0, 5.0]] {
            for axis in [Axis::upright(&values, Some(Unit::Calls), Scale::Auto, 5), Axis::along(&values, Some(Unit::Calls), Scale::Auto, 5)]
            {
                assert!(axis.high > axis.low && !axis.ticks.is_empty() && axis.ticks.len() < 12, "{values:?} {axis:?}");
                assert!(values.iter().all(|value| axis.position(*value).is_finite()));
            }
        }
    }
}
