//! What ends a node's trust in its master's stream or in its file.
//!
//! Nobody reads the replies to these commands, so what a client would be told in an error ends the link, or the start.

/// Why what a master or a file says is not obeyed any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// A master of the same limits has none either.
    #[error("a string longer than 512 MB (proto-max-bulk-len)")]
    LongString,
    /// Settings and roles are a node's own.
    #[error("`{0}`, which no master or file passes on")]
    NotPropagated(&'static str),
    /// What it queues.
    #[error("a transaction longer than client-query-buffer-limit")]
    LongTransaction,
    /// A master with the same limit goes beyond it by one command at most.
    #[error("more data than twice this node's maxmemory")]
    Flood,
}
