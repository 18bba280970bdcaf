//! When a storm keeps itself alive, and how long it takes to pass: first come first served, abandoned work still done, `attempts` A tries
//! at once after each timeout of `timeout` seconds (Bronson and others, "Metastable Failures in Distributed Systems", HotOS 2021; the
//! fluid arithmetic is that of any overloaded queue). `service` is the capacity mu and `arrival` the load lambda, per second.

/// The greatest load per second at which a stuck state cannot keep itself alive: mu / A. Above it every call that is late makes A attempts,
/// more than the service can do.
pub fn stable_load(service: f64, attempts: u32) -> f64 {
    service / f64::from(attempts)
}

/// Seconds from the end of the trigger until the service is in time again, with a `backlog` B of attempts at that end:
/// (B - mu tau) / (mu - A lambda); infinite where A lambda is not below mu, 0 where the backlog is within the timeout.
pub fn recovery_time(backlog: f64, service: f64, timeout: f64, attempts: u32, arrival: f64) -> f64 {
    let excess = (backlog - service * timeout).max(0.0);
    let spare = service - f64::from(attempts) * arrival;
    match (excess > 0.0, spare > 0.0) {
        (false, _) => 0.0,
        (true, true) => excess / spare,
        (true, false) => f64::INFINITY,
    }
}

/// Attempts that an outage of `length` seconds leaves behind where all are kept until its end: each call sends one every `timeout` seconds,
/// A at most, so those that started x seconds before the end have sent min(A, 1 + x / tau) of them, whole ones.
pub fn held_backlog(length: f64, timeout: f64, attempts: u32, arrival: f64) -> f64 {
    (0..attempts).map(|attempt| arrival * (length - f64::from(attempt) * timeout).max(0.0)).sum()
}

/// Seconds that a spike of `spike` calls per second must last at least to make the service late: its queue must outgrow the timeout, and
/// d (lambda_spike - mu) >= tau mu. Infinite where the spike is within the capacity.
pub fn smallest_spike(timeout: f64, service: f64, spike: f64) -> f64 {
    if spike > service { timeout * service / (spike - service) } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::super::agrees;
    use super::*;

    #[test]
    fn the_arithmetic_of_a_storm() {
        // Four workers of 25 ms, four attempts: 160 / 4 = 40 calls a second.
        assert_eq!(stable_load(160.0, 4), 40.0);
        // Bronson: 300 a second, a held outage of 10 s, one retry after 1 s.
        agrees(held_backlog(10.0, 1.0, 2, 140.0), 2660.0, 1e-9);
        agrees(recovery_time(2660.0, 300.0, 1.0, 2, 140.0), 118.0, 1e-9);
        agrees(recovery_time(held_backlog(10.0, 1.0, 1, 280.0), 300.0, 1.0, 1, 280.0), 125.0, 1e-9);
        assert_eq!(recovery_time(2660.0, 300.0, 1.0, 2, 150.0), f64::INFINITY);
        assert_eq!(recovery_time(250.0, 300.0, 1.0, 2, 150.0), 0.0);
        assert_eq!(held_backlog(1.5, 1.0, 3, 100.0), 200.0);
        assert_eq!(smallest_spike(1.0, 300.0, 450.0), 2.0);
        assert_eq!(smallest_spike(1.0, 300.0, 300.0), f64::INFINITY);
    }
}
