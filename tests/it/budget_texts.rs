//! Budgets as they are written: every form reads back the same, every key is documented, what is wrong is refused with what to write instead.

use retrystorm::study::scenario::Scenario;

const FORMS: &[&str] = &[
    "'none'",
    "{ ratio = { share = '1000%', min_per_second = '3/min', scope = 'group' } }",
    "{ quota = {} }",
    "{ quota = { capacity = 1000, cost = 10, throttled_cost = 0, timeout_cost = 20, success_reward = 0, refund = 'none', refill = '2/s', partial = true } }",
    "{ token_throttle = {} }",
    "{ token_throttle = { max = 100, ratio = 1, threshold = '50%', failure_cost = 10, when_empty = 'wait', scope = 'service' } }",
    "{ window = {} }",
    "{ window = { ratio = '1000%', min_per_second = 0, ttl = '60s', slots = 'finagle', deposit_on = 'success' } }",
    "{ concurrency = {} }",
    "{ concurrency = { most = 3, counts_backoff = false, scope = { processes_of = 8 } } }",
    "{ bucket = { share = '10%', capacity = 5 } }",
    "{ bucket = { share = 2, capacity = 10, initial = 0, at_least = false, scope = 'group' } }",
    "{ ratio_cap = { share = 0.2, of = 'attempts', window = '10s' } }",
    "{ adaptive_reject = { k = 1.1, window = '30s', most = '80%', applies_to = 'retries' } }",
    "{ cubic = { beta = 0.5, scale = 1, smoothing = 1, least_rate = 2, cuts_on = ['throttled', 'rejected'] } }",
    "{ all = [{ quota = {} }, { cubic = {} }, { ratio = { share = 0.1, scope = 'group' } }, { ratio = { share = 0.1 } }] }",
];

fn text(budget: &str) -> String {
    format!(
        "[run]\nhorizon = '10s'\n[clients.a]\ncalls = 'b'\nload = {{ open = {{ rate = '1/s' }} }}\npolicy = 'p'\n[service.b]\ntime = '1s'\n\
         [policy.p]\nattempts = 3\nbackoff = {{ fixed = {{ delay = '1s' }} }}\nbudget = {budget}\n"
    )
}

