//! The surroundings of a lock in a run: the client's program, the boundary to the code under test, and the resource.
//!
//! Nothing here knows what executes the run: that is behind a [`stage`].

pub(in crate::run) mod caught;
mod held;
pub(in crate::run) mod program;
pub(in crate::run) mod resource;
pub(in crate::run) mod stage;
