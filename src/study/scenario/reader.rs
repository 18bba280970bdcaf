//! Reading a tree: every problem is collected, and every default is written into the tree where it was left out, so that the tree that
//! was read is the whole model in words.

use std::path::Path;

use super::diagnostics::{Place, Problem, did_you_mean, nearest};
use super::files::Files;
use super::node::{Entry, Node, Value};

/// What the readers share: the problems found so far, and the files they may look into.
pub struct Context<'a> {
    /// What is wrong, in the order it was found.
    pub problems: Vec<Problem>,
    /// The folder that names of files are relative to; None for a scenario that has none.
    pub folder: Option<&'a Path>,
    /// Columns that were read before.
    pub files: &'a Files,
}

impl<'a> Context<'a> {
    /// Nothing is wrong yet.
    pub fn new(folder: Option<&'a Path>, files: &'a Files) -> Context<'a> {
        Context { problems: Vec::new(), folder, files }
    }

    /// Something is wrong.
    pub fn problem(&mut self, place: Place, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Problem { place, message: message.into(), help: help.into(), note: None });
    }

    /// Something is wrong, and so there is no value.
    pub fn refuse<T>(&mut self, place: Place, message: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.problem(place, message, help);
        None
    }

    /// The value, or the problem that a parser reports as `what is wrong; what to write`.
    pub fn check<T>(&mut self, place: Place, result: Result<T, String>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(text) => {
                let (message, help) = text.split_once("; ").unwrap_or((&text, "write a value that fits"));
                self.refuse(place, message, help)
            }
        }
    }
}

/// A table that is being read: it knows which keys were asked for.
pub struct Fields<'n> {
    entries: &'n mut Vec<Entry>,
    /// Where the table stands.
    pub place: Place,
    what: String,
    known: Vec<&'static str>,
    missing: Vec<(&'static str, String)>,
}

impl<'n> Fields<'n> {
    /// Opens a table; `what` names it in messages.
    pub fn open(context: &mut Context, node: &'n mut Node, what: impl Into<String>) -> Option<Fields<'n>> {
        let what = what.into();
        let (place, kind) = (node.place, node.value.kind());
        match &mut node.value {
            Value::Table(entries) => Some(Fields { entries, place, what, known: Vec::new(), missing: Vec::new() }),
            _ => context.refuse(place, format!("{what} must be a table, not {kind}"), "write a table: { key = value, ... }"),
        }
    }

    /// Whether the key is written.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// Whether the key is written, and not as an empty list.
    pub fn has_some(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key && entry.node.value != Value::List(Vec::new()))
    }

    /// The value of a key, where it is written.
    pub fn value(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The place of a key's value; of the table where it is left out.
    pub fn place_of(&self, key: &str) -> Place {
        self.entries.iter().find(|entry| entry.key == key).map_or(self.place, |entry| entry.node.place)
    }

    /// A key that must be there. `example` is a value to show where it is not.
    pub fn required<T>(
        &mut self,
        context: &mut Context,
        key: &'static str,
        example: &str,
        read: impl FnOnce(&mut Context, &mut Node) -> Option<T>,
    ) -> Option<T> {
        self.known.push(key);
        match self.entries.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => read(context, &mut entry.node),
            None => {
                self.missing.push((key, format!("add `{key} = {example}`")));
                None
            }
        }
    }

