//! The schedule of a policy as a table, as CSV and as JSON. Lengths of time in CSV and JSON are seconds with nine decimals.

use std::fmt::Write as _;

use super::table::{align, rounded};
use crate::measure::time::Duration;
use crate::retry::outcome::Outcome;
use crate::retry::policy::Policy;
use crate::study::schedule::{Chance, Fit, Means, Question, Row, STRATA, Schedule, Step};

/// A schedule, and what it is the schedule of.
pub struct Named<'a> {
    /// The policy's name, or its text.
    pub name: &'a str,
    /// The policy.
    pub policy: &'a Policy,
    /// What was asked.
    pub question: &'a Question,
    /// The answer.
    pub schedule: &'a Schedule,
    /// The retries for given draws, instead of all that there can be.
    pub drawn: Option<&'a [Step]>,
}

/// For a reader: a header, a row a retry, and what follows from it.
pub fn table(named: &Named) -> String {
    let mut text = format!("{}: {}\n", named.name, attempts(named.schedule.attempts));
    for line in limits(named) {
        let _ = writeln!(text, "{line}");
    }
    text.push('\n');
    match named.drawn {
        Some(steps) => text.push_str(&drawn_table(named, steps)),
        None => text.push_str(&table_of_rows(named)),
    }
    for line in answers(named) {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// `6 attempts = the first and 5 retries`.
fn attempts(attempts: Option<u32>) -> String {
    match attempts {
        None => "unlimited attempts".into(),
        Some(1) => "1 attempt = the first and no retry".into(),
        Some(2) => "2 attempts = the first and 1 retry".into(),
        Some(attempts) => format!("{attempts} attempts = the first and {} retries", attempts - 1),
    }
}

/// What limits when a retry is sent, a line each.
fn limits(named: &Named) -> Vec<String> {
    let Named { policy, question, schedule, .. } = named;
    let mut lines = Vec::new();
    if question.outcome != Outcome::Error {
        lines.push(format!("  every attempt ends with `{}`", question.outcome.name()));
    }
    if schedule.attempts == Some(1) && policy.attempts != Some(1) {
        let what = if policy.retry_on.contains(question.outcome) {
            "the server's hint says not to try again".to_owned()
        } else {
            format!("`{}` is not retried", question.outcome.name())
        };
        lines.push(format!("  {what}; the policy's attempts are not used"));
    }
    if let Some(deadline) = policy.deadline {
        lines.push(format!("  deadline {deadline}: no retry is sent at or after it"));
    }
    if let Some(most) = policy.max_elapsed {
        lines.push(format!("  max_elapsed {most}: no retry is sent after it"));
    }
    if let Some(deadline) = question.deadline {
        lines.push(format!("  tried against a deadline of {deadline}"));
    }
    lines
}

fn table_of_rows(named: &Named) -> String {
    let rows = &named.schedule.rows;
    if rows.is_empty() {
        return String::new();
    }
    let (capped, limited) = (rows.iter().any(|row| row.at_cap.is_some()), rows.iter().any(|row| row.sent.is_some()));
    let mut header = ["retry", "least", "mean", "greatest", "at least", "at mean", "at greatest"].map(String::from).to_vec();
    header.extend(capped.then(|| "at the cap".into()));
    header.extend(limited.then(|| "sent".into()));
    let mut cells = vec![header];
    for row in rows {
        let mut line = vec![row.retry.to_string()];
        for spread in [row.wait, row.at] {
            line.extend([readable(spread.least.seconds()), readable(spread.mean), readable(spread.greatest.seconds())]);
        }
        line.extend(capped.then(|| row.at_cap.map_or_else(String::new, percent)));
        line.extend(limited.then(|| row.sent.map_or_else(String::new, |sent| percent(sent.share))));
        cells.push(line);
    }
    let note = match named.schedule.means {
        Means::Exact => "Nothing is drawn: all values are exact.\n".to_owned(),
        Means::Even => format!("Least and greatest are exact; means over {STRATA} even draws.\n"),
        Means::Drawn { calls, error, ends } => format!(
            "Means over {calls} drawn calls (95 % interval within ±{} %); least and greatest {}.\n",
            rounded(error * 100.0, error * 100.0),
            if ends { "are those of these calls" } else { "are exact" }
        ),
    };
    format!("{}{note}", align(&cells, 0))
}

fn drawn_table(named: &Named, steps: &[Step]) -> String {
    let header = ["retry", "wait", "at"].map(String::from).to_vec();
    let row = |step: &Step| vec![step.retry.to_string(), readable(step.wait.seconds()), readable(step.at.seconds())];
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(steps.iter().map(row)).collect();
    let left = named.schedule.rows.len() - steps.len().min(named.schedule.rows.len());
    let note = if left > 0 { format!("{left} more would come too late and are not sent.\n") } else { String::new() };
    format!("{}{note}", align(&rows, 0))
}

/// Whether the schedule spans the outage and fits its limits, a sentence each.
fn answers(named: &Named) -> Vec<String> {
    let mut lines = Vec::new();
    if let (Some(outage), Some(cover)) = (named.question.cover, named.schedule.cover) {
        let how = in_words(cover, "always", "never");
        lines.push(format!("The last attempt starts when an outage of {outage} is over: {how}."));
    }
    if let Some(fit) = named.schedule.fit {
        let how = if named.schedule.attempts.is_none() {
            "never, as there is no last one".to_owned()
        } else {
            in_words(fit.whole, "always", "never")
        };
        lines.push(format!("All retries are sent in time: {how}; {}.", counted(fit)));
    }
    lines
}

/// `3 retries are`, or `3 to 5 retries, 4.2 on average, are`.
fn counted(fit: Fit) -> String {
    match fit.greatest {
        Some(greatest) if greatest == fit.least => format!("{greatest} are"),
        Some(greatest) => format!("{} to {greatest} are, {} on average", fit.least, rounded(fit.mean, 0.01)),
        None => format!("{} or more are, {} on average", fit.least, rounded(fit.mean, 0.01)),
    }
}

fn in_words(chance: Chance, always: &str, never: &str) -> String {
    match chance {
        Chance { interval: Some((low, high)), share } => {
            format!("with probability {share:.4}, 95 % interval {low:.4} to {high:.4}, counted over drawn calls")
        }
        Chance { share, .. } if share >= 1.0 => always.into(),
        Chance { share, .. } if share <= 0.0 => never.into(),
        Chance { share, .. } => format!("with probability {share:.4}"),
    }
}

fn percent(share: f64) -> String {
    format!("{} %", rounded(share * 100.0, if share > 0.0 && share < 1.0 { 1.0 } else { 0.0 }))
}

/// Seconds in the unit that a person would use, with four digits that count.
fn readable(seconds: f64) -> String {
    let (number, unit) = match seconds {
        zero if zero <= 0.0 => return "0 s".into(),
        long if long >= 10_800.0 => (long / 3600.0, "h"),
        long if long >= 0.999_95 => (long, "s"),
        short if short >= 0.999_95e-3 => (short * 1e3, "ms"),
        short if short >= 0.999_95e-6 => (short * 1e6, "us"),
        tiny => (tiny * 1e9, "ns"),
    };
    let before = libm::floor(libm::log10(number)).max(0.0) as usize;
    let digits = 3usize.saturating_sub(before);
    let text = format!("{number:.digits$}");
    let short = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{short} {unit}")
}

/// The columns of the CSV, and the keys of a row in JSON.
const COLUMNS: [&str; 9] = ["retry", "least", "mean", "greatest", "at_least", "at_mean", "at_greatest", "at_cap", "sent"];

fn values(row: &Row) -> [Option<String>; 9] {
    let exact = |duration: Duration| Some(seconds(duration));
    let mean = |seconds: f64| Some(format!("{seconds:.9}"));
    let share = |share: Option<f64>| share.map(|share| format!("{share:.6}"));
    [
        Some(row.retry.to_string()),
        exact(row.wait.least),
        mean(row.wait.mean),
        exact(row.wait.greatest),
        exact(row.at.least),
        mean(row.at.mean),
        exact(row.at.greatest),
        share(row.at_cap),
        share(row.sent.map(|sent| sent.share)),
    ]
}

fn drawn_values(step: &Step) -> [Option<String>; 3] {
    [Some(step.retry.to_string()), Some(seconds(step.wait)), Some(seconds(step.at))]
}

/// Seconds, exactly.
fn seconds(duration: Duration) -> String {
    format!("{}.{:09}", duration.0 / 1_000_000_000, duration.0 % 1_000_000_000)
}

/// The rows as CSV, one header for all; with a column for the name where `with_names`.
pub fn csv(all: &[Named], with_names: bool) -> String {
    let columns: &[&str] = if all.iter().any(|named| named.drawn.is_some()) { &["retry", "wait", "at"] } else { &COLUMNS };
    let mut text = format!("{}{}\n", if with_names { "policy," } else { "" }, columns.join(","));
    for named in all {
        let rows: Vec<Vec<Option<String>>> = match named.drawn {
            Some(steps) => steps.iter().map(|step| drawn_values(step).to_vec()).collect(),
            None => named.schedule.rows.iter().map(|row| values(row).to_vec()).collect(),
        };
        for row in rows {
            let fields: Vec<String> = row.into_iter().map(Option::unwrap_or_default).collect();
            let name = if with_names { format!("{},", named.name) } else { String::new() };
            let _ = writeln!(text, "{name}{}", fields.join(","));
        }
    }
    text
}

/// One schedule as a JSON object on one line.
pub fn json(named: &Named) -> String {
    let object = |columns: &[&str], values: &[Option<String>]| {
        let pairs: Vec<String> =
            columns.iter().zip(values).map(|(column, value)| format!("\"{column}\":{}", value.as_deref().unwrap_or("null"))).collect();
        format!("{{{}}}", pairs.join(","))
    };
    let rows: Vec<String> = match named.drawn {
        Some(steps) => steps.iter().map(|step| object(&["retry", "wait", "at"], &drawn_values(step))).collect(),
        None => named.schedule.rows.iter().map(|row| object(&COLUMNS, &values(row))).collect(),
    };
    let number = |number: Option<u32>| number.map_or("null".to_owned(), |number| number.to_string());
    let attempts = named.schedule.attempts;
    format!(
        "{{\"policy\":{},\"attempts\":{},\"retries\":{},\"schedule\":[{}],\"cover\":{},\"deadline\":{}}}",
        quoted(named.name),
        number(attempts),
        number(attempts.map(|attempts| attempts - 1)),
        rows.join(","),
        named.schedule.cover.map_or("null".to_owned(), |cover| cover_object(named.question.cover, cover)),
        named.schedule.fit.map_or("null".to_owned(), fit_object)
    )
}

fn cover_object(outage: Option<Duration>, cover: Chance) -> String {
    format!("{{\"outage\":{},{}}}", seconds(outage.unwrap_or_default()), chance_pairs(cover))
}

fn fit_object(fit: Fit) -> String {
    let greatest = fit.greatest.map_or("null".to_owned(), |greatest| greatest.to_string());
    let retries = format!("\"retries_least\":{},\"retries_mean\":{:.6},\"retries_greatest\":{greatest}", fit.least, fit.mean);
    format!("{{{},{retries}}}", chance_pairs(fit.whole))
}

/// The probability, the ends of its interval, and where it comes from.
fn chance_pairs(chance: Chance) -> String {
    let end = |end: Option<f64>| end.map_or("null".to_owned(), |end| format!("{end:.6}"));
    let how = if chance.interval.is_some() { "drawn" } else { "exact" };
    let (low, high) = (chance.interval.map(|ends| ends.0), chance.interval.map(|ends| ends.1));
    format!("\"probability\":{:.6},\"low\":{},\"high\":{},\"how\":\"{how}\"", chance.share, end(low), end(high))
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04x}", control as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_readable_and_exact() {
        for (seconds, text) in [(0.0, "0 s"), (0.1, "100 ms"), (1.5, "1.5 s"), (0.000_25, "250 us"), (1234.5, "1234 s"), (86_400.0, "24 h")]
        {
            assert_eq!(readable(seconds), text);
        }
        assert_eq!(super::seconds(Duration::MAX), "18446744073.709551615");
        assert_eq!(quoted("a\"b\\c\nd"), r#""a\"b\\c\u000ad""#);
        assert_eq!((percent(0.27), percent(1.0), percent(0.0)), ("27.0 %".into(), "100 %".into(), "0 %".into()));
    }
}
