//! Each kind of chart, drawn from a small results folder.

use std::fs;
use std::path::Path;

use retrystorm::report::chart::{Picture, Theme, draw, write};
use retrystorm::report::data::Results;
use retrystorm::study::chart::{Chart, ChartKind, Scale};

const TITLE: &str = "Does it come back? <A & B>";

fn chart(kind: ChartKind, y: &[&str]) -> Chart {
    let y = y.iter().map(|name| (*name).to_string()).collect();
    Chart { kind, x: None, y, value: None, filter: Vec::new(), title: None, scale: (Scale::Auto, Scale::Auto), reference: Vec::new() }
}

/// Two policies and three counts; `fixed` with 30 clients never recovers.
fn summary() -> String {
    let metrics = ["success_rate", "recovery_time", "attempts", "web.attempts_per_call", "db.attempts_per_call"];
    let columns: Vec<String> = metrics.iter().map(|metric| format!("{metric},{metric}_low,{metric}_high,{metric}_sd")).collect();
    let mut text = format!("cell,clients.web.policy,clients.web.count,replications,{}\n", columns.join(","));
    for cell in 0..6 {
        let (policy, count) = (["fixed", "full_jitter"][cell / 3], [10, 20, 30][cell % 3]);
        let value = |mean: f64| format!("{mean},{},{},{}", mean * 0.9, mean * 1.1, mean * 0.05);
        let recovery = if cell == 2 { ",,,".to_string() } else { value([0.01, 0.2, 4.0][cell % 3]) };
        let of = [value(0.9), recovery, value(0.0), value(1.5), value(4.5)];
        text += &format!("{cell},{policy},{count},5,{}\n", of.join(","));
    }
    text
}

fn timeline() -> String {
    let mut text = "cell,time,series,mean,low,high\n".to_string();
    for cell in 0..6 {
        for time in 0..40 {
            text += &format!("{cell},{time},attempts,{},{},\n{cell},{time},goodput,7,6,8\n", 10 + time, 9 + time);
            text += &format!("{cell},{time},web.queue,{time},,\n{cell},{time},calls,{},,\n", 20 - (time - 20i32).abs());
        }
    }
    text
}

fn results() -> Results {
    let latency: String = (0..6).map(|cell| format!("{cell},50,0.01\n{cell},99,0.5\n{cell},99.9,{cell}.5\n{cell},100,9\n")).collect();
    let marks: String =
        (0..6).map(|cell| format!("{cell},fault,web down,10,15,\n{cell},warmup,,0,5,\n{cell},capacity,web,,,40\n")).collect();
    let files = [
        ("summary.csv", summary()),
        ("timeline.csv", timeline()),
        ("latency.csv", format!("cell,percentile,value\n{latency}")),
        ("marks.csv", format!("cell,kind,label,from,to,value\n{marks}")),
    ];
    Results::parse(|name| Ok(files.iter().find(|file| file.0 == name).map(|file| file.1.clone()))).unwrap()
}

fn pictures(results: &Results, chart: Chart, theme: Theme) -> Vec<Picture> {
    draw(&[chart], TITLE, results, theme).unwrap()
}

/// What every picture must be: whole, with its title, its words, and nothing that is no number.
fn check(picture: &Picture, words: &[&str]) {
    let svg = &picture.svg;
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{}", picture.name);
    assert!(svg.contains("Does it come back? &lt;A &amp; B&gt;</text>"), "{}", picture.name);
    for word in words {
        assert!(svg.replace('\u{a0}', " ").contains(word), "{} lacks `{word}`", picture.name);
    }
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", picture.name);
    #[cfg(feature = "png")]
    assert!(retrystorm::report::chart::to_png(svg, 0.5).unwrap().starts_with(b"\x89PNG"), "{}", picture.name);
}

