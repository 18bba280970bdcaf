//! The two themes: which colours, dashes and markers tell one thing from another.

/// Which background a picture is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on white.
    #[default]
    Light,
    /// Light ink on near-black.
    Dark,
}

/// How one line is told from the others: by its colour, and where colour fails by its dash and its marker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Of the line and its markers.
    pub colour: &'static str,
    /// Of its label: the same hue with enough contrast to be read.
    pub text: &'static str,
    /// The lengths of dashes and gaps; empty is a solid line.
    pub dash: &'static str,
    /// The shape at each point; None draws no markers.
    pub marker: Option<Marker>,
    /// In pixels.
    pub width: f64,
}

/// The shape at a point of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Wedge,
    Cross,
}

/// How many lines can be told apart; more are drawn in grey and not named.
pub const LOOKS: usize = 12;

/// Okabe and Ito's colours, which the colour-blind tell apart too, without yellow: on white it cannot be read. (line, text)
const LIGHT: [(&str, &str); 7] = [
    ("#0072B2", "#0068A3"),
    ("#D55E00", "#BD5300"),
    ("#009E73", "#007D5B"),
    ("#CC79A7", "#A84F80"),
    ("#E69F00", "#9A6A00"),
    ("#56B4E9", "#2A81B5"),
    ("#3C3C3C", "#3C3C3C"),
];
const DARK: [(&str, &str); 7] = [
    ("#56B4E9", "#6BC0F0"),
    ("#E69F00", "#F0B02A"),
    ("#21B98E", "#3CCBA3"),
    ("#DE95BF", "#E6A8CC"),
    ("#F0E442", "#F0E442"),
    ("#F0762A", "#F58C4B"),
    ("#C9CDD3", "#C9CDD3"),
];
const DASHES: [&str; 6] = ["", "9 4", "2.5 3.5", "10 4 2.5 4", "22 5", "5 3"];
const MARKERS: [Marker; 6] = [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Wedge, Marker::Cross];

impl Theme {
    /// Behind everything.
    pub fn paper(self) -> &'static str {
        if self == Theme::Light { "#FFFFFF" } else { "#15181D" }
    }

    /// Of titles and values.
    pub fn ink(self) -> &'static str {
        if self == Theme::Light { "#1A1D21" } else { "#ECEFF3" }
    }

    /// Of subtitles, ticks and notes.
    pub fn muted(self) -> &'static str {
        if self == Theme::Light { "#5B626B" } else { "#A3ABB6" }
    }

    /// Of grid lines.
    pub fn grid(self) -> &'static str {
        if self == Theme::Light { "#E4E6E9" } else { "#2C3138" }
    }

    /// Of the line at zero, and of lines that are not named.
    pub fn quiet(self) -> &'static str {
        if self == Theme::Light { "#B4B9C0" } else { "#5A626D" }
    }

    /// Of the span of a fault.
    pub fn fault(self) -> &'static str {
        if self == Theme::Light { "#D55E00" } else { "#F0762A" }
    }

    /// How much of a fault's span is seen.
    pub fn fault_opacity(self) -> f64 {
        if self == Theme::Light { 0.16 } else { 0.2 }
    }

    /// How the line number `index` looks; from `LOOKS` on, thin and grey.
    pub fn look(self, index: usize) -> Look {
        if index >= LOOKS {
            return Look { colour: self.quiet(), text: self.muted(), dash: "", marker: None, width: 1.2 };
        }
        let (colour, text) = if self == Theme::Light { LIGHT[index % 7] } else { DARK[index % 7] };
        // Seven colours, but six dashes and markers: the second round meets other partners.
        Look { colour, text, dash: DASHES[index % 6], marker: Some(MARKERS[index % 6]), width: 2.4 }
    }
}

/// The colour at `share` (0 to 1) of viridis, which gets lighter evenly.
pub fn viridis(share: f64) -> (u8, u8, u8) {
    const STOPS: [(u8, u8, u8); 11] = [
        (68, 1, 84),
        (72, 36, 117),
        (65, 68, 135),
        (53, 95, 141),
        (42, 120, 142),
        (33, 145, 140),
        (34, 168, 132),
        (68, 191, 112),
        (122, 209, 81),
        (189, 223, 38),
        (253, 231, 37),
    ];
    let place = share.clamp(0.0, 1.0) * 10.0;
    let index = (place as usize).min(9);
    let part = place - index as f64;
    let mix = |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * part).round() as u8;
    let (from, to) = (STOPS[index], STOPS[index + 1]);
    (mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// Black or white, whichever can be read on `colour`.
pub fn readable_on((red, green, blue): (u8, u8, u8)) -> &'static str {
    let luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    // Where both contrasts are equal: (1.05) / (l + 0.05) = (l + 0.05) / 0.05.
    if luminance > 0.179 { "#101010" } else { "#FFFFFF" }
}

fn linear(channel: u8) -> f64 {
    libm::pow((f64::from(channel) / 255.0 + 0.055) / 1.055, 2.4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_lines_all_look_different() {
        for theme in [Theme::Light, Theme::Dark] {
            let looks: Vec<Look> = (0..LOOKS).map(|index| theme.look(index)).collect();
            for (index, look) in looks.iter().enumerate() {
                assert!(looks[..index].iter().all(|other| (other.colour, other.dash) != (look.colour, look.dash)));
            }
        }
    }

    #[test]
    fn numbers_can_be_read_on_both_ends_of_viridis() {
        assert_eq!(readable_on(viridis(0.0)), "#FFFFFF");
        assert_eq!(readable_on(viridis(1.0)), "#101010");
        assert_eq!(viridis(f64::NAN.max(0.0)), (68, 1, 84));
    }
}
