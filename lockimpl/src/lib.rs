//! Redis locks as plain async Rust: on a single node, on a replicated master, and Redlock, each with
//! the switches that the debate about them turns on, and each as published by default; and the locks
//! that came before them, which articles still teach, each with its flaw.
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
//! | `times`, `clock` | the three clocks, deadlines, drift, the elapsed check |
//! | `locks` | the algorithms, a file each, and their switches |
//! | `profile`, `profiles` | [`Profile`]: a library as one of them with fixed switches, a file each |
//! | `statics` | [`Statics`]: what a library keeps once in a process |
//! | `form`, `switch` | [`Switches`]: what each may be, its default and its meaning, said once |
//! | `descriptor`, `registry` | [`Registry`]: any lock by its name, and what is known of it without building one |
//! | `existing`, `client` | [`Existing`]: lock code that exists already, over redis-rs' own connection |
//! | `request`, `scripted`, `link`, `wire`, `plain` | what is said to one node, and the way to it |
//! | `transport`, `reconnecting` | [`Transport`]: a driver that sends again and connects anew |
//! | `renewal` | a task that keeps a lease alive beside its holder, and what that is told |
//! | `subscription`, `pushes` | what a node says by itself, and the connection it says it on |
//! | `tokio_env` | the environment of a real machine (feature `tokio`) |
//!
//! ```no_run
//! # #[cfg(feature = "tokio")]
//! # async fn take_it() -> Result<(), doublehold_lockimpl::ConfigError> {
//! use doublehold_lockimpl::{Acquired, Lock, NodeName, Registry, Switches, TokioEnv};
//! use std::time::Duration;
//!
//! let nodes = (7000..7005).map(|port| NodeName::new(&format!("redis://127.0.0.1:{port}"))).collect();
//! let mut lock = Registry::builtin().build("redlock", TokioEnv::new(), nodes, &Switches::new())?;
//! if let Acquired::Granted(grant) = lock.acquire("stock", Duration::from_secs(10)).await {
//!     // Work here, until `grant.deadline` and no longer.
//!     lock.release(&grant).await;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What no lock here does: admit its holder again, or keep waiters in line.

mod ballot;
mod chance;
mod client;
mod clock;
mod descriptor;
mod driver;
mod env;
mod existing;
mod extensions;
mod form;
mod join;
mod link;
mod lock;
mod locks;
mod nowhere;
mod plain;
mod profile;
mod profile_kind;
mod profiles;
mod pushes;
mod reconnecting;
mod registry;
mod renewal;
mod request;
mod scripted;
mod statics;
mod subscription;
mod switch;
#[cfg(test)]
mod tests;
mod times;
mod tokens;
#[cfg(feature = "tokio")]
mod tokio_env;
mod transport;
mod waiting;
mod watch;
mod wire;

pub use client::Client;
pub use clock::{Clock, Drift, Ratio, RenewEvery, Timing};
pub use descriptor::{Descriptor, Facts, Nodes, Sends};
pub use driver::{connection_config, connection_info, listening_config, listening_info};
pub use env::{DeadlinePassed, Env, NodeName, Task};
pub use existing::{Acquiring, Existing, Guard, RedisRs, Wanted};
pub use form::{Choice, Form, LockConfig};
pub use link::OnTimeout;
pub use lock::{
    Acquired, Doubt, ErrorReply, Extended, Grant, Lock, Refusal, Released, Token, TooFewReplicas,
};
pub use locks::redlock::{
    Expiry, ExtendCheck, ExtensionVotes, OnFailedExtension, OnNodeError, Order, Quorum, RedlockConfig,
    RedlockLock, ReleaseOn, Retry, Subset, Tie, TokenScope, WaitFor,
};
pub use locks::replicated::{ReplicatedConfig, ReplicatedLock};
pub use locks::single::{
    DeadlineFrom, ExpiryClock, ExtendBy, Habits, Probe, ReplicaWait, SingleConfig, SingleLock,
};
pub use profile::{Flaw, Profile, Remedy};
pub use profile_kind::ProfileKind;
pub use pushes::{Push, Pushes};
pub use registry::{BoxLock, ConfigError, LockKind, Registry, descriptors};
pub use renewal::{RenewFrom, Renewal, StopOnRelease, ToldOnLoss};
pub use request::ReleaseMethod;
pub use statics::Statics;
pub use switch::{Kind, Most, Switch, SwitchError, Switches, Unfit, Value};
pub use times::{BootTime, Deadline, MonotonicTime, WallTime};
pub use tokens::TokenSource;
#[cfg(feature = "tokio")]
pub use tokio_env::TokioEnv;
pub use transport::{Reconnect, Transport};
pub use waiting::{WaitClock, Waiting, Wake};
pub use watch::Watch;
