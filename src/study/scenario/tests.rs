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
