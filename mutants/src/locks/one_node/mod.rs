//! Mutants of locks on one node: identity, release, watchdog, process-local stage, fencing.

use crate::Mutant;

/// All of them.
pub(crate) fn mutants() -> Vec<Mutant> {
    Vec::new()
}
