use super::rule::{Blocks, Judged, Limit, Of, Rule};
use super::*;

const SECOND: u64 = 1_000_000_000;

/// Opens after three failures in a row, for 30 ns.
fn breaker() -> Breaker {
    Breaker {
        rule: Rule::Consecutive { failures: 3 },
        opening: Opening::Fixed(Duration(30)),
        probes: 1,
        closing: Closing::Successes(1),
        others: Others::Reject,
        counts: OutcomeSet::of(&super::super::outcome::FAILURES),
        around: Around::Attempts,
        rejection: Rejection::EndsCall,
        scope: Scope::Client,
    }
}

fn by(rule: Rule) -> Breaker {
    Breaker { rule, ..breaker() }
}

fn limit(rate: f64, at_least: bool, min_calls: u32) -> Limit {
    Limit { rate, at_least, min_calls }
}

fn fresh(breaker: &Breaker) -> State {
    breaker.fresh(1, Time::ZERO)
}

fn pass(breaker: &Breaker, state: &mut State, now: u64) -> Option<Pass> {
    breaker.pass_time(state, Time(now), |_| Draw(0));
    match breaker.admit(state, true, Time(now)) {
        Answer::Passes(pass) => Some(pass),
        Answer::Waits | Answer::Refused => None,
    }
}

fn settle(breaker: &Breaker, state: &mut State, pass: Pass, outcome: Outcome, now: u64) -> bool {
    breaker.pass_time(state, Time(now), |_| Draw(0)) | breaker.settle(state, pass, outcome, Time(now), |_| Draw(0))
}

/// One attempt that ends at once: `1` well, `0` badly. A letter for what became of it: refused `r`, passed `p`, or opened `o`.
fn attempt(breaker: &Breaker, state: &mut State, good: bool, now: u64) -> char {
    let Some(pass) = pass(breaker, state, now) else { return 'r' };
    let outcome = if good { Outcome::Ok } else { Outcome::Error };
    if settle(breaker, state, pass, outcome, now) { 'o' } else { 'p' }
}

/// What becomes of attempts that come so long after one another.
fn trace(breaker: &Breaker, apart: u64, results: &str) -> String {
    let mut state = fresh(breaker);
    let one = |(index, letter): (usize, char)| attempt(breaker, &mut state, letter == '1', apart * index as u64);
    results.chars().enumerate().map(one).collect()
}

const HALF_OPEN: Phase = Phase::HalfOpen { under_way: 1, succeeded: 0, failed: 0 };

#[test]
fn opens_probes_and_closes() {
    let (breaker, mut state) = (breaker(), fresh(&breaker()));
    for now in 0..5 {
        attempt(&breaker, &mut state, now == 2, now);
    }
    assert_eq!(state.phase, Phase::Closed, "a success forgives");
    assert_eq!(attempt(&breaker, &mut state, false, 5), 'o');
    assert_eq!(state.phase, Phase::Open(Time(35)));
    assert_eq!(attempt(&breaker, &mut state, true, 34), 'r');
    let probe = pass(&breaker, &mut state, 35).expect("one probe");
    assert_eq!(pass(&breaker, &mut state, 35), None, "and no more");
    settle(&breaker, &mut state, probe, Outcome::Timeout, 40);
    assert_eq!(state.phase, Phase::Open(Time(70)), "a failed probe starts the time again");
    assert_eq!(attempt(&breaker, &mut state, true, 70), 'p');
    assert_eq!(state.phase, Phase::Closed);
    assert_eq!((0..3).map(|now| attempt(&breaker, &mut state, false, 71 + now)).collect::<String>(), "ppo", "it begins anew");
}

