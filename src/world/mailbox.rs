//! Queues between clients and services: messages are received in batches, processed one after the other, and come back where they fail.

use std::collections::VecDeque;

use super::World;
use super::agenda::Event;
use super::flight::NOBODY;
use super::model::Origin;
use super::trace::{Listener, What};
use crate::measure::identifier::GroupIndex;
use crate::measure::time::{Duration, Time};
use crate::retry::outcome::Outcome;
use crate::retry::receive::Sqs;

/// All queues of a run.
#[derive(Debug, Default)]
pub(super) struct Mailboxes {
    /// By group; empty where no group has one.
    boxes: Vec<Option<Mailbox>>,
    batches: Vec<Batch>,
    free: Vec<u32>,
    /// By place of the call: its batch and its place in it; [`NOBODY`] while no function has it.
    batch_of: Vec<(u32, u32)>,
    /// By place of the call: how often it was received.
    receives: Vec<u32>,
    /// Messages that leave a batch, while they do; its room is used again.
    leaving: Vec<u32>,
}

#[derive(Debug)]
struct Mailbox {
    queue: Sqs,
    visible: VecDeque<u32>,
    /// Functions at work.
    running: u32,
    /// Whether a batch waits to be filled, and whether that wait is over.
    fills: bool,
    is_due: bool,
    /// Grows with each batch: a wait for an earlier one is over.
    batch: u32,
    /// Whether functions are being started right now.
    polls: bool,
}

/// What a function has taken, and after its end what of it will come back.
#[derive(Debug, Default)]
struct Batch {
    group: GroupIndex,
    messages: Vec<u32>,
    done: Vec<bool>,
    next: usize,
    received: Time,
    /// Grows whenever its function or its time ends: an event with another is stale.
    stamp: u32,
    running: bool,
    /// How the call has ended that is being started right now.
    heard: Option<bool>,
    starts: bool,
}

impl Mailboxes {
    pub fn new(queues: impl Iterator<Item = Option<Sqs>>) -> Mailboxes {
        let mailbox = |queue| Mailbox { queue, visible: VecDeque::new(), running: 0, fills: false, is_due: false, batch: 0, polls: false };
        let boxes: Vec<Option<Mailbox>> = queues.map(|queue| queue.map(mailbox)).collect();
        Mailboxes { boxes: if boxes.iter().any(Option::is_some) { boxes } else { Vec::new() }, ..Mailboxes::default() }
    }
}

