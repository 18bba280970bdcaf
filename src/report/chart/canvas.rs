//! A canvas that writes SVG: shapes and text at pixels, the same bytes for the same calls.

use std::fmt::Write;

use super::theme::{Marker, Theme};

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    /// The left edge.
    pub left: f64,
    /// The upper edge.
    pub top: f64,
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
}

impl Area {
    /// The right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// The lower edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// What is left when so much is taken from each side.
    pub fn inside(&self, left: f64, top: f64, right: f64, bottom: f64) -> Area {
        let (width, height) = ((self.width - left - right).max(1.0), (self.height - top - bottom).max(1.0));
        Area { left: self.left + left, top: self.top + top, width, height }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Stroke<'a> {
    /// As SVG writes it.
    pub colour: &'a str,
    /// In pixels.
    pub width: f64,
    /// The lengths of dashes and gaps; empty is a solid line.
    pub dash: &'a str,
}

/// Which point of a text lies where it is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// In pixels.
    pub size: f64,
    /// Bold or regular.
    pub bold: bool,
    /// As SVG writes it.
    pub colour: &'a str,
    /// Which point of it is given.
    pub anchor: Anchor,
}

/// A picture in the making.
pub struct Canvas {
    /// Its colours.
    pub theme: Theme,
    width: f64,
    height: f64,
    body: String,
    clips: usize,
}

impl Canvas {
    /// An empty picture of this size.
    pub fn new(width: f64, height: f64, theme: Theme) -> Canvas {
        let mut canvas = Canvas { theme, width, height, body: String::new(), clips: 0 };
        canvas.rectangle(Area { left: 0.0, top: 0.0, width, height }, theme.paper(), 1.0);
        canvas
    }

    /// A filled rectangle.
    pub fn rectangle(&mut self, area: Area, fill: &str, opacity: f64) {
        let (x, y, width, height) = (short(area.left), short(area.top), short(area.width), short(area.height));
        let opacity = opacity_of(opacity);
        self.add(&format!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"{opacity}/>"#));
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        self.path(&[from, to], stroke);
    }

    /// A line through `points`.
    pub fn path(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        if points.len() < 2 {
            return;
        }
        let dash = if stroke.dash.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{}""#, stroke.dash) };
        let (colour, width) = (stroke.colour, short(stroke.width));
        self.add(&format!(
            r#"<path d="{}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"{dash}/>"#,
            track(points)
        ));
    }

    /// A filled shape with `points` around it.
    pub fn polygon(&mut self, points: &[(f64, f64)], fill: &str, opacity: f64) {
        if points.len() > 2 {
            self.add(&format!(r#"<path d="{}Z" fill="{fill}"{}/>"#, track(points), opacity_of(opacity)));
        }
    }

    /// A line of text with its baseline at `at`.
    pub fn text(&mut self, at: (f64, f64), words: &str, text: Text) {
        let anchor = match text.anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        let weight = if text.bold { r#" font-weight="700""# } else { "" };
        let (x, y, size, colour) = (short(at.0), short(at.1), short(text.size), text.colour);
        self.add(&format!(r#"<text x="{x}" y="{y}" font-size="{size}" fill="{colour}"{weight}{anchor}>{}</text>"#, escape(words)));
    }

    /// A marker with its middle at `at`.
    pub fn marker(&mut self, (x, y): (f64, f64), marker: Marker, radius: f64, colour: &str) {
        let corners = |corners: &[(f64, f64)]| -> Vec<(f64, f64)> {
            corners.iter().map(|(right, down)| (x + right * radius, y + down * radius)).collect()
        };
        match marker {
            Marker::Circle => self.add(&format!(r#"<circle cx="{}" cy="{}" r="{}" fill="{colour}"/>"#, short(x), short(y), short(radius))),
            Marker::Square => self.polygon(&corners(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]), colour, 1.0),
            Marker::Triangle => self.polygon(&corners(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]), colour, 1.0),
            Marker::Diamond => self.polygon(&corners(&[(0.0, -1.3), (1.2, 0.0), (0.0, 1.3), (-1.2, 0.0)]), colour, 1.0),
            Marker::Wedge => self.polygon(&corners(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]), colour, 1.0),
            Marker::Cross => {
                for (from, to) in [((-1.0, -1.0), (1.0, 1.0)), ((-1.0, 1.0), (1.0, -1.0))] {
                    self.path(&corners(&[from, to]), Stroke { colour, width: 2.2, dash: "" });
                }
            }
        }
    }

    /// What is drawn until [`Canvas::end_clip`] is cut off at the edges of `area`.
    pub fn begin_clip(&mut self, area: Area) {
        self.clips += 1;
        let (x, y, width, height) = (short(area.left), short(area.top), short(area.width), short(area.height));
        let number = self.clips;
        self.add(&format!(r#"<clipPath id="clip{number}"><rect x="{x}" y="{y}" width="{width}" height="{height}"/></clipPath>"#));
        self.add(&format!(r#"<g clip-path="url(#clip{number})">"#));
    }

    /// Ends what [`Canvas::begin_clip`] began.
    pub fn end_clip(&mut self) {
        self.add("</g>");
    }

    /// The picture as SVG; `title` and `description` are for those who cannot see it.
    pub fn finish(self, title: &str, description: &str) -> String {
        let (width, height) = (short(self.width), short(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             font-family=\"Inter, Helvetica, Arial, sans-serif\">\n<title>{}</title>\n<desc>{}</desc>\n{}</svg>\n",
            escape(title),
            escape(description),
            self.body
        )
    }

    fn add(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }
}

/// A pixel to a tenth, which no eye sees beyond, without zeros at its end.
fn short(pixel: f64) -> String {
    let tenth = (pixel * 10.0).round() / 10.0;
    if tenth == 0.0 { "0".to_string() } else { format!("{tenth}") }
}

fn opacity_of(opacity: f64) -> String {
    if opacity < 1.0 { format!(r#" fill-opacity="{opacity}""#) } else { String::new() }
}

/// The points as an SVG path; steps, which are most of a timeline, take half the room.
fn track(points: &[(f64, f64)]) -> String {
    let mut track = String::with_capacity(points.len() * 12);
    let mut last = (String::new(), String::new());
    for (index, (x, y)) in points.iter().enumerate() {
        let next = (short(*x), short(*y));
        let _ = match (index, next.0 == last.0, next.1 == last.1) {
            (0, ..) => write!(track, "M{} {}", next.0, next.1),
            (_, true, true) => Ok(()),
            (_, true, false) => write!(track, "V{}", next.1),
            (_, false, true) => write!(track, "H{}", next.0),
            (_, false, false) => write!(track, "L{} {}", next.0, next.1),
        };
        last = next;
    }
    track
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_the_picture() {
        let mut canvas = Canvas::new(100.0, 50.0, Theme::Light);
        canvas.text((1.04, 2.0), "a<b & \"c\"", Text { size: 14.0, bold: false, colour: "black", anchor: Anchor::Start });
        let svg = canvas.finish("x > y", "");
        assert!(svg.contains(r#"<text x="1" y="2" font-size="14" fill="black">a&lt;b &amp; &quot;c&quot;</text>"#), "{svg}");
        assert!(svg.contains("<title>x &gt; y</title>"));
    }
}
