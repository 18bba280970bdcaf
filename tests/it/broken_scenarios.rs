//! Broken scenario files: each must be refused with a message that says what is wrong, where, and what to write instead.

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use retrystorm::study::scenario::Scenario;

/// Everything that the format has, in one file that loads.
const GOOD: &str = include_str!("everything.toml");

/// Each row: what to replace in the good file, by what, and what the message and the help then say.
const EDITS: &[(&str, &str, &str)] = &[
    // Words that are not known.
    ("count = 5000", "cuont = 5000", "did you mean `count`?"),
    ("[clients.web]", "[client.web]", "did you mean `clients`?"),
    ("full_jitter = { base", "full_jiter = { base", "did you mean `full_jitter`?"),
    ("{ full_jitter = { base = \"100ms\", cap = \"20s\" } }", "\"exponental\"", "did you mean `exponential`?"),
    ("order = \"fifo\"", "order = \"fifi\"", "did you mean `fifo`?"),
    ("abandoned = \"serve\"", "abandoned = \"skipp\"", "did you mean `skip`?"),
    ("\"conflict\"]", "\"conflicts\"]", "did you mean `conflict`?"),
    ("\"conflict\"]", "\"permanent\"]", "never worth a retry"),
    ("retry_after = \"floor\"", "retry_after = \"flor\"", "did you mean `floor`?"),
    ("metric = \"recovery_time\"", "metric = \"recovery_tim\"", "did you mean `recovery_time`?"),
    ("metric = \"recovery_time\"", "metric = \"apis.arrivals\"", "did you mean `api.arrivals`?"),
    ("kind = \"timeline\"", "kind = \"time_line\"", "did you mean `timeline`?"),
    ("y = [\"attempts\", \"goodput\"]", "y = [\"attempts\", \"godput\"]", "did you mean `goodput`?"),
    ("[run]", "[[run]]", "[run] must be a table, not a list"),
    // Names that lead nowhere.
    ("calls = \"api\"", "calls = \"apy\"", "there is no service `apy`"),
    ("policy = \"standard\" # clients", "policy = \"standart\"", "did you mean `standard`?"),
    ("service = \"db\", policy = \"db_retry\"", "service = \"bd\", policy = \"db_retry\"", "did you mean `db`?"),
    ("service = \"db\", policy = \"db_retry\"", "service = \"db\", policy = \"db_retri\"", "did you mean `db_retry`?"),
    ("service = \"db\", policy = \"db_retry\"", "service = \"api\", policy = \"db_retry\"", "in a circle: api -> api"),
    ("[link.\"web->api\"]", "[link.\"web->apy\"]", "did you mean `web->api`?"),
    ("\"service.api.down\" = \"refuse\"", "\"service.apy.down\" = \"refuse\"", "did you mean `api`?"),
    ("\"service.api.down\" = \"refuse\"", "\"service.api.down\" = \"refused\"", "did you mean `refuse`?"),
    ("\"service.api.down\" = \"refuse\"", "\"service.api.calls\" = []", "cannot change while the model runs"),
    ("\"service.api.down\" = \"refuse\"", "\"service.api.optimistic\" = true", "cannot change while the model runs"),
    ("\"service.api.down\" = \"refuse\"", "\"clients.web.load.open.rate\" = \"9/s\"", "clients.web.load_factor"),
    ("\"service.api.down\" = \"refuse\"", "\"clients.web.count\" = 3", "`policy` and `load_factor`"),
    ("\"service.api.down\" = \"refuse\"", "\"run.horizon\" = \"3s\"", "cannot change while the model runs"),
    ("\"service.api.down\" = \"refuse\"", "service.api.down = \"refuse\"", "with the path in quotes"),
    ("\"clients.web.policy\" = [\"none\"", "\"clients.wep.policy\" = [\"none\"", "did you mean `web`?"),
    ("\"clients.web.policy\" = [\"none\"", "\"clients.web.policy\" = [\"nine\"", "in the cell clients.web.policy = nine"),
    ("\"clients.web.policy\" = [\"none\"", "\"run.seed\" = [1, 2]\n\"clients.web.policy\" = [\"none\"", "the same for all cells"),
    ("where = { \"clients.web.policy\" = \"standard\" }", "where = { \"clients.web.polices\" = \"standard\" }", "not an axis of [compare]"),
    ("where = { \"clients.web.policy\" = \"standard\" }", "where = { \"clients.web.policy\" = \"standart\" }", "did you mean `standard`?"),
    ("x = \"service.api.workers\"", "x = \"service.api.worker\"", "did you mean `service.api.workers`?"),
    // Values that do not fit.
    ("timeout = \"1s\"", "timeout = 10", "write `\"10ms\"` or `\"10s\"`"),
    ("timeout = \"1s\"", "timeout = \"10\"", "has no unit"),
    ("timeout = \"1s\"", "timeout = \"soon\"", "or \"none\""),
    ("timeout = \"1s\"", "timeout = \"0s\"", "must be above zero"),
    ("timeout = \"1s\"", "timeout = 1979-05-27", "is a date"),
    ("timeout = \"1s\"", "timeout = \"600000d\"", "584 years"),
    ("rate = \"700/s\"", "rate = 700", "write `\"700/s\"`"),
    ("rate = \"700/s\"", "rate = \"700\"", "is not a rate"),
    ("rate = \"700/s\"", "rate = []", "at least one point"),
    ("rate = \"700/s\"", "rate = [[\"0s\"]]", "a pair of a time and a rate"),
    ("rate = \"700/s\"", "rate = [[\"9s\", \"1/s\"], [\"3s\", \"2/s\"]]", "not after the one before"),
    ("rate = \"700/s\"", "rate = \"700/s\", shape = \"ramp\"", "a constant rate has no shape"),
    ("rate = \"700/s\"", "rate = \"1e12/s\"", "more than one a nanosecond"),
    ("share = \"10%\"", "share = \"1001%\"", "is not a share"),
    ("share = \"10%\"", "share = nan", "not a finite number"),
    ("loss = 0.0", "loss = 1.5", "is not a share"),
    ("count = 5000", "count = 0", "out of range"),
    ("count = 5000", "count = 5000000000", "out of range"),
    ("count = 5000", "count = 99999999999999999999", "out of range"),
    ("count = 5000", "count = 1.5", "not a whole number"),
    ("attempts = 4", "attempts = 0", "or \"unlimited\""),
    ("attempts = 4", "attempts = 4\nretries = 3", "say the same thing twice"),
    ("base = \"100ms\", cap = \"20s\"", "base = \"30s\", cap = \"20s\"", "is below the base"),
    ("base = \"100ms\", cap = \"20s\"", "cap = \"20s\"", "add `base ="),
    ("base = \"100ms\", cap = \"20s\"", "base = \"100ms\", factor = 0", "out of range"),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ full_jitter = { base = \"1s\" }, fixed = { delay = \"1s\" } }",
        "exactly one key",
    ),
    ("{ full_jitter = { base = \"100ms\", cap = \"20s\" } }", "\"full_jitter\"", "needs a value"),
    ("{ full_jitter = { base = \"100ms\", cap = \"20s\" } }", "{ none = {} }", "takes no value"),
    ("{ full_jitter = { base = \"100ms\", cap = \"20s\" } }", "7", "a backoff is not a whole number"),
    ("failures = 5", "failures = 0", "out of range"),
    ("probes = 1", "probes = 0", "out of range"),
    ("window = \"10s\"", "window = \"0s\"", "must be above zero"),
    ("scope = \"client\"", "scope = \"clients\"", "did you mean `client`?"),
    ("workers = 100", "workers = -1", "out of range"),
    ("time = { exponential = { mean = \"100ms\" } }", "", "has no `time`"),
    ("time = { exponential = { mean = \"100ms\" } }", "time = { exponentail = { mean = \"100ms\" } }", "did you mean `exponential`?"),
    ("time = { exponential = { mean = \"100ms\" } }", "time = 0.1", "or a distribution"),
    ("time = { exponential = { mean = \"100ms\" } }", "time = { pareto = { shape = 0.5, mean = \"1s\" } }", "no finite mean"),
    ("time = { exponential = { mean = \"100ms\" } }", "time = { uniform = { low = \"2s\", high = \"1s\" } }", "exchange them"),
    ("time = { exponential = { mean = \"100ms\" } }", "time = { lognormal = { mean = \"1s\", p99 = \"60s\" } }", "at most 14.96 times"),
    ("time = { exponential = { mean = \"100ms\" } }", "time = { gamma = { shape = 2, mean = \"1s\", scale = \"1s\" } }", "twice"),
    ("time = { exponential = { mean = \"100ms\" } }", "time = { hyperexponential = [{ share = 0.5, mean = \"1s\" }] }", "sum to 1"),
    ("time = { exponential = { mean = \"100ms\" } }", "time = { empirical = { file = \"none.csv\" } }", "`none.csv` cannot be read"),
    ("horizon = \"5m\"", "", "never ends"),
    ("horizon = \"5m\"", "horizon = \"20s\"", "leaves nothing of the horizon"),
    ("bin = \"1s\"", "bin = \"1us\"", "more than a million bins"),
    ("seed = 1", "seed = -1", "out of range"),
    ("replications = 20", "replications = 0", "out of range"),
    ("max_replications = 400", "max_replications = 4", "is below replications"),
    ("half_width = \"1%\"", "half_width = 0", "must be above zero"),
    ("below = \"20s\"", "", "claims exactly one thing, not 0"),
    ("below = \"20s\"", "below = \"20s\"\nabove = 3", "claims exactly one thing, not 2"),
    ("below = \"20s\"", "between = [3, 1]", "[low, high]"),
    ("below = \"20s\"", "below = { times = 2, of = { \"clients.web.policy\" = \"noon\" } }", "did you mean `none`?"),
    ("[\"none\", \"standard\"]", "[\"none\", \"none\"]", "there twice"),
    ("[\"none\", \"standard\"]", "[]", "has no values"),
    ("[\"none\", \"standard\"]", "\"none\"", "an axis is a list"),
    ("{ from = 50, to = 150, step = 50 }", "{ from = 50, to = 150 }", "a step or a count"),
    ("{ from = 50, to = 150, step = 50 }", "{ from = 50, to = 15, step = 50 }", "goes upwards"),
    ("{ from = 50, to = 150, step = 50 }", "{ from = 50, to = 150, step = 1e-300 }", "more than 100000 values"),
    ("{ from = 50, to = 150, step = 50 }", "{ from = 1, to = 90000, step = 1 }", "more than 100000"),
    ("{ from = 50, to = 150, step = 50 }", "{ from = 50, to = \"150s\", count = 3 }", "different units"),
    ("at = \"60s\"", "", "[[fault]] has no `at`"),
    ("x = \"service.api.workers\"", "x = \"service.api.workers\"\nvalue = \"stuck\"", "only a heatmap has a value"),
    ("kind = \"lines\"\nx = \"service.api.workers\"\ny = \"success_rate\"", "kind = \"heatmap\"", "a heatmap has no `value`"),
    ("for = \"30s\"", "for = \"0s\"", "or \"forever\""),
    ("[service.db]", "[service.\"d b\"]", "cannot be a name"),
    ("[clients.polls]", "[clients.db]", "the name of clients and of a service"),
    // What is no TOML.
    ("count = 5000", "count = ", "not TOML"),
    ("timeout = \"1s\"", "timeout = 1s", "not TOML"),
    ("count = 5000", "count = 5000\ncount = 5000", "not TOML"),
    ("[run]", "[run", "not TOML"),
];

