//! What happens next. Events of one instant come in the order they were scheduled.
//!
//! Most timeouts of a run have one length, and so come in the order they were set: a plain ring for each length holds them, and
//! the heap stays small. An event that would break the order of its ring goes into the heap instead, so a ring is never wrong.

use std::collections::VecDeque;

use crate::measure::identifier::{GroupIndex, ServiceIndex};
use crate::measure::time::Time;

/// All that can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The next calls of a group start.
    Arrive(GroupIndex),
    /// A client of a closed load has thought enough.
    Wake(GroupIndex, u32),
    /// An attempt reaches its service.
    Deliver(u32),
    /// The write of an attempt reaches its optimistic row.
    Write(u32),
    /// The work on an attempt is done: the attempt and its stamp, which is stale where the work was broken off.
    Finish(u32, u32),
    /// A reply reaches the caller.
    Reply(u32),
    /// An attempt has had its time: the call and its stamp, which is stale where the attempt has ended.
    Timeout(u32, u32),
    /// A call has waited enough: the call and its stamp.
    Retry(u32, u32),
    /// A fault starts or ends: the numbers of this epoch hold from now on.
    Epoch(u32),
    /// The wait of a group's queue for a batch to fill is over: the group, and the number of the wait, which is stale where it has ended.
    Poll(GroupIndex, u32),
    /// A function has had its time, or what it did not delete is visible again: the batch and its stamp.
    Batch(u32, u32),
    /// The condition of a fault is looked at, or its fault starts or ends: the fault, and which of them.
    Condition(u32, u32),
    /// The cache in front of a service has its answer to an attempt.
    Cached(u32),
    /// An autoscaler looks at its service (0), or so many workers are there that it has ordered.
    Scale(ServiceIndex, u32),
}

/// The events to come.
#[derive(Debug, Default)]
pub struct Agenda {
    heap: Heap,
    rings: Vec<VecDeque<Entry>>,
    /// Events scheduled so far: what orders those of one instant.
    scheduled: u64,
}

/// An event in 24 bytes: its kind stands in the lowest bits of the turn, where it cannot change the order.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Time,
    turn: u64,
    about: (u32, u32),
}

impl Entry {
    /// No two entries have the same. One wide comparison costs less than two with a branch between.
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.at.0) << 64 | u128::from(self.turn)
    }
}

impl Agenda {
    /// An empty agenda with a number of rings.
    pub fn new(rings: usize) -> Agenda {
        Agenda { rings: vec![VecDeque::new(); rings], ..Agenda::default() }
    }

    /// Schedules an event.
    #[inline]
    pub fn add(&mut self, at: Time, event: Event) {
        let entry = self.entry(at, event);
        self.heap.push(entry);
    }

    /// Schedules an event of a kind that mostly comes in order, each kind in a ring of its own.
    #[inline]
    pub fn add_in_order(&mut self, ring: usize, at: Time, event: Event) {
        let entry = self.entry(at, event);
        match self.rings[ring].back() {
            Some(last) if last.at > at => self.heap.push(entry),
            _ => self.rings[ring].push_back(entry),
        }
    }

    fn entry(&mut self, at: Time, event: Event) -> Entry {
        self.scheduled += 1;
        let (kind, about) = event.unpacked();
        Entry { at, turn: self.scheduled << 4 | kind, about }
    }

    /// Takes the next event that comes before `end`.
    #[inline]
    pub fn next(&mut self, end: Time) -> Option<(Time, Packed)> {
        let mut best = self.heap.first().map_or(u128::MAX, Entry::key);
        let mut ring = None;
        for (index, entries) in self.rings.iter().enumerate() {
            if let Some(entry) = entries.front()
                && entry.key() < best
            {
                best = entry.key();
                ring = Some(index);
            }
        }
        if (best >> 64) as u64 >= end.0 {
            return None;
        }
        let entry = match ring {
            Some(index) => self.rings[index].pop_front(),
            None => self.heap.pop(),
        };
        entry.map(|entry| (entry.at, Packed { kind: entry.turn & 15, about: entry.about }))
    }
}

/// An event as it lies in the agenda. It is unpacked where it is acted on, so that the two are one jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// A number for each kind of event.
    pub kind: u64,
    about: (u32, u32),
}

