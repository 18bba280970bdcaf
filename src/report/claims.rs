//! Known values beside those of the simulation: `claims.csv` of a folder of results, and the table of `retrystorm paper`.

use super::files::Finished;
use super::inline;
use super::table::{align, rounded};
use super::verdict::{cell_name, verdicts};
use crate::study::expect::{Bound, Expectation, Target, Verdict};

/// A claim about a cell, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The scenario, without the folder of all papers.
    pub scenario: String,
    /// The cell's number.
    pub cell: usize,
    /// The cell in words; empty where there is only one.
    pub condition: String,
    /// What is measured.
    pub metric: String,
    /// What is claimed, in words; of a bound by a closed form, its value.
    pub claim: String,
    /// Who says so; empty where it is the scenario itself.
    pub source: String,
    /// The known value with the ends of its own interval, or of what it may be missed by; None for other claims.
    pub known: Option<(f64, f64, f64)>,
    /// What was measured.
    pub found: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Standard errors between the two.
    pub score: Option<f64>,
    /// Whether it holds.
    pub holds: bool,
}

/// Every claim of a scenario about every cell that it is about.
pub fn claims(finished: Finished) -> Vec<Claim> {
    verdicts(finished).into_iter().map(|(expectation, verdict)| claim(finished, expectation, verdict)).collect()
}

fn claim(finished: Finished, expectation: &Expectation, verdict: Verdict) -> Claim {
    let known = match &expectation.bound {
        Bound::Known(known) => Some((known.value, known.interval.0, known.interval.1)),
        Bound::About(value, within) => Some((*value, value * (1.0 - within), value * (1.0 + within))),
        _ => None,
    };
    let claim = match &expectation.bound {
        Bound::Below(Target::Number(limit)) => format!("below {}", rounded(*limit, 0.0)),
        Bound::Above(Target::Number(limit)) => format!("above {}", rounded(*limit, 0.0)),
        Bound::Equals(exact) => format!("exactly {}", rounded(*exact, 0.0)),
        _ => verdict.expected,
    };
    let name = &finished.scenario.name;
    Claim {
        scenario: name.strip_prefix("paper/").unwrap_or(name).to_owned(),
        cell: verdict.cell,
        condition: cell_name(finished, verdict.cell),
        metric: expectation.metric.clone(),
        claim,
        source: expectation.source.clone().unwrap_or_default(),
        known,
        found: verdict.found,
        interval: verdict.interval,
        score: verdict.score,
        holds: verdict.holds,
    }
}

/// The columns of [`rows`].
pub const HEADER: [&str; 14] = [
    "scenario",
    "cell",
    "condition",
    "metric",
    "claim",
    "source",
    "known",
    "known_low",
    "known_high",
    "value",
    "low",
    "high",
    "score",
    "holds",
];

/// Claims as rows of a CSV file. Numbers are in base units; an empty field is undefined.
pub fn rows(claims: &[Claim]) -> Vec<Vec<String>> {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let row = |claim: &Claim| {
        let known = |of: fn((f64, f64, f64)) -> f64| number(claim.known.map(of));
        vec![
            claim.scenario.clone(),
            claim.cell.to_string(),
            claim.condition.clone(),
            claim.metric.clone(),
            claim.claim.clone(),
            claim.source.clone(),
            known(|known| known.0),
            known(|known| known.1),
            known(|known| known.2),
            number(claim.found),
            number(claim.interval.map(|(low, _)| low)),
            number(claim.interval.map(|(_, high)| high)),
            number(claim.score),
            claim.holds.to_string(),
        ]
    };
    std::iter::once(HEADER.map(String::from).to_vec()).chain(claims.iter().map(row)).collect()
}

