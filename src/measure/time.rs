//! Time as a whole number of nanoseconds: the same sums on every machine, and no epsilon.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// Nanoseconds in one second.
pub const NANOSECONDS: u64 = 1_000_000_000;

/// A length of time in nanoseconds, 0 to 584 years. Sums saturate at the top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub u64);

/// A point in simulated time, in nanoseconds from the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// The units a length of time may be written in, with their nanoseconds, longest first.
const UNITS: [(&str, u64); 8] = [
    ("d", 86_400 * NANOSECONDS),
    ("h", 3_600 * NANOSECONDS),
    ("min", 60 * NANOSECONDS),
    ("m", 60 * NANOSECONDS),
    ("s", NANOSECONDS),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);
    /// The longest length of time, about 584 years.
    pub const MAX: Duration = Duration(u64::MAX);

    /// From seconds, rounded to the nearest nanosecond; what is below zero or no number is zero, what is too long is [`Duration::MAX`].
    pub fn from_seconds(seconds: f64) -> Duration {
        Duration::from_nanoseconds(seconds * NANOSECONDS as f64)
    }

    /// From a number of nanoseconds, rounded to the nearest; out of range it is clamped.
    pub fn from_nanoseconds(nanoseconds: f64) -> Duration {
        // `as` saturates and turns NaN into 0: exactly the clamping promised above.
        Duration((nanoseconds + 0.5) as u64)
    }

    /// In seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOSECONDS as f64
    }

    /// The sum, or [`Duration::MAX`].
    pub fn saturating_add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }

    /// Reads `250ms`, `1.5s`, `2m30s`: decimal numbers, each with one of the units ns, us, ms, s, m or min, h, d.
    ///
    /// # Errors
    /// Says what is wrong and what to write instead: no unit, an unknown unit, a negative, more than 584 years.
    pub fn parse(text: &str) -> Result<Duration, String> {
        const WRITE: &str = "write a number and a unit (ns, us, ms, s, min, h, d), such as \"250ms\"";
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(format!("an empty text is not a length of time; {WRITE}"));
        }
        if rest.starts_with('-') {
            return Err(format!("`{text}` is negative; a length of time is zero or more"));
        }
        let mut total: u128 = 0;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(rest.len());
            let (number, tail) = rest.split_at(digits);
            let letters = tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len());
            let (unit, tail) = tail.split_at(letters);
            if number.is_empty() {
                return Err(format!("`{text}` is not a length of time; {WRITE}"));
            }
            if unit.is_empty() {
                return Err(format!("`{text}` has no unit; {WRITE}"));
            }
            let unit = if unit == "µs" || unit == "μs" { "us" } else { unit };
            let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
                return Err(format!("`{unit}` in `{text}` is not a unit of time; {WRITE}"));
            };
            total =
                total.saturating_add(decimal(number, *scale).ok_or_else(|| format!("`{number}` in `{text}` is not a number; {WRITE}"))?);
            rest = tail.trim_start();
        }
        match u64::try_from(total) {
            Ok(nanoseconds) => Ok(Duration(nanoseconds)),
            Err(_) => Err(format!("`{text}` is more than 584 years, the longest time that can be simulated")),
        }
    }
}

/// The decimal `number` times `scale`, exact to the last digit and rounded once; None where it is no decimal number.
fn decimal(number: &str, scale: u64) -> Option<u128> {
    let plain = number.replace('_', "");
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().unwrap_or(u128::MAX >> 64) };
    // Eighteen digits after the point are enough for every unit; the rest could not change the nanosecond.
    let fraction = &fraction[..fraction.len().min(18)];
    let power = 10u128.pow(fraction.len() as u32);
    let part: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    Some(whole.saturating_mul(u128::from(scale)).saturating_add((part * u128::from(scale) + power / 2) / power))
}

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens.
    pub const NEVER: Time = Time(u64::MAX);

    /// In seconds from the start.
    pub fn seconds(self) -> f64 {
        Duration(self.0).seconds()
    }

    /// The time since `earlier`; zero where `earlier` is later.
    pub fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, duration: Duration) -> Time {
        Time(self.0.saturating_add(duration.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Time> for Time {
    type Output = Duration;
    fn sub(self, earlier: Time) -> Duration {
        debug_assert!(self >= earlier, "time went back: {self} before {earlier}");
        self.since(earlier)
    }
}

impl fmt::Display for Duration {
    /// The shortest exact form in one unit: `250ms`, `1.5s`, `2.5min`.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        if self.0 == 0 {
            return formatter.pad("0s");
        }
        let names =
            [("d", UNITS[0].1), ("h", UNITS[1].1), ("min", UNITS[2].1), ("s", UNITS[4].1), ("ms", UNITS[5].1), ("us", 1_000), ("ns", 1)];
        let shortest = names
            .iter()
            .filter(|(name, scale)| self.0 >= *scale || *name == "ns")
            .filter_map(|(name, scale)| exact(self.0, *scale).map(|number| format!("{number}{name}")))
            .min_by_key(String::len);
        formatter.pad(&shortest.unwrap_or_else(|| format!("{}ns", self.0)))
    }
}

/// `nanoseconds / scale` as a decimal, where it ends after at most nine digits.
fn exact(nanoseconds: u64, scale: u64) -> Option<String> {
    let (whole, mut rest) = (nanoseconds / scale, u128::from(nanoseconds % scale));
    let mut text = whole.to_string();
    if rest > 0 {
        text.push('.');
    }
    for _ in 0..9 {
        if rest == 0 {
            break;
        }
        rest *= 10;
        text.push(char::from(b'0' + (rest / u128::from(scale)) as u8));
        rest %= u128::from(scale);
    }
    (rest == 0).then_some(text)
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        Duration(self.0).fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for text in ["0s", "1ns", "250ms", "1.5s", "2.5min", "1h", "3d", "16.7us", "999999999ns", "844s"] {
            let duration = Duration::parse(text).unwrap();
            assert_eq!(Duration::parse(&duration.to_string()).unwrap(), duration, "{text} -> {duration}");
        }
        assert_eq!(Duration::parse("2m30s").unwrap(), Duration(150 * NANOSECONDS));
        assert_eq!(Duration::parse("3.3333333333s").unwrap(), Duration(3_333_333_333));
        assert_eq!(Duration::parse("0.5us").unwrap().to_string(), "500ns");
    }

    #[test]
    fn refuses_what_is_no_time() {
        for text in ["", "10", "-1s", "1x", "s", "1.2.3s", "1 parsec", "nan", "inf", "600y", "300000d", "99999999999999999999999999d"] {
            assert!(Duration::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn clamps_instead_of_wrapping() {
        assert_eq!(Duration::from_seconds(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_seconds(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_seconds(1e300), Duration::MAX);
        assert_eq!(Time::NEVER + Duration(1), Time::NEVER);
    }
}
