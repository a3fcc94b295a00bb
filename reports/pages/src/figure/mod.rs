//! A run as a figure: lanes over true time, to scale, as SVG.
//!
//! Like the figures of papers on locks, but exact. Drawn from the view model that the text picture is drawn from
//! ([`doublehold_render::picture::view`]). Pure: a view in, markup out; the same view gives the same bytes.
//!
//! Nothing is left out of the middle of an axis. Where what matters is small against the run, it is drawn once more in
//! a panel of its own, to a scale of its own.
//!
//! [`paper`] is what every picture of ours is written with, those of a sweep's page too.

mod bars;
mod clocks;
mod colours;
mod double_holds;
mod html;
mod layout;
mod legend;
mod lettering;
mod panel;
pub mod paper;
mod rows;
mod scale;
mod shades;
#[cfg(test)]
mod tests;
mod zoom;

use doublehold_render::picture::view::View;
pub use html::html;
pub(crate) use html::inert;

/// How a figure is to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How wide it is, in pixels at its natural size: at least [`Options::NARROWEST`].
    pub width: u32,
    /// What tells its markup's names from those of other figures on one page: letters, digits and dashes. Others
    /// are left out.
    pub id: String,
}

impl Options {
    /// Narrower than this, nothing can be read.
    pub const NARROWEST: u32 = 480;
    /// As wide as the column of a report's page: wider, it would be shown smaller than it is, and so would its texts.
    pub const IN_REPORT: u32 = 1112;
}

impl Default for Options {
    /// As wide as a page of text needs it.
    fn default() -> Options {
        Options { width: 1200, id: "run".to_owned() }
    }
}

/// Draws a run as one SVG.
///
/// ```
/// use doublehold_pages::figure::{Options, svg};
/// use doublehold_render::picture::view::View;
/// use doublehold_scenarios::{Detailed, Engine, SimEngine, catalog};
///
/// let paused = SimEngine.prepare(&catalog::load("lease-pause", &[])?)?;
/// let (report, _, detail) = paused.run_with_detail(7);
/// let figure = svg(&View::from_run(&report, Some(detail)), &Options::default());
/// assert!(figure.starts_with("<svg ") && figure.contains("c1 and c2 both hold: 1.008 s"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn svg(view: &View, options: &Options) -> String {
    layout::draw(view, options)
}
