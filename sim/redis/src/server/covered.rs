//! The order in which a node lets go of what it executed: the file and the stream to replicas first, then the replies.
//!
//! Decision: "A reply leaves after the stream to the replicas" (docs/decisions/redis.md).

use std::task::{Context, Poll, ready};

use crate::persistence::Aof;
use crate::shared::State;

/// What replies may not overtake.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Covered {
    /// So much of the file is to be durable, under `appendfsync always`.
    file: u64,
    /// So much of the stream is to be on its way to the replicas.
    stream: u64,
}

impl Covered {
    /// Everything that was executed so far.
    pub(super) fn now(state: &State) -> Covered {
        let file = state.aof.as_ref().map_or(0, Aof::written_bytes);
        let stream = if state.links.replicas() > 0 { state.core.replication().offset } else { 0 };
        Covered { file, stream }
    }

    /// Whether replies may leave at once, as those of most nodes.
    pub(super) fn is_nothing(self) -> bool {
        self == Covered::default()
    }

    /// Ready when the replies may leave.
    pub(super) fn poll(self, state: &mut State, cx: &Context<'_>) -> Poll<()> {
        let State { core, links, aof, .. } = state;
        // A node that starts over from a master goes back to that one's offset.
        ready!(links.poll_handed_on(self.stream.min(core.replication().offset), cx));
        match aof {
            Some(aof) => aof.poll_covered(self.file, cx),
            None => Poll::Ready(()),
        }
    }
}
