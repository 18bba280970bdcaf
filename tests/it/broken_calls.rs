//! Hedges, retriers, keys, presets and queues, written wrong: the message and the help say what to write instead.

use retrystorm::study::scenario::{Scenario, parse_policy};

const POLICIES: &[(&str, &str)] = &[
    ("{ hedge = 'after' }", "write `{ after = { delay = \"50ms\" } }`"),
    ("{ hedge = { afer = { delay = '1s' } } }", "did you mean `after`?"),
    ("{ hedge = { after = {} } }", "add `delay = \"50ms\"`"),
    ("{ hedge = { after = { delay = 50 } } }", "write `\"50ms\"` or `\"50s\"`"),
    ("{ hedge = { after = { delay = '50ms', most = 0 } } }", "write a whole number from 1"),
    ("{ hedge = { after = { delay = '50ms', cancel = 'no' } } }", "write true or false"),
    ("{ hedge = { after = { delay = '50ms', budget = '110%' } } }", "or \"none\""),
    ("{ hedge = { after = { delay = '50ms', concurrent = 0 } } }", "or \"unlimited\""),
    ("{ hedge = { percentile = { share = 95 } } }", "write a number from 0 to 1, or"),
    ("{ hedge = { percentile = { first = '1s' } } }", "add `share = \"95%\"`"),
    ("{ retriers = { on = ['error'] } }", "write a list in brackets"),
    ("{ retriers = [{ retries = 3 }] }", "add `on = "),
    ("{ retriers = [{ on = ['errors'] }] }", "did you mean `error`?"),
    ("{ retriers = [{ on = ['permanent'] }] }", "never worth a retry"),
    ("{ retriers = [{ on = ['error'], retries = -1 }] }", "or \"unlimited\""),
    ("{ retriers = [{ on = ['error'], attempts = 3 }] }", "a retrier has no key `attempts`"),
    ("{ retriers = [{ on = ['error'], backoff = 'slow' }] }", "is not a backoff"),
    ("{ retriers = [{ on = [] }] }", "for no outcome"),
    ("{ retriers = [{ on = ['errors'] }, { retries = 1 }] }", "add `on = "),
    ("{ retry_on = ['errors', 'timeouts'] }", "did you mean `timeout`?"),
    ("{ hedge = { after = { delay = -1 } } }", "write `\"1ms\"` or `\"1s\"`"),
    ("{ budget = { all = [{ quota = { costs = 1 } }, { cubic = { betta = 1 } }] } }", "did you mean `beta`?"),
    (
        "{ retriers = [{ on = ['error'] }], breaker = { consecutive = { failures = 1, open = '1s', rejection = 'waits' } } }",
        "write rejection = \"uses_attempt\"",
    ),
    ("{ idempotent = true }", "write one of `no`, `yes`, `key`"),
    ("{ idempotent = 'keys' }", "did you mean `key`?"),
    ("{ preset = 3 }", "write it in quotes"),
    ("{ preset = 'non' }", "did you mean `none`?"),
    ("{ preset = 'none', atempts = 3 }", "did you mean `attempts`?"),
];

const QUEUES: &[(&str, &str)] = &[
    ("'sqs'", "`sqs` needs a value"),
    ("{ sns = {} }", "did you mean `sqs`?"),
    ("{ sqs = { visibility_timeout = '0s' } }", "must be above zero"),
    ("{ sqs = { function_timeout = '31s' } }", "six times"),
    ("{ sqs = { max_receives = 0 } }", "from 1 to"),
    ("{ sqs = { batch_size = 10001 } }", "from 1 to 10000"),
    ("{ sqs = { concurrency = 'many' } }", "write a whole number from 1"),
    ("{ sqs = { report_failures = 'yes' } }", "write true or false"),
    ("{ sqs = { visibility = '30s' } }", "did you mean `visibility_timeout`?"),
];

#[test]
fn policies_say_what_is_wrong() {
    for (text, expected) in POLICIES {
        let error = parse_policy("broken", text).err().unwrap_or_else(|| panic!("{text} is read")).to_string();
        assert!(error.contains(expected), "{text}:\n{error}\nwithout {expected}");
    }
    let many = ["{ on = ['error'] }"; 9].join(", ");
    assert!(parse_policy("broken", &format!("{{ retriers = [{many}] }}")).unwrap_err().to_string().contains("more than the 8"));
}

#[test]
fn queues_say_what_is_wrong() {
    let text = |via: &str, policy: &str| {
        format!(
            "[run]\nhorizon = '1h'\n[clients.a]\ncalls = 'b'\nload = {{ once = {{}} }}\npolicy = {policy}\nvia = {via}\n[service.b]\ntime = '1s'\n"
        )
    };
    let read = |via: &str, policy: &str| Scenario::parse("broken", &text(via, policy), None, &[]);
    for (via, expected) in QUEUES {
        let error = read(via, "{}").err().unwrap_or_else(|| panic!("{via} is read")).to_string();
        assert!(error.contains(expected), "{via}:\n{error}\nwithout {expected}");
    }
    for policy in ["{ deadline = '1m' }", "{ max_elapsed = '1m' }"] {
        assert!(read("{ sqs = {} }", policy).unwrap_err().to_string().contains("go through a queue"), "{policy}");
    }
    let sound = read("{ sqs = { visibility_timeout = '1min' } }", "{ attempts = 2, timeout = '1s' }").unwrap();
    assert!(sound.explain().contains("function_timeout = \"60s\""), "{}", sound.explain());
    let again = Scenario::parse("again", &sound.explain(), None, &[]).unwrap();
    assert_eq!(again.base_model().unwrap(), sound.base_model().unwrap());
}

#[test]
fn what_is_explained_reads_back() {
    for text in [
        "{ hedge = { after = { delay = '50ms', budget = '10%' } } }",
        "{ hedge = { percentile = { share = '95%', first = '1s' } }, attempts = 3 }",
        "{ retriers = [{ on = ['error'], backoff = { fixed = { delay = '1s' } } }, { on = ['timeout'] }], idempotent = 'key' }",
        "{ preset = 'none', timeout = '1s' }",
    ] {
        let file = format!(
            "[run]\nhorizon = '1h'\n[clients.a]\ncalls = 'b'\nload = {{ once = {{}} }}\npolicy = {text}\n[service.b]\ntime = '1s'\n"
        );
        let first = Scenario::parse("first", &file, None, &[]).unwrap_or_else(|error| panic!("{error}"));
        let again = Scenario::parse("again", &first.explain(), None, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.base_model().unwrap(), first.base_model().unwrap(), "{}", first.explain());
    }
}
