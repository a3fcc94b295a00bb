//! A figure as PNG: its SVG, drawn with a font that is in the program.
//!
//! The bytes do not depend on the machine: no other font is looked for. Characters that DejaVu Sans does not have (it
//! has Latin, Greek, Cyrillic, Arabic, Hebrew and many signs, and no Chinese) are drawn as boxes. The font is drawn in
//! its regular weight only: a bold one would add as much again to the program.
//!
//! Decision: "PNG files use a font that is inside the program" (docs/decisions/pictures.md).

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{ImageHrefResolver, Options as Reading, Tree, fontdb};
use thiserror::Error;

use crate::error::CliError;

/// Pixels for each of the figure's: small text can be read on a slide.
const SHARPNESS: f64 = 2.0;
/// More pixels than these would take more than a quarter of a gigabyte.
const MOST_PIXELS: f64 = 64e6;

/// Why a figure could not be drawn.
#[derive(Debug, Error)]
pub(crate) enum PngError {
    /// There are too many lanes.
    #[error("{0} pixels high is too much for a PNG: an SVG or HTML file takes any height")]
    TooHigh(u32),
    /// The figure's own markup was not understood, which is a bug of doublehold.
    #[error("the figure cannot be drawn: {0}")]
    Markup(#[from] resvg::usvg::Error),
    /// The picture could not be written as PNG.
    #[error("the picture cannot be encoded: {0}")]
    Encoding(String),
}

/// Accepts: this program was built with PNG files.
pub(crate) fn require(_asked: &str) -> Result<(), CliError> {
    Ok(())
}

/// Draws the text of an SVG as PNG.
///
/// # Errors
///
/// If the picture would be too large, or is no SVG.
pub(crate) fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    let tree = Tree::from_str(svg, &reading())?;
    let (width, height) = (tree.size().width().into(), tree.size().height().into());
    paint_tree(&tree, (width, height), sharpness(width, height)?)
}

/// How many pixels each of the figure's gets.
fn sharpness(width: f64, height: f64) -> Result<f64, PngError> {
    // One pixel for each is still read; less is not.
    let sharpness = SHARPNESS.min((MOST_PIXELS / (width * height)).sqrt());
    if sharpness < 1.0 { Err(PngError::TooHigh(height as u32)) } else { Ok(sharpness) }
}

fn paint_tree(tree: &Tree, (width, height): (f64, f64), sharpness: f64) -> Result<Vec<u8>, PngError> {
    let (wide, high) = ((width * sharpness).ceil(), (height * sharpness).ceil());
    let mut picture = Pixmap::new(wide as u32, high as u32).ok_or(PngError::TooHigh(high as u32))?;
    let sharpness = sharpness as f32;
    resvg::render(tree, Transform::from_scale(sharpness, sharpness), &mut picture.as_mut());
    picture.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
}

/// With the one font there is, and without pictures in the picture: a figure has none, and one that came with records
/// shall open no file of this machine.
fn reading() -> Reading<'static> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_source(fontdb::Source::Binary(Arc::new(dejavu::sans::regular())));
    fonts.set_sans_serif_family("DejaVu Sans");
    let nothing =
        ImageHrefResolver { resolve_data: Box::new(|_, _, _| None), resolve_string: Box::new(|_, _| None) };
    Reading { fontdb: Arc::new(fonts), image_href_resolver: nothing, ..Reading::default() }
}

#[cfg(test)]
mod tests {
    use doublehold_pages::figure::{Options, svg};
    use doublehold_render::picture::view::View;
    use doublehold_scenarios::{Detailed, Engine, SimEngine, catalog};

    use super::png;

    fn view() -> View {
        let scenario = catalog::load("quiet", &[]).expect("in the catalogue");
        let (report, _, detail) = SimEngine.prepare(&scenario).expect("it runs").run_with_detail(1);
        View::from_run(&report, Some(detail))
    }

    fn narrow(view: &View) -> String {
        svg(view, &Options { width: Options::NARROWEST, ..Options::default() })
    }

    #[test]
    fn a_png_is_the_figure_and_the_same_every_time() {
        let mut view = view();
        view.messages.truncate(20);
        let figure = narrow(&view);
        let (one, other) = (png(&figure).expect("a picture"), png(&figure).expect("a picture"));
        assert!(one == other, "two pictures of one run differ");
        assert!(one.starts_with(b"\x89PNG\r\n\x1a\n"));
        let width = u32::from_be_bytes(one[16..20].try_into().expect("four bytes"));
        assert_eq!(width, 2 * Options::NARROWEST, "it is drawn sharper than on a screen");
        // Text was drawn: without its font the picture would be nearly empty.
        assert!(one.len() > 20_000, "{} bytes", one.len());
    }

    #[test]
    fn a_figure_that_is_too_high_is_no_png_and_says_so() {
        // As 4,000 lanes are; empty, since it takes seconds to read as many.
        let high = r#"<svg xmlns="http://www.w3.org/2000/svg" width="480" height="140000"/>"#;
        let refused = png(high).expect_err("too high").to_string();
        assert_eq!(refused, "140000 pixels high is too much for a PNG: an SVG or HTML file takes any height");
    }
}
