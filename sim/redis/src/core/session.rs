//! One connection, as the core sees it: selected database, protocol, transaction.

use super::{Peer, WallMicros};
use crate::resp::reply::Protocol;

/// One connection's state. The id must be unique among the connections of one [`Core`](super::Core).
#[derive(Debug, Default)]
pub struct Session {
    /// Unique id, what CLIENT ID answers.
    pub(crate) id: u64,
    pub(crate) peer: Peer,
    pub(crate) addr: String,
    pub(crate) connected_at: WallMicros,
    pub(crate) protocol: Protocol,
    pub(crate) db: usize,
    /// Replication offset after this connection's last command: what WAIT waits for.
    pub(crate) offset: u64,
    pub(crate) listening_port: Option<u16>,
    /// The stream of a master or an AOF: replies are dropped, READONLY does not apply.
    pub(crate) master_link: bool,
}

impl Session {
    /// A fresh connection from `addr` (`ip:port`).
    pub fn new(id: u64, peer: Peer, addr: String, connected_at: WallMicros) -> Session {
        Session { id, peer, addr, connected_at, ..Session::default() }
    }

    /// The session that applies a master's stream or an AOF.
    pub fn master_link(id: u64) -> Session {
        Session { id, master_link: true, ..Session::default() }
    }

    /// The id given at [`new`](Self::new).
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Who is at the other end.
    pub fn peer(&self) -> Peer {
        self.peer
    }

    /// The address given at [`new`](Self::new).
    pub fn addr(&self) -> &str {
        &self.addr
    }

    /// What it said with `REPLCONF listening-port`.
    pub fn listening_port(&self) -> Option<u16> {
        self.listening_port
    }
}
