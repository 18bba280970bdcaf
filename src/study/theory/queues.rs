//! Queues with waiting rooms, with losses, with impatience, and closed loops.
//!
//! `arrival` and `service` are rates per second (above zero), `service` that of one worker; times are in seconds. Where a queue must be
//! stable, the arrivals are below the workers times the service rate; otherwise the result is infinite.

/// Erlang's loss formula B(c, a), a share: the part of Poisson calls that find all `workers` busy and are lost (Erlang, "Solution of some
/// problems in the theory of probabilities of significance in automatic telephone exchanges", 1917). `offered` is arrival / service, in
/// Erlang. By the recursion B(0) = 1, B(n) = a B(n - 1) / (n + a B(n - 1)).
pub fn erlang_b(workers: u32, offered: f64) -> f64 {
    (1..=workers).fold(1.0, |loss, worker| offered * loss / (f64::from(worker) + offered * loss))
}

/// Erlang's waiting formula C(c, a), a share: the part of Poisson calls that find all `workers` busy and wait (Erlang, 1917).
/// C = c B / (c - a (1 - B)); 1 where the queue is not stable.
pub fn erlang_c(workers: u32, offered: f64) -> f64 {
    let (count, loss) = (f64::from(workers), erlang_b(workers, offered));
    if offered < count { count * loss / (count - offered * (1.0 - loss)) } else { 1.0 }
}

/// Mean wait in an M/M/c queue, in seconds: Wq = C / (c mu - lambda) (Erlang, 1917; Kleinrock, "Queueing Systems" I, 1975, section 3.5).
pub fn mmc_wait(workers: u32, arrival: f64, service: f64) -> f64 {
    let spare = f64::from(workers) * service - arrival;
    if spare > 0.0 { erlang_c(workers, arrival / service) / spare } else { f64::INFINITY }
}

/// The share of calls that wait longer than `time` seconds in an M/M/c queue served in order: P(Wq > t) = C e^-(c mu - lambda) t
/// (Erlang, 1917).
pub fn mmc_wait_tail(workers: u32, arrival: f64, service: f64, time: f64) -> f64 {
    erlang_c(workers, arrival / service) * libm::exp(-(f64::from(workers) * service - arrival).max(0.0) * time)
}

/// The share of calls that are in an M/M/c queue, waiting or served, for longer than `time` seconds: the wait, which is 0 with
/// probability 1 - C and else exponential with rate d = c mu - lambda, plus an exponential service (Gross and Harris, "Fundamentals of
/// Queueing Theory"). For one worker e^-(mu - lambda) t.
pub fn mmc_response_tail(workers: u32, arrival: f64, service: f64, time: f64) -> f64 {
    let (waits, spare) = (erlang_c(workers, arrival / service), f64::from(workers) * service - arrival);
    if spare <= 0.0 {
        return 1.0;
    }
    let served = libm::exp(-service * time);
    // The two rates fall together where c - 1 = a: the sum of two equal exponentials.
    let both = if (spare - service).abs() < 1e-9 * service {
        (1.0 + service * time) * served
    } else {
        (spare * served - service * libm::exp(-spare * time)) / (spare - service)
    };
    (1.0 - waits) * served + waits * both
}

/// The share that an M/M/1/K queue turns away, which has `places` in all, the worker's included, from 1: (1 - r) r^K / (1 - r^(K + 1)),
/// r = lambda / mu (Kleinrock I, 1975, section 3.6).
pub fn mm1k_loss(places: u32, arrival: f64, service: f64) -> f64 {
    mm1k_state(places, places, arrival / service)
}

/// Mean number in an M/M/1/K queue, waiting or served: the sum of n p(n), p(n) = (1 - r) r^n / (1 - r^(K + 1)) (Kleinrock I, 1975).
pub fn mm1k_number(places: u32, arrival: f64, service: f64) -> f64 {
    (0..=places).map(|number| f64::from(number) * mm1k_state(number, places, arrival / service)).sum()
}

fn mm1k_state(number: u32, places: u32, ratio: f64) -> f64 {
    // The sum of the powers instead of its closed form, which is 0 / 0 at r = 1.
    let powers: f64 = (0..=places).map(|number| libm::pow(ratio, f64::from(number))).sum();
    libm::pow(ratio, f64::from(number)) / powers
}

/// Mean wait in an M/G/1 queue, in seconds: Wq = lambda E(S^2) / (2 (1 - rho)) = rho E(S) (1 + v) / (2 (1 - rho)) (Pollaczek, 1930;
/// Khinchine, 1932). `mean` is E(S) in seconds, `variation` the squared coefficient of variation of the service time: 0 for a constant, 1
/// for an exponential time.
pub fn mg1_wait(arrival: f64, mean: f64, variation: f64) -> f64 {
    let load = arrival * mean;
    if load < 1.0 { load * mean * (1.0 + variation) / (2.0 * (1.0 - load)) } else { f64::INFINITY }
}