/// Whole files, for what no edit of the good one shows.
const FILES: &[(&str, &str)] = &[
    ("", "there are no clients"),
    ("[clients.a]\ncalls = 'b'\nload = { once = {} }\n[service.b]\ntime = '1s'\n[[chart]]\nkind = 'lines'", "needs 1 axes"),
    ("[clients.a]\ncalls = 'b'\nload = { once = {} }", "there is no service"),
    (
        "[clients.a]\ncalls = 'b'\nload = { closed = { think = '0s' } }\n[service.b]\ntime = '0s'\n[run]\nhorizon = '1s'",
        "think for no time",
    ),
    ("[clients.a]\ncalls = 'b'\nload = { periodic = { every = '0s' } }\n[service.b]\ntime = '1s'", "must be above zero"),
    ("[clients.a]\ncalls = 'b'\nload_factor = 2\nload = { once = {} }\n[service.b]\ntime = '1s'", "only an open load"),
    ("[clients.a]\ncalls = 'b'\nload = { trace = { file = 'load.csv' } }\n[service.b]\ntime = '1s'", "cannot be read"),
    (
        "[clients.a]\ncalls = 'b'\nload = { once = {} }\npolicy = { attempts = 'unlimited' }\n[service.b]\ntime = '1s'\nqueue = { limit = 0 }",
        "time would stand still",
    ),
    (
        "[clients.a]\ncalls = 'b'\nload = { once = {} }\npolicy = { attempts = 'unlimited', backoff = { fixed = { delay = '1s' } } }
         [service.b]\ntime = '1s'\nerror_rate = 1.0",
        "the run can never end",
    ),
    (
        "[clients.a]\ncalls = 'b'\nload = { once = {} }\npolicy = { attempts = 'unlimited', backoff = { fixed = { delay = '1s' } } }
         [service.b]\ntime = '1s'\n[[fault]]\nat = '9s'\nset = { 'service.b.workers' = 0 }",
        "has no workers",
    ),
    ("[clients.a]\ncalls = 'b'\nload = { once = {} }\n[service.b]\noptimistic = true\nworkers = 3", "no limit of workers"),
    ("[clients.a]\ncalls = 'b'\nload = { once = {} }\n[service.b]\noptimistic = true\ntime_drawn = 'arrival'", "has no `time_drawn`"),
    (
        "[clients.a]\ncalls = 'b'\nload = { once = {} }\n[service.b]\noptimistic = true\nerror_rate = 0.5",
        "an optimistic row has no `error_rate`",
    ),
    (
        "[run]\nhorizon = '9s'\n[clients.a]\ncalls = 'b'\nload = { periodic = { every = '1s', splay = '2s' } }\n[service.b]\ntime = '1s'",
        "longer than the period",
    ),
    (
        "[clients.a]\ncalls = 'b'\nload = { once = {} }\npolicy = { attempts = 'unlimited', timeout = '1s' }\n[service.b]\ntime = '2s'",
        "always takes longer than the timeout",
    ),
    (
        "[run]\nhorizon = '9s'\n[clients.a]\ncount = 4_000_000_000\ncalls = 'b'\nload = { closed = { think = '1s' } }\n[service.b]\ntime = '1s'",
        "more than the 50000000",
    ),
    (
        "[clients.a]\ncalls = 'b'\nload = { once = {} }\n[service.b]\noptimistic = true\ncalls = [{ service = 'c' }]\n[service.c]\ntime = '1s'",
        "an optimistic row calls nothing",
    ),
    (
        "[clients.a]\ncalls = 'b'\nload = { once = {} }\n[service.b]\ntime = '1s'\ncalls = [{ service = 'c' }]\n[service.c]\ntime = '1s'
         calls = [{ service = 'd' }]\n[service.d]\ntime = '1s'\ncalls = [{ service = 'b' }]",
        "in a circle: b -> c -> d -> b",
    ),
];

