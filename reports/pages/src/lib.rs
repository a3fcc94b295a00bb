//! Pictures to scale: figures of runs, and the page of a sweep.
//!
//! - [`figure`]: a run as SVG and as HTML
//! - [`page`]: the report of a sweep, one page from its records
//! - [`plots`]: its pictures, pure functions from numbers to a picture's text
//!
//! Decision: "Figures of runs are in `doublehold-pages`" (docs/decisions/crates.md).

pub mod figure;
pub mod page;
pub mod plots;