/// Claims as a table that a person reads.
pub fn table(claims: &[Claim]) -> String {
    let header = ["", "scenario", "quantity", "source", "exact or published", "simulated", "z"].map(String::from).to_vec();
    let row = |claim: &Claim| {
        let place = if claim.condition.is_empty() { String::new() } else { format!("  ({})", clip(&claim.condition)) };
        let known = match claim.known {
            Some((value, low, high)) if low < high => uncertain(value, (low, high)),
            Some((value, ..)) => rounded(value, claim.interval.map_or(0.0, |(low, high)| (high - low) / 20.0)),
            None => claim.claim.clone(),
        };
        vec![
            if claim.holds { "holds" } else { "FAILS" }.to_owned(),
            claim.scenario.clone(),
            format!("{}{place}", claim.metric),
            claim.source.clone(),
            known,
            claim
                .found
                .map_or("nothing measured".into(), |found| claim.interval.map_or(rounded(found, 0.0), |ends| uncertain(found, ends))),
            claim.score.map_or(String::new(), |score| format!("{score:+.2}")),
        ]
    };
    align(&std::iter::once(header).chain(claims.iter().map(row)).collect::<Vec<_>>(), 4)
}

/// What `paper` says at the end: how many hold, and how far the scores are spread, which is 1 where nothing but chance is at work.
pub fn conclusion(claims: &[Claim]) -> String {
    let holding = claims.iter().filter(|claim| claim.holds).count();
    // What cannot vary has no score but 0, which says nothing of chance.
    let varies = |claim: &&Claim| claim.interval.is_some_and(|(low, high)| low < high);
    let scores: Vec<f64> = claims.iter().filter(varies).filter_map(|claim| claim.score).collect();
    let mut text = format!("{holding} of {} hold.", claims.len());
    if !scores.is_empty() {
        let spread = (scores.iter().map(|score| score * score).sum::<f64>() / scores.len() as f64).sqrt();
        text.push_str(&format!(" Root mean square of the {} scores z: {spread:.2}.", scores.len()));
    }
    text
}

/// A value with its interval: `0.2046 ±0.0011`, or both ends where they are not alike.
fn uncertain(value: f64, (low, high): (f64, f64)) -> String {
    let half = (high - low) / 2.0;
    if half <= 0.0 {
        return rounded(value, 0.0);
    }
    if ((value - low) - (high - value)).abs() < 0.02 * half {
        return format!("{} ±{}", rounded(value, half), rounded(half, half));
    }
    format!("{} [{}, {}]", rounded(value, half), rounded(low, half), rounded(high, half))
}

/// A condition, without the paths that make it long.
fn clip(condition: &str) -> String {
    let short = |part: &str| {
        let (path, value) = part.split_once(" = ").unwrap_or(("", part));
        format!("{} {value}", path.rsplit('.').next().unwrap_or(path)).trim().to_owned()
    };
    let text = inline::parts(condition).into_iter().map(short).collect::<Vec<_>>().join(", ");
    if text.chars().count() <= 60 { text } else { text.chars().take(59).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(score: f64, half: f64) -> Claim {
        Claim {
            scenario: "queues/erlang".into(),
            cell: 0,
            condition: "service.line.workers = 10, clients.callers.load = x".into(),
            metric: "line.wait_mean".into(),
            claim: "covers 0.2".into(),
            source: "Erlang 1917".into(),
            known: Some((0.2, 0.2, 0.2)),
            found: Some(0.21),
            interval: Some((0.21 - half, 0.21 + half)),
            score: Some(score),
            holds: score.abs() < 1.96,
        }
    }

    #[test]
    fn what_is_known_stands_beside_what_is_simulated() {
        let text = table(&[claim(1.5, 0.012), claim(-3.0, 0.005)]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("holds  queues/erlang  line.wait_mean  (workers 10, load x)  Erlang 1917"), "{text}");
        assert!(lines[1].ends_with("0.210 ±0.012  +1.50") && lines[2].starts_with("FAILS"), "{text}");
        assert_eq!(rows(&[claim(1.5, 0.012)])[1].len(), HEADER.len());
        assert_eq!(clip("a.time = { normal = { mean = \"1s\", sd = \"9ms\" } }"), "time { normal = { mean = \"1s\", sd = \"9ms\" } }");
    }

    #[test]
    fn the_spread_of_the_scores_leaves_out_what_cannot_vary() {
        let said = conclusion(&[claim(1.0, 0.01), claim(-1.0, 0.01), claim(0.0, 0.0)]);
        assert_eq!(said, "3 of 3 hold. Root mean square of the 2 scores z: 1.00.");
    }
}
