//! Breakers as they are written: what is refused, with which words, and what is read back as it was printed.

use retrystorm::study::scenario::Scenario;

fn text(policy: &str) -> String {
    format!("[clients.a]\ncalls = 'b'\nload = {{ once = {{}} }}\npolicy = {{ {policy} }}\n[service.b]\ntime = '1s'\n")
}

/// Each row: what stands in the policy, and what the message or the help says.
const BROKEN: &[(&str, &str)] = &[
    ("breaker = { count_windw = {} }", "did you mean `count_window`?"),
    ("breaker = 'consecutive'", "write `{ consecutive = { failures = 5, open = \"30s\" } }`"),
    ("breaker = { consecutive = { failures = 0, open = '1s' } }", "out of range"),
    ("breaker = { consecutive = { failures = 5 } }", "add `open = \"30s\"`"),
    ("breaker = { consecutive = { failures = 5, open = '0s' } }", "must be above zero"),
    ("breaker = { consecutive = { failures = 5, open = 30 } }", "write `\"30ms\"` or `\"30s\"`"),
    ("breaker = { consecutive = { failures = 5, open = '1s', size = 3 } }", "`consecutive` has no key `size`"),
    ("breaker = { consecutive = { failures = 5, open = '1s', probes = 0 } }", "out of range"),
    ("breaker = { consecutive = { failures = 5, open = '1s', close_after = 0 } }", "out of range"),
    ("breaker = { consecutive = { failures = 5, open = '1s', close_after = {} } }", "`close_after` has no `rate`"),
    ("breaker = { consecutive = { failures = 5, open = '1s', close_after = { rate = 0 } } }", "write a share above 0"),
    (
        "breaker = { consecutive = { failures = 5, open = '1s', close_after = { rate = 1, at_least = false } } }",
        "more than all cannot fail",
    ),
    ("breaker = { consecutive = { failures = 5, open = '1s', others = 'waits' } }", "did you mean `wait`?"),
    ("breaker = { consecutive = { failures = 5, open = '1s', around = 'calls' } }", "did you mean `call`?"),
    ("breaker = { consecutive = { failures = 5, open = '1s', rejection = 'wait' } }", "did you mean `waits`?"),
    ("breaker = { consecutive = { failures = 5, open = '1s', counts = ['timeuot'] } }", "did you mean `timeout`?"),
    ("breaker = { consecutive = { failures = 5, open = '1s', counts = 'timeout' } }", "write a list in brackets"),
    ("breaker = { consecutive = { failures = 5, open = '1s', scope = 'clients' } }", "did you mean `client`?"),
    ("breaker = { consecutive = { failures = 5, open = '1s', scope = { processes_of = 0 } } }", "out of range"),
    (
        "backoff = { fixed = { delay = '1s' } }, breaker = { consecutive = { failures = 5, open = '1s', around = 'call', rejection = 'uses_attempt' } }",
        "the retries are inside it",
    ),
    ("breaker = { consecutive = { failures = 5, open = { exponental = {} } } }", "did you mean `exponential`?"),
    ("breaker = { consecutive = { failures = 5, open = { exponential = {} } } }", "add `initial = \"5s\"`"),
    (
        "breaker = { consecutive = { failures = 5, open = { exponential = { initial = '5s', cap = '1s' } } } }",
        "write a cap of at least \"5s\"",
    ),
    ("breaker = { consecutive = { failures = 5, open = { exponential = { initial = '5s', factor = 0.5 } } } }", "out of range"),
    ("breaker = { consecutive = { failures = 5, open = { exponential = { initial = '5s', jitter = 2 } } } }", "share"),
    ("breaker = { consecutive = { failures = 5, open = { exponential = { initial = '5s', jitter_side = 'up' } } } }", "not known here"),
    ("breaker = { count_window = { open = '1s' } }", "add `rate = \"50%\"`"),
    ("breaker = { count_window = { rate = '50%', open = '1s', size = 10, min_calls = 11 } }", "write at most 10"),
    ("breaker = { count_window = { rate = '50%', open = '1s', size = 2000000 } }", "write a whole number from 1 to 1000000"),
    ("breaker = { count_window = { rate = '50%', open = '1s', judged = 'buckets' } }", "not known here"),
    ("breaker = { count_window = { rate = 0, open = '1s' } }", "at_least = false"),
    ("breaker = { time_window = { rate = 1.0, at_least = false, open = '1s' } }", "at_least = true"),
    ("breaker = { time_window = { rate = '50%', open = '1s', window = '9ns' } }", "less than a nanosecond for each"),
    ("breaker = { time_window = { rate = '50%', open = '1s', buckets = 0 } }", "write a whole number from 1 to 1000"),
    ("breaker = { average = { success_rate = 0, open = '1s' } }", "this would never open"),
    ("breaker = { average = { open = '1s', consecutive = 0 } }", "or \"none\""),
    ("breaker = { cumulative = { rate = '10%', blocks = 'retries', open = '1s' } }", "leave out `open`, or write blocks = \"all\""),
    ("breaker = { cumulative = { rate = '10%', blocks = 'retries', others = 'wait' } }", "it has no `others`"),
    (
        "timeout = '1s', backoff = { fixed = { delay = '1s' } }, breaker = { cumulative = { rate = '10%', blocks = 'retries', rejection = 'waits' } }",
        "may wait for ever",
    ),
    ("breaker = { cumulative = { rate = '10%', open = '1s', of = 'call' } }", "did you mean `calls`?"),
    // A refusal takes no time.
    ("timeout = '1s', breaker = { consecutive = { failures = 5, open = '1s', rejection = 'waits' } }", "time would stand still"),
    (
        "timeout = '1s', attempts = 'unlimited', breaker = { consecutive = { failures = 5, open = '1s', rejection = 'uses_attempt' } }",
        "time would stand still",
    ),
    (
        "backoff = { fixed = { delay = '1s' } }, breaker = { consecutive = { failures = 5, open = '1s', rejection = 'waits' } }",
        "give the policy a timeout or a deadline",
    ),
];

