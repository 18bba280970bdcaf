//! What is wrong with a scenario, and where: problems with a place in a source text, and the error that shows them all.

use std::fmt;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// A place in one of the [`Sources`]: a range of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Which source: 0 is the scenario file, the others are `--set` arguments.
    pub source: usize,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// A text that values come from.
#[derive(Clone, Debug)]
pub struct Source {
    /// What it is called in messages: a file, or `--set`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// The texts that a scenario is made of.
#[derive(Clone, Debug, Default)]
pub struct Sources(pub Vec<Source>);

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Where the wrong thing was written.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
    /// In which cell it shows, where it does not show in all.
    pub note: Option<String>,
}

/// All that is wrong with a scenario. Its `Display` shows each problem with its line, a caret and help, without colour.
#[derive(Clone, Debug)]
pub struct ScenarioError {
    sources: Arc<Sources>,
    problems: Vec<Problem>,
}

impl ScenarioError {
    /// Sorted by place, each problem once.
    pub(crate) fn new(sources: Arc<Sources>, mut problems: Vec<Problem>) -> ScenarioError {
        problems.sort_by(|left, right| (left.place, &left.message).cmp(&(right.place, &right.message)));
        problems.dedup_by(|left, right| left.place == right.place && left.message == right.message);
        ScenarioError { sources, problems }
    }

    /// Every problem, by place.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// As `Display`, with colours for a terminal.
    pub fn coloured(&self) -> String {
        self.render(&Renderer::styled())
    }

    fn render(&self, renderer: &Renderer) -> String {
        let rendered: Vec<String> = self.problems.iter().map(|problem| self.sources.render(problem, renderer)).collect();
        rendered.join("\n\n")
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.render(&Renderer::plain()))
    }
}

impl std::error::Error for ScenarioError {}

impl Sources {
    fn render(&self, problem: &Problem, renderer: &Renderer) -> String {
        let source = &self.0[problem.place.source.min(self.0.len() - 1)];
        let (number, line, span) = first_line(&source.text, problem.place);
        let snippet = Snippet::source(line).path(source.name.as_str()).line_start(number).annotation(AnnotationKind::Primary.span(span));
        let mut group = Level::ERROR.primary_title(problem.message.as_str()).element(snippet);
        if let Some(note) = &problem.note {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        renderer.render(&[group.element(Level::HELP.message(problem.help.as_str()))])
    }
}

/// The line that the place begins in, its number from 1, and the part of the place that lies in it. A place of many lines (a table) is
/// shown by its first, and a whole file is no help to anybody.
fn first_line(text: &str, place: Place) -> (usize, &str, std::ops::Range<usize>) {
    let mut start = place.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let begin = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let number = text[..begin].matches('\n').count() + 1;
    let line = text[begin..].split('\n').next().unwrap_or("");
    let line = line.strip_suffix('\r').unwrap_or(line);
    let from = (start - begin).min(line.len());
    let mut until = place.end.saturating_sub(begin).clamp(from, line.len());
    while !line.is_char_boundary(until) {
        until += 1;
    }
    (number, line, from..until)
}

/// The candidate most like the word, where one is like it at all.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let best = candidates.into_iter().map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate)).min();
    best.filter(|(distance, candidate)| *distance <= (word.chars().count().max(candidate.chars().count()) / 2).max(1)).map(|(_, name)| name)
}

/// Help for a word that is none of the candidates: the nearest of them, and all.
pub fn did_you_mean(word: &str, candidates: &[&str]) -> String {
    let all = || match candidates.len() {
        0 => "there is none to choose from".to_owned(),
        1..=40 => format!("write one of {}", list(candidates)),
        _ => format!("write one of {}, ...", list(&candidates[..40])),
    };
    match nearest(word, candidates.iter().copied()) {
        Some(name) if candidates.len() > 1 => format!("did you mean `{name}`? {}", all()),
        Some(name) => format!("did you mean `{name}`?"),
        None => all(),
    }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
