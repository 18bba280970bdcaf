//! The kind `hysteresis`: a series against the load of the same time, a panel a cell. While the load rises it takes one way, while it
//! falls another: where the two lie apart, the same load has two states.

use super::canvas::{Anchor, Canvas, Stroke, Text};
use super::frame::{self, Frame, Words};
use super::panel::{self, Panel};
use super::scale::{self, Axis};
use super::selection::Selection;
use super::unit::{self, Unit};
use super::{Request, font};
use crate::report::data::{Results, Series};
use crate::study::chart::Scale;

/// How many panels a picture has at most.
const MOST: usize = 12;

/// The series that is the load.
const LOAD: &str = "calls";

/// The two ways, in words.
const WAYS: [&str; 2] = ["load rises", "load falls"];

/// One cell: its name, and its points (load, value) in the order of time, on the way up and on the way down.
struct Course {
    name: String,
    ways: [Vec<(f64, f64)>; 2],
}

/// The pictures, one a series.
///
/// # Errors
/// A series that is not in the results, or a filter that fits no cell.
pub fn draw(request: &Request) -> Result<Vec<(String, String)>, String> {
    let selection = Selection::new(request.results, &request.chart.filter)?;
    let names = request.metrics(&["goodput"]);
    for name in names.iter().map(String::as_str).chain([LOAD]) {
        if !request.results.timeline.iter().any(|series| series.name == name) {
            return Err(format!("`{name}` is no series of timeline.csv"));
        }
    }
    Ok(names.iter().map(|name| picture(request, &selection, name)).collect())
}

fn picture(request: &Request, selection: &Selection, name: &str) -> (String, String) {
    let shown = selection.cells.len().min(MOST);
    let courses: Vec<Course> = selection
        .cells
        .iter()
        .take(shown)
        .map(|cell| Course { name: selection.name(cell, &[]), ways: ways(request.results, cell.number, name) })
        .collect();
    let points: Vec<(f64, f64)> = courses.iter().flat_map(|course| course.ways.iter().flatten().copied()).collect();
    let (loads, values): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
    let unit = unit::unit_of_series(name);
    let columns = frame::columns(shown);
    let x = Axis::along(&[0.0, scale::span(&loads).1], Some(Unit::PerSecond), Scale::Linear, if columns > 1 { 5 } else { 10 });
    let y = Axis::upright(&values, Some(unit), request.chart.scale.1, 5);
    let mut words = Words { title: request.title(), ..Words::default() };
    let measure = format!("{} against the load of the same time, each point a bin", unit::titled(name, Some(unit)));
    words.subtitle = request.subtitle(selection, &measure, "");
    if y.is_log {
        words.subtitle.push_str("; log scale");
    }
    words.legend = WAYS.iter().enumerate().map(|(way, words)| ((*words).to_string(), request.theme.look(way))).collect();
    if selection.cells.len() > shown {
        let left_out = selection.cells.len() - shown;
        words.notes.push(format!("{left_out} of {} cells are not shown: choose some with `where`.", selection.cells.len()));
    }
    let rows = shown.div_ceil(columns);
    let mut frame = Frame::new(words, (rows > 1).then_some(rows as f64 * 330.0), request.theme);
    for (course, area) in courses.iter().zip(frame::grid(frame.body, shown, columns, (36.0, 30.0))) {
        let lines = font::wrap(&course.name, panel::HEADER, true, area.width).len() as f64;
        let area = area.inside(panel::side_room(&y), 40.0 + lines * panel::HEADER_LINE, 10.0, 58.0);
        let panel = Panel { area, x: x.clone(), y: y.clone() };
        panel.draw_axes(&mut frame.canvas, true, true);
        draw_titles(&mut frame.canvas, &panel, unit);
        draw_course(&mut frame.canvas, &panel, course);
    }
    (format!("hysteresis-{name}"), frame.finish())
}

fn draw_titles(canvas: &mut Canvas, panel: &Panel, unit: Unit) {
    let text = Text { size: 15.5, bold: false, colour: canvas.theme.muted(), anchor: Anchor::Start };
    canvas.text((panel.area.left - panel::side_room(&panel.y), panel.area.top - 14.0), unit::words(unit), text);
    let middle = (panel.area.left + panel.area.width / 2.0, panel.area.bottom() + 45.0);
    canvas.text(middle, "load, calls per second", Text { anchor: Anchor::Middle, ..text });
}

