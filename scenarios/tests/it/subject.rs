//! The engine whose words the rows of `keyword_effects` show: here the kernel. The tests of the second engine have
//! their own.

use doublehold_scenarios::SimEngine;

pub(crate) fn engine() -> SimEngine {
    SimEngine
}

/// The words that it refuses, and what is below them.
pub(crate) const REFUSED: &[&str] = &[];
