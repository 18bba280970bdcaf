//! What many walks have in common: counts, ends and means.

use super::walk::{Step, Walk};
use crate::measure::random::Draw;
use crate::measure::statistics::Moments;
use crate::measure::time::Duration;

/// Retries of one call after which a limit must have been reached.
pub const MOST_RETRIES: u32 = 100_000;

/// The counts of some walks.
pub struct Tally {
    /// How many walks.
    pub count: u32,
    /// How many waits were drawn.
    pub draws: u64,
    /// An entry a retry that is shown.
    pub rows: Vec<Counts>,
    /// Walks whose last attempt started when the outage was over.
    pub covered: u32,
    /// Walks that sent all their retries.
    pub whole: u32,
    /// Retries sent in time: of all walks together, and the fewest and the most of one.
    pub sent_sum: u64,
    /// The fewest of one walk.
    pub fewest_sent: u32,
    /// The most of one walk.
    pub most_sent: u32,
}

/// The counts of one retry.
#[derive(Clone, Copy)]
pub struct Counts {
    /// Of the wait before it.
    pub wait: Range,
    /// Of when it is sent.
    pub at: Range,
    /// How often it was sent in time.
    pub sent: u32,
    capped: u32,
}

/// The ends and the mean of some lengths of time.
#[derive(Clone, Copy)]
pub struct Range {
    /// The least.
    pub least: Duration,
    /// The greatest.
    pub greatest: Duration,
    moments: Moments,
}

impl Range {
    fn add(&mut self, value: Duration) {
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
        self.moments.add(value.seconds());
    }

    /// The mean in seconds.
    pub fn mean(&self) -> f64 {
        self.moments.estimate().map_or(0.0, |estimate| estimate.mean)
    }
}

impl Counts {
    fn new() -> Counts {
        let range = Range { least: Duration::MAX, greatest: Duration::ZERO, moments: Moments::default() };
        Counts { wait: range, at: range, sent: 0, capped: 0 }
    }

    /// The share of `count` waits that were exactly the cap.
    pub fn capped_share(&self, count: u32) -> f64 {
        f64::from(self.capped) / f64::from(count)
    }
}

impl Tally {
    /// Of no walk yet.
    pub fn new(walk: &Walk) -> Tally {
        let rows = vec![Counts::new(); walk.shown as usize];
        Tally { count: 0, draws: 0, rows, covered: 0, whole: 0, sent_sum: 0, fewest_sent: u32::MAX, most_sent: 0 }
    }

    /// Walks once more; false where [`MOST_RETRIES`] reach no limit, so that they might never.
    pub fn add(&mut self, walk: &Walk, draw: impl Fn(u32) -> Draw) -> bool {
        let outage = walk.question.cover;
        let counts_all = walk.has_limit() || outage.is_some() && walk.total.is_some();
        let (mut sent, mut in_time, mut covered, mut last) = (0, true, outage == Some(Duration::ZERO), 0);
        let visit = |step: Step| {
            last = step.retry;
            in_time = in_time && !walk.is_too_late(step.at);
            sent += u32::from(in_time);
            covered = covered || in_time && outage.is_some_and(|outage| step.at >= outage);
            if let Some(row) = self.rows.get_mut(step.retry as usize - 1) {
                row.wait.add(step.wait);
                row.at.add(step.at);
                row.sent += u32::from(in_time);
                row.capped += u32::from(Some(step.wait) == walk.cap);
            }
            let decided = !in_time || !walk.has_limit() && (covered || outage.is_none());
            step.retry < walk.shown || counts_all && !decided
        };
        let most = walk.total.unwrap_or(u32::MAX).min(MOST_RETRIES.max(walk.shown));
        walk.follow(most, draw, visit);
        let ended = !(counts_all && in_time && last >= MOST_RETRIES && walk.total.is_none_or(|total| last < total));
        self.count += 1;
        self.draws += u64::from(last);
        self.covered += u32::from(covered);
        self.whole += u32::from(in_time && ended && walk.total.is_some());
        self.sent_sum += u64::from(sent);
        self.fewest_sent = self.fewest_sent.min(sent);
        self.most_sent = self.most_sent.max(if ended { sent } else { u32::MAX });
        ended
    }

    /// Whether extreme walks leave nothing to be counted.
    pub fn agrees(&self, walk: &Walk) -> bool {
        let all_or_none = |hits: u32| hits == 0 || hits == self.count;
        let limits = !walk.has_limit()
            || self.fewest_sent == self.most_sent && walk.question.cover.is_none() && self.rows.iter().all(|row| all_or_none(row.sent));
        let covers = walk.question.cover.is_none() || walk.total.is_none() || all_or_none(self.covered);
        limits && covers
    }

    /// The widest 95 % interval of a mean wait: half of it, as a share of the mean.
    pub fn error(&self) -> f64 {
        let of = |row: &Counts| row.wait.moments.estimate().and_then(|estimate| Some(estimate.half_width()? / estimate.mean));
        self.rows.iter().filter_map(of).filter(|error| error.is_finite()).fold(0.0, f64::max)
    }
}
