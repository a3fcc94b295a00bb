//! Reports and pictures of runs.
//!
//! One binary, since each links all that a run needs.

mod catalogue;
mod causes;
mod counterfactual_pairs;
mod golden;
mod sentences;
mod story;
