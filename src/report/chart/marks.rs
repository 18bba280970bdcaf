//! The marks of a timeline: faults and the warm-up as shaded spans, capacities as dotted levels, and their words.

use super::canvas::{Anchor, Area, Canvas, Stroke, Text};
use super::frame::Sign;
use super::panel::Panel;
use super::scale::Axis;
use super::theme::Theme;
use super::unit::Unit;
use super::{font, number};
use crate::report::data::Mark;

const SIZE: f64 = 13.5;
const WARMUP: &str = "warm-up";

/// The marks of all panels for the legend, each kind with its words once.
pub fn signs<'a>(theme: Theme, marks: impl Iterator<Item = &'a Mark>, y: &Axis) -> Vec<(String, Sign)> {
    let mut signs: Vec<(String, Sign)> = Vec::new();
    for mark in marks {
        if mark.kind == "capacity" && !shows(y, mark) {
            continue;
        }
        let sign = (words(mark), sign_of(theme, mark));
        if !signs.contains(&sign) {
            signs.push(sign);
        }
    }
    // Faults first, then capacities, the warm-up last.
    signs.sort_by_key(|(words, sign)| (words == WARMUP, matches!(sign, Sign::Level(_))));
    signs
}

fn words(mark: &Mark) -> String {
    match mark.kind.as_str() {
        "capacity" => format!("capacity of {}, {}", mark.label, number::value(mark.value.unwrap_or(0.0), Some(Unit::PerSecond))),
        "fault" if mark.label.is_empty() => "fault".to_string(),
        // It lasts at other times in each run: the shade is the darker, the more of them it is.
        "fault" if mark.value.is_some() => format!("fault by its condition: {}", mark.label),
        "fault" => format!("fault: {}", mark.label),
        _ => WARMUP.to_string(),
    }
}

fn sign_of(theme: Theme, mark: &Mark) -> Sign {
    match mark.kind.as_str() {
        "capacity" => Sign::Level(theme.muted()),
        "fault" => Sign::Span(theme.fault(), theme.fault_opacity()),
        _ => Sign::Span(theme.quiet(), 0.2),
    }
}

/// Whether a capacity lies in the picture.
fn shows(y: &Axis, mark: &Mark) -> bool {
    mark.value.is_some_and(|value| value <= y.high && y.accepts(value))
}

/// Faults and warm-up as shaded spans, with their words where wanted.
pub fn draw_spans(canvas: &mut Canvas, panel: &Panel, marks: &[Mark], with_words: bool) {
    let theme = canvas.theme;
    let (mut taken, mut row) = (panel.area.left, 0.0);
    let mut named = Vec::new();
    for mark in marks {
        let Sign::Span(fill, opacity) = sign_of(theme, mark) else { continue };
        let (from, to) = (mark.from.unwrap_or(0.0).max(panel.x.low), mark.to.unwrap_or(panel.x.high).min(panel.x.high));
        if to <= from {
            continue;
        }
        let (left, right) = (panel.at(from, panel.y.low).0, panel.at(to, panel.y.low).0);
        // A fault of an instant must still be seen, but where one follows the other none may cover the next.
        let least = if mark.value.is_some_and(|share| share < 1.0) { 0.0 } else { 2.5 };
        canvas.rectangle(Area { left, width: (right - left).max(least), ..panel.area }, fill, opacity * mark.value.unwrap_or(1.0));
        let words = words(mark);
        // What lasts at other times in each run has its words once.
        if !with_words || mark.value.is_some() && named.contains(&words) {
            continue;
        }
        let width = font::width(&words, SIZE, false).min(panel.area.width - 12.0);
        let start = (left + 5.0).min(panel.area.right() - width - 4.0);
        // What would run into the words before it goes one line down.
        row = if start < taken { row + 18.0 } else { 0.0 };
        taken = start + width + 8.0;
        let text =
            Text { size: SIZE, bold: false, colour: if fill == theme.fault() { fill } else { theme.muted() }, anchor: Anchor::Start };
        canvas.text((start, panel.area.top + 16.0 + row), &font::shorten(&words, SIZE, false, width), text);
        named.push(words);
    }
}

/// The capacities as dotted lines, with their words where wanted.
pub fn draw_capacities(canvas: &mut Canvas, panel: &Panel, marks: &[Mark], with_words: bool) {
    let theme = canvas.theme;
    for mark in marks.iter().filter(|mark| mark.kind == "capacity" && shows(&panel.y, mark)) {
        let y = panel.at(panel.x.low, mark.value.unwrap_or(0.0)).1;
        canvas.line((panel.area.left, y), (panel.area.right(), y), Stroke { colour: theme.muted(), width: 1.5, dash: "2 4" });
        if with_words {
            let words = font::shorten(&words(mark), SIZE, false, panel.area.width - 8.0);
            canvas.text(
                (panel.area.right() - 2.0, y - 6.0),
                &words,
                Text { size: SIZE, bold: false, colour: theme.muted(), anchor: Anchor::End },
            );
        }
    }
}
