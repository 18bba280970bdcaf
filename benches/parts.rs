//! What the parts of a run cost: the agenda, the draws, the waits of every backoff. `cargo bench --bench parts`.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use retrystorm::measure::distribution::Distribution;
use retrystorm::measure::random::{Address, Draw, Purpose, Seed};
use retrystorm::measure::time::{Duration, Time};
use retrystorm::retry::backoff::Backoff;
use retrystorm::study::scenario::Scenario;
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
    /// From a nanosecond to ten seconds, each decade as likely.
    Decades,
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
            Delay::Decades => {
                let decade = 10u64.pow(draw.up_to(9) as u32);
                decade + draw.next().up_to(9 * decade)
            }
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
const DELAYS: [Delay; 6] = [Delay::Exponential, Delay::Bimodal, Delay::Constant, Delay::Herd, Delay::Pareto, Delay::Decades];

fn cases() -> impl Iterator<Item = (Delay, u32)> {
    DELAYS.into_iter().flat_map(|delay| PENDING.map(move |pending| (delay, pending)))
}

#[divan::bench(args = cases(), sample_size = 20, sample_count = 50)]
fn hold_heap(bencher: Bencher, (delay, pending): (Delay, u32)) {
    hold(bencher, delay, pending, usize::MAX);
}

#[divan::bench(args = cases(), sample_size = 20, sample_count = 50)]
fn hold_ladder(bencher: Bencher, (delay, pending): (Delay, u32)) {
    hold(bencher, delay, pending, 0);
}

#[divan::bench(args = cases(), sample_size = 20, sample_count = 50)]
fn hold_usual(bencher: Bencher, (delay, pending): (Delay, u32)) {
    hold(bencher, delay, pending, CROWD);
}

/// A million events at one nanosecond: all are added, then all are taken.
#[divan::bench(args = [("heap", usize::MAX), ("usual", CROWD), ("ladder", 0)], sample_size = 1, sample_count = 5)]
fn million_at_one_instant(bencher: Bencher, (_, crowd): (&str, usize)) {
    let count = 1_000_000u32;
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        let mut agenda = Agenda::new(0, crowd);
        (0..count).for_each(|index| agenda.add(Time(SECOND), Event::Retry(index, 0)));
        std::iter::from_fn(|| agenda.next(Time::NEVER)).count()
    });
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

/// Every distribution that a scenario can name.
const DISTRIBUTIONS: [&str; 10] =
    ["constant", "exponential", "normal", "lognormal", "uniform", "gamma", "weibull", "pareto", "hyperexponential", "empirical"];

#[divan::bench(args = DISTRIBUTIONS)]
fn draw_time(bencher: Bencher, name: &str) {
    let distribution = match name {
        "constant" => Ok(Distribution::Constant(MEAN)),
        "exponential" => Ok(Distribution::exponential(MEAN)),
        "normal" => Ok(Distribution::normal(MEAN, Duration(MEAN.0 / 5))),
        "lognormal" => Distribution::lognormal(MEAN, 0.5),
        "uniform" => Distribution::uniform(Duration::ZERO, MEAN),
        "gamma" => Distribution::gamma(2.0, MEAN),
        "weibull" => Distribution::weibull(0.7, MEAN),
        "pareto" => Distribution::pareto(2.5, MEAN),
        "hyperexponential" => Distribution::hyperexponential(&[(0.9, Duration(MEAN.0 / 2)), (0.1, Duration(5 * MEAN.0))]),
        _ => Distribution::empirical((1..=1000).map(|part| Duration(part * MEAN.0 / 500)).collect()),
    };
    let distribution = distribution.expect("valid parameters");
    bencher
        .counter(ItemsCount::new(1000u32))
        .bench_local(|| calls().fold(0, |sum, call| sum ^ black_box(&distribution).sample(call.draw(Purpose::Service, 1)).0));
}

