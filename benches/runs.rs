//! What whole runs cost, in model events a second: a call arrives, a retry is sent, work ends, a timeout fires. `cargo bench --bench runs`.

use divan::Bencher;
use divan::counter::ItemsCount;
use retrystorm::measure::random::Seed;
use retrystorm::study::curated::curated;
use retrystorm::study::scenario::Scenario;
use retrystorm::world::agenda::CROWD;
use retrystorm::world::model::Model;
use retrystorm::world::run::Run;
use retrystorm::world::{run, run_with_crowd};

fn main() {
    divan::main();
}

const SEED: Seed = Seed { seed: 1, replication: 0 };

fn models(text: &str, set: &[String]) -> Vec<Model> {
    let scenario = Scenario::parse("bench", text, None, set).unwrap_or_else(|error| panic!("{error}"));
    scenario.cells.iter().map(|cell| scenario.model(cell).expect("checked when it was read")).collect()
}

/// Each attempt that is answered has its work, or is turned away; each that is not has its timeout.
fn model_events(run: &Run) -> u64 {
    let (totals, services) = (&run.totals, &run.services);
    let rejected: u64 = services.iter().map(|service| service.rejected).sum();
    let done: u64 = services.iter().map(|service| service.served + service.errors).sum();
    let timeouts = totals.attempts.saturating_sub(totals.succeeded + rejected);
    totals.calls + totals.retries + done + timeouts
}

/// One worker that is 80 % busy: the cheapest events. 16,000 calls.
#[divan::bench]
fn w1_textbook_queue(bencher: Bencher) {
    let text = curated("mm1").expect("a curated scenario");
    let model = models(text, &["run.horizon=2000s".into(), "run.warmup=0s".into()]).remove(0);
    let result = run(&model, SEED);
    // Nothing times out, and no call is made twice.
    let events = result.totals.calls + result.services[0].served;
    bencher.counter(ItemsCount::new(events)).bench_local(|| run(&model, SEED));
}

/// The AWS article's sweep, one replication of each cell: attempts and replies, two a write.
#[divan::bench(sample_count = 20)]
fn w2_aws_sweep(bencher: Bencher) {
    let models = models(curated("aws_jitter").expect("a curated scenario"), &[]);
    let events: u64 = models.iter().map(|model| run(model, SEED).events).sum();
    bencher.counter(ItemsCount::new(events)).bench_local(|| models.iter().map(|model| run(model, SEED).events).sum::<u64>());
}

/// benches/storm.toml with so many clients, as `benches/storm` does it.
fn storm(clients: u32) -> Model {
    let workers = (f64::from(clients) * 0.1 * 0.010 / 0.7).ceil() as u32;
    let set = [
        format!("clients.crowd.count={clients}"),
        format!(r#"clients.crowd.load.open.rate=[["0s", "{}/s"], ["40s", "0/s"]]"#, f64::from(clients) * 0.1),
        format!("service.shop.workers={workers}"),
        format!("service.shop.queue.limit={}", 100 * workers),
    ];
    models(include_str!("storm.toml"), &set).remove(0)
}

#[divan::bench(args = [1000, 100_000], sample_count = 10, sample_size = 1)]
fn w3_storm(bencher: Bencher, clients: u32) {
    let model = storm(clients);
    let events = model_events(&run(&model, SEED));
    bencher.counter(ItemsCount::new(events)).bench_local(|| run(&model, SEED));
}

/// The same, whose agenda is always a heap, or a ladder as soon as it can be.
#[divan::bench(args = [("heap", usize::MAX), ("usual", CROWD), ("ladder", 0)], sample_count = 5, sample_size = 1)]
fn w3_storm_of_100_000_by_agenda(bencher: Bencher, (_, crowd): (&str, usize)) {
    let model = storm(100_000);
    let events = model_events(&run(&model, SEED));
    bencher.counter(ItemsCount::new(events)).bench_local(|| run_with_crowd(&model, SEED, crowd));
}
