//! A trace in words: an aligned line an event.

use std::fmt::Write as _;
use std::ops::Range;

use super::table::align;
use crate::measure::time::{Duration, Time};
use crate::retry::outcome::Outcome;
use crate::study::verdict::conditional_spells;
use crate::world::model::{Model, Origin};
use crate::world::run::Run;
use crate::world::trace::{Line, Recorder, What};

/// The whole trace. Where it is of one call, time also counts from its start.
pub fn tell(model: &Model, run: &Run, recorder: &Recorder) -> String {
    let one = recorder.calls.0 == recorder.calls.1;
    let start = recorder.lines.first().map_or(Time::ZERO, |line| line.at);
    let header = ["time", if one { "since start" } else { "call" }, "who", "what"].map(String::from).to_vec();
    let since = |at: Time| format!("+{}", seconds(Time(at.since(start).0)));
    let told = recorder.lines.iter().map(|line| {
        let second = if one { since(line.at) } else { line.call.to_string() };
        (line.at, vec![seconds(line.at), second, who(model, line), what(model, line)])
    });
    let end = recorder.lines.last().map_or(Time::ZERO, |line| line.at);
    let faults = faults(model, run).into_iter().filter(|(at, _)| (start..=end).contains(at)).map(|(at, words)| {
        let second = if one { since(at) } else { String::new() };
        (at, vec![seconds(at), second, "fault".to_string(), words])
    });
    // A fault comes before what else happens at its instant: the order of equals is kept.
    let mut rows: Vec<(Time, Vec<String>)> = faults.chain(told).collect();
    rows.sort_by_key(|(at, _)| *at);
    let rows = rows.into_iter().map(|(_, row)| row);
    // Numbers to the right, words to the left: the first two columns are padded here, since the table puts words first.
    let mut rows: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    for column in 0..2 {
        let width = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        rows.iter_mut().for_each(|row| row[column] = format!("{:>width$}", row[column]));
    }
    let mut text = align(&rows, 4);
    if recorder.left_out > 0 {
        let _ = writeln!(text, "... and {} more lines", recorder.left_out);
    }
    text
}

/// When each fault with a condition starts and ends in a run, in words.
fn faults(model: &Model, run: &Run) -> Vec<(Time, String)> {
    let words = |(fault, time): (usize, Range<Time>)| {
        let label = &model.conditional.faults[fault].label;
        [(time.start, format!("starts by its condition: {label}")), (time.end, format!("ends: {label}"))]
    };
    conditional_spells(model, run).into_iter().flat_map(words).collect()
}

fn seconds(time: Time) -> String {
    let (whole, part) = (time.0 / 1_000_000_000, time.0 % 1_000_000_000);
    format!("{whole}.{:06} s", part / 1000)
}

