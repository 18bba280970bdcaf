//! Embeds every scenario of `scenarios/` and every preset of `presets/`, so that adding one needs no Rust and an installed binary has
//! them all.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    embed("scenarios", "curated.rs");
    embed("presets", "presets.rs");
}

/// Writes a list of the names and texts of a folder's TOML files.
fn embed(folder: &str, written: &str) {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join(folder);
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(&folder).expect("the folder is part of the source");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut list = String::from("&[\n");
    for path in files {
        let name = path.file_stem().expect("it has an extension").to_string_lossy();
        writeln!(list, "    ({name:?}, include_str!({:?})),", path.display().to_string()).expect("a text takes all");
    }
    list.push(']');
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join(written);
    fs::write(out, list).expect("the build folder is writable");
}
