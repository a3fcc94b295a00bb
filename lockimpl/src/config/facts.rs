//! What a lock can do and what it sends, once its switches are set: for whoever has to know before it is built.
//!
//! Plain data.

/// What is known of a lock with its switches set. By default nothing is, and nothing is ruled out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The commands that reach a node; `None` if nobody knows.
    pub sends: Option<Sends>,
    /// Whether a lease can be extended.
    pub extends: bool,
    /// Whether a grant has a deadline.
    pub deadline: bool,
    /// Whether a grant has a fencing number.
    pub fencing: bool,
    /// Whether it can wait by itself for a lock that is taken, see
    /// [`Lock::acquire_within`](crate::Lock::acquire_within).
    pub waits: bool,
    /// Whether it renews a lease beside its holder.
    pub renews: bool,
    /// Whether it admits its holder again.
    pub readmits: bool,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            sends: None,
            extends: true,
            deadline: true,
            fencing: true,
            waits: false,
            renews: false,
            readmits: true,
        }
    }
}

/// The commands that a lock sends, in capitals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sends {
    /// To take the lock and to give it back.
    pub to_hold: Vec<&'static str>,
    /// To extend a lease.
    pub to_extend: Vec<&'static str>,
}
