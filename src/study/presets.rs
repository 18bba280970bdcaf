//! Presets: what well-known clients and proxies do, as data. `presets/*.toml` has one table a mechanism; adding one needs no Rust.

use std::sync::LazyLock;

use super::scenario::diagnostics::{Place, nearest};
use super::scenario::node::{Entry, Node, Value};
use super::scenario::reader::{Context, Fields};
use super::scenario::scalars::text;

/// The files of `presets/`, by name.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/presets.rs"));

/// What one mechanism does by default, in one version, at one date.
#[derive(Clone, Debug)]
pub struct Preset {
    /// What a policy writes: `{ preset = "grpc" }`.
    pub name: String,
    /// What it is.
    pub title: String,
    /// The version that was looked at.
    pub version: String,
    /// Since when it behaves so, or when it was looked at: year, month, day.
    pub date: String,
    /// Where the facts come from.
    pub source: String,
    /// Who shares what the budget or breaker counts, in the original's words; empty where nothing is shared.
    pub scope: String,
    /// What the original does that is not modelled.
    pub leaves_out: String,
    /// The table of the policy.
    policy: Node,
}

/// All presets, in the order of the files.
pub fn presets() -> &'static [Preset] {
    static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| FILES.iter().flat_map(|(file, text)| read(file, text)).collect());
    &PRESETS
}

/// The preset of a name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    presets().iter().find(|preset| preset.name == name)
}

/// Names that are shown where none is meant for sure.
const MOST_NAMES: usize = 12;

/// Which presets have names like this one, and where all of them are.
fn nearest_names(name: &str) -> String {
    let names = || presets().iter().map(|preset| preset.name.as_str());
    let alike: Vec<String> = names().filter(|known| known.contains(name)).take(MOST_NAMES).map(|known| format!("`{known}`")).collect();
    let all = "`retrystorm list --presets` has them all";
    match nearest(name, names()) {
        _ if !name.is_empty() && !alike.is_empty() => format!("did you mean {}? {all}", alike.join(", ")),
        Some(known) => format!("did you mean `{known}`? {all}"),
        None => all.to_owned(),
    }
}

/// That there is no preset of this name, and which ones have names like it.
pub fn unknown(name: &str) -> String {
    format!("there is no preset `{name}`: {}", nearest_names(name))
}

fn read(file: &str, text: &str) -> Vec<Preset> {
    let (mut tree, problems) = Node::parse(text, 0);
    assert!(problems.is_empty(), "presets/{file}.toml: {problems:?}");
    let Value::Table(entries) = &mut tree.value else { return Vec::new() };
    let files = Default::default();
    let mut context = Context::new(None, &files);
    let found = entries.iter_mut().filter_map(|entry| one(&mut context, entry)).collect();
    assert!(context.problems.is_empty(), "presets/{file}.toml: {:?}", context.problems);
    found
}

fn one(context: &mut Context, entry: &mut Entry) -> Option<Preset> {
    let name = entry.key.clone();
    let mut fields = Fields::open(context, &mut entry.node, format!("the preset `{name}`"))?;
    let title = fields.required(context, "title", "\"...\"", self::text);
    let version = fields.required(context, "version", "\"1.0\"", self::text);
    let date = fields.required(context, "date", "\"2026-11-30\"", self::text);
    let source = fields.required(context, "source", "\"...\"", self::text);
    let scope = fields.or(context, "scope", "", self::text);
    let leaves_out = fields.required(context, "leaves_out", "\"...\"", self::text);
    let policy = fields.required(context, "policy", "{ attempts = 3 }", |_, node| Some(node.clone()));
    fields.finish(context);
    Some(Preset {
        name,
        title: title?,
        version: version?,
        date: date?,
        source: source?,
        scope: scope?,
        leaves_out: leaves_out?,
        policy: policy?,
    })
}

impl Preset {
    /// The table of the policy, as TOML on one line.
    pub fn policy(&self) -> String {
        super::scenario::writer::inline(&self.policy)
    }
}

/// Writes into the table of a policy what its preset says and it does not. None where there is no such preset, which is reported.
pub fn expand(context: &mut Context, node: &mut Node) -> Option<()> {
    let Some(written) = node.get_mut("preset") else { return Some(()) };
    let place = written.place;
    let name = text(context, written)?;
    let Some(preset) = preset(&name) else {
        return context.refuse(place, format!("there is no preset `{name}`"), nearest_names(&name));
    };
    let Value::Table(own) = &mut node.value else { return Some(()) };
    for entry in preset.policy.entries().unwrap_or_default() {
        if !own.iter().any(|known| is_said_by(&entry.key, &known.key)) {
            let mut node = entry.node.clone();
            node.place_all(place);
            own.push(Entry { key: entry.key.clone(), place, node });
        }
    }
    Some(())
}

/// Whether the key of a preset gives way to this key of the policy.
fn is_said_by(key: &str, written: &str) -> bool {
    let says = |key: &str| if key == "retries" { "attempts".to_owned() } else { key.to_owned() };
    says(key) == says(written)
}

/// A preset as the table of a policy that has nothing else, in TOML.
pub fn written(name: &str) -> String {
    let place = Place::default();
    let entry = Entry { key: "preset".into(), place, node: Node { value: Value::from(name), place } };
    super::scenario::writer::inline(&Node { value: Value::Table(vec![entry]), place })
}
