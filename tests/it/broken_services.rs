//! Broken services: each is refused with a message that says what is wrong, where, and what to write instead.

use retrystorm::study::scenario::Scenario;

use crate::broken_scenarios::{assert_none, fault_of};

/// A sound scenario with everything that a service's door can have.
const DOOR: &str = r#"
[run]
horizon = "1m"
[clients.web]
calls = "api"
load = { open = { rate = "5/s" } }
criticality = "sheddable_plus"
policy = { attempts = 3, timeout = "1s", backoff = { fixed = { delay = "1s" } }, retry_after = "clamp" }
[service.api]
workers = 3
time = { exponential = { mean = "100ms" } }
queue = { limit = 10, order = "adaptive_lifo", lifo_above = 3, max_wait = "2s", codel = { target = "5ms", interval = "100ms" } }
error_rate = 0.5
retry_after = "window"
calls = [{ service = "row", inherits_deadline = true }]
rate_limit = { token_bucket = { rate = "100/s", burst = 50, fill = "100ms" } }
permanent_rate = 0.1
reject_time = { exponential = { mean = "1ms" } }
shed = "doomed"
load_time = { scalability = { contention = 0.05, coherency = 0.001 } }
sharing = true
in_service_limit = 9
[service.row]
script = ["503", { throttled = { retry_after = "5s" } }, { rejected = {} }, { delay = "15s" }, { error = { delay = "1s" } }, "hang", "200"]
rate_limit = { window = { limit = 500, every = "60s" } }
retry_after = { random = { uniform = { low = "1s", high = "2s" } } }
[[fault]]
at = "9s"
for = "9s"
set = { "service.api.rate_limit" = "none", "service.api.retry_after" = "5s", "service.row.script" = ["200"], "service.api.shed" = "none" }
"#;

const EDITS: &[(&str, &str, &str)] = &[
    ("retry_after = \"window\"", "retry_after = \"windows\"", "or \"window\", or { random ="),
    ("retry_after = \"window\"", "retry_after = \"-5s\"", "is negative"),
    ("retry_after = \"window\"", "retry_after = 5", "write `\"5ms\"` or `\"5s\"`"),
    ("retry_after = \"window\"", "retry_after = { randon = \"5s\" }", "did you mean `random`?"),
    ("\"service.api.retry_after\" = \"5s\"", "\"service.api.retry_after\" = \"window\"", "there is none"),
    ("token_bucket = { rate", "token_buckets = { rate", "did you mean `token_bucket`?"),
    ("rate = \"100/s\"", "rate = 100", "write `\"100/s\"`"),
    ("rate = \"100/s\"", "rate = \"0/s\"", "no token ever comes back"),
    ("burst = 50", "burst = 0", "from 1 to"),
    ("burst = 50, ", "", "`token_bucket` has no `burst`"),
    ("fill = \"100ms\"", "fill = \"0s\"", "or \"continuous\""),
    ("limit = 500", "limit = 0", "from 1 to"),
    ("every = \"60s\"", "every = \"0s\"", "must be above zero"),
    ("[\"503\", ", "[\"302\", ", "`302` is nothing that a service answers"),
    ("[\"503\", ", "[503, ", "write a status code such as \"503\""),
    ("[\"503\", ", "[\"timeout\", ", "ok error rejected throttled refused conflict permanent hang"),
    ("{ delay = \"15s\" }", "{ dalay = \"15s\" }", "did you mean `delay`?"),
    ("{ error = { delay = \"1s\" } }", "{ error = { after = \"1s\" } }", "has no key `after`"),
    ("{ rejected = {} }", "{ rejected = { retry_after = 3 } }", "has no unit of time"),
    ("permanent_rate = 0.1", "permanent_rate = 0.6", "more than 1 together"),
    ("permanent_rate = 0.1", "permanent_rate = -1", "0 to 1"),
    ("reject_time = { exponential = { mean = \"1ms\" } }", "reject_time = 1", "has no unit of time"),
    ("shed = \"doomed\"", "shed = \"doom\"", "did you mean `doomed`?"),
    (
        "time = { exponential = { mean = \"100ms\" } }",
        "time = { pareto = { shape = 1.0, minimum = \"1s\" } }",
        "mean of `time`, which is infinite",
    ),
    ("contention = 0.05", "contention = 5", "from 0 to 1"),
    ("scalability =", "scaleability =", "did you mean `scalability`?"),
    ("load_time = { scalability = { contention = 0.05, coherency = 0.001 } }", "load_time = { linear = {} }", "has no `per_attempt`"),
    ("sharing = true", "sharing = \"yes\"", "write true or false"),
    ("sharing = true", "sharing = false", "`in_service_limit` is for workers that share"),
    ("workers = 3", "workers = \"unlimited\"", "unlimited workers have nothing to share"),
    ("order = \"adaptive_lifo\"", "order = \"adaptive\"", "did you mean `adaptive_lifo`?"),
    ("lifo_above = 3", "lifo_above = -3", "from 0 to"),
    ("max_wait = \"2s\"", "max_wait = 2", "or \"none\""),
    ("target = \"5ms\"", "target = \"0s\"", "must be above zero"),
    ("interval = \"100ms\"", "intervall = \"100ms\"", "did you mean `interval`?"),
    ("criticality = \"sheddable_plus\"", "criticality = \"important\"", "`important` is not known here"),
    ("inherits_deadline = true", "inherits_deadlines = true", "did you mean `inherits_deadline`?"),
    ("\"service.api.shed\" = \"none\"", "\"service.api.sharing\" = false", "cannot change while the model runs"),
    ("\"service.api.shed\" = \"none\"", "\"service.api.shedd\" = \"none\"", "did you mean `shed`?"),
    ("[service.row]\nscript", "[service.row]\noptimistic = true\nscript", "an optimistic row has no `script`"),
    ("[service.row]\nscript", "[service.row]\noptimistic = true\nscript", "an optimistic row has no `rate_limit`"),
];

