//! What a command does: data, expiry, scripts, transactions, replies and what is propagated to replicas and the AOF.
//!
//! Pure: no async, no clock, no randomness. The caller says what time it is, sends the replies and carries out what
//! [`Next`] asks for. One `Core` is one Redis process's memory; a restart is a new `Core`.

mod config;
mod observer;
mod replication;
mod session;

pub use config::CoreConfig;
pub use observer::{KeyChange, Observer, Peer};
pub use replication::{LinkState, ReplicaState, Replication, ReplicationId, Role};
pub use session::Session;

use crate::resp::Args;
use std::time::Duration;

/// Wall clock of the node, microseconds since the Unix epoch. Expiry uses milliseconds: `0.div_euclid(1000)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallMicros(pub i64);

impl WallMicros {
    /// Milliseconds since the epoch, rounded down.
    pub fn millis(self) -> i64 {
        self.0.div_euclid(1000)
    }
}

/// What the connection must do after [`Core::execute`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// `out` holds the reply (nothing, if the client switched replies off).
    Reply,
    /// Send `out`, then close the connection.
    Close,
    /// WAIT: nothing is in `out` yet. Answer with the number of replicas that acknowledged `offset`, as soon as it
    /// reaches `replicas` or after `timeout` (zero: no timeout).
    Wait {
        /// How many replicas are asked for.
        replicas: u32,
        /// Longest wait, on the node's monotonic clock; zero waits forever.
        timeout: Duration,
        /// The connection's last write ends at this replication offset.
        offset: u64,
    },
    /// PSYNC: the connection turns into a link to a replica.
    Psync {
        /// The replication id the replica asks for, `?` when it has none.
        id: Vec<u8>,
        /// The first offset the replica is missing, -1 when it has none.
        offset: i64,
    },
    /// REPLICAOF: the reply is in `out`, [`Core::replication`] already has the new role; the node must start or stop its
    /// replica task and drop its own replicas' links where Redis does.
    ReplicaOf(Option<(String, u16)>),
    /// SHUTDOWN: close everything without a reply, saving first if told to.
    Shutdown {
        /// Whether the data set is to be saved first.
        save: bool,
    },
    /// A script passed its instruction limit and counts as still running; nothing is in `out`. Call `execute` again with
    /// the same request when the script has ended ([`Core::script_is_overrunning`] turns false) or at [`Core::held_until`].
    Held,
}

/// One Redis process's memory.
#[derive(Debug)]
pub struct Core {
    config: CoreConfig,
    replication: Replication,
}

impl Core {
    /// An empty master. `run_id` and the first replication id come from the caller's randomness.
    pub fn new(config: CoreConfig, run_id: [u8; 20], replication_id: ReplicationId) -> Core {
        let _ = run_id;
        Core { config, replication: Replication::new(replication_id) }
    }

    /// Executes one request. Replies are appended to `out` in the session's protocol.
    pub fn execute(
        &mut self,
        session: &mut Session,
        now: WallMicros,
        args: &Args<'_>,
        out: &mut Vec<u8>,
    ) -> Next {
        let _ = (session, now, args, out);
        Next::Reply
    }

    /// Applies one command of the master's stream or of an AOF: allowed on a replica, not propagated, not answered, and
    /// never made to expire keys by this node's own clock. Anything but [`Next::Held`] means it is done.
    pub fn apply(&mut self, session: &mut Session, now: WallMicros, args: &Args<'_>) -> Next {
        let _ = (session, now, args);
        Next::Reply
    }

    /// Deletes expired keys as the background cycle does (masters only), propagating a DEL for each.
    pub fn expire_cycle(&mut self, now: WallMicros) {
        let _ = now;
    }

    /// A time before which [`expire_cycle`](Self::expire_cycle) has nothing to do; `None` while no key has a lifetime.
    /// Milliseconds since the epoch.
    pub fn next_expiry_ms(&self) -> Option<i64> {
        None
    }

    /// Appends what was written since the last call as RESP commands (what AOF and replicas get) to `into`. False if
    /// there was nothing. [`Replication::offset`] has already moved by these bytes.
    pub fn take_propagated(&mut self, into: &mut Vec<u8>) -> bool {
        let _ = into;
        false
    }

    /// Makes the next propagated write start with a SELECT (a new replica does not know the selected database).
    pub fn propagate_select_again(&mut self) {}

    /// Appends commands that rebuild the data set (a full resynchronisation, an AOF rewrite). Expired keys included, as
    /// in Redis: whoever loads decides by their own clock.
    pub fn dump(&self, into: &mut Vec<u8>) {
        let _ = into;
    }

    /// Drops every key and marks every watching transaction dirty, propagating nothing (before a full resynchronisation).
    pub fn clear_all(&mut self) {}

    /// Deletes every key that has expired by `now`, propagating nothing (after loading).
    pub fn drop_expired(&mut self, now: WallMicros) {
        let _ = now;
    }

    /// Must be called when a connection opens, so that INFO counts it.
    pub fn connected(&mut self, session: &Session) {
        let _ = session;
    }

    /// Must be called when a connection ends: forgets what it watched.
    pub fn disconnected(&mut self, session: &Session) {
        let _ = session;
    }

    /// Whether a script passed its limit and counts as still running.
    pub fn script_is_overrunning(&self) -> bool {
        false
    }

    /// When held requests turn into BUSY replies; `None` when no script is overrunning or it is already past.
    pub fn held_until(&self) -> Option<WallMicros> {
        None
    }

    /// Role, ids, offsets and links, for the node to read.
    pub fn replication(&self) -> &Replication {
        &self.replication
    }

    /// Role, ids, offsets and links, for the node to keep up to date (INFO, ROLE and NOREPLICAS are answered from them).
    pub fn replication_mut(&mut self) -> &mut Replication {
        &mut self.replication
    }

    /// What the core was told to be.
    pub fn config(&self) -> &CoreConfig {
        &self.config
    }
}
