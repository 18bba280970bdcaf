//! SVG to PNG, with the embedded font and no other.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::font;

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
    let pixels = |length: f32| (length * scale).ceil() as u32;
    let mut pixmap = Pixmap::new(pixels(size.width()), pixels(size.height())).ok_or("the picture is empty or too large for a PNG")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| format!("the picture cannot be written as PNG: {error}"))
}
