//! One Redis 7 server: a pure command core and an async connection loop over any byte stream.
//!
//! Reading order: [`resp`] (bytes in, bytes out), [`core`] (what a command does), then the node around it. The core is
//! pure: whoever calls it says what time it is and sends the replies, so the same server runs on a simulated host and on
//! a real TCP port.
//!
//! Not modelled: lists, sets, sorted sets, streams, pub/sub, cluster, modules, functions, ACLs. Their commands answer
//! `ERR unknown command`, as a Redis built without them would.

pub mod core;
pub mod resp;
