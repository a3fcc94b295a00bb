//! The program `doublehold`: arguments, files and terminals around the libraries.
//!
//! The only crate that prints, exits and opens files for writing.
//!
//! # Map, in reading order
//!
//! - `cli`: arguments; `commands`: one file for each subcommand
//! - `output_options`, `exit`, `error`, `warnings`: what all of them share; `numbers`: hints on numbers as people type
//!   them
//! - `engine`: which simulator runs what; `scenario_file`: scenarios as texts; `progress`: the bar of long commands
//! - `output`, `folder`: stdout and files, `cleanup` of unfinished ones, and `stopping` in between
//! - `serve`: the simulated nodes on real ports
//!
//! Decision: "The program (`cli`) and the page of a sweep (`pages`) are crates" (docs/decisions/crates.md).

mod cleanup;
mod cli;
mod commands;
mod drive;
mod engine;
mod error;
mod exit;
mod folder;
mod numbers;
mod output;
mod output_options;
#[cfg_attr(not(feature = "png"), path = "no_png.rs")]
mod png;
mod progress;
mod scenario_file;
mod serve;
mod stopping;
mod warnings;

pub use cli::main;
