//! Dotted paths into the tree: `clients.web.policy`, `fault.0.for`, `link."web->api".delay`; and setting what they lead to.

use super::diagnostics::{Place, did_you_mean};
use super::node::{Entry, Node, Value};

/// The sections whose values a path may set.
pub const SECTIONS: [&str; 6] = ["run", "clients", "policy", "service", "link", "fault"];

/// Parts of a path, at most. No value lies deeper, and trees of any depth would be no tree to walk.
const MOST_SEGMENTS: usize = 16;

/// What is wrong with a path: a message and help.
pub type PathError = (String, String);

/// The segments of a dotted path; a segment may stand in double quotes.
///
/// # Errors
/// Empty segments and quotes that do not end.
pub fn segments(path: &str) -> Result<Vec<String>, PathError> {
    let help = || "write a path such as `clients.web.policy`, `service.api.workers` or `fault.0.for`".to_owned();
    let mut segments = Vec::new();
    let mut rest = path.trim();
    loop {
        let (segment, tail) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or_else(|| (format!("the quote in the path `{path}` does not end"), help()))?,
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        if segment.trim().is_empty() {
            return Err((format!("the path `{path}` has an empty part"), help()));
        }
        segments.push(segment.trim().to_owned());
        if segments.len() > MOST_SEGMENTS {
            return Err((format!("the path has more than {MOST_SEGMENTS} parts"), help()));
        }
        rest = match tail.strip_prefix('.') {
            Some(more) => more,
            None if tail.is_empty() => return Ok(segments),
            None => return Err((format!("the path `{path}` goes on after a quote"), help())),
        };
    }
}

/// The one spelling of a path: without needless quotes, so that two spellings are the same axis.
pub fn canonical(segments: &[String]) -> String {
    let quoted = |segment: &String| if segment.contains('.') { format!("\"{segment}\"") } else { segment.clone() };
    segments.iter().map(quoted).collect::<Vec<_>>().join(".")
}

impl Node {
    /// The value at a path.
    pub fn at(&self, segments: &[String]) -> Option<&Node> {
        segments.iter().try_fold(self, |node, segment| match &node.value {
            Value::List(nodes) => segment.parse::<usize>().ok().and_then(|index| nodes.get(index)),
            _ => node.get(segment),
        })
    }

    /// Puts a value at a path below the root. Tables on the way are made where the file leaves them out, but a client, service, policy
    /// or fault must be there. Of `attempts` and `retries`, the one that is set takes the place of the other.
    ///
    /// # Errors
    /// Says which part of the path leads nowhere, and what is nearest.
    pub fn set(&mut self, segments: &[String], node: Node) -> Result<(), PathError> {
        let path = canonical(segments);
        let Some(section) = segments.first().filter(|section| SECTIONS.contains(&section.as_str())) else {
            let first = segments.first().map_or("", String::as_str);
            return Err((format!("the path `{path}` does not begin with a section"), did_you_mean(first, &SECTIONS)));
        };
        let named = section != "run" && section != "link";
        if segments.len() < 2 {
            return Err((
                format!("the path `{path}` is too short"),
                "write the key too, such as `run.horizon` or `service.api.workers`".into(),
            ));
        }
        let mut current = self;
        for (depth, segment) in segments.iter().enumerate() {
            let last = depth + 1 == segments.len();
            let must_exist = depth == 1 && named;
            current = current.step(segment, &path, must_exist, node.place)?;
            if last {
                *current = node;
                return Ok(());
            }
        }
        Ok(())
    }

    /// One segment further down, made where it is missing.
    fn step(&mut self, segment: &str, path: &str, must_exist: bool, place: Place) -> Result<&mut Node, PathError> {
        // "none" and an absent table are the same, so that a fault can give a budget to a policy that had none.
        if self.text() == Some("none") {
            self.value = Value::empty_table();
        }
        let kind = self.value.kind();
        match &mut self.value {
            Value::List(nodes) => {
                let count = nodes.len();
                let found = segment.parse::<usize>().ok().and_then(|index| nodes.get_mut(index));
                found.ok_or_else(|| {
                    let help = if count == 0 { "the list is empty".into() } else { format!("write a number from 0 to {}", count - 1) };
                    (format!("`{segment}` in the path `{path}` is no place in a list of {count}"), help)
                })
            }
            Value::Table(entries) => {
                let found = entries.iter().position(|entry| entry.key == segment);
                if found.is_none() && must_exist {
                    let names: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
                    return Err((format!("`{segment}` in the path `{path}` does not exist"), did_you_mean(segment, &names)));
                }
                let index = found.unwrap_or_else(|| insert(entries, segment, place));
                Ok(&mut entries[index].node)
            }
            Value::Text(name) if path.contains("policy.") => {
                let help = format!("it is the name of a policy: set a path that begins with `policy.{name}` instead");
                Err((format!("the path `{path}` leads through the text `{name}`"), help))
            }
            _ => Err((format!("the path `{path}` leads through {kind} to `{segment}`"), "set the whole value there".into())),
        }
    }
}

fn insert(entries: &mut Vec<Entry>, key: &str, place: Place) -> usize {
    let twin = match key {
        "attempts" => "retries",
        "retries" => "attempts",
        _ => "",
    };
    entries.retain(|entry| entry.key != twin);
    entries.push(Entry { key: key.to_owned(), place, node: Node { value: Value::empty_table(), place } });
    entries.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(path: &str, value: &str) -> Result<Node, PathError> {
        let text = "[clients.web]\npolicy = 'standard'\n[service.api]\ncalls = [{service = 'db'}]\n[policy.standard]\nretries = 3\nbudget = 'none'\n";
        let (mut root, problems) = Node::parse(text, 0);
        assert!(problems.is_empty());
        let node = Node::parse_value(value, 1, 0).unwrap();
        root.set(&segments(path)?, node).map(|()| root)
    }

    #[test]
    fn paths_lead_to_values() {
        for path in [
            "clients.web.policy",
            "service.api.queue.limit",
            "link.\"web->api\".delay",
            "link.web->api.delay",
            "run.seed",
            "service.api.calls.0.policy",
        ] {
            let root = set(path, "7").unwrap();
            assert_eq!(root.at(&segments(path).unwrap()).unwrap().value, Value::Whole(7), "{path}");
        }
        assert_eq!(set("policy.standard.attempts", "4").unwrap().at(&segments("policy.standard.retries").unwrap()), None);
        assert!(set("policy.standard.budget.ratio.share", "0.1").is_ok());
    }

    #[test]
    fn paths_that_lead_nowhere_say_so() {
        for (path, message, help) in [
            ("client.web.policy", "section", "clients"),
            ("clients.wep.policy", "`wep`", "`web`"),
            ("service.api.calls.1.policy", "list of 1", "0 to 0"),
            ("clients.web.policy.attempts", "the text `standard`", "policy.standard"),
            ("service", "too short", "run.horizon"),
            ("clients..policy", "empty part", "clients.web"),
            ("link.\"web", "does not end", "clients.web"),
        ] {
            let (found, helped) = set(path, "7").unwrap_err();
            assert!(found.contains(message) && helped.contains(help), "{path}: {found}; {helped}");
        }
    }
}
