//! What changes about a service, and about an edge, in the course of a run.

use std::collections::VecDeque;

use super::callers_with_timeouts;
use super::dying::Life;
use super::invariant::{Level, Offer};
use super::model::Model;
use super::scaling::Scaled;
use crate::measure::random::Address;
use crate::retry::hedge;
use crate::service::Service;
use crate::service::queue::Queue;
use crate::service::sharing::Processor;
use crate::service::{cache, codel, limit};

/// What changes about a service in the course of a run.
#[derive(Debug)]
pub(super) struct ServiceState {
    pub address: Address,
    pub busy: u32,
    pub queue: Queue,
    /// So many of the first have been touched ahead of their turn (`fetch.rs`).
    pub fetched: u32,
    /// Over time, and what it is compared with: who waits, who is worked on, who could be.
    pub queued: Level,
    pub working: Level,
    pub offer: Offer,
    /// Delivered by the network when the fault is over.
    pub held: Vec<u32>,
    /// Draws made for the random order.
    pub chosen: u64,
    /// Writes that the optimistic row has taken.
    pub version: u64,
    /// Answered `rejected` or `throttled` as soon as a worker is free, before all queued work.
    pub turned_away: VecDeque<u32>,
    /// What the rate limit has let in.
    pub account: limit::Account,
    /// How full the cache in front of it is.
    pub cache: cache::State,
    /// What controlled delay has seen.
    pub codel: codel::State,
    /// Where an autoscaler decides on the workers: how many there are.
    pub scaled: Option<Scaled>,
    /// What the workers share.
    pub processor: Processor,
    /// Of the numbers that hold now: attempts in service at once; `u32::MAX` is unlimited.
    pub places: u32,
    /// Of the numbers that hold now: whether attempts are looked at when they arrive, or when their turn comes.
    pub looks: bool,
    /// Of the numbers that hold now: whether work is anything but a draw from `time` on a worker of its own.
    pub special: bool,
    /// Of the numbers that hold now: whether there is a cache in front of it.
    pub cached: bool,
    /// Whether its process is up, and how warm.
    pub life: Life,
}

/// What changes about an edge in the course of a run, beside its budget's ledgers.
#[derive(Debug)]
pub(super) struct CallerState {
    pub hedges: hedge::State,
    pub clients: u32,
    /// Of its timeouts, in the agenda.
    pub ring: usize,
}

impl ServiceState {
    pub fn new(address: Address, numbers: &Service) -> ServiceState {
        ServiceState {
            address,
            busy: 0,
            queue: Queue::default(),
            fetched: 0,
            queued: Level::default(),
            working: Level::default(),
            offer: Offer::new(numbers),
            held: Vec::new(),
            chosen: 0,
            version: 0,
            turned_away: VecDeque::new(),
            account: Default::default(),
            cache: Default::default(),
            codel: Default::default(),
            scaled: None,
            processor: Processor::default(),
            places: 0,
            looks: false,
            special: false,
            cached: false,
            life: Life::default(),
        }
    }
}

impl CallerState {
    pub fn new(model: &Model, index: usize, clients: u32) -> CallerState {
        CallerState { hedges: hedge::State::default(), clients, ring: callers_with_timeouts(model, index) }
    }
}
