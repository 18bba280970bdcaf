//! What can be told about a run while it happens. Whoever listens only listens: the run is the same, but for the
//! fingerprint where the model is plain (see `plain.rs`).

use crate::measure::identifier::{CallerIndex, ClientIndex, GroupIndex, ServiceIndex};
use crate::measure::time::{Duration, Time};
use crate::retry::outcome::Outcome;

/// Hears what happens in a run.
pub trait Listener {
    /// Whether anything is to be told at all; false costs nothing.
    const LISTENS: bool;
    /// Whether it is for plain models only (see `plain.rs`): what these do not have costs nothing.
    const PLAIN: bool = false;
    /// Something happened at a time, to the client's call of this number (from 0, in the order of starts), along this edge.
    fn hear(&mut self, now: Time, call: u32, caller: CallerIndex, what: What);
}

/// Hears nothing.
#[derive(Debug)]
pub struct Deaf;

impl Listener for Deaf {
    const LISTENS: bool = false;
    fn hear(&mut self, _: Time, _: u32, _: CallerIndex, _: What) {}
}

/// Hears nothing of a plain model.
#[derive(Debug)]
pub(super) struct DeafToPlain;

impl Listener for DeafToPlain {
    const LISTENS: bool = false;
    const PLAIN: bool = true;
    fn hear(&mut self, _: Time, _: u32, _: CallerIndex, _: What) {}
}

/// What can happen to a call or to one of its attempts.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A client starts a call.
    CallStarts(GroupIndex, ClientIndex),
    /// A worker calls on.
    CallsOn(ServiceIndex),
    /// Attempt number so-and-so is sent.
    Sent(u32),
    /// A message is lost on the way.
    Lost(u32),
    /// The attempt reaches the service, which is down.
    FoundDown(u32),
    /// The attempt waits behind so many others.
    Queued(u32, u32),
    /// The queue is full.
    Rejected(u32),
    /// A worker takes it up; the work will take so long.
    WorkStarts(u32, Duration),
    /// The work ends so.
    WorkEnds(u32, Outcome),
    /// The row is read, at this version.
    RowRead(u32, u64),
    /// The row is written, or a conflict found.
    RowWritten(u32, Outcome),
    /// It is dropped, since its caller has left.
    Dropped(u32),
    /// A fault destroyed it.
    Destroyed(u32),
    /// A reply arrives, in time.
    Reply(u32, Outcome),
    /// A reply arrives that nobody waits for any more.
    LateReply(u32, Outcome),
    /// The attempt's time is over.
    TimedOut(u32),
    /// The caller waits so long before its next attempt.
    Waits(Duration),
    /// The service knows the attempt's key, and answers without work.
    KnownByKey(u32, Outcome),
    /// A function receives the message for the how-manyth time, as which of its batch.
    Received(u32, u32),
    /// The function has had its time.
    FunctionStopped,
    /// It was received as often as it may be.
    DeadLetter,
    /// The budget does not grant a retry.
    BudgetDenies,
    /// The breaker lets nothing through.
    BreakerDenies,
    /// The deadline, or `max_elapsed`, leaves no time for another attempt.
    DeadlineDenies,
    /// The call ends so, after so long; None where nothing was ever sent.
    CallEnds(Option<Outcome>, Duration),
    /// What became of this call opens the breaker.
    BreakerOpens,
    /// The breaker is half open: the attempt waits for the probes.
    BreakerHolds,
    /// The server's hint says not to try again.
    HintDenies,
    /// It is over the rate limit.
    Throttled(u32),
    /// It is turned away since it has waited too long, or its time is over or will be.
    Shed(u32),
    /// The script says so, without work.
    Answered(u32, Outcome),
    /// The script has no answer.
    Ignored(u32),
    /// The budget does not let an attempt out.
    SendDenied,
    /// The budget lets no attempt out before so long has passed.
    SendWaits(Duration),
    /// The budget holds back a retry, which counts as made; the next wait is so long.
    RetrySkipped(Duration),
    /// No place in the pool is free: the attempt waits for one.
    PoolHolds,
    /// The balancer sends the attempt to this replica, from 0.
    Balanced(u32, u32),
    /// The cache in front of the service has the answer.
    Hit(u32),
    /// It is one more in the queue than the process can bear, which dies.
    Kills(u32),
    /// The pool has no place for the attempt, or had none in time.
    PoolDenies,
}

/// Keeps what happens to some calls.
#[derive(Debug, Default)]
pub struct Recorder {
    /// The first and the last call that is recorded, by number.
    pub calls: (u32, u32),
    /// What happened, in order.
    pub lines: Vec<Line>,
    /// At most so many lines are kept; the rest is counted in `left_out`.
    pub most: usize,
    /// How many lines were not kept.
    pub left_out: u64,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// When.
    pub at: Time,
    /// To which client's call, by number.
    pub call: u32,
    /// Along which edge.
    pub caller: CallerIndex,
    /// What.
    pub what: What,
}

impl Listener for Recorder {
    const LISTENS: bool = true;
    fn hear(&mut self, at: Time, call: u32, caller: CallerIndex, what: What) {
        if call < self.calls.0 || call > self.calls.1 {
            return;
        }
        if self.lines.len() >= self.most {
            self.left_out += 1;
        } else {
            self.lines.push(Line { at, call, caller, what });
        }
    }
}
