//! Services that locks use besides Redis, as their clients see them: ZooKeeper, etcd, and a database.
//!
//! Each service is one linearizable host. The group behind it is taken as correct: its elections, its logs and its
//! disks are not here, so nothing can go wrong in them. What a client can see of a service is here: sessions and
//! leases that end by the service's clock, watches, locks in the order in which they were asked for, and what is left
//! of all that when the service starts again.
//!
//! In reading order:
//!
//! | file | holds |
//! |---|---|
//! | `service` | [`Service`]: a state machine, and the messages that it sends |
//! | `frame` | messages as bytes: a length, a number, and what is said |
//! | `zookeeper` | sessions, ephemeral nodes in sequence, watches that fire once |
//! | `etcd` | leases, keep-alives, transactions, watches of a key's end |
//! | `database` | sessions, row locks, advisory locks, transactions over a table |
//!
//! Decision: "A service is one host with messages of its own" (docs/decisions/locks.md).
//!
//! A service is pure: whoever runs it says what time it is, on the service's monotonic clock, and carries its messages.
//! The messages are ours. They name what the real protocols name, and no real client can read them.

pub mod database;
pub mod etcd;
mod frame;
mod service;
pub mod zookeeper;

pub use frame::{BadFrame, FrameBuffer, write_frame};
pub use service::{
    EVENT, Keepalive, Outbox, Outgoing, OwnerChange, SESSION_ENDED, Service, ServiceConnection, ServiceKind,
};
