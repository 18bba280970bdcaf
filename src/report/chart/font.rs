//! The embedded font, and how wide a text is in it.

use std::sync::OnceLock;

use ab_glyph::{Font, FontRef};

/// Inter, a subset with Latin-1 and some symbols, in its regular weight.
pub const REGULAR: &[u8] = include_bytes!("font/Inter-Regular.otf");
/// The same in bold.
pub const BOLD: &[u8] = include_bytes!("font/Inter-Bold.otf");

/// The width of `text` in pixels.
pub fn width(text: &str, size: f64, bold: bool) -> f64 {
    let font = font(bold);
    let units = font.units_per_em().map_or(1.0, f64::from);
    text.chars().map(|letter| f64::from(font.h_advance_unscaled(font.glyph_id(letter)))).sum::<f64>() / units * size
}

/// `text` as it is, or with an ellipsis for its middle where it is wider than `room`: names mostly differ at their ends.
pub fn shorten(text: &str, size: f64, bold: bool, room: f64) -> String {
    if width(text, size, bold) <= room {
        return text.to_string();
    }
    let letters: Vec<char> = text.chars().collect();
    for kept in (2..letters.len()).rev() {
        let (front, back) = (kept.div_ceil(2), kept / 2);
        let short: String = letters[..front].iter().chain(&['…']).chain(&letters[letters.len() - back..]).collect();
        if width(&short, size, bold) <= room {
            return short;
        }
    }
    "…".to_string()
}

/// `text` in lines no wider than `room`, broken between words.
pub fn wrap(text: &str, size: f64, bold: bool, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_ascii_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size, bold) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(shorten(word, size, bold, room)),
        }
    }
    lines
}

fn font(bold: bool) -> &'static FontRef<'static> {
    static FONTS: OnceLock<[FontRef<'static>; 2]> = OnceLock::new();
    let read = |bytes| FontRef::try_from_slice(bytes).expect("the embedded font is a font");
    &FONTS.get_or_init(|| [read(REGULAR), read(BOLD)])[usize::from(bold)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_to_its_room_and_keeps_both_ends() {
        let long = "clients.writers.policy.full_jitter.base";
        let short = shorten(long, 14.0, false, 120.0);
        assert!(width(&short, 14.0, false) <= 120.0 && short.starts_with("cl") && short.ends_with("se"), "{short}");
        assert_eq!(shorten("short", 14.0, false, 120.0), "short");
        assert!(width("bold", 14.0, true) > width("bold", 14.0, false));
    }

    #[test]
    fn lines_break_between_words() {
        let lines = wrap("one two three four five", 16.0, false, 80.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| width(line, 16.0, false) <= 80.0));
        assert_eq!(lines.join(" "), "one two three four five");
    }
}
