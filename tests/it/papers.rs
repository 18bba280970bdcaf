//! The scenarios of the papers: each can be read and explains itself, and those that take a moment hold what they claim. `.ci/run` checks
//! all of them with `retrystorm paper`.

use retrystorm::report::claims::claims;
use retrystorm::report::files::Finished;
use retrystorm::study::curated::{PAPERS, paper_of};
use retrystorm::study::expect::Bound;

use crate::command_line::{output, retrystorm};
use crate::support::{curated, scenario, study, values};

/// Those whose claims are checked here, whole.
const QUICK: &[&str] = &[
    "paper/brooker_collapse/collapse",
    "paper/contention/throttle",
    "paper/mitigations/newest_first",
    "paper/retries/budget",
    "paper/retries/independent",
    "paper/storm/backed_off",
    "paper/storm/microsecond",
    "paper/storm/recovery",
    "paper/storm/spike",
];

#[test]
fn quick_papers_hold() {
    for name in QUICK {
        let scenario = curated(name, &[]);
        let models: Vec<_> = scenario.cells.iter().map(|cell| scenario.model(cell).unwrap()).collect();
        let study = study(&scenario);
        for claim in claims(Finished { scenario: &scenario, models: &models, study: &study }) {
            assert!(claim.holds, "{claim:?}");
        }
    }
}

#[test]
fn every_paper_explains_itself_and_reads_back() {
    for (name, text) in PAPERS {
        assert!(paper_of(name).is_some(), "{name} is no name of a paper's scenario");
        let own = curated(name, &[]);
        assert!(!own.title.is_empty() && own.story.trim().len() > 100, "{name} has no story");
        assert!(!own.expectations.is_empty(), "{name} claims nothing");
        let explained = own.explain();
        let folder = format!("{}/scenarios/{}", env!("CARGO_MANIFEST_DIR"), name.rsplit_once('/').unwrap().0);
        let again = retrystorm::study::scenario::Scenario::parse("again", &explained, Some(folder.as_ref()), &[])
            .unwrap_or_else(|error| panic!("{name}: {error}\n{explained}"));
        let bounds = |scenario: &retrystorm::study::scenario::Scenario| -> Vec<Bound> {
            scenario.expectations.iter().map(|expectation| expectation.bound.clone()).collect()
        };
        assert_eq!(bounds(&own), bounds(&again), "{name}");
        assert!(text.is_ascii(), "{name} has letters that not every terminal has");
        assert!(
            include_str!("../../docs/PAPERS.md").contains(&format!("`{}`", name.trim_start_matches("paper/"))),
            "{name} is not in docs/PAPERS.md"
        );
    }
}

/// Brooker's collapse has two ends and nothing between: of the calls of the last ten seconds none succeeds, or all.
#[test]
fn a_collapse_is_all_or_nothing() {
    let text = retrystorm::study::curated::curated("paper/brooker_collapse/collapse").unwrap().replace("reference = \"collapse.csv\"", "");
    let mut scenario = scenario(&text, &["run.warmup=60s", "clients.web.policy=no_backoff"]);
    scenario.expectations.clear();
    let shares = values(&study(&scenario), 0, "success_rate");
    let between = shares.iter().filter(|share| (0.05..0.95).contains(*share)).count();
    let lost = shares.iter().filter(|share| **share < 0.05).count();
    assert_eq!((shares.len(), between), (300, 0), "{shares:?}");
    assert!((199..=230).contains(&lost), "{lost} of 300 collapse; published .717 [.663, .765]");
}

#[test]
fn the_command_prints_writes_and_judges() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display().to_string();
    let told = retrystorm(&["paper", "storm/microsecond", "--quiet", "--no-charts", "--out", &out]);
    assert!(told.contains("holds  storm/microsecond  succeeded") && told.contains("3 of 3 hold."), "{told}");
    assert!(folder.path().join("storm/microsecond/summary.csv").exists());
    let written = std::fs::read_to_string(folder.path().join("claims.csv")).unwrap();
    assert!(written.starts_with("scenario,cell,condition,metric,claim,source,known,") && written.lines().count() == 4, "{written}");
    // Two runs leave an interval that says nothing.
    let vague = output(&["paper", "queues/patience", "--replications", "2", "--quiet", "--no-charts", "--out", &out]);
    assert_eq!(vague.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&vague.stdout).contains("FAILS  queues/patience"));
    let claims = std::fs::read_to_string(folder.path().join("queues/patience/claims.csv")).unwrap();
    assert!(claims.contains("Barrer 1957,0.781236"), "{claims}");
    let unknown = output(&["paper", "nonsense", "--out", &out]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("papers: aws2015, bronson"));
    assert!(retrystorm(&["check", "paper/storm/spike"]).contains("holds  retries above 0"));
}
