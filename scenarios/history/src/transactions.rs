//! What each grant did to the data, as a database would see it: a transaction of reads and writes.
//!
//! Which reads count? Those that fed a write that was applied: for a write that names the version it is
//! `based_on`, that version, and what its grant had last read of every other object when the write was sent.
//! Reading again replaces what was read before. A write without `based_on` is blind and uses no read, and so is one
//! based on what its client read under another grant: no lock covers what is carried from one grant to the next. (What
//! no read was recorded of is taken for the writing grant's own.) A grant
//! that sent no write counts as a reader once it calls release without having noticed its own expiry.
//! All other reads led to nothing at the resource and are left out: those of a grant that died, gave up, or
//! whose writes were all refused. A write that the resource has lost is one that it refused.
//!
//! Not modelled: what a client does with a value outside the resource.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::event::{CallId, ClientId, EventKind, ObjectId};
use crate::history::History;

/// One grant's reads and writes.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) client: ClientId,
    pub(crate) grant: CallId,
    /// Versions read that count.
    pub(crate) reads: BTreeSet<(ObjectId, u64)>,
    /// Versions written.
    pub(crate) writes: BTreeSet<(ObjectId, u64)>,
}

/// Every grant that read or wrote anything that counts, in the order of its first such event.
pub(crate) fn transactions(history: &History) -> Vec<Transaction> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut place: HashMap<CallId, usize> = HashMap::new();
    let mut read_by: HashSet<(ClientId, ObjectId, u64)> = HashSet::new();
    let lost = lost_versions(history);
    for event in history.events().iter().filter(|event| matters(&event.what)) {
        let (Some(client), Some(grant)) = (event.what.client(), event.what.call()) else { continue };
        let index = *place.entry(grant).or_insert_with(|| {
            drafts.push(Draft::new(client, grant));
            drafts.len() - 1
        });
        if let EventKind::ReadDone { object, version, .. } = event.what {
            read_by.insert((client, object, version));
        }
        let was_read = |object, version| read_by.contains(&(client, object, version));
        match event.what {
            EventKind::WriteApplied { object, version, .. } if lost.contains(&(object, version)) => {
                drafts[index].wrote_or_expired = true;
            }
            _ => drafts[index].see(&event.what, was_read),
        }
    }
    drafts.into_iter().filter_map(Draft::finish).collect()
}

fn lost_versions(history: &History) -> HashSet<(ObjectId, u64)> {
    let lost = history.events().iter().filter_map(|event| match event.what {
        EventKind::WriteLost { object, version, .. } => Some((object, version)),
        _ => None,
    });
    lost.collect()
}

fn matters(what: &EventKind) -> bool {
    matches!(
        what,
        EventKind::ReadDone { .. }
            | EventKind::WriteSent { .. }
            | EventKind::WriteApplied { .. }
            | EventKind::WriteRefused { .. }
            | EventKind::ExpiryNoticed { .. }
            | EventKind::ReleaseCalled { .. }
    )
}

/// A transaction as far as the history has been read.
struct Draft {
    client: ClientId,
    grant: CallId,
    /// Every read, in order.
    log: Vec<(ObjectId, u64)>,
    /// The same, to be looked up.
    read: HashSet<(ObjectId, u64)>,
    /// How long the log was when a write was sent. A write sent again was sent when it was last sent.
    sent: HashMap<(ObjectId, Option<u64>), usize>,
    /// Lengths of the log whose latest reads count.
    uses: Vec<usize>,
    reads: BTreeSet<(ObjectId, u64)>,
    writes: BTreeSet<(ObjectId, u64)>,
    wrote_or_expired: bool,
}

impl Draft {
    fn new(client: ClientId, grant: CallId) -> Self {
        Self {
            client,
            grant,
            log: Vec::new(),
            read: HashSet::new(),
            sent: HashMap::new(),
            uses: Vec::new(),
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
            wrote_or_expired: false,
        }
    }

    /// `was_read` says whether the client has read a version so far, under whatever grant.
    fn see(&mut self, what: &EventKind, was_read: impl Fn(ObjectId, u64) -> bool) {
        match what {
            EventKind::ReadDone { object, version, .. } => {
                self.log.push((*object, *version));
                self.read.insert((*object, *version));
            }
            EventKind::WriteSent { object, based_on, .. } => {
                self.wrote_or_expired = true;
                self.sent.insert((*object, *based_on), self.log.len());
            }
            EventKind::WriteApplied { object, version, based_on, .. } => {
                self.wrote_or_expired = true;
                self.writes.insert((*object, *version));
                let own = |read: &&u64| self.read.contains(&(*object, **read)) || !was_read(*object, **read);
                if let Some(read) = based_on.as_ref().filter(own) {
                    self.reads.insert((*object, *read));
                    let sent = self.sent.get(&(*object, *based_on)).copied();
                    self.uses.push(sent.unwrap_or(self.log.len()));
                }
            }
            EventKind::WriteRefused { .. } | EventKind::ExpiryNoticed { .. } => self.wrote_or_expired = true,
            EventKind::ReleaseCalled { .. } if !self.wrote_or_expired => self.uses.push(self.log.len()),
            _ => {}
        }
    }

    fn finish(mut self) -> Option<Transaction> {
        // In ascending order each stretch of the log is looked at once: what was the latest read of an object
        // at a later use, but was made in an earlier stretch, was also the latest at the end of that stretch.
        self.uses.sort_unstable();
        let mut done = 0;
        for used in self.uses {
            let latest: BTreeMap<ObjectId, u64> = self.log[done..used].iter().copied().collect();
            self.reads.extend(latest);
            done = used;
        }
        let Self { client, grant, reads, writes, .. } = self;
        let counts = !(reads.is_empty() && writes.is_empty());
        counts.then_some(Transaction { client, grant, reads, writes })
    }
}
