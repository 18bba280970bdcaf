//! The kind `timeline`: series over time, a small panel a cell, with its faults, its warm-up and its capacity.

use super::canvas::{Anchor, Area, Canvas, Stroke, Text};
use super::frame::{self, Frame, Words};
use super::panel::{self, Line, Panel};
use super::scale::{self, Axis};
use super::selection::Selection;
use super::theme::Look;
use super::unit::{self, Unit};
use super::{Request, font, number};
use crate::report::data::{Cell, Mark, Measured, Results};

/// How many panels a picture has at most.
const MOST: usize = 24;
const MARK: f64 = 13.5;

/// One cell's series.
struct Story {
    name: String,
    lines: Vec<Line>,
    marks: Vec<Mark>,
    end: f64,
}

/// The pictures: one a unit, for rates and queues have no common axis.
///
/// # Errors
/// A series that is not in the results, or a filter that fits no cell.
pub fn draw(request: &Request) -> Result<Vec<(String, String)>, String> {
    let selection = Selection::new(request.results, &request.chart.filter)?;
    let mut units: Vec<(Unit, Vec<String>)> = Vec::new();
    for name in request.metrics(&["attempts", "goodput"]) {
        if !request.results.timeline.iter().any(|series| series.name == name) {
            return Err(format!("`{name}` is no series of timeline.csv; it has {}", known_series(request.results)));
        }
        let unit = unit::unit_of_series(&name);
        match units.iter_mut().find(|(known, _)| *known == unit) {
            Some((_, names)) => names.push(name),
            None => units.push((unit, vec![name])),
        }
    }
    Ok(units.iter().map(|(unit, names)| picture(request, &selection, *unit, names)).collect())
}

