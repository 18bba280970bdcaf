//! Broken backoffs and hints: rows of the test in broken_scenarios.rs.

/// Each row: what to replace in the good file, by what, and what the message and the help then say.
pub const EDITS: &[(&str, &str, &str)] = &[
    ("{ full_jitter = { base = \"100ms\", cap = \"20s\" } }", "{ custom = { cap = \"1s\" } }", "add `initial ="),
    ("{ full_jitter = { base = \"100ms\", cap = \"20s\" } }", "{ custom = { initial = \"2s\", cap = \"1s\" } }", "first_uncapped = true"),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", floor_after = \"3s\", cap = \"2s\" } }",
        "every wait would be the floor",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", growth = { exponential = { factor = 0 } } } }",
        "out of range",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", growth = { exponential = { factor = -2.0 } } } }",
        "out of range",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", growth = { exponential = { factor = nan } } } }",
        "not a finite number",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", growth = { exponential = { factor = 1.0001, truncate = \"1ms\" } } } }",
        "at least 1.001",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", growth = { geometric_sum = { factor = 0.5 } } } }",
        "out of range",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", growth = \"fibonaci\" } }",
        "did you mean `fibonacci`?",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", growth = \"arithmetic\" } }",
        "needs a value",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", jitter = { multiply = { low = -0.5, high = 1.0 } } } }",
        "out of range",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", jitter = { multiply = { low = 0.5 } } } }",
        "add `high =",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", jitter = { tower = { share = 1.5 } } } }",
        "is not a share",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", jitter = { whole = { unit = \"0s\" } } } }",
        "must be above zero",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", jitter = \"poly\" } }",
        "did you mean `polly`?",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", jitter = \"polly\", growth = \"linear\" } }",
        "no other growth than a factor",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", jitter = \"finagle_equal\", growth = \"linear\" } }",
        "grows in its own way",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", jitter = \"polly\", floor_before = \"1s\" } }",
        "write `floor_after` instead",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", cap_order = \"behind\" } }",
        "is not known here",
    ),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", quantise = { floor = \"0s\" } } }",
        "must be above zero",
    ),
    ("{ full_jitter = { base = \"100ms\", cap = \"20s\" } }", "{ custom = { initial = \"1s\", quantise = \"floor\" } }", "needs a value"),
    (
        "{ full_jitter = { base = \"100ms\", cap = \"20s\" } }",
        "{ custom = { initial = \"1s\", offset = 5 } }",
        "write `\"5ms\"` or `\"5s\"`",
    ),
    ("{ full_jitter = { base = \"100ms\", cap = \"20s\" } }", "{ custom = { initial = \"1s\", first_uncapped = 1 } }", "`true` or `false`"),
    ("retry_after = \"floor\"", "retry_after = \"spread\"", "needs a value"),
    ("retry_after = \"floor\"", "retry_after = { spread = { factor = 0.5 } }", "out of range"),
    ("retry_after = \"floor\"", "retry_after = { replace = { cap = \"0s\" } }", "or \"none\""),
    ("retry_after = \"floor\"", "retry_after = { replace = { beyond = \"stopp\" } }", "did you mean `stop`?"),
    ("retry_after = \"floor\"", "retry_after = { clamp = { plus = 5 } }", "has no unit of time"),
    ("retry_after = \"floor\"", "max_elapsed = \"0s\"", "must be above zero"),
    ("retry_after = \"floor\"", "throttled_backoff = \"fixed\"", "or \"same\""),
    ("retry_after = \"floor\"", "shared_seed = \"yes\"", "write true or false"),
    (
        "retry_after = \"floor\"",
        "throttled_backoff = \"same\"\n[policy.other]\nbackoff = { decorrelated_jitter = { base = \"1s\" } }\n\
         throttled_backoff = { custom = { initial = \"1s\", jitter = \"polly\" } }",
        "remember different things",
    ),
];
