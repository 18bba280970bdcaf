//! The kind `heatmap`: a metric over two axes as colour, and the number in each cell.

use super::canvas::{Anchor, Area, Text};
use super::frame::{self, Frame, Words};
use super::panel::{HEADER, TICK};
use super::selection::{self, Selection};
use super::unit::{self, Unit};
use super::{Request, font, number, scale, theme};
use crate::report::data::Cell;

/// How many panels a picture has at most.
const MOST: usize = 6;

/// What the colours mean.
struct Colours {
    low: f64,
    high: f64,
    is_log: bool,
}

/// How the numbers in the cells are written: all in one size, with their units where there is room.
struct Numbers {
    size: Option<f64>,
    with_unit: bool,
}

/// One panel and what it needs to know.
struct Map<'a> {
    selection: &'a Selection<'a>,
    x: usize,
    y: usize,
    metric: &'a str,
    column: usize,
    unit: Option<Unit>,
    colours: Colours,
}

/// The picture; where there are more than two axes, a panel a combination of the others.
///
/// # Errors
/// Fewer than two axes, or a metric, axis or value that is not in the results.
pub fn draw(request: &Request) -> Result<Vec<(String, String)>, String> {
    let selection = Selection::new(request.results, &request.chart.filter)?;
    let x = selection.axis(request.chart.x.as_deref())?;
    let y = match request.chart.y.first() {
        Some(path) => selection.axis(Some(path))?,
        None => selection.varying.iter().copied().find(|axis| Some(*axis) != x),
    };
    let (Some(x), Some(y)) = (x, y) else {
        return Err("a heatmap needs two axes with more than one value each".to_string());
    };
    let metric = request.chart.value.clone().unwrap_or_else(|| "success_rate".to_string());
    let (column, unit) = (selection.metric(&metric)?, unit::unit_of(&metric));
    let values: Vec<f64> = selection.cells.iter().filter_map(|cell| cell.measured[column].mean).collect();
    let is_log = scale::wants_log(&values, request.chart.scale.1);
    let shown: Vec<f64> = values.into_iter().filter(|value| !is_log || *value > 0.0).collect();
    let (low, high) = scale::span(&shown);
    let map = Map { selection: &selection, x, y, metric: &metric, column, unit, colours: Colours { low, high, is_log } };
    let groups = selection.groups(&[x, y]);
    let panels = groups.len().min(MOST);
    let mut words = Words { title: request.title(), ..Words::default() };
    words.subtitle = request.subtitle(&selection, &unit::titled(&metric, unit), "");
    if is_log {
        words.subtitle.push_str("; log scale");
    }
    if groups.len() > panels {
        words.notes.push(format!("{} of {} panels are not shown: choose some with `where`.", groups.len() - panels, groups.len()));
    }
    words.notes.extend(selection.caveat(std::slice::from_ref(&metric)));
    let columns = if panels == 4 { 2 } else { panels.min(3) };
    let rows = panels.div_ceil(columns);
    let lines = selection.values(y).len();
    let height = (rows > 1 || lines > 12).then_some(rows as f64 * (lines as f64 * 34.0 + 120.0).clamp(300.0, 1100.0));
    let mut frame = Frame::new(words, height, request.theme);
    draw_key(&mut frame, &map);
    let areas = frame::grid(frame.body.inside(0.0, 0.0, 92.0, 0.0), panels, columns, (34.0, 26.0));
    for (group, area) in groups.iter().zip(areas) {
        draw_map(&mut frame, &map, &group.cells, &group.name, area);
    }
    Ok(vec![(format!("heatmap-{metric}"), frame.finish())])
}