/// Whole files whose time would stand still, or which would never end.
const FILES: &[(&str, &str)] = &[
    ("script = ['503']", "time would stand still"),
    ("time = '1s'\nrate_limit = { window = { limit = 5, every = '1s' } }", "time would stand still"),
    ("time = '1s'\nshed = 'doomed'", "time would stand still"),
    ("script = ['error']", "time would stand still"),
    ("script = [{ error = { delay = '1s' } }]", "answers nothing well by its script"),
    ("script = ['200', 'hang']", "answers nothing well by its script"),
];

const RETRIES_FOR_EVER: &str =
    "[clients.a]\ncalls = 'b'\nload = { once = {} }\npolicy = { attempts = 'unlimited', retry_after = 'replace' }\n[service.b]\n";

#[test]
fn broken_services_say_what_is_wrong_and_where() {
    let edited = EDITS.iter().filter_map(|(from, to, expected)| {
        assert!(DOOR.contains(from), "`{from}` is not in the good file");
        fault_of(&DOOR.replacen(from, to, 1), expected, &[], "--> folder/broken.toml:")
    });
    let files = FILES
        .iter()
        .filter_map(|(service, expected)| fault_of(&format!("{RETRIES_FOR_EVER}{service}"), expected, &[], "--> folder/broken.toml:"));
    assert_none(edited.chain(files).collect());
}

/// Time passes, or every call ends: nothing to refuse. And what is explained is the same model again.
#[test]
fn sound_services_load_and_explain_themselves() {
    let services = [
        "script = ['404']",
        "script = ['503', '503', '200']",
        "time = '1s'\nqueue = { limit = 0 }\nreject_time = '1ms'",
        "time = '1s'\nrate_limit = { window = { limit = 5, every = '1s' } }\nretry_after = 'window'",
        "time = '1s'\nrate_limit = { token_bucket = { rate = '5/s', burst = 1 } }\nretry_after = { random = { exponential = { mean = '1s' } } }",
        "script = [{ throttled = { retry_after = '1s' } }, '200']",
        "time = '0s'\nload_time = { linear = { per_attempt = '1ms' } }\nerror_rate = 0.5",
    ];
    for text in services.iter().map(|service| format!("{RETRIES_FOR_EVER}{service}")).chain([DOOR.to_owned()]) {
        let scenario = Scenario::parse("sound", &text, None, &[]).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let explained = scenario.explain();
        let again = Scenario::parse("sound", &explained, None, &[]).unwrap_or_else(|error| panic!("{explained}\n{error}"));
        assert_eq!(again.base_model().unwrap(), scenario.base_model().unwrap(), "{explained}");
    }
}

/// The documentation cannot forget a key of a door.
#[test]
fn the_door_is_documented() {
    let documentation = include_str!("../../docs/FORMAT.md");
    for key in [
        "lifo_above",
        "max_wait",
        "codel",
        "rate_limit",
        "script",
        "permanent_rate",
        "reject_time",
        "shed",
        "load_time",
        "sharing",
        "in_service_limit",
        "criticality",
        "inherits_deadline",
        "fill",
        "burst",
        "contention",
        "coherency",
        "per_attempt",
    ] {
        assert!(documentation.contains(key), "docs/FORMAT.md says nothing of `{key}`");
    }
}
