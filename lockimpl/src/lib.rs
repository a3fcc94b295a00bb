//! Redis locks as plain async Rust: on a single node, on a replicated master, and Redlock, each with
//! the switches that the debate about them turns on, and each as published by default.
//!
//! The same code runs on real machines and in a simulated world. It reaches time, randomness and the
//! network only through [`Env`], and talks to nodes through redis-rs.
//!
//! Where to start reading:
//!
//! | module | what it holds |
//! |---|---|
//! | `lock` | [`Lock`] and what its calls come to: yes, no, or a reply was lost |
//! | `env` | [`Env`]: what a lock needs from its machine, and what a pause means |
//! | `clock` | the three clocks, deadlines, drift, the elapsed check |
//! | `single`, `replicated`, `redlock` | the algorithms and their switches |
//! | `algorithm` | [`Algorithm`]: any of them, chosen at run time |
//! | `request`, `link`, `wire` | what is said to one node, and the way to it |
//! | `tokio_env` | the environment of a real machine (feature `tokio`) |
//!
//! ```no_run
//! # #[cfg(feature = "tokio")]
//! # async fn take_it() -> Result<(), doublehold_lockimpl::ConfigError> {
//! use doublehold_lockimpl::{Acquired, Algorithm, Lock, NodeName, RedlockConfig, TokioEnv};
//! use std::time::Duration;
//!
//! let nodes = (7000..7005).map(|port| NodeName::new(&format!("redis://127.0.0.1:{port}"))).collect();
//! let mut lock = Algorithm::Redlock(RedlockConfig::default()).build(TokioEnv::new(), nodes)?;
//! if let Acquired::Granted(grant) = lock.acquire("stock", Duration::from_secs(10)).await {
//!     // Work here, until `grant.deadline` and no longer.
//!     lock.release(&grant).await;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What no lock here does: renew itself in the background, admit its holder again, or keep waiters in
//! line.

mod algorithm;
mod clock;
mod driver;
mod env;
mod join;
mod link;
mod lock;
mod redlock;
mod replicated;
mod request;
mod single;
#[cfg(test)]
mod tests;
#[cfg(feature = "tokio")]
mod tokio_env;
mod wire;

pub use algorithm::{Algorithm, AnyLock, ConfigError};
pub use clock::{BootTime, Clock, Deadline, Drift, MonotonicTime, Ratio, Timing, WallTime};
pub use driver::{connection_config, connection_info};
pub use env::{DeadlinePassed, Env, NodeName};
pub use link::OnTimeout;
pub use lock::{Acquired, Doubt, ErrorReply, Extended, Grant, Lock, Refusal, Released, Token};
pub use redlock::{OnFailedExtension, Order, Quorum, RedlockConfig, RedlockLock, ReleaseOn, TokenScope};
pub use replicated::{ReplicatedConfig, ReplicatedLock};
pub use request::ReleaseMethod;
pub use single::{ReplicaWait, SingleConfig, SingleLock};
#[cfg(feature = "tokio")]
pub use tokio_env::TokioEnv;
