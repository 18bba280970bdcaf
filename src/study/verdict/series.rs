//! The series that a run is judged by, a number a bin, and how far what succeeded is from what should have.

use std::ops::Range;

use crate::load::Load;
use crate::measure::time::Time;
use crate::world::model::Model;
use crate::world::run::{COUNTS, Run, SERVICE_SERIES};

/// The share of the normal goodput that counts as normal.
pub const NORMAL: f64 = 0.95;

/// When a bin begins; the horizon for those after it.
pub fn edge(model: &Model, bin: usize) -> Time {
    let edge = Time(model.bin.0.saturating_mul(bin as u64));
    model.horizon.map_or(edge, |end| edge.min(end))
}

/// The series of a run, a number a bin.
pub struct Bins {
    /// How many.
    pub count: usize,
    /// Calls that succeeded.
    pub succeeded: Vec<f64>,
    /// Calls that ended.
    pub ended: Vec<f64>,
    /// Calls that started.
    pub calls: Vec<f64>,
    /// Calls that started; where some load is closed, the seconds of the bin.
    pub asked: Vec<f64>,
    /// How long the bin is, in seconds.
    pub seconds: Vec<f64>,
    /// Attempts sent.
    pub attempts: Vec<f64>,
    /// Attempts that reached each service.
    pub arrivals: Vec<Vec<f64>>,
    /// Attempts that wait at each service, at the end of the bin.
    pub queues: Vec<Vec<f64>>,
    /// Attempts that wait, at the end of the bin, of all services together.
    pub queued: Vec<f64>,
    /// Processes that are down, at the end of the bin.
    pub down: Vec<f64>,
    /// Calls that are open, at the end of the bin.
    pub open: Vec<f64>,
    /// Whether some load is closed. It asks less while it is in trouble, so its calls are no measure.
    pub closed: bool,
    /// Whether the run had more bins than are kept.
    pub cut: bool,
}

impl Bins {
    /// Of a run.
    pub fn of(model: &Model, run: &Run) -> Bins {
        let column = |name: &str| COUNTS.iter().position(|known| *known == name).unwrap_or_default();
        let series = |name: &str| run.timeline.series(column(name)).map(f64::from).collect::<Vec<f64>>();
        let (succeeded, calls) = (series("goodput"), series("calls"));
        let ended: Vec<f64> = succeeded.iter().zip(series("failed")).map(|(succeeded, failed)| succeeded + failed).collect();
        let closed = model.groups.iter().any(|group| matches!(group.load, Load::Closed { .. }));
        // The last bin may end before its width is full.
        let edge = |bin: usize| Time(model.bin.0.saturating_mul(bin as u64)).min(run.ended);
        let seconds: Vec<f64> = (0..succeeded.len()).map(|bin| (edge(bin + 1) - edge(bin)).seconds()).collect();
        let mut open = Vec::with_capacity(succeeded.len());
        calls.iter().zip(&ended).fold(0.0, |before, (started, ended)| {
            open.push(before + started - ended);
            before + started - ended
        });
        let queues = of_services(model, run, "queue");
        Bins {
            count: succeeded.len(),
            asked: if closed { seconds.clone() } else { calls.clone() },
            calls,
            seconds,
            attempts: series("attempts"),
            arrivals: of_services(model, run, "arrivals"),
            queued: sum(&queues, succeeded.len()),
            down: sum(&of_services(model, run, "down"), succeeded.len()),
            queues,
            open,
            succeeded,
            ended,
            closed,
            cut: run.timeline.cut,
        }
    }

    /// How often a process went down in these bins, as far as their ends show it.
    pub fn deaths(&self, bins: Range<usize>) -> usize {
        self.down[bins].windows(2).filter(|pair| pair[1] > pair[0]).count()
    }

    /// What succeeded for each call that ended (for a closed load: each second) in these bins; None where nothing did.
    pub fn healthy(&self, bins: Range<usize>) -> Option<f64> {
        let sum = |series: &[f64]| series.get(bins.clone()).map_or(0.0, |part| part.iter().sum::<f64>());
        let (succeeded, of) = (sum(&self.succeeded), sum(if self.closed { &self.asked } else { &self.ended }));
        (succeeded > 0.0).then(|| succeeded / of)
    }

