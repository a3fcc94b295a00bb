//! Servers that asked to be replicas of this node and cannot be: a Redis reads RDB files, and a node sends commands.
//!
//! Whoever runs the node is told once of each, however often it comes back.

use std::collections::{BTreeSet, VecDeque};
use std::task::{Context, Poll};

use crate::core::Session;
use crate::wait::Wakers;

/// Of more than so many nobody is told: anybody can claim any port.
const LIMIT: usize = 100;

#[derive(Debug, Default)]
pub(crate) struct RefusedReplicas {
    known: BTreeSet<String>,
    /// Those that nobody was told of yet.
    news: VecDeque<String>,
    waiting: Wakers,
}

impl RefusedReplicas {
    /// The server behind this connection was refused.
    pub(crate) fn note(&mut self, session: &Session) {
        let port = session.listening_port().unwrap_or(0);
        let server = format!("{}:{port}", super::attached::ip_of_replica(session));
        if self.known.len() < LIMIT && self.known.insert(server.clone()) {
            self.news.push_back(server);
            self.waiting.wake();
        }
    }

    /// Ready with the address of a server that nobody was told of.
    pub(crate) fn poll_next(&mut self, cx: &Context<'_>) -> Poll<String> {
        match self.news.pop_front() {
            Some(server) => Poll::Ready(server),
            None => {
                self.waiting.register(cx);
                Poll::Pending
            }
        }
    }
}
