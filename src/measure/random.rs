//! Random draws that have an address instead of a place in a stream.
//!
//! Two policies that are compared meet the same arrivals and the same luck, whatever else happens in between: the draw of
//! attempt 2 of call 17 is a pure function of (seed, replication, purpose, call, attempt). The function is SplitMix64 read at
//! an index (Steele, Lea, Flood, OOPSLA 2014, with Stafford's variant 13 as the finaliser), about 1 ns a draw and no state.
//! Nearly every draw of a distribution takes one word of it: the same word, the same luck, whatever the parameters.

/// 2^64 divided by the golden ratio, made odd: the step of the Weyl sequence.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a draw is for. The number is part of the address: changing one is value-breaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// The times of the calls of a group.
    Arrival = 1,
    /// Which client makes a call.
    Client = 2,
    /// When a client starts, in a load with spread or splay.
    Start = 3,
    /// How long a client thinks.
    Think = 4,
    /// How long a service works on an attempt.
    Service = 5,
    /// Whether a service fails an attempt.
    Error = 6,
    /// The wait before a retry.
    Backoff = 7,
    /// Which of the queued is next, where the order is random.
    Order = 8,
    /// Whether a client turns away its own attempt.
    Throttle = 12,
    /// Delay of the request on its way; the optimistic row's further ways follow as 17, 18 and 19.
    Link = 16,
    /// Loss of the request on its way; the further ways follow as 33, 34 and 35.
    Loss = 32,
    /// How long a breaker stays open.
    Opening = 40,
    /// The hint that goes with a reply.
    Hint = 64,
    /// How long it takes to turn an attempt away.
    Reject = 65,
    /// Whether a caller gives up after a failure.
    Patience = 66,
    /// Whether a call takes one of the ways on that its service has.
    Branch = 80,
    /// Which replica an attempt is sent to; the second to be looked at follows as 82.
    Replica = 81,
    /// Whether an attempt finds its answer in the cache.
    Cache = 83,
}

/// A node in the tree of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub u64);

/// One random word: 64 uniform bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw(pub u64);

/// Identifies a run: the scenario's seed and the number of the replication, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The scenario's seed.
    pub seed: u64,
    /// The replication, from 0.
    pub replication: u32,
}

impl Seed {
    /// The root of all addresses of the run.
    pub fn address(self) -> Address {
        Address(mix(self.seed.wrapping_add(GOLDEN))).child(u64::from(self.replication))
    }

    /// The address of the draws that all calls along one edge share. Of the run's children 0 are the groups and 1 the services.
    pub fn shared_address(self, edge: usize) -> Address {
        self.address().child(2).child(edge as u64)
    }
}

impl Address {
    /// The address of the `index`-th part of this one.
    #[inline]
    pub fn child(self, index: u64) -> Address {
        // A second, different step keeps children and draws of one address apart.
        Address(mix(self.0 ^ mix(index.wrapping_add(GOLDEN))))
    }

    /// The draw for a purpose, at the `index`-th time (an attempt, a client, a call).
    #[inline]
    pub fn draw(self, purpose: Purpose, index: u64) -> Draw {
        self.draw_way(purpose, 0, index)
    }

    /// As [`Address::draw`], for the `way`-th of several ways of one attempt.
    #[inline]
    pub fn draw_way(self, purpose: Purpose, way: u64, index: u64) -> Draw {
        Draw(mix(self.0.wrapping_add(GOLDEN.wrapping_mul((index << 8) | (purpose as u64 + way)))))
    }
}

impl Draw {
    /// Uniform in the open interval (0, 1), in the middle of 2^52 cells: neither end can be drawn.
    #[inline]
    pub fn uniform(self) -> f64 {
        ((self.0 >> 12) as f64 + 0.5) * (1.0 / 4_503_599_627_370_496.0)
    }

    /// A whole number from 0 to `most`, both included (Lemire's multiplication; its bias of most / 2^64 is below notice).
    #[inline]
    pub fn up_to(self, most: u64) -> u64 {
        match most.checked_add(1) {
            Some(count) => ((u128::from(self.0) * u128::from(count)) >> 64) as u64,
            None => self.0,
        }
    }

    /// True with probability `share`; never for 0, always for 1.
    #[inline]
    pub fn hits(self, share: f64) -> bool {
        share > 0.0 && self.uniform() < share
    }

    /// A further word for the few methods that need more than one.
    #[inline]
    pub fn next(self) -> Draw {
        Draw(mix(self.0.wrapping_add(GOLDEN)))
    }
}

/// Stafford's variant 13 of the 64-bit finaliser: every bit of the input moves every bit of the output.
#[inline]
pub fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_do_not_depend_on_order() {
        let call = Seed { seed: 1, replication: 7 }.address().child(17);
        let second = call.draw(Purpose::Service, 2);
        let _ = call.draw(Purpose::Service, 1);
        assert_eq!(second, call.draw(Purpose::Service, 2));
        assert_ne!(second, call.draw(Purpose::Backoff, 2));
        assert_ne!(second, Seed { seed: 1, replication: 8 }.address().child(17).draw(Purpose::Service, 2));
    }

    #[test]
    fn ranges_include_their_ends() {
        assert_eq!(Draw(u64::MAX).up_to(9), 9);
        assert_eq!(Draw(0).up_to(9), 0);
        assert_eq!(Draw(5).up_to(0), 0);
        assert_eq!(Draw(5).up_to(u64::MAX), 5);
        assert!(Draw(0).uniform() > 0.0 && Draw(u64::MAX).uniform() < 1.0);
        assert!(Draw(u64::MAX).hits(1.0) && !Draw(0).hits(0.0));
    }

    /// Serial correlation and mean of the words along each index of the address.
    #[test]
    fn neighbours_are_independent() {
        let root = Seed { seed: 1, replication: 0 }.address();
        let count = 200_000u64;
        let along_calls = |i: u64| root.child(i).draw(Purpose::Service, 1).uniform();
        let along_attempts = |i: u64| root.draw(Purpose::Service, i).uniform();
        let along_replications = |i: u64| Seed { seed: 1, replication: i as u32 }.address().draw(Purpose::Arrival, 0).uniform();
        for draw in [&along_calls as &dyn Fn(u64) -> f64, &along_attempts, &along_replications] {
            let mean = (0..count).map(draw).sum::<f64>() / count as f64;
            let pairs = (0..count).map(|i| (draw(i) - 0.5) * (draw(i + 1) - 0.5)).sum::<f64>() / count as f64 * 12.0;
            // Five standard errors: 1/sqrt(12 n) of the mean, 1/sqrt(n) of the correlation.
            assert!((mean - 0.5).abs() < 5.0 / (12.0 * count as f64).sqrt(), "mean {mean}");
            assert!(pairs.abs() < 5.0 / (count as f64).sqrt(), "correlation {pairs}");
        }
    }
}
