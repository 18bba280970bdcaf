//! What the cases run: each function is one kind of run, and says in a few words what came of it.

use retrystorm::measure::random::{Address, Draw, Purpose, Seed};
use retrystorm::measure::time::Duration;
use retrystorm::retry::hint::RetryAfter;
use retrystorm::retry::policy::Policy;
use retrystorm::study::scenario::parse_policy;
use retrystorm::study::schedule::{Question, Schedule, draw_of, drawn, schedule};
use retrystorm::world::trace::{Recorder, What};

use crate::golden_delays::plain;
use crate::support::{scenario, study, value};

fn policy(text: &str) -> Policy {
    parse_policy("case", text).unwrap_or_else(|error| panic!("{error}"))
}

fn unlimited(backoff: &str) -> Policy {
    policy(&format!("{{ attempts = 'unlimited', backoff = {backoff} }}"))
}

fn of(policy: &Policy, question: Question) -> Schedule {
    schedule(policy, &question).unwrap()
}

/// The waits before these retries, where nothing is drawn.
pub fn waits(backoff: &str, retries: &[u32]) -> String {
    let policy = unlimited(backoff);
    let wait = |retry: &u32| {
        policy.backoff.wait(*retry, &mut 0, draw_of(0.5)).to_string().replace("18446744073709551615ns", "18446744073.709551615s")
    };
    retries.iter().map(wait).collect::<Vec<_>>().join(" ")
}

/// The least and the greatest of all these waits.
pub fn ends(backoff: &str, retries: &[u32]) -> String {
    let backoff = unlimited(backoff).backoff;
    let of = |word: u64| retries.iter().map(|retry| backoff.wait(*retry, &mut 0, Draw(word))).collect::<Vec<_>>();
    let all = [of(0), of(u64::MAX)].concat();
    format!("{}-{}", all.iter().min().unwrap(), all.iter().max().unwrap())
}

pub fn unreadable(times: &[&str]) -> String {
    format!("{} of {} refused", times.iter().filter(|time| Duration::parse(time).is_err()).count(), times.len())
}

pub fn refused<const N: usize>(backoffs: [String; N]) -> String {
    let is_refused = |backoff: &&String| parse_policy("case", &format!("{{ attempts = 2, backoff = {backoff} }}")).is_err();
    format!("{} of {N} refused", backoffs.iter().filter(is_refused).count())
}

/// The share of even draws whose wait is exactly this.
pub fn at(initial: &str, jitter: &str, wait: &str) -> String {
    let backoff = unlimited(&format!("{{ custom = {{ initial = '{initial}', growth = 'constant', jitter = {jitter} }} }}")).backoff;
    let wanted = Duration::parse(wait).unwrap();
    let hits = (0..4000).filter(|place| backoff.wait(1, &mut 0, draw_of((f64::from(*place) + 0.5) / 4000.0)) == wanted).count();
    format!("{:.3}", hits as f64 / 4000.0)
}

/// Of a long chain of waits: the share at the cap, the mean, and the share at the cap of those that follow the cap. What is found where it
/// is further off than 0.001 of the share and of the cap, which is five standard errors and more.
pub fn long_run(base: &str, cap: &str, right: [f64; 3]) -> String {
    let backoff = unlimited(&format!("{{ custom = {{ initial = '{base}', cap = '{cap}', jitter = 'aws_decorrelated' }} }}")).backoff;
    let cap = Duration::parse(cap).unwrap();
    let (mut memory, mut sum, mut capped, mut again, mut before) = (0, 0.0, 0, 0, false);
    const COUNT: u32 = 10_000_000;
    for retry in 1..=COUNT {
        let wait = backoff.wait(retry, &mut memory, Address(1).draw(Purpose::Backoff, retry.into()));
        sum += wait.seconds();
        capped += u32::from(wait == cap);
        again += u32::from(wait == cap && before);
        before = wait == cap;
    }
    let count = f64::from(COUNT);
    let found = [f64::from(capped) / count, sum / count / cap.seconds(), f64::from(again) / f64::from(capped)];
    let is_near = found.iter().zip(right).all(|(found, right)| right.is_nan() || (found - right).abs() <= 0.001);
    if is_near { "near".into() } else { format!("{found:?}") }
}

pub fn share_at_cap(custom: &str) -> String {
    let schedule = of(&unlimited(&format!("{{ custom = {{ {custom} }} }}")), plain(Some(1)));
    format!("{:.3}", schedule.rows[0].at_cap.unwrap())
}

pub fn cover(text: &str, outage: &str) -> String {
    let question = Question { cover: Some(Duration::parse(outage).unwrap()), ..plain(None) };
    format!("{:.2}", of(&policy(text), question).cover.unwrap().share)
}