#[test]
fn what_was_sent_before_it_opened_says_nothing() {
    let (breaker, mut state) = (breaker(), fresh(&breaker()));
    let old = pass(&breaker, &mut state, 0).expect("closed");
    for now in 1..4 {
        attempt(&breaker, &mut state, false, now);
    }
    settle(&breaker, &mut state, old, Outcome::Ok, 10);
    assert_eq!(state.phase, Phase::Open(Time(33)), "a late success does not close it");
    let probe = pass(&breaker, &mut state, 33).expect("half open");
    settle(&breaker, &mut state, old, Outcome::Error, 34);
    assert_eq!(state.phase, HALF_OPEN, "nor does a late failure of old decide for the probe");
    settle(&breaker, &mut state, Pass::default(), Outcome::Error, 34);
    assert_eq!(state.phase, HALF_OPEN, "nor what never passed");
    settle(&breaker, &mut state, probe, Outcome::Ok, 35);
    assert_eq!(state.phase, Phase::Closed);
}

#[test]
fn a_probe_that_is_forgotten_gives_its_place_back() {
    let (breaker, mut state) = (breaker(), fresh(&breaker()));
    for now in 0..3 {
        attempt(&breaker, &mut state, false, now);
    }
    let probe = pass(&breaker, &mut state, 40).expect("half open");
    assert_eq!(breaker.places(&state), 0);
    Breaker::forget(&mut state, probe);
    assert_eq!((breaker.places(&state), attempt(&breaker, &mut state, true, 41)), (1, 'p'), "another may go");
}

/// Each row: a rule, how long the attempts are apart, how they end (1 well, 0 badly), and what becomes of each.
#[test]
fn every_rule_opens_where_it_says() {
    let last = |size, rate, at_least, min_calls, judged| Rule::CountWindow { size, limit: limit(rate, at_least, min_calls), judged };
    let recent = |rate, at_least, min_calls, judged| Rule::TimeWindow {
        window: Duration(100),
        buckets: 10,
        limit: limit(rate, at_least, min_calls),
        judged,
    };
    let total =
        |rate, at_least, min_calls| Rule::Cumulative { limit: limit(rate, at_least, min_calls), of: Of::Attempts, blocks: Blocks::All };
    let (failures, results) = (Judged::Failures, Judged::Results);
    let rows: [(&str, Rule, u64, &str, &str); 20] = [
        ("cockatiel's ConsecutiveBreaker(5)", Rule::Consecutive { failures: 5 }, 1, "000000", "ppppor"),
        ("gobreaker: more than 5 in a row", Rule::Consecutive { failures: 6 }, 1, "00000100000000", "ppppppppppporr"),
        ("cockatiel's CountBreaker", last(10, 0.2, false, 10, failures), 1, "11111110000", "pppppppppor"),
        ("at 20 % it holds", last(10, 0.2, false, 10, failures), 1, "111111110011", "pppppppppppp"),
        ("at least 20 % opens", last(10, 0.2, true, 10, failures), 1, "1111111100", "pppppppppo"),
        ("the oldest goes", last(4, 0.5, false, 4, failures), 1, "0110110110110", "ppppppppppppp"),
        ("two of the last four", last(4, 0.5, true, 4, failures), 1, "1111100", "ppppppo"),
        ("D06: five calls are enough", last(100, 0.5, true, 5, failures), 1, "000000", "ppppor"),
        ("D09: ten calls are needed", last(10, 0.5, true, 10, failures), 1, "00000000000", "pppppppppor"),
        ("a success is not judged", last(10, 0.5, true, 4, failures), 1, "0001", "pppp"),
        ("unless each result is (resilience4j)", last(10, 0.5, true, 4, results), 1, "0001", "pppo"),
        ("opossum: one failure of one", recent(0.5, false, 0, failures), 1, "0111", "orrr"),
        ("opossum: half is not more than half", recent(0.5, false, 0, failures), 1, "10", "pp"),
        ("Polly and Hystrix: half is enough", recent(0.5, true, 2, failures), 1, "10", "po"),
        ("ten buckets, the present one included", recent(0.5, true, 10, failures), 10, "00000000000", "pppppppppor"),
        ("eleven buckets are too long", recent(0.5, true, 10, failures), 12, "00000000000", "ppppppppppp"),
        ("old successes go", recent(0.5, false, 1, failures), 30, "1110000", "pppppoo"),
        ("rates go by division", total(0.1, true, 30), 0, "111111111111111111111111111000", "pppppppppppppppppppppppppppppo"),
        ("strictly above", total(0.1, false, 1), 0, "11111111100", "ppppppppppo"),
        ("everything since the start", total(0.5, true, 2), 0, "1111000", "ppppppp"),
    ];
    for (name, rule, apart, results, expected) in rows {
        let seen = trace(&by(rule), apart, results);
        assert_eq!(seen, expected, "{name}");
    }
}

