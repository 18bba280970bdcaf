//! A service that answers by a script: what it says to each attempt of a call is written down. For tests of policies.

use super::hint::Hint;
use crate::measure::time::Duration;
use crate::retry::outcome::Outcome;

/// What the service does with one attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A worker works on it, so long or (None) for the service's time; then the answer. `ok`, `error` or `conflict`.
    Work(Outcome, Option<Duration>),
    /// The answer comes at once, without work, with a hint of its own or (None) the service's. `rejected`, `throttled`, `refused`
    /// or `permanent`.
    AtOnce(Outcome, Option<Hint>),
    /// There is never an answer.
    Hang,
}

/// The answer to the attempt of this number, from 1: past the end of the script its last item repeats. None without a script.
#[inline]
pub fn answer(script: &[Answer], number: u32) -> Option<&Answer> {
    if script.is_empty() { None } else { script.get(number as usize - 1).or(script.last()) }
}

impl Answer {
    /// The answer that a word or an HTTP status code stands for; None for one that is no outcome of a service.
    pub fn from_word(word: &str) -> Option<Answer> {
        let outcome = match word {
            "hang" => return Some(Answer::Hang),
            "ok" => Outcome::Ok,
            "error" => Outcome::Error,
            "rejected" | "503" => Outcome::Rejected,
            "throttled" | "429" => Outcome::Throttled,
            "refused" => Outcome::Refused,
            "conflict" | "409" => Outcome::Conflict,
            "permanent" => Outcome::Permanent,
            code => match code.parse::<u16>().ok().filter(|_| code.len() == 3)? {
                200..=299 => Outcome::Ok,
                400..=499 => Outcome::Permanent,
                500..=599 => Outcome::Error,
                _ => return None,
            },
        };
        Some(match outcome {
            Outcome::Ok | Outcome::Error | Outcome::Conflict => Answer::Work(outcome, None),
            _ => Answer::AtOnce(outcome, None),
        })
    }

    /// Whether it is a failure that takes no time, where the service's own time is none.
    pub fn fails_at_once(&self, time_is_zero: bool) -> bool {
        match self {
            Answer::AtOnce(..) => true,
            Answer::Work(outcome, delay) => *outcome != Outcome::Ok && delay.map_or(time_is_zero, |delay| delay == Duration::ZERO),
            Answer::Hang => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_codes() {
        let work = |outcome| Some(Answer::Work(outcome, None));
        let at_once = |outcome| Some(Answer::AtOnce(outcome, None));
        for (word, answer) in [
            ("200", work(Outcome::Ok)),
            ("204", work(Outcome::Ok)),
            ("ok", work(Outcome::Ok)),
            ("409", work(Outcome::Conflict)),
            ("500", work(Outcome::Error)),
            ("504", work(Outcome::Error)),
            ("503", at_once(Outcome::Rejected)),
            ("429", at_once(Outcome::Throttled)),
            ("404", at_once(Outcome::Permanent)),
            ("refused", at_once(Outcome::Refused)),
            ("hang", Some(Answer::Hang)),
            ("302", None),
            ("0503", None),
            ("+503", None),
            ("timeout", None),
        ] {
            assert_eq!(Answer::from_word(word), answer, "{word}");
        }
    }

    #[test]
    fn the_last_item_repeats() {
        let script = [Answer::Hang, Answer::Work(Outcome::Ok, None)];
        assert_eq!([1, 2, 3, u32::MAX].map(|number| answer(&script, number) == Some(&script[1])), [false, true, true, true]);
        assert_eq!(answer(&[], 1), None);
    }
}
