//! Embeds every scenario of `scenarios/`, so that adding one needs no Rust and an installed binary has them all.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("scenarios");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> =
        fs::read_dir(&folder).expect("scenarios/ is part of the source").map(|entry| entry.expect("readable").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut list = String::from("&[\n");
    for path in files {
        let name = path.file_stem().expect("it has an extension").to_string_lossy();
        writeln!(list, "    ({name:?}, include_str!({:?})),", path.display().to_string()).expect("a text takes all");
    }
    list.push(']');
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("curated.rs");
    fs::write(out, list).expect("the build folder is writable");
}
