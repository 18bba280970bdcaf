//! The presets: each can be read and is written of in docs/POLICIES.md; parts of one can be changed; calls do what was measured.

use retrystorm::measure::time::Duration;
use retrystorm::retry::policy::Policy;
use retrystorm::study::presets::{Preset, presets, written};
use retrystorm::study::scenario::{Scenario, parse_policy};
use retrystorm::study::schedule::{Question, Schedule, schedule};

use crate::command_line::{fails_with, retrystorm};
use crate::golden_delays::plain;
use crate::support::{scenario, study, value};

fn policy(text: &str) -> Policy {
    parse_policy("preset", text).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// What `delays` shows of a preset where each attempt takes so long.
fn shown(preset: &Preset, attempt_time: Duration) -> Schedule {
    let policy = policy(&written(&preset.name));
    let outcome = policy.first_retried();
    schedule(&policy.met_by(outcome), &Question { outcome, attempt_time, ..plain(None) }).unwrap()
}

const SECOND: Duration = Duration(1_000_000_000);

/// Whether any retry waits: what does not has no chart. Attempts take time: who retries at once until a deadline never reached it otherwise.
fn waits(preset: &Preset) -> bool {
    shown(preset, SECOND).rows.iter().any(|row| row.wait.greatest > Duration::ZERO)
}

/// One client of this policy calls.
fn caller(policy: &str) -> String {
    format!("[clients.a]\ncalls = 'b'\nload = {{ once = {{}} }}\npolicy = {policy}\n[service.b]\nworkers = 'unlimited'\ntime = '0s'\n")
}

#[test]
fn every_preset_reads_and_reads_back() {
    for preset in presets() {
        let own = scenario(&format!("[policy]\np = {}\n{}", written(&preset.name), caller("'p'")), &["run.horizon=1s"]);
        let explained = own.explain();
        assert_eq!(scenario(&explained, &[]).policies(), own.policies(), "{explained}");
        assert_eq!(own.policies()[0].1, policy(&preset.policy()), "{}", preset.name);
        for (key, text) in
            [("title", &preset.title), ("version", &preset.version), ("source", &preset.source), ("leaves_out", &preset.leaves_out)]
        {
            assert!(!text.trim().is_empty(), "{} has no {key}", preset.name);
        }
        let date: Vec<usize> = preset.date.split('-').map(str::len).collect();
        assert!(date == [4, 2, 2] && preset.date.chars().all(|letter| letter == '-' || letter.is_ascii_digit()), "{}", preset.name);
        assert!(shown(preset, SECOND).attempts.is_none_or(|attempts| attempts >= 1), "{}", preset.name);
    }
    let names: std::collections::BTreeSet<&str> = presets().iter().map(|preset| preset.name.as_str()).collect();
    assert_eq!(names.len(), presets().len(), "a name stands twice");
}

/// A section says what its preset says; a chart is there where there is a wait to draw, and no other is.
#[test]
fn every_preset_has_a_section_and_a_chart() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let text = std::fs::read_to_string(root.join("POLICIES.md")).unwrap();
    let mut charts = std::collections::BTreeSet::new();
    for preset in presets() {
        let start = text.find(&format!("### `{}`\n", preset.name)).unwrap_or_else(|| panic!("{} has no section", preset.name));
        let rest = &text[start + 4..];
        let section = &rest[..rest.find("\n#").unwrap_or(rest.len())];
        let wanted = [
            format!("{} ({}; {}).", preset.title, preset.version, preset.date),
            format!("- Left out: {}", preset.leaves_out),
            format!("- Source: {}", preset.source),
        ];
        let shared = (!preset.scope.is_empty()).then(|| format!("- Shared: {}", preset.scope));
        for wanted in wanted.iter().chain(&shared) {
            assert!(section.contains(wanted), "the section of {} has no `{wanted}`", preset.name);
        }
        let chart = format!("policies/{}.svg", preset.name);
        assert_eq!(section.contains(&format!("({chart})")), waits(preset), "{chart}");
        if waits(preset) {
            assert!(root.join(&chart).exists(), "docs/policies/draw makes docs/{chart}");
            charts.insert(format!("{}.svg", preset.name));
        }
    }
    let files = std::fs::read_dir(root.join("policies")).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().to_string());
    let drawn: std::collections::BTreeSet<String> = files.filter(|name| name.ends_with(".svg")).collect();
    assert_eq!(drawn, charts);
}

