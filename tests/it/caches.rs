//! Caches in front of a service: what hits, what fills them, and that nothing is done twice by it.

use crate::support::{scenario, study, value};

/// A hundred calls a second, evenly, for 100 s, to a service that takes no time worth the name.
const EVEN: &str = r#"
[run]
horizon = "100s"
[clients.web]
calls = "db"
load = { open = { rate = "100/s", spacing = "even" } }
[service.db]
workers = "unlimited"
time = "1us"
cache = { hit_rate = 1.0, time = "2ms", keys = 1000 }
"#;

fn numbers<const N: usize>(text: &str, set: &[&str], metrics: [&str; N]) -> [f64; N] {
    let study = study(&scenario(text, set));
    metrics.map(|metric| value(&study, 0, metric).value)
}

#[test]
fn a_full_cache_answers_its_share() {
    let metrics = ["db.arrivals", "db.hits", "db.served", "latency_max"];
    assert_eq!(numbers(EVEN, &[], metrics), [10_000.0, 10_000.0, 10_000.0, 0.002]);
    assert_eq!(numbers(EVEN, &["service.db.cache=none"], metrics), [10_000.0, 0.0, 10_000.0, 0.000_001]);
    // A database that is away is not missed by those whose answer is there.
    assert_eq!(numbers(EVEN, &["service.db.down=refuse"], ["succeeded"]), [10_000.0]);
    let [hits] = numbers(EVEN, &["service.db.cache.hit_rate=0.9"], ["db.hits"]);
    // Five standard errors of a binomial share.
    assert!((hits - 9000.0).abs() < 5.0 * (10_000.0f64 * 0.9 * 0.1).sqrt(), "{hits}");
}

/// After a flush at zero: dn/dt = 100 exp(-n / 1000), so that n = 1000 ln(1 + t / 10) are missed by t: 2398 of 10,000.
#[test]
fn a_flushed_cache_fills_by_its_formula() {
    let fault = "[[fault]]\nat = \"0s\"\nfor = \"1ms\"\nset = { \"service.db.cache.hit_rate\" = 0.0 }\n";
    let [hits] = numbers(&format!("{EVEN}{fault}"), &[], ["db.hits"]);
    // Five standard errors, each draw taken as the least certain there is.
    assert!((10_000.0 - hits - 1000.0 * libm::log(11.0)).abs() < 5.0 * (10_000.0f64 / 4.0).sqrt(), "{hits}");
    // What fails is not stored.
    assert_eq!(numbers(&format!("{EVEN}{fault}"), &["service.db.error_rate=1.0"], ["db.hits"]), [0.0]);
}

/// The attempts of a call ask for the same: what missed once misses again, unless it was served meanwhile.
#[test]
fn attempts_ask_for_the_same() {
    let policy = "clients.web.policy={ attempts = 3, timeout = \"10ms\" }";
    let rare = "service.db.cache.hit_rate=0.5";
    // Errors are not stored: three attempts for each call that misses.
    let [calls, failed, hits, errors] =
        numbers(EVEN, &[policy, rare, "service.db.error_rate=1.0"], ["calls", "failed", "db.hits", "db.errors"]);
    assert_eq!((hits, errors), (calls - failed, 3.0 * failed));
    // Empty, and so large that nothing fills it. The first attempt is served at 15 ms, when it has timed out; the second is under way
    // then, and done as well; the third finds the answer. The last two calls are cut off by the end.
    let fault = "[[fault]]\nat = \"0s\"\nfor = \"1ms\"\nset = { \"service.db.cache.hit_rate\" = 0.0 }\n";
    let set = [policy, "service.db.time=15ms", "service.db.cache.keys=4000000000"];
    let found = numbers(&format!("{EVEN}{fault}"), &set, ["succeeded", "db.hits", "duplicates", "latency_max"]);
    assert_eq!(found, [9998.0, 9998.0, 9998.0, 0.022_000_002]);
}
