//! What a picture of a run shows besides its report: each message with its words, and how each host's clocks ran.
//!
//! Pure data, made by [`Detailed::run_with_detail`](crate::Detailed::run_with_detail), and only there: a run that
//! is judged or reported does not pay for it.

use doublehold_history::{Reading, TrueNs};
use serde::Serialize;

use crate::model::scenario::HostIndex;

/// Messages and clocks of one run.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    /// What a wall clock that is right shows when the world begins, in nanoseconds since the Unix epoch.
    pub epoch_ns: i64,
    /// Everything that one host's process handed to the network for another, in the order in which it was sent.
    pub messages: Vec<Message>,
    /// The clocks of each host, in the scenario's order.
    pub clocks: Vec<HostClocks>,
}

/// Bytes that were handed to the network at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// The connection, by a number that means the same in a trace.
    pub connection: u64,
    /// Whose process sent it.
    pub from: HostIndex,
    /// Whose machine is to get it.
    pub to: HostIndex,
    /// When it was sent.
    pub sent: TrueNs,
    /// When it reached the other machine, if it did before the run ended.
    pub arrived: Option<TrueNs>,
    /// Each time that it turned out that it could not be delivered and waits to be sent again. Of several on their way
    /// at once, the oldest of those that were held least often is taken to be held.
    pub held: Vec<TrueNs>,
    /// How many bytes.
    pub bytes: usize,
    /// The commands or replies that end in it. None where it holds no end of any.
    pub phrases: Vec<Phrase>,
}

/// One command or one reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Phrase {
    /// What is asked, or what is answered.
    pub kind: PhraseKind,
    /// Which of its kind on its connection, from 0: a reply answers the request with its number.
    pub number: u64,
    /// All of it, as far as it can be shown.
    pub words: String,
    /// The same with what is long left out: `SET stock … NX PX 4000`.
    pub short: String,
    /// Of a request that runs a known script, what it does: `delete stock if mine`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
}

impl Phrase {
    /// What it says in a few words: what a script does, if that is known.
    pub fn in_short(&self) -> &str {
        self.meaning.as_deref().unwrap_or(&self.short)
    }
}

/// What a phrase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhraseKind {
    /// Somebody who opened a connection asks.
    Request,
    /// The other side answers.
    Reply,
    /// A node says what nobody asked for at that moment: a message of a channel, a key that is no longer as it was
    /// read.
    Push,
    /// A node tells a replica what it did, or the replica how far it is.
    Replication,
}

/// The clocks of one host: straight lines, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostClocks {
    /// Whose.
    pub host: HostIndex,
    /// In order, from the beginning of the run to its end. Where clocks were stepped, one ends where the next begins
    /// with another reading.
    pub lines: Vec<ClockLine>,
}

/// A stretch of time in which a host's clocks ran evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockLine {
    /// Its first instant.
    pub from: TrueNs,
    /// Its last.
    pub to: TrueNs,
    /// What the clocks showed first.
    pub first: Reading,
    /// What they showed last.
    pub last: Reading,
}
