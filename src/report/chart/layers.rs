//! The kind `layers`: how the attempts per call grow from one service to the next, a line a cell.

use super::frame::{self, Frame, Words};
use super::lines::heights;
use super::panel::{self, Line, Panel};
use super::scale::{self, Axis};
use super::selection::{Group, Selection};
use super::theme::LOOKS;
use super::unit::Unit;
use super::{Request, number};
use crate::report::data::{Cell, Measured};
use crate::study::chart::Scale;

const SUFFIX: &str = ".attempts_per_call";

/// The picture; where there are too many cells for one panel, one a value of an axis.
///
/// # Errors
/// No service with attempts per call, or a filter that fits no cell.
pub fn draw(request: &Request) -> Result<Vec<(String, String)>, String> {
    let selection = Selection::new(request.results, &request.chart.filter)?;
    let services: Vec<(String, usize)> = services(request);
    if services.is_empty() {
        return Err(format!("there are no layers to draw: no column of summary.csv ends in `{SUFFIX}`"));
    }
    let facet = facet(&selection);
    let rest: Vec<usize> = selection.varying.iter().copied().filter(|axis| Some(*axis) != facet).collect();
    let panels =
        if facet.is_some() { selection.groups(&rest) } else { vec![Group { name: String::new(), cells: selection.cells.clone() }] };
    let but: Vec<usize> = facet.into_iter().collect();
    let sets: Vec<Vec<Line>> = panels.iter().map(|panel| lines(request, &selection, &panel.cells, &but, &services)).collect();
    let all: Vec<f64> = sets.iter().flat_map(|set| heights(set)).collect();
    let y = Axis::upright(&all, Some(Unit::AttemptsPerCall), scale(request, &sets), 5);
    let mut words = Words { title: request.title(), ..Words::default() };
    words.subtitle = request.subtitle(&selection, "attempts per call at each service", "band");
    if y.is_log {
        words.subtitle.push_str("; log scale");
    }
    let most = sets.iter().map(Vec::len).max().unwrap_or(0);
    if most > LOOKS {
        words.notes.push(format!("{} of {most} lines are grey and not named: choose some with `where`.", most - LOOKS));
    }
    if facet.is_some() {
        let longest = sets.iter().max_by_key(|set| set.len());
        words.legend =
            longest.into_iter().flatten().filter(|line| !line.name.is_empty()).map(|line| (line.name.clone(), line.look)).collect();
    }
    let columns = frame::columns(panels.len()).min(if services.len() > 4 { 2 } else { 4 });
    let rows = panels.len().div_ceil(columns);
    let mut frame = Frame::new(words, (rows > 1).then_some(rows as f64 * 300.0), request.theme);
    let areas = frame::grid(frame.body, panels.len(), columns, (24.0, 24.0));
    let ends: Vec<Vec<Line>> = sets.iter().map(|set| named_with_value(set, facet.is_some())).collect();
    // All panels keep the same room beside them, or their axes would differ.
    let names = ends.iter().map(|ends| panel::name_room(ends, 390.0)).fold(0.0, f64::max);
    for (((group, set), ends), area) in panels.iter().zip(&sets).zip(&ends).zip(areas) {
        let x = Axis::places(services.iter().map(|(name, _)| name.clone()).collect(), 0.2);
        let panel = Panel { area: area.inside(panel::side_room(&y), 44.0, names, 58.0), x, y: y.clone() };
        panel.draw_axes(&mut frame.canvas, true, true);
        panel.draw_header(&mut frame.canvas, &group.name);
        let side = if facet.is_some() { "" } else { "attempts per call" };
        panel.draw_titles(&mut frame.canvas, "service, from the clients down", side);
        panel.draw_lines(&mut frame.canvas, set);
        panel.draw_names(&mut frame.canvas, ends, names);
    }
    Ok(vec![("layers".to_string(), frame.finish())])
}

/// Each layer multiplies: where that shows, a logarithmic axis makes it a straight line, and leaves room for what is near 1.
fn scale(request: &Request, sets: &[Vec<Line>]) -> Scale {
    let means: Vec<f64> = sets.iter().flatten().flat_map(|line| &line.points).filter_map(|point| point.1.mean).collect();
    let (low, high) = scale::span(&means);
    match request.chart.scale.1 {
        Scale::Auto if low >= 1.0 && high > 5.0 => Scale::Log,
        scale => scale,
    }
}

/// The services with their columns, in the order of the summary.
fn services(request: &Request) -> Vec<(String, usize)> {
    let metrics = request.results.metrics.iter().enumerate();
    metrics.filter_map(|(column, metric)| Some((metric.strip_suffix(SUFFIX)?.to_string(), column))).collect()
}

/// The axis whose values get a panel each: the one with the most values, where more than eight lines would crowd one panel.
fn facet(selection: &Selection) -> Option<usize> {
    if selection.cells.len() <= 8 || selection.varying.len() < 2 {
        return None;
    }
    let most = selection.varying.iter().copied().filter(|axis| selection.values(*axis).len() <= 12);
    most.max_by_key(|axis| (selection.values(*axis).len(), usize::MAX - axis))
}

fn lines(request: &Request, selection: &Selection, cells: &[&Cell], but: &[usize], services: &[(String, usize)]) -> Vec<Line> {
    let line = |(index, cell): (usize, &&Cell)| {
        let points: Vec<(f64, Measured)> =
            services.iter().enumerate().map(|(place, (_, column))| (place as f64, cell.measured[*column])).collect();
        let name = if index < LOOKS { selection.name(cell, but) } else { String::new() };
        Line { name, look: request.theme.look(index), points, is_joined: true }
    };
    cells.iter().enumerate().map(line).collect()
}

/// The lines with the last value in their name: alone where a legend has the name.
fn named_with_value(lines: &[Line], has_legend: bool) -> Vec<Line> {
    let named = lines.iter().filter(|line| line.look.marker.is_some());
    named
        .map(|line| {
            let last = line
                .points
                .last()
                .and_then(|point| point.1.mean)
                .map_or("–".to_string(), |mean| number::value(mean, Some(Unit::AttemptsPerCall)));
            let name = if has_legend { last } else { format!("{last}: {}", line.name).trim_end_matches(": ").to_string() };
            Line { name, look: line.look, points: line.points.clone(), is_joined: true }
        })
        .collect()
}
