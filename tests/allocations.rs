//! What a run asks the allocator for: nothing for an event, and so many bytes for a client. A binary of its own, since its allocator
//! counts. It counts what the asking thread does alone, so the numbers are the same however many tests run beside it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use retrystorm::measure::random::Seed;
use retrystorm::study::curated::{CURATED, curated};
use retrystorm::study::scenario::Scenario;
use retrystorm::world::model::Model;
use retrystorm::world::run;
use retrystorm::world::run::Run;

struct Counting;

thread_local! {
    /// Blocks asked for, and blocks asked to be larger or smaller.
    static ASKED: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<i64> = const { Cell::new(0) };
    static MOST_HELD: Cell<i64> = const { Cell::new(0) };
}

fn note(asked: u64, bytes: i64) {
    ASKED.set(ASKED.get() + asked);
    HELD.set(HELD.get() + bytes);
    MOST_HELD.set(MOST_HELD.get().max(HELD.get()));
}

// An allocator is an unsafe trait. Each function does what the system's does, and counts in cells that need no memory of their own.
#[expect(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        note(0, -(layout.size() as i64));
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(1, size as i64 - layout.size() as i64);
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What one run asked for.
struct Counted {
    run: Run,
    asked: u64,
    most_held: i64,
}

fn counted(model: &Model) -> Counted {
    let (asked, held) = (ASKED.get(), HELD.get());
    MOST_HELD.set(held);
    let run = run(model, Seed { seed: 1, replication: 0 });
    Counted { run, asked: ASKED.get() - asked, most_held: MOST_HELD.get() - held }
}

fn model(text: &str, set: &[String]) -> Model {
    let scenario = Scenario::parse("allocations", text, None, set).unwrap_or_else(|error| panic!("{error}"));
    scenario.model(&scenario.cells[0]).expect("checked when it was read")
}

const STORM: &str = include_str!("../benches/storm.toml");