#[test]
fn every_form_reads_back_the_same() {
    let documentation = include_str!("../../docs/FORMAT.md");
    for form in FORMS {
        let scenario = Scenario::parse("form", &text(form), None, &[]).unwrap_or_else(|error| panic!("{form}\n{error}"));
        let explained = scenario.explain();
        let again = Scenario::parse("form", &explained, None, &[]).unwrap_or_else(|error| panic!("{explained}\n{error}"));
        assert_eq!(again.model(&again.cells[0]).unwrap(), scenario.model(&scenario.cells[0]).unwrap(), "{explained}");
        let line = explained.lines().find(|line| line.starts_with("budget = ")).expect("it is explained");
        let keys = line.split(" = ").filter_map(|part| part.rsplit([' ', '{']).next());
        for key in keys.filter(|key| key.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')) {
            let documented = [format!("`{key}`"), format!("{{ {key} = ")].iter().any(|form| documentation.contains(form));
            assert!(documented, "docs/FORMAT.md says nothing of `{key}`");
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    for (budget, expected) in [
        ("{ qouta = {} }", "did you mean `quota`?"),
        ("{ quota = { capacity = 0 } }", "out of range"),
        ("{ quota = { cost = 1.5 } }", "not a whole number"),
        ("{ quota = { refund = 'least' } }", "did you mean `last`?"),
        ("{ quota = { refill = 3 } }", "write `\"3/s\"`"),
        ("{ quota = { partial = 'yes' } }", "true or false"),
        ("{ quota = { scope = 'proxy' } }", "is not a scope"),
        ("{ quota = { scope = { processes_of = 0 } } }", "out of range"),
        ("{ quota = { scope = 'processes_of' } }", "needs a value"),
        ("{ quota = { share = 3 } }", "has no key `share`"),
        ("{ token_throttle = { max = 0 } }", "out of range"),
        ("{ token_throttle = { threshold = 2 } }", "not a share from 0 to 1"),
        ("{ token_throttle = { when_empty = 'wayt' } }", "did you mean `wait`?"),
        ("{ window = { ratio = '1001%' } }", "not a share from 0 to 10"),
        ("{ window = { ratio = 10.01 } }", "not a share from 0 to 10"),
        ("{ window = { ratio = -0.1 } }", "not a share from 0 to 10"),
        ("{ window = { ratio = 'some' } }", "not a share from 0 to 10"),
        ("{ window = { ttl = '0s' } }", "must be above zero"),
        ("{ window = { ttl = '999ms' } }", "from \"1s\" to \"60s\""),
        ("{ window = { ttl = '61s' } }", "from \"1s\" to \"60s\""),
        ("{ window = { slots = 'towers' } }", "did you mean `tower`?"),
        ("{ window = { deposit_on = 'cal' } }", "did you mean `call`?"),
        ("{ concurrency = { most = 3, min = 3 } }", "two limits"),
        ("{ concurrency = { most = -1 } }", "out of range"),
        ("{ concurrency = { share = '2000%' } }", "not a share from 0 to 10"),
        ("{ ratio_cap = { of = 'call' } }", "did you mean `calls`?"),
        ("{ ratio_cap = { window = '0s' } }", "must be above zero"),
        ("{ adaptive_reject = { k = 0 } }", "out of range"),
        ("{ adaptive_reject = { most = 1.5 } }", "not a share from 0 to 1"),
        ("{ adaptive_reject = { applies_to = 'retry' } }", "did you mean `retries`?"),
        ("{ cubic = { beta = 1 } }", "out of range"),
        ("{ cubic = { smoothing = 0 } }", "out of range"),
        ("{ cubic = { cuts_on = ['permanent'] } }", "never worth a retry"),
        ("{ all = [] }", "holds no budget"),
        ("{ all = { quota = {} } }", "a list is wanted here"),
        ("{ all = ['none'] }", "is not a budget in `all`"),
        ("{ all = [{ all = [] }] }", "is not a budget in `all`"),
        ("{ all = [{ quota = {} }, { quota = { cost = 5 } }] }", "more than one `quota`"),
        ("{ bucket = { capacity = 5 } }", "has no `share`"),
        ("{ bucket = { share = '10%' } }", "has no `capacity`"),
        ("{ bucket = { share = '10%', capacity = 0.5 } }", "out of range"),
        ("{ bucket = { share = '10%', capacity = 5, initial = 6 } }", "cannot hold 6 at first"),
        ("{ bucket = { share = '10%', capacity = 5, at_least = 1 } }", "true or false"),
        ("{ ratio = { share = '1001%' } }", "not a share from 0 to 10"),
    ] {
        let error = Scenario::parse("broken", &text(budget), None, &[]).expect_err(budget).to_string();
        assert!(error.contains(expected) && error.contains("= help: ") && error.contains('^'), "`{expected}` is not in:\n{error}");
    }
    let impatient = text("{ token_throttle = { when_empty = 'wait' } }").replace("{ fixed = { delay = '1s' } }", "'none'");
    let error = Scenario::parse("broken", &impatient, None, &[]).expect_err("no wait to go on with").to_string();
    assert!(error.contains("a throttle that waits needs a backoff"), "{error}");
}

/// Runs that would never end, or stand still: what a budget ends and what it does not.
#[test]
fn a_budget_ends_retries_or_does_not() {
    let endless = |budget: &str, backoff: &str| {
        let text = text(budget).replace("attempts = 3", "attempts = 'unlimited'").replace("{ fixed = { delay = '1s' } }", backoff);
        let text = text.replace("time = '1s'", "workers = 0\nqueue = { limit = 0 }\ntime = '1s'");
        Scenario::parse("endless", &text, None, &[]).err().map(|error| error.to_string())
    };
    for budget in ["{ concurrency = {} }", "{ cubic = {} }", "{ ratio_cap = { share = 1, of = 'attempts' } }", "{ quota = { cost = 0 } }"] {
        let error = endless(budget, "'none'").unwrap_or_else(|| panic!("{budget} would stand still"));
        assert!(error.contains("time would stand still"), "{error}");
    }
    for budget in ["{ quota = {} }", "{ ratio = { share = 1 } }", "{ window = {} }", "{ adaptive_reject = {} }", "{ token_throttle = {} }"]
    {
        assert_eq!(endless(budget, "'none'"), None, "{budget}");
    }
    let without_horizon = |budget: &str| {
        let text = text(budget).replace("attempts = 3", "attempts = 'unlimited'").replace("[run]\nhorizon = '10s'\n", "");
        let text = text.replace("{ open = { rate = '1/s' } }", "{ once = {} }").replace("time = '1s'", "time = '1s'\nerror_rate = 1.0");
        Scenario::parse("endless", &text, None, &[]).err().map(|error| error.to_string())
    };
    for budget in ["{ concurrency = {} }", "{ quota = { refill = '1/s' } }", "{ window = {} }", "{ adaptive_reject = {} }"] {
        let error = without_horizon(budget).unwrap_or_else(|| panic!("{budget} would never end"));
        assert!(error.contains("can never end"), "{error}");
    }
    for budget in ["{ quota = {} }", "{ ratio = { share = 1 } }", "{ window = { min_per_second = 0 } }", "{ token_throttle = {} }"] {
        assert_eq!(without_horizon(budget), None, "{budget}");
    }
}