/// To the microsecond, in the unit that a person would use.
fn readable(duration: Duration) -> String {
    let (number, unit) = match duration.0 {
        1_000_000_000.. => (duration.seconds(), "s"),
        1_000_000.. => (duration.seconds() * 1e3, "ms"),
        0 => return "no time".into(),
        _ => (duration.seconds() * 1e6, "us"),
    };
    let digits = if unit == "s" { 6 } else { 3 };
    let text = format!("{number:.digits$}");
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Who acts: the client, or the service at one end of the edge.
fn who(model: &Model, line: &Line) -> String {
    let caller = &model.callers[line.caller.at()];
    let serving = &model.services[caller.to.at()].name;
    let calling = match caller.from {
        Origin::Group(group) => model.groups[group.at()].name.clone(),
        Origin::Service(service) => model.services[service.at()].name.clone(),
    };
    match &line.what {
        What::CallStarts(group, client) => format!("{} {}", model.groups[group.at()].name, client.0),
        What::FoundDown(_) | What::Queued(..) | What::Rejected(_) | What::WorkStarts(..) | What::WorkEnds(..) => serving.clone(),
        What::RowRead(..) | What::RowWritten(..) | What::Dropped(_) | What::Destroyed(_) | What::Kills(_) | What::CallsOn(_) => {
            serving.clone()
        }
        What::Balanced(..) | What::Hit(_) | What::Throttled(_) | What::Shed(_) | What::Answered(..) | What::Ignored(_) => serving.clone(),
        _ => calling,
    }
}

fn what(model: &Model, line: &Line) -> String {
    let target = || &model.services[model.callers[line.caller.at()].to.at()].name;
    match &line.what {
        What::CallStarts(..) => format!("starts call {} to {}", line.call, target()),
        What::CallsOn(service) => format!("calls on to {}; its worker is held meanwhile", model.services[service.at()].name),
        What::Sent(number) => format!("sends attempt {number} to {}", target()),
        What::Lost(number) => format!("a message of attempt {number} is lost on the way"),
        What::FoundDown(number) => format!("is down as attempt {number} arrives"),
        What::Queued(number, 0) => format!("all workers are busy; attempt {number} is next in the queue"),
        What::Queued(number, ahead) => format!("all workers are busy; attempt {number} queues with {ahead} others"),
        What::Rejected(number) => format!("the queue is full; rejects attempt {number}"),
        What::WorkStarts(number, work) => format!("a worker takes up attempt {number}, for {}", readable(*work)),
        What::WorkEnds(number, outcome) => format!("ends its work on attempt {number}: {}", outcome.name()),
        What::RowRead(number, version) => format!("attempt {number} reads version {version}"),
        What::RowWritten(number, Outcome::Ok) => format!("attempt {number} writes: ok"),
        What::RowWritten(number, outcome) => {
            format!("attempt {number} comes to write, but another has written since its read: {}", outcome.name())
        }
        What::Dropped(number) => format!("drops attempt {number}: its caller has left"),
        What::Destroyed(number) => format!("goes down and loses attempt {number}"),
        What::Reply(number, outcome) => format!("gets the reply to attempt {number}: {}", outcome.name()),
        What::KnownByKey(number, outcome) => format!("attempt {number} is known by its key: {} at once", outcome.name()),
        What::Received(number, index) => {
            format!("receive {number}: a function takes it as number {} of its batch", index + 1)
        }
        What::FunctionStopped => String::from("the function has had its time"),
        What::DeadLetter => String::from("received as often as it may be: a dead letter"),
        What::LateReply(number, outcome) => format!("a late reply to attempt {number} ({}) is ignored", outcome.name()),
        What::TimedOut(number) => format!("gives up attempt {number}: timeout"),
        What::Waits(Duration::ZERO) => "tries again at once".into(),
        What::Waits(wait) => format!("waits {} before it tries again", readable(*wait)),
        What::BudgetDenies => "may not retry: the budget is spent".into(),
        What::BreakerDenies => "sends nothing: the breaker is open".into(),
        What::DeadlineDenies => "does not retry: the wait would pass the deadline or max_elapsed".into(),
        What::HintDenies => "does not retry: the server's hint is too long to wait for".into(),
        What::CallEnds(Some(Outcome::Ok), after) => format!("call {} succeeds after {}", line.call, readable(*after)),
        What::Throttled(number) => format!("is over its rate limit; throttles attempt {number}"),
        What::Shed(number) => format!("turns attempt {number} away: it comes too late"),
        What::Answered(number, outcome) => format!("answers attempt {number} by its script: {}", outcome.name()),
        What::Ignored(number) => format!("never answers attempt {number}, by its script"),
        What::CallEnds(None, _) => format!("call {} fails: nothing was sent", line.call),
        What::CallEnds(Some(outcome), after) => {
            format!("call {} fails after {}, at last with {}", line.call, readable(*after), outcome.name())
        }
        What::BreakerOpens => "its breaker opens".into(),
        What::BreakerHolds => "sends nothing yet: its breaker is half open, and the probes come first".into(),
        What::SendDenied => "sends nothing: its own throttle turns the attempt away".into(),
        What::SendWaits(wait) => format!("may not send yet: asks again in {}", readable(*wait)),
        What::Hit(number) => format!("has the answer to attempt {number} in its cache"),
        What::Balanced(number, replica) => format!("the balancer sends attempt {number} to replica {replica}"),
        What::PoolHolds => "sends nothing yet: no place in its pool is free".into(),
        What::Kills(number) => format!("dies of its queue: attempt {number} is one too many"),
        What::PoolDenies => "sends nothing: its pool has no place".into(),
        What::RetrySkipped(wait) => format!("may not retry yet: goes on to the next wait, of {}", readable(*wait)),
    }
}
