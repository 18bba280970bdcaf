//! A scenario file as a whole: its sections in order, what `--set` changes, and what the comparison, the claims and the charts name.

use std::path::Path;
use std::sync::Arc;

use super::Scenario;
use super::build::build;
use super::charts::{Names, chart};
use super::diagnostics::{Place, Problem, Source, Sources};
use super::files::Files;
use super::node::{Node, Value};
use super::path;
use super::reader::{Context, Fields};
use super::run::{RunSettings, Times, run};
use super::scalars::{list, text};
use crate::study::chart::Chart;
use crate::study::compare::{self, Axis, AxisValue, MOST_CELLS, cells};
use crate::study::expect::{Expectation, expectation};
use crate::study::follow::{follow, is_fixed, restore};
use crate::study::metrics::{metric_names, series_names};
use crate::world::model::Model;

/// Problems with the texts they are in.
pub struct Findings {
    /// The texts.
    pub sources: Arc<Sources>,
    /// The problems.
    pub problems: Vec<Problem>,
}

/// Reads a scenario but for the models of its cells.
pub fn read(name: &str, text: &str, folder: Option<&Path>, overrides: &[String]) -> (Option<Scenario>, Findings) {
    let file = format!("{name}.toml");
    let shown = folder.map_or_else(|| file.clone(), |folder| folder.join(&file).display().to_string());
    let texts = std::iter::once(Source { name: shown, text: text.to_owned() });
    let arguments = overrides.iter().map(|argument| Source { name: "--set".into(), text: argument.clone() });
    let sources = Arc::new(Sources(texts.chain(arguments).collect()));
    let files = Files::default();
    let mut context = Context::new(folder, &files);
    let (mut tree, problems) = Node::parse(text, 0);
    if !problems.is_empty() {
        return (None, Findings { sources, problems });
    }
    let overridden = apply(&mut context, &mut tree, overrides);
    let mut explained = tree.clone();
    let parts = sections(&mut context, &mut explained, name, &overridden);
    // The base is a model of its own: `explain` shows it, and an axis that changes nothing compares with it.
    let problems = context.problems;
    let scenario = parts.map(|parts| Scenario {
        name: name.to_owned(),
        title: parts.title,
        story: parts.story,
        text: text.to_owned(),
        run: parts.run,
        cells: cells(&parts.axes),
        axes: parts.axes,
        expectations: parts.expectations,
        charts: parts.charts,
        tree,
        explained,
        sources: Arc::clone(&sources),
        folder: folder.map(Path::to_owned),
        files: files.clone(),
    });
    (scenario, Findings { sources, problems })
}

/// The names of a section's tables.
pub fn names(tree: &Node, section: &str) -> Vec<String> {
    tree.get(section).and_then(Node::entries).unwrap_or(&[]).iter().map(|entry| entry.key.clone()).collect()
}

/// The model of a tree, with the times of its [run].
pub fn model(context: &mut Context, tree: &mut Node) -> Option<Model> {
    let metrics = metric_names(&names(tree, "service"));
    complete(tree);
    let times = tree.get_mut("run").and_then(|node| run(context, node, &metrics)).map(|(times, _)| times);
    build(context, tree, times)
}

/// Adds the sections that a model reads and that may be left out.
fn complete(tree: &mut Node) {
    let place = tree.place;
    if let Value::Table(entries) = &mut tree.value {
        for section in ["run", "policy", "link"] {
            if !entries.iter().any(|entry| entry.key == section) {
                let node = Node { value: Value::empty_table(), place };
                entries.push(super::node::Entry { key: section.to_owned(), place, node });
            }
        }
    }
}

/// What `--set` sets: paths and values, which the tree then has.
fn apply(context: &mut Context, tree: &mut Node, overrides: &[String]) -> Vec<(String, Node)> {
    let mut overridden = Vec::new();
    for (source, argument) in (1..).zip(overrides) {
        let whole = Place { source, start: 0, end: argument.len() };
        let Some((path, value)) = argument.split_once('=') else {
            context.problem(whole, format!("`{argument}` sets nothing"), "write PATH=VALUE, such as service.api.workers=50");
            continue;
        };
        let place = Place { source, start: 0, end: path.len() };
        let node = match Node::parse_value(value, source, path.len() + 1) {
            Ok(node) => node,
            Err(problems) => {
                context.problems.extend(problems);
                continue;
            }
        };
        let set = path::segments(path).and_then(|segments| tree.set(&segments, node.clone()).map(|()| path::canonical(&segments)));
        match set {
            Ok(path) => overridden.push((path, node)),
            Err((message, help)) => context.problem(place, message, help),
        }
    }
    overridden
}

struct Parts {
    title: String,
    story: String,
    run: RunSettings,
    axes: Vec<Axis>,
    expectations: Vec<Expectation>,
    charts: Vec<Chart>,
}

