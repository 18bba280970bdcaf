//! Shares: numbers from 0 to 1.

/// Reads a share: `10%` or `0.1`.
///
/// # Errors
/// Says what is wrong and what to write instead.
pub fn parse(text: &str) -> Result<f64, String> {
    let trimmed = text.trim();
    let (number, scale) = match trimmed.strip_suffix('%') {
        Some(number) => (number.trim(), 0.01),
        None => (trimmed, 1.0),
    };
    let value = number.parse::<f64>().map_err(|_| format!("`{text}` is not a share; write a number from 0 to 1, or \"10%\""))?;
    // 7 * 0.01 is 0.07000000000000001; 7 / 100 is 0.07.
    check(if scale < 1.0 { value / 100.0 } else { value })
}

/// The share itself where it is one.
///
/// # Errors
/// Says what is wrong and what to write instead.
pub fn check(value: f64) -> Result<f64, String> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(format!("{value} is not a share; write a number from 0 to 1, or \"10%\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_shares() {
        assert_eq!(parse("10%"), Ok(0.1));
        assert_eq!(parse("7%"), Ok(0.07));
        assert_eq!(parse("0.25"), Ok(0.25));
        for text in ["110%", "-1%", "nan", "inf", "ten", "", "%"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
