//! Processes that die of their queue: they lose what they have, are away until they have started again, and are slow while cold.

use super::agenda::Event;
use super::trace::{Listener, What};
use super::{ServiceState, World};
use crate::measure::identifier::ServiceIndex;
use crate::measure::time::Time;
use crate::service::crash::Crash;
use crate::service::{Down, Service};

/// How a service's process is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    /// Whether and how it is down, by the numbers that hold now, or since it has died.
    pub down: Option<Down>,
    /// Of the numbers that hold now: one more in the queue than so many kills it; `u32::MAX` where none does.
    pub bears: u32,
    /// What its speed is multiplied with: 1 but while it is cold.
    pub warmth: f64,
    phase: Phase,
    /// Grows whenever its process dies: what was to come of the one before is stale.
    round: u32,
    /// Where it is down, since when that has not been counted.
    since: Time,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// It works at its speed, or a fault has it down.
    Up,
    /// It has died, and is about to start again.
    Dead(Crash),
    /// It is in this step of getting warm.
    Cold(Crash, u32),
}

impl Default for Life {
    fn default() -> Life {
        Life { down: None, bears: u32::MAX, warmth: 1.0, phase: Phase::Up, round: 0, since: Time::ZERO }
    }
}

/// Whether what is queued and in progress is lost so.
pub(super) fn destroys(down: Option<Down>) -> bool {
    matches!(down, Some(Down::Refuse | Down::Hang))
}

impl Life {
    /// Takes up the numbers that hold now. True where it comes up, and its time down must be counted.
    fn take_in(&mut self, numbers: &Service, now: Time) -> bool {
        let before = self.down;
        self.bears = numbers.crash.map_or(u32::MAX, |crash| crash.queue - 1);
        self.down = numbers.down.or(match self.phase {
            Phase::Dead(crash) => Some(crash.down),
            Phase::Up | Phase::Cold(..) => None,
        });
        if before.is_none() {
            self.since = now;
        }
        before.is_some() && self.down.is_none()
    }
}

impl ServiceState {
    /// The queue length, the busy workers, and whether it is down (1) or not (0).
    pub(super) fn levels(&self) -> [u32; 3] {
        [self.queue.len() as u32, self.busy, u32::from(self.life.down.is_some())]
    }
}

impl<L: Listener> World<'_, L> {
    /// As many wait as the process can bear, and one more: it dies.
    #[cold]
    #[inline(never)]
    pub(super) fn die(&mut self, service: ServiceIndex, attempt: u32) {
        let Some(crash) = self.numbers.services[service.at()].crash else { return };
        self.tell_of_attempt(attempt, What::Kills);
        self.probe.service(service, self.now).into_iter().for_each(|totals| totals.crashes += 1);
        let life = &mut self.services[service.at()].life;
        life.phase = Phase::Dead(crash);
        life.round = life.round.wrapping_add(1);
        let start = Event::Life(service, life.round);
        self.agenda.add(self.now + crash.restart, start);
        self.take_in_life(service);
        self.destroy(service, crash.down == Down::Refuse);
        // Nothing is left that could go faster.
        self.services[service.at()].life.warmth = 1.0;
    }

    /// Other numbers hold: more may wait by now than the process can bear.
    pub(super) fn check_life(&mut self, service: ServiceIndex) {
        let state = &self.services[service.at()];
        if state.queue.len() as u64 > u64::from(state.life.bears)
            && let Some(last) = state.queue.last()
        {
            self.die(service, last);
        }
    }

    /// A fault takes the process away, or gives it back: however it ended, it starts anew, and cold.
    pub(super) fn change_life(&mut self, service: ServiceIndex, before: Option<Down>) {
        let numbers = &self.numbers.services[service.at()];
        let life = &mut self.services[service.at()].life;
        match (life.phase, destroys(before), destroys(numbers.down)) {
            (Phase::Cold(..), false, true) => {
                life.phase = Phase::Up;
                life.round = life.round.wrapping_add(1);
                life.warmth = 1.0;
            }
            (Phase::Up, true, false) => numbers.crash.into_iter().for_each(|crash| self.warm(service, crash, 0)),
            _ => {}
        }
    }

    /// A process has started again, or has got a step warmer.
    pub(super) fn live_on(&mut self, service: ServiceIndex, round: u32) {
        let life = &mut self.services[service.at()].life;
        match life.phase {
            _ if life.round != round => {}
            Phase::Up => {}
            // A fault has it down: it starts when that is over.
            Phase::Dead(_) if destroys(self.numbers.services[service.at()].down) => {
                life.phase = Phase::Up;
                self.take_in_life(service);
            }
            Phase::Dead(crash) => {
                self.warm(service, crash, 0);
                self.take_in_life(service);
            }
            Phase::Cold(crash, step) => self.warm(service, crash, step + 1),
        }
    }

    /// A process is in this step of getting warm from now on, and warm after the last.
    fn warm(&mut self, service: ServiceIndex, crash: Crash, step: u32) {
        let is_cold = crash.cold.0 > 0 && step < crash.steps;
        let life = &mut self.services[service.at()].life;
        life.phase = if is_cold { Phase::Cold(crash, step) } else { Phase::Up };
        let (before, after) = (life.warmth, if is_cold { crash.warmth(step) } else { 1.0 });
        let next = Event::Life(service, life.round);
        if is_cold {
            self.agenda.add(self.now + crash.step_length(step), next);
        }
        let numbers = &self.numbers.services[service.at()];
        if numbers.sharing {
            self.bring_up_to_date(service, self.pace(service));
            self.services[service.at()].life.warmth = after;
            self.await_first(service);
        } else {
            self.services[service.at()].life.warmth = after;
            self.change_speed(service, numbers.speed * before, numbers.speed * after);
        }
    }

    /// The numbers that hold now, or its death or start, say whether it is down.
    pub(super) fn take_in_life(&mut self, service: ServiceIndex) {
        let numbers = &self.numbers.services[service.at()];
        if self.services[service.at()].life.take_in(numbers, self.now) {
            self.count_down(service);
        }
    }

    /// The time that it was down until now.
    pub(super) fn count_down(&mut self, service: ServiceIndex) {
        let since = std::mem::replace(&mut self.services[service.at()].life.since, self.now);
        self.probe.services[service.at()].down += self.probe.measured_part(since, self.now);
    }

    /// At the end: the time down of all that are.
    pub(super) fn count_what_is_down(&mut self) {
        for index in 0..self.services.len() {
            if self.services[index].life.down.is_some() {
                self.count_down(ServiceIndex(index as u16));
            }
        }
    }
}
