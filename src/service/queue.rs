//! The waiting room of a service: numbers of attempts, in an order.

use std::collections::VecDeque;

use super::Order;
use super::criticality::{CLASSES, Criticality};
use crate::measure::random::Draw;

/// Attempts that wait for a worker.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    waiting: VecDeque<u32>,
    /// Those of the order `priority`, which wait here instead.
    lanes: Option<Box<Lanes>>,
}

/// A line for each class, the most important first; each attempt with its turn, by which the lines can be joined again.
#[derive(Clone, Debug, Default)]
struct Lanes {
    lines: [VecDeque<(u64, u32)>; CLASSES],
    turns: u64,
}

impl Lanes {
    fn push(&mut self, attempt: u32, class: Criticality) {
        self.turns += 1;
        self.lines[class as usize].push_back((self.turns, attempt));
    }

    fn len(&self) -> usize {
        self.lines.iter().map(VecDeque::len).sum()
    }
}

impl Queue {
    /// How many wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.waiting.len() + self.lanes.as_ref().map_or(0, |lanes| lanes.len())
    }

    /// Whether nobody waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.lanes.as_ref().is_none_or(|lanes| lanes.len() == 0)
    }

    /// Who comes next where the first come first, as many as there are up to a number.
    pub fn first(&self, most: usize) -> impl Iterator<Item = u32> + '_ {
        self.waiting.iter().copied().take(most)
    }

    /// One more waits, of a class that matters to the order `priority` alone.
    #[inline]
    pub fn push(&mut self, attempt: u32, order: Order, class: impl FnOnce() -> Criticality) {
        if order == Order::Priority {
            self.push_by_class(attempt, class());
        } else {
            self.waiting.push_back(attempt);
        }
    }

    #[inline(never)]
    fn push_by_class(&mut self, attempt: u32, class: Criticality) {
        self.lanes.get_or_insert_default().push(attempt, class);
    }

    /// Who is next, in the given order; the draw is read for the random one only.
    #[inline]
    pub fn pop(&mut self, order: Order, draw: impl FnOnce() -> Draw) -> Option<u32> {
        match order {
            Order::Fifo => self.waiting.pop_front(),
            Order::Lifo => self.waiting.pop_back(),
            _ => self.pop_rarer(order, draw),
        }
    }

    /// Kept out of line, so that the common orders stay small in the loop.
    #[inline(never)]
    fn pop_rarer(&mut self, order: Order, draw: impl FnOnce() -> Draw) -> Option<u32> {
        match order {
            Order::Random => {
                let last = self.waiting.len().checked_sub(1)?;
                self.waiting.swap_remove_back(draw().up_to(last as u64) as usize)
            }
            Order::AdaptiveLifo(above) if self.waiting.len() > above as usize => self.waiting.pop_back(),
            Order::AdaptiveLifo(_) | Order::Fifo => self.waiting.pop_front(),
            Order::Lifo => self.waiting.pop_back(),
            Order::Priority => {
                let lines = &mut self.lanes.as_mut()?.lines;
                lines.iter_mut().find_map(VecDeque::pop_front).map(|(_, attempt)| attempt)
            }
        }
    }

    /// Makes room in a full queue of the order `priority` for an attempt of this class: takes out the newest of the least important
    /// class, if that is less important.
    pub fn push_out(&mut self, class: Criticality) -> Option<u32> {
        let lines = &mut self.lanes.as_mut()?.lines;
        let below = &mut lines[class as usize + 1..];
        below.iter_mut().rev().find_map(VecDeque::pop_back).map(|(_, attempt)| attempt)
    }

    /// The order changes: who waits goes over to it, first come first.
    pub fn change(&mut self, order: Order, class: impl Fn(u32) -> Criticality) {
        let waiting = self.drain();
        self.lanes = None;
        waiting.into_iter().for_each(|attempt| self.push(attempt, order, || class(attempt)));
    }

    /// The last in line; None where nobody waits.
    pub fn last(&self) -> Option<u32> {
        let lines = self.lanes.iter().flat_map(|lanes| &lanes.lines);
        let last = lines.filter_map(VecDeque::back).max().map(|(_, attempt)| *attempt);
        last.or(self.waiting.back().copied())
    }

    /// Takes one out of its place, wherever it waits; false where it does not wait here.
    pub fn remove(&mut self, attempt: u32) -> bool {
        let place = self.waiting.iter().position(|waiting| *waiting == attempt);
        let mut lines = self.lanes.iter_mut().flat_map(|lanes| &mut lanes.lines);
        place.is_some_and(|place| self.waiting.remove(place).is_some())
            || lines.any(|line| {
                let place = line.iter().position(|(_, waiting)| *waiting == attempt);
                place.is_some_and(|place| line.remove(place).is_some())
            })
    }

    /// Empties it, first come first.
    pub fn drain(&mut self) -> Vec<u32> {
        let mut waiting: Vec<u32> = self.waiting.drain(..).collect();
        let lines = self.lanes.iter_mut().flat_map(|lanes| &mut lanes.lines);
        let mut ranked: Vec<(u64, u32)> = lines.flat_map(|line| line.drain(..)).collect();
        ranked.sort_unstable();
        waiting.extend(ranked.into_iter().map(|(_, attempt)| attempt));
        waiting
    }
}

#[cfg(test)]
mod tests {
    use super::Criticality::{Critical, CriticalPlus, Sheddable, SheddablePlus};
    use super::*;

    fn order_of(queue: &mut Queue, order: Order) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop(order, || Draw(0))).collect()
    }

    #[test]
    fn the_important_come_first_and_among_equals_the_first_come() {
        let mut queue = Queue::default();
        for (attempt, class) in [(1, Sheddable), (2, Critical), (3, SheddablePlus), (4, Critical), (5, CriticalPlus), (6, Sheddable)] {
            queue.push(attempt, Order::Priority, || class);
        }
        assert_eq!(queue.len(), 6);
        // The newest of the lowest class makes room for a higher one, and nobody for the lowest.
        assert_eq!((queue.push_out(Sheddable), queue.push_out(Critical)), (None, Some(6)));
        assert_eq!((queue.push_out(SheddablePlus), queue.push_out(SheddablePlus)), (Some(1), None));
        assert!(queue.remove(4) && !queue.remove(4));
        let mut other = queue.clone();
        assert_eq!(order_of(&mut queue, Order::Priority), [5, 2, 3]);
        other.change(Order::Fifo, |_| Critical);
        other.push(9, Order::Fifo, || CriticalPlus);
        assert_eq!(order_of(&mut other, Order::Fifo), [2, 3, 5, 9]);
    }

    #[test]
    fn a_short_queue_is_in_order_and_a_long_one_turned_round() {
        let mut queue = Queue::default();
        (1..=6).for_each(|attempt| queue.push(attempt, Order::AdaptiveLifo(3), || Critical));
        assert_eq!(order_of(&mut queue, Order::AdaptiveLifo(3)), [6, 5, 4, 1, 2, 3]);
    }
}