fn known_series(results: &Results) -> String {
    let mut names: Vec<&str> = Vec::new();
    for series in &results.timeline {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    if names.is_empty() { "no rows".to_string() } else { names.join(", ") }
}

fn picture(request: &Request, selection: &Selection, unit: Unit, names: &[String]) -> (String, String) {
    let shown = selection.cells.len().min(MOST);
    let stories: Vec<Story> = selection.cells.iter().take(shown).map(|cell| story(request, selection, cell, unit, names)).collect();
    let heights: Vec<f64> = stories.iter().flat_map(|story| super::lines::heights(&story.lines)).collect();
    let highest = scale::span(&heights).1;
    let fits = |mark: &Mark| mark.value.is_some_and(|value| value <= highest.max(1e-9) * 2.5);
    let capacities = stories.iter().flat_map(|story| &story.marks).filter(|mark| mark.kind == "capacity");
    let (near, far): (Vec<&Mark>, Vec<&Mark>) = capacities.partition(|mark| fits(mark));
    let all: Vec<f64> = heights.iter().copied().chain(near.iter().filter_map(|mark| mark.value)).collect();
    let columns = frame::columns(shown);
    let rows = shown.div_ceil(columns);
    let y = Axis::upright(&all, unit, request.chart.scale.1, if rows > 1 { 3 } else { 5 });
    let ends: Vec<f64> = stories.iter().map(|story| story.end).collect();
    let is_common = scale::span(&ends).1 <= 4.0 * scale::span(&ends).0;
    let mut words = Words { title: request.title(), ..Words::default() };
    words.subtitle = request.subtitle(selection, &format!("{}, {}", names.join(" and "), unit.words()), "band");
    words.subtitle.push_str(match (is_common, y.is_log) {
        (true, false) => "",
        (true, true) => "; log scale",
        (false, false) => "; each panel has its own span of time",
        (false, true) => "; log scale; each panel has its own span of time",
    });
    if selection.cells.len() > shown {
        words.notes.push(format!(
            "{} of {} cells are not shown: choose some with `where`.",
            selection.cells.len() - shown,
            selection.cells.len()
        ));
    }
    if let Some(mark) = far.first() {
        let value = number::value(mark.value.unwrap_or(0.0), unit);
        words.notes.push(format!("The capacity of {} ({value}) lies above the picture.", mark.label));
    }
    if shown > 1 {
        words.legend = names.iter().enumerate().map(|(index, name)| (name.clone(), look(request, index))).collect();
    }
    let mut frame = Frame::new(words, body_height(rows), request.theme);
    let common = is_common.then(|| scale::span(&ends).1);
    draw_panels(&mut frame, &stories, &y, unit, columns, common);
    (format!("timeline-{}", names.join("-")), frame.finish())
}

fn body_height(rows: usize) -> Option<f64> {
    match rows {
        1 => None,
        2 => Some(540.0),
        rows => Some(rows as f64 * 215.0 + 20.0),
    }
}

/// The panels; the labels of an axis are drawn once where all panels have the same.
fn draw_panels(frame: &mut Frame, stories: &[Story], y: &Axis, unit: Unit, columns: usize, common: Option<f64>) {
    let single = stories.len() == 1;
    let side = panel::side_room(y);
    let names = if single { panel::name_room(&stories[0].lines, 260.0) } else { 10.0 };
    let below = if common.is_some() { 46.0 } else { 8.0 };
    let body = frame.body.inside(side, 4.0, names, below);
    let gap = (28.0, if common.is_some() { 46.0 } else { 72.0 });
    let areas = frame::grid(body, stories.len(), columns, gap);
    for (index, (story, area)) in stories.iter().zip(areas).enumerate() {
        let head = if single { 40.0 } else { 30.0 };
        let foot = if common.is_some() { 0.0 } else { 28.0 };
        let area = area.inside(0.0, head, 0.0, foot);
        let end = common.unwrap_or(story.end).max(1e-9);
        let x = Axis::along(&[0.0, end], Unit::Seconds, crate::study::chart::Scale::Linear, (area.width / 75.0) as usize);
        let panel = Panel { area, x, y: y.clone() };
        let is_lowest = index + columns >= stories.len();
        draw_spans(&mut frame.canvas, &panel, &story.marks, index == 0);
        panel.draw_axes(&mut frame.canvas, is_lowest || common.is_none(), index % columns == 0);
        draw_capacities(&mut frame.canvas, &panel, &story.marks, index == 0, unit);
        let lines = thinned(&story.lines, &panel);
        panel.draw_lines(&mut frame.canvas, &lines);
        if single {
            panel.draw_titles(&mut frame.canvas, "time, seconds", &format!("{}, {}", "series", unit.words()));
            panel.draw_names(&mut frame.canvas, &lines, names);
        } else {
            panel.draw_header(&mut frame.canvas, &story.name);
        }
    }
    if !single && common.is_some() {
        let text = Text { size: 15.5, bold: false, colour: frame.canvas.theme.muted(), anchor: Anchor::Middle };
        frame.canvas.text((body.left + body.width / 2.0, body.bottom() + 44.0), "time, seconds", text);
    }
}

fn look(request: &Request, index: usize) -> Look {
    // A marker at each bin would hide the line.
    Look { marker: None, width: 2.0, ..request.theme.look(index) }
}

fn story(request: &Request, selection: &Selection, cell: &Cell, unit: Unit, names: &[String]) -> Story {
    let series = |name: &String| request.results.timeline.iter().find(|series| series.cell == cell.number && series.name == *name);
    let lines: Vec<Line> = names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let points = series(name).map(|series| series.moments.clone()).unwrap_or_default();
            Line { name: name.clone(), look: look(request, index), points: stepped(&points) }
        })
        .collect();
    let of_cell = request.results.marks.iter().filter(|mark| mark.cell == cell.number);
    let marks: Vec<Mark> = of_cell.filter(|mark| mark.kind != "capacity" || unit == Unit::PerSecond).cloned().collect();
    let busy = |point: &&(f64, Measured)| point.1.mean.is_some_and(|mean| mean != 0.0);
    let last = |line: &Line| line.points.iter().rfind(busy).map(|point| point.0);
    let end = lines.iter().filter_map(last).fold(0.0, f64::max);
    let fallback = lines.iter().filter_map(|line| line.points.last()).map(|point| point.0).fold(0.0, f64::max);
    Story { name: selection.name(cell, &[]), lines, marks, end: if end > 0.0 { end } else { fallback } }
}

/// A bin is as wide as it is: two points, at its start and at its end.
fn stepped(moments: &[(f64, Measured)]) -> Vec<(f64, Measured)> {
    let width = moments.windows(2).map(|pair| pair[1].0 - pair[0].0).fold(f64::INFINITY, f64::min);
    let width = if width.is_finite() { width } else { 1.0 };
    moments.iter().flat_map(|(time, value)| [(*time, *value), (time + width, *value)]).collect()
}

