//! Redis locks as plain async Rust: on a single node, on a replicated master, and Redlock.
mod clock;
mod driver;
mod env;
mod lock;
pub use clock::{BootTime, Clock, Deadline, Drift, MonotonicTime, Ratio, Timing, WallTime};
pub use driver::{connection_config, connection_info};
pub use env::{DeadlinePassed, Env, NodeName};
pub use lock::{Acquired, Doubt, ErrorReply, Extended, Grant, Lock, Refusal, Released, Token};
