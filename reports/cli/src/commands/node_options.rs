//! The options that say which nodes stay in a scenario that is made small.

use clap::Args;
use doublehold_search::shrink::KeepNodes;

/// Options of every command that shrinks.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct NodeOptions {
    /// Leave all nodes in the result [default: those of a lock that takes a quorum of them]
    #[arg(long, conflicts_with = "drop_nodes")]
    keep_nodes: bool,
    /// Let nodes of a quorum go as well, though a Redlock of one node is no Redlock
    #[arg(long)]
    drop_nodes: bool,
}

impl NodeOptions {
    /// The choice that was typed, or the default.
    pub(crate) fn choice(self) -> KeepNodes {
        match (self.keep_nodes, self.drop_nodes) {
            (true, _) => KeepNodes::All,
            (false, true) => KeepNodes::None,
            (false, false) => KeepNodes::OfQuorums,
        }
    }

    /// The option that asks for it.
    pub(crate) fn option(self) -> Option<&'static str> {
        match self.choice() {
            KeepNodes::All => Some("--keep-nodes"),
            KeepNodes::None => Some("--drop-nodes"),
            KeepNodes::OfQuorums => None,
        }
    }
}