/// The remembered results are those of the last calls, whatever came before: against a plain list.
#[test]
fn windows_agree_with_plain_lists() {
    let (size, window, buckets) = (70u32, 1000u64, 8u64);
    let (mut last, mut recent, mut draw, mut now) = (rings::Last::default(), rings::Buckets::default(), Draw(7), 0u64);
    let mut all: Vec<(u64, bool)> = Vec::new();
    for _ in 0..5000 {
        draw = draw.next();
        now += if draw.up_to(99) == 0 { 3000 } else { draw.up_to(30) };
        let fails = draw.next().up_to(3) == 0;
        all.push((now, fails));
        last.add(size, fails);
        recent.add(Duration(window / buckets), buckets as u32, fails, Time(now));
        let tail = &all[all.len().saturating_sub(size as usize)..];
        assert_eq!((last.calls as usize, last.failed as usize), (tail.len(), tail.iter().filter(|(_, fails)| *fails).count()));
        let kept = || all.iter().filter(|(at, _)| at / 125 + buckets > now / 125);
        assert_eq!(recent.sums(), (kept().count() as u64, kept().filter(|(_, fails)| *fails).count() as u64));
    }
}

/// Hystrix judges its buckets of half a second when they are over, and counts none that is not.
#[test]
fn full_buckets_are_judged_at_their_ends() {
    let half = SECOND / 2;
    let rule = Rule::TimeWindow { window: Duration(10 * SECOND), buckets: 20, limit: limit(0.5, true, 20), judged: Judged::Buckets };
    let breaker = Breaker { opening: Opening::Fixed(Duration(5 * SECOND)), ..by(rule) };
    let mut state = fresh(&breaker);
    for _ in 0..30 {
        assert_eq!(attempt(&breaker, &mut state, false, half / 2), 'p', "the bucket is not over");
    }
    assert_eq!(attempt(&breaker, &mut state, true, half), 'r');
    assert_eq!(state.phase, Phase::Open(Time(half + 5 * SECOND)), "it opened at the end of the bucket");
    // Seen late, it opened at the same time; and 12 failures with 8 successes long ago are 20 calls no more.
    let mut late = fresh(&breaker);
    (0..30).for_each(|_| assert_eq!(attempt(&breaker, &mut late, false, half / 2), 'p'));
    assert!(breaker.pass_time(&mut late, Time(100 * SECOND), |_| Draw(0)));
    assert_eq!(late.phase, Phase::Open(Time(half + 5 * SECOND)));
    let mut few = fresh(&breaker);
    (0..8).for_each(|_| assert_eq!(attempt(&breaker, &mut few, true, 0), 'p'));
    (0..12).for_each(|_| assert_eq!(attempt(&breaker, &mut few, false, 10 * SECOND), 'p'));
    assert!(!breaker.pass_time(&mut few, Time(100 * SECOND), |_| Draw(0)));
}

