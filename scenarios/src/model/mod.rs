//! A scenario as data: everything checked, every text a value.
//!
//! Knows neither the text it was read from, nor the kernel that runs it, nor the runner. The impls that need those
//! stand where they are known: `format/conversions.rs` and `run/engine/lower.rs`. Of the kernel's crate only plain
//! values are named here: durations and their laws, rates, chances, kinds of clocks.
//!
//! Decision: "The data of a scenario is a module (`scenarios/src/model`)" (docs/decisions/crates.md).

pub mod cast;
pub mod fault;
pub mod host;
pub mod scenario;
pub mod sentinels;
pub mod service;
pub mod weather;
pub mod when;
