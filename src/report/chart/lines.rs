//! The kind `lines`: a metric against an axis, a line a combination of the other axes.

use super::frame::{self, Frame, Words};
use super::panel::{self, Line, Panel};
use super::scale::Axis;
use super::selection::{self, Group, Selection};
use super::theme::{LOOKS, Look, Marker};
use super::unit;
use super::{Request, bars};
use crate::report::data::{Cell, Measured};

/// The picture, one panel a metric.
///
/// # Errors
/// A metric, axis or value that is not in the results.
pub fn draw(request: &Request) -> Result<Vec<(String, String)>, String> {
    let selection = Selection::new(request.results, &request.chart.filter)?;
    let metrics = request.metrics(&["amplification"]);
    let Some(axis) = selection.axis(request.chart.x.as_deref())? else {
        // One cell has nothing to run along: its values are a bar each.
        return bars::draw(request);
    };
    let groups = selection.groups(&[axis]);
    let columns = metrics.iter().map(|metric| selection.metric(metric)).collect::<Result<Vec<_>, _>>()?;
    let mut words = Words { title: request.title(), ..Words::default() };
    let sets: Vec<Vec<Line>> = columns.iter().map(|column| lines(request, &selection, &groups, axis, *column)).collect();
    let scales: Vec<(Axis, Axis)> = sets.iter().zip(&metrics).map(|(set, metric)| axes(request, &selection, axis, metric, set)).collect();
    let measures: Vec<String> = metrics.iter().map(|metric| unit::titled(metric, unit::unit_of(metric))).collect();
    let interval = if selection.is_numeric(axis) { "band" } else { "line" };
    // Where there are several panels, each says its unit itself.
    let measure = if measures.len() == 1 { measures[0].clone() } else { metrics.join(" and ") };
    words.subtitle = request.subtitle(&selection, &measure, interval);
    if scales.iter().any(|(_, y)| y.is_log) {
        words.subtitle.push_str("; log scale");
    }
    let panels: Vec<_> = sets.iter().zip(&scales).collect();
    words.notes = notes(&groups, &undefined(&selection, &groups, axis, &columns), &panels);
    if metrics.len() > 1 {
        words.legend = sets[0].iter().filter(|line| !line.name.is_empty()).map(|line| (line.name.clone(), line.look)).collect();
    }
    let columns = if metrics.len() == 4 { 2 } else { metrics.len().min(3) };
    let rows = metrics.len().div_ceil(columns);
    let mut frame = Frame::new(words, (rows > 1).then_some(rows as f64 * 400.0), request.theme);
    let areas = frame::grid(frame.body, metrics.len(), columns, (40.0, 30.0));
    let path = &request.results.axes[axis];
    for (((set, (x, y)), area), measure) in sets.iter().zip(scales).zip(areas).zip(&measures) {
        let names = if metrics.len() > 1 { 16.0 } else { panel::name_room(set, 390.0) };
        let panel = Panel { area: area.inside(panel::side_room(&y), 40.0, names, 58.0), x, y };
        panel.draw_axes(&mut frame.canvas, true, true);
        panel.draw_titles(&mut frame.canvas, &selection::axis_title(path, selection.is_numeric(axis)), measure);
        panel.draw_lines(&mut frame.canvas, set);
        if metrics.len() == 1 {
            panel.draw_names(&mut frame.canvas, set, names);
        }
    }
    Ok(vec![(format!("lines-{}", metrics.join("-")), frame.finish())])
}

