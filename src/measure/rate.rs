//! Rates: events per second.

use std::fmt;

/// Events per second, zero or more and finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Rate(pub f64);

const UNITS: [(&str, f64); 6] = [("s", 1.0), ("ms", 0.001), ("m", 60.0), ("min", 60.0), ("h", 3600.0), ("d", 86400.0)];

impl Rate {
    /// Reads `700/s`, `60/min`, `0.5/h`.
    ///
    /// # Errors
    /// Says what is wrong and what to write instead.
    pub fn parse(text: &str) -> Result<Rate, String> {
        const WRITE: &str = "write a number per unit of time, such as \"700/s\" or \"60/min\"";
        let Some((number, unit)) = text.split_once('/') else {
            return Err(format!("`{text}` is not a rate; {WRITE}"));
        };
        let Ok(count) = number.trim().replace('_', "").parse::<f64>() else {
            return Err(format!("`{number}` in `{text}` is not a number; {WRITE}"));
        };
        let Some((_, seconds)) = UNITS.iter().find(|(name, _)| *name == unit.trim()) else {
            return Err(format!("`{unit}` in `{text}` is not a unit of time (s, ms, min, h, d); {WRITE}"));
        };
        if !count.is_finite() || count < 0.0 {
            return Err(format!("`{text}` is not a rate: it must be zero or more, and finite"));
        }
        Ok(Rate(count / seconds))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(&format!("{}/s", self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rates() {
        assert_eq!(Rate::parse("700/s").unwrap(), Rate(700.0));
        assert_eq!(Rate::parse("60/min").unwrap(), Rate(1.0));
        assert_eq!(Rate::parse(&Rate(0.7).to_string()).unwrap(), Rate(0.7));
        for text in ["700", "x/s", "1/parsec", "-1/s", "nan/s", "inf/s", ""] {
            assert!(Rate::parse(text).is_err(), "{text}");
        }
    }
}
