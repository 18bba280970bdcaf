//! Units as a chart writes them: those of metrics and series, and those of axes, told from the dotted path.

pub use crate::study::metrics::{Unit, unit_of, unit_of_series};

/// The unit as a title says it.
pub fn words(unit: Unit) -> &'static str {
    if unit == Unit::Share { "%" } else { unit.name() }
}

/// The unit of `name` in words, unless the name says it already.
pub fn unsaid(name: &str, unit: Option<Unit>) -> Option<&'static str> {
    unit.map(words).filter(|words| *words != last_word(name).replace('_', " "))
}

/// `name` with its unit behind it where it does not say it: `goodput, per second`, but `attempts`.
pub fn titled(name: &str, unit: Option<Unit>) -> String {
    unsaid(name, unit).map_or_else(|| name.to_string(), |words| format!("{name}, {words}"))
}

/// The breakers, and what closes them, whose `rate` is a share of failures.
const OF_BREAKERS: [&str; 4] = ["count_window", "time_window", "cumulative", "close_after"];

/// The unit of an axis, by the last words of its dotted path; what is no number, and what only counts, has none.
pub fn unit_of_axis(path: &str) -> Option<Unit> {
    let owner = path.rsplit('.').nth(1).unwrap_or("");
    match last_word(path) {
        "rate" if OF_BREAKERS.contains(&owner) => Some(Unit::Share),
        "most" if ["ejection", "adaptive_reject"].contains(&owner) => Some(Unit::Share),
        // Workers, hedges and places are counted.
        "most" if !["add", "plus_minus"].contains(&owner) => None,
        "step" if owner != "arithmetic" => None,
        "for" | "at" | "timeout" | "deadline" | "delay" | "base" | "cap" | "mean" | "sd" | "time" | "think" | "window" | "open"
        | "every" | "splay" | "spread" | "horizon" | "warmup" | "bin" | "initial" | "first" | "floor_before" | "floor_after" | "offset"
        | "max_elapsed" | "plus" | "most" | "step" | "retry_after" | "max_wait" | "restart" | "cold" | "lag" | "ttl" | "interval"
        | "visibility_timeout" | "function_timeout" | "hold" | "sustained" | "after" | "check" => Some(Unit::Seconds),
        "rate" | "min_per_second" => Some(Unit::PerSecond),
        "share" | "loss" | "error_rate" | "permanent_rate" | "hit_rate" | "cold_speed" | "persistence" => Some(Unit::Share),
        _ => None,
    }
}

fn last_word(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_the_unit_once() {
        let metric = |name: &str| titled(name, unit_of(name));
        assert_eq!(metric("attempts"), "attempts");
        assert_eq!(metric("db.attempts_per_call"), "db.attempts_per_call");
        assert_eq!(metric("amplification"), "amplification, attempts per call");
        assert_eq!(metric("db.wait_mean"), "db.wait_mean, seconds");
        assert_eq!(metric("stuck"), "stuck, %");
        assert_eq!(metric("unheard_of"), "unheard_of");
        assert_eq!(titled("attempts", Some(unit_of_series("attempts"))), "attempts, per second");
    }

    #[test]
    fn an_axis_that_only_counts_has_no_unit() {
        assert_eq!(unit_of_axis("fault.0.for"), Some(Unit::Seconds));
        assert_eq!(unit_of_axis("clients.web.load.open.rate"), Some(Unit::PerSecond));
        assert_eq!(unit_of_axis("clients.web.count"), None);
        assert_eq!(unit_of_axis("service.api.autoscaler.most"), None);
        assert_eq!(unit_of_axis("service.api.ejection.most"), Some(Unit::Share));
        assert_eq!(unit_of_axis("policy.web.breaker.count_window.rate"), Some(Unit::Share));
        assert_eq!(unit_of_axis("service.api.crash.restart"), Some(Unit::Seconds));
    }
}
