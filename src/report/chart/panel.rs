//! One panel: its two axes with grid, ticks and titles, and the lines with their bands, markers and names.

use super::canvas::{Anchor, Area, Canvas, Stroke, Text};
use super::scale::Axis;
use super::theme::{Look, Marker};
use super::{font, label};
use crate::report::data::Measured;

/// The size of the labels of ticks, in pixels.
pub const TICK: f64 = 14.5;
/// The size of the names at the ends of lines.
pub const NAME: f64 = 15.5;
/// The size of a panel's header.
pub const HEADER: f64 = 16.0;

/// From one line of a header to the next.
pub const HEADER_LINE: f64 = 20.0;

/// Where the axes are.
pub struct Panel {
    /// The rectangle between the axes.
    pub area: Area,
    /// Along the bottom.
    pub x: Axis,
    /// Up the side.
    pub y: Axis,
}

/// A line with its interval.
pub struct Line {
    /// What it is.
    pub name: String,
    /// How it is told from the others.
    pub look: Look,
    /// (x, value), from left to right.
    pub points: Vec<(f64, Measured)>,
    /// Whether there is anything between its points: not where the axis has names.
    pub is_joined: bool,
}

impl Panel {
    /// The pixel of a point.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.area.left + self.x.position(x) * self.area.width, self.area.bottom() - self.y.position(y) * self.area.height)
    }

    /// The grid, and the labels of its ticks along the bottom and up the side where wanted.
    pub fn draw_axes(&self, canvas: &mut Canvas, with_bottom: bool, with_side: bool) {
        let theme = canvas.theme;
        for (value, words) in &self.y.ticks {
            let y = self.at(self.x.low, *value).1;
            let colour = if *value == 0.0 { theme.quiet() } else { theme.grid() };
            canvas.line((self.area.left, y), (self.area.right(), y), Stroke { colour, width: 1.0, dash: "" });
            if with_side {
                canvas.text((self.area.left - 10.0, y + 5.0), words, muted(theme.muted(), Anchor::End));
            }
        }
        let room = self.area.width / (self.x.high - self.x.low).max(1e-300);
        let (shown, every) = fitting(&self.x, room);
        for (value, words) in self.x.ticks.iter().zip(shown).step_by(every).map(|((value, _), words)| (*value, words)) {
            let (x, bottom) = (self.at(value, self.y.low).0, self.area.bottom());
            canvas.line((x, bottom), (x, bottom + 5.0), Stroke { colour: theme.quiet(), width: 1.0, dash: "" });
            if with_bottom {
                // The last label stays inside, or it would run into the first of the next panel.
                let x = x.min(self.area.right() + 20.0 - font::width(&words, TICK, false) / 2.0);
                canvas.text((x, bottom + 21.0), &words, muted(theme.muted(), Anchor::Middle));
            }
        }
    }

    /// The titles of the axes: one above the side, one below the bottom.
    pub fn draw_titles(&self, canvas: &mut Canvas, bottom: &str, side: &str) {
        let colour = canvas.theme.muted();
        let middle = (self.area.left + self.area.width / 2.0, self.area.bottom() + 45.0);
        canvas.text(middle, bottom, Text { size: 15.5, ..muted(colour, Anchor::Middle) });
        let corner = (self.area.left - side_room(&self.y), self.area.top - 14.0);
        canvas.text(corner, side, Text { size: 15.5, ..muted(colour, Anchor::Start) });
    }

    /// What the panel shows, bold above it, in as many lines as it takes.
    pub fn draw_header(&self, canvas: &mut Canvas, words: &str) {
        let text = Text { size: HEADER, bold: true, colour: canvas.theme.ink(), anchor: Anchor::Start };
        for (index, line) in font::wrap(words, HEADER, true, self.area.width).iter().rev().enumerate() {
            canvas.text((self.area.left, self.area.top - 12.0 - index as f64 * HEADER_LINE), line, text);
        }
    }

    /// The lines, with their bands behind them all.
    pub fn draw_lines(&self, canvas: &mut Canvas, lines: &[Line]) {
        canvas.begin_clip(self.area.inside(-6.0, -6.0, -6.0, -6.0));
        let joined: Vec<&Line> = lines.iter().filter(|line| line.is_joined).collect();
        // Many bands on top of each other would hide the lines.
        let opacity = (0.45 / joined.len() as f64).clamp(0.05, 0.15);
        for line in joined {
            for run in self.runs(line) {
                self.draw_band(canvas, line.look.colour, opacity, run);
            }
        }
        // The lines that are not named lie under those that are; a dashed line over a solid one leaves both to be seen.
        let (named, grey): (Vec<&Line>, Vec<&Line>) = lines.iter().partition(|line| line.look.width >= 2.0);
        for line in grey.into_iter().chain(named) {
            let stroke = Stroke { colour: line.look.colour, width: line.look.width, dash: line.look.dash };
            if !line.is_joined {
                self.draw_points(canvas, line);
                continue;
            }
            for run in self.runs(line) {
                let pixels: Vec<_> = run.iter().filter_map(|(x, value)| value.mean.map(|mean| self.at(*x, mean))).collect();
                canvas.path(&pixels, stroke);
                let marks = pixels.len() == 1 || line.points.len() <= 30;
                if let (Some(marker), true) = (line.look.marker, marks) {
                    pixels.iter().for_each(|pixel| canvas.marker(*pixel, marker, 4.6, line.look.colour));
                }
            }
        }
        canvas.end_clip();
    }

    /// The names of the lines at their right ends, moved apart where they would overlap, in the `room` beside the panel.
    pub fn draw_names(&self, canvas: &mut Canvas, lines: &[Line], room: f64) {
        let named: Vec<(&Line, (f64, f64))> =
            lines.iter().filter(|line| !line.name.is_empty()).filter_map(|line| Some((line, self.end(line)?))).collect();
        let wanted: Vec<f64> = named.iter().map(|(_, end)| end.1).collect();
        let places = label::spread(&wanted, NAME + 3.5, self.area.top, self.area.bottom());
        for ((line, end), place) in named.iter().zip(places) {
            let left = self.area.right() + 26.0;
            let leader = Stroke { colour: line.look.colour, width: 1.0, dash: "1.5 2.5" };
            canvas.path(&[(end.0 + 7.0, end.1), (self.area.right() + 8.0, end.1), (left - 4.0, place)], leader);
            let name = font::shorten(&line.name, NAME, true, room - 28.0);
            canvas.text((left, place + 5.3), &name, Text { size: NAME, bold: true, colour: line.look.text, anchor: Anchor::Start });
        }
    }

    fn end(&self, line: &Line) -> Option<(f64, f64)> {
        self.runs(line).last().and_then(|run| run.last()).and_then(|(x, value)| Some(self.at(*x, value.mean?)))
    }

    /// The pieces of `line` between points that are not defined here.
    fn runs<'a>(&self, line: &'a Line) -> Vec<&'a [(f64, Measured)]> {
        let drawable = |point: &(f64, Measured)| point.1.mean.is_some_and(|mean| self.y.accepts(mean)) && self.x.accepts(point.0);
        line.points.split(|point| !drawable(point)).filter(|run| !run.is_empty()).collect()
    }

    /// The points of a line that is none, each with its interval.
    fn draw_points(&self, canvas: &mut Canvas, line: &Line) {
        let stroke = Stroke { colour: line.look.colour, width: 2.0, dash: "" };
        for (x, value) in self.runs(line).concat() {
            if let (Some(low), Some(high)) = (value.low, value.high) {
                canvas.line(self.at(x, low), self.at(x, high), stroke);
            }
            if let Some(mean) = value.mean {
                canvas.marker(self.at(x, mean), line.look.marker.unwrap_or(Marker::Circle), 6.0, line.look.colour);
            }
        }
    }

    fn draw_band(&self, canvas: &mut Canvas, colour: &str, opacity: f64, run: &[(f64, Measured)]) {
        let with_interval = |point: &&(f64, Measured)| point.1.low.is_some() && point.1.high.is_some();
        let edge = |end: fn(&Measured) -> Option<f64>| {
            run.iter().filter(with_interval).filter_map(move |(x, value)| Some(self.at(*x, end(value)?)))
        };
        let outline: Vec<_> = edge(|value| value.high).chain(edge(|value| value.low).rev()).collect();
        canvas.polygon(&outline, colour, opacity);
    }
}