pub fn means(backoff: &str, retries: u32) -> String {
    let rows = of(&unlimited(backoff), plain(Some(retries))).rows;
    // Cut, not rounded: 5.75 lies on the border.
    rows.iter().map(|row| format!("{:.1}", (row.wait.mean * 10.0 + 0.2).floor() / 10.0)).collect::<Vec<_>>().join(" ")
}

pub fn distinct(backoff: &str) -> String {
    let backoff = unlimited(backoff).backoff;
    let waits: std::collections::BTreeSet<Duration> =
        (0..10_000).map(|call| backoff.wait(1, &mut 0, Address(call).child(0).draw(Purpose::Backoff, 1))).collect();
    format!("{} of 10000", waits.len())
}

/// When the last retry is sent: least, mean, greatest, in milliseconds.
pub fn sums(text: &str) -> String {
    let schedule = of(&policy(text), plain(None));
    let at = schedule.rows.last().unwrap().at;
    format!("{:.0} {:.0} {:.0}", at.least.seconds() * 1e3, at.mean * 1e3, at.greatest.seconds() * 1e3)
}

/// The tenth retry, each failure with a hint: the share at the cap, the least and the greatest wait.
pub fn hinted(rule: &str, hint: &str, backoff: &str) -> String {
    let rule = if rule.starts_with('{') { rule.to_owned() } else { format!("'{rule}'") };
    let policy = policy(&format!("{{ attempts = 'unlimited', retry_after = {rule}, backoff = {backoff} }}"));
    assert_ne!(policy.retry_after, RetryAfter::Ignore);
    let schedule = of(&policy, Question { hint: Some(Duration::parse(hint).unwrap()), ..plain(Some(10)) });
    let row = &schedule.rows[9];
    format!("{} {}-{}", row.at_cap.map_or("-".into(), |share| format!("{share:.3}")), row.wait.least, row.wait.greatest)
}

/// One client, one call, nobody there.
const ONE: &str = "[clients.a]\ncalls = 'b'\nload = { once = {} }\npolicy = 'p'\n[policy.p]\n[service.b]\nworkers = 'unlimited'\ntime = '1s'\ndown = 'refuse'\n";

pub fn attempts(policy: &str) -> String {
    let study = study(&scenario(ONE, &[&format!("policy.p={policy}")]));
    value(&study, 0, "attempts").value.to_string()
}

pub fn explained() -> String {
    scenario(ONE, &[]).explain()
}

/// When the last retry is sent that is.
pub fn last(text: &str) -> String {
    drawn(&policy(text), &plain(Some(100)), &[0.5]).last().unwrap().at.to_string()
}

/// Attempts of a call to a service that takes so long, and fails the first time.
pub fn elapsed(time: &str, most: &str, wait: &str) -> String {
    let text = format!("{ONE}[[fault]]\nat = '0s'\nfor = '1s'\nset = {{ 'service.b.error_rate' = 1.0 }}\n");
    let policy = format!("policy.p={{ attempts = 10, max_elapsed = '{most}', backoff = {{ fixed = {{ delay = '{wait}' }} }} }}");
    let time = Duration::parse(time).unwrap();
    let (work, failing) = (format!("service.b.time={time}"), format!("fault.0.for={}", time.saturating_add(Duration(1))));
    let study = study(&scenario(&text, &["service.b.down=none", &work, &failing, &policy]));
    value(&study, 0, "attempts").value.to_string()
}

pub fn hanging(time: &str) -> String {
    let policy = policy("{ attempts = 3, timeout = '10s', backoff = { exponential = { base = '200ms' } } }");
    let question = Question { attempt_time: Duration::parse(time).unwrap(), ..plain(None) };
    drawn(&policy, &question, &[0.5]).last().unwrap().at.to_string()
}

/// How many different waits 100 clients draw before their first retry.
pub fn lockstep(shared: &str) -> String {
    let policy = format!("policy.p={{ attempts = 2, shared_seed = {shared}, backoff = {{ full_jitter = {{ base = '1s' }} }} }}");
    let model = scenario(ONE, &["clients.a.count=100", &policy]).base_model().unwrap();
    let mut recorder = Recorder { calls: (0, u32::MAX), most: 10_000, ..Recorder::default() };
    let _ = retrystorm::world::run_heard(&model, Seed { seed: 1, replication: 0 }, &mut recorder);
    let waits: std::collections::BTreeSet<Duration> =
        recorder.lines.iter().filter_map(|line| if let What::Waits(wait) = line.what { Some(wait) } else { None }).collect();
    waits.len().to_string()
}
