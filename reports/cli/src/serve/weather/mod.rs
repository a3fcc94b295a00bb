//! What faults do to served hosts and to the links between them and their clients, in real time.
//!
//! | | |
//! |---|---|
//! | a host: its clocks, its stops, its speed, orders to its process | `host`, `clocks` |
//! | the machine that a node or Sentinel sees | `machine` |
//! | who is at the other end, and cuts | `links` |
//! | which requests came | `requests` |
//! | what befalls a single request | `strikes` |
//! | what befalls at a moment | `moments` |
//! | which of both have struck | `ledger` |
//! | what is closed while a host is stopped or a link is cut | `gate` |
//!
//! Not here, because they need a machine of ours: the suspension of a machine, the loss of its power, what a disk
//! forgets, and everything that befalls a client's process.

mod clocks;
pub(super) mod gate;
pub(super) mod host;
pub(super) mod ledger;
pub(super) mod links;
pub(super) mod machine;
pub(super) mod moments;
pub(super) mod requests;
pub(super) mod strikes;
