//! The heap: for events that are few, or near.

use super::Entry;

/// A heap of four children a node: half the levels of two, and the children lie side by side. What is taken leaves a hole at the
/// top, which the next push fills: most events schedule exactly one other.
#[derive(Debug, Default)]
pub struct Heap {
    entries: Vec<Entry>,
    hole: bool,
}

impl Heap {
    /// The least entry.
    #[inline]
    pub fn first(&mut self) -> Option<&Entry> {
        if self.hole {
            self.hole = false;
            let last = self.entries.pop()?;
            if !self.entries.is_empty() {
                self.sink(last);
            }
        }
        self.entries.first()
    }

    /// How many entries there are, or one more.
    #[inline]
    pub fn most(&self) -> usize {
        self.entries.len()
    }

    /// Adds an entry.
    #[inline]
    pub fn push(&mut self, entry: Entry) {
        if self.hole {
            self.hole = false;
            return self.sink(entry);
        }
        self.entries.push(entry);
        let mut place = self.entries.len() - 1;
        while place > 0 {
            let parent = (place - 1) / 4;
            if self.entries[parent].key() < entry.key() {
                break;
            }
            self.entries[place] = self.entries[parent];
            place = parent;
        }
        self.entries[place] = entry;
    }

    /// Takes all entries, in no order, which leaves none.
    pub fn drain(&mut self) -> impl Iterator<Item = Entry> + '_ {
        let first = usize::from(std::mem::take(&mut self.hole));
        self.entries.drain(..).skip(first)
    }

    /// Takes the entry that [`Heap::first`] has just found.
    #[inline]
    pub fn take_first(&mut self) -> Entry {
        self.hole = true;
        self.entries[0]
    }

    /// Puts an entry at the top, in place of what stands there, and lets it sink to its place.
    #[inline]
    fn sink(&mut self, entry: Entry) {
        let (entries, key) = (&mut self.entries[..], entry.key());
        let mut place = 0;
        loop {
            let first = 4 * place + 1;
            let (child, least) = match entries.get(first..first + 4) {
                // A tournament without branches: which of four is least cannot be predicted.
                Some([a, b, c, d]) => {
                    let lesser = |(x, x_key): (usize, u128), (y, y_key): (usize, u128)| {
                        let second = y_key < x_key;
                        (if second { y } else { x }, if second { y_key } else { x_key })
                    };
                    let (left, right) = (lesser((0, a.key()), (1, b.key())), lesser((2, c.key()), (3, d.key())));
                    let (offset, least) = lesser(left, right);
                    (first + offset, least)
                }
                _ => match (first..entries.len()).map(|child| (child, entries[child].key())).min_by_key(|(_, key)| *key) {
                    Some(least) => least,
                    None => break,
                },
            };
            if key < least {
                break;
            }
            entries[place] = entries[child];
            place = child;
        }
        entries[place] = entry;
    }
}
