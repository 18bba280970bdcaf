//! What is measured: every metric with its name, unit and meaning, and its value in one run. The names are those of the CSV
//! columns, of `expect`, and of docs/METRICS.md.

use super::verdict::{Verdict, judge};
use crate::measure::identifier::ServiceIndex;
use crate::measure::time::{NANOSECONDS, Time};
use crate::world::model::Model;
use crate::world::run::{Run, ServiceTotals};

/// The unit of a metric or of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of calls.
    Calls,
    /// A number of attempts.
    Attempts,
    /// Attempts a call.
    AttemptsPerCall,
    /// A length of time in seconds.
    Seconds,
    /// A number a second.
    PerSecond,
    /// 0 to 1.
    Share,
    /// How often breakers opened.
    Openings,
    /// A number of workers.
    Workers,
    /// How often processes died.
    Crashes,
    /// A number of processes.
    Processes,
}

impl Unit {
    /// As it stands at an axis.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Calls => "calls",
            Unit::Attempts => "attempts",
            Unit::AttemptsPerCall => "attempts per call",
            Unit::Seconds => "seconds",
            Unit::PerSecond => "per second",
            Unit::Share => "share",
            Unit::Openings => "openings",
            Unit::Workers => "workers",
            Unit::Crashes => "crashes",
            Unit::Processes => "processes",
        }
    }
}

/// How the values of the replications become the value of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summary {
    /// Mean with a 95 % t-interval.
    Mean,
    /// The share of replications in which it is 1, with Wilson's interval.
    Share,
    /// A percentile of all calls of all replications together, in hundredths of a per cent; the interval from the replications' own.
    Percentile(u16),
}

/// A metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// `latency_p99`, `api.queue_mean`.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// How it is summed up.
    pub summary: Summary,
}

/// Of the whole run: name, unit, summary. Documented in docs/METRICS.md.
const GLOBAL: &[(&str, Unit, Summary)] = &[
    ("calls", Unit::Calls, Summary::Mean),
    ("succeeded", Unit::Calls, Summary::Mean),
    ("failed", Unit::Calls, Summary::Mean),
    ("unfinished", Unit::Calls, Summary::Mean),
    ("attempts", Unit::Attempts, Summary::Mean),
    ("retries", Unit::Attempts, Summary::Mean),
    ("amplification", Unit::AttemptsPerCall, Summary::Mean),
    ("success_rate", Unit::Share, Summary::Mean),
    ("goodput", Unit::PerSecond, Summary::Mean),
    ("attempts_per_second_peak", Unit::PerSecond, Summary::Mean),
    ("latency_mean", Unit::Seconds, Summary::Mean),
    ("latency_p50", Unit::Seconds, Summary::Percentile(50_00)),
    ("latency_p90", Unit::Seconds, Summary::Percentile(90_00)),
    ("latency_p99", Unit::Seconds, Summary::Percentile(99_00)),
    ("latency_p999", Unit::Seconds, Summary::Percentile(99_90)),
    ("latency_max", Unit::Seconds, Summary::Mean),
    ("completion_time", Unit::Seconds, Summary::Mean),
    ("recovery_time", Unit::Seconds, Summary::Mean),
    ("stuck", Unit::Share, Summary::Share),
    ("wasted", Unit::Share, Summary::Mean),
    ("duplicates", Unit::Calls, Summary::Mean),
    ("budget_denied", Unit::Attempts, Summary::Mean),
    ("breaker_denied", Unit::Attempts, Summary::Mean),
    ("breaker_opened", Unit::Openings, Summary::Mean),
    ("hedges", Unit::Attempts, Summary::Mean),
    ("state_transitions", Unit::Attempts, Summary::Mean),
    ("dead_lettered", Unit::Calls, Summary::Mean),
    ("stable", Unit::Share, Summary::Share),
    ("recovered", Unit::Share, Summary::Share),
    ("collapsed", Unit::Share, Summary::Share),
    ("undecided", Unit::Share, Summary::Share),
    ("backing_off_mean", Unit::Calls, Summary::Mean),
    ("pool_denied", Unit::Attempts, Summary::Mean),
];