/// A chart is what the program draws of the preset now.
#[cfg(feature = "charts")]
#[test]
fn the_charts_are_those_of_the_presets() {
    use retrystorm::report::chart::{Theme, schedules};
    for preset in presets().iter().filter(|preset| waits(preset)) {
        let drawn = schedules("When does it try again?", &[(&preset.name, &shown(preset, Duration::ZERO))], Theme::Light).unwrap();
        let path = format!("{}/docs/policies/{}.svg", env!("CARGO_MANIFEST_DIR"), preset.name);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), drawn, "docs/policies/draw draws {path} anew");
    }
}

#[test]
fn a_key_replaces_that_of_the_preset_as_a_whole() {
    let preset = policy("{ preset = 'aws_standard_2026' }");
    assert_eq!(preset.attempts, Some(3));
    let five = policy("{ preset = 'aws_standard_2026', attempts = 5 }");
    assert_eq!(five, Policy { attempts: Some(5), ..preset.clone() });
    assert_eq!(five, policy("{ preset = 'aws_standard_2026', retries = 4 }"));
    // `retries` of a preset gives way to `attempts`, and the other way round.
    assert_eq!(policy("{ preset = 'envoy', attempts = 5 }").attempts, Some(5));
    assert_eq!(policy("{ preset = 'grpc', retries = 1 }").attempts, Some(2));
    let at_once = policy("{ preset = 'aws_standard_2026', backoff = 'none' }");
    assert_eq!(at_once, Policy { backoff: policy("{}").backoff, ..preset.clone() });
    assert!(at_once.throttled_backoff.is_some(), "`throttled_backoff` is a key of its own");
    let free = policy("{ preset = 'aws_standard_2026', budget = 'none', retry_on = ['timeout'] }");
    assert_eq!(free.budget, None);
    assert_eq!(free.retry_on, policy("{ retry_on = ['timeout'] }").retry_on);
}

#[test]
fn a_preset_that_is_none_is_told_with_its_neighbours() {
    for (name, help) in
        [("aws_standard_2025", "did you mean `aws_standard_2026`?"), ("polly", "`polly_v8`"), ("kubernetes", "`kubernetes_client`")]
    {
        let text = caller(&format!("{{ preset = '{name}' }}"));
        let error = Scenario::parse("test", &text, None, &[]).unwrap_err().to_string();
        for wanted in [&format!("there is no preset `{name}`"), "test.toml:4:21", help, "`retrystorm list --presets` has them all"] {
            assert!(error.contains(wanted), "`{wanted}` is not in\n{error}");
        }
        fails_with(2, &["list", "--presets", name], help);
    }
}

#[test]
fn presets_are_listed() {
    let listed = retrystorm(&["list", "--presets"]);
    assert_eq!(listed.lines().count(), presets().len());
    for (line, preset) in listed.lines().zip(presets()) {
        assert!(line.starts_with(&format!("{} ", preset.name)) && line.ends_with(&preset.date), "{line}");
        assert!(line.contains(&preset.title) && line.contains(&preset.version), "{line}");
    }
    let one = retrystorm(&["list", "--presets", "grpc"]);
    let said = one.lines().last().unwrap().strip_prefix("policy").unwrap();
    assert_eq!(policy(said), policy("{ preset = 'grpc' }"));
    fails_with(2, &["list", "grpc"], "--presets");
}

/// Attempts of one call, and how long it took until it failed, in seconds.
fn meets(preset: &str, answer: &str) -> (f64, f64) {
    let answer = if answer == "nobody" { "service.b.down=refuse".to_owned() } else { format!("service.b.script=['{answer}']") };
    let study = study(&scenario(&caller(preset), &[&answer]));
    (value(&study, 0, "attempts").value, value(&study, 0, "completion_time").value)
}

/// What proxies did before a backend that is out of service, and one that is not there.
#[test]
fn proxies_ask_as_often_as_was_counted() {
    for (preset, answer, attempts, seconds) in [
        ("{ preset = 'nginx' }", "503", 1.0, 0.0),
        ("{ preset = 'nginx_http_503' }", "503", 3.0, 0.0),
        ("{ preset = 'nginx_http_503', attempts = 2 }", "503", 2.0, 0.0),
        ("{ preset = 'haproxy' }", "503", 1.0, 0.0),
        ("{ preset = 'haproxy_retry_on' }", "503", 4.0, 0.0),
        // Measured: 3.01 s, with the time of the proxy itself.
        ("{ preset = 'haproxy' }", "nobody", 4.0, 3.0),
        ("{ preset = 'nginx' }", "nobody", 3.0, 0.0),
    ] {
        assert_eq!(meets(preset, answer), (attempts, seconds), "{preset} {answer}");
    }
}

