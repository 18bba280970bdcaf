//! A tree as TOML text: a value on one line, or a whole scenario file.

use super::node::{Entry, Node, Value};

/// A value on one line.
pub fn inline(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => quoted(text),
        Value::Whole(whole) => whole.to_string(),
        // Debug keeps the point: 1.0 stays a number with a point.
        Value::Number(number) => format!("{number:?}"),
        Value::Boolean(boolean) => boolean.to_string(),
        Value::List(nodes) => format!("[{}]", nodes.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Table(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Table(entries) => {
            let pairs: Vec<String> = entries.iter().map(|entry| format!("{} = {}", key(&entry.key), inline(&entry.node))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// A text in double quotes, with escapes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            control if control.is_control() => out.push_str(&format!("\\u{:04X}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// A text of several lines, which then reads as it looks.
fn several_lines(text: &str) -> String {
    let one_line = |line: &str| {
        let escaped = quoted(line);
        escaped[1..escaped.len() - 1].to_owned()
    };
    format!("\"\"\"\n{}\"\"\"", text.split('\n').map(one_line).collect::<Vec<_>>().join("\n"))
}

fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-');
    if bare { name.to_owned() } else { quoted(name) }
}

/// A scenario file: a table a section, with the tables inside that read better on their own.
pub fn document(root: &Node) -> String {
    let mut out = String::new();
    write_table(&mut out, &[], root.entries().unwrap_or(&[]));
    out
}

/// How a value is written that stands at a path of keys.
enum Layout {
    Line,
    Header,
    HeaderList,
}

fn layout(path: &[&str], node: &Node) -> Layout {
    let table = matches!(node.value, Value::Table(_));
    let tables =
        matches!(&node.value, Value::List(nodes) if !nodes.is_empty() && nodes.iter().all(|node| matches!(node.value, Value::Table(_))));
    match path {
        ["clients" | "policy" | "service" | "run" | "compare" | "link"] if table => Layout::Header,
        ["clients" | "policy" | "service", _] if table => Layout::Header,
        ["link", edge] if table && edge.contains("->") => Layout::Header,
        ["clients", _, "policy"] | ["service", _, "calls", "policy"] if table => Layout::Header,
        ["fault" | "expect" | "chart"] | ["service", _, "calls"] if tables => Layout::HeaderList,
        _ => Layout::Line,
    }
}

fn write_table<'e>(out: &mut String, path: &[&'e str], entries: &'e [Entry]) {
    let below = |entry: &'e Entry| path.iter().copied().chain([entry.key.as_str()]).collect::<Vec<&str>>();
    for entry in entries.iter().filter(|entry| matches!(layout(&below(entry), &entry.node), Layout::Line)) {
        let value = match &entry.node.value {
            Value::Text(text) if text.contains('\n') => several_lines(text),
            _ => inline(&entry.node),
        };
        out.push_str(&format!("{} = {value}{}\n", key(&entry.key), remark(path, entry)));
    }
    for entry in entries {
        let path = below(entry);
        let name = path.iter().map(|segment| key(segment)).collect::<Vec<_>>().join(".");
        match (layout(&path, &entry.node), &entry.node.value) {
            (Layout::Header, Value::Table(inner)) => {
                // A table of tables alone needs no header of its own.
                let only_headers = !inner.is_empty() && path.len() == 1 && ["clients", "policy", "service"].contains(&path[0]);
                if !only_headers {
                    out.push_str(&format!("\n[{name}]\n"));
                }
                write_table(out, &path, inner);
            }
            (Layout::HeaderList, Value::List(nodes)) => {
                for node in nodes {
                    out.push_str(&format!("\n[[{name}]]\n"));
                    write_table(out, &path, node.entries().unwrap_or(&[]));
                }
            }
            _ => {}
        }
    }
}

/// Attempts and retries differ by one, and both words are in use: both are shown.
fn remark(path: &[&str], entry: &Entry) -> String {
    let in_policy = path.first() == Some(&"policy") || path.last() == Some(&"policy");
    match &entry.node.value {
        Value::Whole(attempts) if in_policy && entry.key == "attempts" => format!("   # retries = {}", attempts - 1),
        Value::Text(_) if in_policy && entry.key == "attempts" => "   # retries = \"unlimited\"".to_owned(),
        _ => String::new(),
    }
}
