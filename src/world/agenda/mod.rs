//! What happens next. Events of one instant come in the order they were scheduled.
//!
//! Most timeouts of a run have one length, and so come in the order they were set: a plain ring for each length holds them. An event
//! that would break the order of its ring goes where all others are, so a ring is never wrong.
//!
//! All others are in a heap while they are few, and on a ladder while they are many (`ladder.rs`). Nobody has to choose: the heap
//! turns into the ladder at [`CROWD`] entries, and back. Each entry carries its turn, so the order is the same whoever holds it.
//!
//! Nanoseconds of one event (one is taken, one is added), least of three, by how many are pending and when the added one comes:
//!
//! | heap, ladder | 100 | 1000 | 10,000 | 100,000 | 1,000,000 |
//! |---|---|---|---|---|---|
//! | exponential, mean 1 s | 30, 50 | 36, 39 | 49, 55 | 102, 46 | 530, 63 |
//! | 9 of 10 exponential with mean 10 ms, 1 uniform to 20 s | 32, 62 | 34, 62 | 41, 54 | 70, 50 | 579, 56 |
//! | 1 s, starts spread | 18, 21 | 22, 11 | 38, 32 | 192, 23 | 617, 36 |
//! | 1 s, all at one nanosecond | 15, 20 | 20, 18 | 28, 19 | 36, 21 | 55, 26 |
//! | Pareto, shape 1.1 | 76, 94 | 82, 64 | 95, 98 | 117, 76 | 578, 110 |
//!
//! The reference storm is fastest where the heap turns into the ladder at some 256 entries: with 1000 clients a tenth faster than at
//! 1024, with 300 or 10,000 the same. A calendar queue is no choice: the time that it takes for a herd at one nanosecond grows with its square.

mod heap;
mod ladder;
mod rungs;

use std::collections::VecDeque;

pub use ladder::CROWD;
use ladder::Ladder;

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
    /// The condition of a fault is looked at, or its fault starts or ends: the fault, and which of them.
    Condition(u32, u32),
    /// The wait of a group's queue for a batch to fill is over: the group, and the number of the wait, which is stale where it has ended.
    Poll(GroupIndex, u32),
    /// A function has had its time, or what it did not delete is visible again: the batch and its stamp.
    Batch(u32, u32),
    /// The cache in front of a service has its answer to an attempt.
    Cached(u32),
    /// An autoscaler looks at its service (0), or so many workers are there that it has ordered.
    Scale(ServiceIndex, u32),
    /// A process has started again or got warmer: the service, and the round of its process, which is stale where that has died.
    Life(ServiceIndex, u32),
}

/// The events to come.
#[derive(Debug)]
pub struct Agenda {
    line: Ladder,
    rings: Vec<Ring>,
    /// Where events stand that come soon, and that nobody has looked at: see [`Agenda::news`].
    news: Option<News>,
    /// Events scheduled so far: what orders those of one instant.
    scheduled: u64,
}

/// Events of one kind, in the order in which they come.
#[derive(Clone, Debug, Default)]
struct Ring {
    entries: VecDeque<Entry>,
    /// So many of the first have been looked at.
    seen: usize,
}

#[derive(Clone, Copy, Debug)]
enum News {
    List,
    Ring(usize),
}

/// So many events of a ring are looked at together.
const AHEAD: usize = 32;

/// An event in 24 bytes: its kind stands in the lowest bits of the turn, where it cannot change the order.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    at: Time,
    turn: u64,
    about: (u32, u32),
}

impl Entry {
    /// Fills places that nothing has been put into.
    const NOTHING: Entry = Entry { at: Time::ZERO, turn: 0, about: (0, 0) };

    /// No two entries have the same. One wide comparison costs less than two with a branch between.
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.at.0) << 64 | u128::from(self.turn)
    }

    #[inline(always)]
    fn packed(&self) -> Packed {
        Packed { kind: self.turn & 15, about: self.about }
    }
}

impl Agenda {
    /// An empty agenda with a number of rings. Events are many if they are more than so many ([`CROWD`]); their order does not depend on it.
    pub fn new(rings: usize, crowd: usize) -> Agenda {
        Agenda { line: Ladder::with_crowd(crowd), rings: vec![Ring::default(); rings], news: None, scheduled: 0 }
    }

    /// Schedules an event.
    #[inline]
    pub fn add(&mut self, at: Time, event: Event) {
        let entry = self.entry(at, event);
        self.put(entry);
    }

    /// Puts in what [`Agenda::entry`] has given a turn: at a time that is still to come, if others have been scheduled since.
    #[inline]
    pub fn put(&mut self, entry: Entry) {
        self.line.push(entry);
    }

    /// Puts in an event of a kind that mostly comes in order, each kind in a ring of its own. Since it was given its turn none of its
    /// kind has been.
    #[inline]
    pub fn put_in_order(&mut self, ring: usize, entry: Entry) {
        let entries = &mut self.rings[ring].entries;
        match entries.back() {
            Some(last) if last.at > entry.at => self.line.push(entry),
            _ => entries.push_back(entry),
        }
    }

    /// Gives an event its turn among those of its instant: it is scheduled once it is put in.
    #[inline]
    pub fn entry(&mut self, at: Time, event: Event) -> Entry {
        self.scheduled += 1;
        let (kind, about) = event.unpacked();
        Entry { at, turn: self.scheduled << 4 | kind, about }
    }

    /// Takes the next event that comes before `end`.
    #[inline(always)]
    pub fn next(&mut self, end: Time) -> Option<(Time, Packed)> {
        let mut bound = u128::from(end.0) << 64;
        let mut ring = None;
        for (index, own) in self.rings.iter().enumerate() {
            if let Some(entry) = own.entries.front()
                && entry.key() < bound
            {
                bound = entry.key();
                ring = Some(index);
            }
        }
        let entry = match self.line.next_before(bound) {
            Some(entry) => entry,
            None => self.next_of_ring(ring?)?,
        };
        // One after the other, where a ring has news as well.
        if self.line.is_new && self.news.is_none() {
            self.line.is_new = false;
            self.news = Some(News::List);
        }
        self.line.now = entry.at.0;
        Some((entry.at, entry.packed()))
    }
}

impl Agenda {
    #[inline]
    fn next_of_ring(&mut self, index: usize) -> Option<Entry> {
        let ring = &mut self.rings[index];
        if ring.seen == 0 {
            ring.seen = AHEAD;
            self.news = Some(News::Ring(index));
        }
        ring.seen -= 1;
        ring.entries.pop_front()
    }

    /// Whether [`Agenda::news`] has any.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.news.is_some()
    }

    /// Events that come soon, each of them once: those of the list that has just been sorted, or the next of a ring. What they are
    /// about can be fetched for all of them together, which takes hardly longer than for one.
    pub fn news(&mut self) -> impl Iterator<Item = Packed> + '_ {
        let (list, ring) = match self.news.take() {
            Some(News::List) => (self.line.list(), None),
            Some(News::Ring(index)) => (&[][..], Some(self.rings[index].entries.iter().take(AHEAD - 1))),
            None => (&[][..], None),
        };
        list.iter().chain(ring.into_iter().flatten()).map(Entry::packed)
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
            13 => Event::Scale(ServiceIndex(first as u16), second),
            _ => Event::Life(ServiceIndex(first as u16), second),
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
            Event::Life(service, round) => (14, (service.0.into(), round)),
        }
    }
}

#[cfg(test)]
mod tests;
