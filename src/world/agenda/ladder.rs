//! The line of all events that are in no ring.
//!
//! While they are few, they are in a heap. Where they are many, most are on the rungs, in no order; the next bucket of these is
//! sorted into a list, which is taken from its front, and the heap holds only what is scheduled before the end of that list.

use super::Entry;
use super::heap::Heap;
use super::rungs::Rungs;

/// Where the heap has more entries than this, they go onto the rungs; where the rungs have less than half of it, back into the heap.
pub const CROWD: usize = 256;
/// A bucket of more entries than this is split one level down instead of sorted.
const MOST_SORTED: usize = 64;

/// Where buckets have few entries, several are sorted one after the other: up to this part of all entries, so that what they are about
/// can be fetched together; no more, since what is added before the end of the list is dearer.
const PART: usize = 1024;

/// Entries in order.
#[derive(Debug)]
pub struct Ladder {
    near: Heap,
    /// Sorted; taken from `front` on.
    list: Vec<Entry>,
    front: usize,
    /// What comes at this time or before is in the heap or the list, all else on the rungs.
    edge: u64,
    /// When the last event was taken, of whatever kind.
    pub now: u64,
    rungs: Rungs,
    crowd: usize,
    spare: Vec<Entry>,
    /// Set whenever the list has been filled.
    pub is_new: bool,
}

impl Ladder {
    /// An empty one whose heap holds at most so many entries before they go onto the rungs.
    pub fn with_crowd(crowd: usize) -> Ladder {
        Ladder {
            near: Heap::default(),
            list: Vec::new(),
            front: 0,
            edge: u64::MAX,
            now: 0,
            rungs: Rungs::default(),
            crowd,
            spare: Vec::new(),
            is_new: false,
        }
    }

    /// Adds an entry, which has the highest turn so far.
    #[inline]
    pub fn push(&mut self, entry: Entry) {
        if entry.at.0 > self.edge {
            return self.rungs.push(entry);
        }
        // A herd that comes again at once is in order already.
        if entry.at.0 == self.now && self.list.last().is_none_or(|last| last.at <= entry.at) {
            return self.append(entry);
        }
        self.near.push(entry);
        if self.near.most() > self.crowd {
            self.spread();
        }
    }

    /// What is left of the list.
    pub fn list(&self) -> &[Entry] {
        &self.list[self.front..]
    }

    fn append(&mut self, entry: Entry) {
        if self.front == self.list.len() {
            self.list.clear();
            self.front = 0;
        }
        self.list.push(entry);
    }

    /// Takes the next entry, if its key is below a bound.
    #[inline(always)]
    pub fn next_before(&mut self, bound: u128) -> Option<Entry> {
        loop {
            let listed = self.list.get(self.front);
            if let Some(near) = self.near.first() {
                let key = near.key();
                if listed.is_none_or(|listed| key < listed.key()) {
                    return if key < bound { Some(self.near.take_first()) } else { None };
                }
            }
            if let Some(listed) = listed {
                let before = listed.key() < bound;
                self.front += usize::from(before);
                return before.then_some(*listed);
            }
            let limit = (bound >> 64) as u64;
            if limit <= self.edge || !self.refill(limit) {
                return None;
            }
        }
    }

    /// All is in order, but too much of it in the heap: what does not come now goes onto the rungs.
    #[cold]
    fn spread(&mut self) {
        let now = self.now;
        self.rungs.set_base(now);
        self.edge = now;
        let mut entries = std::mem::take(&mut self.spare);
        entries.extend(self.list.drain(self.front..));
        entries.extend(self.near.drain());
        self.list.clear();
        self.front = 0;
        for entry in entries.drain(..) {
            if entry.at.0 > now {
                self.rungs.push(entry);
            } else {
                self.list.push(entry);
            }
        }
        self.list.sort_unstable_by_key(Entry::key);
        self.spare = entries;
    }

    /// Fills the list, or the heap, from the rungs; false where nothing there comes at `limit` or before. Both are empty.
    #[cold]
    #[inline(never)]
    fn refill(&mut self, limit: u64) -> bool {
        self.list.clear();
        self.front = 0;
        if self.rungs.len() <= self.crowd / 2 {
            return self.gather();
        }
        let enough = (self.rungs.len() / PART).clamp(1, MOST_SORTED);
        while let Some(place) = self.rungs.first() {
            let (listed, len) = (self.list.len(), self.rungs.len_of(place));
            let is_sorted = place.is_instant() || len <= MOST_SORTED;
            if listed > 0 && (listed >= enough || !is_sorted) {
                break;
            }
            if listed == 0 && place.first > limit {
                self.edge = place.first - 1;
                break;
            }
            if is_sorted {
                self.rungs.take(place, &mut self.list);
                if listed == 0 {
                    // Not that of a later bucket, which time may not have reached when all of this is spread again.
                    self.rungs.set_base(place.first);
                }
                self.list[listed..].sort_unstable_by_key(Entry::key);
                self.edge = place.last;
            } else {
                self.rungs.split(place);
                self.edge = place.first - 1;
            }
        }
        self.is_new = !self.list.is_empty();
        self.is_new
    }

    /// Few are left: all into the heap.
    fn gather(&mut self) -> bool {
        let mut entries = std::mem::take(&mut self.spare);
        while let Some(place) = self.rungs.first() {
            self.rungs.take(place, &mut entries);
        }
        let some = !entries.is_empty();
        entries.drain(..).for_each(|entry| self.near.push(entry));
        self.spare = entries;
        self.edge = u64::MAX;
        some
    }
}
