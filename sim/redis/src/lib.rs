//! One Redis 7 server: a pure command core and an async connection loop over any byte stream.
//!
//! Reading order: [`resp`] (bytes in, bytes out), [`core`] (what a command does), then the node around it: `node` (one
//! process), `shared` (what its tasks share), `server` (one client's connection), `persistence`, `snapshots`,
//! `config_file`, `replication`, and [`machine`], all that a node needs of what it runs on. `on_sim` runs it on a
//! simulated host, with an `operator` beside it, as one [`process`] of those a machine can have; `on_tokio`, behind the
//! feature `tokio`, is a real machine. The core is pure: whoever calls it says what time it is and sends the replies,
//! so the same server runs on a simulated host and on a real TCP port.
//!
//! # What is not there
//!
//! Not modelled: consumer groups of streams, cluster, modules, functions, ACLs. These commands of Redis
//! 7.0 answer `ERR unknown command`, as a Redis built without them would:
//!
//! | about | commands |
//! |---|---|
//! | strings | `LCS` |
//! | bits | `BITCOUNT` `BITFIELD` `BITFIELD_RO` `BITOP` `BITPOS` |
//! | streams | `XACK` `XAUTOCLAIM` `XCLAIM` `XGROUP` `XINFO` `XPENDING` `XREADGROUP` |
//! | HyperLogLog | `PFADD` `PFCOUNT` `PFDEBUG` `PFMERGE` `PFSELFTEST` |
//! | geo | `GEOADD` `GEODIST` `GEOHASH` `GEOPOS` `GEORADIUS` `GEORADIUSBYMEMBER` `GEORADIUSBYMEMBER_RO` `GEORADIUS_RO` `GEOSEARCH` `GEOSEARCHSTORE` |
//! | keys | `DUMP` `MIGRATE` `RESTORE` |
//! | scripts, functions | `FCALL` `FCALL_RO` |
//! | server | `ACL` `BGREWRITEAOF` `BGSAVE` `DEBUG` `LASTSAVE` `LATENCY` `LOLWUT` `MODULE` `RESTORE-ASKING` `SAVE` `SLOWLOG` |
//! | subcommands | `FUNCTION DELETE` `FUNCTION DUMP` `FUNCTION KILL` `FUNCTION LOAD` `FUNCTION RESTORE` `FUNCTION STATS` `MEMORY DOCTOR` `MEMORY MALLOC-STATS` `MEMORY PURGE` `MEMORY STATS` `SCRIPT DEBUG` |
//!
//! `CLUSTER`, `ASKING`, `READONLY` and `READWRITE` answer as a Redis without cluster does, and `FAILOVER` as a Redis
//! that cannot begin one. Where a Redis would begin one, the answer says that a node has none, and what to send.
//!
//! Locks that wait in a `BLPOP` or for a message (Redisson's, Spring's in its pub/sub mode) find all that they send,
//! and who asks for it (`notify-keyspace-events`) is told of changes of keys.
//!
//! A node that is told to be an 8.4 ([`Version`](crate::core::Version)) has `WAITAOF`, `DELEX`, `DIGEST` and SET's
//! `IFEQ`, `IFNE`, `IFDEQ` and `IFDNE` besides. `SUITES.md` says which tests of libraries pass here.
//!
#![doc = include_str!("../SCRIPTS.md")]

mod call;
mod config;
mod config_file;
pub mod core;
pub mod machine;
mod node;
mod on_sim;
#[cfg(feature = "tokio")]
mod on_tokio;
mod operator;
mod persistence;
mod pipe;
pub mod process;
mod replication;
pub mod resp;
mod server;
mod shared;
mod snapshots;
pub mod wait;

pub use config::{BootError, NodeConfig, Persistence};
pub use machine::{Machine, Received};
pub use node::Node;
pub use on_sim::{RunError, SimMachine};
#[cfg(feature = "tokio")]
pub use on_tokio::TokioMachine;
pub use operator::{Operator, Order, UnknownOrder};
