//! Mutants of locks on a majority of independent nodes.

use crate::Mutant;

/// All of them.
pub(crate) fn mutants() -> Vec<Mutant> {
    Vec::new()
}
