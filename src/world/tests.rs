//! Runs whose results are known exactly, from models built by hand.

mod sizes;

use super::model::{Caller, CallerShape, Epoch, FaultSpan, Group, Model, Origin, ServiceShape};
use super::run;
use super::run::Run;
use crate::link::Link;
use crate::load::{Load, Profile, Spacing};
use crate::measure::distribution::Distribution;
use crate::measure::identifier::{CallerIndex, GroupIndex, ServiceIndex};
use crate::measure::random::Seed;
use crate::measure::time::{Duration, Time};
use crate::retry::backoff::{Backoff, Growth};
use crate::retry::policy::Policy;
use crate::service::{Abandoned, Down, Order, Service};

fn ms(value: u64) -> Duration {
    Duration(value * 1_000_000)
}

fn at(value: u64) -> Time {
    Time(ms(value).0)
}

/// One group, one service, no link.
pub(super) fn model(load: Load, count: u32, policy: Policy, service: Service) -> Model {
    Model {
        horizon: None,
        warmup: Time::ZERO,
        bin: ms(1000),
        groups: vec![Group { name: "web".into(), count, caller: CallerIndex(0), load, via: None, criticality: Default::default() }],
        services: vec![ServiceShape { name: "api".into(), optimistic: false, calls: vec![], balancer: None }],
        replicas: vec![],
        callers: vec![CallerShape { name: "web->api".into(), from: Origin::Group(GroupIndex(0)), to: ServiceIndex(0) }],
        epochs: vec![Epoch { at: Time::ZERO, services: vec![service], callers: vec![Caller { policy, link: Link::direct() }] }],
        faults: vec![],
        conditional: Default::default(),
    }
}

fn with_fault(mut model: Model, from: Time, until: Time, change: impl Fn(&mut Epoch)) -> Model {
    let mut during = model.epochs[0].clone();
    during.at = from;
    change(&mut during);
    let mut after = model.epochs[0].clone();
    after.at = until;
    model.epochs.extend([during, after]);
    model.faults.push(FaultSpan { from, until, label: String::new() });
    model
}

fn herd() -> Load {
    Load::Once { at: Time::ZERO, spread: Duration::ZERO }
}

fn even(rate: f64) -> Load {
    Load::Open { profile: Profile::constant(rate), spacing: Spacing::Even }
}

fn unlimited(backoff: Backoff) -> Policy {
    Policy { attempts: None, backoff, ..Policy::once() }
}

fn first(model: &Model) -> Run {
    run(model, Seed { seed: 1, replication: 0 })
}

/// Ten thousand ask at once, five hundred at a time are served in a second: 20 waves, 10,000 + 9,500 + ... + 500 attempts.
#[test]
fn a_herd_comes_in_twenty_waves() {
    let service = Service { workers: Some(500), time: Distribution::Constant(ms(1000)), queue_limit: Some(0), ..Service::plain() };
    let growth = Growth { base: ms(1000), cap: ms(60_000), factor: 2.0, first_exponent: 0 };
    for (backoff, end) in [(Backoff::Fixed(ms(3000)), 58_000), (Backoff::Exponential(growth), 844_000)] {
        let run = first(&model(herd(), 10_000, unlimited(backoff), service.clone()));
        assert_eq!((run.totals.attempts, run.ended), (105_000, at(end)));
        assert_eq!((run.totals.succeeded, run.services[0].rejected, run.totals.peak), (10_000, 95_000, 10_000));
    }
}

fn optimistic(count: u32, backoff: Backoff, sd: Duration) -> Model {
    let mut model = model(herd(), count, unlimited(backoff), Service { workers: None, ..Service::plain() });
    model.services[0].optimistic = true;
    model.epochs[0].callers[0].link.delay = Distribution::normal(ms(10), sd);
    model.bin = ms(10);
    model
}

