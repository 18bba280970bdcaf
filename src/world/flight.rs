//! What is under way: calls, held by their callers, and attempts, held by the network and the services.

use super::pools::Seat;
use crate::measure::identifier::{CallerIndex, ClientIndex, ServiceIndex};
use crate::measure::random::{Address, Purpose};
use crate::measure::time::{Duration, Time};
use crate::retry::breaker::Pass;
use crate::retry::budget::Paid;
use crate::retry::outcome::Outcome;
use crate::service::criticality::Criticality;

/// No call, no attempt.
pub const NOBODY: u32 = u32::MAX;

/// A call under way, and after its end for as long as a service still works on one of its attempts: what every model needs of it, in half
/// a line of the cache. A storm has millions of them, and each timeout and each retry comes to one that has not been touched for long.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub struct Call {
    /// Of its random draws.
    pub address: Address,
    /// When it started: the sending of its first attempt.
    pub started: Time,
    /// Grows whenever an attempt or the call ends: a timeout or a retry with another stamp is stale.
    pub stamp: u32,
    /// Attempts sent so far.
    pub attempts: u32,
    /// Attempts that are still somewhere.
    pub under_way: u32,
    /// The edge it goes along.
    pub caller: CallerIndex,
    /// How the last attempt ended.
    pub last: Outcome,
    marks: u8,
}

const MEASURED: u8 = 1;
const SETTLED: u8 = 2;
const SERVED: u8 = 4;
const SERVED_AGAIN: u8 = 8;

impl Call {
    /// A call that starts now. Its stamp goes on from what its place had before.
    #[inline]
    pub fn new(address: Address, now: Time, caller: CallerIndex, measured: bool, stamp: u32) -> Call {
        let marks = if measured { MEASURED } else { 0 };
        Call { address, started: now, stamp, attempts: 0, under_way: 0, caller, last: Outcome::Rejected, marks }
    }

    /// Whether it belongs to a call that started after the warm-up.
    #[inline]
    pub fn measured(&self) -> bool {
        self.marks & MEASURED != 0
    }

    /// Whether it has ended.
    #[inline]
    pub fn settled(&self) -> bool {
        self.marks & SETTLED != 0
    }

    /// It has ended.
    #[inline]
    pub fn settle(&mut self) {
        self.marks |= SETTLED;
    }

    /// Whether it was done at least once.
    #[inline]
    pub fn is_served(&self) -> bool {
        self.marks & SERVED != 0
    }

    /// It was done; true where that is the second time.
    #[inline]
    pub fn serve(&mut self) -> bool {
        let before = self.marks & (SERVED | SERVED_AGAIN);
        self.marks |= if before == 0 { SERVED } else { SERVED_AGAIN };
        before == SERVED
    }

    /// Whether it still waits for what has this stamp.
    #[inline]
    pub fn awaits(&self, stamp: u32) -> bool {
        self.stamp == stamp && !self.settled()
    }
}

/// What only some models need of a call (see `plain.rs`).
#[derive(Clone, Debug)]
pub struct CallExtra {
    /// What its backoff remembers of the waits before, zero at first.
    pub memory: u64,
    /// When the attempt above gives up, where that is handed down; never otherwise.
    pub until: Time,
    /// When the first of the attempts was sent that are now under way beside each other; only with hedges.
    pub sent: Time,
    /// The client at the top.
    pub client: ClientIndex,
    /// What its breaker gave its present attempt.
    pub pass: Pass,
    /// How often its breaker has put off its next attempt, each of which is followed by a wait.
    pub denied: u32,
    /// How many of these used up an attempt; so does an attempt that its pool has no place for.
    pub used_by_breaker: u32,
    /// What it keeps of what its budget had of it.
    pub paid: Paid,
    /// Retries that a throttle held back, each of which counts as an attempt to its policy.
    pub skipped: u32,
    /// The attempt that it waits for, [`NOBODY`] where that has vanished; with hedges the last sent, which leads to the others.
    pub current: u32,
    /// Attempts that its policy does not count, which are hedges and those of earlier receives of a message; and the hedges beside the
    /// present attempt.
    pub hedges: (u32, u32),
    /// Attempts sent beside each other of whose failure it has not heard.
    pub unheard: u32,
    /// The attempt, by number, that a service works on, 0 for none: kept only where attempts carry a key.
    pub in_service: u32,
    /// The attempt whose worker makes this call, and its stamp; [`NOBODY`] for a client's call.
    pub parent: (u32, u32),
    /// The client's call at the top, by place and number; its own for a client's call.
    pub root: Root,
    /// What it has of its pool.
    pub seat: Seat,
    /// The replica that its last attempt went to, `u16::MAX` where none was chosen.
    pub replica: u16,
    /// How much it matters: that of the client's call.
    pub criticality: Criticality,
    /// Whether it waits for a place at its breaker, which is half open.
    pub parked: bool,
}

