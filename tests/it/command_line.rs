//! The program as its users meet it.

use std::process::{Command, Output};

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrystorm"));
    command.env("NO_COLOR", "1");
    command
}

/// Runs it in a folder of its own.
pub fn output(arguments: &[&str]) -> Output {
    program().args(arguments).current_dir(std::env::temp_dir()).output().expect("it starts")
}

/// Runs it, expecting success; what it printed.
pub fn retrystorm(arguments: &[&str]) -> String {
    let output = output(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

pub fn fails_with(code: i32, arguments: &[&str], message: &str) {
    let output = output(arguments);
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {talk}");
    assert!(talk.contains(message), "{arguments:?}: `{message}` is not in\n{talk}");
}

#[test]
fn exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display().to_string();
    retrystorm(&["check", "herd", "--replications", "1"]);
    fails_with(2, &["run", "herdd"], "did you mean `herd`");
    fails_with(2, &["run", "missing.toml"], "missing.toml");
    fails_with(2, &["run", "herd", "--set", "service.server.worker=3"], "workers");
    fails_with(2, &["run", "herd", "--replications", "0"], "0");
    fails_with(2, &["run", "herd", "--threads", "0"], "0");
    fails_with(2, &["trace", "herd", "--call", "10000"], "there is no call 10000");
    fails_with(1, &["run", "herd", "--set", "service.server.workers=400", "--replications", "1", "--no-charts", "--out", &out], "FAILS");
    assert!(folder.path().join("summary.csv").exists(), "what was found is written, whatever was expected");
    let check = output(&["check", "herd", "--set", "service.server.workers=400", "--replications", "1"]);
    assert_eq!(check.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&check.stdout).contains("FAILS  attempts"));
}

#[test]
fn a_call_is_told_from_start_to_end() {
    let told = retrystorm(&["trace", "tipping", "--call", "3"]);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 6 + 1, "{told}");
    for (line, words) in lines[1..].iter().zip([
        "starts call 3 to db",
        "sends attempt 1 to db",
        "a worker takes up attempt 1, for 25 ms",
        "ends its work on attempt 1: ok",
        "gets the reply",
        "call 3 succeeds after 25 ms",
    ]) {
        assert!(line.contains(words), "{line}");
    }
}

#[test]
fn data_goes_to_stdout_and_talk_to_stderr() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("herd").display().to_string();
    let output = output(&["run", "herd", "--replications", "2", "--no-charts", "--out", &out]);
    let (data, talk) = (String::from_utf8_lossy(&output.stdout).to_string(), String::from_utf8_lossy(&output.stderr).to_string());
    assert!(data.contains("105,000") && !data.contains("written to"), "{data}");
    assert!(talk.contains("written to") && !talk.contains('\u{1b}') && !talk.contains('\r'), "{talk:?}");
    assert!(retrystorm(&["list"]).contains("aws_jitter"));
    assert!(retrystorm(&["completions", "bash"]).contains("retrystorm"));
    let manifest = std::fs::read_to_string(folder.path().join("herd/manifest.toml")).unwrap();
    assert_eq!(retrystorm::report::manifest::entry(&manifest, "interrupted").as_deref(), Some("false"));
}

/// What was finished is written when it is broken off.
#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_what_was_finished() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display().to_string();
    let child = program()
        .args(["run", "outage", "--replications", "100000", "--no-charts", "--quiet", "--out", &out])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_secs(3));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let status = child.wait_with_output().unwrap().status;
    assert_eq!(status.code(), Some(130));
    let runs = std::fs::read_to_string(folder.path().join("runs.csv")).unwrap();
    assert!(runs.lines().count() > 1, "some runs were finished in three seconds");
}
