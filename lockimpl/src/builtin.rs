//! The registry of all that this crate has: its locks, and the libraries over them.
//!
//! What there is, `locks` and `profiles` list.

use crate::env::Env;
use crate::registry::Registry;
use crate::{locks, profiles};

impl<E: Env> Registry<E> {
    /// The locks of this crate, in the order in which lists show them.
    pub fn builtin() -> Self {
        profiles::with_all(locks::with_all(Self::empty()))
    }
}
