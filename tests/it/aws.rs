//! The AWS analysis: reference numbers from thousands of runs of an independent program, and exact answers.

use crate::support::{curated, field, number, rows, study, value, values};

/// Its names for the algorithms, and ours.
fn policy(algorithm: &str) -> &'static str {
    match algorithm {
        "None" => "none",
        "Exponential" => "exponential",
        "EqualJitter" => "equal_jitter",
        "FullJitter" => "full_jitter",
        "Decorr" => "decorrelated_jitter",
        other => panic!("no such algorithm: {other}"),
    }
}

fn one_cell(clients: &str, algorithm: &str, sd: &str, replications: u32) -> retrystorm::study::experiment::Study {
    let set = [
        format!("clients.writers.count={clients}"),
        format!("clients.writers.policy={}", policy(algorithm)),
        format!("run.replications={replications}"),
        format!("link.delay={{ normal = {{ mean = \"10ms\", sd = \"{sd}\" }} }}"),
        "run.bin=10ms".to_string(),
    ];
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    let mut scenario = curated("aws_jitter", &set);
    scenario.expectations.clear();
    study(&scenario)
}

/// All 15 published cells: |z| < 4 in both metrics, and over all of them the z have the spread of a standard normal.
#[test]
fn fifteen_cells_agree_with_the_reference() {
    let runs = 400;
    let mut scores = Vec::new();
    for row in rows(include_str!("../data/aws_reference.csv")) {
        let (clients, algorithm) = (field(&row, "clients"), field(&row, "algorithm"));
        let study = one_cell(clients, algorithm, "2ms", runs);
        for (metric, reference, scale) in [("attempts", "calls", 1.0), ("completion_time", "time_ms", 1e3)] {
            let of = |kind: &str| number(&row, &format!("{kind}_{reference}"));
            let error = libm::hypot(of("sd") / f64::from(runs).sqrt(), of("ci95") / 1.96);
            let score = (value(&study, 0, metric).value * scale - of("mean")) / error;
            println!("N = {clients}, {algorithm}, {metric}: z = {score:.2}");
            assert!(score.abs() < 4.0, "N = {clients}, {algorithm}, {metric}: z = {score}");
            scores.push(score);
        }
    }
    assert_eq!(scores.len(), 30);
    let spread = (scores.iter().map(|score| score * score).sum::<f64>() / scores.len() as f64).sqrt();
    println!("root mean square of z: {spread:.3}");
    // 30 scores: the 99.9 % range of the root mean square of that many standard normals.
    assert!((0.62..1.42).contains(&spread), "the scores spread by {spread}");
}

/// Without variance every run is exact; with it, or with jitter, up to three clients have an exact mean and deviation.
#[test]
fn all_known_answers_hold() {
    let mut checked = 0;
    for row in rows(include_str!("../data/aws_known_answers.csv")) {
        let sd = format!("{}ms", field(&row, "net_sd_ms"));
        let (clients, algorithm) = (field(&row, "clients"), field(&row, "algorithm"));
        let (mean, deviation) = (number(&row, "exact_mean_time_ms"), number(&row, "exact_sd_time_ms"));
        let exact = field(&row, "kind").starts_with("deterministic");
        let runs = if exact { 3 } else { 4000 };
        let study = one_cell(clients, algorithm, &sd, runs);
        let calls = values(&study, 0, "attempts");
        assert!(calls.iter().all(|calls| *calls == number(&row, "exact_calls")), "{row:?}: {calls:?}");
        let times: Vec<f64> = values(&study, 0, "completion_time").iter().map(|time| time * 1e3).collect();
        if exact {
            assert!(times.iter().all(|time| (time - mean).abs() < 1e-9), "{row:?}: {times:?}");
        } else {
            let found = value(&study, 0, "completion_time");
            let count = f64::from(runs);
            // Four standard errors of the mean; of the deviation too, for a distribution that is nearly normal.
            assert!((found.value * 1e3 - mean).abs() < 4.0 * deviation / count.sqrt(), "{row:?}: {}", found.value);
            let found = found.sd.expect("many runs") * 1e3;
            assert!((found - deviation).abs() < 4.0 * deviation / count.sqrt(), "{row:?}: sd {found}");
        }
        checked += 1;
    }
    assert_eq!(checked, 42);
}

/// Writes per 10 ms at the row, N = 100: the same spike, and the same staircase after it.
#[test]
fn the_series_has_the_published_shape() {
    let reference = rows(include_str!("../data/aws_timeseries.csv"));
    for algorithm in ["Exponential", "FullJitter"] {
        let mut scenario = curated("aws_jitter", &[&format!("clients.writers.policy={}", policy(algorithm)), "clients.writers.count=100"]);
        scenario.expectations.clear();
        let plan = retrystorm::study::experiment::Plan {
            models: vec![scenario.model(&scenario.cells[0]).unwrap()],
            series: vec![vec!["row.arrivals".into()]],
            seed: 1,
            replications: 0..200,
            precision: None,
        };
        let study = retrystorm::study::experiment::run(&plan, &retrystorm::study::experiment::Watch::default());
        let (_, bins) = &study.cells[0].timeline[0];
        let mut distance = 0.0;
        let mut sum = 0.0;
        for row in reference.iter().filter(|row| field(row, "algorithm") == algorithm) {
            let bin = (number(row, "bin_start_ms") / 10.0) as usize;
            let mean = number(row, "mean_calls");
            let found = bins.get(bin).and_then(|moments| moments.estimate());
            let (found, half) = found.map_or((0.0, 0.0), |estimate| (estimate.mean * 0.01, estimate.half_width().unwrap_or(0.0) * 0.01));
            // Bins of the first second hold most writes: each within six half-widths, which a wrong model leaves at once.
            if bin < 100 && mean > 1.0 {
                assert!((found - mean).abs() < 6.0 * half + 0.05, "{algorithm}, bin {bin}: {found} is not {mean} ±{half}");
            }
            distance += (found - mean).abs();
            sum += mean;
        }
        println!("{algorithm}: the series differ by {:.3} of all writes", distance / sum);
        assert!(sum > 700.0 && distance / sum < 0.06, "{algorithm}: {distance} of {sum} writes are elsewhere");
    }
}
