//! The commits of a database in their order, and the standbys to which each is sent some time after it.
//!
//! A standby says from which commit on it wants them. What it has not received is sent again when it asks again, also
//! after a restart: commits are on the disk. Locks, sessions and what is not committed are not replicated.
//!
//! Sources: PostgreSQL 15's documentation, 27.2.5 "Streaming Replication" and 27.4.1.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::service::ServiceConnection;

/// The writes of a transaction: each request, and the row that the table made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit(pub Vec<(Vec<u8>, Vec<u8>)>);

/// The commits, and how far each standby has been sent them.
#[derive(Debug)]
pub(super) struct CommitLog {
    lag: Duration,
    /// Each with its time.
    commits: Vec<(Duration, Commit)>,
    /// The number of the next commit for each.
    standbys: BTreeMap<ServiceConnection, usize>,
}

impl CommitLog {
    pub(super) fn new(lag: Duration) -> CommitLog {
        CommitLog { lag, commits: Vec::new(), standbys: BTreeMap::new() }
    }

    pub(super) fn append(&mut self, commit: Commit, now: Duration) {
        self.commits.push((now, commit));
    }

    /// Takes on a standby that has so many commits.
    pub(super) fn follow(&mut self, standby: ServiceConnection, received: u64) {
        self.standbys.insert(standby, usize::try_from(received).unwrap_or(usize::MAX));
    }

    pub(super) fn leave(&mut self, standby: ServiceConnection) {
        self.standbys.remove(&standby);
    }

    /// Takes what has had its lag, for each standby in order.
    pub(super) fn take_due(&mut self, now: Duration) -> Vec<(ServiceConnection, Commit)> {
        let mut due = Vec::new();
        for (standby, next) in &mut self.standbys {
            let commits = self.commits.get(*next..).unwrap_or_default();
            let ready = commits.iter().take_while(|(at, _)| *at + self.lag <= now);
            let before = due.len();
            due.extend(ready.map(|(_, commit)| (*standby, commit.clone())));
            *next += due.len() - before;
        }
        due
    }

    pub(super) fn next_due(&self) -> Option<Duration> {
        let next = self.standbys.values().filter_map(|next| self.commits.get(*next));
        next.map(|(at, _)| *at + self.lag).min()
    }

    /// Goes on without connections. A clock that begins anew has not reached the times of what was not sent.
    pub(super) fn restart(&mut self, now: Duration) {
        self.standbys.clear();
        self.commits.iter_mut().for_each(|(at, _)| *at = now.min(*at));
    }
}
