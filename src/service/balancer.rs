//! A balancer in front of replicas: which of them an attempt is sent to, and which of them it leaves out for a while.

use crate::measure::random::Draw;
use crate::measure::time::{Duration, Time};

/// How the attempts of a service are spread over its replicas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balancer {
    /// Who is next.
    pub rule: Rule,
    /// What is left out after failures; None never leaves any out.
    pub ejection: Option<Ejection>,
}

/// Who is next, among the replicas that are not left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Any, each as likely.
    Random,
    /// One after the other.
    RoundRobin,
    /// Any of those with the fewest attempts, queued and in service.
    LeastLoaded,
    /// The one with fewer attempts of two that are drawn; the first of them where both have as many (Mitzenmacher 2001).
    TwoChoices,
}

/// Outlier detection, as Envoy's `consecutive_5xx`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ejection {
    /// Failures in a row that lead to it; at least 1.
    pub consecutive: u32,
    /// How long the first lasts; the k-th of a replica k times as long.
    pub time: Duration,
    /// The greatest share of the replicas that is left out at once, rounded down; but one always may be.
    pub most: f64,
}

/// What a balancer knows.
#[derive(Clone, Debug, Default)]
pub struct State {
    turn: usize,
    replicas: Vec<Replica>,
    /// Those that can be chosen, while one is; its room is used again.
    open: Vec<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Replica {
    failures: u32,
    ejections: u32,
    until: Time,
}

impl State {
    /// Of so many replicas.
    pub fn new(count: usize) -> State {
        State { turn: 0, replicas: vec![Replica::default(); count], open: Vec::with_capacity(count) }
    }
}

impl Balancer {
    /// The replica for an attempt that comes now, from 0. `load` are the attempts at each, `draws` two words.
    pub fn choose(&self, state: &mut State, now: Time, load: impl Fn(usize) -> u32, draws: [Draw; 2]) -> usize {
        let State { turn, replicas, open } = state;
        open.clear();
        open.extend((0..replicas.len()).filter(|index| replicas[*index].until <= now));
        if open.is_empty() {
            open.extend(0..replicas.len());
        }
        let any = |among: &[usize], draw: Draw| among[draw.up_to(among.len() as u64 - 1) as usize];
        match self.rule {
            Rule::Random => any(open, draws[0]),
            Rule::RoundRobin => {
                let next = open.iter().copied().find(|index| *index >= *turn).unwrap_or(open[0]);
                *turn = next + 1;
                next
            }
            Rule::LeastLoaded => {
                let least = open.iter().map(|index| load(*index)).min();
                open.retain(|index| Some(load(*index)) == least);
                any(open, draws[0])
            }
            Rule::TwoChoices => {
                let first = any(open, draws[0]);
                if open.len() > 1 {
                    open.retain(|index| *index != first);
                }
                let second = any(open, draws[1]);
                if load(second) < load(first) { second } else { first }
            }
        }
    }

    /// A replica has answered, or failed to.
    pub fn observe(&self, state: &mut State, replica: usize, failed: bool, now: Time) {
        let Some(ejection) = self.ejection else { return };
        let count = state.replicas.len();
        let out = state.replicas.iter().filter(|replica| replica.until > now).count();
        let seen = &mut state.replicas[replica];
        seen.failures = if failed { seen.failures.saturating_add(1) } else { 0 };
        let most = ((ejection.most * count as f64) as usize).max(1);
        if seen.failures >= ejection.consecutive && seen.until <= now && out < most {
            seen.failures = 0;
            seen.ejections = seen.ejections.saturating_add(1);
            seen.until = now + Duration(ejection.time.0.saturating_mul(seen.ejections.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: Draw = Draw(u64::MAX / 2 + 1);

    fn balancer(rule: Rule) -> Balancer {
        Balancer { rule, ejection: Some(Ejection { consecutive: 2, time: Duration(100), most: 0.5 }) }
    }

    fn chosen<const N: usize>(rule: Rule, state: &mut State, now: u64, loads: [u32; N], draws: [Draw; 2]) -> usize {
        balancer(rule).choose(state, Time(now), |index| loads[index], draws)
    }

    #[test]
    fn each_rule_chooses_as_it_says() {
        let mut state = State::new(4);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|_| chosen(Rule::RoundRobin, &mut state, 0, [0; 4], [HALF; 2])), [0, 1, 2, 3, 0, 1]);
        assert_eq!(chosen(Rule::Random, &mut state, 0, [0, 0, 9, 0], [HALF; 2]), 2);
        assert_eq!(chosen(Rule::LeastLoaded, &mut state, 0, [3, 1, 2, 1], [Draw(0); 2]), 1);
        assert_eq!(chosen(Rule::LeastLoaded, &mut state, 0, [3, 1, 2, 1], [HALF; 2]), 3);
        // The first of four and the second of the other three; then the other way round, and a tie.
        assert_eq!(chosen(Rule::TwoChoices, &mut state, 0, [3, 0, 2, 1], [Draw(0), HALF]), 2);
        assert_eq!(chosen(Rule::TwoChoices, &mut state, 0, [1, 0, 2, 1], [Draw(0), HALF]), 0);
        assert_eq!(chosen(Rule::TwoChoices, &mut state, 0, [2, 0, 2, 1], [Draw(0), HALF]), 0);
        assert_eq!(chosen(Rule::TwoChoices, &mut State::new(1), 0, [5], [HALF, HALF]), 0);
    }

    /// Two failures in a row eject for 100, then for 200; of three replicas half is one, of four it is two.
    #[test]
    fn failures_eject_for_longer_and_longer() {
        let round = balancer(Rule::RoundRobin);
        let mut state = State::new(3);
        let fail = |state: &mut State, replica, now| (0..2).for_each(|_| round.observe(state, replica, true, Time(now)));
        let turn = |state: &mut State, now| [0, 1, 2].map(|_| chosen(Rule::RoundRobin, state, now, [0; 3], [HALF; 2]));
        round.observe(&mut state, 1, true, Time(0));
        round.observe(&mut state, 1, false, Time(0));
        round.observe(&mut state, 1, true, Time(0));
        assert_eq!(turn(&mut state, 0), [0, 1, 2]);
        fail(&mut state, 1, 0);
        fail(&mut state, 2, 0);
        assert_eq!(turn(&mut state, 99), [0, 2, 0]);
        assert_eq!(turn(&mut state, 100), [1, 2, 0]);
        fail(&mut state, 1, 100);
        assert_eq!(turn(&mut state, 299), [2, 0, 2]);
        assert_eq!(turn(&mut state, 300), [0, 1, 2]);
        let mut four = State::new(4);
        (0..4).for_each(|replica| fail(&mut four, replica, 0));
        assert_eq!(four.replicas.iter().filter(|replica| replica.until > Time(0)).count(), 2);
    }

    /// Where all are left out, all are in.
    #[test]
    fn nobody_is_left_alone() {
        let all = Balancer { ejection: Some(Ejection { consecutive: 1, time: Duration(100), most: 1.0 }), ..balancer(Rule::RoundRobin) };
        let mut state = State::new(2);
        (0..2).for_each(|replica| all.observe(&mut state, replica, true, Time(0)));
        assert_eq!([0, 1].map(|_| all.choose(&mut state, Time(1), |_| 0, [HALF; 2])), [0, 1]);
    }
}
