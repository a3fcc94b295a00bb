//! Mutants of locks on a replicated master.

use crate::Mutant;

/// All of them.
pub(crate) fn mutants() -> Vec<Mutant> {
    Vec::new()
}
