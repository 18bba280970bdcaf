//! A scenario: a question in a TOML file, read into models, with every problem reported at its line and column.

mod breakers;
mod budgets;
mod build;
pub(crate) mod charts;
mod checks;
mod clients;
mod conditions;
pub mod diagnostics;
mod distributions;
mod document;
mod epochs;
mod faults;
mod files;
mod hedges;
mod hints;
mod inline;
mod machines;
pub mod node;
mod numbers;
pub mod path;
mod pipelines;
mod policies;
mod pools;
mod queues;
pub(crate) mod ranges;
pub(crate) mod reader;
mod references;
pub(crate) mod run;
pub(crate) mod scalars;
mod scopes;
mod services;
mod serving;
mod timing;
pub mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use diagnostics::ScenarioError;
pub use inline::parse_policy;
pub use run::RunSettings;

use self::diagnostics::{Problem, Sources};
use self::node::Node;
use self::reader::Context;
use super::chart::Chart;
use super::compare::{Axis, Cell};
use super::expect::Expectation;
use crate::world::model::Model;

/// A scenario: what to simulate, what to compare, what to claim and what to draw.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The stem of its file: the name of its folder of results.
    pub name: String,
    /// Its title; the name where it has none.
    pub title: String,
    /// Its prose, in Markdown.
    pub story: String,
    /// The text of its file, as it was given.
    pub text: String,
    /// How often and how exactly it is run.
    pub run: RunSettings,
    /// What differs between the cells, in the order of the file.
    pub axes: Vec<Axis>,
    /// The combinations of the axes' values, the first axis outermost.
    pub cells: Vec<Cell>,
    /// The claims.
    pub expectations: Vec<Expectation>,
    /// The charts.
    pub charts: Vec<Chart>,
    tree: Node,
    explained: Node,
    sources: Arc<Sources>,
    folder: Option<PathBuf>,
    files: files::Files,
}

/// Cells that are validated when a scenario is read; beyond them, about as many that differ from the first cell in one value.
/// `model` checks the rest.
const VALIDATED_CELLS: usize = 2_000;

impl Scenario {
    /// Reads a scenario. `name` is the stem of its file, `folder` what names of files are relative to, `overrides` are `PATH=VALUE`.
    ///
    /// # Errors
    /// Every problem of the file, of the overrides and of the model of each cell.
    pub fn parse(name: &str, text: &str, folder: Option<&Path>, overrides: &[String]) -> Result<Scenario, ScenarioError> {
        let (scenario, problems) = document::read(name, text, folder, overrides);
        let Some(scenario) = scenario.filter(|_| problems.problems.is_empty()) else {
            return Err(ScenarioError::new(problems.sources, problems.problems));
        };
        scenario.validate_cells()?;
        Ok(scenario)
    }

    /// The model of a cell.
    ///
    /// # Errors
    /// What is wrong with it; only for cells beyond those that `parse` has tried.
    pub fn model(&self, cell: &Cell) -> Result<Model, ScenarioError> {
        self.build(cell).map_err(|problems| ScenarioError::new(Arc::clone(&self.sources), problems))
    }

    /// The model without its comparison: what the file itself says, with the values set from outside.
    ///
    /// # Errors
    /// What is wrong with it, where only the values under comparison make it whole.
    pub fn base_model(&self) -> Result<Model, ScenarioError> {
        let base = Cell { index: 0, values: Vec::new() };
        self.build(&base).map_err(|problems| ScenarioError::new(Arc::clone(&self.sources), problems))
    }

    /// Whether a cell has these values of the axes, as CSV writes them.
    pub fn matches(&self, cell: usize, filter: &[(String, String)]) -> bool {
        super::compare::matches(&self.axes, &self.cells[cell], filter)
    }

    /// The model without its comparison as TOML, with every default filled in. It reads back as the same scenario.
    pub fn explain(&self) -> String {
        writer::document(&self.explained)
    }

    /// The services of the model, by name, in the order of the scenario.
    pub fn services(&self) -> Vec<String> {
        document::names(&self.tree, "service")
    }

    fn build(&self, cell: &Cell) -> Result<Model, Vec<Problem>> {
        let mut context = Context::new(self.folder.as_deref(), &self.files);
        let mut tree = self.tree.clone();
        for (axis, value) in self.axes.iter().zip(&cell.values) {
            let node = &axis.values[*value].node;
            if let Err((message, help)) = path::segments(&axis.path).and_then(|segments| tree.set(&segments, node.clone())) {
                context.problem(node.place, message, help);
            }
        }
        match document::model(&mut context, &mut tree) {
            Some(model) if context.problems.is_empty() => Ok(model),
            _ => Err(context.problems.into_iter().map(|problem| Problem { note: Some(self.in_cell(cell)), ..problem }).collect()),
        }
    }

    fn in_cell(&self, cell: &Cell) -> String {
        let values: Vec<String> =
            self.axes.iter().zip(&cell.values).map(|(axis, value)| format!("{} = {}", axis.path, axis.values[*value].label)).collect();
        format!("in the cell {}", values.join(", "))
    }

    /// The first cells, then those with one value that is not the first of its axis: all, or some of them, but the last of each axis always.
    fn cells_to_validate(&self) -> impl Iterator<Item = &Cell> {
        let alone = |cell: &&Cell| cell.values.iter().filter(|value| **value > 0).count() <= 1;
        let rest: Vec<&Cell> = self.cells.iter().skip(VALIDATED_CELLS).filter(alone).collect();
        let step = rest.len() / VALIDATED_CELLS + 1;
        let is_last = |cell: &Cell| self.axes.iter().zip(&cell.values).any(|(axis, value)| *value > 0 && value + 1 == axis.values.len());
        let chosen = rest.into_iter().enumerate().filter(move |(index, cell)| index % step == 0 || is_last(cell)).map(|(_, cell)| cell);
        self.cells.iter().take(VALIDATED_CELLS).chain(chosen)
    }

    fn validate_cells(&self) -> Result<(), ScenarioError> {
        if self.axes.is_empty() {
            return Ok(());
        }
        let mut problems: Vec<Problem> = Vec::new();
        for cell in self.cells_to_validate() {
            for problem in self.build(cell).err().unwrap_or_default() {
                if !problems.iter().any(|known| known.place == problem.place && known.message == problem.message) {
                    problems.push(problem);
                }
            }
            if problems.len() >= 20 {
                break;
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(ScenarioError::new(Arc::clone(&self.sources), problems)) }
    }
}

#[cfg(test)]
mod tests;
