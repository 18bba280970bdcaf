//! The kind `latency`: latency against percentile on an axis that stretches the tail, a line a cell.

use super::Request;
use super::frame::{Frame, Words};
use super::lines::heights;
use super::panel::{self, Line, Panel};
use super::scale::Axis;
use super::selection::Selection;
use super::theme::LOOKS;
use super::unit::Unit;
use crate::report::data::Measured;

/// The picture.
///
/// # Errors
/// No latencies, or a filter that fits no cell.
pub fn draw(request: &Request) -> Result<Vec<(String, String)>, String> {
    let selection = Selection::new(request.results, &request.chart.filter)?;
    let lines: Vec<Line> = selection.cells.iter().enumerate().map(|(index, cell)| line(request, &selection, index, cell.number)).collect();
    if lines.iter().all(|line| line.points.is_empty()) {
        return Err("there are no latencies to draw: latency.csv is missing or empty, or no call succeeded".to_string());
    }
    let percentiles: Vec<f64> = lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
    let (lowest, highest) = super::scale::span(&percentiles);
    let shown =
        [0.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999].iter().map(|percentile| (tail(*percentile), format!("p{percentile}")));
    let ticks: Vec<(f64, String)> = shown.filter(|(place, _)| (lowest - 1e-9..=highest + 1e-9).contains(place)).collect();
    let x = Axis { low: lowest, high: if highest > lowest { highest } else { lowest + 1.0 }, is_log: false, ticks };
    let y = Axis::upright(&heights(&lines), Some(Unit::Seconds), request.chart.scale.1, 5);
    let log = if y.is_log { "; log scale" } else { "" };
    let condition = if selection.condition.is_empty() { String::new() } else { format!("; where {}", selection.condition) };
    let mut words = Words { title: request.title(), ..Words::default() };
    words.subtitle = format!("latency of the calls that succeeded, seconds; all replications merged{log}{condition}");
    if lines.len() > LOOKS {
        words.notes.push(format!("{} of {} lines are grey and not named: choose some with `where`.", lines.len() - LOOKS, lines.len()));
    }
    let empty: Vec<String> =
        selection.cells.iter().zip(&lines).filter(|(_, line)| line.points.is_empty()).map(|(cell, _)| selection.name(cell, &[])).collect();
    if !empty.is_empty() {
        words.notes.push(format!("No call succeeded, so nothing is drawn: {}.", empty.join("; ")));
    }
    let mut frame = Frame::new(words, None, request.theme);
    let names = panel::name_room(&lines, 330.0);
    let panel = Panel { area: frame.body.inside(panel::side_room(&y), 40.0, names, 58.0), x, y };
    panel.draw_axes(&mut frame.canvas, true, true);
    panel.draw_titles(&mut frame.canvas, "percentile of calls; from p90 to p99 is as far as from p99 to p99.9", "latency, seconds");
    panel.draw_lines(&mut frame.canvas, &lines);
    panel.draw_names(&mut frame.canvas, &lines, names);
    Ok(vec![("latency".to_string(), frame.finish())])
}

/// The latencies of a cell; the slowest call of all (percentile 100) would be infinitely far to the right.
fn line(request: &Request, selection: &Selection, index: usize, cell: usize) -> Line {
    let rows = request.results.latency.iter().filter(|row| row.0 == cell && (0.0..100.0).contains(&row.1));
    let mut points: Vec<(f64, Measured)> = rows.map(|row| (tail(row.1), Measured { mean: Some(row.2), low: None, high: None })).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let name = if index < LOOKS { selection.name(selection.cells[index], &[]) } else { String::new() };
    Line { name, look: request.theme.look(index), points, is_joined: true }
}

/// Where a percentile lies: 90, 99 and 99.9 are equally far apart.
fn tail(percentile: f64) -> f64 {
    -libm::log10(1.0 - percentile / 100.0)
}
