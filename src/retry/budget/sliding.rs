//! Two counts over a window that slides in tenths.

use crate::measure::time::{Duration, Time};

const SLOTS: usize = 10;

/// Two counts by tenth of the window: entries count for nine to ten tenths of it.
#[derive(Clone, Debug, Default)]
pub struct Sliding {
    slots: [[u32; 2]; SLOTS],
    /// The tenth that the newest entries belong to, counted from the start of the run.
    newest: u64,
}

impl Sliding {
    /// Adds one to a count, 0 or 1.
    pub fn add(&mut self, which: usize, window: Duration, now: Time) {
        let slot = self.slide(window, now);
        let count = &mut self.slots[slot][which];
        *count = count.saturating_add(1);
    }

    /// Both counts of the window that ends now.
    pub fn counts(&mut self, window: Duration, now: Time) -> [u64; 2] {
        self.slide(window, now);
        self.slots.iter().fold([0, 0], |sum, slot| [sum[0] + u64::from(slot[0]), sum[1] + u64::from(slot[1])])
    }

    /// Drops what is older than the window; the slot that `now` belongs to.
    fn slide(&mut self, window: Duration, now: Time) -> usize {
        let tenth = (window.0 / SLOTS as u64).max(1);
        // Most entries belong to the tenth of the one before; a comparison is cheaper than a division.
        if now.0.checked_sub(self.newest.saturating_mul(tenth)).is_some_and(|passed| passed < tenth) {
            return (self.newest % SLOTS as u64) as usize;
        }
        let current = now.0 / tenth;
        for passed in self.newest + 1..=current.min(self.newest + SLOTS as u64) {
            self.slots[(passed % SLOTS as u64) as usize] = [0, 0];
        }
        self.newest = current;
        (current % SLOTS as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_leave_with_their_tenth() {
        let mut counts = Sliding::default();
        let window = Duration(1000);
        counts.add(0, window, Time(50));
        counts.add(1, window, Time(150));
        counts.add(1, window, Time(199));
        assert_eq!(counts.counts(window, Time(999)), [1, 2]);
        assert_eq!(counts.counts(window, Time(1000)), [0, 2]);
        assert_eq!(counts.counts(window, Time(1100)), [0, 0]);
    }
}
