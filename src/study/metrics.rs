//! The names of what is measured.

/// Metrics of a whole run.
const GLOBAL: [&str; 23] = [
    "calls",
    "succeeded",
    "failed",
    "unfinished",
    "attempts",
    "retries",
    "amplification",
    "success_rate",
    "goodput",
    "attempts_per_second_peak",
    "latency_mean",
    "latency_p50",
    "latency_p90",
    "latency_p99",
    "latency_p999",
    "latency_max",
    "completion_time",
    "recovery_time",
    "stuck",
    "wasted",
    "duplicates",
    "budget_denied",
    "breaker_denied",
];

/// Metrics of each service, after its name and a dot.
const PER_SERVICE: [&str; 10] =
    ["arrivals", "served", "rejected", "refused", "errors", "attempts_per_call", "utilisation", "queue_mean", "queue_peak", "wait_mean"];

/// Series over time of a whole run.
const SERIES: [&str; 8] = ["calls", "attempts", "retries", "goodput", "failed", "served", "rejected", "queue"];

/// Series over time of each service.
const SERVICE_SERIES: [&str; 5] = ["arrivals", "served", "rejected", "queue", "busy"];

/// Every metric of a model with these services.
pub fn metric_names(services: &[String]) -> Vec<String> {
    let global = GLOBAL.iter().map(|name| (*name).to_owned());
    global.chain(services.iter().flat_map(|service| PER_SERVICE.iter().map(move |name| format!("{service}.{name}")))).collect()
}

/// Every series over time of a model with these services.
pub fn series_names(services: &[String]) -> Vec<String> {
    let global = SERIES.iter().map(|name| (*name).to_owned());
    global.chain(services.iter().flat_map(|service| SERVICE_SERIES.iter().map(move |name| format!("{service}.{name}")))).collect()
}

/// Whether there is such a metric in a model with these services.
pub fn is_metric(name: &str, services: &[String]) -> bool {
    metric_names(services).iter().any(|known| known == name)
}
