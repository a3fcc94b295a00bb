//! Plots as SVG: what a sweep's numbers look like.
//!
//! Pure functions from numbers to a picture's text. Everything is told twice, by colour and by shape or dash, with the
//! colours of Okabe and Ito, which people who see colours differently tell apart. Every estimate has its error bar.
//! Each picture fills a telephone from side to side; legends are pictures of their own.
//!
//! Markup is written by [`crate::figure::paper`], as in the figure of a run. Axes are our own: rates and durations
//! over many powers of ten, with zero in sight.
//!
//! # Map, in reading order
//!
//! - `scale`: from numbers to places on an axis, and its ticks
//! - `canvas`: shapes, text, colours, signs
//! - `frame`: a field with its axes; `panels`: several of them, each a picture, and their legend; `rows`: bars by name
//! - `forest`: rates of designs; `curves`: over one parameter; `heat`: over two
//! - `tornado`: one rate if causes are rarer or more frequent
//! - `lengths`: how long overlaps are; `tradeoff`: safety against recovery
//!
//! Decision: "The plots of a sweep are drawn by our own code" (docs/decisions/pictures.md).

mod canvas;
mod curves;
mod forest;
mod frame;
mod heat;
mod lengths;
mod panels;
mod rows;
mod scale;
mod tornado;
mod tradeoff;

pub(crate) use curves::{Course, Curves, Values, curves};
pub(crate) use forest::{Forest, Row, forest};
pub(crate) use heat::{Heat, Reference, Shaded, heat};
pub(crate) use lengths::{DistributionCurve, Lengths, lengths};
pub(crate) use panels::Dot;
pub(crate) use rows::rows_that_fit;
pub(crate) use scale::Quantity;
pub(crate) use tornado::{Tornado, TornadoRow, tornado};
pub(crate) use tradeoff::{Tradeoff, tradeoff};

/// A number and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bar {
    /// The likeliest value, which is zero if nothing was seen; none if only the ends are known. Then no sign is drawn,
    /// and no line goes through.
    pub(crate) value: Option<f64>,
    /// What it is at least.
    pub(crate) low: f64,
    /// What it is at most.
    pub(crate) high: f64,
}

impl Bar {
    /// A number that is known exactly.
    fn exact(value: f64) -> Bar {
        Bar { value: Some(value), low: value, high: value }
    }

    /// All that an axis has to hold.
    fn places(&self) -> impl Iterator<Item = f64> + use<> {
        [Some(self.low), self.value, Some(self.high)].into_iter().flatten()
    }
}
