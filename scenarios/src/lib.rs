//! placeholder
pub mod catalog;
pub mod error;
pub mod plan;
pub mod report;
mod run;
pub mod scenario;
pub mod spec;

pub use run::{Engine, Keep, SimEngine};
