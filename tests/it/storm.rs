//! The theory of the storm over a grid of attempts and loads: A lambda against mu decides, and the backlog says when.

use crate::support::{curated, study, values};

/// Attempts a second that the service of `storm_rule` can do, the timeout, and how long the fault holds them back.
const MU: f64 = 100.0;
const TIMEOUT: f64 = 1.0;
const HELD: f64 = 40.0;

#[test]
fn attempts_times_load_against_capacity_decides() {
    let scenario = curated("storm_rule", &[]);
    let study = study(&scenario);
    let (mut cells, mut times) = (0, 0);
    for cell in &scenario.cells {
        let value = |axis: usize| scenario.axes[axis].values[cell.values[axis]].csv.parse::<f64>().unwrap();
        let (attempts, load) = (value(0), value(1));
        assert!((attempts * load / MU - 1.0).abs() > 0.03, "within 3 % of the line chance decides");
        let stuck = attempts * load > MU;
        for (verdict, right) in [("stuck", stuck), ("recovered", !stuck)] {
            let found = values(&study, cell.index, verdict);
            assert!(found.iter().all(|value| (*value == 1.0) == right), "{attempts} attempts at {load}/s: {verdict} {found:?}");
        }
        cells += 1;
        // What is held when the fault ends: the first attempts of all calls of its time, the second of all but the last second's, and so on.
        let backlog = load * (attempts * HELD - TIMEOUT * attempts * (attempts - 1.0) / 2.0);
        if !stuck && backlog > 1000.0 {
            let times_found = values(&study, cell.index, "recovery_time");
            let found = times_found.iter().sum::<f64>() / times_found.len() as f64;
            let theory = (backlog - MU * TIMEOUT) / (MU - attempts * load);
            println!("{attempts} attempts at {load}/s: {found:.1} s, theory {theory:.1} s");
            assert!((found / theory - 1.0).abs() < 0.1, "{attempts} attempts at {load}/s: {found} s, theory {theory} s");
            times += 1;
        }
    }
    assert!(cells >= 25 && times >= 12, "{cells} cells, {times} times");
}
