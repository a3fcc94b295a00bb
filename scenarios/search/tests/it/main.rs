//! Searches, beside brute force and beside models.
//!
//! One binary, since each links all that a run needs.

mod explore;
mod explore_data;
mod libraries;
mod many;
mod plans_of_weathers;
mod shrink;
mod threads;
