//! The registry of all that this crate has: its locks, and the libraries over them.
//!
//! What there is, `locks` and `profiles` list.
//!
//! Decision: "A lock of the program is compiled once" (docs/decisions/builds.md).

use std::sync::LazyLock;

use crate::config::Descriptor;
use crate::env::Env;
use crate::registry::{Kinds, Registry};
use crate::{locks, profiles};

impl<E: Env> Registry<E> {
    /// The locks of this crate, in the order in which lists show them.
    pub fn builtin() -> Self {
        with_all(Self::empty())
    }
}

/// Returns the descriptor of each lock of this crate.
pub fn descriptors() -> Vec<Descriptor> {
    static KNOWN: LazyLock<Vec<Descriptor>> = LazyLock::new(|| with_all(Vec::new()));
    KNOWN.clone()
}

fn with_all<E: Env, K: Kinds<E>>(kinds: K) -> K {
    profiles::with_all(locks::with_all(kinds))
}