/// The name above the panel, and the two ways, each with arrows along it.
fn draw_course(canvas: &mut Canvas, panel: &Panel, course: &Course) {
    let header = Text { size: panel::HEADER, bold: true, colour: canvas.theme.ink(), anchor: Anchor::Start };
    for (index, line) in font::wrap(&course.name, panel::HEADER, true, panel.area.width).iter().rev().enumerate() {
        canvas.text((panel.area.left, panel.area.top - 36.0 - index as f64 * panel::HEADER_LINE), line, header);
    }
    canvas.begin_clip(panel.area.inside(-8.0, -8.0, -8.0, -8.0));
    for (way, points) in course.ways.iter().enumerate() {
        let look = canvas.theme.look(way);
        let drawn = points.iter().filter(|(x, y)| panel.x.accepts(*x) && panel.y.accepts(*y));
        let pixels: Vec<(f64, f64)> = drawn.map(|(x, y)| panel.at(*x, *y)).collect();
        canvas.path(&pixels, Stroke { colour: look.colour, width: 2.2, dash: look.dash });
        for (at, towards) in arrows(&pixels) {
            draw_arrow(canvas, at, towards, look.colour);
        }
    }
    canvas.end_clip();
}

/// Where arrows stand: at a third and at two thirds of the length of a line, each with the point that it comes from.
fn arrows(pixels: &[(f64, f64)]) -> Vec<((f64, f64), (f64, f64))> {
    let far = |from: (f64, f64), to: (f64, f64)| libm::hypot(to.0 - from.0, to.1 - from.1);
    let whole: f64 = pixels.windows(2).map(|pair| far(pair[0], pair[1])).sum();
    let (mut gone, mut found) = (0.0, Vec::new());
    for (index, pair) in pixels.windows(2).enumerate() {
        let next = gone + far(pair[0], pair[1]);
        if [1.0, 2.0].iter().any(|third| gone < whole * third / 3.0 && next >= whole * third / 3.0) {
            // The direction of several steps: one alone may be noise.
            found.push((pixels[index.saturating_sub(3)], pair[1]));
        }
        gone = next;
    }
    found
}

fn draw_arrow(canvas: &mut Canvas, from: (f64, f64), to: (f64, f64), colour: &str) {
    let length = libm::hypot(to.0 - from.0, to.1 - from.1);
    if length > 0.0 {
        let (along, across) = ((to.0 - from.0) / length, (to.1 - from.1) / length);
        let corner = |ahead: f64, aside: f64| (to.0 + ahead * along - aside * across, to.1 + ahead * across + aside * along);
        canvas.polygon(&[corner(9.0, 0.0), corner(-6.0, 7.0), corner(-6.0, -7.0)], colour, 1.0);
    }
}

/// The points of a cell in the order of time, parted where the load, over five bins, is greatest. The top belongs to both ways.
fn ways(results: &Results, cell: usize, name: &str) -> [Vec<(f64, f64)>; 2] {
    let find = |name: &str| results.timeline.iter().find(|series| series.cell == cell && series.name == name);
    let (Some(loads), Some(values)) = (find(LOAD), find(name)) else { return [Vec::new(), Vec::new()] };
    let means = |series: &Series| series.moments.iter().map(|(_, value)| value.mean).collect::<Vec<Option<f64>>>();
    let points: Vec<(f64, f64)> = means(loads).into_iter().zip(means(values)).filter_map(|(load, value)| Some((load?, value?))).collect();
    let around = |index: usize| {
        let near = &points[index.saturating_sub(2)..(index + 3).min(points.len())];
        near.iter().map(|(load, _)| load).sum::<f64>() / near.len() as f64
    };
    let top = (0..points.len()).max_by(|a, b| around(*a).total_cmp(&around(*b))).unwrap_or(0);
    [points[..points.len().min(top + 1)].to_vec(), points[top.min(points.len())..].to_vec()]
}