    /// As `healthy`, in the best stretch of these bins as long as a tenth of them and at least five: what the system can be, where it
    /// may not have been so for long. Three standard errors are taken off, or the best of many stretches would only be the luckiest.
    pub fn best(&self, bins: Range<usize>) -> Option<f64> {
        let width = (bins.len() / 10).max(5).min(bins.len());
        let last = bins.end - width;
        let share = |start: usize| {
            let stretch = start..start + width;
            let healthy = self.healthy(stretch.clone())?;
            let of: f64 = if self.closed { &self.asked } else { &self.ended }[stretch].iter().sum();
            // Of a share binomial, of a rate Poisson.
            let variance = if self.closed { healthy / of } else { (healthy * (1.0 - healthy)).max(0.0) / of };
            Some(healthy - 3.0 * variance.sqrt())
        };
        (bins.start..=last).filter_map(share).max_by(f64::total_cmp).filter(|best| *best > 0.0)
    }

    /// From the beginning of these bins on, by each edge of a bin: what has succeeded, less so much of what should have.
    pub fn course(&self, bins: Range<usize>, healthy: f64) -> Course {
        let (mut expected, mut heights) = (vec![0.0], vec![0.0]);
        for (index, bin) in bins.enumerate() {
            let should = NORMAL * healthy * self.asked[bin];
            expected.push(expected[index] + should);
            heights.push(heights[index] + self.succeeded[bin] - should);
        }
        Course { expected, heights }
    }
}

/// One series of each service.
fn of_services(model: &Model, run: &Run, name: &str) -> Vec<Vec<f64>> {
    let place = SERVICE_SERIES.iter().position(|series| *series == name).unwrap_or_default();
    let of = |service: usize| run.timeline.series(COUNTS.len() + service * SERVICE_SERIES.len() + place).map(f64::from).collect();
    (0..model.services.len()).map(of).collect()
}

fn sum(series: &[Vec<f64>], bins: usize) -> Vec<f64> {
    let mut sum = vec![0.0; bins];
    series.iter().for_each(|one| sum.iter_mut().zip(one).for_each(|(sum, level)| *sum += level));
    sum
}

/// How far what succeeded is from what should have, by each edge of a bin. It falls while the service is worse than normal.
pub struct Course {
    /// What should have succeeded by then.
    pub expected: Vec<f64>,
    /// What has, less that.
    pub heights: Vec<f64>,
}

/// A fall of a course: its edges, and how deep it is.
#[derive(Clone, Copy, Debug)]
pub struct Fall {
    /// The edge where it begins.
    pub top: usize,
    /// The edge where it ends.
    pub low: usize,
    /// How far it goes down.
    pub depth: f64,
}

impl Course {
    /// How far chance may let it fall between two edges: so many times the square root of what was expected between them.
    pub fn chance(&self, times: f64, from: usize, to: usize) -> f64 {
        times * (self.expected[to] - self.expected[from]).sqrt()
    }

    /// The lowest edge from one on, the first of them.
    pub fn lowest(&self, from: usize) -> usize {
        (from..self.heights.len()).min_by(|a, b| self.heights[*a].total_cmp(&self.heights[*b])).unwrap_or(from)
    }

    /// The fall from the highest edge, the last of them, to the lowest after it.
    pub fn last_fall(&self) -> Fall {
        let top = (0..self.heights.len()).max_by(|a, b| self.heights[*a].total_cmp(&self.heights[*b])).unwrap_or(0);
        let low = self.lowest(top);
        Fall { top, low, depth: self.heights[top] - self.heights[low] }
    }

    /// The deepest fall.
    pub fn deepest_fall(&self) -> Fall {
        let (mut top, mut deepest) = (0, Fall { top: 0, low: 0, depth: 0.0 });
        for low in 0..self.heights.len() {
            if self.heights[low] >= self.heights[top] {
                top = low;
            }
            let depth = self.heights[top] - self.heights[low];
            if depth > deepest.depth {
                deepest = Fall { top, low, depth };
            }
        }
        deepest
    }

    /// Bins that must follow a turn for it to be believed: a twentieth of all, and three.
    pub fn believable(&self) -> usize {
        ((self.heights.len() - 1) / 20).max(3)
    }
}
