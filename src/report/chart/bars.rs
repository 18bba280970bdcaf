//! The kind `bars`: metrics with their intervals, a bar a cell, the value printed beside it.

use super::canvas::{Anchor, Area, Stroke, Text};
use super::frame::{self, Frame, Words};
use super::panel::{HEADER, NAME};
use super::selection::Selection;
use super::unit::{self, Unit};
use super::{Request, font};
use crate::report::data::Measured;

/// How many bars a picture has at most.
const MOST: usize = 60;

/// One metric of all cells.
struct Column {
    metric: String,
    unit: Option<Unit>,
    values: Vec<Measured>,
    words: Vec<String>,
}

/// The picture, one panel a metric.
///
/// # Errors
/// A metric that is not there, or a filter that fits no cell.
pub fn draw(request: &Request) -> Result<Vec<(String, String)>, String> {
    let selection = Selection::new(request.results, &request.chart.filter)?;
    let metrics = request.metrics(&["success_rate", "amplification"]);
    let shown = selection.cells.len().min(MOST);
    let mut columns = Vec::new();
    for metric in &metrics {
        let column = selection.metric(metric)?;
        let shown = selection.cells.iter().take(shown);
        let unit = unit::unit_of(metric);
        let words = shown.clone().map(|cell| selection.value(metric, cell, unit));
        columns.push(Column {
            metric: metric.clone(),
            unit,
            words: words.collect(),
            values: shown.map(|cell| cell.measured[column]).collect(),
        });
    }
    let names: Vec<String> = selection.cells.iter().take(shown).map(|cell| selection.name(cell, &[])).collect();
    let mut words = Words { title: request.title(), ..Words::default() };
    words.subtitle = request.subtitle(&selection, &metrics.join(", "), "line");
    if selection.cells.len() > shown {
        words.notes.push(format!(
            "{} of {} cells are not shown: choose some with `where`.",
            selection.cells.len() - shown,
            selection.cells.len()
        ));
    }
    words.notes.extend(selection.caveat(&metrics));
    let side = columns.len().min(4);
    let rows = columns.len().div_ceil(side);
    let bar = (430.0 / shown as f64 / rows as f64).clamp(27.0, 58.0);
    let block = shown as f64 * bar + 54.0;
    let mut frame = Frame::new(words, Some(rows as f64 * block), request.theme);
    let widest = names.iter().map(|name| font::width(name, NAME, false)).fold(0.0, f64::max);
    let label = if widest > 0.0 { (widest + 16.0).min(340.0) } else { 0.0 };
    let areas = frame::grid(frame.body.inside(label, 0.0, 0.0, 0.0), columns.len(), side, (36.0, 0.0));
    for (index, (column, area)) in columns.iter().zip(areas).enumerate() {
        let area = area.inside(0.0, 44.0, 0.0, 10.0);
        if index % side == 0 && label > 0.0 {
            draw_names(&mut frame, &names, area, bar, label);
        }
        draw_column(&mut frame, column, area, bar);
    }
    Ok(vec![(format!("bars-{}", metrics.join("-")), frame.finish())])
}

fn draw_names(frame: &mut Frame, names: &[String], area: Area, bar: f64, room: f64) {
    let text = Text { size: NAME, bold: false, colour: frame.canvas.theme.ink(), anchor: Anchor::End };
    for (index, name) in names.iter().enumerate() {
        let name = font::shorten(name, NAME, false, room - 12.0);
        frame.canvas.text((area.left - 12.0, area.top + (index as f64 + 0.5) * bar + 5.5), &name, text);
    }
}

fn draw_column(frame: &mut Frame, column: &Column, area: Area, bar: f64) {
    let theme = frame.canvas.theme;
    let canvas = &mut frame.canvas;
    let header = unit::titled(&column.metric, column.unit);
    let bold = Text { size: HEADER, bold: true, colour: theme.ink(), anchor: Anchor::Start };
    canvas.text((area.left, area.top - 14.0), &font::shorten(&header, HEADER, true, area.width), bold);
    let widest = column.words.iter().map(|words| font::width(words, NAME, true)).fold(0.0, f64::max);
    let ends = column.values.iter().flat_map(|value| [value.mean, value.high]).flatten();
    // Where no mean is below zero, no interval is drawn there.
    let lowest = column.values.iter().filter_map(|value| value.mean).fold(0.0, f64::min);
    let highest = ends.fold(0.0, f64::max);
    let full = if highest > lowest { highest - lowest } else { 1.0 };
    let room = (area.width - widest - 12.0).max(20.0);
    let at = |value: f64| area.left + (value - lowest) / full * room;
    let look = theme.look(0);
    for (index, (value, words)) in column.values.iter().zip(&column.words).enumerate() {
        let middle = area.top + (index as f64 + 0.5) * bar;
        let mut right = at(0.0);
        if let Some(mean) = value.mean {
            let (from, to) = (at(0.0_f64.min(mean)), at(0.0_f64.max(mean)));
            canvas.rectangle(Area { left: from, top: middle - bar * 0.31, width: to - from, height: bar * 0.62 }, look.colour, 0.85);
            right = to;
        }
        if let (Some(low), Some(high)) = (value.low, value.high)
            && at(high) - at(low) >= 1.0
        {
            let ink = Stroke { colour: theme.ink(), width: 1.5, dash: "" };
            let low = low.max(lowest);
            canvas.line((at(low), middle), (at(high), middle), ink);
            for end in [low, high] {
                canvas.line((at(end), middle - 4.0), (at(end), middle + 4.0), ink);
            }
            right = right.max(at(high));
        }
        let colour = if value.mean.is_some() { theme.ink() } else { theme.muted() };
        canvas.text((right + 8.0, middle + 5.5), words, Text { size: NAME, bold: value.mean.is_some(), colour, anchor: Anchor::Start });
    }
    let base = Stroke { colour: theme.quiet(), width: 1.2, dash: "" };
    canvas.line((at(0.0), area.top), (at(0.0), area.top + column.values.len() as f64 * bar), base);
}
