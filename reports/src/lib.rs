//! The library of `doublehold`: one's own lock under test, and reports of runs as text, pictures and JSON.
//!
//! Renderers are pure functions of a [`Report`](doublehold_scenarios::report::Report); none of them runs a simulation.
//!
//! # Map, in reading order
//!
//! - [`check`]: one's own lock, tried in a world from many seeds
//! - `property`: one's own lock, tried in drawn worlds, weathers and configurations (feature `proptest`)
//! - [`findings`]: what a search came to, in words
//! - [`outside`]: what reaches into runs from outside the simulation
//! - [`picture`]: lanes over true time and the numbered events; [`text`]: everything `run` prints around it
//! - [`picture::view`]: what every drawing of a run shows, as data
//! - [`json`]: the same for other programs
//! - [`style`]: width, characters, colours; [`layout`]: wrapped text, columns; [`palette`]: each colour
//!
//! Figures of runs and the page of a sweep are the crate `doublehold-pages`, the program is `doublehold-cli`.

pub mod check;
pub mod findings;
pub mod json;
pub mod layout;
pub mod outside;
pub mod palette;
pub mod picture;
#[cfg(feature = "proptest")]
pub mod property;
pub mod style;
pub mod text;
