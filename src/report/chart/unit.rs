//! Which unit a metric, a series and an axis has, told from its name alone.

/// What a number counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
    Count,
    /// One number divided by another.
    Ratio,
    /// Seconds.
    Seconds,
    /// Things a second.
    PerSecond,
    /// A part of the whole, 0 to 1.
    Share,
}

impl Unit {
    /// The unit in words, as a subtitle says it.
    pub fn words(self) -> &'static str {
        match self {
            Unit::Count => "count",
            Unit::Ratio => "ratio",
            Unit::Seconds => "seconds",
            Unit::PerSecond => "per second",
            Unit::Share => "%",
        }
    }
}

/// The unit of a metric of `summary.csv`.
pub fn unit_of(metric: &str) -> Unit {
    match last_word(metric) {
        "amplification" | "attempts_per_call" => Unit::Ratio,
        "goodput" | "attempts_per_second_peak" => Unit::PerSecond,
        "success_rate" | "stuck" | "wasted" | "utilisation" => Unit::Share,
        "completion_time" | "recovery_time" | "wait_mean" => Unit::Seconds,
        word if word.starts_with("latency_") => Unit::Seconds,
        _ => Unit::Count,
    }
}

/// The unit of a series of `timeline.csv`: all are rates, but for what stands in a queue or is at work.
pub fn unit_of_series(series: &str) -> Unit {
    match last_word(series) {
        "queue" | "busy" | "in_flight" => Unit::Count,
        "utilisation" => Unit::Share,
        _ => Unit::PerSecond,
    }
}

/// The unit of an axis, by the last word of its dotted path; what is no number has none.
pub fn unit_of_axis(path: &str) -> Unit {
    match last_word(path) {
        "for" | "at" | "timeout" | "deadline" | "delay" | "base" | "cap" | "mean" | "sd" | "time" | "think" | "window" | "open"
        | "every" | "splay" | "spread" | "horizon" | "warmup" | "bin" => Unit::Seconds,
        "rate" | "min_per_second" => Unit::PerSecond,
        "share" | "loss" | "error_rate" => Unit::Share,
        "factor" | "speed" | "load_factor" => Unit::Ratio,
        _ => Unit::Count,
    }
}

fn last_word(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_in_front_changes_no_unit() {
        assert_eq!(unit_of("db.wait_mean"), Unit::Seconds);
        assert_eq!(unit_of("db.attempts_per_call"), Unit::Ratio);
        assert_eq!(unit_of("latency_p999"), Unit::Seconds);
        assert_eq!(unit_of_series("api.queue"), Unit::Count);
        assert_eq!(unit_of_axis("fault.0.for"), Unit::Seconds);
        assert_eq!(unit_of_axis("clients.web.count"), Unit::Count);
    }
}