/// How wide the labels up the side are.
pub fn side_room(axis: &Axis) -> f64 {
    axis.ticks.iter().map(|(_, words)| font::width(words, TICK, false)).fold(0.0, f64::max) + 12.0
}

/// How wide the names of `lines` are with their leaders, `most` pixels at most.
pub fn name_room(lines: &[Line], most: f64) -> f64 {
    let widest = lines.iter().map(|line| font::width(&line.name, NAME, true)).fold(0.0, f64::max);
    if widest > 0.0 { (widest + 30.0).min(most) } else { 16.0 }
}

/// The labels along the bottom, shortened where there is little room, and how many to step where there is too little.
fn fitting(axis: &Axis, pixels: f64) -> (Vec<String>, usize) {
    let places: Vec<f64> = axis.ticks.iter().map(|(value, _)| axis.position(*value) * pixels * (axis.high - axis.low)).collect();
    let apart = places.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min) - 10.0;
    let are_words = axis.ticks.iter().any(|(_, words)| words.chars().next().is_some_and(char::is_alphabetic));
    let labels: Vec<String> = axis
        .ticks
        .iter()
        .map(|(_, words)| if are_words { font::shorten(words, TICK, false, apart.max(56.0)) } else { words.clone() })
        .collect();
    let widest = labels.iter().map(|words| font::width(words, TICK, false)).fold(0.0, f64::max);
    let every =
        (1..=axis.ticks.len().max(1)).find(|every| widest <= (apart + 10.0) * *every as f64 - 10.0).unwrap_or(axis.ticks.len().max(1));
    (labels, every)
}

fn muted(colour: &str, anchor: Anchor) -> Text<'_> {
    Text { size: TICK, bold: false, colour, anchor }
}
