use super::*;
use crate::measure::random::Draw;

/// From always a ladder to always a heap.
const CROWDS: [usize; 6] = [0, 1, 4, 60, CROWD, usize::MAX];

/// A pending event, in bytes, of which a block on the ladder may be partly empty.
const ENTRY: usize = 24;

#[test]
fn a_pending_event_is_no_larger_than_the_documentation_says() {
    assert!(size_of::<Entry>() <= ENTRY, "{} bytes; {ENTRY} at most", size_of::<Entry>());
    let row = format!("| pending event | {ENTRY} |");
    assert!(include_str!("../../../docs/PERFORMANCE.md").contains(&row), "docs/PERFORMANCE.md has no row `{row}`");
}

fn taken(agenda: &mut Agenda) -> Option<(Time, Event)> {
    agenda.next(Time::NEVER).map(|(at, packed)| (at, packed.event()))
}

/// The order must be that of a plain list, sorted by time, ties as they were added: whatever the rings and the rungs hold.
fn compare_with_a_sorted_list(crowd: usize, rounds: u32, delay: impl Fn(Draw) -> u64) {
    let (mut agenda, mut list, mut draw) = (Agenda::new(2, crowd), Vec::new(), Draw(1));
    let mut now = Time(0);
    for round in 0..rounds {
        draw = draw.next();
        let at = Time(now.0.saturating_add(delay(draw)));
        let event = Event::Retry(round, 0);
        match draw.next().up_to(2) {
            0 => agenda.add(at, event),
            ring => {
                let entry = agenda.entry(at, event);
                agenda.put_in_order(ring as usize - 1, entry);
            }
        }
        let place = list.partition_point(|(earlier, _)| *earlier <= at);
        list.insert(place, (at, event));
        // Long stretches in which the list grows, and as long ones in which it shrinks.
        let takes = if round / 300 % 2 == 0 { draw.next().next().up_to(1) } else { 1 + draw.next().next().up_to(1) };
        for _ in 0..takes.min(list.len() as u64) {
            let expected = list.remove(0);
            assert_eq!(taken(&mut agenda), Some(expected), "crowd {crowd}, round {round}");
            now = expected.0;
        }
    }
    let rest: Vec<_> = std::iter::from_fn(|| taken(&mut agenda)).collect();
    assert_eq!(rest, list, "crowd {crowd}");
}

#[test]
fn agrees_with_a_sorted_list() {
    for crowd in CROWDS {
        compare_with_a_sorted_list(crowd, 10_000, |draw| draw.up_to(50));
        compare_with_a_sorted_list(crowd, 10_000, |draw| draw.up_to(3) * draw.next().up_to(1 << 20));
    }
}

/// From a nanosecond to hours, each decade as likely, and Pareto's law with an infinite variance.
#[test]
fn agrees_with_a_sorted_list_over_ten_decades() {
    for crowd in CROWDS {
        compare_with_a_sorted_list(crowd, 5_000, |draw| 10u64.pow(draw.next().up_to(13) as u32) + draw.up_to(9));
        compare_with_a_sorted_list(crowd, 5_000, |draw| (1000.0 * libm::pow(draw.uniform(), -1.0 / 1.1)) as u64);
    }
}

/// Up to the last nanosecond that there is: the highest digit, and all others.
#[test]
fn time_ends_where_it_ends() {
    for crowd in CROWDS {
        let mut agenda = Agenda::new(0, crowd);
        let ends: Vec<u64> = (0..64).map(|shift| u64::MAX >> shift).collect();
        for (index, end) in (0..).zip(&ends) {
            agenda.add(Time(*end), Event::Epoch(index));
        }
        let times: Vec<u64> = std::iter::from_fn(|| taken(&mut agenda)).map(|(at, _)| at.0).collect();
        // What comes at the end itself, Time::NEVER, never comes.
        assert_eq!(times, ends.into_iter().skip(1).rev().collect::<Vec<_>>());
    }
}

/// A herd that comes at one instant, and again at that instant, and again later: in order, and not in the square of the time.
#[test]
fn a_million_at_one_instant_keep_their_order() {
    let count = 1_000_000u32;
    for crowd in [60, CROWD] {
        let mut agenda = Agenda::new(1, crowd);
        let later = Time(7_000_000_000);
        (0..count).for_each(|index| agenda.add(later, Event::Epoch(index)));
        for index in 0..count {
            assert_eq!(taken(&mut agenda), Some((later, Event::Epoch(index))));
            agenda.add(later, Event::Deliver(index));
        }
        for index in 0..count {
            assert_eq!(taken(&mut agenda), Some((later, Event::Deliver(index))));
            agenda.add(Time(2 * later.0), Event::Write(index));
        }
        assert!((0..count).all(|index| taken(&mut agenda) == Some((Time(2 * later.0), Event::Write(index)))));
        assert_eq!(taken(&mut agenda), None);
    }
}

/// Where a ring's events come between those of the rungs, what is added then is between them too.
#[test]
fn a_ring_that_comes_first_leaves_the_rungs_as_they_are() {
    for crowd in CROWDS {
        let mut agenda = Agenda::new(1, crowd);
        (0..200).for_each(|index| agenda.add(Time(1 << 40 | u64::from(index) << 33), Event::Epoch(index)));
        let mut previous = Time::ZERO;
        for step in 1..4000u64 {
            let entry = agenda.entry(Time(step << 29), Event::Deliver(0));
            agenda.put_in_order(0, entry);
            let (at, event) = taken(&mut agenda).unwrap();
            assert!(at >= previous, "time goes back from {previous} to {at}, crowd {crowd}");
            previous = at;
            if event == Event::Deliver(0) {
                agenda.add(Time(at.0 + ((step % 7) << 27)), Event::Write(0));
            }
        }
    }
}

#[test]
fn nothing_comes_at_or_after_the_end() {
    for crowd in CROWDS {
        let mut agenda = Agenda::new(1, crowd);
        agenda.add(Time(5), Event::Epoch(0));
        let entry = agenda.entry(Time(4), Event::Epoch(1));
        agenda.put_in_order(0, entry);
        assert_eq!(agenda.next(Time(4)), None);
        assert_eq!(agenda.next(Time(5)).map(|(at, packed)| (at, packed.event())), Some((Time(4), Event::Epoch(1))));
        assert_eq!(agenda.next(Time(5)), None);
    }
}
