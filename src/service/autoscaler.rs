//! An autoscaler: how many workers a service should have, by what was measured since the last look.

use crate::measure::time::Duration;

/// The numbers of an autoscaler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Autoscaler {
    /// What is looked at.
    pub signal: Signal,
    /// What there should be of it for each worker; above zero.
    pub target: f64,
    /// How often; above zero.
    pub every: Duration,
    /// How long it takes until a worker that was ordered is there.
    pub lag: Duration,
    /// Workers, at least.
    pub least: u32,
    /// Workers, at most; at least `least`.
    pub most: u32,
    /// Workers that one look orders or sends away, at most; at least 1.
    pub step: u32,
    /// How far from the target, as a part of it, nothing is done.
    pub tolerance: f64,
}

/// What an autoscaler looks at: since the last look, of all workers together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Workers held, averaged over time.
    Busy,
    /// Workers at work of their own, averaged over time: those that wait for a service they call are held but not at work.
    Cpu,
    /// Attempts in the queue, averaged over time.
    Queue,
    /// Attempts that arrived, a second.
    Arrivals,
    /// Attempts served that somebody still waited for, a second.
    Goodput,
}

impl Autoscaler {
    /// How many workers there should be, given so much of the signal and so many workers, those included that are on their way. The
    /// rule of the Kubernetes horizontal pod autoscaler: ceil(workers * measured / target), measured for each worker.
    pub fn wanted(&self, workers: u32, signal: f64) -> u32 {
        let needed = signal / self.target;
        let near = (needed - f64::from(workers)).abs() <= self.tolerance * f64::from(workers);
        let wanted = if near { workers } else { needed.ceil().min(f64::from(u32::MAX)) as u32 };
        let stepped = wanted.clamp(workers.saturating_sub(self.step), workers.saturating_add(self.step));
        stepped.clamp(self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_wants_what_the_target_says() {
        let scaler = Autoscaler {
            signal: Signal::Busy,
            target: 0.5,
            every: Duration(1),
            lag: Duration(0),
            least: 2,
            most: 50,
            step: 10,
            tolerance: 0.1,
        };
        // 10 busy at 50 % each are 20 workers; 18 and 22 are near enough; at most ten more or fewer; never below 2 or above 50.
        for (workers, signal, wanted) in
            [(12, 10.0, 20), (20, 9.0, 20), (20, 11.0, 20), (20, 11.1, 23), (20, 40.0, 30), (20, 1.0, 10), (3, 0.0, 2), (45, 99.0, 50)]
        {
            assert_eq!(scaler.wanted(workers, signal), wanted, "{workers} {signal}");
        }
    }
}