/// Without variance: 40 N ms and N (N + 1) / 2 writes without backoff, 40 N + sum of min(cap, base 2^k) with.
#[test]
fn the_optimistic_row_is_exact_without_variance() {
    let growth = Growth { base: ms(5), cap: ms(2000), factor: 2.0, first_exponent: 1 };
    for count in [1u32, 2, 3, 10, 50, 100] {
        let clients = u64::from(count);
        let writes = clients * (clients + 1) / 2;
        let none = first(&optimistic(count, Backoff::None, Duration::ZERO));
        assert_eq!((none.totals.attempts, none.ended), (writes, at(40 * clients)));
        let exponential = first(&optimistic(count, Backoff::Exponential(growth), Duration::ZERO));
        let waits: u64 = (1..clients).map(|k| (5u64 << k.min(20)).min(2000)).sum();
        assert_eq!((exponential.totals.attempts, exponential.ended), (writes, at(40 * clients + waits)));
        assert_eq!(exponential.services[0].arrivals, writes);
    }
}

/// 200 a second to a worker that does 100: the wait grows by 5 ms a call, so that calls 0 to 198 are in time and no other.
#[test]
fn late_work_is_done_for_nobody() {
    let service = Service { time: Distribution::Constant(ms(10)), ..Service::plain() };
    let policy = Policy { timeout: Some(ms(1000)), ..Policy::once() };
    for (order, abandoned, least, most) in [
        (Order::Fifo, Abandoned::Serve, 199, 199),
        (Order::Fifo, Abandoned::Skip, 199, 205),
        (Order::Fifo, Abandoned::Cancel, 199, 205),
        (Order::Lifo, Abandoned::Serve, 5990, 6001),
        (Order::Lifo, Abandoned::Cancel, 5990, 6001),
    ] {
        let service = Service { order, abandoned, ..service.clone() };
        let mut model = model(even(200.0), 1, policy.clone(), service);
        model.horizon = Some(at(60_000));
        let run = first(&model);
        assert!((least..=most).contains(&run.totals.succeeded), "{order:?} {abandoned:?}: {}", run.totals.succeeded);
        assert_eq!(run.totals.calls, 12_000);
    }
}

/// Four workers of 25 ms, 50 calls a second, 200 ms timeout, no backoff; for a while the work takes 100 ms. With three attempts
/// 150 a second can be asked, with four 200 of 160: that is the tipping point, and it lies between 900 and 950 ms.
#[test]
fn the_tipping_point_is_where_it_should_be() {
    let service = Service { workers: Some(4), time: Distribution::Constant(ms(25)), ..Service::plain() };
    let ending = |attempts, length: u64| {
        let policy = Policy { attempts: Some(attempts), timeout: Some(ms(200)), ..Policy::once() };
        let mut model = model(even(50.0), 1, policy, service.clone());
        model.horizon = Some(at(42_000));
        let run =
            first(&with_fault(model, at(10_000), at(10_000 + length), |epoch| epoch.services[0].time = Distribution::Constant(ms(100))));
        let last: u32 = run.timeline.series(3).skip(37).sum();
        (run.totals.succeeded, last)
    };
    assert_eq!(ending(4, 900).1, 250, "all of the last five seconds succeed");
    assert!(ending(4, 950).1 < 50, "hardly any does");
    assert_eq!(ending(3, 2000).1, 250);
    assert_eq!(ending(4, 2000).0, 524, "an independent integer model found 524 of 2,100");
}

