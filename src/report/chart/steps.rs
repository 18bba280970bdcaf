//! The steps of a timeline: its bins as points, where they end, and no more of them than pixels.

use super::panel::{Line, Panel};
use super::theme::Look;
use crate::report::data::{Mark, Measured};

/// The share of the events that a long tail may lose.
const TAIL: f64 = 0.005;
/// A tail is long where the rest takes less than this share of the time.
const LONG: f64 = 0.8;

type Points = [(f64, Measured)];

/// A bin is as wide as it is: two points, at its start and at its end.
pub fn stepped(moments: &Points) -> Vec<(f64, Measured)> {
    let width = moments.windows(2).map(|pair| pair[1].0 - pair[0].0).fold(f64::INFINITY, f64::min);
    let width = if width.is_finite() { width } else { 1.0 };
    moments.iter().flat_map(|(time, value)| [(*time, *value), (time + width, *value)]).collect()
}

/// The end of the last bin in which anything happened; of all bins where nothing did.
pub fn end(lines: &[Line]) -> f64 {
    let busy = |point: &&(f64, Measured)| point.1.mean.is_some_and(|mean| mean != 0.0);
    let last = |line: &Line| line.points.iter().rfind(busy).map(|point| point.0);
    let end = lines.iter().filter_map(last).fold(0.0, f64::max);
    if end > 0.0 { end } else { length(lines) }
}

/// The end of all bins.
pub fn length(lines: &[Line]) -> f64 {
    lines.iter().filter_map(|line| line.points.last()).map(|point| point.0).fold(0.0, f64::max)
}

/// Where the last events of each line and all faults are over; `end` where that saves little.
pub fn head(lines: &[Line], marks: &[Mark], end: f64) -> f64 {
    let spans = marks.iter().filter_map(|mark| mark.to.or(mark.from));
    let head = lines.iter().map(|line| body_end(&line.points)).chain(spans).fold(0.0, f64::max);
    if head > 0.0 && head < LONG * end { head } else { end }
}

/// The end of the bin after which less than [`TAIL`] of the events are left.
fn body_end(points: &Points) -> f64 {
    let mean = |bin: &Points| bin[0].1.mean.unwrap_or(0.0);
    let total: f64 = points.chunks_exact(2).map(mean).sum();
    let mut left = 0.0;
    let last = points.chunks_exact(2).rfind(|bin| {
        left += mean(bin);
        left > TAIL * total
    });
    last.map_or(0.0, |bin| bin[1].0)
}

/// The lines as `panel` can show them: no more points than pixels, and thin where the bins are narrow.
pub fn thinned(lines: &[Line], panel: &Panel) -> Vec<Line> {
    let thinned = |line: &Line| {
        let inside = &line.points[..line.points.partition_point(|point| point.0 <= panel.x.high * (1.0 + 1e-9))];
        let bins = inside.len() as f64 / 2.0 / panel.area.width;
        let look = Look { width: line.look.width.min((2.2 - 0.5 * bins).max(1.2)), ..line.look };
        Line { name: line.name.clone(), look, points: thin(inside, panel), is_joined: true }
    };
    lines.iter().map(thinned).collect()
}

/// Of each column of pixels its first, lowest, highest and last point: the line looks the same.
fn thin(points: &Points, panel: &Panel) -> Vec<(f64, Measured)> {
    if (points.len() as f64) < 2.5 * panel.area.width {
        return points.to_vec();
    }
    let column = |point: &(f64, Measured)| (panel.x.position(point.0) * panel.area.width) as i64;
    let mut kept = Vec::new();
    for run in points.chunk_by(|a, b| column(a) == column(b)) {
        let mean = |index: &usize| run[*index].1.mean.unwrap_or(0.0);
        let order = |a: &usize, b: &usize| mean(a).total_cmp(&mean(b));
        let (low, high) = ((0..run.len()).min_by(order).unwrap_or(0), (0..run.len()).max_by(order).unwrap_or(0));
        let mut wanted = vec![0, low, high, run.len() - 1];
        wanted.sort_unstable();
        wanted.dedup();
        kept.extend(wanted.into_iter().map(|index| run[index]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::Theme;

    fn line(counts: impl IntoIterator<Item = u32>) -> Line {
        let value = |count| Measured { mean: Some(f64::from(count)), low: None, high: None };
        let moments: Vec<_> = counts.into_iter().enumerate().map(|(time, count)| (time as f64, value(count))).collect();
        Line { name: String::new(), look: Theme::Light.look(0), points: stepped(&moments), is_joined: true }
    }

    #[test]
    fn a_long_tail_is_cut_and_a_late_wave_is_not() {
        // 1,000 events in 10 bins; 5 more are 0.4975 % of all, 6 more are 0.596 %.
        let head_of = |line: Line, marks: &[Mark]| head(&[line], marks, 100.0);
        let after = |rest: u32| line((0..100).map(move |time| if time < 10 { 100 } else { u32::from(time > 99 - rest) }));
        assert_eq!(end(&[after(5)]), 100.0);
        assert_eq!(head_of(after(5), &[]), 10.0);
        assert_eq!(head_of(after(6), &[]), 100.0);
        let fault = Mark { to: Some(30.0), ..Mark::default() };
        assert_eq!(head_of(after(5), &[fault]), 30.0);
        assert_eq!(head_of(line([0; 100]), &[]), 100.0);
    }
}