/// Files that look like broken ones and are not.
const SOUND: &[&str] = &[
    // Time passes on the link, in the queue or at work, so nothing spins.
    "[clients.a]\ncalls = 'b'\nload = { closed = { think = '0s' } }\n[service.b]\ntime = '0s'\n[run]\nhorizon = '1s'\n[link]\ndelay = '1ms'",
    "[clients.a]\ncalls = 'b'\nload = { closed = { think = '0s' } }\n[service.b]\ntime = '1ms'\n[run]\nhorizon = '1s'",
    "[clients.a]\ncalls = 'b'\nload = { once = {} }\npolicy = { attempts = 'unlimited' }\n[service.b]\ntime = '1ms'",
    // What is over by the end can be retried for ever.
    "[clients.a]\ncalls = 'b'\nload = { once = {} }\npolicy = { attempts = 'unlimited', backoff = { fixed = { delay = '1s' } } }
     [service.b]\ntime = '1ms'\n[[fault]]\nat = '0s'\nfor = '9s'\nset = { 'service.b.down' = 'refuse' }",
    // A rate that ends, and a load factor that ends it.
    "[clients.a]\ncalls = 'b'\nload = { open = { rate = [['0s', '5/s'], ['9s', '0/s']], shape = 'ramp' } }\n[service.b]\ntime = '1ms'",
    "[clients.a]\ncalls = 'b'\nload = { open = { rate = '5/s' } }\n[service.b]\ntime = '1ms'\n[[fault]]\nat = '9s'\nset = { 'clients.a.load_factor' = 0 }",
    // A fault gives a budget to a policy that has none, and an edge its own link.
    "[clients.a]\ncalls = 'b'\nload = { once = {} }\npolicy = 'p'\n[policy.p]\nbudget = 'none'\n[service.b]\ntime = '1ms'
     [[fault]]\nat = '9s'\nset = { 'policy.p.budget.ratio.share' = '10%', 'link.a->b.loss' = 0.5, 'policy.p.retries' = 3 }",
    // Nested tables in [compare], a logarithmic range, whole tables as values.
    "[clients.a]\ncalls = 'b'\nload = { once = {} }\n[service.b]\ntime = '1ms'
     [compare.clients.a]\ncount = { from = 1, to = 1000, count = 7, scale = 'log' }\npolicy = [{ attempts = 1 }, { retries = 2 }]",
];

