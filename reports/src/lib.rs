//! Renders runs as text, pictures and JSON.
//!
//! Renderers are pure functions of a [`ShownRun`], and none of them runs a simulation. The crate `doublehold-diagnosis`
//! finds out what a violation came from.
//!
//! # Map, in reading order
//!
//! - [`picture`]: lanes over true time and the numbered events; [`text`]: everything `run` prints around it
//! - [`picture::view`]: what every drawing of a run shows, as data
//! - [`white_box`]: the rules about what a lock does inside
//! - [`json`]: the same for other programs
//! - [`style`]: width, characters, colours; [`layout`]: wrapped text, columns; [`palette`]: each colour
//!
//! Figures of runs and the page of a sweep are the crate `doublehold-pages`; testing your own lock is `doublehold`.

pub mod json;
pub mod layout;
pub mod palette;
pub mod picture;
mod shown_run;
pub mod style;
pub mod text;
pub mod white_box;

pub use shown_run::ShownRun;
