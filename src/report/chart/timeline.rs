//! The kind `timeline`: series over time, a small panel a cell, with its faults, its warm-up and its capacity.

use super::canvas::{Anchor, Text};
use super::frame::{self, Frame, Words};
use super::panel::{self, Line, Panel};
use super::scale::{self, Axis};
use super::selection::Selection;
use super::theme::Look;
use super::unit::{self, Unit};
use super::{Request, font, marks, number, steps};
use crate::report::data::{Cell, Mark, Measured, Results};

/// How many panels a picture has at most.
const MOST: usize = 24;

/// One cell's series.
struct Story {
    name: String,
    lines: Vec<Line>,
    marks: Vec<Mark>,
    /// The end of the last bin in which anything happened.
    end: f64,
    /// Where the panel ends if its time is its own: before a long tail.
    head: f64,
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
    let mut stories: Vec<Story> = selection.cells.iter().take(shown).map(|cell| story(request, selection, cell, unit, names)).collect();
    see_to_the_end(&mut stories);
    let heights: Vec<f64> = stories.iter().flat_map(|story| super::lines::heights(&story.lines)).collect();
    let highest = scale::span(&heights).1;
    let fits = |mark: &Mark| mark.value.is_some_and(|value| value <= highest.max(1e-9) * 2.5);
    let capacities = stories.iter().flat_map(|story| &story.marks).filter(|mark| mark.kind == "capacity");
    let (near, far): (Vec<&Mark>, Vec<&Mark>) = capacities.partition(|mark| fits(mark));
    let all: Vec<f64> = heights.iter().copied().chain(near.iter().filter_map(|mark| mark.value)).collect();
    let columns = frame::columns(shown);
    let rows = shown.div_ceil(columns);
    let ticks = if rows > 2 { 3 } else { 5 };
    let mut y = Axis::upright(&all, Some(unit), request.chart.scale.1, ticks);
    if shown == 1 && !y.is_log && !stories[0].marks.is_empty() {
        // The names of the marks stand above the lines.
        y.high = y.high.max(scale::span(&all).1 * 1.12);
    }
    let common = common_end(&stories);
    let mut words = Words { title: request.title(), ..Words::default() };
    words.subtitle = request.subtitle(selection, &unit::titled(&names.join(" and "), Some(unit)), "band");
    if y.is_log {
        words.subtitle.push_str("; log scale");
    }
    if common.is_none() {
        words.subtitle.push_str("; each panel has its own time axis");
        if stories.iter().any(|story| story.head < story.end) {
            words.subtitle.push_str(", long tails without their last 0.5\u{a0}%");
        }
    }
    if selection.cells.len() > shown {
        words.notes.push(format!(
            "{} of {} cells are not shown: choose some with `where`.",
            selection.cells.len() - shown,
            selection.cells.len()
        ));
    }
    if let Some(mark) = far.first() {
        let value = number::value(mark.value.unwrap_or(0.0), Some(unit));
        words.notes.push(format!("The capacity of {} ({value}) lies above the picture.", mark.label));
    }
    if shown > 1 {
        // One series needs no key: the subtitle names it.
        let keys = names.iter().enumerate().filter(|_| names.len() > 1);
        words.legend = keys.map(|(index, name)| (name.clone(), look(request, index))).collect();
        let published = stories.iter().flat_map(|story| &story.lines).filter(|line| line.name.ends_with(PUBLISHED));
        for line in published {
            if !words.legend.iter().any(|(name, _)| *name == line.name) {
                words.legend.push((line.name.clone(), line.look));
            }
        }
        words.marks = marks::signs(request.theme, stories.iter().flat_map(|story| &story.marks), &y);
    }
    let mut frame = Frame::new(words, body_height(rows), request.theme);
    draw_panels(&mut frame, &stories, &y, unit, common);
    (format!("timeline-{}", names.join("-")), frame.finish())
}

/// Where a cell was simulated for as long as anything happens in another, that nothing happens in it any more is what there is to see.
fn see_to_the_end(stories: &mut [Story]) {
    let longest = stories.iter().map(|story| story.end).fold(0.0, f64::max);
    let lasts = |story: &&mut Story| story.end < longest && steps::length(&story.lines) >= longest;
    for story in stories.iter_mut().filter(lasts) {
        (story.end, story.head) = (longest, longest);
    }
}

/// The end of all panels; None where they differ so much that each needs its own.
fn common_end(stories: &[Story]) -> Option<f64> {
    let ends: Vec<f64> = stories.iter().map(|story| story.end).collect();
    let (first, last) = scale::span(&ends);
    (last <= 4.0 * first).then_some(last)
}

