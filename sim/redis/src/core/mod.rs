//! What a command does: data, expiry, scripts, transactions, replies and what is propagated to replicas and the AOF.
//!
//! Pure: no async, no clock, no randomness. The caller says what time it is, sends the replies and does what
//! [`Next`] asks for. One `Core` is one Redis process's memory; a restart is a new `Core`.

mod blocked;
mod clients;
mod command;
mod commands;
mod config;
mod containers;
mod context;
mod dispatch;
mod docs;
mod draws;
mod dump;
mod errors;
mod eviction;
pub(crate) mod hex;
mod keyspace;
mod limits;
mod long_double;
mod lua;
mod next;
mod notify;
mod observer;
mod pause;
mod program;
mod propagation;
mod push;
mod refusal;
mod replication;
mod scan_order;
mod script_limit;
mod session;
mod settings;
mod state;
mod statistics;
mod stored;
mod stream;
mod subscriptions;
mod time;
mod tracking;
mod values;

pub(crate) use blocked::{DEMOTED, reply_files};
pub use commands::pattern::matches as glob_matches;
pub use config::{CoreConfig, Version};
pub(crate) use errors::NOT_IN_TRANSACTION;
pub use limits::{Limits, OutputLimit};
pub use lua::runs_natively;
pub use next::Next;
pub use observer::{Fields, KeyChange, Observer, Origin, Peer, Stored, StoredValue};
pub use program::{Answered, Program};
pub use replication::{LinkState, READS_COMMANDS, ReplicaState, Replication, ReplicationId, Role};
pub use script_limit::{MetLimit, ScriptClock, ScriptLimit, StoppedScript};
pub use session::Session;
pub use settings::KeptSettings;
pub use state::{KeyEvents, Unblocked};
pub use stored::{Elements, Entries, Members, Scores, StreamEntry};
pub use stream::StreamError;
pub use time::WallMicros;
pub use values::EntryId;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use keyspace::Database;
use lua::{JsonSettings, NativeBuffers};
use propagation::Propagation;
use state::{Blocked, Client, Overrun, Pause, Scripts, Stats, Tracking};
use subscriptions::Subscriptions;

use crate::resp::{Args, reply};

/// Redis' default number of databases.
const DATABASES: usize = 16;

/// One Redis process's memory.
///
/// ```
/// use doublehold_sim_redis::core::{Core, CoreConfig, Next, Peer, ReplicationId, Session, WallMicros};
/// use doublehold_sim_redis::resp::OwnedArgs;
///
/// let mut core = Core::new(CoreConfig::default(), [1; 20], ReplicationId([2; 20]));
/// let mut session = Session::new(1, Peer::default(), "127.0.0.1:50000".into(), WallMicros(0));
/// let set: OwnedArgs = ["SET", "stock", "token", "NX", "PX", "5"].into_iter().collect();
/// let get: OwnedArgs = ["GET", "stock"].into_iter().collect();
///
/// let mut out = Vec::new();
/// assert_eq!(core.execute(&mut session, WallMicros(0), &set.args(), &mut out), Next::Reply);
/// core.execute(&mut session, WallMicros(5_999), &get.args(), &mut out);
/// core.execute(&mut session, WallMicros(6_000), &get.args(), &mut out);
/// assert_eq!(out, b"+OK\r\n$5\r\ntoken\r\n$-1\r\n", "5 ms on, the key lives; it is gone once they have passed");
/// ```
#[derive(Debug, Default)]
pub struct Core {
    config: CoreConfig,
    run_id: ReplicationId,
    replication: Replication,
    /// From number 0 to the highest that anybody chose: what lies beyond is empty.
    databases: Vec<Database>,
    propagation: Propagation,
    scripts: Scripts,
    /// What scripts that run natively build their commands in.
    native_buffers: NativeBuffers,
    /// What scripts told `cjson`.
    json: JsonSettings,
    overrun: Option<Overrun>,
    /// Every connection that is open, by its id.
    clients: BTreeMap<u64, Client>,
    /// CLIENT PAUSE, also when it is over.
    pause: Option<Pause>,
    /// Sessions whose request waits for the end of it.
    postponed: BTreeSet<u64>,
    /// Sessions that are shown every command.
    monitors: BTreeSet<u64>,
    subscriptions: Subscriptions,
    tracking: Tracking,
    /// Sessions that were killed and have not ended yet.
    killed: BTreeSet<u64>,
    /// Sessions that were pushed to or killed, for the node.
    news: Vec<u64>,
    /// Something was pushed since the request under way began.
    has_pushed: bool,
    /// Sessions whose next EXEC fails: a key they watch has changed.
    dirty_sessions: BTreeSet<u64>,
    /// Changes so far: how one sees whether a command wrote.
    dirty: u64,
    config_rewrite_due: bool,
    /// What commands have copied or looked at beyond their arguments and replies, in bytes: the script that calls them
    /// pays for it, and starts it at 0.
    work: u64,
    /// Clients that wait.
    blocked: Blocked,
    /// How many random keys have been asked for.
    random_keys: u64,
    /// How many members and fields have been drawn.
    draws: u64,
    /// Bytes that connections hold in their buffers, as far as the node reports them.
    client_memory: u64,
    /// The last reply would have outgrown what its client may be sent.
    output_overflowed: bool,
    /// What the master or the file asked for last is not obeyed.
    stream_error: Option<StreamError>,
    stats: Stats,
}

