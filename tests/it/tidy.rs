//! What the source must be like: floors, sizes, words.

use std::fs;
use std::path::{Path, PathBuf};

/// The floor of each folder or file of `src`; a file uses only its own floor or lower ones.
const FLOORS: [(&str, usize); 10] = [
    ("measure", 0),
    ("retry", 1),
    ("service", 1),
    ("load", 1),
    ("link", 1),
    ("world", 2),
    ("study", 3),
    ("report", 4),
    ("cli", 5),
    ("main", 6),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().to_string();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                folders.push(path);
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn floor(name: &str) -> Option<usize> {
    FLOORS.iter().find(|(known, _)| *known == name).map(|(_, floor)| *floor)
}

#[test]
fn every_file_uses_only_its_own_floor_or_lower_ones() {
    for path in files(&root().join("src"), ".rs") {
        let inside = path.strip_prefix(root().join("src")).unwrap();
        let first = inside.components().next().unwrap().as_os_str().to_string_lossy().replace(".rs", "");
        if first == "lib" {
            continue;
        }
        let own = floor(&first).unwrap_or_else(|| panic!("{} is on no floor", path.display()));
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for used in line.split("crate::").skip(1) {
                let name: String = used.trim_start_matches('{').chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if let Some(other) = floor(&name) {
                    assert!(other <= own, "{}:{}: floor {own} uses `{name}` of floor {other}", inside.display(), number + 1);
                }
            }
        }
    }
}

#[test]
fn files_and_lines_are_short() {
    for path in files(&root().join("src"), ".rs").into_iter().chain(files(&root().join("tests"), ".rs")) {
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        assert!(lines <= 400, "{} has {lines} lines; 400 at most", path.display());
        for (number, line) in text.lines().enumerate() {
            assert!(line.chars().count() <= 170, "{}:{} is longer than 170 characters", path.display(), number + 1);
        }
    }
}

/// A function ends where a brace closes at the depth at which it began. Formatted code makes that the indentation.
#[test]
fn functions_have_sixty_lines_at_most() {
    for path in files(&root().join("src"), ".rs") {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let trimmed = line.trim_start();
            let indent = line.len() - trimmed.len();
            let starts = ["fn ", "pub fn ", "pub(super) fn ", "pub(crate) fn "].iter().any(|start| trimmed.starts_with(start));
            if starts && !line.trim_end().ends_with(['}', ';']) {
                let end = lines[number..].iter().position(|line| *line == format!("{}}}", " ".repeat(indent))).unwrap_or(0);
                assert!(end < 60, "{}:{}: a function of {} lines; 60 at most", path.display(), number + 1, end + 1);
            }
        }
    }
}

/// Words and paths that do not belong here, and what the floors 0 to 3 must not use.
#[test]
fn nothing_forbidden_stands_in_the_source() {
    for path in files(&root().join("src"), ".rs") {
        let text = fs::read_to_string(&path).unwrap();
        let inside = path.strip_prefix(root().join("src")).unwrap().display().to_string();
        for word in ["HashMap", "HashSet", "TODO", "FIXME", "unsafe ", "use crate::{"] {
            assert!(!text.contains(word), "{inside} has `{word}`");
        }
        if !inside.starts_with("cli") {
            for word in ["Instant", "SystemTime", "println!", "eprintln!"] {
                assert!(!text.contains(word), "{inside} has `{word}`: only the door knows the clock and the terminal");
            }
        }
    }
}

#[test]
fn the_changelog_knows_the_version() {
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    assert!(changelog.contains(&format!("## {}", env!("CARGO_PKG_VERSION"))));
}
