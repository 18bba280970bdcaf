//! Tables and lists as the CSV files have them, on one line: where their parts begin and end.

/// The parts of `text` between the commas that are in no brackets and no quotes.
pub fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut is_quoted) = (Vec::new(), 0, 0_i32, false);
    for (index, letter) in text.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '{' | '[' if !is_quoted => depth += 1,
            '}' | ']' if !is_quoted => depth -= 1,
            ',' if !is_quoted && depth == 0 => {
                parts.push(text[start..index].trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// The entries of a table; None for all else.
#[cfg(any(feature = "charts", test))]
pub fn entries(text: &str) -> Option<Vec<&str>> {
    text.strip_prefix('{')?.strip_suffix('}').map(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_brackets_or_quotes_stays_together() {
        assert_eq!(parts("a = 1, b = { c = 2, d = [3, 4] }, e = \"f, }\""), ["a = 1", "b = { c = 2, d = [3, 4] }", "e = \"f, }\""]);
        assert_eq!(entries("{ a = 1, b = [2, 3] }"), Some(vec!["a = 1", "b = [2, 3]"]));
        assert_eq!((entries("none"), parts("")), (None, vec![""]));
    }
}
