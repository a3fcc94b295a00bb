//! The parts of which several locks are made, each with its switches.
//!
//! In reading order:
//!
//! | file | holds |
//! |---|---|
//! | `timing` | when a lease is believed, and which reply comes too late |
//! | `tokens` | what a lock writes into its key, and for how long that is the same |
//! | `join` | several requests at once, in an order that does not depend on luck |
//! | `ballot` | what several nodes answered, and what those leave open that did not |
//! | `waiting` | how a client waits for a lock that is taken |
//! | `watchdog` | a task that renews a lease beside its holder |
//!
//! A part knows no lock.

pub(crate) mod ballot;
pub(crate) mod join;
pub(crate) mod timing;
pub(crate) mod tokens;
pub(crate) mod waiting;
pub(crate) mod watchdog;