/// The share of calls that leave an M/M/1 queue unserved where each waits `patience` seconds at most for its turn:
/// (1 - rho) rho E / (1 - rho^2 E), E = e^-(mu - lambda) tau, rho other than 1 (Barrer, "Queuing with impatient customers and ordered
/// service", Operations Research 1957).
pub fn patience_loss(arrival: f64, service: f64, patience: f64) -> f64 {
    let load = arrival / service;
    let late = libm::exp(-(service - arrival) * patience);
    (1.0 - load) * load * late / (1.0 - load * load * late)
}

/// Throughput per second and mean response time in seconds of `clients` (from 1) that each think for `think` seconds and then use one
/// worker for `service` seconds on average, by mean value analysis: R(n) = S (1 + Q(n - 1)), X = n / (R + Z), Q = X R (Reiser and
/// Lavenberg, JACM 1980).
pub fn closed_loop(clients: u32, think: f64, service: f64) -> (f64, f64) {
    let (mut queue, mut throughput, mut response) = (0.0, 0.0, service);
    for count in 1..=clients {
        response = service * (1.0 + queue);
        throughput = f64::from(count) / (response + think);
        queue = throughput * response;
    }
    (throughput, response)
}

/// Mean wait in seconds of `clients` that come back evenly within `window` seconds, where `capacity` of them a second are served in order:
/// in the fluid limit the queue grows for the whole window and the wait is (M / H - W) / 2, or 0 where W >= M / H.
pub fn spread_wait(clients: f64, capacity: f64, window: f64) -> f64 {
    ((clients / capacity - window) / 2.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::agrees;
    use super::*;

    #[test]
    fn erlang() {
        agrees(erlang_c(10, 8.0), 0.40918, 5e-6);
        agrees(mmc_wait(10, 8.0, 1.0), 0.20459, 5e-6);
        agrees(erlang_b(10, 8.0), 0.121661, 5e-7);
        assert_eq!((erlang_b(0, 3.0), erlang_c(2, 2.5), mmc_wait(1, 2.0, 2.0)), (1.0, 1.0, f64::INFINITY));
        agrees(mmc_wait(1, 0.8, 1.0), 4.0, 1e-12);
    }

    #[test]
    fn tails() {
        agrees(mmc_wait_tail(10, 8.0, 1.0, 0.0), erlang_c(10, 8.0), 1e-15);
        // The mean is the integral of the tail.
        let area = |tail: &dyn Fn(f64) -> f64| (0..200_000).map(|step| tail((f64::from(step) + 0.5) * 1e-3) * 1e-3).sum::<f64>();
        agrees(area(&|time| mmc_wait_tail(10, 8.0, 1.0, time)), 0.20459, 5e-6);
        agrees(area(&|time| mmc_response_tail(10, 8.0, 1.0, time)), 1.20459, 5e-6);
        agrees(mmc_response_tail(1, 0.8, 1.0, 5.0), libm::exp(-1.0), 1e-12);
        // Where both rates are the same, the limit of those beside it.
        agrees(mmc_response_tail(3, 2.0, 1.0, 1.5), mmc_response_tail(3, 2.0 + 1e-7, 1.0, 1.5), 1e-6);
        assert_eq!(mmc_response_tail(1, 1.0, 1.0, 3.0), 1.0);
    }

    #[test]
    fn finite_room() {
        agrees(mm1k_loss(20, 0.95, 1.0), 0.0271812, 5e-8);
        agrees(mm1k_number(20, 0.95, 1.0), 8.15472, 5e-6);
        agrees(mm1k_loss(4, 1.0, 1.0), 0.2, 1e-15);
        agrees(mm1k_loss(1, 2.0, 1.0), erlang_b(1, 2.0), 1e-15);
    }

    #[test]
    fn one_worker() {
        for (variation, wait) in [(0.0, 2.0), (1.0, 4.0), (5.5, 13.0)] {
            agrees(mg1_wait(0.8, 1.0, variation), wait, 1e-12);
        }
        assert_eq!(mg1_wait(1.0, 1.0, 0.0), f64::INFINITY);
        agrees(patience_loss(0.9, 1.0, 2.0), 0.218764, 5e-7);
        // Who does not wait at all is lost as Erlang says.
        agrees(patience_loss(0.9, 1.0, 0.0), erlang_b(1, 0.9), 1e-12);
    }

    #[test]
    fn closed() {
        let (throughput, response) = closed_loop(30, 10.0, 0.5);
        agrees(throughput, 1.983085, 5e-7);
        agrees(response, 5.127945, 5e-7);
        assert_eq!(closed_loop(1, 3.0, 1.0), (0.25, 1.0));
    }

    #[test]
    fn reconnecting() {
        assert_eq!(spread_wait(50_000.0, 2000.0, 25.0), 0.0);
        assert_eq!(spread_wait(50_000.0, 2000.0, 5.0), 10.0);
    }
}