/// Of each service, after its name and a dot.
const SERVICE: &[(&str, Unit)] = &[
    ("arrivals", Unit::Attempts),
    ("served", Unit::Attempts),
    ("rejected", Unit::Attempts),
    ("refused", Unit::Attempts),
    ("errors", Unit::Attempts),
    ("attempts_per_call", Unit::AttemptsPerCall),
    ("utilisation", Unit::Share),
    ("queue_mean", Unit::Attempts),
    ("queue_peak", Unit::Attempts),
    ("wait_mean", Unit::Seconds),
    ("throttled", Unit::Attempts),
    ("shed", Unit::Attempts),
    ("number_mean", Unit::Attempts),
    ("delayed", Unit::Share),
    ("hits", Unit::Attempts),
    ("workers_mean", Unit::Workers),
    ("crashes", Unit::Crashes),
    ("down", Unit::Share),
];

/// Series of a timeline that are sums over all services, beside those of the clients.
pub const SUMMED_SERIES: [&str; 8] = crate::world::run::SERVICE_SERIES;

/// All metrics of a model with these services, in the order of the columns.
pub fn metrics(services: &[String]) -> Vec<Metric> {
    let global = GLOBAL.iter().map(|(name, unit, summary)| Metric { name: (*name).into(), unit: *unit, summary: *summary });
    let of_services = services.iter().flat_map(|service| {
        SERVICE.iter().map(move |(name, unit)| Metric { name: format!("{service}.{name}"), unit: *unit, summary: Summary::Mean })
    });
    global.chain(of_services).collect()
}

/// The names of all metrics of a model with these services.
pub fn metric_names(services: &[String]) -> Vec<String> {
    metrics(services).into_iter().map(|metric| metric.name).collect()
}

/// The names of all series of a timeline of a model with these services.
pub fn series_names(services: &[String]) -> Vec<String> {
    let of_services = services.iter().flat_map(|service| SUMMED_SERIES.iter().map(move |series| format!("{service}.{series}")));
    crate::world::run::COUNTS.iter().chain(&SUMMED_SERIES).map(|name| (*name).to_string()).chain(of_services).collect()
}

/// The unit of a metric or series by its name; None for a name that is neither.
pub fn unit_of(name: &str) -> Option<Unit> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let global = GLOBAL.iter().find(|(known, ..)| *known == name).map(|(_, unit, _)| *unit);
    let of_service = || SERVICE.iter().find(|(known, _)| *known == last).map(|(_, unit)| *unit);
    global.or_else(|| name.contains('.').then(of_service).flatten())
}

/// The unit of a series of a timeline.
pub fn unit_of_series(name: &str) -> Unit {
    match name.rsplit('.').next() {
        Some("queue" | "busy") => Unit::Attempts,
        Some("down") => Unit::Processes,
        _ => Unit::PerSecond,
    }
}

/// The value of every metric in one run, in the order of [`metrics`]; None where it is undefined.
pub fn values(model: &Model, run: &mut Run) -> Vec<Option<f64>> {
    let quantiles = run.latency.quantiles([0.5, 0.9, 0.99, 0.999]);
    let totals = &run.totals;
    let window = run.ended.since(model.warmup).seconds();
    let seconds = |sum: u128| sum as f64 / NANOSECONDS as f64;
    let percentile = |index: usize| quantiles.map(|quantiles| quantiles[index].seconds());
    let some = |number: u64| Some(number as f64);
    let judgement = judge(model, run);
    let flag = |holds: bool| if holds { 1.0 } else { 0.0 };
    let is = |verdict: Verdict| Some(flag(judgement.verdict == verdict));
    let sum = |of: fn(&ServiceTotals) -> u128| run.services.iter().map(of).sum::<u128>() as f64;
    let mut values = vec![
        some(totals.calls),
        some(totals.succeeded),
        some(totals.failed),
        some(totals.unfinished),
        some(totals.attempts),
        some(totals.retries),
        ratio(totals.attempts as f64, totals.calls as f64),
        ratio(totals.succeeded as f64, (totals.succeeded + totals.failed) as f64),
        ratio(totals.succeeded as f64, window),
        Some(totals.peak as f64 / model.bin.seconds()),
        ratio(seconds(run.latency.sum), totals.succeeded as f64),
        percentile(0),
        percentile(1),
        percentile(2),
        percentile(3),
        (totals.succeeded > 0).then(|| run.latency.greatest.seconds()),
        (totals.last_settled.0 > 0 || totals.calls > totals.unfinished).then(|| totals.last_settled.seconds()),
        judgement.recovery_time,
        judgement.stuck.map(flag),
        ratio(sum(|service| service.wasted), sum(|service| service.worked)),
        some(totals.duplicates),
        some(totals.budget_denied),
        some(totals.breaker_denied),
        some(totals.breaker_opened),
        some(totals.hedges),
        some(totals.state_transitions),
        some(totals.dead_lettered),
        is(Verdict::Stable),
        is(Verdict::Recovered),
        is(Verdict::Collapsed),
        is(Verdict::Undecided),
        ratio(totals.backing_off as f64 / NANOSECONDS as f64, window),
        some(totals.pool_denied),
    ];
    let reach = model.reach();
    for index in 0..run.services.len() {
        let settled = reach.iter().zip(&run.ended_by_group).filter(|(reached, _)| reached[index]).map(|(_, ended)| ended).sum();
        values.extend(service_values(model, run, index, settled));
    }
    values
}

