//! Schedules: the mean wait before each retry, and the band from the least to the greatest.

use super::Theme;
use super::frame::{Frame, Words};
use super::lines::heights;
use super::panel::{self, Line, Panel};
use super::scale::Axis;
use super::theme::LOOKS;
use super::unit::Unit;
use crate::report::data::Measured;
use crate::study::chart::Scale;
use crate::study::schedule::Schedule;

/// A line a policy, as SVG.
///
/// # Errors
/// Where no policy has a retry.
pub fn schedules(title: &str, all: &[(&str, &Schedule)], theme: Theme) -> Result<String, String> {
    let lines: Vec<Line> = all
        .iter()
        .enumerate()
        .map(|(index, (name, schedule))| line(index, if all.len() > 1 { name } else { "" }, schedule, theme))
        .collect();
    if lines.iter().all(|line| line.points.is_empty()) {
        return Err("there is no retry to draw".into());
    }
    let alone = if let [(name, _)] = all { Some((*name).to_owned()) } else { None };
    let retries: Vec<f64> = lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
    let mut x = Axis::along(&retries, None, Scale::Linear, 10);
    // A retry is a whole number.
    x.ticks.retain(|(value, _)| libm::floor(*value) == *value);
    let y = Axis::upright(&heights(&lines), Some(Unit::Seconds), Scale::Auto, 5);
    let mut words = Words { title: title.to_owned(), ..Words::default() };
    words.notes.extend(alone);
    words.subtitle = "mean wait before each retry, seconds; band = from the least to the greatest".to_owned();
    if y.is_log {
        words.subtitle.push_str("; log scale, without zeros");
    }
    if lines.len() > LOOKS {
        words.notes.push(format!("{} of {} lines are grey and not named: choose one with --name.", lines.len() - LOOKS, lines.len()));
    }
    let none: Vec<&str> = all.iter().filter(|(_, schedule)| schedule.rows.is_empty()).map(|(name, _)| *name).collect();
    if !none.is_empty() {
        words.notes.push(format!("No retry, and so not drawn: {}.", none.join("; ")));
    }
    let mut frame = Frame::new(words, None, theme);
    let names = panel::name_room(&lines, 330.0);
    let panel = Panel { area: frame.body.inside(panel::side_room(&y), 40.0, names, 58.0), x, y };
    panel.draw_axes(&mut frame.canvas, true, true);
    panel.draw_titles(&mut frame.canvas, "retry", "wait, seconds");
    panel.draw_lines(&mut frame.canvas, &lines);
    panel.draw_names(&mut frame.canvas, &lines, names);
    Ok(frame.finish())
}

fn line(index: usize, name: &str, schedule: &Schedule, theme: Theme) -> Line {
    let point = |row: &crate::study::schedule::Row| {
        let (low, high) = (row.wait.least.seconds(), row.wait.greatest.seconds());
        (f64::from(row.retry), Measured { mean: Some(row.wait.mean), low: Some(low), high: Some(high) })
    };
    let name = if index < LOOKS { name.to_owned() } else { String::new() };
    Line { name, look: theme.look(index), points: schedule.rows.iter().map(point).collect(), is_joined: true }
}