/// A line a group, its points in the order of the axis.
fn lines(request: &Request, selection: &Selection, groups: &[Group], axis: usize, metric: usize) -> Vec<Line> {
    let values = selection.values(axis);
    let numeric = selection.is_numeric(axis);
    let place =
        |value: &str| if numeric { value.parse().ok() } else { values.iter().position(|known| *known == value).map(|place| place as f64) };
    let line = |(index, group): (usize, &Group)| {
        let point = |cell: &&Cell| Some((place(&cell.values[axis])?, cell.measured[metric]));
        let mut points: Vec<(f64, Measured)> = group.cells.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let name = if index < LOOKS { group.name.clone() } else { String::new() };
        Line { name, look: request.theme.look(index), points, is_joined: numeric }
    };
    let mut drawn: Vec<Line> = groups.iter().enumerate().map(line).collect();
    let name = &selection.results.metrics[metric];
    let known = |cell: &Cell| request.results.known.iter().find(|(number, metric, _)| *number == cell.number && metric == name);
    let cells = groups.iter().flat_map(|group| &group.cells);
    let points: Vec<(f64, Measured)> = cells.filter_map(|cell| Some((place(&cell.values[axis])?, known(cell)?.2))).collect();
    if !points.is_empty() {
        // What theory or print says lies over all lines, each point for itself.
        let look = Look { colour: request.theme.ink(), text: request.theme.muted(), dash: "", marker: Some(Marker::Cross), width: 2.0 };
        drawn.push(Line { name: "exact or published".to_string(), look, points, is_joined: false });
    }
    drawn
}

fn axes(request: &Request, selection: &Selection, axis: usize, metric: &str, lines: &[Line]) -> (Axis, Axis) {
    let (along, upright) = request.chart.scale;
    let values = selection.values(axis);
    let x = if selection.is_numeric(axis) {
        let numbers: Vec<f64> = values.iter().filter_map(|value| value.parse().ok()).collect();
        Axis::along(&numbers, unit::unit_of_axis(&request.results.axes[axis]), along, 10)
    } else {
        Axis::places(values.iter().map(|value| (*value).to_string()).collect(), 0.25)
    };
    (x, Axis::upright(&heights(lines), unit::unit_of(metric), upright, 5))
}

/// All means, and the ends of their intervals.
pub fn heights(lines: &[Line]) -> Vec<f64> {
    let values = lines.iter().flat_map(|line| &line.points);
    // An interval may reach below zero where all means are above it: that must not turn off a logarithmic axis.
    let ends =
        |value: &Measured| [value.mean, value.low.filter(|low| *low > 0.0 || value.mean.is_some_and(|mean| mean <= 0.0)), value.high];
    values.flat_map(|(_, value)| ends(value)).flatten().collect()
}

/// What the picture does not show, or not by name.
fn notes(groups: &[Group], undefined: &[String], panels: &[(&Vec<Line>, &(Axis, Axis))]) -> Vec<String> {
    let mut notes = Vec::new();
    if groups.len() > LOOKS {
        notes.push(format!("{} of {} lines are grey and not named: choose some with `where`.", groups.len() - LOOKS, groups.len()));
    }
    if !undefined.is_empty() {
        let (first, rest) = undefined.split_at(undefined.len().min(6));
        let more = if rest.is_empty() { String::new() } else { format!("; and {} more", rest.len()) };
        notes.push(format!("Not defined, and so not drawn: {}{more}.", first.join("; ")));
    }
    let refuses =
        |(x, y): &(Axis, Axis), (place, value): &(f64, Measured)| value.mean.is_some_and(|mean| !y.accepts(mean) || !x.accepts(*place));
    let refused: usize =
        panels.iter().map(|(lines, axes)| lines.iter().flat_map(|line| &line.points).filter(|point| refuses(axes, point)).count()).sum();
    if refused > 0 {
        notes.push(format!("Zero or less, and so not on the log scale: {refused} points."));
    }
    notes
}

/// Which points have no value: the line, and where on the axis.
fn undefined(selection: &Selection, groups: &[Group], axis: usize, columns: &[usize]) -> Vec<String> {
    let is_missing = |cell: &&&Cell| columns.iter().any(|column| cell.measured[*column].mean.is_none());
    let place = |cell: &Cell| selection::value_text(&selection.results.axes[axis], &cell.values[axis]);
    let words = |name: &str, cell: &Cell| if name.is_empty() { place(cell) } else { format!("{name} at {}", place(cell)) };
    groups.iter().flat_map(|group| group.cells.iter().filter(is_missing).map(|cell| words(&group.name, cell))).collect()
}