/// Attempts in all, whatever the library counts; one where it does not retry.
#[test]
fn a_call_has_as_many_attempts_as_the_library_makes() {
    for (preset, answer, attempts) in [
        ("aws_standard_2026", "500", 3.0),
        ("dynamodb_2026", "500", 4.0),
        ("aws_legacy", "500", 5.0),
        ("aws_legacy_dynamodb", "500", 10.0),
        ("aws_crt", "500", 6.0),
        ("step_functions", "500", 4.0),
        ("lambda_async", "500", 3.0),
        ("sqs_lambda", "500", 10.0),
        ("grpc", "503", 4.0),
        ("grpc", "500", 1.0),
        ("envoy", "503", 2.0),
        ("envoy", "409", 1.0),
        ("istio", "503", 1.0),
        ("istio", "nobody", 3.0),
        ("linkerd_annotations", "500", 2.0),
        ("finagle", "503", 3.0),
        ("gateway_api", "503", 3.0),
        ("google_cloud_gax", "500", 1.0),
        ("google_api_core", "409", 1.0),
        ("polly_v8", "500", 4.0),
        ("dotnet_http_resilience", "500", 4.0),
        ("dotnet_http_resilience", "409", 1.0),
        ("resilience4j", "500", 3.0),
        ("axios_retry", "500", 4.0),
        ("axios_retry", "409", 1.0),
        ("cockatiel", "500", 4.0),
        ("p_retry", "500", 11.0),
        ("exponential_backoff_npm", "500", 10.0),
        ("got", "503", 3.0),
        ("openai", "409", 3.0),
        ("openai", "404", 1.0),
        ("stripe", "409", 3.0),
        ("stripe", "429", 1.0),
        ("urllib3", "503", 1.0),
        ("urllib3", "nobody", 11.0),
        ("requests", "503", 1.0),
        ("stamina", "500", 10.0),
        ("celery", "500", 4.0),
        ("azure_core", "500", 4.0),
        ("aiohttp_retry", "429", 1.0),
        ("aiohttp_retry", "503", 3.0),
        ("httpx_retries", "503", 11.0),
        ("go_retryablehttp", "503", 5.0),
        ("kubernetes_client", "409", 5.0),
        ("kubernetes_client", "500", 1.0),
        ("kubernetes_default_backoff", "409", 4.0),
        ("failsafe_go", "500", 3.0),
        ("backon", "500", 4.0),
        ("tokio_retry", "500", 4.0),
        ("exponential_backoff_rust", "500", 3.0),
    ] {
        assert_eq!(meets(&format!("{{ preset = '{preset}' }}"), answer).0, attempts, "{preset} {answer}");
    }
}

/// Calls one after the other that all fail, with three attempts at most: how many retries the quota pays for, and from which call on
/// (counted from 0) there are none, as measured; the 2026 quota of 500 has 35 times 14.
#[test]
fn a_quota_pays_for_so_many_retries() {
    for (preset, answer, retries, first_without) in [
        ("aws_standard_2026", "500", 35.0, 18),
        ("aws_standard_2026", "429", 100.0, 50),
        ("aws_standard_2_0", "500", 100.0, 50),
        ("aws_standard_2_0", "429", 100.0, 50),
        ("smithy_js", "429", 100.0, 50),
    ] {
        let retries_of = |calls: u32| {
            let load = "clients.a.load={ periodic = { every = '60s' } }";
            let (horizon, script) = (format!("run.horizon={}s", 60 * calls), format!("service.b.script=['{answer}']"));
            let text = format!("[run]\nhorizon = '1s'\n{}", caller(&format!("{{ preset = '{preset}' }}")));
            let study = study(&scenario(&text, &[load, &horizon, &script]));
            assert_eq!(value(&study, 0, "calls").value, f64::from(calls));
            value(&study, 0, "retries").value
        };
        let found = [first_without - 1, first_without, 200].map(retries_of);
        assert!(found[0] < retries && found[1..] == [retries, retries], "{preset} {answer}: {found:?}");
    }
}