fn body_height(rows: usize) -> Option<f64> {
    match rows {
        1 => None,
        2 => Some(540.0),
        rows => Some(rows as f64 * 200.0 + 20.0),
    }
}

/// The panels; the labels of an axis are drawn once where all panels have the same.
fn draw_panels(frame: &mut Frame, stories: &[Story], y: &Axis, unit: Unit, common: Option<f64>) {
    let (single, columns) = (stories.len() == 1, frame::columns(stories.len()));
    let side = panel::side_room(y);
    let names = if single { panel::name_room(&stories[0].lines, 260.0) } else { 10.0 };
    let (below, foot) = if common.is_some() { (50.0, 0.0) } else { (4.0, 28.0) };
    let body = frame.body.inside(side, 4.0, names, below);
    let gap = (46.0, 18.0);
    let width = frame::grid(body, stories.len(), columns, gap)[0].width;
    let lines = stories.iter().map(|story| font::wrap(&story.name, panel::HEADER, true, width).len()).max().unwrap_or(1);
    let head = if single { 40.0 } else { 12.0 + lines as f64 * panel::HEADER_LINE };
    let areas = frame::grid(body, stories.len(), columns, gap);
    for (index, (story, area)) in stories.iter().zip(areas).enumerate() {
        let area = area.inside(0.0, head, 0.0, foot);
        let end = common.unwrap_or(story.head).max(1e-9);
        let x = Axis::along(&[0.0, end], Some(Unit::Seconds), crate::study::chart::Scale::Linear, (area.width / 57.0) as usize);
        let panel = Panel { area, x, y: y.clone() };
        let is_lowest = index + columns >= stories.len();
        marks::draw_spans(&mut frame.canvas, &panel, &story.marks, single);
        panel.draw_axes(&mut frame.canvas, is_lowest || common.is_none(), index % columns == 0);
        marks::draw_capacities(&mut frame.canvas, &panel, &story.marks, single);
        let lines = steps::thinned(&story.lines, &panel);
        panel.draw_lines(&mut frame.canvas, &lines);
        if single {
            panel.draw_titles(&mut frame.canvas, "time", unit::words(unit));
            panel.draw_names(&mut frame.canvas, &lines, names);
        } else {
            panel.draw_header(&mut frame.canvas, &story.name);
        }
    }
    if !single && common.is_some() {
        let text = Text { size: 15.5, bold: false, colour: frame.canvas.theme.muted(), anchor: Anchor::Middle };
        frame.canvas.text((body.left + body.width / 2.0, body.bottom() + 44.0), "time", text);
    }
}

fn look(request: &Request, index: usize) -> Look {
    // A marker at each bin would hide the line.
    Look { marker: None, width: 2.0, ..request.theme.look(index) }
}

/// What stands behind the name of a published series.
const PUBLISHED: &str = ", published";

/// The published series of this name for a cell, thin and dotted in the colour of ours.
fn published(request: &Request, cell: &Cell, index: usize, name: &str) -> Option<Line> {
    let series = request.results.published.iter().find(|series| series.cell == cell.number && series.name == *name)?;
    let bare = |(time, value): &(f64, Measured)| (*time, Measured { low: None, high: None, ..*value });
    let points: Vec<(f64, Measured)> = series.moments.iter().map(bare).collect();
    let look = Look { dash: "2 2.5", width: 1.6, ..look(request, index) };
    Some(Line { name: format!("{name}{PUBLISHED}"), look, points: steps::stepped(&points), is_joined: true })
}

fn story(request: &Request, selection: &Selection, cell: &Cell, unit: Unit, names: &[String]) -> Story {
    let series = |name: &String| request.results.timeline.iter().find(|series| series.cell == cell.number && series.name == *name);
    let mut lines: Vec<Line> = names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let points = series(name).map(|series| series.moments.clone()).unwrap_or_default();
            Line { name: name.clone(), look: look(request, index), points: steps::stepped(&points), is_joined: true }
        })
        .collect();
    lines.extend(names.iter().enumerate().filter_map(|(index, name)| published(request, cell, index, name)));
    let of_cell = request.results.marks.iter().filter(|mark| mark.cell == cell.number);
    let marks: Vec<Mark> = of_cell.filter(|mark| mark.kind != "capacity" || unit == Unit::PerSecond).cloned().collect();
    let end = steps::end(&lines);
    // A level, such as the length of a queue, has no last events.
    let head = if unit == Unit::PerSecond { steps::head(&lines, &marks, end) } else { end };
    Story { name: selection.name(cell, &[]), lines, marks, end, head }
}