/// What is missing in the message about a broken text; None where nothing is.
pub fn fault_of(text: &str, expected: &str, overrides: &[String], place: &str) -> Option<String> {
    let rendered = match Scenario::parse("broken", text, Some(Path::new("folder")), overrides) {
        Ok(_) => return Some(format!("this loads, but should say `{expected}`:\n{text}")),
        Err(error) => error.to_string(),
    };
    if !rendered.contains(expected) {
        return Some(format!("`{expected}` is not in:\n{rendered}"));
    }
    rendered.split("\n\n").find_map(|block| {
        let missing = [(place, "place"), ("^", "caret"), ("= help: ", "help")].into_iter().find(|(part, _)| !block.contains(part));
        missing
            .map(|(_, what)| format!("no {what} in:\n{block}"))
            .or_else(|| (!has_position(block)).then(|| format!("no line and column in:\n{block}")))
    })
}

fn has_position(block: &str) -> bool {
    let line = block.lines().find(|line| line.contains("--> ")).unwrap_or("");
    line.rsplit(':').take(2).all(|number| number.parse::<u32>().is_ok())
}

pub fn assert_none(faults: Vec<String>) {
    assert!(faults.is_empty(), "{} wrong:\n\n{}", faults.len(), faults.join("\n\n"));
}

