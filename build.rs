//! Embeds every scenario of `scenarios/`, those of the papers below it with their published figures, and every preset of `presets/`, so
//! that adding one needs no Rust and an installed binary has them all.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    embed(&[("", "scenarios")], "toml", "curated.rs");
    embed(&[("", "presets")], "toml", "presets.rs");
    let papers: Vec<(String, String)> = entries("scenarios/paper")
        .into_iter()
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().expect("a folder has a name").to_string_lossy().to_string())
        .map(|paper| (format!("paper/{paper}/"), format!("scenarios/paper/{paper}")))
        .collect();
    let papers: Vec<(&str, &str)> = papers.iter().map(|(prefix, folder)| (prefix.as_str(), folder.as_str())).collect();
    println!("cargo::rerun-if-changed=scenarios/paper");
    embed(&papers, "toml", "papers.rs");
    embed(&papers, "csv", "published.rs");
}

/// Writes a list of the names, each after its prefix, and the texts of the files of some folders.
fn embed(folders: &[(&str, &str)], extension: &str, written: &str) {
    let mut list = String::from("&[\n");
    for (prefix, folder) in folders {
        println!("cargo::rerun-if-changed={folder}");
        for path in entries(folder).into_iter().filter(|path| path.extension().is_some_and(|found| found == extension)) {
            let name = format!("{prefix}{}", path.file_stem().expect("it has an extension").to_string_lossy());
            writeln!(list, "    ({name:?}, include_str!({:?})),", path.display().to_string()).expect("a text takes all");
        }
    }
    list.push(']');
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join(written);
    fs::write(out, list).expect("the build folder is writable");
}

/// What is in a folder of the source, in the order of the names.
fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join(folder);
    let mut entries: Vec<_> =
        fs::read_dir(&folder).expect("the folder is part of the source").map(|entry| entry.expect("readable").path()).collect();
    entries.sort();
    entries
}
