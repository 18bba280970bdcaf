//! The scenario file as an ordered tree in which every value remembers where it was written.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::diagnostics::{Place, Problem};

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it was written.
    pub place: Place,
}

/// The values a scenario file can hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A number with a point; never NaN or infinite.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Vec<Entry>),
}

/// A key of a table and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key was written.
    pub place: Place,
    /// The value.
    pub node: Node,
}

/// Two nodes are equal where their values are: where they were written does not matter.
impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.value == other.value
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(whole: i64) -> Value {
        Value::Whole(whole)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Number(number)
    }
}

impl From<bool> for Value {
    fn from(boolean: bool) -> Value {
        Value::Boolean(boolean)
    }
}

impl Value {
    /// What it is, with its article, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "a text",
            Value::Whole(_) => "a whole number",
            Value::Number(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// A table without entries.
    pub fn empty_table() -> Value {
        Value::Table(Vec::new())
    }
}

impl Node {
    /// Parses the text of a scenario file. Whatever could be read is returned beside the problems.
    pub fn parse(text: &str, source: usize) -> (Node, Vec<Problem>) {
        let (root, errors) = DeTable::parse_recoverable(text);
        let mut problems: Vec<Problem> = errors.iter().take(5).map(|error| syntax_problem(error, text, source)).collect();
        let place = Place { source, start: 0, end: 0 };
        // What the parser made of a broken text would only bring errors that come of the first.
        if !problems.is_empty() {
            return (Node { value: Value::empty_table(), place }, problems);
        }
        let entries = table(root.into_inner(), source, &mut problems);
        (Node { value: Value::Table(entries), place }, problems)
    }

    /// Parses one value, such as what follows `PATH=` in a `--set` argument; `offset` is where it begins in its source.
    pub fn parse_value(text: &str, source: usize, offset: usize) -> Result<Node, Vec<Problem>> {
        let place = Place { source, start: offset, end: offset + text.len() };
        let Ok(value) = DeValue::parse(text) else {
            return Ok(Node { value: Value::from(text.trim()), place });
        };
        let mut problems = Vec::new();
        let mut node = convert(value, source, &mut problems);
        node.place_all(place);
        problems.iter_mut().for_each(|problem| problem.place = place);
        if problems.is_empty() { Ok(node) } else { Err(problems) }
    }

    /// The entries, where it is a table.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a key, where it is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()?.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// As `get`, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Table(entries) => entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node),
            _ => None,
        }
    }

    /// The text, where it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Lets it and all in it have been written in one place.
    pub fn place_all(&mut self, place: Place) {
        self.place = place;
        match &mut self.value {
            Value::List(nodes) => nodes.iter_mut().for_each(|node| node.place_all(place)),
            Value::Table(entries) => entries.iter_mut().for_each(|entry| {
                entry.place = place;
                entry.node.place_all(place);
            }),
            _ => {}
        }
    }
}

fn syntax_problem(error: &toml::de::Error, text: &str, source: usize) -> Problem {
    let span = error.span().unwrap_or(text.len()..text.len());
    let help =
        "texts, lengths of time and rates stand in quotes (\"10ms\"), each key once in its table; TOML is explained at https://toml.io";
    Problem {
        place: Place { source, start: span.start, end: span.end },
        message: format!("not TOML: {}", error.message()),
        help: help.into(),
        note: None,
    }
}

fn table(table: DeTable, source: usize, problems: &mut Vec<Problem>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (key, value) in table {
        let span = key.span();
        let node = convert(value, source, problems);
        entries.push(Entry { key: key.into_inner().into_owned(), place: Place { source, start: span.start, end: span.end }, node });
    }
    entries
}

fn convert(spanned: Spanned<DeValue>, source: usize, problems: &mut Vec<Problem>) -> Node {
    let span = spanned.span();
    let place = Place { source, start: span.start, end: span.end };
    let mut refuse = |message: String, help: &str| {
        problems.push(Problem { place, message, help: help.into(), note: None });
        Value::Whole(0)
    };
    let value = match spanned.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(integer) => match i64::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()) {
            Ok(whole) => Value::Whole(whole),
            Err(_) => {
                refuse(format!("`{integer}` is out of range"), "write a whole number from -9223372036854775808 to 9223372036854775807")
            }
        },
        DeValue::Float(float) => match float.as_str().replace('_', "").parse::<f64>() {
            Ok(number) if number.is_finite() => Value::Number(number),
            _ => {
                refuse(format!("`{float}` is not a finite number"), "write a finite number; what has no limit is \"unlimited\" or \"none\"")
            }
        },
        DeValue::Boolean(boolean) => Value::Boolean(boolean),
        DeValue::Datetime(date) => refuse(
            format!("`{date}` is a date or a time of day"),
            "simulated time is counted from the start: write a length of time, such as \"90s\"",
        ),
        DeValue::Array(array) => Value::List(array.into_iter().map(|item| convert(item, source, problems)).collect()),
        DeValue::Table(inner) => Value::Table(table(inner, source, problems)),
    };
    Node { value, place }
}
