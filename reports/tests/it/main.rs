//! Reports and pictures of runs.
//!
//! One binary, since each links all that a run needs.

mod catalogue;
mod causes;
mod golden;
mod sentences;
mod story;
mod twins;