impl Core {
    /// An empty master. Its run id and the first replication id come from the caller's randomness.
    pub fn new(config: CoreConfig, run_id: [u8; 20], replication_id: ReplicationId) -> Core {
        let known = config.scripts.clone();
        let mut core = Core {
            propagation: Propagation::new(config.append_only),
            config,
            run_id: ReplicationId(run_id),
            replication: Replication::new(replication_id),
            databases: vec![Database::default()],
            ..Core::default()
        };
        known.iter().for_each(|source| core.scripts.insert_source(source.as_bytes()));
        core
    }

    /// Executes one request. Replies are appended to `out` in the session's protocol.
    ///
    /// A request must have at least one argument, as those of a [`RequestBuffer`](crate::resp::RequestBuffer) do.
    pub fn execute(
        &mut self,
        session: &mut Session,
        now: WallMicros,
        args: &Args<'_>,
        out: &mut Vec<u8>,
    ) -> Next {
        self.listen_for_writes();
        self.dispatch(session, now, args, out)
    }

    /// Applies one command of the master's stream or of an AOF: allowed on a replica, never propagated (a chained
    /// replica hands its master's bytes on), never answered, and blind to this node's own clock: keys go when their DEL
    /// comes.
    ///
    /// The session must come from [`Session::master_link`] or [`Session::loading`]. Anything but [`Next::Held`] and
    /// [`Next::Paused`] means it is done.
    ///
    /// # Errors
    /// When it asks for what would take the node down. The stream or the file must not be followed any further.
    pub fn apply(
        &mut self,
        session: &mut Session,
        now: WallMicros,
        args: &Args<'_>,
    ) -> Result<Next, StreamError> {
        let enabled = std::mem::replace(&mut self.propagation.enabled, false);
        let mut unread = Vec::new();
        let next = self.dispatch(session, now, args, &mut unread);
        self.propagation.enabled = enabled;
        match self.stream_error.take().or_else(|| self.excess_of(session)) {
            Some(error) => Err(error),
            None => Ok(next),
        }
    }

    /// What a master has made this node hold that no master with the same limits can ask for.
    fn excess_of(&self, session: &Session) -> Option<StreamError> {
        if session.origin != Origin::Master {
            return None;
        }
        if self.is_full_of(session.origin) {
            return Some(StreamError::Flood);
        }
        let is_long = session.memory() as u64 > self.config.limits.query_buffer;
        is_long.then_some(StreamError::LongTransaction)
    }

    /// Deletes expired keys as the background cycle does (masters only), propagating a DEL for each.
    pub fn expire_cycle(&mut self, now: WallMicros) {
        if self.replication.is_replica() || self.overrun.is_some() || self.is_paused(now) {
            return;
        }
        self.listen_for_writes();
        for db in 0..self.databases.len() {
            for key in self.databases[db].expired_keys(now.millis()) {
                self.delete_expired(db, &key);
                // Each is a unit of its own: nothing ties one expiry to another.
                self.finish_unit();
            }
        }
    }

    /// A time before which [`expire_cycle`](Self::expire_cycle) has nothing to do; `None` while no key has a lifetime.
    /// Milliseconds since the epoch on the wall clock. It may be early, never late.
    pub fn next_expiry_ms(&self) -> Option<i64> {
        self.databases.iter().filter_map(Database::next_expiry).min()
    }

    /// Appends what was written since the last call as RESP commands (what AOF and replicas get) to `into`; false if
    /// that is nothing. [`Replication::offset`] has already moved by these bytes, if it is counting.
    ///
    /// Nothing is recorded while there is neither an AOF ([`CoreConfig::append_only`]) nor a replica so far
    /// ([`Replication::counting`]).
    pub fn take_propagated(&mut self, into: &mut Vec<u8>) -> bool {
        self.propagation.take(into)
    }

    /// Where in what [`take_propagated`](Self::take_propagated) will append next lies what is for replicas and not for
    /// an AOF: messages. Must be asked for before that.
    pub(crate) fn take_for_replicas_only(&mut self) -> Vec<Range<usize>> {
        self.propagation.take_for_replicas_only()
    }

    /// Changes so far, by commands of clients, master and file.
    pub(crate) fn changes(&self) -> u64 {
        self.dirty
    }

    /// Whether CONFIG REWRITE was executed since the last call: the node must write its file before it sends the reply.
    pub fn take_config_rewrite(&mut self) -> bool {
        std::mem::take(&mut self.config_rewrite_due)
    }

