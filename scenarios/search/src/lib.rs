//! Searches: where does a lock break, with how little, and what did it come from?
//!
//! # Map, in reading order
//!
//! - [`many`]: runs of one scenario from many seeds, and [`coverage`], what their faults have touched.
//! - [`explore`]: every placement of a few faults at the steps of a run.
//! - [`mod@shrink`]: from a run that violates something to the least scenario that still does.
//! - [`counterexample`]: from a seed that a search found to the least run that shows it, confirmed through redis-rs.
//! - [`panic_hook`]: panics of code under test, each shown once.
//! - [`cause`]: what a violation came from, by runs without it. [`mod@why`]: how likely it was as the run went along.
//!
//! All of them only prepare scenarios and run them ([`Engine`](doublehold_scenarios::Engine)). Nothing here prints.

pub mod cause;
pub mod counterexample;
pub mod coverage;
pub mod explore;
pub mod many;
pub mod panic_hook;
pub mod shrink;
pub mod why;