#[test]
fn broken_breakers_say_what_is_wrong() {
    let wrong: Vec<String> = BROKEN
        .iter()
        .filter_map(|(policy, expected)| match Scenario::parse("broken", &text(policy), None, &[]) {
            Ok(_) => Some(format!("{policy}\n  was accepted, not `{expected}`")),
            Err(error) if !error.to_string().contains(expected) => Some(format!("{policy}\n  not `{expected}` but\n{error}")),
            Err(_) => None,
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Memory is counted before a run, not found short in it.
#[test]
fn breakers_for_very_many_clients_are_refused() {
    let breaker = "breaker = { count_window = { rate = '50%', open = '1s', size = 1000000 } }";
    let many = text(breaker).replace("calls = 'b'", "count = 1000000\ncalls = 'b'");
    let error = Scenario::parse("many", &many, None, &[]).expect_err("126 GB").to_string();
    assert!(error.contains("would take 126 GB of memory"), "{error}");
    let shared = many.replace("size = 1000000", "size = 1000000, scope = 'group'");
    assert!(Scenario::parse("many", &shared, None, &[]).is_ok());
}

/// The breakers of libraries, as docs/FORMAT.md lists them.
pub const LIBRARIES: &[(&str, &str)] = &[
    ("polly_v8", "{ time_window = { window = '30s', rate = '10%', min_calls = 100, open = '5s' } }"),
    ("resilience4j", "{ count_window = { rate = '50%', judged = 'results', open = '60s', probes = 10, close_after = { rate = '50%' } } }"),
    ("hystrix", "{ time_window = { buckets = 20, rate = '50%', judged = 'buckets', open = '5s' } }"),
    ("opossum", "{ time_window = { rate = '50%', at_least = false, min_calls = 0, open = '30s' } }"),
    ("gobreaker", "{ consecutive = { failures = 6, open = '60s' } }"),
    ("cockatiel", "{ consecutive = { failures = 5, open = '10s', others = 'wait' } }"),
    ("cockatiel_count", "{ count_window = { size = 10, rate = '20%', at_least = false, open = '10s', others = 'wait' } }"),
    (
        "finagle",
        "{ average = { consecutive = 5, open = { exponential = { initial = '5s', cap = '300s', jitter = 1, jitter_side = 'above', exact_first = true } } } }",
    ),
    (
        "linkerd",
        "{ consecutive = { failures = 7, open = { exponential = { initial = '1s', cap = '60s', jitter = 0.5, jitter_side = 'above' } }, scope = 'group' } }",
    ),
    ("failsafe", "{ average = { consecutive = 5, open = { exponential = { initial = '10s', cap = '300s', jitter = 0.5 } } } }"),
    ("article", "{ cumulative = { rate = '10%', of = 'calls', blocks = 'retries' } }"),
    ("cumulative", "{ cumulative = { rate = '10%', open = '30s' } }"),
];

/// What `explain` prints loads to the same model, and every key of it is documented.
#[test]
fn what_is_printed_is_read_back() {
    let documentation = include_str!("../../docs/FORMAT.md");
    for (name, breaker) in LIBRARIES {
        let scenario = Scenario::parse("good", &text(&format!("breaker = {breaker}")), None, &[]).unwrap_or_else(|error| panic!("{error}"));
        let printed = scenario.explain();
        let again = Scenario::parse("again", &printed, None, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(again.base_model().unwrap(), scenario.base_model().unwrap(), "{name}");
        assert_eq!(again.explain(), printed, "{name}");
        let line = printed.lines().find(|line| line.contains("breaker = ")).expect("a breaker");
        let keys =
            line.split([' ', '{', ',']).zip(line.split([' ', '{', ',']).skip(1)).filter(|(_, next)| *next == "=").map(|(key, _)| key);
        for key in keys {
            let is_documented = documentation.contains(&format!("`{key}`")) || documentation.contains(&format!("`{{ {key} = "));
            assert!(is_documented, "docs/FORMAT.md says nothing of `{key}`");
        }
    }
}

/// At 100 calls a second, all of which fail for a minute and none after: each opens, closes, and lets all through in the end; what it
/// saves lies between what is sent before any could open and all.
#[test]
fn every_library_opens_and_closes() {
    for (name, breaker) in LIBRARIES.iter().filter(|(name, _)| !["article", "cumulative"].contains(name)) {
        let text = format!(
            "[run]\nhorizon = '600s'\n[clients.a]\ncalls = 'b'\nload = {{ open = {{ rate = '100/s' }} }}\npolicy = {{ breaker = {breaker} }}
             [service.b]\ntime = '1ms'\nworkers = 'unlimited'\n[[fault]]\nat = '60s'\nfor = '60s'\nset = {{ 'service.b.error_rate' = 1.0 }}\n"
        );
        let study = crate::support::study(&crate::support::scenario(&text, &[]));
        let own = |metric| crate::support::value(&study, 0, metric).value;
        assert!(own("breaker_opened") >= 1.0, "{name} never opens");
        assert_eq!(own("stuck"), 0.0, "{name} never closes");
        assert!(own("b.errors") < 2000.0, "{name} lets {} of 6000 through", own("b.errors"));
        assert!(own("success_rate") > 0.65, "{name}: {}", own("success_rate"));
    }
}
