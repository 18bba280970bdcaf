//! The frame around every picture: the title, what is measured, the legend above and the notes below.

use super::canvas::{Anchor, Area, Canvas, Stroke, Text};
use super::font;
use super::theme::{Look, Theme};

/// The width of every picture, in pixels.
pub const WIDTH: f64 = 1200.0;
/// The height of a picture with one panel.
pub const HEIGHT: f64 = 675.0;
const MARGIN: f64 = 40.0;
const ROOM: f64 = WIDTH - 2.0 * MARGIN;
const TITLE: f64 = 27.0;
const SUBTITLE: f64 = 16.5;
const LEGEND: f64 = 16.0;
const NOTE: f64 = 14.0;
/// The room for a line or a shade before its name.
const KEY: f64 = 44.0;

/// What is written around a picture.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// The question, bold.
    pub title: String,
    /// What is measured and in which unit, over how many replications.
    pub subtitle: String,
    /// Lines that are not named at their end.
    pub legend: Vec<(String, Look)>,
    /// Spans and levels that are the same in all panels.
    pub marks: Vec<(String, Sign)>,
    /// What a reader must know besides: what is left out, for one.
    pub notes: Vec<String>,
}

/// What a mark looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sign {
    /// A shaded span: its colour and its opacity.
    Span(&'static str, f64),
    /// A dotted level of this colour.
    Level(&'static str),
}

/// A framed picture with room for its panels.
pub struct Frame {
    /// What is drawn on.
    pub canvas: Canvas,
    /// Where the panels go.
    pub body: Area,
    words: Words,
}

impl Frame {
    /// A picture with `words` around a body of `height`; None makes the picture [`HEIGHT`] high in all.
    pub fn new(words: Words, height: Option<f64>, theme: Theme) -> Frame {
        let titles = font::wrap(&words.title, TITLE, true, ROOM);
        let subtitles = font::wrap(&words.subtitle, SUBTITLE, false, ROOM);
        let keys: Vec<&str> = words.legend.iter().map(|key| key.0.as_str()).chain(words.marks.iter().map(|key| key.0.as_str())).collect();
        let legend = legend_rows(&keys);
        let notes: Vec<String> = words.notes.iter().flat_map(|note| font::wrap(note, NOTE, false, ROOM)).collect();
        let legend_height = legend.len() as f64 * 28.0;
        let top = 24.0 + titles.len() as f64 * 35.0 + subtitles.len() as f64 * 23.0 + legend_height + 12.0;
        let below = notes.len() as f64 * 20.0 + if notes.is_empty() { 20.0 } else { 26.0 };
        let height = height.unwrap_or((HEIGHT - top - below).max(240.0));
        let mut canvas = Canvas::new(WIDTH, top + height + below, theme);
        let mut y = 20.0;
        let text = |size, bold, colour| Text { size, bold, colour, anchor: Anchor::Start };
        for line in &titles {
            y += 35.0;
            canvas.text((MARGIN, y - 3.0), line, text(TITLE, true, theme.ink()));
        }
        for line in &subtitles {
            y += 23.0;
            canvas.text((MARGIN, y), line, text(SUBTITLE, false, theme.muted()));
        }
        for row in &legend {
            y += 28.0;
            for (left, entry) in row {
                draw_key(&mut canvas, (MARGIN + left, y), &words, *entry);
            }
        }
        for (index, note) in notes.iter().enumerate() {
            canvas.text((MARGIN, top + height + 22.0 + index as f64 * 20.0), note, text(NOTE, false, theme.muted()));
        }
        Frame { canvas, body: Area { left: MARGIN, top, width: ROOM, height }, words }
    }

    /// The picture as SVG.
    pub fn finish(self) -> String {
        self.canvas.finish(&self.words.title, &self.words.subtitle)
    }
}

/// Which legend entry is how far from the left, in rows.
fn legend_rows(names: &[&str]) -> Vec<Vec<(f64, usize)>> {
    let mut rows: Vec<Vec<(f64, usize)>> = Vec::new();
    let mut left = f64::INFINITY;
    for (index, name) in names.iter().enumerate() {
        let width = KEY + font::width(name, LEGEND, true).min(ROOM - KEY) + 26.0;
        if left + width - 26.0 > ROOM {
            rows.push(Vec::new());
            left = 0.0;
        }
        if let Some(row) = rows.last_mut() {
            row.push((left, index));
        }
        left += width;
    }
    rows
}

/// The key number `entry`: a line, or after the lines a mark.
fn draw_key(canvas: &mut Canvas, (left, baseline): (f64, f64), words: &Words, entry: usize) {
    let (middle, right, muted) = (baseline - 5.5, left + KEY - 8.0, canvas.theme.muted());
    let (name, bold, colour) = match words.legend.get(entry) {
        Some((name, look)) => {
            canvas.line((left, middle), (right, middle), Stroke { colour: look.colour, width: look.width.max(2.0), dash: look.dash });
            if let Some(marker) = look.marker {
                canvas.marker(((left + right) / 2.0, middle), marker, 4.5, look.colour);
            }
            (name, true, look.text)
        }
        None => {
            let (name, sign) = &words.marks[entry - words.legend.len()];
            match sign {
                Sign::Span(fill, opacity) => {
                    canvas.rectangle(Area { left, top: middle - 8.0, width: KEY - 8.0, height: 16.0 }, fill, *opacity)
                }
                Sign::Level(colour) => canvas.line((left, middle), (right, middle), Stroke { colour, width: 1.5, dash: "2 4" }),
            }
            (name, false, muted)
        }
    };
    let name = font::shorten(name, LEGEND, bold, ROOM - KEY);
    canvas.text((left + KEY, baseline), &name, Text { size: LEGEND, bold, colour, anchor: Anchor::Start });
}

/// `count` panels side by side and below each other in `area`, with gaps between them.
pub fn grid(area: Area, count: usize, columns: usize, gap: (f64, f64)) -> Vec<Area> {
    let rows = count.div_ceil(columns.max(1)).max(1);
    let width = (area.width - gap.0 * (columns as f64 - 1.0)) / columns as f64;
    let height = (area.height - gap.1 * (rows as f64 - 1.0)) / rows as f64;
    (0..count)
        .map(|index| {
            let (row, column) = (index / columns, index % columns);
            Area { left: area.left + column as f64 * (width + gap.0), top: area.top + row as f64 * (height + gap.1), width, height }
        })
        .collect()
}

/// How many columns make `count` panels look even.
pub fn columns(count: usize) -> usize {
    match count {
        0 | 1 => 1,
        2 | 4 => 2,
        3 | 5 | 6 | 9 => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_legend_wraps_and_loses_nothing() {
        let names: Vec<String> = (0..30).map(|index| format!("decorrelated_jitter {index}")).collect();
        let rows = legend_rows(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(rows.len() > 2);
        assert_eq!(rows.iter().flatten().map(|(_, entry)| *entry).collect::<Vec<_>>(), (0..30).collect::<Vec<_>>());
    }

    #[test]
    fn panels_fill_their_area() {
        let area = Area { left: 10.0, top: 10.0, width: 100.0, height: 50.0 };
        let panels = grid(area, 5, 3, (10.0, 10.0));
        assert_eq!((panels.len(), panels[2].right().round(), panels[4].bottom().round()), (5, 110.0, 60.0));
    }
}
