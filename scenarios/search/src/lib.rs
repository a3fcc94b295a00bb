//! Searches: where does a lock break, and with how little?
//!
//! # Map, in reading order
//!
//! - [`many`]: runs of one scenario from many seeds, and [`coverage`], what their faults have touched.
//! - [`explore`]: every placement of a few faults at the steps of a run.
//! - [`mod@shrink`]: from a run that violates something to the least scenario that still does.
//! - [`rules`]: white-box rules, asked of many runs.
//! - [`panic_hook`]: panics of code under test, each shown once.
//!
//! All of them only prepare scenarios and run them ([`Engine`](doublehold_scenarios::Engine)). Nothing here prints.

pub mod coverage;
pub mod explore;
pub mod many;
pub mod panic_hook;
pub mod rules;
pub mod shrink;