#[test]
fn every_kind_says_what_it_shows() {
    let results = results();
    let policies = ["fixed", "full_jitter"];
    let cases: [(Chart, &[&str], &[&str]); 7] = [
        (chart(ChartKind::Lines, &["recovery_time"]), &["lines-recovery_time"], &["seconds", "log scale", "clients.web.count", "at 30"]),
        (
            chart(ChartKind::Timeline, &["attempts", "goodput", "web.queue"]),
            &["timeline-attempts-goodput", "timeline-web.queue"],
            &["fault: web down", "warm-up", "count 10", "30 s"],
        ),
        (chart(ChartKind::Bars, &["success_rate", "recovery_time"]), &["bars-success_rate-recovery_time"], &["90 %", "never", "seconds"]),
        (chart(ChartKind::Latency, &[]), &["latency"], &["p50", "p99.9", "seconds"]),
        (chart(ChartKind::Layers, &[]), &["layers"], &["web", "db", "attempts per call at each service", "4.5"]),
        (
            Chart { value: Some("recovery_time".to_string()), ..chart(ChartKind::Heatmap, &[]) },
            &["heatmap-recovery_time"],
            &["never", "200 ms"],
        ),
        (
            chart(ChartKind::Hysteresis, &["goodput", "web.queue"]),
            &["hysteresis-goodput", "hysteresis-web.queue"],
            &["load rises", "load falls", "load, calls per second", "count 10"],
        ),
    ];
    for (chart, names, words) in cases {
        for theme in [Theme::Light, Theme::Dark] {
            let drawn = pictures(&results, chart.clone(), theme);
            assert_eq!(drawn.iter().map(|picture| picture.name.as_str()).collect::<Vec<_>>(), names);
            for picture in &drawn {
                check(picture, &policies);
                check(picture, words);
            }
            assert_eq!(drawn, pictures(&results, chart.clone(), theme), "the same results make the same bytes");
        }
    }
}

/// Two services and two policies; `three` multiplies at each service, and one of two replications recovers.
fn multiplying(stuck: &str) -> Results {
    let columns = "web.attempts_per_call,web.attempts_per_call_low,db.attempts_per_call,db.attempts_per_call_low,recovery_time,recovery_time_low,stuck,stuck_low";
    let text = format!(
        "cell,clients.users.policy,service.web.calls.0.policy,replications,{columns}\n0,one,three,2,1,,3,,,,{stuck},\n1,three,one,2,3,,9,,7,,{stuck},\n"
    );
    Results::parse(|name| Ok((name == "summary.csv").then(|| text.clone()))).unwrap()
}

#[test]
fn layers_that_multiply_are_on_a_log_scale_and_say_which_edge() {
    let of = |scale| Chart { scale: (Scale::Auto, scale), ..chart(ChartKind::Layers, &[]) };
    let words = ["log scale", "web.calls.0.policy three", "users.policy one"];
    check(&pictures(&multiplying(""), of(Scale::Auto), Theme::Light)[0], &words);
    assert!(!pictures(&multiplying(""), of(Scale::Linear), Theme::Light)[0].svg.contains("log scale"));
}

#[test]
fn a_time_that_is_not_defined_is_never_only_where_there_was_something_to_recover_from() {
    let svg =
        |stuck: &str| pictures(&multiplying(stuck), chart(ChartKind::Bars, &["recovery_time"]), Theme::Light)[0].svg.replace('\u{a0}', " ");
    assert!(svg("").contains(">–</text>") && svg("").contains(">7 s</text>"));
    assert!(svg("0.5").contains(">never</text>") && svg("0.5").contains(">7 s*</text>"));
    assert!(svg("0.5").contains("* recovery_time of the replications that recovered; others are stuck."));
}

#[test]
fn constant_zeros_and_one_cell_without_axes_are_drawn() {
    let results = results();
    for kind in [ChartKind::Lines, ChartKind::Bars] {
        check(&pictures(&results, chart(kind, &["attempts"]), Theme::Light)[0], &["attempts"]);
    }
    let text = "cell,replications,calls,calls_low,calls_high,calls_sd\n0,1,1e-9,,,\n";
    let one = Results::parse(|name| Ok((name == "summary.csv").then(|| text.to_string()))).unwrap();
    for kind in [ChartKind::Lines, ChartKind::Bars] {
        check(&pictures(&one, chart(kind, &["calls"]), Theme::Dark)[0], &["calls", "one replication", "1e-9"]);
    }
}

