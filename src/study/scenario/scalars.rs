//! Readers of single values: lengths of time, rates, shares, numbers, words.

use super::diagnostics::did_you_mean;
use super::node::{Node, Value};
use super::reader::Context;
use crate::measure::rate::Rate;
use crate::measure::share;
use crate::measure::time::Duration;

/// A length of time: `"250ms"`.
pub fn duration(context: &mut Context, node: &mut Node) -> Option<Duration> {
    let place = node.place;
    match &node.value {
        Value::Text(text) => context.check(place, Duration::parse(text)),
        Value::Whole(_) | Value::Number(_) => {
            let written = super::writer::inline(node);
            // What is written below zero has two faults: the help must not lead to the second.
            let length = written.trim_start_matches('-');
            let help = format!("write `\"{length}ms\"` or `\"{length}s\"`");
            context.refuse(place, format!("`{written}` has no unit of time"), help)
        }
        other => context.refuse(place, format!("a length of time is not {}", other.kind()), "write a number and a unit, such as \"250ms\""),
    }
}

/// A length of time above zero.
pub fn some_duration(context: &mut Context, node: &mut Node) -> Option<Duration> {
    let duration = duration(context, node)?;
    if duration == Duration::ZERO {
        return context.refuse(node.place, "this length of time must be above zero", "write a longer one, such as \"100ms\"");
    }
    Some(duration)
}

/// The most calls a second: one a nanosecond.
pub const MOST_RATE: f64 = 1e9;

/// A rate in events per second: `"700/s"`.
pub fn rate(context: &mut Context, node: &mut Node) -> Option<f64> {
    let place = node.place;
    let rate = match &node.value {
        Value::Text(text) => context.check(place, Rate::parse(text))?.0,
        Value::Whole(_) | Value::Number(_) => {
            let written = super::writer::inline(node);
            return context.refuse(place, format!("`{written}` has no unit"), format!("write `\"{written}/s\"` or `\"{written}/min\"`"));
        }
        other => {
            return context.refuse(place, format!("a rate is not {}", other.kind()), "write a number per unit of time, such as \"700/s\"");
        }
    };
    if rate > MOST_RATE {
        return context.refuse(place, "this is more than one a nanosecond", "write a rate of at most \"1000000000/s\"");
    }
    Some(rate)
}

/// A share: a number from 0 to 1, or `"10%"`.
pub fn share(context: &mut Context, node: &mut Node) -> Option<f64> {
    let place = node.place;
    match &node.value {
        Value::Text(text) => context.check(place, share::parse(text)),
        Value::Whole(whole) => context.check(place, share::check(*whole as f64)),
        Value::Number(number) => context.check(place, share::check(*number)),
        other => context.refuse(place, format!("a share is not {}", other.kind()), "write a number from 0 to 1, or \"10%\""),
    }
}

/// A number, whole or not, within bounds.
pub fn number(least: f64, most: f64) -> impl FnOnce(&mut Context, &mut Node) -> Option<f64> {
    move |context, node| {
        let number = match &node.value {
            Value::Whole(whole) => *whole as f64,
            Value::Number(number) => *number,
            other => {
                return context.refuse(
                    node.place,
                    format!("a number is wanted here, not {}", other.kind()),
                    format!("write a number from {least} to {most}"),
                );
            }
        };
        if number < least || number > most {
            return context.refuse(node.place, format!("{number} is out of range"), format!("write a number from {least} to {most}"));
        }
        Some(number)
    }
}

/// A whole number within bounds.
pub fn whole(least: i64, most: i64) -> impl FnOnce(&mut Context, &mut Node) -> Option<i64> {
    move |context, node| {
        let help = format!("write a whole number from {least} to {most}");
        match &node.value {
            Value::Whole(whole) if (least..=most).contains(whole) => Some(*whole),
            Value::Whole(whole) => context.refuse(node.place, format!("{whole} is out of range"), help),
            Value::Number(number) => context.refuse(node.place, format!("{number} is not a whole number"), help),
            other => context.refuse(node.place, format!("a whole number is wanted here, not {}", other.kind()), help),
        }
    }
}

/// A whole number that fits 32 bits, from `least` on.
pub fn count(least: u32) -> impl FnOnce(&mut Context, &mut Node) -> Option<u32> {
    move |context, node| whole(i64::from(least), i64::from(u32::MAX))(context, node).and_then(|whole| u32::try_from(whole).ok())
}

/// A text.
pub fn text(context: &mut Context, node: &mut Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        other => context.refuse(node.place, format!("a text is wanted here, not {}", other.kind()), "write it in quotes: \"...\""),
    }
}

/// True or false.
pub fn boolean(context: &mut Context, node: &mut Node) -> Option<bool> {
    match &node.value {
        Value::Boolean(boolean) => Some(*boolean),
        other => context.refuse(
            node.place,
            format!("`true` or `false` is wanted here, not {}", other.kind()),
            "write true or false, without quotes",
        ),
    }
}

/// One of a few words, each with its meaning.
pub fn one_of<T: Copy>(words: &'static [(&'static str, T)]) -> impl FnOnce(&mut Context, &mut Node) -> Option<T> {
    move |context, node| {
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let Value::Text(text) = &node.value else {
            return context.refuse(node.place, format!("a word is wanted here, not {}", node.value.kind()), did_you_mean("", &names));
        };
        match words.iter().find(|(name, _)| name == text) {
            Some((_, meaning)) => Some(*meaning),
            None => context.refuse(node.place, format!("`{text}` is not known here"), did_you_mean(text, &names)),
        }
    }
}

/// A word that means that there is none, or whatever `read` reads.
pub fn word_or<T>(
    word: &'static str,
    read: impl FnOnce(&mut Context, &mut Node) -> Option<T>,
) -> impl FnOnce(&mut Context, &mut Node) -> Option<Option<T>> {
    move |context, node| {
        if node.text() == Some(word) {
            return Some(None);
        }
        let before = context.problems.len();
        let value = read(context, node);
        for problem in context.problems[before..].iter_mut().filter(|problem| problem.place == node.place) {
            // What is to be added is a key, and the word stands for the whole table.
            let instead = if problem.help.starts_with("add `") { " in place of the table" } else { "" };
            problem.help.push_str(&format!(", or \"{word}\"{instead}"));
        }
        value.map(Some)
    }
}

/// The nodes of a list.
pub fn list<'n>(context: &mut Context, node: &'n mut Node, example: &str) -> Option<&'n mut Vec<Node>> {
    let (place, kind) = (node.place, node.value.kind());
    match &mut node.value {
        Value::List(nodes) => Some(nodes),
        _ => context.refuse(place, format!("a list is wanted here, not {kind}"), format!("write a list in brackets, such as {example}")),
    }
}

/// A name that the scenario gives: it becomes part of column names and of paths, so only plain characters.
pub fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-') && !name.contains("->")
}
