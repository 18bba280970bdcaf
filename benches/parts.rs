//! What the parts of a run cost: the agenda, the draws, the waits of the policies. `cargo bench --bench parts`.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use retrystorm::measure::distribution::Distribution;
use retrystorm::measure::random::{Address, Draw, Purpose, Seed};
use retrystorm::measure::time::{Duration, Time};
use retrystorm::retry::backoff::{Backoff, Growth};
use retrystorm::world::agenda::{Agenda, CROWD, Event};

fn main() {
    divan::main();
}

const SECOND: u64 = 1_000_000_000;

/// When the event that replaces the one taken comes.
#[derive(Clone, Copy, Debug)]
enum Delay {
    /// Exponential, mean one second.
    Exponential,
    /// Nine of ten exponential with a mean of 10 ms, the tenth uniform up to 20 s.
    Bimodal,
    /// One second, from starts spread over a second.
    Constant,
    /// One second, all at the same nanosecond.
    Herd,
    /// Pareto of shape 1.1 from a millisecond on.
    Pareto,
}

impl Delay {
    fn of(self, draw: Draw) -> u64 {
        let exponential = |draw: Draw| (retrystorm::measure::distribution::exponential(draw.uniform()) * SECOND as f64) as u64;
        match self {
            Delay::Exponential => exponential(draw),
            Delay::Bimodal if draw.next().up_to(9) > 0 => exponential(draw) / 100,
            Delay::Bimodal => draw.up_to(20 * SECOND),
            Delay::Constant | Delay::Herd => SECOND,
            Delay::Pareto => (1e6 * libm::pow(draw.uniform(), -1.0 / 1.1)) as u64,
        }
    }

    fn first(self, draw: Draw) -> u64 {
        match self {
            Delay::Constant => draw.up_to(SECOND),
            _ => self.of(draw),
        }
    }
}

/// Takes an event and adds one, with `pending` of them at all times. Each turn of the bench is a thousand such events.
fn hold(bencher: Bencher, delay: Delay, pending: u32, crowd: usize) {
    let mut agenda = Agenda::new(0, crowd);
    let mut draw = Draw(7);
    for index in 0..pending {
        draw = draw.next();
        agenda.add(Time(delay.first(draw)), Event::Retry(index, 0));
    }
    let mut step = move || {
        let (at, event) = agenda.next(Time::NEVER).expect("events are pending");
        draw = draw.next();
        agenda.add(Time(at.0 + delay.of(draw)), event.event());
    };
    (0..2 * pending).for_each(|_| step());
    bencher.counter(ItemsCount::new(1000u32)).bench_local(|| (0..1000).for_each(|_| step()));
}

const PENDING: [u32; 4] = [1000, 10_000, 100_000, 1_000_000];
const CASES: [(Delay, u32); 12] = [
    (Delay::Exponential, PENDING[0]),
    (Delay::Exponential, PENDING[1]),
    (Delay::Exponential, PENDING[2]),
    (Delay::Exponential, PENDING[3]),
    (Delay::Bimodal, PENDING[0]),
    (Delay::Bimodal, PENDING[3]),
    (Delay::Constant, PENDING[0]),
    (Delay::Constant, PENDING[3]),
    (Delay::Herd, PENDING[0]),
    (Delay::Herd, PENDING[3]),
    (Delay::Pareto, PENDING[0]),
    (Delay::Pareto, PENDING[3]),
];

#[divan::bench(args = CASES, sample_size = 20, sample_count = 50)]
fn hold_heap(bencher: Bencher, (delay, pending): (Delay, u32)) {
    hold(bencher, delay, pending, usize::MAX);
}

#[divan::bench(args = CASES, sample_size = 20, sample_count = 50)]
fn hold_ladder(bencher: Bencher, (delay, pending): (Delay, u32)) {
    hold(bencher, delay, pending, 0);
}

#[divan::bench(args = CASES, sample_size = 20, sample_count = 50)]
fn hold_usual(bencher: Bencher, (delay, pending): (Delay, u32)) {
    hold(bencher, delay, pending, CROWD);
}

fn calls() -> impl Iterator<Item = Address> {
    let root = Seed { seed: 1, replication: 0 }.address();
    (0..1000).map(move |call| root.child(call))
}

#[divan::bench]
fn draw_word(bencher: Bencher) {
    bencher.counter(ItemsCount::new(1000u32)).bench_local(|| calls().fold(0, |sum, call| sum ^ call.draw(Purpose::Service, 1).0));
}

const MEAN: Duration = Duration(100_000_000);

#[divan::bench(args = ["exponential", "normal", "lognormal", "gamma", "weibull", "pareto"])]
fn draw_time(bencher: Bencher, name: &str) {
    let distribution = match name {
        "exponential" => Ok(Distribution::exponential(MEAN)),
        "normal" => Ok(Distribution::normal(MEAN, Duration(MEAN.0 / 5))),
        "lognormal" => Distribution::lognormal(MEAN, 0.5),
        "gamma" => Distribution::gamma(2.0, MEAN),
        "weibull" => Distribution::weibull(0.7, MEAN),
        _ => Distribution::pareto(2.5, MEAN),
    };
    let distribution = distribution.expect("valid parameters");
    bencher
        .counter(ItemsCount::new(1000u32))
        .bench_local(|| calls().fold(0, |sum, call| sum ^ black_box(&distribution).sample(call.draw(Purpose::Service, 1)).0));
}

#[divan::bench(args = ["fixed", "exponential", "full_jitter", "equal_jitter", "decorrelated_jitter"])]
fn wait_of_backoff(bencher: Bencher, name: &str) {
    let growth = Growth { base: MEAN, cap: Duration(20 * SECOND), factor: 2.0, first_exponent: 1 };
    let backoff = match name {
        "fixed" => Backoff::Fixed(MEAN),
        "exponential" => Backoff::Exponential(growth),
        "full_jitter" => Backoff::FullJitter(growth),
        "equal_jitter" => Backoff::EqualJitter(growth),
        _ => Backoff::DecorrelatedJitter { base: growth.base, cap: growth.cap },
    };
    bencher.counter(ItemsCount::new(1000u32)).bench_local(|| {
        let mut memory = 0;
        let wait = |sum: u64, (retry, call): (u32, Address)| {
            sum ^ black_box(&backoff).wait(1 + retry % 8, &mut memory, call.draw(Purpose::Backoff, retry.into())).0
        };
        (0..).zip(calls()).fold(0, wait)
    });
}
