//! SVG to PNG, with the embedded font and no other.

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

/// The pixels without their opacity, as every picture has a background, and as small as they get.
fn encode(pixmap: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let colours: Vec<u8> = pixmap.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&colours)?;
    writer.finish()?;
    Ok(bytes)
}
