//! The kind `timeline`: series over time, a small panel a cell, with its faults, its warm-up and its capacity.

use super::canvas::{Anchor, Area, Canvas, Stroke, Text};
use super::frame::{self, Frame, Sign, Words};
use super::panel::{self, Line, Panel};
use super::scale::{self, Axis};
use super::selection::Selection;
use super::theme::{Look, Theme};
use super::unit::{self, Unit};
use super::{Request, font, number};
use crate::report::data::{Cell, Mark, Measured, Results};

/// How many panels a picture has at most.
const MOST: usize = 24;
const MARK: f64 = 13.5;
const WARMUP: &str = "warm-up";

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
    let mut y = Axis::upright(&all, unit, request.chart.scale.1, if rows > 1 { 3 } else { 5 });
    if shown == 1 && !y.is_log && !stories[0].marks.is_empty() {
        // The names of the marks stand above the lines.
        y.high = y.high.max(highest * 1.12);
    }
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
        // One series needs no key: the subtitle names it.
        let keys = names.iter().enumerate().filter(|_| names.len() > 1);
        words.legend = keys.map(|(index, name)| (name.clone(), look(request, index))).collect();
        words.marks = signs(request, &stories, &y, unit);
    }
    let mut frame = Frame::new(words, body_height(rows), request.theme);
    let common = is_common.then(|| scale::span(&ends).1);
    draw_panels(&mut frame, &stories, &y, unit, common);
    (format!("timeline-{}", names.join("-")), frame.finish())
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
        let end = common.unwrap_or(story.end).max(1e-9);
        let x = Axis::along(&[0.0, end], Unit::Seconds, crate::study::chart::Scale::Linear, (area.width / 57.0) as usize);
        let panel = Panel { area, x, y: y.clone() };
        let is_lowest = index + columns >= stories.len();
        draw_spans(&mut frame.canvas, &panel, &story.marks, single);
        panel.draw_axes(&mut frame.canvas, is_lowest || common.is_none(), index % columns == 0);
        draw_capacities(&mut frame.canvas, &panel, &story.marks, single, unit);
        let lines = thinned(&story.lines, &panel);
        panel.draw_lines(&mut frame.canvas, &lines);
        if single {
            panel.draw_titles(&mut frame.canvas, "time, seconds", unit.words());
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
            Line { name: name.clone(), look: look(request, index), points: stepped(&points), is_joined: true }
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

/// The lines with no more points than pixels can show.
fn thinned(lines: &[Line], panel: &Panel) -> Vec<Line> {
    let inside = |line: &Line| line.points.partition_point(|point| point.0 <= panel.x.high * (1.0 + 1e-9));
    let thin =
        |line: &Line| Line { name: line.name.clone(), look: line.look, points: thin(&line.points[..inside(line)], panel), is_joined: true };
    lines.iter().map(thin).collect()
}

/// Of each column of pixels its first, lowest, highest and last point: the line looks the same.
fn thin(points: &[(f64, Measured)], panel: &Panel) -> Vec<(f64, Measured)> {
    if (points.len() as f64) < 2.5 * panel.area.width {
        return points.to_vec();
    }
    let column = |point: &(f64, Measured)| (panel.x.position(point.0) * panel.area.width) as i64;
    let mut kept = Vec::new();
    for run in points.chunk_by(|a, b| column(a) == column(b)) {
        let mean = |index: &usize| run[*index].1.mean.unwrap_or(0.0);
        let order = |a: &usize, b: &usize| mean(a).total_cmp(&mean(b));
        let (low, high) = ((0..run.len()).min_by(order).unwrap_or(0), (0..run.len()).max_by(order).unwrap_or(0));
        let mut wanted = vec![0, low, high, run.len() - 1];
        wanted.sort_unstable();
        wanted.dedup();
        kept.extend(wanted.into_iter().map(|index| run[index]));
    }
    kept
}

/// The marks of all panels for the legend, each kind with its words once.
fn signs(request: &Request, stories: &[Story], y: &Axis, unit: Unit) -> Vec<(String, Sign)> {
    let mut signs: Vec<(String, Sign)> = Vec::new();
    for mark in stories.iter().flat_map(|story| &story.marks) {
        if mark.kind == "capacity" && !shows(y, mark) {
            continue;
        }
        let sign = (mark_words(mark, unit), mark_sign(request.theme, mark));
        if !signs.contains(&sign) {
            signs.push(sign);
        }
    }
    // Faults first, then capacities, the warm-up last.
    signs.sort_by_key(|(words, sign)| (words == WARMUP, matches!(sign, Sign::Level(_))));
    signs
}

fn mark_words(mark: &Mark, unit: Unit) -> String {
    match mark.kind.as_str() {
        "capacity" => format!("capacity of {}, {}", mark.label, number::value(mark.value.unwrap_or(0.0), unit)),
        "fault" if mark.label.is_empty() => "fault".to_string(),
        "fault" => format!("fault: {}", mark.label),
        _ => WARMUP.to_string(),
    }
}

fn mark_sign(theme: Theme, mark: &Mark) -> Sign {
    match mark.kind.as_str() {
        "capacity" => Sign::Level(theme.muted()),
        "fault" => Sign::Span(theme.fault(), 0.16),
        _ => Sign::Span(theme.quiet(), 0.2),
    }
}

/// Whether a capacity lies in the picture.
fn shows(y: &Axis, mark: &Mark) -> bool {
    mark.value.is_some_and(|value| value <= y.high && y.accepts(value))
}

/// Faults and warm-up as shaded spans, with their words where wanted.
fn draw_spans(canvas: &mut Canvas, panel: &Panel, marks: &[Mark], with_words: bool) {
    let theme = canvas.theme;
    let (mut taken, mut row) = (panel.area.left, 0.0);
    for mark in marks {
        let Sign::Span(fill, opacity) = mark_sign(theme, mark) else { continue };
        let (from, to) = (mark.from.unwrap_or(0.0).max(panel.x.low), mark.to.unwrap_or(panel.x.high).min(panel.x.high));
        if to <= from {
            continue;
        }
        let (left, right) = (panel.at(from, panel.y.low).0, panel.at(to, panel.y.low).0);
        // A fault of an instant must still be seen.
        canvas.rectangle(Area { left, width: (right - left).max(2.5), ..panel.area }, fill, opacity);
        if !with_words {
            continue;
        }
        let words = mark_words(mark, Unit::Count);
        let width = font::width(&words, MARK, false).min(panel.area.width - 12.0);
        let start = (left + 5.0).min(panel.area.right() - width - 4.0);
        // What would run into the words before it goes one line down.
        row = if start < taken { row + 18.0 } else { 0.0 };
        taken = start + width + 8.0;
        let text =
            Text { size: MARK, bold: false, colour: if fill == theme.fault() { fill } else { theme.muted() }, anchor: Anchor::Start };
        canvas.text((start, panel.area.top + 16.0 + row), &font::shorten(&words, MARK, false, width), text);
    }
}

/// The capacities as dotted lines, with their words where wanted.
fn draw_capacities(canvas: &mut Canvas, panel: &Panel, marks: &[Mark], with_words: bool, unit: Unit) {
    let theme = canvas.theme;
    for mark in marks.iter().filter(|mark| mark.kind == "capacity" && shows(&panel.y, mark)) {
        let y = panel.at(panel.x.low, mark.value.unwrap_or(0.0)).1;
        canvas.line((panel.area.left, y), (panel.area.right(), y), Stroke { colour: theme.muted(), width: 1.5, dash: "2 4" });
        if with_words {
            let words = font::shorten(&mark_words(mark, unit), MARK, false, panel.area.width - 8.0);
            canvas.text(
                (panel.area.right() - 2.0, y - 6.0),
                &words,
                Text { size: MARK, bold: false, colour: theme.muted(), anchor: Anchor::End },
            );
        }
    }
}