/// What is under way when the service goes down: lost and refused, lost without a word, or kept.
#[test]
fn three_ways_to_be_down() {
    let service = Service { time: Distribution::Constant(ms(100)), ..Service::plain() };
    let policy = Policy { timeout: Some(ms(10_000)), ..Policy::once() };
    let outcome = |down| {
        // Calls at 0, 100, 200 ... ms; from 350 ms to 1 s it is down, with one in progress.
        let mut model = model(even(10.0), 1, policy.clone(), service.clone());
        model.horizon = Some(at(3050));
        let run = first(&with_fault(model, at(350), at(1000), |epoch| epoch.services[0].down = Some(down)));
        let totals = &run.totals;
        (totals.succeeded, totals.failed, totals.unfinished, run.services[0].refused)
    };
    // 31 calls; 4 were done or begun by 350 ms, of them the fourth in progress; 6 arrive while it is down.
    assert_eq!(outcome(Down::Refuse), (23, 7, 1, 7));
    assert_eq!(outcome(Down::Hang), (23, 0, 8, 0));
    // Held: the fourth goes on, and the six that were kept delay all that come later by 0.6 s.
    let (succeeded, failed, unfinished, refused) = outcome(Down::Hold);
    assert_eq!((failed, refused), (0, 0));
    assert_eq!((succeeded, unfinished), (24, 7));
}

/// Half as fast for a second: a job of one second begun half a second before takes half a second longer.
#[test]
fn speed_stretches_what_is_left() {
    let service = Service { time: Distribution::Constant(ms(1000)), ..Service::plain() };
    let model = model(herd(), 1, Policy::once(), service);
    let slow = |speed, until| first(&with_fault(model.clone(), at(500), at(until), |epoch| epoch.services[0].speed = speed)).ended;
    assert_eq!(slow(0.5, 1000), at(1250));
    assert_eq!(slow(0.5, 9000), at(1500));
    assert_eq!(slow(0.0, 2000), at(2500));
}

/// Three layers, three attempts each, nothing succeeds: 3, 9 and 27.
#[test]
fn layers_multiply() {
    let three = Policy { attempts: Some(3), ..Policy::once() };
    let plain = Service { workers: None, ..Service::plain() };
    let mut layers = model(herd(), 10, three.clone(), plain.clone());
    for (index, name) in [(1u16, "backend"), (2, "database")] {
        layers.services.push(ServiceShape { name: name.into(), optimistic: false, calls: vec![], balancer: None });
        layers.services[index as usize - 1].calls.push(CallerIndex(index));
        layers.callers.push(CallerShape { name: name.into(), from: Origin::Service(ServiceIndex(index - 1)), to: ServiceIndex(index) });
        layers.epochs[0].callers.push(Caller { policy: three.clone(), link: Link::direct() });
        layers.epochs[0].services.push(plain.clone());
    }
    layers.epochs[0].services[2].error_rate = 1.0;
    layers.epochs[0].services[2].time = Distribution::Constant(ms(1));
    let run = first(&layers);
    let attempts: Vec<u64> = run.services.iter().map(|service| service.attempts).collect();
    assert_eq!(attempts, [30, 90, 270]);
    assert_eq!((run.totals.failed, run.ended), (10, at(27)));
}

/// rho = 0.8: a call takes 5 service times in all (M/M/1), a worker is busy four fifths of the time.
#[test]
fn the_textbook_queue_holds() {
    let service = Service { time: Distribution::exponential(ms(1000)), ..Service::plain() };
    let load = Load::Open { profile: Profile::constant(0.8), spacing: Spacing::Poisson };
    let mut model = model(load, 1, Policy::once(), service);
    model.horizon = Some(at(400_000_000));
    model.warmup = at(1_000_000);
    model.bin = ms(1_000_000);
    let run = first(&model);
    let mean = run.latency.sum as f64 / run.totals.succeeded as f64 / 1e9;
    let busy = run.services[0].busy as f64 / 399e6 / 1e9 * 1e3;
    // The mean of n correlated sojourn times of an M/M/1 queue has a variance of about (1 + rho) / (1 - rho)^4 / (mu^2 n) ... 1125 / 319,000.
    assert!((mean - 5.0).abs() < 5.0 * (1125.0f64 / 319_000.0).sqrt(), "{mean}");
    assert!((busy - 0.8).abs() < 0.01, "{busy}");
}
