//! The page of a sweep, and its pictures.
//!
//! - [`page`]: the report of a sweep, one page from its records
//! - [`plots`]: pure functions from numbers to a picture's text

pub mod page;
pub mod plots;
