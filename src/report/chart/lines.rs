//! The kind `lines`: a metric against an axis, a line a combination of the other axes.

use super::frame::{self, Frame, Words};
use super::panel::{self, Line, Panel};
use super::scale::Axis;
use super::selection::{self, Group, Selection};
use super::theme::LOOKS;
use super::unit;
use super::{Request, bars};
use crate::report::data::Measured;

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
    let measures: Vec<String> = metrics.iter().map(|metric| format!("{metric}, {}", unit::unit_of(metric).words())).collect();
    words.subtitle = request.subtitle(&selection, &measures.join(" and "), "band");
    if scales.iter().any(|(_, y)| y.is_log) {
        words.subtitle.push_str("; log scale");
    }
    words.notes = notes(&sets, &scales, groups.len());
    if metrics.len() > 1 {
        words.legend = sets[0].iter().filter(|line| !line.name.is_empty()).map(|line| (line.name.clone(), line.look)).collect();
    }
    let columns = if metrics.len() == 4 { 2 } else { metrics.len().min(3) };
    let rows = metrics.len().div_ceil(columns);
    let mut frame = Frame::new(words, (rows > 1).then_some(rows as f64 * 400.0), request.theme);
    let areas = frame::grid(frame.body, metrics.len(), columns, (40.0, 30.0));
    let path = &request.results.axes[axis];
    for (((set, (x, y)), area), measure) in sets.iter().zip(scales).zip(areas).zip(&measures) {
        let names = if metrics.len() > 1 { 16.0 } else { panel::name_room(set, 330.0) };
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
        let point = |cell: &&crate::report::data::Cell| Some((place(&cell.values[axis])?, cell.measured[metric]));
        let mut points: Vec<(f64, Measured)> = group.cells.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let name = if index < LOOKS { group.name.clone() } else { String::new() };
        Line { name, look: request.theme.look(index), points }
    };
    groups.iter().enumerate().map(line).collect()
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
fn notes(sets: &[Vec<Line>], scales: &[(Axis, Axis)], groups: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if groups > LOOKS {
        notes.push(format!("{} of {groups} lines are grey and not named: choose some with `where`.", groups - LOOKS));
    }
    let points = || {
        sets.iter().zip(scales).flat_map(|(set, axes)| set.iter().flat_map(move |line| line.points.iter().map(move |point| (point, axes))))
    };
    let undefined = points().filter(|((_, value), _)| value.mean.is_none()).count();
    if undefined > 0 {
        notes.push(format!("Not defined, and not drawn: {undefined} of {} points.", points().count()));
    }
    let refused = points().filter(|((x, value), axes)| value.mean.is_some_and(|mean| !axes.1.accepts(mean) || !axes.0.accepts(*x))).count();
    if refused > 0 {
        notes.push(format!("Zero or less, and so not on the log scale: {refused} of {} points.", points().count()));
    }
    notes
}
