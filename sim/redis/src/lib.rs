//! One Redis 7 server: a pure command core and an async connection loop over any byte stream.
//!
//! Reading order: [`resp`] (bytes in, bytes out), [`core`] (what a command does), then the node around it: `node` (one
//! process), `server` (one client's connection), `persistence`, `replication`, and [`machine`], all that a node needs of
//! what it runs on. The core is pure: whoever calls it says what time it is and sends the replies, so the same server
//! runs on a simulated host and on a real TCP port.
//!
//! Not modelled: lists, sets, sorted sets, streams, pub/sub, cluster, modules, functions, ACLs. Their commands answer
//! `ERR unknown command`, as a Redis built without them would.

mod config_file;
pub mod core;
pub mod machine;
mod node;
mod on_sim;
mod operator;
mod persistence;
mod pipe;
mod replication;
pub mod resp;
mod server;
mod wait;

pub use machine::Machine;
pub use node::{BootError, Node, NodeConfig};
pub use on_sim::{RunError, SimMachine};
pub use operator::{Operator, Order, UnknownOrder};
pub use persistence::Persistence;
