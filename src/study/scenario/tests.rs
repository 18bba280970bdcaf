use super::*;

fn shared() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            found.push((path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(found.len() >= 8);
    found
}

fn parse(name: &str, text: &str) -> Scenario {
    Scenario::parse(name, text, None, &[]).unwrap_or_else(|error| panic!("{name}:\n{error}"))
}

#[test]
fn every_shared_scenario_loads_and_explains_itself() {
    for (name, text) in shared() {
        let scenario = parse(&name, &text);
        let explained = parse(&name, &scenario.explain());
        assert_eq!(explained.cells, scenario.cells, "{name}");
        assert_eq!(explained.run, scenario.run);
        assert_eq!(explained.expectations, scenario.expectations);
        assert_eq!(explained.charts, scenario.charts);
        for cell in &scenario.cells {
            assert_eq!(explained.model(cell).unwrap(), scenario.model(cell).unwrap(), "{name}\n{}", scenario.explain());
        }
    }
}

const PLAIN: &str = "[run]\nhorizon = '100s'\n[clients.web]\ncalls = 'api'\nload = { open = { rate = '5/s' } }\npolicy = 'standard'\n\
                     [policy.standard]\nretries = 3\n[policy.one]\n[service.api]\ntime = '10ms'\n";

/// The model of the plain scenario with more text.
fn model(more: &str) -> Model {
    let scenario = parse("plain", &format!("{PLAIN}{more}"));
    scenario.model(&scenario.cells[0]).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_is_left_out_takes_its_default() {
    let model = model("");
    assert_eq!((model.warmup.0, model.bin.0, model.groups[0].count), (0, 1_000_000_000, 1));
    let service = crate::service::Service {
        time: crate::measure::distribution::Distribution::Constant(crate::measure::time::Duration(10_000_000)),
        ..crate::service::Service::plain()
    };
    assert_eq!(model.epochs[0].services, [service]);
    let caller = &model.epochs[0].callers[0];
    assert_eq!(caller.link, crate::link::Link::direct());
    assert_eq!(caller.policy, crate::retry::policy::Policy { attempts: Some(4), ..crate::retry::policy::Policy::once() });
    assert_eq!((model.epochs.len(), model.faults.len(), model.callers[0].name.as_str()), (1, 0, "web->api"));
}

#[test]
fn faults_change_numbers_and_change_them_back() {
    let model = model(
        "[[fault]]\nat = '20s'\nfor = '20s'\nset = { 'service.api.workers' = 7, 'clients.web.policy' = 'one' }\n\
         [[fault]]\nat = '30s'\nset = { 'service.api.workers' = 9, 'service.api.queue.limit' = 3, 'link.delay' = '5ms' }\n\
         [[fault]]\nat = '10s'\nfor = '10s'\nset = { 'clients.web.load_factor' = 2 }\n",
    );
    let numbers: Vec<_> = model
        .epochs
        .iter()
        .map(|epoch| (epoch.at.seconds(), epoch.services[0].workers, epoch.services[0].queue_limit, epoch.callers[0].policy.attempts))
        .collect();
    let (four, one) = (Some(4), Some(1));
    assert_eq!(
        numbers,
        [
            (0.0, one, None, four),
            (10.0, one, None, four),
            (20.0, Some(7), None, one),
            (30.0, Some(9), Some(3), one),
            (40.0, Some(9), Some(3), four)
        ]
    );
    assert!(model.epochs[2].callers[0].link.is_direct() && !model.epochs[3].callers[0].link.is_direct());
    let labels: Vec<&str> = model.faults.iter().map(|fault| fault.label.as_str()).collect();
    assert_eq!(labels[..2], ["clients.web.load_factor = 2", "service.api.workers = 7, clients.web.policy = one"]);
    assert_eq!(model.faults[2].until, crate::measure::time::Time::NEVER);
    let crate::load::Load::Open { profile, .. } = &model.groups[0].load else { panic!() };
    assert_eq!(profile.expected(crate::measure::time::Time(100_000_000_000)), 550.0);
}

#[test]
fn axes_are_lists_and_ranges_and_the_first_is_outermost() {
    let text = format!(
        "{PLAIN}[compare]\n'policy.standard.attempts' = [1, 10]\n'service.api.error_rate' = {{ from = 0.0, to = 0.3, step = 0.1 }}\n\
         'service.api.time' = {{ from = '1ms', to = '1s', count = 4, scale = 'log' }}\n'clients.web.load.open.rate' = ['60/min', '2/s']\n"
    );
    let scenario = parse("axes", &text);
    let csv: Vec<Vec<&str>> = scenario.axes.iter().map(|axis| axis.values.iter().map(|value| value.csv.as_str()).collect()).collect();
    assert_eq!(csv[0], ["1", "10"]);
    assert_eq!(csv[1], ["0", "0.1", "0.2", "0.3"]);
    assert_eq!(csv[2], ["0.001", "0.01", "0.1", "1"]);
    assert_eq!(csv[3], ["1", "2"]);
    assert_eq!(scenario.axes[2].values[1].label, "10ms");
    assert_eq!(scenario.cells.len(), 64);
    assert_eq!((&scenario.cells[33].values[..], scenario.cells[33].index), (&[1, 0, 0, 1][..], 33));
    let model = scenario.model(&scenario.cells[33]).unwrap();
    assert_eq!(model.epochs[0].callers[0].policy.attempts, Some(10));
}

#[test]
fn every_distribution_and_load_reads_back_the_same() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("times.csv"), "time,other\n0.25,1\n0.5,2\n").unwrap();
    for time in [
        "'1ms'",
        "{ exponential = { mean = '10ms' } }",
        "{ normal = { mean = '10ms', sd = '1ms' } }",
        "{ lognormal = { median = '10ms', sigma = 1 } }",
        "{ lognormal = { mean = '10ms', p99 = '50ms' } }",
        "{ uniform = { low = '10ms', high = '20ms' } }",
        "{ gamma = { shape = 2, scale = '5ms' } }",
        "{ gamma = { shape = 2, mean = '10ms' } }",
        "{ weibull = { shape = 0.5, mean = '10ms' } }",
        "{ pareto = { shape = 2, minimum = '5ms' } }",
        "{ pareto = { shape = 2, mean = '10ms' } }",
        "{ hyperexponential = [{ share = '90%', mean = '1ms' }, { share = 0.1, mean = '91ms' }] }",
        "{ empirical = { file = 'times.csv' } }",
    ] {
        for load in [
            "{ open = { rate = [['1s', '3/s'], ['2s', '0/s']] } }",
            "{ closed = { think = '1s' } }",
            "{ once = { at = '1s', spread = '2s' } }",
            "{ periodic = { every = '60s' } }",
            "{ trace = { file = 'times.csv', column = 'other' } }",
        ] {
            let text = PLAIN.replace("'10ms'", time).replace("{ open = { rate = '5/s' } }", load);
            let scenario = Scenario::parse("one", &text, Some(folder.path()), &[]).unwrap_or_else(|error| panic!("{error}"));
            let again = Scenario::parse("one", &scenario.explain(), Some(folder.path()), &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again.model(&again.cells[0]).unwrap(), scenario.model(&scenario.cells[0]).unwrap());
        }
        let mean = model(&format!("[link]\ndelay = {}", if time.contains("file") { "'10ms'" } else { time })).epochs[0].callers[0]
            .link
            .delay
            .mean();
        assert!((0.001..=0.02).contains(&mean), "{time} has the mean {mean}");
    }
}

/// Models are built in many threads, and errors travel up to the command line.
#[test]
fn scenarios_and_errors_may_cross_threads() {
    fn crosses<T: Send + Sync + 'static>() {}
    crosses::<Scenario>();
    crosses::<ScenarioError>();
}