/// benches/storm.toml with so many clients, as `benches/storm` sets it; `load` is the part of the workers that the first attempts keep
/// busy, and `calls_stop` when no more calls start.
fn storm(clients: u32, load: f64, calls_stop: u32, horizon: u32) -> Model {
    let workers = (f64::from(clients) * 0.1 * 0.010 / load).ceil() as u32;
    let set = [
        format!("clients.crowd.count={clients}"),
        format!(r#"clients.crowd.load.open.rate=[["0s", "{}/s"], ["{calls_stop}s", "0/s"]]"#, f64::from(clients) * 0.1),
        format!("service.shop.workers={workers}"),
        format!("service.shop.queue.limit={}", 100 * workers),
        format!("run.horizon={horizon}s"),
    ];
    model(STORM, &set)
}

fn textbook_queue(horizon: u32) -> Model {
    model(curated("mm1").expect("a curated scenario"), &[format!("run.horizon={horizon}s"), "run.warmup=0s".into()])
}

/// Mechanisms that no scenario of the program has, or not for long: attempts that share the workers, hedges that are cancelled, a queue
/// by criticality that is full, breakers whose refusals wait, a budget with a window.
const RARER: [(&str, &str); 3] = [
    (
        "sharing",
        r#"
        clients.web = { count = 100, calls = "api", load = { open = { rate = "900/s" } }, policy = { timeout = "1s" } }
        service.api = { workers = 10, sharing = true, time = { exponential = { mean = "10ms" } } }
        "#,
    ),
    (
        "hedges",
        r#"
        clients.web = { count = 100, calls = "api", load = { open = { rate = "1200/s" } }, policy = "hedged" }
        policy.hedged = { timeout = "1s", hedge = { percentile = { share = "80%", most = 3, cancel = true } } }
        service.api = { workers = 20, time = { exponential = { mean = "10ms" } } }
        "#,
    ),
    (
        "priority, breakers, a budget",
        r#"
        clients.much = { count = 100, calls = "api", load = { open = { rate = "500/s" } }, policy = "careful", criticality = "sheddable" }
        clients.more = { count = 100, calls = "api", load = { open = { rate = "500/s" } }, policy = "careful", criticality = "critical" }
        service.api = { workers = 7, time = { exponential = { mean = "10ms" } }, queue = { limit = 20, order = "priority" } }
        [policy.careful]
        attempts = 4
        timeout = "200ms"
        backoff = { full_jitter = { base = "50ms", cap = "2s" } }
        budget = { ratio = { share = "50%", window = "10s" } }
        breaker = { consecutive = { failures = 5, open = "1s", others = "wait", rejection = "uses_attempt" } }
        "#,
    ),
];

/// A run may ask for so many blocks more where it has a million events more: tables that double, a block of room for each doubling.
const MOST_ASKED: u64 = 64;

/// Twice the time, twice the events, and hardly one allocation more. The storm is measured as it is (70 % load, the outage at 15 s
/// within), and with half the workers that it would need, where it never ends: timeouts, retries and rejections all the time.
#[test]
fn a_million_events_more_allocate_nothing_more() {
    type Build = Box<dyn Fn(u32) -> Model>;
    let mut workloads: Vec<(&str, u32, Build)> = vec![
        ("W1", 65_000, Box::new(textbook_queue)),
        ("W3", 6_000, Box::new(|horizon| storm(1000, 0.7, horizon, horizon))),
        ("W3 that never ends", 1_500, Box::new(|horizon| storm(1000, 2.0, horizon, horizon))),
    ];
    for (name, text) in RARER {
        workloads.push((name, 600, Box::new(move |horizon| model(&format!("run.horizon = '{horizon}s'\n{text}"), &[]))));
    }
    for (name, horizon, build) in workloads {
        let (once, twice) = (counted(&build(horizon)), counted(&build(2 * horizon)));
        let (events, asked) = (twice.run.events - once.run.events, twice.asked.saturating_sub(once.asked));
        println!("{name}: {} allocations for {} events; {asked} more for {events} more", once.asked, once.run.events);
        assert!(events >= 1_000_000, "{name}: only {events} events more");
        assert!(asked <= MOST_ASKED, "{name}: {asked} allocations more for {events} events more; {MOST_ASKED} at most");
    }
}

/// What a run may ask for in all, however long it is: the tables of its model, and their doublings.
const MOST_ASKED_BY_A_RUN: u64 = 1000;

/// Whatever the curated scenarios have (caches, replicas, queues that deliver in batches, pools, autoscalers) allocates nothing for an
/// event either. Their runs have up to two million.
#[test]
fn no_curated_run_allocates_by_its_events() {
    for (name, text) in CURATED {
        let scenario = Scenario::parse(name, text, None, &[]).unwrap_or_else(|error| panic!("{error}"));
        // Of a long comparison some cells.
        for cell in scenario.cells.iter().step_by(scenario.cells.len().div_ceil(8)) {
            let Counted { run, asked, .. } = counted(&scenario.model(cell).expect("checked when it was read"));
            let cell = cell.index;
            assert!(asked <= MOST_ASKED_BY_A_RUN, "{name}, cell {cell}: {asked} allocations for {} events", run.events);
        }
    }
}

/// Of the storm, the most bytes held at once, for each client; docs/PERFORMANCE.md repeats it.
const BYTES_A_CLIENT: i64 = 190;

/// What a run of a few clients holds is the run's own; the rest is the clients'. A block that grows counts as one, where it lies.
#[test]
fn a_client_takes_so_many_bytes() {
    let few = counted(&storm(10, 0.7, 40, 60));
    let many = counted(&storm(20_000, 0.7, 40, 60));
    let bytes = (many.most_held - few.most_held) / 20_000;
    println!("{} bytes with 10 clients, {} with 20,000: {bytes} a client", few.most_held, many.most_held);
    assert!(many.run.totals.retries > 50_000, "no storm");
    assert!(bytes <= BYTES_A_CLIENT, "{bytes} bytes a client; {BYTES_A_CLIENT} at most");
    let row = format!("| client of W3, N = 20,000 | {BYTES_A_CLIENT} |");
    assert!(include_str!("../docs/PERFORMANCE.md").contains(&row), "docs/PERFORMANCE.md has no row `{row}`");
}
