//! Two locks beside each other, in worlds of which the answer is known.
//!
//! One binary, since each links all that a run needs.

mod determinism;
mod kept;
mod kit;
mod model;
mod never_reached;
mod planted;
mod refused;
