//! The way to one node: what is said to it, over which connection, and what a missing reply means.
//!
//! In reading order:
//!
//! | file | holds |
//! |---|---|
//! | `request` | every command of the textbook locks, and which replies say yes |
//! | `scripts`, `extension_scripts` | the scripts that those run |
//! | `units` | the whole units in which Redis counts leases |
//! | `cached_script` | a script of another lock, loaded where a node does not know it |
//! | `wire` | one open connection, and the time limit on each command |
//! | `link` | a client's way to one node: connects, gives up, says what is in doubt |
//! | `transport` | how often a driver sends again and connects anew: the switches |
//! | `tries` | how often one request is tried, and when |
//! | `driver` | a driver that keeps a connection open beside its requests |
//! | `discovery` | the Sentinels that a driver asks for the master, and how |
//! | `subscription` | a second connection, on which the node speaks by itself |
//! | `plain_node` | a node and plain commands, for the locks that came before `SET … NX PX` |
//!
//! Whom to ask, and what to make of the answers, is the locks' to say.

pub(crate) mod cached_script;
pub(crate) mod discovery;
mod driver;
pub(crate) mod extension_scripts;
pub(crate) mod link;
pub(crate) mod plain_node;
pub(crate) mod request;
pub(crate) mod scripts;
pub(crate) mod subscription;
pub(crate) mod transport;
pub(crate) mod tries;
pub(crate) mod units;
pub(crate) mod wire;
