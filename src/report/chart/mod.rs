//! The charts of a scenario, drawn from the CSV files of its results folder alone, as SVG and as PNG.

mod bars;
mod canvas;
mod font;
mod frame;
mod heatmap;
mod hysteresis;
mod label;
mod latency;
mod layers;
mod lines;
mod marks;
mod number;
mod panel;
#[cfg(feature = "png")]
mod png;
mod scale;
mod schedule;
mod selection;
mod steps;
mod theme;
mod timeline;
mod unit;

use std::fs;
use std::path::{Path, PathBuf};

#[cfg(feature = "png")]
pub use png::{to_light_png, to_png};
pub use schedule::schedules;
pub use theme::Theme;

use super::data::Results;
use crate::study::chart::{Chart, ChartKind};
use selection::Selection;

/// One picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What its files are called, without their ending: `lines-completion_time`.
    pub name: String,
    /// The picture itself.
    pub svg: String,
}

/// What a kind of chart draws from.
struct Request<'a> {
    results: &'a Results,
    chart: &'a Chart,
    title: &'a str,
    theme: Theme,
}

/// Draws `charts` from `results`; `title` is that of the scenario, for the charts that have none.
///
/// # Errors
/// Names the first chart that cannot be drawn and says why: what it asks for is not in the results.
pub fn draw(charts: &[Chart], title: &str, results: &Results, theme: Theme) -> Result<Vec<Picture>, String> {
    let (pictures, problems) = draw_what_can_be(charts, title, results, theme);
    problems.into_iter().next().map_or(Ok(pictures), Err)
}

/// Draws what can be drawn, and says of the other charts why not.
fn draw_what_can_be(charts: &[Chart], title: &str, results: &Results, theme: Theme) -> (Vec<Picture>, Vec<String>) {
    let mut pictures: Vec<Picture> = Vec::new();
    let mut problems = Vec::new();
    for (index, chart) in charts.iter().enumerate() {
        let request = Request { results, chart, title, theme };
        let drawn = match chart.kind {
            ChartKind::Lines => lines::draw(&request),
            ChartKind::Timeline => timeline::draw(&request),
            ChartKind::Bars => bars::draw(&request),
            ChartKind::Latency => latency::draw(&request),
            ChartKind::Layers => layers::draw(&request),
            ChartKind::Heatmap => heatmap::draw(&request),
            ChartKind::Hysteresis => hysteresis::draw(&request),
        };
        match drawn {
            Err(problem) => problems.push(format!("chart {} ({}): {problem}", index + 1, kind_name(chart.kind))),
            Ok(drawn) => drawn.into_iter().for_each(|(name, svg)| pictures.push(Picture { name: free_name(&pictures, &name), svg })),
        }
    }
    (pictures, problems)
}

/// Reads the CSV files in `folder`, draws `charts` and writes them there, each as SVG and as PNG. The paths written, in the order of the
/// charts, and what is to be said of charts that cannot be drawn: that nothing happened is a result too.
///
/// # Errors
/// A file that cannot be read or written.
pub fn write(folder: &Path, charts: &[Chart], title: &str, theme: Theme) -> Result<(Vec<PathBuf>, Vec<String>), String> {
    let (pictures, problems) = draw_what_can_be(charts, title, &Results::read(folder)?, theme);
    let mut paths = Vec::new();
    for picture in &pictures {
        paths.push(replace(&folder.join(format!("{}.svg", picture.name)), picture.svg.as_bytes())?);
        #[cfg(feature = "png")]
        paths.push(replace(&folder.join(format!("{}.png", picture.name)), &png::to_light_png(&picture.svg)?)?);
    }
    Ok((paths, problems))
}

impl Request<'_> {
    fn title(&self) -> String {
        self.chart.title.clone().unwrap_or_else(|| self.title.to_string())
    }

    /// The metrics or series to draw: those of the chart, or `default`.
    fn metrics(&self, default: &[&str]) -> Vec<String> {
        if self.chart.y.is_empty() { default.iter().map(|name| (*name).to_string()).collect() } else { self.chart.y.clone() }
    }

    /// `measure`, of how many replications, what shows the interval, and which cells.
    fn subtitle(&self, selection: &Selection, measure: &str, interval: &str) -> String {
        let mut words = format!("{measure}; {}", selection.replications());
        if selection.has_intervals() && !interval.is_empty() {
            words.push_str(&format!(", {interval} = 95\u{a0}% interval"));
        }
        if !selection.condition.is_empty() {
            words.push_str(&format!("; where {}", selection.condition));
        }
        words
    }
}

/// The word a scenario has for this kind.
fn kind_name(kind: ChartKind) -> &'static str {
    match kind {
        ChartKind::Lines => "lines",
        ChartKind::Timeline => "timeline",
        ChartKind::Bars => "bars",
        ChartKind::Latency => "latency",
        ChartKind::Layers => "layers",
        ChartKind::Heatmap => "heatmap",
        ChartKind::Hysteresis => "hysteresis",
    }
}

/// `name`, with a number behind it where an earlier picture has it, and without what a file name must not have.
fn free_name(pictures: &[Picture], name: &str) -> String {
    let plain: String =
        name.chars().map(|letter| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '_' }).take(80).collect();
    let taken = |name: &str| pictures.iter().any(|picture| picture.name == name);
    let numbered = (2..).map(|number| format!("{plain}-{number}"));
    std::iter::once(plain.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(plain)
}

/// Writes a file beside `path` and then renames it: nobody ever reads half a picture.
fn replace(path: &Path, bytes: &[u8]) -> Result<PathBuf, String> {
    let mut name = path.as_os_str().to_os_string();
    name.push(".tmp");
    let written = fs::write(&name, bytes).and_then(|()| fs::rename(&name, path));
    written.map(|()| path.to_path_buf()).map_err(|error| format!("{}: {error}", path.display()))
}