impl<L: Listener> World<'_, L> {
    /// The queue that a client's call goes through.
    #[inline]
    pub(super) fn mailbox_of(&self, place: u32) -> Option<GroupIndex> {
        if L::PLAIN || self.mailboxes.boxes.is_empty() {
            return None;
        }
        match self.model.callers[self.calls[place].caller.at()].from {
            Origin::Group(group) => self.mailboxes.boxes[group.at()].as_ref().map(|_| group),
            Origin::Service(_) => None,
        }
    }

    fn mailbox(&mut self, group: GroupIndex) -> &mut Mailbox {
        self.mailboxes.boxes[group.at()].as_mut().expect("only groups with a queue are asked for it")
    }

    /// A call starts as a message.
    pub(super) fn enqueue(&mut self, place: u32, group: GroupIndex) {
        let mail = &mut self.mailboxes;
        if mail.receives.len() <= place as usize {
            mail.receives.resize(place as usize + 1, 0);
            mail.batch_of.resize(place as usize + 1, (NOBODY, 0));
        }
        mail.receives[place as usize] = 0;
        mail.batch_of[place as usize] = (NOBODY, 0);
        self.mailbox(group).visible.push_back(place);
        self.poll(group);
    }

    /// The wait for a batch to fill is over.
    pub(super) fn fill_is_over(&mut self, group: GroupIndex, wait: u32) {
        let mailbox = self.mailbox(group);
        if mailbox.batch == wait {
            mailbox.is_due = true;
            self.poll(group);
        }
    }

    /// Starts functions as long as there are messages for them.
    fn poll(&mut self, group: GroupIndex) {
        // A function that ends at once leaves the next to the loop that has started it.
        if std::mem::replace(&mut self.mailbox(group).polls, true) {
            return;
        }
        while let Some(size) = self.next_batch(group) {
            self.receive_batch(group, size);
        }
        self.mailbox(group).polls = false;
    }

    /// How many messages a function takes now that starts; None where none does.
    fn next_batch(&mut self, group: GroupIndex) -> Option<usize> {
        let now = self.now;
        let mailbox = self.mailbox(group);
        if mailbox.running >= mailbox.queue.concurrency || mailbox.visible.is_empty() {
            return None;
        }
        let (window, is_full) = (mailbox.queue.window, mailbox.visible.len() >= mailbox.queue.batch_size as usize);
        if window > Duration::ZERO && !is_full && !mailbox.is_due {
            if !std::mem::replace(&mut mailbox.fills, true) {
                let batch = mailbox.batch;
                self.agenda.add(now + window, Event::Poll(group, batch));
            }
            return None;
        }
        (mailbox.fills, mailbox.is_due) = (false, false);
        mailbox.batch = mailbox.batch.wrapping_add(1);
        mailbox.running += 1;
        Some(mailbox.visible.len().min(mailbox.queue.batch_size as usize))
    }

    fn receive_batch(&mut self, group: GroupIndex, size: usize) {
        let function_timeout = self.mailbox(group).queue.function_timeout;
        for index in 0..size {
            let place = self.mailbox(group).visible[index];
            self.mailboxes.receives[place as usize] += 1;
            let receives = self.mailboxes.receives[place as usize];
            self.tell_of(place, || What::Received(receives, index as u32));
        }
        let mail = &mut self.mailboxes;
        let place = mail.free.pop().unwrap_or_else(|| {
            mail.batches.push(Batch::default());
            mail.batches.len() as u32 - 1
        });
        let batch = &mut mail.batches[place as usize];
        let (mut messages, mut done) = (std::mem::take(&mut batch.messages), std::mem::take(&mut batch.done));
        messages.clear();
        messages.extend(mail.boxes[group.at()].iter_mut().flat_map(|mailbox| mailbox.visible.drain(..size)));
        done.clear();
        done.resize(size, false);
        *batch = Batch { group, messages, done, received: self.now, stamp: batch.stamp, running: true, ..Batch::default() };
        self.agenda.add(self.now + function_timeout + Duration(1), Event::Batch(place, batch.stamp));
        self.process(place);
    }

    /// The function makes the calls that are left, one after the other: until one takes time.
    fn process(&mut self, place: u32) {
        loop {
            let batch = &mut self.mailboxes.batches[place as usize];
            let Some(message) = batch.messages.get(batch.next).copied() else {
                return self.end_function(place, false);
            };
            (batch.starts, batch.heard) = (true, None);
            self.mailboxes.batch_of[message as usize] = (place, batch.next as u32);
            let (call, extra) = (&mut self.calls[message], &mut self.extra[message]);
            // The policy begins anew with each receive.
            (extra.hedges.0, extra.denied, extra.used_by_breaker, extra.skipped) = (call.attempts, 0, 0, 0);
            (extra.memory, call.last, extra.parked) = (0, Outcome::Rejected, false);
            self.begin(message);
            let batch = &mut self.mailboxes.batches[place as usize];
            batch.starts = false;
            let Some(succeeded) = batch.heard else { return };
            if !self.note(place, succeeded) {
                return;
            }
        }
    }

    /// Whether a message lies in the queue, or has left it for good: no function makes its call.
    #[inline]
    pub(super) fn rests(&self, message: u32) -> bool {
        self.mailbox_of(message).is_some() && self.mailboxes.batch_of[message as usize].0 == NOBODY
    }

    /// A call of a function has ended for now. False where no function has made it.
    #[inline]
    pub(super) fn processed(&mut self, message: u32, succeeded: bool) -> bool {
        !self.mailboxes.boxes.is_empty() && self.is_processed(message, succeeded)
    }

    fn is_processed(&mut self, message: u32, succeeded: bool) -> bool {
        let Some((place, _)) = self.mailboxes.batch_of.get(message as usize).copied().filter(|(batch, _)| *batch != NOBODY) else {
            return false;
        };
        let call = &mut self.calls[message];
        call.stamp = call.stamp.wrapping_add(1);
        let batch = &mut self.mailboxes.batches[place as usize];
        if batch.starts {
            batch.heard = Some(succeeded);
        } else if self.note(place, succeeded) {
            self.process(place);
        }
        true
    }

    /// Notes how a call has ended; true where the function goes on.
    fn note(&mut self, place: u32, succeeded: bool) -> bool {
        let batch = &mut self.mailboxes.batches[place as usize];
        let message = batch.messages[batch.next];
        self.mailboxes.batch_of[message as usize] = (NOBODY, 0);
        batch.done[batch.next] = succeeded;
        batch.next += 1;
        let group = batch.group;
        if !succeeded && !self.mailbox(group).queue.report_failures {
            self.end_function(place, true);
            return false;
        }
        true
    }

    /// A function ends: what is done is deleted, the rest comes back when it is visible again; all of it where the function has failed.
    fn end_function(&mut self, place: u32, failed: bool) {
        let batch = &mut self.mailboxes.batches[place as usize];
        batch.running = false;
        batch.stamp = batch.stamp.wrapping_add(1);
        let (group, received, stamp) = (batch.group, batch.received, batch.stamp);
        let mut deleted = std::mem::take(&mut self.mailboxes.leaving);
        let mut done = batch.done.iter().map(|done| *done && !failed);
        batch.messages.retain(|message| {
            let gone = done.next().unwrap_or(false);
            deleted.extend(gone.then_some(*message));
            !gone
        });
        if batch.messages.is_empty() {
            self.mailboxes.free.push(place);
        } else {
            let visible = received + self.mailbox(group).queue.visibility_timeout;
            self.agenda.add(visible.max(self.now), Event::Batch(place, stamp));
        }
        self.mailbox(group).running -= 1;
        for message in deleted.drain(..) {
            self.end_call(message, true);
        }
        self.mailboxes.leaving = deleted;
        self.poll(group);
    }

    /// The time of a function is over, or that of the messages it did not delete.
    pub(super) fn batch_is_over(&mut self, place: u32, stamp: u32) {
        let batch = &mut self.mailboxes.batches[place as usize];
        if batch.stamp != stamp {
            return;
        }
        if batch.running {
            let message = batch.messages[batch.next];
            self.mailboxes.batch_of[message as usize] = (NOBODY, 0);
            self.tell_of(message, || What::FunctionStopped);
            self.break_off(message);
            return self.end_function(place, true);
        }
        batch.stamp = batch.stamp.wrapping_add(1);
        let group = batch.group;
        let mut messages = std::mem::take(&mut self.mailboxes.leaving);
        std::mem::swap(&mut messages, &mut batch.messages);
        self.mailboxes.free.push(place);
        let most = self.mailbox(group).queue.max_receives;
        for message in messages.drain(..) {
            if self.mailboxes.receives[message as usize] < most {
                self.mailbox(group).visible.push_back(message);
            } else {
                self.probe.totals.dead_lettered += u64::from(self.calls[message].measured());
                self.tell_of(message, || What::DeadLetter);
                self.end_call(message, false);
            }
        }
        self.mailboxes.leaving = messages;
        self.poll(group);
    }
}
