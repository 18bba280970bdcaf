//! SVG to PNG, with the embedded font and no other.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::font;

/// How large a file may get, in bytes: a page with a few pictures must load.
const MOST: usize = 250_000;

/// The picture as PNG, twice as large as it says, or less where the file would be too large.
///
/// # Errors
/// As [`to_png`].
pub fn to_light_png(svg: &str) -> Result<Vec<u8>, String> {
    let mut png = Vec::new();
    for scale in [2.0, 1.7, 1.4, 1.2, 1.0] {
        png = to_png(svg, scale)?;
        if png.len() <= MOST {
            break;
        }
    }
    Ok(png)
}

/// The picture as PNG, `scale` times as large.
///
/// # Errors
/// What is no SVG, or an empty or too large picture.
pub fn to_png(svg: &str, scale: f32) -> Result<Vec<u8>, String> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(font::REGULAR.to_vec());
    fonts.load_font_data(font::BOLD.to_vec());
    fonts.set_sans_serif_family("Inter");
    let options = Options { font_family: "Inter".to_string(), fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| format!("the picture is no SVG: {error}"))?;
    let size = tree.size();
    // A row that is only half covered would be dark at the lower edge.
    let pixels = |length: f32| (length * scale).floor() as u32;
    let mut pixmap = Pixmap::new(pixels(size.width()), pixels(size.height())).ok_or("the picture is empty or too large for a PNG")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    encode(&pixmap).map_err(|error| format!("the picture cannot be written as PNG: {error}"))
}

/// The pixels without their opacity, as every picture has a background, in the 256 colours that matter most: a third of the bytes.
fn encode(pixmap: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let pixels: Vec<Colour> = pixmap.data().chunks_exact(4).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let mut counts: BTreeMap<Colour, usize> = BTreeMap::new();
    for run in pixels.chunk_by(|one, next| one == next) {
        *counts.entry(run[0]).or_default() += run.len();
    }
    let palette = palette(&counts);
    let nearest = |colour: &Colour| (0..palette.len()).min_by_key(|index| distance(palette[*index], *colour)).unwrap_or(0) as u8;
    let places: BTreeMap<Colour, u8> = counts.keys().map(|colour| (*colour, nearest(colour))).collect();
    let indexed: Vec<u8> = pixels.chunk_by(|one, next| one == next).flat_map(|run| vec![places[&run[0]]; run.len()]).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_palette(palette.concat());
    encoder.set_compression(png::Compression::High);
    // Neighbours in a palette are not alike: a filter would only add noise.
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&indexed)?;
    writer.finish()?;
    Ok(bytes)
}

type Colour = [u8; 3];

/// The most frequent colours; of those no eye tells apart, one.
fn palette(counts: &BTreeMap<Colour, usize>) -> Vec<Colour> {
    let mut colours: Vec<(Colour, usize)> = counts.iter().map(|(colour, count)| (*colour, *count)).collect();
    colours.sort_by_key(|(colour, count)| (Reverse(*count), *colour));
    let mut palette: Vec<Colour> = Vec::new();
    for (colour, _) in colours {
        if palette.iter().all(|chosen| distance(*chosen, colour) > 40) {
            palette.push(colour);
        }
        if palette.len() == 256 {
            break;
        }
    }
    palette
}

/// The square of how far two colours are apart.
fn distance(one: Colour, other: Colour) -> u32 {
    one.iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_background_keeps_its_colour_and_few_colours_are_all_kept() {
        let counts = BTreeMap::from([([21, 24, 29], 9_000), ([22, 24, 29], 5), ([255, 0, 0], 3), ([0, 90, 255], 800)]);
        assert_eq!(palette(&counts), [[21, 24, 29], [0, 90, 255], [255, 0, 0]]);
        let many = (0..4096_u32).map(|colour| ([(colour >> 8) as u8 * 16, (colour >> 4 & 15) as u8 * 16, (colour & 15) as u8 * 16], 1));
        assert_eq!(palette(&many.collect()).len(), 256);
    }
}