fn draw_map(frame: &mut Frame, map: &Map, cells: &[&Cell], name: &str, area: Area) {
    let theme = frame.canvas.theme;
    let canvas = &mut frame.canvas;
    let axes = &map.selection.results.axes;
    let (across, mut up) = (map.selection.values(map.x), map.selection.values(map.y));
    if !map.selection.is_numeric(map.y) {
        // Numbers grow upwards, but words are read from the top.
        up.reverse();
    }
    let text = |size, anchor| Text { size, bold: false, colour: theme.muted(), anchor };
    let names: Vec<String> =
        up.iter().map(|value| font::shorten(&selection::value_text(&axes[map.y], value), TICK, false, 200.0)).collect();
    let side = names.iter().map(|name| font::width(name, TICK, false)).fold(0.0, f64::max) + 14.0;
    let top = if name.is_empty() { 34.0 } else { 66.0 };
    let inner = area.inside(side, top, 0.0, 58.0);
    let (width, height) = (inner.width / across.len() as f64, inner.height / up.len() as f64);
    canvas.text(
        (area.left, area.top + 22.0),
        &font::shorten(name, HEADER, true, area.width),
        Text { bold: true, colour: theme.ink(), ..text(HEADER, Anchor::Start) },
    );
    canvas.text(
        (area.left, inner.top - 12.0),
        &selection::axis_title(&axes[map.y], map.selection.is_numeric(map.y)),
        text(15.5, Anchor::Start),
    );
    let title = selection::axis_title(&axes[map.x], map.selection.is_numeric(map.x));
    canvas.text((inner.left + inner.width / 2.0, inner.bottom() + 45.0), &title, text(15.5, Anchor::Middle));
    for (row, name) in names.iter().enumerate() {
        canvas.text((inner.left - 10.0, inner.bottom() - (row as f64 + 0.5) * height + 5.0), name, text(TICK, Anchor::End));
    }
    let labels: Vec<String> = across.iter().map(|value| selection::value_text(&axes[map.x], value)).collect();
    let widest = labels.iter().map(|label| font::width(label, TICK, false)).fold(0.0, f64::max).min(90.0) + 8.0;
    for (index, label) in labels.iter().enumerate().step_by((widest / width).ceil().max(1.0) as usize) {
        canvas.text(
            (inner.left + (index as f64 + 0.5) * width, inner.bottom() + 21.0),
            &font::shorten(label, TICK, false, 90.0_f64.max(width - 8.0)),
            text(TICK, Anchor::Middle),
        );
    }
    let numbers = map.numbers(width - 8.0, height - 2.0);
    for cell in cells {
        let place = |values: &[&str], axis: usize| values.iter().position(|value| *value == cell.values[axis]).unwrap_or(0) as f64;
        let (left, bottom) = (inner.left + place(&across, map.x) * width, inner.bottom() - place(&up, map.y) * height);
        draw_cell(
            frame,
            map,
            cell,
            &numbers,
            Area { left: left + 1.0, top: bottom - height + 1.0, width: width - 2.0, height: height - 2.0 },
        );
    }
}

fn draw_cell(frame: &mut Frame, map: &Map, cell: &Cell, numbers: &Numbers, area: Area) {
    let theme = frame.canvas.theme;
    let words = map.words(cell, numbers.with_unit);
    let (fill, ink) = match cell.measured[map.column].mean {
        Some(mean) if !map.colours.is_log || mean > 0.0 => {
            let colour = theme::viridis(map.colours.share(mean));
            (hexadecimal(colour), theme::readable_on(colour))
        }
        Some(_) => (theme.grid().to_string(), theme.ink()),
        None => (theme.grid().to_string(), theme.muted()),
    };
    frame.canvas.rectangle(area, &fill, 1.0);
    // A number that fits in no size is left to the colour.
    if let Some(size) = numbers.size {
        let middle = (area.left + area.width / 2.0, area.top + area.height / 2.0 + size * 0.36);
        frame.canvas.text(middle, &words, Text { size, bold: true, colour: ink, anchor: Anchor::Middle });
    }
}

/// The bar of colours at the right, with its ends.
fn draw_key(frame: &mut Frame, map: &Map) {
    let (body, theme) = (frame.body, frame.canvas.theme);
    if map.colours.high <= map.colours.low {
        return;
    }
    let bar = Area { left: body.right() - 62.0, top: body.top + 34.0, width: 14.0, height: (body.height - 92.0).min(420.0) };
    let steps = 96;
    for step in 0..steps {
        let (share, height) = ((f64::from(step) + 0.5) / f64::from(steps), bar.height / f64::from(steps));
        let top = bar.bottom() - (f64::from(step) + 1.0) * height;
        frame.canvas.rectangle(Area { top, height: height + 0.4, ..bar }, &hexadecimal(theme::viridis(share)), 1.0);
    }
    let text = Text { size: 13.5, bold: false, colour: theme.muted(), anchor: Anchor::Start };
    for (value, y) in [(map.colours.low, bar.bottom()), (map.colours.high, bar.top + 9.0)] {
        frame.canvas.text((bar.right() + 6.0, y), &number::value(value, map.unit), text);
    }
}

impl Map<'_> {
    /// What is written in `cell`.
    fn words(&self, cell: &Cell, with_unit: bool) -> String {
        match (cell.measured[self.column].mean, self.unit) {
            (Some(mean), Some(Unit::Share)) if !with_unit => number::value(mean * 100.0, None),
            (_, unit) => self.selection.value(self.metric, cell, unit.filter(|_| with_unit)),
        }
    }

    /// The largest size in which the numbers of all cells fit.
    fn numbers(&self, width: f64, height: f64) -> Numbers {
        let ways = [17.0, 15.0, 13.0].map(|size| (size, true)).into_iter().chain([15.0, 13.0, 11.5].map(|size| (size, false)));
        let fits = |size: f64, with_unit: bool| {
            size <= height && self.selection.cells.iter().all(|cell| font::width(&self.words(cell, with_unit), size, true) <= width)
        };
        let way = ways.into_iter().find(|(size, with_unit)| fits(*size, *with_unit));
        Numbers { size: way.map(|way| way.0), with_unit: way.is_none_or(|way| way.1) }
    }
}

impl Colours {
    /// Where `value` lies between the lowest and the highest; where all are equal, in the middle.
    fn share(&self, value: f64) -> f64 {
        if self.high <= self.low {
            0.5
        } else if self.is_log {
            libm::log10(value / self.low) / libm::log10(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

fn hexadecimal((red, green, blue): (u8, u8, u8)) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}
