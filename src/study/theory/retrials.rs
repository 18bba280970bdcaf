//! Retrial queues: one worker, no waiting room; whoever finds it busy comes back after an exponential time. `arrival`, `service` and
//! `retry` are rates per second: of new calls, of the worker, and of one waiting call's attempts.

/// A retrial queue in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retrial {
    /// The share of time that the worker is busy.
    pub busy: f64,
    /// Calls that wait for their next attempt, on average.
    pub orbit: f64,
    /// Attempts a call, the first included.
    pub attempts: f64,
}

/// Where every blocked call returns, for ever: E(orbit) = rho^2 / (1 - rho) + (lambda / theta) rho / (1 - rho), attempts = 1 + rho (1 +
/// theta / mu) / (1 - rho), rho = lambda / mu below 1 (Falin and Templeton, "Retrial Queues", 1997).
pub fn persistent(arrival: f64, service: f64, retry: f64) -> Retrial {
    let load = arrival / service;
    if load >= 1.0 {
        return Retrial { busy: 1.0, orbit: f64::INFINITY, attempts: f64::INFINITY };
    }
    let orbit = load * load / (1.0 - load) + arrival / retry * load / (1.0 - load);
    Retrial { busy: load, orbit, attempts: 1.0 + load * (1.0 + retry / service) / (1.0 - load) }
}

/// Where a blocked call returns with probability `persistence` H (0 to 1) each time, and is lost otherwise (the model with impatient
/// callers of Falin and Templeton, 1997). Solved from its generator: with p1(n) and p0(n) the probabilities of n in orbit and a busy or
/// idle worker, mu p1(n) = (lambda + n theta) p0(n), and across the cut below level m = n + 1
/// lambda H p1(n) = m theta (p0(m) + (1 - H) p1(m)), so each level follows from the one below. Each wait is 1 / theta on average, and by
/// Little's law attempts = 1 + theta E(orbit) / lambda.
pub fn impatient(arrival: f64, service: f64, retry: f64, persistence: f64) -> Retrial {
    if persistence >= 1.0 {
        return persistent(arrival, service, retry);
    }
    let (mut busy, mut idle, mut orbit) = (0.0, 0.0, 0.0);
    let mut level = 1.0; // p1(n), but for a factor.
    for number in 0..MOST_LEVELS {
        let waiting = f64::from(number);
        let unoccupied = service * level / (arrival + waiting * retry);
        busy += level;
        idle += unoccupied;
        orbit += waiting * (level + unoccupied);
        let above = (waiting + 1.0) * retry;
        let factor = arrival * persistence / (above * (service / (arrival + above) + 1.0 - persistence));
        // The factors fall with the level: once they are small, what is left out is smaller than the last term.
        if factor < 0.5 && level < 1e-18 * busy {
            break;
        }
        level *= factor;
        // Long before a number is too large for its type.
        if level > 1e200 {
            (busy, idle, orbit, level) = (busy / level, idle / level, orbit / level, 1.0);
        }
    }
    let all = busy + idle;
    let orbit = orbit / all;
    Retrial { busy: busy / all, orbit, attempts: 1.0 + retry * orbit / arrival }
}

/// Where the sum over the levels ends in any case; the factors are below one half long before.
const MOST_LEVELS: u32 = 10_000_000;

#[cfg(test)]
mod tests {
    use super::super::agrees;
    use super::*;

    #[test]
    fn the_printed_values() {
        let found = persistent(0.7, 1.0, 0.3);
        agrees(found.orbit, 7.0778, 5e-5);
        agrees(found.attempts, 4.0333, 5e-5);
        let found = impatient(2.0, 1.0, 0.5, 0.5);
        agrees(found.busy, 0.755373, 5e-7);
        agrees(found.orbit, 2.48925, 5e-6);
        agrees(found.attempts, 1.62231, 5e-6);
    }

    #[test]
    fn both_solutions_meet() {
        let (closed, solved) = (persistent(0.7, 1.0, 0.3), impatient(0.7, 1.0, 0.3, 1.0 - 1e-9));
        agrees(solved.orbit, closed.orbit, 1e-5);
        agrees(solved.busy, closed.busy, 1e-7);
        // Who never returns is lost as Erlang says.
        agrees(impatient(2.0, 1.0, 0.5, 0.0).busy, super::super::queues::erlang_b(1, 2.0), 1e-12);
        assert_eq!(persistent(1.0, 1.0, 0.3).attempts, f64::INFINITY);
        // Slow returns make many levels, whose weights are beyond any floating number.
        assert!(impatient(1000.0, 1.0, 1e-3, 0.9).busy > 0.99);
    }
}