#[test]
fn what_is_not_shown_is_said() {
    let mut text = "cell,clients.web.policy,replications,calls,calls_low,calls_high,calls_sd\n".to_string();
    let (mut timeline, mut latency) = ("cell,time,series,mean,low,high\n".to_string(), "cell,percentile,value\n".to_string());
    for cell in 0..70 {
        text += &format!("{cell},policy_with_quite_a_long_name_number_{cell},2,{cell},,,\n");
        timeline += &format!("{cell},0,attempts,1,,\n{cell},1,attempts,2,,\n");
        latency += &format!("{cell},50,1\n{cell},99,2\n");
    }
    let open = |name: &str| match name {
        "summary.csv" => Some(text.clone()),
        "timeline.csv" => Some(timeline.clone()),
        "latency.csv" => Some(latency.clone()),
        _ => None,
    };
    let many = Results::parse(|name| Ok(open(name))).unwrap();
    check(&pictures(&many, chart(ChartKind::Bars, &["calls"]), Theme::Light)[0], &["10 of 70 cells are not shown"]);
    check(&pictures(&many, chart(ChartKind::Timeline, &["attempts"]), Theme::Light)[0], &["46 of 70 cells are not shown"]);
    check(&pictures(&many, chart(ChartKind::Latency, &[]), Theme::Light)[0], &["58 of 70 lines are grey and not named"]);
}

#[test]
fn what_cannot_be_drawn_is_explained() {
    let results = results();
    let problem = |chart: Chart| draw(&[chart], TITLE, &results, Theme::Light).unwrap_err();
    assert!(problem(chart(ChartKind::Bars, &["speed"])).contains("`speed` is no metric"));
    assert!(problem(chart(ChartKind::Timeline, &["speed"])).contains("it has attempts, goodput, web.queue"));
    let elsewhere = Chart { x: Some("service.web.workers".to_string()), ..chart(ChartKind::Lines, &[]) };
    assert!(problem(elsewhere).contains("the axes are clients.web.policy, clients.web.count"));
    let nowhere = Chart { filter: vec![("clients.web.count".to_string(), "7".to_string())], ..chart(ChartKind::Layers, &[]) };
    assert!(problem(nowhere).contains("there are 10, 20, 30"));
}

#[test]
fn a_folder_gets_its_pictures_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("summary.csv"), summary()).unwrap();
    let bars = || chart(ChartKind::Bars, &["success_rate"]);
    let (paths, problems) = write(folder.path(), &[bars(), bars()], TITLE, Theme::Light).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    assert!(paths.iter().all(|path| path.is_file()));
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut there: Vec<String> = fs::read_dir(folder.path()).unwrap().map(|entry| name(&entry.unwrap().path())).collect();
    there.sort();
    let mut wanted: Vec<String> = paths.iter().map(|path| name(path)).chain(["summary.csv".to_string()]).collect();
    wanted.sort();
    assert_eq!(there, wanted);
    assert!(wanted.contains(&"bars-success_rate-2.svg".to_string()));
    assert!(write(&folder.path().join("nowhere"), &[bars()], TITLE, Theme::Light).unwrap_err().contains("no summary.csv"));
}

/// Values that theory or print knows are crosses on the lines; published series lie under those of a timeline.
#[test]
fn what_is_known_is_drawn_beside_what_is_simulated() {
    let claims = "scenario,cell,metric,known,known_low,known_high\nx,1,attempts,5,4,6\nx,4,attempts,,,\n";
    let reference = "cell,time,series,mean,low,high\n0,3,goodput,6.5,6,7\n0,4,goodput,6.6,6,7\n";
    let files =
        [("summary.csv", summary()), ("timeline.csv", timeline()), ("claims.csv", claims.into()), ("reference.csv", reference.into())];
    let known = Results::parse(|name| Ok(files.iter().find(|file| file.0 == name).map(|file| file.1.clone()))).unwrap();
    assert_eq!((known.known.len(), known.published.len()), (1, 1));
    for (kind, y, words) in
        [(ChartKind::Lines, ["attempts"], "exact or published"), (ChartKind::Timeline, ["goodput"], "goodput, published")]
    {
        let with = pictures(&known, chart(kind, &y), Theme::Light);
        check(&with[0], &[words]);
        assert!(!pictures(&results(), chart(kind, &y), Theme::Light)[0].svg.contains(words));
    }
}
