//! The waiting room of a service: numbers of attempts, in an order.

use std::collections::VecDeque;

use super::Order;
use crate::measure::random::Draw;

/// Attempts that wait for a worker.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    waiting: VecDeque<u32>,
}

impl Queue {
    /// How many wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nobody waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// One more waits.
    #[inline]
    pub fn push(&mut self, attempt: u32) {
        self.waiting.push_back(attempt);
    }

    /// Who is next, in the given order; the draw is read for the random one only.
    #[inline]
    pub fn pop(&mut self, order: Order, draw: impl FnOnce() -> Draw) -> Option<u32> {
        match order {
            Order::Fifo => self.waiting.pop_front(),
            Order::Lifo => self.waiting.pop_back(),
            Order::Random => {
                let last = self.waiting.len().checked_sub(1)?;
                self.waiting.swap_remove_back(draw().up_to(last as u64) as usize)
            }
        }
    }

    /// Takes one out of its place, wherever it waits; false where it does not wait here.
    pub fn remove(&mut self, attempt: u32) -> bool {
        let place = self.waiting.iter().position(|waiting| *waiting == attempt);
        place.is_some_and(|place| self.waiting.remove(place).is_some())
    }

    /// Empties it, first come first.
    pub fn drain(&mut self) -> Vec<u32> {
        self.waiting.drain(..).collect()
    }
}
