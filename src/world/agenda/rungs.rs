//! The far part of the ladder: entries by the highest digit in which their time differs from the present one, in no order within.
//!
//! A digit has 8 bits, so a level has 256 buckets, and 8 levels reach the end of time. A bucket is a list of blocks of one pool: it
//! grows without copying, and what one bucket gives back another takes.

use super::Entry;

const DIGIT: u32 = 8;
const BUCKETS: usize = 1 << DIGIT;
const LEVELS: usize = 64 / DIGIT as usize;
/// Entries in a block: 384 bytes, six lines of the cache. Of 4 to 32, all but 4 take about the same time.
const BLOCK: usize = 16;
/// Entries read at a time when a bucket is split.
const BATCH: usize = 4096;
const NONE: u32 = u32::MAX;

/// Buckets on levels.
#[derive(Debug, Default)]
pub struct Rungs {
    /// All entries are after it. What it shares with them, digit by digit from the highest, says where they are.
    base: u64,
    /// Entries in all buckets.
    len: usize,
    /// The buckets, level by level; none before the first entry.
    buckets: Vec<Bucket>,
    /// A bit for each bucket that has entries.
    occupied: [[u64; BUCKETS / 64]; LEVELS],
    /// A bit for each level that has entries.
    levels: u32,
    pool: Vec<Entry>,
    /// The block after each block, in its bucket or among the free ones.
    after: Vec<u32>,
    free: Option<u32>,
    /// Empty; its room is used again.
    batch: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// The block that is filled.
    last: u32,
    len: u32,
}

/// Where a bucket is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    level: u32,
    digit: u32,
    /// The earliest time that belongs there.
    pub first: u64,
    /// The latest.
    pub last: u64,
}

impl Rungs {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Says what time it is. It must not be before the last time said, and not after any entry.
    pub fn set_base(&mut self, base: u64) {
        debug_assert!(self.len == 0 || base >= self.base, "time goes back from {} to {base}", self.base);
        self.base = base;
    }

    /// Adds an entry.
    #[inline]
    pub fn push(&mut self, entry: Entry) {
        if self.buckets.is_empty() {
            self.buckets = vec![Bucket { last: NONE, len: 0 }; LEVELS * BUCKETS];
        }
        let level = ((entry.at.0 ^ self.base) | 1).ilog2() / DIGIT;
        let digit = (entry.at.0 >> (level * DIGIT)) as usize % BUCKETS;
        let place = level as usize * BUCKETS + digit;
        let Bucket { last, len } = self.buckets[place];
        let inside = len as usize % BLOCK;
        let block = if inside == 0 { self.new_block(last) } else { last };
        self.pool[block as usize * BLOCK + inside] = entry;
        self.buckets[place] = Bucket { last: block, len: len + 1 };
        self.len += 1;
        self.levels |= 1 << level;
        self.occupied[level as usize][digit / 64] |= 1 << (digit % 64);
    }

    fn new_block(&mut self, after: u32) -> u32 {
        if let Some(block) = self.free {
            let next = std::mem::replace(&mut self.after[block as usize], after);
            self.free = (next != NONE).then_some(next);
            return block;
        }
        let block = self.after.len();
        assert!(block < NONE as usize, "more than thirty billion events are pending");
        self.after.push(after);
        self.pool.resize((block + 1) * BLOCK, Entry::NOTHING);
        block as u32
    }

    /// The bucket whose entries come next.
    pub fn first(&self) -> Option<Place> {
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros();
        let (word, bits) = (0..).zip(&self.occupied[level as usize]).find(|(_, bits)| **bits != 0)?;
        let digit = word * 64 + bits.trailing_zeros();
        // Of the base, the digits above; then the bucket's; then any.
        let below = (1 << (level * DIGIT)) - 1;
        let above = self.base & !(below << DIGIT | (BUCKETS as u64 - 1));
        let first = above | u64::from(digit) << (level * DIGIT);
        Some(Place { level, digit, first, last: first | below })
    }

    /// How many entries a bucket has.
    pub fn len_of(&self, place: Place) -> usize {
        self.buckets[place.index()].len as usize
    }

    /// Takes all entries of a bucket, in the order in which they were added.
    pub fn take(&mut self, place: Place, into: &mut Vec<Entry>) {
        let (mut block, mut left) = self.detach(place);
        into.reserve(left);
        while left > 0 {
            let count = left.min(BLOCK);
            into.extend_from_slice(&self.pool[block as usize * BLOCK..][..count]);
            block = self.give_back(block);
            left -= count;
        }
    }

    /// Puts the entries of a bucket into those of lower levels, and says that it is the bucket's time. Blocks that are empty are
    /// filled again soon, so this needs little room; but many are read before any is filled, so that their misses overlap.
    pub fn split(&mut self, place: Place) {
        let (mut block, mut left) = self.detach(place);
        self.set_base(place.first);
        let mut batch = std::mem::take(&mut self.batch);
        while left > 0 {
            while left > 0 && batch.len() < BATCH {
                let count = left.min(BLOCK);
                batch.extend_from_slice(&self.pool[block as usize * BLOCK..][..count]);
                block = self.give_back(block);
                left -= count;
            }
            batch.drain(..).for_each(|entry| self.push(entry));
        }
        self.batch = batch;
    }

    /// Empties a bucket: its blocks, from the first that was filled, and how many entries they have.
    fn detach(&mut self, place: Place) -> (u32, usize) {
        let Bucket { last, len } = std::mem::replace(&mut self.buckets[place.index()], Bucket { last: NONE, len: 0 });
        self.len -= len as usize;
        let bits = &mut self.occupied[place.level as usize];
        bits[place.digit as usize / 64] &= !(1 << (place.digit % 64));
        if *bits == [0; BUCKETS / 64] {
            self.levels &= !(1 << place.level);
        }
        let (mut block, mut reversed) = (last, NONE);
        while block != NONE {
            let next = std::mem::replace(&mut self.after[block as usize], reversed);
            (block, reversed) = (next, block);
        }
        (reversed, len as usize)
    }

    /// Frees a block; the one after it.
    fn give_back(&mut self, block: u32) -> u32 {
        let next = std::mem::replace(&mut self.after[block as usize], self.free.unwrap_or(NONE));
        self.free = Some(block);
        next
    }
}

impl Place {
    fn index(self) -> usize {
        self.level as usize * BUCKETS + self.digit as usize
    }

    /// Whether all its entries have one time.
    pub fn is_instant(self) -> bool {
        self.level == 0
    }
}
