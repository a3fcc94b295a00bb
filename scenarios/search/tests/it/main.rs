//! Searches, beside brute force and beside models.
//!
//! One binary, since each links all that a run needs.

mod explore;
mod explore_data;
mod explore_waits;
mod libraries;
mod many;
mod plans_of_weathers;
mod rules;
mod shrink;
mod threads;