    /// Whether a reply since the last call outgrew `client-output-buffer-limit normal`; it was not written then, and
    /// the connection must be closed.
    pub fn take_output_overflow(&mut self) -> bool {
        std::mem::take(&mut self.output_overflowed)
    }

    /// Bytes of keys, values and scripts.
    pub fn data_memory(&self) -> u64 {
        self.databases.iter().map(Database::memory).sum::<u64>() + self.scripts.memory()
    }

    /// Data, and what connections hold.
    pub fn used_memory(&self) -> u64 {
        self.data_memory() + self.client_memory
    }

    /// What the connections hold together, for [`used_memory`](Self::used_memory).
    pub fn set_client_memory(&mut self, bytes: u64) {
        self.client_memory = bytes;
    }

    /// The node may have got its first replica since the last command.
    fn listen_for_writes(&mut self) {
        self.propagation.enabled = self.config.append_only || self.replication.counting;
    }

    /// Makes the next propagated write start with a SELECT: a new replica does not know which database is selected.
    pub(crate) fn propagate_select_again(&mut self) {
        self.propagation.select_again();
    }

    /// Makes database `number` if nobody chose it before.
    fn open_database(&mut self, number: usize) {
        if self.databases.len() <= number {
            self.databases.resize_with(number + 1, Database::default);
        }
    }

    /// Appends commands that rebuild the data set (a full resynchronisation, an AOF rewrite). Keys that have expired
    /// but were not deleted yet are included, as in Redis: whoever loads decides by their own clock.
    pub fn dump(&self, into: &mut Vec<u8>) {
        for (number, database) in self.databases.iter().enumerate().filter(|(_, database)| database.len() > 0)
        {
            reply::command(into, [b"SELECT".as_slice(), number.to_string().as_bytes()].into_iter());
            for (key, entry) in database.iter() {
                entry.value.write_command(key, into);
                if let Some(when) = entry.expires_at {
                    reply::command(
                        into,
                        [b"PEXPIREAT".as_slice(), key, when.to_string().as_bytes()].into_iter(),
                    );
                }
            }
        }
    }

    /// Drops every key and makes transactions that watched one fail, propagating nothing: before a full
    /// resynchronisation. A replica keeps what has expired until its master says so.
    pub fn clear_all(&mut self, origin: Origin) {
        self.flush(origin, i64::MIN);
    }

    /// Drops every key, as FLUSHALL does.
    pub(crate) fn flush(&mut self, origin: Origin, now_ms: i64) {
        (0..self.databases.len()).for_each(|db| self.clear_database(db, (origin, "FLUSHALL"), now_ms));
        self.invalidate_all();
    }

    /// Deletes every key that has expired by `now`, propagating nothing: what a master does with what it loads.
    pub fn drop_expired(&mut self, now: WallMicros) {
        for db in 0..self.databases.len() {
            for key in self.databases[db].expired_keys(now.millis()) {
                let before = self.databases[db].remove(&key);
                self.tell_expired(db, &key, before.as_ref());
            }
        }
    }

    /// Must be called when a connection opens: INFO counts it, CLIENT LIST shows it.
    pub fn note_connected(&mut self, session: &Session) {
        self.stats.started_at.get_or_insert(session.connected_at);
        self.stats.connections += 1;
        self.stats.connected += 1;
        self.clients.insert(session.id, Client::new(session));
    }

    /// Must be called when a connection ends: forgets what it watched and what it has subscribed to.
    pub fn note_disconnected(&mut self, session: &mut Session) {
        if self.clients.remove(&session.id).is_some() {
            self.stats.connected = self.stats.connected.saturating_sub(1);
        }
        self.killed.remove(&session.id);
        self.postponed.remove(&session.id);
        self.monitors.remove(&session.id);
        self.blocked.forget(session.id);
        self.unsubscribe_all(session);
        self.tracking.disable(session.id);
        self.unwatch_all(session);
    }

    /// Whether a script passed its limit and counts as still running. Held requests can go on once it turns false.
    pub fn script_is_overrunning(&self) -> bool {
        self.overrun.as_ref().is_some_and(Overrun::is_running)
    }

    /// When held requests turn into BUSY replies, on the wall clock; `None` when no script is overrunning. The request
    /// that started the script stays held for as long as the script runs.
    pub fn held_until(&self) -> Option<WallMicros> {
        let overrun = self.overrun.as_ref().filter(|overrun| overrun.is_running())?;
        Some(overrun.busy_from)
    }

    /// Role, ids, offsets and links, for the node to read.
    pub fn replication(&self) -> &Replication {
        &self.replication
    }

    /// Role, ids, offsets and links, for the node to keep up to date: INFO, ROLE, READONLY and NOREPLICAS follow them.
    pub fn replication_mut(&mut self) -> &mut Replication {
        &mut self.replication
    }

    /// What the core was told to be, and what CONFIG SET made of it.
    pub fn config(&self) -> &CoreConfig {
        &self.config
    }
}
