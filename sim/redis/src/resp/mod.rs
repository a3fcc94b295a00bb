//! The Redis serialisation protocol: requests from bytes, replies to bytes. Nothing here knows what a command means.

pub mod double;
pub mod integer;
pub mod reply;
pub mod request;

pub use reply::Protocol;
pub use request::{Args, OwnedArgs, ProtocolError, RequestBuffer};
