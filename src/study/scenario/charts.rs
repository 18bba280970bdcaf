//! Reader of the `[[chart]]` tables.

use super::diagnostics::did_you_mean;
use super::node::{Node, Value};
use super::reader::{Context, Fields};
use super::scalars::{list, one_of, text};
use crate::study::chart::{Chart, ChartKind, Scale};
use crate::study::compare::{Axis, filter, known_axis};
use crate::study::reference::{self, PublishedSeries};

const KINDS: &[(&str, ChartKind)] = &[
    ("lines", ChartKind::Lines),
    ("timeline", ChartKind::Timeline),
    ("bars", ChartKind::Bars),
    ("latency", ChartKind::Latency),
    ("layers", ChartKind::Layers),
    ("heatmap", ChartKind::Heatmap),
    ("hysteresis", ChartKind::Hysteresis),
];

const SCALES: &[(&str, Scale)] = &[("auto", Scale::Auto), ("linear", Scale::Linear), ("log", Scale::Log)];

/// What a chart may name.
pub struct Names<'a> {
    /// The metrics of the model.
    pub metrics: &'a [String],
    /// Its series over time.
    pub series: &'a [String],
    /// The axes of the comparison.
    pub axes: &'a [Axis],
    /// The scenario's own name, which says where its files are.
    pub scenario: &'a str,
}

/// One chart from its table.
pub fn chart(context: &mut Context, node: &mut Node, names: &Names) -> Option<Chart> {
    let mut fields = Fields::open(context, node, "[[chart]]")?;
    let place = fields.place;
    let kind = fields.required(context, "kind", "\"timeline\"", one_of(KINDS));
    let x_place = fields.place_of("x");
    let x = fields.optional(context, "x", |context, node| known_axis(context, node, names.axes));
    let y = fields.optional(context, "y", |context, node| up_the_side(context, node, kind?, names));
    let value_place = fields.place_of("value");
    let value = fields.optional(context, "value", |context, node| known(context, node, names.metrics, "metric"));
    let filter = fields.optional(context, "where", |context, node| filter(context, node, names.axes));
    let title = fields.optional(context, "title", text);
    let scale_x = fields.or(context, "scale_x", "auto", one_of(SCALES));
    let scale_y = fields.or(context, "scale_y", "auto", one_of(SCALES));
    let reference_place = fields.place_of("reference");
    let reference = fields.optional(context, "reference", |context, node| reference(context, node, names));
    fields.finish(context);
    let (kind, x, value, reference) = (kind?, x?, value?, reference?);
    if reference.is_some() && kind != ChartKind::Timeline {
        let help = "leave out `reference`; published values of metrics come from `[[expect]]`";
        context.problem(reference_place, "only a timeline has published series beside it", help);
    }
    if x.is_some() && !matches!(kind, ChartKind::Lines | ChartKind::Heatmap) {
        context.problem(x_place, "only lines and heatmaps have an axis of the comparison along the bottom", "leave out `x`");
    }
    if value.is_some() && kind != ChartKind::Heatmap {
        context.problem(value_place, "only a heatmap has a value in each cell", "leave out `value`, or name the metric in `y`");
    }
    if value.is_none() && kind == ChartKind::Heatmap {
        context.problem(place, "a heatmap has no `value`", "add the metric of its cells: `value = \"success_rate\"`");
    }
    let axes = match kind {
        ChartKind::Lines => 1,
        ChartKind::Heatmap => 2,
        _ => 0,
    };
    if names.axes.len() < axes {
        let message = format!("this kind of chart needs {axes} axes, and [compare] has {}", names.axes.len());
        context.problem(place, message, "add an axis to [compare], such as \"service.api.workers\" = [50, 100, 150]");
    }
    let filter = filter?.unwrap_or_default();
    Some(Chart {
        kind,
        x,
        y: y?.unwrap_or_default(),
        value,
        filter,
        title: title?,
        scale: (scale_x?, scale_y?),
        reference: reference.unwrap_or_default(),
    })
}

/// The published series of a file.
fn reference(context: &mut Context, node: &mut Node, names: &Names) -> Option<Vec<PublishedSeries>> {
    let (place, file) = (node.place, text(context, node)?);
    let rows = match reference::read(names.scenario, context.folder, &file, names.axes) {
        Ok(rows) => rows,
        Err((message, help)) => return context.refuse(place, message, help),
    };
    let series: Vec<&str> = names.series.iter().map(String::as_str).collect();
    match rows.iter().find(|row| !series.contains(&row.series.as_str())) {
        Some(row) => {
            context.refuse(place, format!("`{file}` has a series `{}`, which is none", row.series), did_you_mean(&row.series, &series))
        }
        None => Some(rows),
    }
}

/// `y`: one name or a list of them. Which names are known depends on the kind.
fn up_the_side(context: &mut Context, node: &mut Node, kind: ChartKind, names: &Names) -> Option<Vec<String>> {
    let one = |context: &mut Context, node: &mut Node| match kind {
        ChartKind::Timeline | ChartKind::Hysteresis => known(context, node, names.series, "series"),
        ChartKind::Heatmap => known_axis(context, node, names.axes),
        _ => known(context, node, names.metrics, "metric"),
    };
    match node.value {
        Value::List(_) => {
            let nodes = list(context, node, "[\"attempts\", \"goodput\"]")?;
            nodes.iter_mut().map(|node| one(context, node)).collect()
        }
        _ => one(context, node).map(|name| vec![name]),
    }
}

/// One of the names.
pub fn known(context: &mut Context, node: &mut Node, names: &[String], what: &str) -> Option<String> {
    let name = text(context, node)?;
    if names.contains(&name) {
        return Some(name);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    context.refuse(node.place, format!("there is no {what} `{name}`"), did_you_mean(&name, &names))
}
