//! The append-only file: when it is written, when it is fsynced, and how a new process reads it back.
//!
//! One file of RESP commands with absolute expiry times, as Redis writes them. Bytes are appended before the reply to
//! their command leaves, under every policy; what a crash or a power loss takes is the machine's business.
//!
//! - `no`: never fsynced by the node.
//! - `everysec`: at most one fsync per second of the wall clock, in the background, as Redis times it: the first write
//!   after a quiet second is fsynced at once, and only what follows within the same second waits. While an fsync runs,
//!   new bytes stay in the process (for at most two seconds), so even a process crash can take them.
//! - `always`: the node does nothing else until an fsync has covered everything it executed; then the replies leave.
//!
//! What survives without it is in `snapshots.rs`; both are loaded here.
//!
//! Not modelled: RDB beside the file, the multi-part layout and rewriting of Redis 7 (the file only grows, except when
//! a full resynchronisation replaces it), `no-appendfsync-on-rewrite`, and MISCONF: a failed fsync ends the node under
//! every policy, where Redis under `everysec` would go on and refuse writes.
//!
//! Decision: "`everysec` loses less than its name says" (docs/decisions/redis.md).

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::config::{BootError, Persistence};
use crate::core::{Core, Session, WallMicros};
use crate::machine::Machine;
use crate::resp::RequestBuffer;
use crate::shared::Shared;
use crate::snapshots;
use crate::wait::Wakers;

/// The file's name on the node's disk.
pub(crate) const AOF_FILE: &str = "appendonly.aof";

/// Redis gives up waiting for a background fsync after two seconds and writes anyway.
const LONGEST_POSTPONEMENT_SECONDS: i64 = 2;

/// Loading feeds the parser in pieces, so that a file of any size fits its bound on unparsed bytes.
const LOAD_PIECE_BYTES: usize = 64 << 10;

impl Persistence {
    /// The file that a new process loads.
    pub(crate) fn file(self) -> Option<&'static str> {
        match self {
            Persistence::None => None,
            Persistence::Rdb => Some(snapshots::FILE),
            Persistence::AofNo | Persistence::AofEverysec | Persistence::AofAlways => Some(AOF_FILE),
        }
    }
}

/// The open file of a running node.
#[derive(Debug)]
pub(crate) struct Aof {
    policy: Persistence,
    /// Bytes propagated since the process started, and how many of them an fsync has covered.
    written: u64,
    durable: u64,
    /// The replication offset up to which the file was told everything, and that up to which an fsync has covered it.
    offset: u64,
    durable_offset: u64,
    /// `everysec`: bytes that wait in the process because an fsync is running, and the second since when.
    postponed: Vec<u8>,
    postponed_since: i64,
    syncing: bool,
    last_sync_second: i64,
    dirty: Wakers,
    synced: Wakers,
}

impl Aof {
    /// The file of a node that has loaded it; `None` if the node appends to none.
    pub(crate) fn open(policy: Persistence, now: WallMicros) -> Option<Aof> {
        (policy.file() == Some(AOF_FILE)).then(|| Aof {
            policy,
            written: 0,
            durable: 0,
            offset: 0,
            durable_offset: 0,
            postponed: Vec::new(),
            postponed_since: 0,
            syncing: false,
            last_sync_second: second(now),
            dirty: Wakers::default(),
            synced: Wakers::default(),
        })
    }

    /// Appends propagated commands.
    pub(crate) fn append<M: Machine>(&mut self, machine: &M, bytes: &[u8]) {
        self.written += bytes.len() as u64;
        self.dirty.wake();
        if self.policy == Persistence::AofEverysec && self.syncing {
            let now = second(machine.wall());
            if self.postponed.is_empty() {
                self.postponed_since = now;
            }
            self.postponed.extend_from_slice(bytes);
            if now.saturating_sub(self.postponed_since) >= LONGEST_POSTPONEMENT_SECONDS {
                self.write_postponed(machine);
            }
            return;
        }
        machine.append(AOF_FILE, bytes);
    }

    /// Replaces the file by commands that rebuild the data set (after a full resynchronisation).
    pub(crate) fn replace<M: Machine>(&mut self, machine: &M, dump: &[u8]) {
        self.postponed.clear();
        self.written += dump.len() as u64;
        machine.replace(AOF_FILE, dump);
        self.dirty.wake();
    }

    /// Ready when a reply computed now may leave: under `always`, when everything executed so far is durable.
    pub(crate) fn poll_covered(&mut self, up_to: u64, cx: &Context<'_>) -> Poll<()> {
        if self.durable >= up_to {
            return Poll::Ready(());
        }
        self.synced.register(cx);
        Poll::Pending
    }

    /// Everything up to this replication offset was appended.
    pub(crate) fn note_offset(&mut self, offset: u64) {
        self.offset = offset;
        // What is in no file needs no fsync: a PING between two replicas' writes.
        if self.written == self.durable {
            self.durable_offset = offset;
        }
    }

    /// The replication offset up to which everything is durable.
    pub(crate) fn durable_offset(&self) -> u64 {
        self.durable_offset
    }