impl CallExtra {
    /// Of a call that starts.
    pub fn new(client: ClientIndex, parent: Option<(u32, u32)>, root: Root, criticality: Criticality, until: Time) -> CallExtra {
        CallExtra {
            memory: 0,
            until,
            sent: Time::ZERO,
            client,
            pass: Pass::default(),
            denied: 0,
            used_by_breaker: 0,
            paid: Paid::default(),
            skipped: 0,
            current: NOBODY,
            hedges: (0, 0),
            unheard: 0,
            in_service: 0,
            parent: parent.unwrap_or((NOBODY, 0)),
            root,
            seat: Seat::default(),
            replica: u16::MAX,
            criticality,
            parked: false,
        }
    }

    /// Of so many attempts, those without hedges, and without what earlier receives of a message had.
    #[inline]
    pub fn rounds(&self, attempts: u32) -> u32 {
        attempts - self.hedges.0
    }

    /// How many attempts its policy takes it to have made: without hedges and what earlier receives of a message had, with what a breaker
    /// or a throttle took for one.
    #[inline]
    pub fn used(&self, attempts: u32) -> u32 {
        self.rounds(attempts) + self.used_by_breaker + self.skipped
    }

    /// The number of its next wait: each attempt leads to one, and whatever put an attempt off.
    #[inline]
    pub fn waits(&self, attempts: u32) -> u32 {
        self.rounds(attempts) + self.denied + self.skipped
    }
}

/// A client's call: its place, and its number in the order of starts, which tells whether the place still holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// Where it stands.
    pub place: u32,
    /// Its number in the order of starts, from 0.
    pub number: u32,
}

/// An attempt under way to, at or from its service: what every model needs of it, in a line of the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Attempt {
    /// Of its call's random draws.
    pub address: Address,
    /// When it reached the service, and from then on when its present state began.
    pub since: Time,
    /// Work still to do at speed 1, as of `since`.
    pub work_left: Duration,
    /// Service time that it has had.
    pub worked: Duration,
    /// The version of the optimistic row that it read; [`UNREAD`] before it has.
    pub version: u64,
    /// The call it belongs to, and that call's stamp while it waits for this attempt.
    pub call: (u32, u32),
    /// Grows whenever its work is broken off: a finish with another stamp is stale.
    pub stamp: u32,
    /// Its number among the attempts of its call, from 1.
    pub number: u32,
    /// The edge it goes along.
    pub caller: CallerIndex,
    /// Where it goes; of several replicas the first until the balancer has chosen.
    pub service: ServiceIndex,
    /// Where it is.
    pub state: State,
    /// How it ended: set when the service replies, or when it decides to turn it away; `ok` before.
    pub outcome: Outcome,
}

/// No version: the row has not been read.
pub const UNREAD: u64 = u64::MAX;

/// What only some models need of an attempt (see `plain.rs`).
#[derive(Clone, Debug)]
pub struct AttemptExtra {
    /// When its caller gives up; a reply at that very time is still in time.
    pub until: Time,
    /// The hint that goes with its reply.
    pub hint: Option<Duration>,
    /// The attempt that was sent before it beside the same one, [`NOBODY`] where it is the first or that has vanished.
    pub beside: u32,
    /// The call that its worker waits for.
    pub child: u32,
    /// How many further calls its worker has made.
    pub calls_made: u16,
}

impl AttemptExtra {
    /// Of an attempt that is sent.
    pub fn new(beside: u32, until: Time) -> AttemptExtra {
        AttemptExtra { until, hint: None, beside, child: NOBODY, calls_made: 0 }
    }
}

impl Attempt {
    /// Whether its call needs the next of the services that its own calls, after so many: a matter of the call, the same for all its attempts.
    #[inline]
    pub fn takes_way(&self, calls_made: u16, share: f64) -> bool {
        share >= 1.0 || self.address.draw(Purpose::Branch, calls_made.into()).hits(share)
    }
}

/// Where an attempt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nowhere: its place is free.
    Gone,
    /// On its way to the service or back.
    Travelling,
    /// Held back by a fault, in front of the service.
    Held,
    /// In the queue.
    Queued,
    /// In line to be turned away by a worker.
    TurnedAway,
    /// A worker is busy with it.
    Working,
    /// A worker has called on and waits.
    Waiting,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_time_is_told_once() {
        let mut call = Call::new(Address(0), Time::ZERO, CallerIndex(0), true, 0);
        assert!(!call.is_served() && !call.serve() && call.is_served() && call.serve() && !call.serve());
        assert!(call.measured() && call.awaits(0) && !call.awaits(1));
        call.settle();
        assert!(call.settled() && !call.awaits(0));
    }
}
