//! Numbers as a reader wants them: three digits that count, 1,000 with its comma, 250 ms rather than 0.25 s.

use super::unit::Unit;

/// No digit is lost between a number and its unit at the end of a line.
const SPACE: char = '\u{a0}';

/// From here on, in seconds, a time is told in hours.
pub const HOURS: f64 = 10_800.0;

/// `value` with its unit in about three digits: `97.3 %`, `1,250`, `250 ms`, `700/s`.
pub fn value(value: f64, unit: Option<Unit>) -> String {
    let (divisor, suffix) = scaling(value.abs(), unit);
    let scaled = value / divisor;
    format!("{}{suffix}", significant(scaled))
}

/// The labels of the ticks of one axis: all with the same divisor, each with as many decimals as it needs.
pub fn tick_labels(ticks: &[f64], unit: Option<Unit>) -> Vec<String> {
    let highest = ticks.iter().fold(0.0_f64, |highest, tick| highest.max(tick.abs()));
    let (divisor, suffix) = scaling(highest, unit);
    let decimals = (0..=9).find(|decimals| ticks.iter().all(|tick| is_exact(tick / divisor, *decimals))).unwrap_or(9);
    ticks
        .iter()
        .map(|tick| match tick / divisor {
            scaled if scaled.abs() < 1e-12 => "0".to_string(),
            scaled if scaled.abs() >= 1e7 || scaled.abs() < 1e-6 => format!("{scaled:e}{suffix}"),
            scaled => format!("{}{suffix}", with_commas(trimmed(&format!("{scaled:.decimals$}")))),
        })
        .collect()
}

fn is_exact(value: f64, decimals: usize) -> bool {
    let rounded: f64 = format!("{value:.decimals$}").parse().unwrap_or(value);
    (rounded - value).abs() <= 1e-6 * value.abs().max(1e-12)
}

/// What to divide numbers up to `highest` by, and what to write after them then.
fn scaling(highest: f64, unit: Option<Unit>) -> (f64, String) {
    let per = if unit == Some(Unit::PerSecond) { "/s" } else { "" };
    match unit {
        Some(Unit::Share) => (0.01, format!("{SPACE}%")),
        Some(Unit::Seconds) => {
            let (divisor, name) = match highest {
                0.0 => (1.0, "s"),
                seconds if seconds < 0.999_5e-6 => (1e-9, "ns"),
                seconds if seconds < 0.999_5e-3 => (1e-6, "µs"),
                seconds if seconds < 0.999_5 => (1e-3, "ms"),
                seconds if seconds <= 1800.0 => (1.0, "s"),
                seconds if seconds <= HOURS => (60.0, "min"),
                seconds if seconds <= 259_200.0 => (3600.0, "h"),
                _ => (86_400.0, "d"),
            };
            (divisor, format!("{SPACE}{name}"))
        }
        _ if highest >= 999.5e9 => (1.0, per.to_string()),
        _ if highest >= 999.5e6 => (1e9, format!("G{per}")),
        _ if highest >= 999.5e3 => (1e6, format!("M{per}")),
        _ if highest > 200e3 => (1e3, format!("k{per}")),
        _ => (1.0, per.to_string()),
    }
}

/// `value` with three digits that count, or all before the point where they are more; without zeros at its end.
fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    let magnitude = libm::floor(libm::log10(value.abs())) as i32;
    if !(-5..9).contains(&magnitude) {
        return format!("{:e}", format!("{value:.2e}").parse::<f64>().unwrap_or(value));
    }
    let decimals = (2 - magnitude).max(0) as usize;
    let text = format!("{value:.decimals$}");
    with_commas(trimmed(&text))
}

/// `5.0` says no more than `5`.
fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// A comma between every three digits before the point, and a true minus.
fn with_commas(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |rest| ("−", rest));
    let (whole, fraction) = number.split_once('.').map_or((number, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut text = sign.to_string();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_short_and_have_their_unit() {
        let cases = [
            (0.0, None, "0"),
            (5.0, None, "5"),
            (1234.0, None, "1,234"),
            (105_000.0, None, "105,000"),
            (2_345_678.0, None, "2.35M"),
            (1.0 / 3.0, None, "0.333"),
            (27.0, None, "27"),
            (0.25, Some(Unit::Seconds), "250 ms"),
            (0.000_25, Some(Unit::Seconds), "250 µs"),
            (844.0, Some(Unit::Seconds), "844 s"),
            (0.9731, Some(Unit::Share), "97.3 %"),
            (1.0, Some(Unit::Share), "100 %"),
            (700.0, Some(Unit::PerSecond), "700/s"),
            (-1234.6, None, "−1,235"),
            (2451.15, Some(Unit::PerSecond), "2,451/s"),
            (1e-9, None, "1e-9"),
            (3e15, None, "3e15"),
        ];
        for (number, unit, text) in cases {
            assert_eq!(value(number, unit).replace(SPACE, " "), text);
        }
    }

    #[test]
    fn ticks_share_their_divisor() {
        let text = |ticks: &[f64], unit| tick_labels(ticks, unit).join(" | ").replace(SPACE, " ");
        assert_eq!(text(&[0.0, 5.0, 10.0], None), "0 | 5 | 10");
        assert_eq!(text(&[0.0, 2.5, 5.0], None), "0 | 2.5 | 5");
        assert_eq!(text(&[0.0, 0.1, 0.2, 0.30000000000000004], Some(Unit::Seconds)), "0 | 100 ms | 200 ms | 300 ms");
        assert_eq!(text(&[0.0, 500.0, 1000.0], Some(Unit::PerSecond)), "0 | 500/s | 1,000/s");
        assert_eq!(text(&[0.0, 1e6, 2e6], None), "0 | 1M | 2M");
        assert_eq!(text(&[0.0, 0.5, 1.0], Some(Unit::Share)), "0 | 50 % | 100 %");
    }
}
