//! What a breaker remembers of the last results: by number, or by time in buckets.

use crate::measure::time::{Duration, Time};

/// The last so many results, a bit each. It takes its memory with the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Last {
    words: Vec<u64>,
    /// Where the next result goes.
    next: u32,
    /// How many there are.
    pub calls: u32,
    /// How many of them are failures.
    pub failed: u32,
}

impl Last {
    /// One more result; the oldest of more than `size` goes.
    pub fn add(&mut self, size: u32, fails: bool) {
        if self.words.is_empty() {
            self.words = vec![0; size.div_ceil(64) as usize];
        }
        let (word, bit) = (&mut self.words[(self.next / 64) as usize], 1 << (self.next % 64));
        // A place that was never used holds no failure.
        self.failed -= u32::from(*word & bit != 0);
        self.failed += u32::from(fails);
        *word = if fails { *word | bit } else { *word & !bit };
        self.calls = (self.calls + 1).min(size);
        self.next = (self.next + 1) % size;
    }
}

/// Results of the last buckets of time, which begin at the multiples of their width. It takes its memory with the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets {
    /// Calls and failures, by bucket.
    slots: Vec<(u32, u32)>,
    /// The newest bucket that is kept, counted from the start of the run.
    newest: u64,
    /// Sums over all that are kept.
    calls: u64,
    failed: u64,
}

impl Buckets {
    /// One more result, of which `count` buckets of this width are kept, the present one included.
    pub fn add(&mut self, width: Duration, count: u32, fails: bool, now: Time) {
        if self.slots.is_empty() {
            self.slots = vec![(0, 0); count as usize];
        }
        let current = now.0 / width.0;
        self.slide(current);
        let slot = &mut self.slots[(current % u64::from(count)) as usize];
        *slot = (slot.0.saturating_add(1), slot.1.saturating_add(u32::from(fails)));
        self.calls += 1;
        self.failed += u64::from(fails);
    }

    /// Drops what is too old when this bucket is the present one.
    pub fn slide(&mut self, current: u64) {
        if self.slots.is_empty() {
            return;
        }
        let count = self.slots.len() as u64;
        for passed in self.newest + 1..=current.min(self.newest.saturating_add(count)) {
            let slot = std::mem::take(&mut self.slots[(passed % count) as usize]);
            self.calls -= u64::from(slot.0);
            self.failed -= u64::from(slot.1);
        }
        self.newest = self.newest.max(current);
    }

    /// Calls and failures that are kept.
    pub fn sums(&self) -> (u64, u64) {
        (self.calls, self.failed)
    }
}
