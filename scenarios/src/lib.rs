//! placeholder
pub mod report;
pub mod scenario;
