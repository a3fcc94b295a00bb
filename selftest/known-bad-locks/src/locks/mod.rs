//! The known-bad locks, by what their locks run on.
//!
//! For a bug that a library of the program has today, the known-bad lock is that library, and its control is the
//! library with one switch set otherwise. A bug that was mended, or is in a part that is not modelled, is code here.

pub(crate) mod canary;
pub(crate) mod one_node;
pub(crate) mod quorum;
pub(crate) mod replicated;

use doublehold::check::Switches;

use crate::Kind;

/// A library as it is, but for the switches of `chosen`, and the same with its repair.
fn library(
    name: &'static str,
    library: &str,
    chosen: fn(Switches) -> Switches,
    repair: fn(Switches) -> Switches,
) -> (Kind, Kind) {
    let chosen = chosen(Switches::new());
    let repaired = repair(chosen.clone());
    // A name of its own, since controls of one name in one world are searched once. Kinds live as long as the program.
    let control: &'static str = format!("{name} repaired").leak();
    (Kind::from_library(name, library, chosen), Kind::from_library(control, library, repaired))
}
