//! When the calls of each group start. One pending event stands for all clients of a group, but for closed loads, where each thinks for itself.

use super::model::Group;
use crate::load::{Load, OpenCursor, Profile};
use crate::measure::identifier::ClientIndex;
use crate::measure::random::{Address, Purpose};
use crate::measure::time::{Duration, Time};

/// Where a group's load stands.
#[derive(Debug)]
pub struct Arrivals {
    address: Address,
    count: u32,
    /// Calls made, in all; in rounds of all clients, these and what the present one has had.
    made: u64,
    rounds: u64,
    turn: u32,
    next: Option<Time>,
    cursor: Cursor,
}

#[derive(Debug)]
enum Cursor {
    Open(OpenCursor),
    /// The clients in the order of their offsets; empty where all offsets are zero and the order is that of their numbers.
    Round(Vec<(Duration, u32)>),
    Trace,
    /// Calls that each client has made.
    Closed(Vec<u32>),
}

/// A call that starts: who makes it, and the address of its draws.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The client.
    pub client: ClientIndex,
    /// Of the call's draws.
    pub address: Address,
}

impl Arrivals {
    /// At the start of a run; `address` is the group's.
    pub fn new(group: &Group, address: Address) -> Arrivals {
        let offsets = |most: Duration| {
            let mut clients: Vec<(Duration, u32)> =
                (0..group.count).map(|client| (Duration(address.draw(Purpose::Start, client.into()).up_to(most.0)), client)).collect();
            clients.sort_unstable();
            clients
        };
        let cursor = match &group.load {
            Load::Open { .. } => Cursor::Open(OpenCursor::default()),
            Load::Once { spread: Duration::ZERO, .. } | Load::Periodic { splay: Duration::ZERO, .. } => Cursor::Round(Vec::new()),
            Load::Once { spread: most, .. } | Load::Periodic { splay: most, .. } => Cursor::Round(offsets(*most)),
            Load::Trace { .. } => Cursor::Trace,
            Load::Closed { .. } => Cursor::Closed(vec![0; group.count as usize]),
        };
        let mut arrivals = Arrivals { address, count: group.count, made: 0, rounds: 0, turn: 0, next: None, cursor };
        arrivals.next = arrivals.time_of_next(&group.load);
        arrivals
    }

    /// When the next call starts; None where no more do, and for closed loads, whose clients are woken one by one.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        self.next
    }

    /// Starts the next call and looks for the one after it.
    #[inline]
    pub fn start(&mut self, load: &Load) -> Start {
        let client = match &self.cursor {
            Cursor::Round(offsets) => offsets.get(self.turn as usize).map_or(self.turn, |(_, client)| *client),
            _ if self.count == 1 => 0,
            _ => self.address.draw(Purpose::Client, self.made).up_to(u64::from(self.count) - 1) as u32,
        };
        // A herd's call belongs to its client, whatever its place in the order; another call belongs to its place.
        let number = match &self.cursor {
            Cursor::Round(_) => self.made - u64::from(self.turn) + u64::from(client),
            _ => self.made,
        };
        self.made += 1;
        self.turn += 1;
        if self.turn == self.count {
            (self.rounds, self.turn) = (self.rounds + 1, 0);
        }
        self.next = self.time_of_next(load);
        Start { client: ClientIndex(client), address: self.address.child(number) }
    }

    /// The rate of an open load is this many times its profile from now on.
    pub fn scale(&mut self, profile: &Profile, now: Time, factor: f64) {
        if let Cursor::Open(cursor) = &mut self.cursor
            && cursor.scale(profile, now, factor)
        {
            // What rounding puts before now is now.
            self.next = cursor.pending(profile).map(|next| next.max(now));
        }
    }

    /// A client of a closed load starts its next call.
    pub fn wake(&mut self, client: u32) -> Start {
        let address = self.address.child(u64::from(client)).child(u64::from(self.rounds(client)));
        if let Cursor::Closed(made) = &mut self.cursor {
            made[client as usize] += 1;
        }
        Start { client: ClientIndex(client), address }
    }

    /// How long a client of a closed load thinks before its next call; None for other loads.
    pub fn think(&self, load: &Load, client: u32) -> Option<Duration> {
        let Load::Closed { think } = load else { return None };
        Some(think.sample(self.address.child(u64::from(client)).draw(Purpose::Think, u64::from(self.rounds(client)))))
    }

    fn rounds(&self, client: u32) -> u32 {
        match &self.cursor {
            Cursor::Closed(made) => made[client as usize],
            _ => 0,
        }
    }

    #[inline]
    fn time_of_next(&mut self, load: &Load) -> Option<Time> {
        let count = u64::from(self.count);
        match (load, &mut self.cursor) {
            (Load::Open { profile, spacing }, Cursor::Open(cursor)) => cursor.next(profile, *spacing, self.address),
            (Load::Once { at, .. }, Cursor::Round(offsets)) => (self.made < count).then(|| *at + offset(offsets, self.made as usize)),
            (Load::Periodic { every, .. }, Cursor::Round(offsets)) => {
                let start = every.0.checked_mul(self.rounds).map(Time);
                start.map(|start| start + offset(offsets, self.turn as usize)).filter(|next| *next < Time::NEVER)
            }
            (Load::Trace { times }, Cursor::Trace) => times.get(self.made as usize).copied(),
            _ => None,
        }
    }
}

fn offset(offsets: &[(Duration, u32)], turn: usize) -> Duration {
    offsets.get(turn).map_or(Duration::ZERO, |(offset, _)| *offset)
}