fn sections(context: &mut Context, tree: &mut Node, name: &str, overridden: &[(String, Node)]) -> Option<Parts> {
    let before = tree.clone();
    let services = names(tree, "service");
    let (metrics, series) = (metric_names(&services), series_names(&services));
    let title;
    let story;
    let settings: Option<(Times, RunSettings)>;
    {
        let mut fields = Fields::open(context, tree, "the scenario")?;
        title = fields.or(context, "title", name, text);
        story = fields.or(context, "story", "", text);
        settings = fields.or(context, "run", Value::empty_table(), |context, node| run(context, node, &metrics));
        // A required section that is missing is reported where the model is built.
        fields.optional(context, "clients", |_, _| Some(()));
        fields.or(context, "policy", Value::empty_table(), |_, _| Some(()));
        fields.optional(context, "service", |_, _| Some(()));
        fields.or(context, "link", Value::empty_table(), |_, _| Some(()));
        for section in ["fault", "compare", "expect", "chart"] {
            fields.optional(context, section, |_, _| Some(()));
        }
        fields.finish(context);
    }
    build(context, tree, settings.as_ref().map(|(times, _)| *times));
    let (axes, written) = axes(context, tree, &before, overridden);
    let names = Names { metrics: &metrics, series: &series, axes: &written, scenario: name };
    let model = tree.clone();
    let is_changed = overridden.iter().any(|(path, _)| !path.starts_with("run."));
    let mut expectations = tables(context, tree, "expect", |context, node| {
        let is_fixed = is_changed && is_fixed(node);
        claim(context, node, &names, (&model, &axes)).map(|read| Expectation { is_fixed, ..read })
    });
    let mut charts = tables(context, tree, "chart", |context, node| chart(context, node, &names));
    let has =
        |(path, csv): &(String, String)| axes.iter().any(|axis| axis.path == *path && axis.values.iter().any(|value| value.csv == *csv));
    retain(tree, "expect", &mut expectations, |expectation| expectation.filter.iter().chain(expectation.compared_with()).all(has));
    retain(tree, "chart", &mut charts, |chart| chart.filter.iter().all(has));
    Some(Parts { title: title?, story: story?, run: settings?.1, axes, expectations, charts })
}

/// A claim, with what the model and its axes say in place of each path in its closed form.
fn claim(context: &mut Context, node: &mut Node, names: &Names, (model, axes): (&Node, &[Axis])) -> Option<Expectation> {
    let before = context.problems.len();
    let followed = follow(context, node, model, axes);
    let misled: Vec<Place> = context.problems[before..].iter().map(|problem| problem.place).collect();
    let known = context.problems.len();
    let read = expectation(context, node, names.metrics, names.axes);
    // A path that leads nowhere is no number either: that would be the same news twice.
    let news = context.problems.split_off(known);
    context.problems.extend(news.into_iter().filter(|problem| !misled.contains(&problem.place)));
    restore(node, followed);
    read
}

/// The axes, and what they were before `--set` left one value of some: what the claims and charts may name.
fn axes(context: &mut Context, tree: &mut Node, before: &Node, overridden: &[(String, Node)]) -> (Vec<Axis>, Vec<Axis>) {
    let found = tree.get("compare").map(|node| compare::axes(context, node)).unwrap_or_default();
    for (axis, place) in &found {
        let reached = path::segments(&axis.path).and_then(|segments| {
            comparable(&segments)?;
            before.clone().set(&segments, axis.values[0].node.clone())
        });
        if let Err((message, help)) = reached {
            context.problem(*place, message, help);
        }
    }
    let mut written: Vec<Axis> = found.into_iter().map(|(axis, _)| axis).collect();
    let mut axes = written.clone();
    for (axis, written) in axes.iter_mut().zip(&mut written) {
        if let Some((_, node)) = overridden.iter().rev().find(|(path, _)| *path == axis.path) {
            let value = AxisValue::new(&axis.path, node.clone());
            if !written.values.iter().any(|known| known.csv == value.csv) {
                written.values.push(value.clone());
            }
            axis.values = vec![value];
        }
    }
    let product = axes.iter().fold(1usize, |product, axis| product.saturating_mul(axis.values.len()));
    if product > MOST_CELLS {
        axes.clear();
    }
    explain_axes(tree, &axes);
    (axes, written)
}

/// What of a run is the same for all cells, because they are compared run by run.
fn comparable(segments: &[String]) -> Result<(), path::PathError> {
    match segments {
        [run, key, ..] if run == "run" && ["seed", "replications", "precision"].contains(&key.as_str()) => {
            Err((format!("`run.{key}` is the same for all cells"), "cells are compared run by run: set it in [run]".into()))
        }
        _ => Ok(()),
    }
}

/// In the explained scenario an axis that `--set` set has one value.
fn explain_axes(tree: &mut Node, axes: &[Axis]) {
    let Some(compare) = tree.get_mut("compare") else { return };
    let entry = |axis: &Axis| super::node::Entry {
        key: axis.path.clone(),
        place: compare.place,
        node: Node { value: Value::List(axis.values.iter().map(|value| value.node.clone()).collect()), place: compare.place },
    };
    compare.value = Value::Table(axes.iter().map(entry).collect());
}

fn tables<T>(context: &mut Context, tree: &mut Node, section: &str, mut read: impl FnMut(&mut Context, &mut Node) -> Option<T>) -> Vec<T> {
    let Some(node) = tree.get_mut(section) else {
        return Vec::new();
    };
    match list(context, node, &format!("[[{section}]]")) {
        Some(nodes) => nodes.iter_mut().filter_map(|node| read(context, node)).collect(),
        None => Vec::new(),
    }
}

/// Takes out the items, and their tables in the tree, whose values `--set` took away.
fn retain<T>(tree: &mut Node, section: &str, items: &mut Vec<T>, keep: impl Fn(&T) -> bool) {
    let kept: Vec<bool> = items.iter().map(&keep).collect();
    items.retain(keep);
    if let Some(Node { value: Value::List(nodes), .. }) = tree.get_mut(section) {
        let mut flags = kept.into_iter();
        nodes.retain(|_| flags.next().unwrap_or(true));
    }
}