/// Finagle's own test: with a window of 100 s, 100 successes and then failures, a second apart, the 70th brings the rate below 1/2,
/// since e^-0.69 is above it and e^-0.70 below.
#[test]
fn the_average_success_decays() {
    let rule = |consecutive| Rule::Average { window: Duration(100 * SECOND), success_rate: 0.5, min_calls: 5, consecutive };
    let results = "1".repeat(100) + &"0".repeat(70);
    assert_eq!(trace(&by(rule(None)), SECOND, &results), "p".repeat(169) + "o");
    assert_eq!(trace(&by(rule(Some(5))), SECOND, &results[..105]), "p".repeat(104) + "o", "or five in a row");
    // Before the window has passed once, and with fewer calls than five in it, nothing is judged.
    assert_eq!(trace(&by(rule(None)), SECOND, &"0".repeat(101)), "p".repeat(100) + "o");
    assert_eq!(trace(&by(rule(None)), 30 * SECOND, &"0".repeat(9)), "p".repeat(9));
}

/// Brooker's: failed attempts of the calls started, strictly above; first attempts always pass, and count.
#[test]
fn a_breaker_that_blocks_retries_never_opens() {
    let rule = Rule::Cumulative { limit: limit(0.5, false, 1), of: Of::Calls, blocks: Blocks::Retries };
    let (breaker, mut state) = (by(rule), fresh(&by(rule)));
    let retries = |state: &mut State| matches!(breaker.admit(state, false, Time(0)), Answer::Passes(_));
    assert_eq!(attempt(&breaker, &mut state, false, 0), 'p');
    assert!(!retries(&mut state), "1 of 1");
    assert_eq!(attempt(&breaker, &mut state, true, 0), 'p');
    assert!(retries(&mut state), "1 of 2, and a retry is no call");
    assert!(retries(&mut state), "whose outcome is not known yet");
    assert_eq!(attempt(&breaker, &mut state, false, 0), 'p');
    assert!(!retries(&mut state), "2 of 3");
}

/// The record of everything outlives the opening: the next failure opens it again while the share is too much.
#[test]
fn a_cumulative_breaker_does_not_forget() {
    let rule = Rule::Cumulative { limit: limit(0.5, true, 1), of: Of::Attempts, blocks: Blocks::All };
    let (breaker, mut state) = (by(rule), fresh(&by(rule)));
    let seen: String = [(0, false), (30, true), (31, true), (32, false), (62, true), (63, true), (64, false), (65, false)]
        .map(|(now, good)| attempt(&breaker, &mut state, good, now))
        .into_iter()
        .collect();
    assert_eq!(seen, "oppopppo", "1 of 1; 2 of 4; then 3 of 7, 4 of 8");
}

/// How half-open breakers turn: probes, what closes, how the probes end in order, and what it is then (c, o, or h with free places).
#[test]
fn probes_decide() {
    let share = |rate, at_least| Closing::Share { rate, at_least };
    let rows = [
        (1, Closing::Successes(1), "1", "c"),
        (1, Closing::Successes(1), "0", "o"),
        (3, Closing::Successes(2), "1", "h1"),
        (3, Closing::Successes(2), "11", "c"),
        (3, Closing::Successes(2), "10", "o"),
        (10, share(0.5, true), "111110000", "h0"),
        (10, share(0.5, true), "1111100000", "o"),
        (10, share(0.5, false), "1111100000", "c"),
        (10, share(0.5, true), "1111110000", "c"),
    ];
    for (probes, closing, results, expected) in rows {
        let breaker = Breaker { probes, closing, ..by(Rule::Consecutive { failures: 1 }) };
        let mut state = fresh(&breaker);
        attempt(&breaker, &mut state, false, 0);
        let passes: Vec<Pass> = (0..probes).map(|_| pass(&breaker, &mut state, 30).expect("a place")).collect();
        assert_eq!(pass(&breaker, &mut state, 30), None, "all {probes} places are taken");
        for (pass, letter) in passes.iter().zip(results.chars()) {
            settle(&breaker, &mut state, *pass, if letter == '1' { Outcome::Ok } else { Outcome::Error }, 31);
        }
        let seen = match state.phase {
            Phase::Closed => "c".to_string(),
            Phase::Open(until) => format!("o{}", if until == Time(61) { "" } else { " for another time" }),
            Phase::HalfOpen { .. } => format!("h{}", breaker.places(&state)),
        };
        assert_eq!(seen, expected, "{probes} probes, {closing:?}, {results}");
    }
}

