//! Counts what happens. It never decides: a run with another probe is the same run.

use super::run::{COUNTS, Latency, MOST_BINS, SERVICE_SERIES, ServiceTotals, Timeline, Totals};
use crate::measure::identifier::{GroupIndex, ServiceIndex};
use crate::measure::time::{Duration, Time};

/// The columns of the clients in a row of the timeline, as in [`COUNTS`].
#[derive(Clone, Copy)]
pub enum Count {
    /// A call started.
    Call,
    /// An attempt was sent.
    Attempt,
    /// It was not the first.
    Retry,
    /// A call succeeded.
    Success,
    /// A call failed.
    Failure,
}

/// The counted columns of a service in a row of the timeline, as in [`SERVICE_SERIES`].
#[derive(Clone, Copy)]
pub enum ServiceCount {
    /// An attempt arrived.
    Arrival,
    /// An attempt was done.
    Served,
    /// An attempt was turned away.
    Rejected,
    /// An attempt was over the rate limit: the columns of the two levels stand between.
    Throttled = 5,
    /// An attempt was too late to be worth the work.
    Shed = 6,
}

/// Everything that is counted in one run.
#[derive(Debug)]
pub struct Probe {
    /// Of calls and attempts.
    pub totals: Totals,
    /// Of each service.
    pub services: Vec<ServiceTotals>,
    /// Of the calls that succeeded.
    pub latency: Latency,
    /// Calls by the attempts they needed.
    pub attempts_needed: Vec<u64>,
    /// Calls that ended, by group.
    pub ended_by_group: Vec<u64>,
    from: Time,
    to: Time,
    bin: Duration,
    bin_end: Time,
    row: Vec<u32>,
    /// What the clients counted in all bins that are over.
    earlier: [u64; COUNTS.len()],
    timeline: Timeline,
    recent: Recent,
}

/// The times of what has happened within some stretch: a ring of a power of two, of which the times between two counters are valid.
#[derive(Debug, Default)]
struct Recent {
    times: Vec<Time>,
    first: usize,
    end: usize,
}

impl Recent {
    /// It happens now as well; how many there are by that within so long until now.
    #[inline]
    fn add(&mut self, now: Time, stretch: Duration) -> u64 {
        if self.end - self.first == self.times.len() {
            self.grow();
        }
        let mask = self.times.len() - 1;
        self.times[self.end & mask] = now;
        self.end += 1;
        while self.times[self.first & mask] + stretch <= now {
            self.first += 1;
        }
        (self.end - self.first) as u64
    }

    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.times);
        let ordered = (self.first..self.end).map(|index| old[index & (old.len() - 1)]);
        self.times = ordered.collect();
        (self.first, self.end) = (0, self.times.len());
        self.times.resize((2 * self.end).max(64), Time::ZERO);
    }
}

impl Probe {
    /// A probe for so many services and groups that measures from the first to the second time.
    pub fn new(services: usize, groups: usize, (from, to): (Time, Time), bin: Duration) -> Probe {
        let width = COUNTS.len() + SERVICE_SERIES.len() * services;
        Probe {
            totals: Totals::default(),
            services: vec![ServiceTotals::default(); services],
            latency: Latency::default(),
            attempts_needed: Vec::new(),
            ended_by_group: vec![0; groups],
            from,
            to,
            bin,
            bin_end: Time::ZERO + bin,
            row: vec![0; width],
            earlier: [0; COUNTS.len()],
            timeline: Timeline { width, ..Timeline::default() },
            recent: Recent::default(),
        }
    }

    /// Whether what happens now is measured.
    #[inline]
    pub fn measures(&self, now: Time) -> bool {
        now >= self.from
    }

    /// Whether the bin is over by `now`: then [`Probe::close_bins`] must come before anything else is counted.
    #[inline]
    pub fn bin_is_over(&self, now: Time) -> bool {
        now >= self.bin_end
    }

    /// Ends all bins that are over by `now`, given the present levels of each service: queue length, busy workers, down.
    pub fn close_bins(&mut self, now: Time, levels: impl Fn(usize) -> [u32; 3]) {
        while self.bin_is_over(now) && !self.timeline.cut {
            self.push_row(&levels);
            self.bin_end += self.bin;
        }
    }

    fn push_row(&mut self, levels: &impl Fn(usize) -> [u32; 3]) {
        if self.timeline.bins() >= MOST_BINS {
            self.timeline.cut = true;
            self.bin_end = Time::NEVER;
            return;
        }
        for service in 0..self.services.len() {
            let column = COUNTS.len() + service * SERVICE_SERIES.len();
            [self.row[column + 3], self.row[column + 4], self.row[column + 7]] = levels(service);
        }
        self.earlier = self.counted();
        self.timeline.values.extend_from_slice(&self.row);
        self.row.fill(0);
    }

    /// What the clients have counted so far, by the columns of [`COUNTS`].
    pub fn counted(&self) -> [u64; COUNTS.len()] {
        std::array::from_fn(|column| self.earlier[column] + u64::from(self.row[column]))
    }

    /// Counts in the present bin.
    #[inline]
    pub fn count(&mut self, what: Count) {
        self.row[what as usize] += 1;
    }

    /// Counts in the present bin, for a service.
    #[inline]
    pub fn count_at(&mut self, service: ServiceIndex, what: ServiceCount) {
        self.row[COUNTS.len() + service.at() * SERVICE_SERIES.len() + what as usize] += 1;
    }

    /// The numbers of a service, where what happens now is measured.
    #[inline]
    pub fn service(&mut self, service: ServiceIndex, now: Time) -> Option<&mut ServiceTotals> {
        if now >= self.from { Some(&mut self.services[service.at()]) } else { None }
    }

    /// The part of a stretch of time, from `since` to `now`, that lies in the measured window.
    #[inline]
    pub fn measured_part(&self, since: Time, now: Time) -> u128 {
        u128::from(now.since(since.max(self.from)).0)
    }

    /// A call of a client waits for its next attempt until then.
    #[inline]
    pub fn backs_off(&mut self, is_client: bool, now: Time, until: Time) {
        if is_client {
            self.totals.backing_off += self.measured_part(now, until.min(self.to));
        }
    }

    /// A client sends an attempt: keeps the greatest number within any stretch as long as a bin.
    #[inline]
    pub fn attempt_sent(&mut self, now: Time) {
        let recent = self.recent.add(now, self.bin);
        if now >= self.from {
            self.totals.peak = self.totals.peak.max(recent);
        }
    }

    /// A measured call of a client has ended after so many attempts.
    #[inline]
    pub fn call_ended(&mut self, group: GroupIndex, attempts: u32, latency: Option<Duration>) {
        self.ended_by_group[group.at()] += 1;
        match latency {
            Some(latency) => {
                self.totals.succeeded += 1;
                self.latency.add(latency);
            }
            None => self.totals.failed += 1,
        }
        // Unlimited attempts can be very many: the last entry stands for itself and more.
        let index = (attempts as usize).min(10_000);
        if index >= self.attempts_needed.len() {
            self.attempts_needed.resize(index + 1, 0);
        }
        self.attempts_needed[index] += 1;
    }

    /// Ends the timeline with the last bin, even where it is not full.
    pub fn close(&mut self, ended: Time, levels: impl Fn(usize) -> [u32; 3]) -> Timeline {
        self.close_bins(ended, &levels);
        if self.row.iter().any(|count| *count > 0) && !self.timeline.cut {
            self.push_row(&levels);
        }
        std::mem::take(&mut self.timeline)
    }
}