fn service_values(model: &Model, run: &Run, index: usize, settled: u64) -> [Option<f64>; 18] {
    let service = &run.services[index];
    let some = |number: u64| Some(number as f64);
    let window = run.ended.since(model.warmup).seconds();
    let replicas = model.replica_count(ServiceIndex(index as u16));
    [
        some(service.arrivals),
        some(service.served),
        some(service.rejected),
        some(service.refused),
        some(service.errors),
        ratio(service.attempts as f64, settled as f64),
        worker_time(model, run, index).and_then(|time| ratio(service.busy as f64 / NANOSECONDS as f64, time)),
        ratio(service.queued as f64 / NANOSECONDS as f64, window),
        some(service.queue_peak),
        ratio(service.waited as f64 / NANOSECONDS as f64, service.started as f64),
        some(service.throttled),
        some(service.shed),
        ratio((service.queued + service.in_service) as f64 / NANOSECONDS as f64, window),
        ratio(service.delayed as f64, service.started as f64),
        some(service.hits),
        worker_time(model, run, index).and_then(|time| ratio(time, window)),
        some(service.crashes),
        ratio(service.down as f64 / NANOSECONDS as f64, window * f64::from(replicas)),
    ]
}

/// Seconds of all workers of a service in the measured window; None where they are unlimited.
fn worker_time(model: &Model, run: &Run, service: usize) -> Option<f64> {
    if model.epochs[0].services[service].autoscaler.is_some() {
        return Some(run.services[service].offered as f64 / NANOSECONDS as f64);
    }
    let changes = run.changes.iter().map(|change| (change.at, model.numbers(change.epoch, change.lasting)));
    let starts = std::iter::once((Time::ZERO, &model.epochs[0])).chain(changes);
    let ends = run.changes.iter().map(|change| change.at).chain([run.ended]);
    let parts = starts.zip(ends).map(|((start, numbers), end)| {
        let length = end.min(run.ended).since(start.max(model.warmup)).seconds();
        let workers = model.stations(ServiceIndex(service as u16)).map(|place| numbers.services[place].workers.map(f64::from));
        workers.sum::<Option<f64>>().map(|workers| workers * length)
    });
    parts.sum()
}

fn ratio(above: f64, below: f64) -> Option<f64> {
    (below > 0.0).then(|| above / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_unit_and_is_documented() {
        let names = metric_names(&["api".to_string()]);
        assert_eq!(names.len(), GLOBAL.len() + SERVICE.len());
        let page = include_str!("../../docs/METRICS.md");
        for name in &names {
            assert!(unit_of(name).is_some(), "{name} has no unit");
            let documented = name.replace("api.", "NAME.");
            assert!(page.contains(&format!("`{documented}`")), "{documented} is not in docs/METRICS.md");
        }
        assert_eq!(unit_of("nonsense"), None);
    }
}
