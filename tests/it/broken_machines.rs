//! What incidents are made of, written wrong: each is refused with a message that says what is wrong and what to write instead.

use retrystorm::study::scenario::Scenario;

use crate::broken_scenarios::{assert_none, fault_of};

/// A sound scenario with all of it.
const GOOD: &str = r#"
[run]
horizon = "1m"
[clients.web]
calls = "api"
load = { open = { rate = "5/s" } }
policy = { attempts = 3, timeout = "1s", pool = { limit = 50, wait = 100, timeout = "1s", scope = { processes_of = 8 } } }
[service.api]
workers = 3
autoscaler = { signal = "busy", target = "70%", every = "15s", lag = "60s", least = 1, most = 100, step = 10, tolerance = 0.1 }
time = "100ms"
calls = [{ service = "db", share = "30%", policy = { pool = { limit = 2 } } }]
[service.db]
time = "5ms"
crash = { queue = 5000, down = "hang", restart = "10s", cold = "30s", cold_speed = "30%", steps = 6 }
cache = { hit_rate = 0.9, time = "1ms", keys = 1000 }
replicas = 3
balancer = "two_choices"
ejection = { consecutive = 5, time = "30s", most = "50%" }
replica = { 0 = { speed = 0.5 }, 2 = { down = "refuse", workers = "unlimited", error_rate = 0.1 } }
[[fault]]
at = "9s"
for = "9s"
set = { "clients.web.policy.pool.limit" = 5, "service.api.calls.0.share" = 0.5, "service.db.replica.1.down" = "hang", "service.db.cache.hit_rate" = 0.0 }
[[fault]]
at = "9s"
set = { "service.db.crash.queue" = 100 }
"#;

const EDITS: &[(&str, &str, &str)] = &[
    ("limit = 50", "limit = 0", "out of range"),
    ("limit = 50, ", "", "`pool` has no `limit`"),
    ("limit = 50", "size = 50", "`pool` has no key `size`"),
    ("wait = 100", "wait = -1", "or \"unlimited\""),
    ("wait = 100", "wait = \"none\"", "or \"unlimited\""),
    ("timeout = \"1s\", scope", "timeout = \"0s\", scope", "must be above zero"),
    ("timeout = \"1s\", scope", "timeout = 1, scope", "or \"none\""),
    ("{ processes_of = 8 }", "\"clients\"", "did you mean `client`?"),
    ("{ limit = 2 }", "50", "`pool` must be a table"),
    ("share = \"30%\"", "share = \"130%\"", "0 to 1"),
    ("\"clients.web.policy.pool.limit\" = 5", "\"clients.web.policy.pool.limit\" = 0", "out of range"),
    ("replicas = 3", "replicas = 0", "out of range"),
    ("replicas = 3", "replicas = 2", "there is no replica `2`: there are 2, counted from 0"),
    ("signal = \"busy\"", "signal = \"bussy\"", "did you mean `busy`?"),
    ("signal = \"busy\", ", "", "`autoscaler` has no `signal`"),
    ("target = \"70%\"", "target = 7", "0 to 1"),
    ("target = \"70%\"", "target = 0", "wants workers without end"),
    ("signal = \"busy\", target = \"70%\"", "signal = \"queue\", target = -1", "out of range"),
    ("least = 1, most = 100", "least = 101, most = 100", "`most` is below `least`"),
    ("most = 100, ", "", "`autoscaler` has no `most`"),
    ("most = 100, ", "", "or \"none\" in place of the table"),
    ("step = 10", "step = 0", "or \"unlimited\""),
    ("every = \"15s\"", "every = \"0s\"", "must be above zero"),
    ("workers = 3", "workers = \"unlimited\"", "an autoscaler needs a number of workers"),
    ("workers = 3", "workers = 3\nsharing = true", "an autoscaler needs a number of workers"),
    ("horizon = \"1m\"", "seed = 1", "an autoscaler needs a run with an end"),
    ("\"service.db.replica.1.down\" = \"hang\"", "\"service.api.autoscaler.most\" = 4", "cannot change while the model runs"),
    ("hit_rate = 0.9, ", "", "`cache` has no `hit_rate`"),
    ("hit_rate = 0.9", "hit_rate = 90", "0 to 1"),
    ("hit_rate = 0.9", "hitrate = 0.9", "did you mean `hit_rate`?"),
    ("time = \"1ms\", keys", "time = \"0s\", keys", "must be above zero"),
    ("keys = 1000", "keys = 0", "out of range"),
    ("cache = { hit_rate = 0.9", "optimistic = true\ncache = { hit_rate = 0.9", "has no `cache`"),
    ("replicas = 3", "optimistic = true\nreplicas = 3", "has no `replicas`"),
    ("crash = { queue = 5000", "optimistic = true\ncrash = { queue = 5000", "has no `crash`"),
    ("queue = 5000, ", "", "`crash` has no `queue`"),
    ("queue = 5000", "queue = 0", "out of range"),
    ("queue = 5000", "queue = \"unlimited\"", "write a whole number"),
    ("down = \"hang\", restart", "down = \"hold\", restart", "refuse"),
    ("restart = \"10s\"", "restart = \"0s\"", "must be above zero"),
    ("restart = \"10s\"", "restart = 10", "`10` has no unit"),
    ("cold = \"30s\"", "colt = \"30s\"", "did you mean `cold`?"),
    ("cold_speed = \"30%\"", "cold_speed = 1.5", "0 to 1"),
    ("steps = 6", "steps = 0", "out of range"),
    ("crash = {", "workers = \"unlimited\"\ncrash = {", "where all are in service at once nobody waits"),
    ("crash = {", "sharing = true\ncrash = {", "an `in_service_limit`"),
    ("\"service.db.crash.queue\" = 100", "\"service.db.crash.queue\" = -1", "out of range"),
    ("two_choices", "two_choice", "did you mean `two_choices`?"),
    ("consecutive = 5", "consecutive = 0", "out of range"),
    ("time = \"30s\"", "time = \"0s\"", "must be above zero"),
    ("most = \"50%\"", "most = 2", "0 to 1"),
    ("most = \"50%\"", "mots = \"50%\"", "did you mean `most`?"),
    ("0 = { speed = 0.5 }", "zero = { speed = 0.5 }", "write a number from 0 to 2"),
    ("0 = { speed = 0.5 }", "0 = { time = \"1s\" }", "replica 0 has no key `time`"),
    ("replica = { 0", "replica = 5 # { 0", "`replica` must be a table"),
    ("replica.1.down", "replica.7.down", "there is no replica `7`"),
    ("replica.1.down", "replica.1.time", "a fault can change these of a replica"),
    ("\"service.db.replica.1.down\" = \"hang\"", "\"service.db.replicas\" = 4", "cannot change while the model runs"),
    ("attempts = 3, timeout = \"1s\"", "attempts = \"unlimited\"", "asks a full pool again at once"),
];

