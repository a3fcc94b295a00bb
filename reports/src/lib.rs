//! The `doublehold` program and library: reports of runs as text, pictures and JSON, and the command line around them.
//!
//! The only crate that prints, exits and opens files for writing. Renderers are pure functions of a
//! [`Report`](doublehold_scenarios::report::Report); none of them runs a simulation.
//!
//! # Map, in reading order
//!
//! - [`picture`]: lanes over true time and the numbered events; [`text`]: everything `run` prints around it
//! - [`picture::view`]: what every drawing of a run shows, as data; [`figure`]: the same to scale, as SVG and HTML
//! - [`json`]: the same for other programs
//! - [`check`]: one's own lock, tried in a world from many seeds
//! - `property`: one's own lock, tried in drawn worlds, weathers and configurations (feature `proptest`)
//! - [`found`]: from a seed to the least counterexample; [`findings`]: what a search came to
//! - `records`: what a sweep leaves behind; `results`: what that adds up to
//! - `outside`: what reaches into runs from outside the simulation
//! - [`statistics`]: how sure a sweep can be of what it counted
//! - `page`: the report of a sweep, and `plots`, its pictures
//! - [`style`]: width, characters, colours
//! - `serve`: the simulated nodes on real ports
//! - `cli`: arguments; `commands`: one file for each subcommand; `show` and `exit`: what all of them share; `output`:
//!   stdout and files, `leftovers` of which none stay
//!
//! The last two lines are the program's, and the feature `cli` has them. Without it (`default-features = false`) the
//! crate needs neither an argument parser nor a terminal, as a test of somebody's own lock does.

pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
mod commands;
#[cfg(feature = "cli")]
mod error;
#[cfg(feature = "cli")]
mod exit;
pub mod figure;
pub mod findings;
#[cfg(feature = "cli")]
mod folder;
pub mod found;
pub mod json;
#[cfg(feature = "cli")]
mod leftovers;
#[cfg(feature = "cli")]
mod numbers;
#[cfg(feature = "cli")]
mod opening;
#[cfg(feature = "cli")]
mod output;
mod outside;
#[cfg(feature = "cli")]
mod page;
pub mod picture;
#[cfg(feature = "cli")]
mod plots;
#[cfg(feature = "proptest")]
pub mod property;
#[cfg(feature = "cli")]
pub mod records;
#[cfg(feature = "cli")]
pub mod results;
#[cfg(feature = "cli")]
mod scenario_file;
#[cfg(feature = "cli")]
pub mod serve;
#[cfg(feature = "cli")]
mod shell;
#[cfg(feature = "cli")]
mod show;
pub mod statistics;
#[cfg(feature = "cli")]
mod stopping;
pub mod style;
pub mod text;
#[cfg(feature = "cli")]
mod troubles;
mod words;