    /// A key that may be left out. The outer option is None where it is wrong.
    pub fn optional<T>(
        &mut self,
        context: &mut Context,
        key: &'static str,
        read: impl FnOnce(&mut Context, &mut Node) -> Option<T>,
    ) -> Option<Option<T>> {
        self.known.push(key);
        match self.entries.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => read(context, &mut entry.node).map(Some),
            None => Some(None),
        }
    }

    /// A key that is written with its default where it is left out.
    pub fn or<T>(
        &mut self,
        context: &mut Context,
        key: &'static str,
        default: impl Into<Value>,
        read: impl FnOnce(&mut Context, &mut Node) -> Option<T>,
    ) -> Option<T> {
        if !self.has(key) {
            let node = Node { value: default.into(), place: self.place };
            self.entries.push(Entry { key: key.to_owned(), place: self.place, node });
        }
        self.required(context, key, "", read)
    }

    /// Replaces a key by another that says the same.
    pub fn replace(&mut self, key: &str, by: &str, value: Value) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.key == key) {
            entry.key = by.to_owned();
            entry.node.value = value;
        }
    }

    /// The keys that nobody asked for so far: names that the scenario gives.
    pub fn others(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries.iter_mut().filter(|entry| !self.known.contains(&entry.key.as_str()))
    }

    /// The end: unknown keys are problems, and the known ones now stand in the order they were read.
    pub fn finish(self, context: &mut Context) {
        let unknown: Vec<&Entry> = self.entries.iter().filter(|entry| !self.known.contains(&entry.key.as_str())).collect();
        for entry in &unknown {
            context.problem(entry.place, format!("{} has no key `{}`", self.what, entry.key), did_you_mean(&entry.key, &self.known));
        }
        for (key, help) in self.missing {
            // Where a key is misspelt, that it is missing too would be the same news twice.
            if !unknown.iter().any(|entry| nearest(&entry.key, self.known.iter().copied()) == Some(key)) {
                context.problem(self.place, format!("{} has no `{key}`", self.what), help);
            }
        }
        let rank = |entry: &Entry| self.known.iter().position(|key| *key == entry.key);
        self.entries.sort_by_key(|entry| rank(entry).unwrap_or(usize::MAX));
    }
}

/// One variant of an externally tagged choice.
#[derive(Clone, Copy)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// What stands after the name, as an example; None where the name stands alone.
    pub example: Option<&'static str>,
}

/// A variant that is its name alone: `"none"`.
pub const fn unit(name: &'static str) -> Variant {
    Variant { name, example: None }
}

/// A variant with a value, with an example of it: `{ fixed = { delay = "1s" } }`.
pub const fn tagged(name: &'static str, example: &'static str) -> Variant {
    Variant { name, example: Some(example) }
}

/// The chosen variant and its value. `what` says what is chosen: `a backoff`.
pub fn choose<'n>(
    context: &mut Context,
    node: &'n mut Node,
    what: &str,
    variants: &'static [Variant],
) -> Option<(&'static str, Option<&'n mut Node>)> {
    let place = node.place;
    let names: Vec<&str> = variants.iter().map(|variant| variant.name).collect();
    let write = |variant: &Variant| match variant.example {
        Some(example) => format!("write `{{ {} = {example} }}`", variant.name),
        None => format!("write `\"{}\"`", variant.name),
    };
    let kind = node.value.kind();
    let (written, written_place, value) = match &mut node.value {
        Value::Text(text) => (text.clone(), place, None),
        Value::Table(entries) => {
            let found = entries.len();
            let extra = entries.get(1).map_or(place, |entry| entry.place);
            let (Some(entry), true) = (entries.first_mut(), found == 1) else {
                return context.refuse(extra, format!("{what} is a table with exactly one key, not {found}"), did_you_mean("", &names));
            };
            (entry.key.clone(), entry.place, Some(&mut entry.node))
        }
        _ => {
            let example = variants.last().map(write).unwrap_or_default();
            return context.refuse(place, format!("{what} is not {kind}"), format!("{example}, for one"));
        }
    };
    let Some(variant) = variants.iter().find(|variant| variant.name == written) else {
        return context.refuse(written_place, format!("`{written}` is not {what}"), did_you_mean(&written, &names));
    };
    match (variant.example, &value) {
        (None, Some(_)) => context.refuse(written_place, format!("`{written}` takes no value"), write(variant)),
        (Some(_), None) => context.refuse(written_place, format!("`{written}` needs a value"), write(variant)),
        _ => Some((variant.name, value)),
    }
}
