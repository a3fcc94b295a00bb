//! The Redis serialisation protocol: requests from bytes, replies to bytes.
//!
//! Nothing here knows what a command means.

pub mod reply;
pub mod request;

pub use request::{Args, ProtocolError, RequestBuffer};