/// The lines with no more points than pixels can show: of each column of pixels its first, lowest, highest and last.
fn thinned(lines: &[Line], panel: &Panel) -> Vec<Line> {
    let thin = |line: &Line| {
        if (line.points.len() as f64) < 2.5 * panel.area.width {
            return line.points.clone();
        }
        let column = |point: &(f64, Measured)| (panel.x.position(point.0) * panel.area.width) as i64;
        let mut kept = Vec::new();
        for run in line.points.chunk_by(|a, b| column(a) == column(b)) {
            let mean = |index: &usize| run[*index].1.mean.unwrap_or(0.0);
            let order = |a: &usize, b: &usize| mean(a).total_cmp(&mean(b));
            let (low, high) = ((0..run.len()).min_by(order).unwrap_or(0), (0..run.len()).max_by(order).unwrap_or(0));
            let mut wanted = vec![0, low, high, run.len() - 1];
            wanted.sort_unstable();
            wanted.dedup();
            kept.extend(wanted.into_iter().map(|index| run[index]));
        }
        kept
    };
    lines.iter().map(|line| Line { name: line.name.clone(), look: line.look, points: thin(line) }).collect()
}

/// Faults and warm-up as shaded spans; the words for them once.
fn draw_spans(canvas: &mut Canvas, panel: &Panel, marks: &[Mark], with_words: bool) {
    let theme = canvas.theme;
    let mut row = 0.0;
    for mark in marks.iter().filter(|mark| mark.kind != "capacity") {
        let is_fault = mark.kind == "fault";
        let (from, to) = (mark.from.unwrap_or(0.0).max(panel.x.low), mark.to.unwrap_or(panel.x.high).min(panel.x.high));
        if to <= from {
            continue;
        }
        let (left, right) = (panel.at(from, panel.y.low).0, panel.at(to, panel.y.low).0);
        let (fill, opacity, ink) = if is_fault { (theme.fault(), 0.14, theme.fault()) } else { (theme.quiet(), 0.16, theme.muted()) };
        // A fault of an instant must still be seen.
        let area = Area { left, width: (right - left).max(2.0), ..panel.area };
        canvas.rectangle(area, fill, opacity);
        let words = if is_fault { mark.label.as_str() } else { "warm-up" };
        if with_words && !words.is_empty() {
            let text = Text { size: MARK, bold: false, colour: ink, anchor: Anchor::Start };
            let beside = panel.area.right() - area.right() > area.left - panel.area.left;
            let room = area.width - 10.0;
            let y = panel.area.top + 16.0 + row;
            if font::width(words, MARK, false) <= room {
                canvas.text((left + 5.0, y), words, text);
            } else if beside {
                canvas.text((area.right() + 5.0, y), &font::shorten(words, MARK, false, panel.area.right() - area.right() - 8.0), text);
            } else {
                canvas.text(
                    (left - 5.0, y),
                    &font::shorten(words, MARK, false, left - panel.area.left - 8.0),
                    Text { anchor: Anchor::End, ..text },
                );
            }
            row += 18.0;
        }
    }
}

/// The capacities as dotted lines; the words for them once.
fn draw_capacities(canvas: &mut Canvas, panel: &Panel, marks: &[Mark], with_words: bool, unit: Unit) {
    let theme = canvas.theme;
    for mark in marks.iter().filter(|mark| mark.kind == "capacity") {
        let Some(value) = mark.value.filter(|value| *value <= panel.y.high && panel.y.accepts(*value)) else { continue };
        let y = panel.at(panel.x.low, value).1;
        canvas.line((panel.area.left, y), (panel.area.right(), y), Stroke { colour: theme.muted(), width: 1.5, dash: "2 4" });
        if with_words {
            let words = format!("capacity of {}, {}", mark.label, number::value(value, unit));
            let words = font::shorten(&words, MARK, false, panel.area.width - 8.0);
            canvas.text(
                (panel.area.right() - 2.0, y - 6.0),
                &words,
                Text { size: MARK, bold: false, colour: theme.muted(), anchor: Anchor::End },
            );
        }
    }
}
