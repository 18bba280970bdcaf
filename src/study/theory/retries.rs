//! Retries where failures are independent, budgets, and the waits of decorrelated jitter.

/// The share of calls that succeed where each attempt fails with probability `failure`, independently: 1 - p^(A^L) with A `attempts` in
/// each of L `layers` on top of each other, both at least 1 (the geometric law; for the layers Ulrich, "Addressing Cascading Failures", in
/// "Site Reliability Engineering", 2016).
pub fn success(failure: f64, attempts: u32, layers: u32) -> f64 {
    1.0 - libm::pow(failure, all_attempts(attempts, layers))
}

/// Attempts a call at the lowest of the layers: (1 - p^(A^L)) / (1 - p); A^L where every attempt fails.
pub fn attempts(failure: f64, attempts: u32, layers: u32) -> f64 {
    if failure >= 1.0 { all_attempts(attempts, layers) } else { success(failure, attempts, layers) / (1.0 - failure) }
}

fn all_attempts(attempts: u32, layers: u32) -> f64 {
    libm::pow(f64::from(attempts), f64::from(layers))
}

/// The most attempts a call that a budget allows which deposits `share` retries for each call: 1 + b, and what it `held` at the start, in
/// retries, over `calls` calls. (The bound of any token bucket; the 10 % are those of "Site Reliability Engineering", 2016, chapter 21.)
pub fn budget_bound(share: f64, held: f64, calls: f64) -> f64 {
    1.0 + share + held / calls
}

/// Mean of the `retry`-th wait (from 1) of decorrelated jitter without a cap, in seconds: s(n) is uniform in [b, 3 s(n - 1)], s(0) = b, so
/// E s(n) = (b + 3 E s(n - 1)) / 2 (from the definition in the AWS Architecture Blog, 2015).
pub fn decorrelated_mean(base: f64, retry: u32) -> f64 {
    (0..retry).fold(base, |mean, _| (base + 3.0 * mean) / 2.0)
}

/// Mean of the first `retries` waits of decorrelated jitter without a cap together, in seconds.
pub fn decorrelated_total(base: f64, retries: u32) -> f64 {
    (1..=retries).map(|retry| decorrelated_mean(base, retry)).sum()
}

/// Decorrelated jitter with a cap in the long run: (mean wait in seconds, share of waits that are exactly the cap). The chain s -> min(cap,
/// uniform in [b, 3 s]) has no known closed form; its stationary law is iterated on a grid of equal steps of log s, whose error is below
/// 1e-4 of both.
pub fn decorrelated_capped(base: f64, cap: f64) -> (f64, f64) {
    if base <= 0.0 || cap <= base {
        return (cap, 1.0);
    }
    let width = libm::log(cap / base) / CELLS as f64;
    let edge = |cell: usize| base * libm::exp(width * cell as f64);
    let edges: Vec<f64> = (0..=CELLS).map(edge).collect();
    let middle = |cell: usize| (edges[cell] + edges[cell + 1]) / 2.0;
    let (mut law, mut at_cap) = (vec![0.0; CELLS], 1.0);
    for _ in 0..ROUNDS {
        // `density[i]` is what the next wait's density gains above the edge i, and loses at the end of each range.
        let mut ends = vec![0.0; CELLS + 1];
        let mut next = vec![0.0; CELLS];
        let (mut density, mut to_cap) = (0.0, 0.0);
        let sources = (0..CELLS).map(|cell| (middle(cell), law[cell])).chain([(cap, at_cap)]);
        for (wait, weight) in sources {
            let top = 3.0 * wait;
            let height = weight / (top - base);
            density += height;
            if top >= cap {
                to_cap += height * (top - cap);
            } else {
                let cell = ((libm::log(top / base) / width) as usize).min(CELLS - 1);
                // The part of the cell above the end of the range, and all cells above it, do not get this height.
                next[cell] -= height * (edges[cell + 1] - top);
                ends[cell + 1] += height;
            }
        }
        for cell in 0..CELLS {
            density -= ends[cell];
            next[cell] += density * (edges[cell + 1] - edges[cell]);
        }
        (law, at_cap) = (next, to_cap);
    }
    let mean: f64 = (0..CELLS).map(|cell| law[cell] * middle(cell)).sum();
    (mean + at_cap * cap, at_cap)
}

/// Cells of the grid.
const CELLS: usize = 4_000;

/// Rounds until the law no longer moves: it forgets a tenth of its past in each round at least.
const ROUNDS: usize = 200;

#[cfg(test)]
mod tests {
    use super::super::agrees;
    use super::*;
    use crate::measure::random::Draw;
    use crate::measure::random::mix;
    use crate::measure::time::Duration;
    use crate::retry::backoff::Backoff;

    #[test]
    fn attempts_and_success() {
        for (failure, tries, layers, wanted) in [(1.0, 3, 3, 27.0), (1.0, 4, 3, 64.0), (1.0, 3, 5, 243.0), (0.5, 4, 1, 1.875)] {
            agrees(attempts(failure, tries, layers), wanted, 1e-12);
        }
        agrees(success(0.5, 4, 1), 0.9375, 1e-12);
        agrees(success(0.9, 3, 3), 1.0 - libm::pow(0.9, 27.0), 1e-12);
        assert_eq!((success(1.0, 3, 2), attempts(0.0, 5, 5)), (0.0, 1.0));
        agrees(budget_bound(0.1, 5.0, 1000.0), 1.105, 1e-12);
    }

    #[test]
    fn decorrelated() {
        for (retry, mean) in (1..).zip([2.0, 3.5, 5.75, 9.125, 14.1875]) {
            agrees(decorrelated_mean(1.0, retry), mean, 1e-12);
        }
        agrees(decorrelated_total(1.0, 3), 11.25, 1e-12);
        // Reported from simulations: base 5, cap 2000: .270 ± .001 and a mean of 915; base 100, cap 20000: .290; base 1, cap 10: .483.
        let (mean, share) = decorrelated_capped(5.0, 2000.0);
        agrees(share, 0.270, 1e-3);
        agrees(mean, 915.0, 2.5);
        agrees(decorrelated_capped(100.0, 20_000.0).1, 0.290, 1e-3);
        agrees(decorrelated_capped(1.0, 10.0).1, 0.483, 1e-3);
        // A cap just above the base: every range is [1, 3], but for a thousandth, and .0005 of it is below the cap.
        agrees(decorrelated_capped(1.0, 1.001).1, 0.9995, 1e-4);
        assert_eq!(decorrelated_capped(2.0, 2.0), (2.0, 1.0));
    }

    /// The waits of the simulator: their share at the cap, whose standard error, with waits that remember, is some .0006 of 1,000,000.
    #[test]
    fn the_waits_of_the_simulator_pile_up_at_the_cap() {
        let (base, cap) = (Duration(5_000_000), Duration(2_000_000_000));
        let backoff = Backoff::DecorrelatedJitter { base, cap };
        let (mut memory, mut capped, mut sum, count) = (0, 0u32, 0.0, 1_000_000u32);
        for number in 0..count {
            let wait = backoff.wait(number + 1, &mut memory, Draw(mix(u64::from(number))));
            capped += u32::from(wait == cap);
            sum += wait.seconds();
        }
        let (mean, share) = decorrelated_capped(0.005, 2.0);
        agrees(f64::from(capped) / f64::from(count), share, 0.0025);
        agrees(sum / f64::from(count), mean, 0.005);
    }
}
