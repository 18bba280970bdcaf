//! Cases from the trackers of retry libraries: each was reported wrong somewhere, and has a right answer.
//!
//! A row is the case, what is run, and the right answer. To add one, add a line to the table; to add many, add a table to `TABLES`.

use crate::case_runs::*;

/// The case, what is run, what comes of it, and what is right.
type Case = (&'static str, &'static str, fn() -> String, &'static str);

const TABLES: [&[Case]; 3] = [OVERFLOW, JITTER, CALLS];

#[test]
fn every_case_has_its_right_answer() {
    let wrong = |(id, what, run, right): &Case| {
        Some(run()).filter(|found| found != right).map(|found| format!("{id}, {what}: {found}, not {right}"))
    };
    let wrong: Vec<String> = TABLES.concat().iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const OVERFLOW: &[Case] = &[
    (
        "A01",
        "exponential, base 5 s, retries 1, 19, 31 and 40",
        || waits("{ exponential = { base = '5s' } }", &[1, 19, 31, 40]),
        "5s 1310720s 5368709120s 18446744073.709551615s",
    ),
    (
        "A01",
        "the same with a cap of 1 h",
        || waits("{ exponential = { base = '5s', cap = '1h' } }", &[1, 20, 31, 1_000_000_000]),
        "5s 1h 1h 1h",
    ),
    (
        "A02",
        "equal jitter, base 30 ms, cap 1 s",
        || ends("{ equal_jitter = { base = '30ms', cap = '1s' } }", &[38, 39, 49, 62, 100]),
        "500ms-1s",
    ),
    (
        "A04",
        "exponential, base 1 s, more than 60 attempts",
        || waits("{ exponential = { base = '1s', cap = '30s' } }", &[54, 64, 65, 128]),
        "30s 30s 30s 30s",
    ),
    (
        "A06",
        "exponential, initial 10 s, factor 2, capped",
        || waits("{ exponential = { base = '10s', cap = '60s' } }", &[1, 2, 3, 4, 62]),
        "10s 20s 40s 60s 60s",
    ),
    (
        "A06",
        "the same with the factors -2, 0, nan and inf",
        || refused(["-2", "0", "nan", "inf"].map(|factor| format!("{{ exponential = {{ base = '10s', factor = {factor} }} }}"))),
        "4 of 4 refused",
    ),
    ("A08", "exponential, base 0.5 s, retry 36, full jitter", || ends("{ full_jitter = { base = '500ms' } }", &[36]), "0s-17179869184s"),
    ("A09", "exponential, base 50 ms", || waits("{ exponential = { base = '50ms' } }", &[1, 2, 3, 4, 5]), "50ms 100ms 200ms 400ms 800ms"),
    ("A10", "exponential, base 100 ms, retries 1 and 5", || waits("{ exponential = { base = '100ms' } }", &[1, 5]), "100ms 1.6s"),
    (
        "A11",
        "urllib3, factor 0.1: the first retry is shown",
        || waits("{ custom = { initial = '100ms', first = '0s' } }", &[1, 2, 3]),
        "0s 200ms 400ms",
    ),
    (
        "A11",
        "and a first retry of twice the base",
        || waits("{ exponential = { base = '100ms', first_exponent = 1 } }", &[1, 2]),
        "200ms 400ms",
    ),
    ("A13", "a bare number", || refused(["10", "'10'"].map(|delay| format!("{{ fixed = {{ delay = {delay} }} }}"))), "2 of 2 refused"),
    ("A14", "50 ms to 20 min", || waits("{ exponential = { base = '50ms', cap = '20min' } }", &[1, 100]), "50ms 20min"),
    ("A15", "500 ms", || waits("{ exponential = { base = '500ms' } }", &[1, 2]), "500ms 1s"),
    (
        "A26",
        "equal jitter of 0 and of 1 ns",
        || ends("{ equal_jitter = { base = '0s' } }", &[1, 9]) + " " + &ends("{ equal_jitter = { base = '1ns', cap = '1ns' } }", &[1, 9]),
        "0s-0s 1ns-1ns",
    ),
    (
        "A30",
        "a base above the cap",
        || refused(["{ exponential = { base = '2s', cap = '1s' } }".to_owned(), "{ custom = { initial = '2s', cap = '1s' } }".into()]),
        "2 of 2 refused",
    ),
    ("A30", "a base equal to the cap", || waits("{ exponential = { base = '2s', cap = '2s' } }", &[1, 2]), "2s 2s"),
];

const JITTER: &[Case] = &[
    ("A16", "0 ± 200 ms: the share of waits of zero", || at("0s", "{ plus_minus = { most = '200ms' } }", "0s"), "0.500"),
    ("A16", "100 ± 400 ms", || at("100ms", "{ plus_minus = { most = '400ms' } }", "0s"), "0.375"),
    (
        "A17",
        "100 ms doubling to 500 ms, half jitter, capped after it",
        || {
            ends(
                "{ custom = { initial = '100ms', cap = '500ms', cap_order = 'after', jitter = { multiply = { low = 0.5, high = 1.5 } } } }",
                &[1, 2, 3, 4, 9],
            )
        },
        "50ms-500ms",
    ),
    (
        "A20",
        "decorrelated, 5 to 2000: share at the cap, mean, share at the cap after the cap",
        || long_run("5ms", "2s", [0.270, 0.915 / 2.0, 0.6672]),
        "near",
    ),
    ("A20", "decorrelated, 100 to 20000", || long_run("100ms", "20s", [0.290, f64::NAN, f64::NAN]), "near"),
    ("A20", "decorrelated, 1 to 10", || long_run("1ms", "10ms", [0.483, f64::NAN, f64::NAN]), "near"),
    (
        "A20",
        "multiply 0 to 2 of the cap, capped after it",
        || share_at_cap("initial = '2s', cap = '2s', cap_order = 'after', jitter = { multiply = { low = 0.0, high = 2.0 } }"),
        "0.500",
    ),
    (
        "A20",
        "full jitter to the cap",
        || share_at_cap("initial = '2s', cap = '2s', jitter = { multiply = { low = 0.0, high = 1.0 } }"),
        "0.000",
    ),
    // Of 19 waits, at most 9.1 s in 0.12 of cases.
    (
        "A21",
        "20 attempts of decorrelated jitter from 50 ms span 9.1 s",
        || cover("{ attempts = 20, backoff = { decorrelated_jitter = { base = '50ms' } } }", "9.1s"),
        "0.88",
    ),
    // (base + 3 mean) / 2.
    ("A22", "means of decorrelated jitter of 1 s", || means("{ decorrelated_jitter = { base = '1s' } }", 4), "2.0 3.5 5.7 9.1"),
    (
        "A23",
        "5 s, less up to 0.2 of it",
        || ends("{ custom = { initial = '5s', growth = 'constant', jitter = { multiply = { low = 1.0, high = 0.8 } } } }", &[1, 2]),
        "4s-5s",
    ),
    (
        "A24",
        "times 1 to 1.5: all waits differ",
        || distinct("{ custom = { initial = '1s', growth = 'constant', jitter = { multiply = { low = 1.0, high = 1.5 } } } }"),
        "10000 of 10000",
    ),
    ("A25", "full jitter of 180 s: all waits differ", || distinct("{ full_jitter = { base = '180s' } }"), "10000 of 10000"),
    (
        "A27",
        "full jitter that must always back off",
        || {
            ends(
                "{ custom = { initial = '1s', growth = 'constant', floor_after = '1ms', jitter = { multiply = { low = 0.0, high = 1.0 } } } }",
                &[1],
            )
        },
        "1ms-1s",
    ),
    (
        "A28",
        "a floor put by max on full jitter of 1 s",
        || at("1s", "{ multiply = { low = 0.0, high = 1.0 } }, floor_after = '1s'", "1s"),
        "1.000",
    ),
    ("A28", "an offset instead", || at("1s", "{ multiply = { low = 0.0, high = 1.0 } }, offset = '1s'", "1s"), "0.000"),
    (
        "A29",
        "60 s / 2 and up to 60 s more",
        || ends("{ custom = { initial = '30s', growth = 'constant', jitter = { add = { most = '60s' } } } }", &[1]),
        "30s-90s",
    ),
    (
        "A31",
        "300 ms, 3 retries: least, mean and greatest in all",
        || sums("{ retries = 3, backoff = { exponential = { base = '300ms' } } }"),
        "2100 2100 2100",
    ),
    ("A31", "the same with full jitter", || sums("{ retries = 3, backoff = { full_jitter = { base = '300ms' } } }"), "0 1050 2100"),
    (
        "E05",
        "a hint equal to the cap, jitter on top of it: share at the cap, ends",
        || {
            hinted(
                "floor_before_jitter",
                "30s",
                "{ custom = { initial = '1s', cap = '30s', cap_order = 'after', jitter = { multiply = { low = 1.0, high = 1.2 } } } }",
            )
        },
        "0.000 30s-36s",
    ),
    (
        "E06",
        "a hint of 9999999999 s, followed for at most 6 h",
        || hinted("{ replace = { cap = '6h' } }", "9999999999s", "'none'"),
        "- 6h-6h",
    ),
    ("E06", "the same without a limit", || hinted("replace", "9999999999s", "'none'"), "- 9999999999s-9999999999s"),
    (
        "E06",
        "the same with more on top",
        || hinted("{ clamp = { plus = '5s' } }", "9999999999s", "{ fixed = { delay = '1s' } }"),
        "- 6s-6s",
    ),
    ("E06", "a negative hint, and one without a unit", || unreadable(&["-5s", "120", ""]), "3 of 3 refused"),
    ("E06", "a hint of zero", || hinted("replace", "0s", "{ fixed = { delay = '1s' } }"), "- 0s-0s"),
];

const CALLS: &[Case] = &[
    ("B01", "retries = 5, a total outage, one call", || attempts("{ retries = 5 }"), "6"),
    ("B01", "attempts = 3", || attempts("{ attempts = 3 }"), "3"),
    ("B02", "retries = 0", || attempts("{ retries = 0 }"), "1"),
    (
        "B02",
        "left out: the default, and it is shown",
        || attempts("{ timeout = '1s' }") + if explained().contains("attempts = 1   # retries = 0") { " shown" } else { "" },
        "1 shown",
    ),
    (
        "B03",
        "max_elapsed 15 s, cap 5 s, for ever: the last retry starts",
        || last("{ attempts = 'unlimited', max_elapsed = '15s', backoff = { exponential = { base = '1s', cap = '5s' } } }"),
        "12s",
    ),
    (
        "B03",
        "a retry exactly at the limit is sent",
        || last("{ attempts = 'unlimited', max_elapsed = '15s', backoff = { fixed = { delay = '5s' } } }"),
        "15s",
    ),
    (
        "B03",
        "but not one at the deadline",
        || last("{ attempts = 'unlimited', deadline = '15s', backoff = { fixed = { delay = '5s' } } }"),
        "10s",
    ),
    ("B05", "max_elapsed 1 s, the first attempt takes 2 s", || elapsed("2s", "1s", "0s"), "1"),
    ("B05", "it takes 0.1 s", || elapsed("100ms", "1s", "0s"), "2"),
    ("B06", "an attempt takes 10 s, the wait 1 s, the limit is 15 s", || elapsed("10s", "15s", "1s"), "2"),
    ("B09", "3 attempts of 10 s, waits of 0.2 and 0.4 s: the last starts", || hanging("10s"), "20.6s"),
    ("B09", "refused at once", || hanging("0s"), "600ms"),
    ("E14", "100 clients with one seed: different first waits", || lockstep("true"), "1"),
    ("E14", "each with its own", || lockstep("false"), "100"),
];
