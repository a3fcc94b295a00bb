//! The connections of a Sentinel to others: what is to be sent on each, and which answers are awaited.
//!
//! Says nothing of how bytes travel: whoever dials takes what is to be sent, and gives back what came.

use std::collections::{BTreeMap, VecDeque};
use std::task::{Context, Poll, Waker};

use crate::config::Address;
use crate::instance::{InstanceId, request};

/// A connection. A new one has a new number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WireId(u64);

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Commands,
    Hello,
}

/// The subject of the next answer on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// Nobody reads it: its effects will be seen.
    Nothing,
    Pong,
    Info,
    Published,
    /// An opinion on the master, and a vote.
    Verdict,
}

#[derive(Debug)]
struct Wire {
    owner: InstanceId,
    purpose: Purpose,
    out: Vec<u8>,
    awaited: VecDeque<Awaited>,
    waker: Option<Waker>,
}

/// All connections.
#[derive(Debug, Default)]
pub(crate) struct Wires {
    open: BTreeMap<WireId, Wire>,
    opened: u64,
    undialed: Vec<(WireId, Address)>,
}

impl Wires {
    /// Begins a connection. What is sent on it meanwhile goes when it is there.
    pub(crate) fn open(&mut self, owner: InstanceId, purpose: Purpose, address: &Address) -> WireId {
        self.opened += 1;
        let id = WireId(self.opened);
        let wire = Wire { owner, purpose, out: Vec::new(), awaited: VecDeque::new(), waker: None };
        self.open.insert(id, wire);
        self.undialed.push((id, address.clone()));
        id
    }

    /// The connections that somebody has to dial.
    pub(crate) fn take_undialed(&mut self) -> Vec<(WireId, Address)> {
        std::mem::take(&mut self.undialed)
    }

    /// Ends a connection, with what was not sent yet.
    pub(crate) fn close(&mut self, id: Option<WireId>) {
        if let Some(mut wire) = id.and_then(|id| self.open.remove(&id)) {
            wire.wake();
        }
    }

    /// The instance at the other end of a connection that is there.
    pub(crate) fn owner(&self, id: WireId) -> Option<(InstanceId, Purpose)> {
        self.open.get(&id).map(|wire| (wire.owner, wire.purpose))
    }

    /// Sends a request.
    pub(crate) fn send(&mut self, id: Option<WireId>, words: &[&str], awaited: Awaited) {
        let Some(wire) = id.and_then(|id| self.open.get_mut(&id)) else { return };
        request(&mut wire.out, words);
        wire.awaited.push_back(awaited);
        wire.wake();
    }

    /// The subject of the answer that has just come.
    pub(crate) fn take_awaited(&mut self, id: WireId) -> Awaited {
        let awaited = self.open.get_mut(&id).and_then(|wire| wire.awaited.pop_front());
        awaited.unwrap_or(Awaited::Nothing)
    }

    /// Ready if the connection is to be ended.
    pub(crate) fn poll_closed(&mut self, id: WireId, cx: &Context<'_>) -> Poll<()> {
        let Some(wire) = self.open.get_mut(&id) else { return Poll::Ready(()) };
        wire.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Moves what is to be sent to the end of `into`; ready if the connection is to be ended instead.
    pub(crate) fn poll_out(&mut self, id: WireId, into: &mut Vec<u8>, cx: &Context<'_>) -> Poll<()> {
        let Some(wire) = self.open.get_mut(&id) else { return Poll::Ready(()) };
        into.append(&mut wire.out);
        wire.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Wire {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
