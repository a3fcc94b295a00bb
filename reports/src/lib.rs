//! The `doublehold` program: reports of runs as text, pictures and JSON, and the command line around them.
//!
//! The only crate that prints, exits and opens files for writing. Renderers are pure functions of a
//! [`Report`](doublehold_scenarios::report::Report); none of them runs a simulation.
//!
//! # Map, in reading order
//!
//! - [`picture`]: lanes over true time and the numbered events; [`text`]: everything `run` prints around it
//! - [`json`]: the same for other programs
//! - [`style`]: width, characters, colours
//! - [`serve`]: the simulated nodes on real ports
//! - [`cli`]: arguments; `commands`: one file for each subcommand; `output`: stdout and files, `leftovers` of which none stay

pub mod cli;
mod commands;
mod error;
pub mod json;
mod leftovers;
mod opening;
mod output;
pub mod picture;
pub mod serve;
mod shell;
pub mod style;
pub mod text;
mod words;