impl Packed {
    /// What happens.
    #[inline(always)]
    pub fn event(self) -> Event {
        let (first, second) = self.about;
        match self.kind {
            0 => Event::Arrive(GroupIndex(first as u16)),
            1 => Event::Wake(GroupIndex(first as u16), second),
            2 => Event::Deliver(first),
            3 => Event::Write(first),
            4 => Event::Finish(first, second),
            5 => Event::Reply(first),
            6 => Event::Timeout(first, second),
            7 => Event::Retry(first, second),
            8 => Event::Epoch(first),
            9 => Event::Condition(first, second),
            10 => Event::Poll(GroupIndex(first as u16), second),
            11 => Event::Batch(first, second),
            12 => Event::Cached(first),
            _ => Event::Scale(ServiceIndex(first as u16), second),
        }
    }
}

impl Event {
    #[inline]
    fn unpacked(self) -> (u64, (u32, u32)) {
        match self {
            Event::Arrive(group) => (0, (group.0.into(), 0)),
            Event::Wake(group, client) => (1, (group.0.into(), client)),
            Event::Deliver(attempt) => (2, (attempt, 0)),
            Event::Write(attempt) => (3, (attempt, 0)),
            Event::Finish(attempt, stamp) => (4, (attempt, stamp)),
            Event::Reply(attempt) => (5, (attempt, 0)),
            Event::Timeout(call, stamp) => (6, (call, stamp)),
            Event::Retry(call, stamp) => (7, (call, stamp)),
            Event::Epoch(index) => (8, (index, 0)),
            Event::Condition(fault, what) => (9, (fault, what)),
            Event::Poll(group, wait) => (10, (group.0.into(), wait)),
            Event::Batch(batch, stamp) => (11, (batch, stamp)),
            Event::Cached(attempt) => (12, (attempt, 0)),
            Event::Scale(service, arriving) => (13, (service.0.into(), arriving)),
        }
    }
}

/// A heap of four children a node: half the levels of two, and the children lie side by side. What is taken leaves a hole at the
/// top, which the next push fills: most events schedule exactly one other.
#[derive(Debug, Default)]
struct Heap {
    entries: Vec<Entry>,
    hole: bool,
}

impl Heap {
    /// The least entry.
    #[inline]
    fn first(&mut self) -> Option<&Entry> {
        if self.hole {
            self.hole = false;
            let last = self.entries.pop()?;
            if !self.entries.is_empty() {
                self.sink(last);
            }
        }
        self.entries.first()
    }

    #[inline]
    fn push(&mut self, entry: Entry) {
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

    #[inline]
    fn pop(&mut self) -> Option<Entry> {
        let first = self.first().copied()?;
        self.hole = true;
        Some(first)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::random::Draw;

    /// The order must be that of a plain list, sorted by time, ties as they were added: whatever the rings hold.
    #[test]
    fn agrees_with_a_sorted_list() {
        let (mut agenda, mut list, mut draw) = (Agenda::new(2), Vec::new(), Draw(1));
        let mut now = Time(0);
        for round in 0..20_000u32 {
            draw = draw.next();
            let at = Time(now.0 + draw.up_to(50));
            let event = Event::Retry(round, 0);
            match draw.next().up_to(2) {
                0 => agenda.add(at, event),
                ring => agenda.add_in_order(ring as usize - 1, at, event),
            }
            let place = list.partition_point(|(earlier, _)| *earlier <= at);
            list.insert(place, (at, event));
            if draw.next().next().up_to(1) == 0 {
                let expected = list.remove(0);
                assert_eq!(agenda.next(Time::NEVER).map(|(at, packed)| (at, packed.event())), Some(expected));
                now = expected.0;
            }
        }
        let rest: Vec<_> = std::iter::from_fn(|| agenda.next(Time::NEVER)).map(|(at, packed)| (at, packed.event())).collect();
        assert_eq!(rest, list);
    }

    #[test]
    fn nothing_comes_at_or_after_the_end() {
        let mut agenda = Agenda::new(1);
        agenda.add(Time(5), Event::Epoch(0));
        agenda.add_in_order(0, Time(4), Event::Epoch(1));
        assert_eq!(agenda.next(Time(4)), None);
        assert_eq!(agenda.next(Time(5)).map(|(at, packed)| (at, packed.event())), Some((Time(4), Event::Epoch(1))));
        assert_eq!(agenda.next(Time(5)), None);
    }
}
