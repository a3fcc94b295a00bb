//! Diagnosis: how a lock was lost in a run, what caused it, and what would change it.
//!
//! # Map, in reading order
//!
//! - [`mod@finding`]: how the lock was lost, as facts of one run (a key that expired early, a clean-up that came late).
//! - [`cause`]: what caused it, by the same run without each thing that may have.
//! - [`mod@why`]: how likely it was as the run went along, and which change would prevent it.
//! - [`counterexample`]: from a seed that a search found to the smallest run that shows it, with its causes.
//! - [`facts`] and [`fault_times`]: lookups in a report or a history, which pictures use as well.
//!
//! Everything here is data: the words for it are the renderer's. A finding reads one run and makes none; causes and
//! remedies come only from runs that were made without them.

pub mod cause;
pub mod counterexample;
pub mod facts;
pub mod fault_times;
pub mod finding;
pub mod timeline;
mod violation;
pub mod why;

pub use cause::answer::{AnyOf, Cause, Causes, Found, Overran, Repeats, What};
pub use cause::{Explained, explain};
pub use facts::RunFacts;
pub use finding::Finding;
pub use timeline::{Timeline, keys_in};
pub use violation::Violation;
