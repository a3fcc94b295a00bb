//! Clients that wait for a key: who they are, what for, and in which order they came.

use std::collections::{BTreeMap, VecDeque};

use crate::core::Session;
use crate::core::command::CommandSpec;
use crate::core::keyspace::Value;
use crate::core::values::{End, EntryId, Extreme};

/// Why a client waits no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unblocked {
    /// Its reply is there.
    Answered,
    /// The same, and after that its connection is to end.
    Closing,
}

/// All that wait.
#[derive(Debug, Default)]
pub(crate) struct Blocked {
    pub(crate) waiters: BTreeMap<u64, Waiter>,
    /// Who waits for a key, in the order in which they came.
    pub(crate) queues: BTreeMap<(usize, Vec<u8>), VecDeque<u64>>,
    /// Keys that somebody waits for and that have appeared, in that order.
    pub(crate) ready: VecDeque<(usize, Vec<u8>)>,
    /// Sessions that wait no more and have not been told.
    pub(crate) released: BTreeMap<u64, Unblocked>,
}

/// One client that waits.
#[derive(Debug)]
pub(crate) struct Waiter {
    /// Its connection as it was when it began to wait.
    pub(crate) session: Session,
    pub(crate) spec: &'static CommandSpec,
    pub(crate) keys: Vec<Vec<u8>>,
    pub(crate) request: BlockedRequest,
}

impl Blocked {
    pub(crate) fn len(&self) -> usize {
        self.waiters.len()
    }

    pub(crate) fn has(&self, session: u64) -> bool {
        self.waiters.contains_key(&session)
    }

    /// Forgets a waiter, and hands it out.
    pub(crate) fn remove(&mut self, session: u64) -> Option<Waiter> {
        let waiter = self.waiters.remove(&session)?;
        for key in &waiter.keys {
            let place = (waiter.session.db, key.clone());
            let Some(queue) = self.queues.get_mut(&place) else { continue };
            queue.retain(|other| *other != session);
            if queue.is_empty() {
                self.queues.remove(&place);
            }
        }
        Some(waiter)
    }

    /// A session is gone: it waits for nothing.
    pub(crate) fn forget(&mut self, session: u64) {
        self.remove(session);
        self.released.remove(&session);
    }
}

/// What a client waits for.
#[derive(Clone, Debug)]
pub(crate) enum BlockedRequest {
    /// One element of a list, or up to so many.
    Elements { end: End, count: Option<usize> },
    /// An element that goes to another list.
    Move { ends: (End, End), destination: Vec<u8>, is_rpoplpush: bool },
    /// One member of a sorted set, or up to so many.
    Members { from: Extreme, count: Option<usize> },
    /// Entries of streams with ids behind these, up to so many.
    Entries { after: Vec<(Vec<u8>, EntryId)>, count: usize },
    /// Replicas that have acknowledged the stream up to here: WAIT. The node's links know when they have.
    Replicas { offset: u64 },
    /// The same of files: WAITAOF.
    Files { offset: u64 },
}

impl BlockedRequest {
    /// Whether the value of this key can fulfil it.
    pub(crate) fn is_for(&self, key: &[u8], value: &Value) -> bool {
        match self {
            BlockedRequest::Elements { .. } | BlockedRequest::Move { .. } => matches!(value, Value::List(_)),
            BlockedRequest::Members { .. } => matches!(value, Value::SortedSet(_)),
            // An entry that has come and gone again wakes its reader too.
            BlockedRequest::Entries { .. } => match value {
                Value::Stream(stream) => self.last_seen(key).is_some_and(|id| stream.last_id() > id),
                _ => false,
            },
            BlockedRequest::Replicas { .. } | BlockedRequest::Files { .. } => false,
        }
    }

    /// The id behind which a reader of this stream goes on.
    pub(crate) fn last_seen(&self, key: &[u8]) -> Option<EntryId> {
        let BlockedRequest::Entries { after, .. } = self else { return None };
        after.iter().find(|(known, _)| known == key).map(|(_, id)| *id)
    }
}