#[test]
fn others_wait_where_they_are_told_to() {
    for (others, answer) in [(Others::Reject, Answer::Refused), (Others::Wait, Answer::Waits)] {
        let breaker = Breaker { others, ..by(Rule::Consecutive { failures: 1 }) };
        let mut state = fresh(&breaker);
        attempt(&breaker, &mut state, false, 0);
        assert_eq!(breaker.admit(&mut state, true, Time(29)), Answer::Refused, "open is not half open");
        pass(&breaker, &mut state, 30).expect("the probe");
        assert_eq!(breaker.admit(&mut state, true, Time(30)), answer);
    }
}

#[test]
fn only_what_counts_is_a_failure() {
    let breaker = Breaker { counts: OutcomeSet::of(&[Outcome::Timeout]), ..by(Rule::Consecutive { failures: 1 }) };
    let mut state = fresh(&breaker);
    assert_eq!(attempt(&breaker, &mut state, false, 0), 'p', "an error is as good as a success");
    let pass = pass(&breaker, &mut state, 0).expect("closed");
    assert!(settle(&breaker, &mut state, pass, Outcome::Timeout, 0));
}

/// Each row: an opening, and how long it is at the words 0 and 2^64 - 1, at the first five times, in seconds rounded.
#[test]
fn openings_grow_until_it_closes() {
    let growth = |factor, jitter, side, exact_first| {
        Opening::Growing(Growth { initial: Duration(5 * SECOND), factor, cap: Duration(60 * SECOND), jitter, side, exact_first })
    };
    let rows = [
        (Opening::Fixed(Duration(30 * SECOND)), [(30, 30); 5]),
        (growth(2.0, 0.0, Side::Below, false), [(5, 5), (10, 10), (20, 20), (40, 40), (60, 60)]),
        (growth(3.0, 0.0, Side::Below, false), [(5, 5), (15, 15), (45, 45), (60, 60), (60, 60)]),
        (growth(2.0, 0.5, Side::Below, false), [(5, 3), (10, 5), (20, 10), (40, 20), (60, 30)]),
        (growth(2.0, 0.5, Side::Above, false), [(5, 8), (10, 15), (20, 30), (40, 60), (60, 60)]),
        (growth(2.0, 1.0, Side::Above, true), [(5, 5), (5, 10), (10, 20), (20, 40), (40, 60)]),
    ];
    let rounded = |length: Duration| (length.0 + SECOND / 2) / SECOND;
    for (opening, expected) in rows {
        let lengths = |streak| (rounded(opening.length(streak, || Draw(0))), rounded(opening.length(streak, || Draw(u64::MAX))));
        assert_eq!([0, 1, 2, 3, 4].map(lengths), expected, "{opening:?}");
    }
    assert_eq!(growth(1e9, 1.0, Side::Above, false).length(u32::MAX, || Draw(u64::MAX)), Duration(60 * SECOND), "nothing overflows");
    let breaker = Breaker { opening: growth(2.0, 0.0, Side::Below, false), ..by(Rule::Consecutive { failures: 1 }) };
    let mut state = fresh(&breaker);
    let at = [0, 5, 15, 35, 36].map(|second| (second, attempt(&breaker, &mut state, second == 35, second * SECOND)));
    assert_eq!(at, [(0, 'o'), (5, 'o'), (15, 'o'), (35, 'p'), (36, 'o')]);
    assert_eq!(state.phase, Phase::Open(Time(41 * SECOND)), "after it has closed it begins anew");
}

/// What is kept for each client must stay small: docs and checks count on 100 bytes.
#[test]
fn a_breaker_is_small() {
    assert!(breaker().bytes() <= 100, "{}", breaker().bytes());
    assert!(by(Rule::CountWindow { size: 1000, limit: limit(0.5, true, 1), judged: Judged::Failures }).bytes() >= 125);
}