/// Whole files that could never end, or whose time would stand still.
const FILES: &[(&str, &str)] = &[
    (
        "[clients.a]\ncalls = 'b'\nload = { once = {} }\n\
         policy = { attempts = 'unlimited', backoff = { fixed = { delay = '1s' } }, pool = { limit = 1, timeout = '1s' } }\n[service.b]\ntime = '1s'\n",
        "asks its pool for ever",
    ),
    (
        "[clients.a]\ncalls = 'b'\nload = { once = {} }\n[service.b]\ntime = '1s'\ncrash = { queue = 9 }\n",
        "a process that dies may do so again and again",
    ),
    (
        "[run]\nhorizon = '1s'\n[clients.a]\ncalls = 'b'\nload = { once = {} }\npolicy = { attempts = 'unlimited' }\n\
         [service.b]\ntime = '1s'\ncrash = { queue = 9 }\n",
        "what fails at once: time would stand still",
    ),
    (
        "[run]\nhorizon = '1s'\n[clients.a]\ncalls = 'b'\nload = { closed = { think = '0s' } }\n\
         policy = { pool = { limit = 1, wait = 0, scope = 'group' } }\n[service.b]\ntime = '1s'\n",
        "time would stand still",
    ),
];

#[test]
fn broken_machines_say_what_is_wrong_and_where() {
    let edited = EDITS.iter().filter_map(|(from, to, expected)| {
        assert!(GOOD.contains(from), "`{from}` is not in the good file");
        fault_of(&GOOD.replacen(from, to, 1), expected, &[], "--> folder/broken.toml:")
    });
    let files = FILES.iter().filter_map(|(text, expected)| fault_of(text, expected, &[], "--> folder/broken.toml:"));
    assert_none(edited.chain(files).collect());
}

/// What fits a signal that is not known is not said either.
#[test]
fn a_misspelt_signal_is_one_mistake() {
    let text = GOOD.replacen("signal = \"busy\"", "signal = \"bussy\"", 1);
    let said = Scenario::parse("broken", &text, None, &[]).unwrap_err().to_string();
    assert_eq!(said.matches("error:").count(), 1, "{said}");
}

/// What is explained is the same model again, and every key of it is documented.
#[test]
fn sound_machines_explain_themselves() {
    let documentation = include_str!("../../docs/FORMAT.md");
    let scenario = Scenario::parse("sound", GOOD, None, &[]).unwrap_or_else(|error| panic!("{error}"));
    let explained = scenario.explain();
    let again = Scenario::parse("sound", &explained, None, &[]).unwrap_or_else(|error| panic!("{explained}\n{error}"));
    assert_eq!(again.base_model().unwrap(), scenario.base_model().unwrap(), "{explained}");
    let words: Vec<&str> = explained.split([' ', '{', ',', '\n']).collect();
    for key in words.windows(2).filter(|pair| pair[1] == "=" && pair[0].starts_with(char::is_alphabetic)).map(|pair| pair[0]) {
        let is_documented =
            [format!("`{key}`"), format!("`{{ {key} = "), format!("{key} = ")].iter().any(|text| documentation.contains(text));
        assert!(is_documented, "docs/FORMAT.md says nothing of `{key}`");
    }
}