/// A wait as a scenario writes it, by what the bench calls it: the short forms, then every way to grow and every jitter of a pipeline.
const BACKOFFS: &[(&str, &str)] = &[
    ("none", r#""none""#),
    ("fixed", r#"{ fixed = { delay = "100ms" } }"#),
    ("exponential", r#"{ exponential = { base = "100ms", cap = "20s" } }"#),
    ("exponential_1_5", r#"{ exponential = { base = "100ms", cap = "20s", factor = 1.5 } }"#),
    ("full_jitter", r#"{ full_jitter = { base = "100ms", cap = "20s" } }"#),
    ("equal_jitter", r#"{ equal_jitter = { base = "100ms", cap = "20s" } }"#),
    ("decorrelated_jitter", r#"{ decorrelated_jitter = { base = "100ms", cap = "20s" } }"#),
    ("random", r#"{ random = { exponential = { mean = "100ms" } } }"#),
    ("grows_constant", r#"{ custom = { initial = "100ms", cap = "20s", growth = "constant" } }"#),
    ("grows_linear", r#"{ custom = { initial = "100ms", cap = "20s", growth = "linear" } }"#),
    ("grows_fibonacci", r#"{ custom = { initial = "100ms", cap = "20s", growth = "fibonacci" } }"#),
    ("grows_arithmetic", r#"{ custom = { initial = "100ms", cap = "20s", growth = { arithmetic = { step = "200ms" } } } }"#),
    ("grows_geometric_sum", r#"{ custom = { initial = "100ms", cap = "20s", growth = { geometric_sum = { factor = 2.0 } } } }"#),
    ("grows_exponential", r#"{ custom = { initial = "100ms", cap = "20s", growth = { exponential = { factor = 1.5 } } } }"#),
    (
        "jitter_add",
        r#"{ custom = { initial = "100ms", cap = "20s", growth = { exponential = { factor = 2.0 } }, jitter = { add = { most = "1s" } } } }"#,
    ),
    (
        "jitter_plus_minus",
        r#"{ custom = { initial = "100ms", cap = "20s", growth = { exponential = { factor = 2.0 } }, jitter = { plus_minus = { most = "50ms" } } } }"#,
    ),
    (
        "jitter_between",
        r#"{ custom = { initial = "100ms", cap = "20s", growth = { exponential = { factor = 2.0 } }, jitter = { between = { low = "0s" } } } }"#,
    ),
    (
        "jitter_multiply",
        r#"{ custom = { initial = "100ms", cap = "20s", growth = { exponential = { factor = 2.0 } }, jitter = { multiply = { low = 0.5, high = 1.5 } } } }"#,
    ),
    (
        "jitter_tower",
        r#"{ custom = { initial = "100ms", cap = "20s", growth = { exponential = { factor = 2.0 } }, jitter = { tower = { share = 0.5 } } } }"#,
    ),
    (
        "jitter_whole",
        r#"{ custom = { initial = "100ms", cap = "20s", growth = { exponential = { factor = 2.0 } }, jitter = { whole = { unit = "1ms" } } } }"#,
    ),
    ("jitter_polly", r#"{ custom = { initial = "100ms", cap = "20s", jitter = "polly" } }"#),
    ("jitter_aws_decorrelated", r#"{ custom = { initial = "100ms", cap = "20s", jitter = "aws_decorrelated" } }"#),
    ("jitter_finagle_decorrelated", r#"{ custom = { initial = "100ms", cap = "20s", jitter = "finagle_decorrelated" } }"#),
    ("jitter_finagle_equal", r#"{ custom = { initial = "100ms", cap = "20s", jitter = "finagle_equal" } }"#),
    ("jitter_finagle_exponential", r#"{ custom = { initial = "100ms", cap = "20s", jitter = "finagle_exponential" } }"#),
    ("jitter_crt_decorrelated", r#"{ custom = { initial = "100ms", cap = "20s", jitter = "crt_decorrelated" } }"#),
];

#[divan::bench(args = BACKOFFS.iter().map(|(name, _)| *name))]
fn wait_of_backoff(bencher: Bencher, name: &str) {
    let written = BACKOFFS.iter().find(|(known, _)| *known == name).expect("it is one of them").1;
    let backoff = backoff(written);
    bencher.counter(ItemsCount::new(1000u32)).bench_local(|| {
        let mut memory = 0;
        let wait = |sum: u64, (retry, call): (u32, Address)| {
            sum ^ black_box(&backoff).wait(1 + retry % 8, &mut memory, call.draw(Purpose::Backoff, retry.into())).0
        };
        (0..).zip(calls()).fold(0, wait)
    });
}

/// Read as a scenario is.
fn backoff(written: &str) -> Backoff {
    let text = format!(
        "run.horizon = '1s'\nclients.web = {{ count = 1, calls = 'api', load = {{ open = {{ rate = '1/s' }} }}, \
         policy = {{ attempts = 9, timeout = '1s', backoff = {written} }} }}\nservice.api = {{ workers = 1, time = '1ms' }}\n"
    );
    let scenario = Scenario::parse("bench", &text, None, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut model = scenario.model(&scenario.cells[0]).expect("checked when it was read");
    model.epochs[0].callers.remove(0).policy.backoff
}