    /// Wakes the current task when an fsync ends.
    pub(crate) fn register(&mut self, cx: &Context<'_>) {
        self.synced.register(cx);
    }

    /// Bytes that a reply computed now depends on: none but under `always`.
    pub(crate) fn written_bytes(&self) -> u64 {
        if self.policy == Persistence::AofAlways { self.written } else { 0 }
    }

    /// Puts everything into the file, whatever the policy would wait for (before a shutdown).
    pub(crate) fn write_postponed<M: Machine>(&mut self, machine: &M) {
        if !self.postponed.is_empty() {
            machine.append(AOF_FILE, &self.postponed);
            self.postponed.clear();
        }
    }

    /// What the fsync that begins will cover: bytes, and the replication offset.
    fn begin_sync(&mut self, now: WallMicros) -> (u64, u64) {
        self.syncing = true;
        self.last_sync_second = second(now);
        (self.written, self.offset)
    }

    fn end_sync<M: Machine>(&mut self, machine: &M, (covered, offset): (u64, u64)) {
        self.syncing = false;
        self.durable = self.durable.max(covered);
        self.durable_offset = offset;
        self.write_postponed(machine);
        self.synced.wake();
    }
}

/// Fsyncs as the policy says, for as long as the process lives. Waits for nothing while nothing is dirty.
pub(crate) async fn keep_synced<M: Machine>(shared: Arc<Shared<M>>, policy: Persistence) {
    loop {
        poll_fn(|cx| poll_dirty(&shared, cx)).await;
        match policy {
            Persistence::None | Persistence::AofNo | Persistence::Rdb => return,
            Persistence::AofEverysec => {
                wait_for_next_second(&shared).await;
                sync(&shared).await;
            }
            Persistence::AofAlways => {
                // Connections that queued for the node before this point execute first and share the fsync, as all
                // requests that Redis' event loop finds at once do.
                let _turn = shared.turn.lock().await;
                sync(&shared).await;
            }
        }
    }
}

fn poll_dirty<M: Machine>(shared: &Shared<M>, cx: &Context<'_>) -> Poll<()> {
    let mut state = shared.lock();
    match &mut state.aof {
        Some(aof) if aof.written == aof.durable => {
            aof.dirty.register(cx);
            Poll::Pending
        }
        _ => Poll::Ready(()),
    }
}

async fn wait_for_next_second<M: Machine>(shared: &Shared<M>) {
    loop {
        let now = shared.machine.wall();
        let Some(last) = shared.lock().aof.as_ref().map(|aof| aof.last_sync_second) else { return };
        if second(now) > last {
            return;
        }
        // A clock that was set back stops Redis' fsyncs until it has caught up; look again every second.
        let missing = 1_000_000 - now.0.rem_euclid(1_000_000) as u64;
        shared.machine.sleep(Duration::from_micros(missing)).await;
    }
}

async fn sync<M: Machine>(shared: &Shared<M>) {
    let covered = {
        let mut state = shared.lock();
        let Some(aof) = &mut state.aof else { return };
        aof.begin_sync(shared.machine.wall())
    };
    match shared.machine.fsync(AOF_FILE).await {
        Ok(()) => {
            if let Some(aof) = &mut shared.lock().aof {
                aof.end_sync(&shared.machine, covered);
            }
        }
        Err(_) => shared.close(),
    }
}

/// Replays a file into an empty core.
///
/// A command or transaction that is cut off at the end is what a crash leaves: it is cut from the file, as
/// `aof-load-truncated yes` does.
pub(crate) fn load<M: Machine>(machine: &M, core: &mut Core, name: &'static str) -> Result<(), BootError> {
    let file = machine.read(name).map_err(|source| BootError::ReadData { file: name, source })?;
    let mut input = RequestBuffer::new();
    let mut session = Session::loading();
    let mut transaction = false;
    let mut whole_commands_end = 0;
    for piece in file.chunks(LOAD_PIECE_BYTES) {
        input.tail().extend_from_slice(piece);
        loop {
            let at = input.consumed_bytes();
            let bad = |cause: String| BootError::BadData { file: name, offset: at, cause };
            if input.next_request().map_err(|error| bad(error.to_string()))?.is_none() {
                break;
            }
            if input.last_raw().first() != Some(&b'*') {
                return Err(bad("expected a command that starts with `*`".to_owned()));
            }
            let args = input.last_args();
            let name = args.at(0);
            transaction =
                name.eq_ignore_ascii_case(b"MULTI") || transaction && !name.eq_ignore_ascii_case(b"EXEC");
            core.apply(&mut session, machine.wall(), &args).map_err(|error| bad(error.to_string()))?;
            if !transaction {
                whole_commands_end = input.consumed_bytes();
            }
        }
    }
    if whole_commands_end < file.len() as u64 {
        machine.truncate(name, whole_commands_end);
    }
    Ok(())
}

fn second(wall: WallMicros) -> i64 {
    wall.0.div_euclid(1_000_000)
}