#[test]
fn the_good_file_loads() {
    let scenario = Scenario::parse("good", GOOD, None, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((scenario.axes.len(), scenario.cells.len()), (2, 6));
    for cell in &scenario.cells {
        scenario.model(cell).unwrap();
    }
}

#[test]
fn sound_files_load() {
    for text in SOUND {
        let scenario = Scenario::parse("sound", text, None, &[]).unwrap_or_else(|error| panic!("{text}\n{error}"));
        for cell in &scenario.cells {
            scenario.model(cell).unwrap();
        }
        let again =
            Scenario::parse("sound", &scenario.explain(), None, &[]).unwrap_or_else(|error| panic!("{}\n{error}", scenario.explain()));
        assert!(scenario.cells.iter().all(|cell| again.model(cell).unwrap() == scenario.model(cell).unwrap()), "{}", scenario.explain());
    }
}

#[test]
fn broken_files_say_what_is_wrong_and_where() {
    let edited =
        EDITS.iter().chain(crate::broken_delays::EDITS).chain(crate::broken_faults::EDITS).chain(crate::broken_claims::EDITS).filter_map(
            |(from, to, expected)| {
                assert!(GOOD.contains(from), "`{from}` is not in the good file");
                fault_of(&GOOD.replacen(from, to, 1), expected, &[], "--> folder/broken.toml:")
            },
        );
    let whole = FILES.iter().filter_map(|(text, expected)| fault_of(text, expected, &[], "--> folder/broken.toml:"));
    assert_none(edited.chain(whole).collect());
}

#[test]
fn all_problems_are_reported_at_once() {
    let text = GOOD.replace("count = 5000", "cuont = 5000").replace("loss = 0.0", "loss = 2").replace("attempts = 4", "attempts = 0");
    let error = Scenario::parse("broken", &text, None, &[]).unwrap_err();
    assert_eq!(error.problems().len(), 3, "{error}");
}

#[test]
fn overrides_are_read_and_checked_like_the_file() {
    let arguments = [
        ("service.api.workers", "write PATH=VALUE"),
        ("service.apy.workers=3", "did you mean `api`?"),
        ("service.api.worker=3", "did you mean `workers`?"),
        ("service.api.workers=many", "or \"unlimited\""),
        ("clients.web.policy.attempts=3", "policy.standard"),
        ("run.bin=10", "write `\"10ms\"`"),
        ("fault.7.for=10s", "a list of 3"),
        ("clients.web.policy=noon", "did you mean `none`?"),
        ("nothing=nan", "not a finite number"),
    ];
    assert_none(
        arguments.iter().filter_map(|(argument, expected)| fault_of(GOOD, expected, &[(*argument).to_owned()], "--> --set:1:")).collect(),
    );
    let set = |arguments: &[&str]| {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Scenario::parse("good", GOOD, None, &arguments).unwrap_or_else(|error| panic!("{error}"))
    };
    let scenario = set(&["clients.web.policy=none", "run.horizon=100s", "run.replications=3"]);
    assert_eq!((scenario.cells.len(), scenario.run.replications), (3, 3));
    assert_eq!(scenario.axes[0].values[0].label, "none");
    assert!(scenario.expectations.is_empty(), "the claim about `standard` is not about this run");
    assert_eq!(scenario.model(&scenario.cells[0]).unwrap().horizon.unwrap().seconds(), 100.0);
    let own = set(&["clients.web.policy={ retries = 1 }"]);
    assert_eq!(own.axes[0].values[0].csv, "{ retries = 1 }");
    for scenario in [scenario, own] {
        let again =
            Scenario::parse("good", &scenario.explain(), None, &[]).unwrap_or_else(|error| panic!("{}\n{error}", scenario.explain()));
        assert_eq!(again.model(&again.cells[1]).unwrap(), scenario.model(&scenario.cells[1]).unwrap());
    }
}

/// The text with a few changes, each at a line, of a kind.
fn mutated(text: &str, choices: &[(u16, u8)]) -> String {
    const PIECES: [&str; 26] = [
        "[",
        "]",
        "{",
        "}",
        "\"",
        "=",
        ".",
        ",",
        "\n",
        "0",
        "-1",
        "1e308",
        "9223372036854775807",
        "\"none\"",
        "\"unlimited\"",
        "[]",
        "{}",
        "nan",
        "\"0s\"",
        "\"10%\"",
        "é",
        "\u{0}",
        "from = 1",
        "\"1ns\"",
        "\"584y\"",
        "true",
    ];
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (position, action) in choices {
        let count = lines.len();
        let at = usize::from(*position) % count;
        let piece = PIECES[usize::from(*action) % PIECES.len()];
        let letters: Vec<usize> = lines[at].char_indices().map(|(index, _)| index).collect();
        let cut = letters.get(usize::from(*position / 7) % letters.len().max(1)).copied().unwrap_or(0);
        match action / 26 {
            0 | 1 => lines[at].insert_str(cut, piece),
            2 => lines[at].truncate(cut),
            3 => drop(lines.remove(at)),
            4 => lines.swap(at, count - 1),
            5 => lines.push(text.lines().nth(at).unwrap_or("").to_owned()),
            // The value of a line is another.
            _ => lines[at] = lines[at].split_once(" = ").map_or_else(|| piece.to_owned(), |(key, _)| format!("{key} = {piece}")),
        }
        if lines.is_empty() {
            lines.push(String::new());
        }
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// Whatever stands in a file: an answer, and never a panic.
    #[test]
    fn no_file_makes_the_reader_panic(choices in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..4), argument in any::<u16>()) {
        let text = mutated(GOOD, &choices);
        let paths = ["run.bin", "service.api.queue.limit", "policy.standard.budget.ratio.share", "fault.0.set", "link.web->api.loss"];
        let overrides = [format!("{}={argument}", paths[usize::from(argument) % paths.len()])];
        for overrides in [&overrides[..0], &overrides] {
            match Scenario::parse("mutated", &text, None, overrides) {
                Ok(scenario) => {
                    let explained = scenario.explain();
                    let again = Scenario::parse("mutated", &explained, None, &[]);
                    let again = again.unwrap_or_else(|error| panic!("{error}\n{explained}"));
                    prop_assert_eq!(&again.cells, &scenario.cells);
                    if let Some(cell) = scenario.cells.last() {
                        prop_assert_eq!(again.model(cell).unwrap(), scenario.model(cell).unwrap());
                    }
                }
                Err(error) => prop_assert!(!error.to_string().is_empty() && !error.coloured().is_empty()),
            }
        }
    }
}

/// The documentation cannot forget a key: every one that `explain` prints stands in it.
#[test]
fn the_format_is_documented() {
    let documentation = include_str!("../../docs/FORMAT.md");
    let explained = Scenario::parse("good", GOOD, None, &[]).unwrap().explain();
    for line in explained.lines().filter(|line| !line.starts_with(['[', '"'])) {
        if let Some((key, _)) = line.split_once(" = ") {
            assert!(documentation.contains(&format!("`{key}`")), "docs/FORMAT.md says nothing of `{key}`");
        }
    }
}
