//! The step that a connection takes once a request is executed.

use std::time::Duration;

/// What the connection must do after [`Core::execute`](super::Core::execute).
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
        /// WAITAOF: the same about files, and whether this node's own is waited for too.
        file: Option<bool>,
    },
    /// The command waits for a key: nothing is in `out` yet. Its reply is pushed to the session, and
    /// [`Core::take_unblocked`](super::Core::take_unblocked) then says that it waits no more. Call
    /// [`Core::time_out`](super::Core::time_out) once the wall clock is past this millisecond, if there is one.
    Blocked {
        /// Milliseconds since the epoch; `None` waits forever.
        deadline_ms: Option<i64>,
    },
    /// PSYNC: the connection turns into a link to a replica.
    Psync {
        /// The replication id the replica asks for, `?` when it has none.
        id: Vec<u8>,
        /// The first offset the replica is missing, -1 when it has none.
        offset: i64,
    },
    /// PSYNC or SYNC of a Redis, which cannot be a replica: nothing is in `out`. Say why in an error.
    RefusedReplica,
    /// SYNC: the connection turns into a link to who reads the data set and the stream, and acknowledges nothing.
    Sync,
    /// REPLICAOF: the reply is in `out`, [`Core::replication`](super::Core::replication) already has the new role; the
    /// node must start or stop its replica task and drop its own replicas' links where Redis does.
    ReplicaOf(Option<(String, u16)>),
    /// SHUTDOWN: close everything without a reply, saving first unless told not to.
    Shutdown {
        /// Whether the data set is to be saved first, by a node that takes snapshots.
        save: bool,
    },
    /// A script passed its instruction limit and counts as still running; nothing is in `out`. Call `execute` again
    /// with the same request when the script has ended
    /// ([`Core::script_is_overrunning`](super::Core::script_is_overrunning) turns false) or at
    /// [`Core::held_until`](super::Core::held_until).
    Held,
    /// CLIENT PAUSE makes this request wait; nothing is in `out`. Call `execute` or `apply` again with the same request
    /// when the pause is lifted ([`Core::paused_until`](super::Core::paused_until) turns `None`) or at its end.
    Paused,
}
