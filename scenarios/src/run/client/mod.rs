//! The surroundings of a lock in a run: the client's program, the boundary to the code under test, and the resource.
//!
//! Nothing here knows what executes the run: that is behind a [`stage`].

pub(in crate::run) mod commits;
mod data;
pub(in crate::run) mod frames;
mod held_locks;
pub(crate) mod in_session;
pub(in crate::run) mod ledger;
mod life;
pub(in crate::run) mod panic_guard;
pub(in crate::run) mod program;
mod replicas;
pub(crate) mod replicated_table;
pub(in crate::run) mod resource;
pub(in crate::run) mod stage;
