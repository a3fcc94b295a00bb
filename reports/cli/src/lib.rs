//! The program `doublehold`: arguments, files and terminals around the libraries.
//!
//! The only crate that prints, exits and opens files for writing.
//!
//! # Map, in reading order
//!
//! - `cli`: arguments; `commands`: one file for each subcommand
//! - `show`, `exit`, `error`, `troubles`: what all of them share; `numbers`: hints on numbers as people type them
//! - `engine`: which simulator runs what; `scenario_file`: scenarios as texts; `progress`: the bar of long commands
//! - `output`, `folder`: stdout and files, `leftovers` of which none stay, and `stopping` in between
//! - `serve`: the simulated nodes on real ports

mod cli;
mod commands;
mod engine;
mod error;
mod exit;
mod folder;
mod leftovers;
mod numbers;
mod output;
mod png;
mod progress;
mod scenario_file;
mod serve;
mod show;
mod stopping;
mod troubles;

pub use cli::main;
