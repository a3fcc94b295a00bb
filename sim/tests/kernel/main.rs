//! The kernel's claims, one file per concern. Each test name states one; stories are told by `story.rs`.

mod budgets;
mod clocks;
mod copies;
mod crashes;
mod delays;
mod determinism;
mod disk;
mod ends;
mod faults;
mod laws;
mod network;
mod retransmission;
mod stopping;
mod story;
