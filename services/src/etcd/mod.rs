//! etcd: leases that keep-alives renew, keys that go with their lease, transactions, and watches from a revision on.
//!
//! A lease ends when its time is up by the service's clock and the service looks for such leases, which it does twice
//! a second. It has no tie to a connection. A keep-alive of a lease that is over is no error: its answer says that no
//! time is left. A service that starts again gives every lease its whole time anew, and a second more.
//!
//! Not modelled: ranges other than a prefix, deletions of several keys, checkpoints of leases, compaction, the wall
//! clock that releases before 3.5 look at beside the monotonic one, and everything inside the group.
//!
//! Sources: etcd 3.4.23, `lease/lessor.go`, `etcdserver/v3_server.go`, `etcdserver/api/v3rpc/lease.go`.

mod messages;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub use messages::{Answer, EtcdError, KeyValue, LeaseId, Op, OpResult, Request};

use crate::service::{EVENT, Outbox, OwnerChange, SESSION_ENDED, Service, ServiceConnection, ServiceKind};

/// The time between two looks for leases that are over.
const LOOK: Duration = Duration::from_millis(500);
/// The shortest lease: one and a half election timeouts, in whole seconds.
pub const SHORTEST_LEASE: Duration = Duration::from_secs(2);
/// The election timeout: a leader that begins adds it to every lease.
const ELECTION_TIMEOUT: Duration = Duration::from_secs(1);

/// The service.
#[derive(Debug, Default)]
pub struct Etcd {
    /// The revision of the last change.
    revision: u64,
    keys: BTreeMap<String, KeyValue>,
    leases: BTreeMap<LeaseId, Lease>,
    next_lease: u64,
    watches: BTreeSet<(String, ServiceConnection)>,
    /// Keep-alives of leases that are over and not yet taken away: they are answered then.
    waiting: Vec<(LeaseId, ServiceConnection, u32)>,
    /// The value that the owner of each lock has written.
    owners: BTreeMap<String, Vec<u8>>,
}

#[derive(Debug)]
struct Lease {
    ttl: Duration,
    expires: Duration,
}

impl Etcd {
    /// Returns the leases that are there.
    pub fn leases(&self) -> impl Iterator<Item = LeaseId> {
        self.leases.keys().copied()
    }

    /// Returns all keys with what they hold.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &KeyValue)> {
        self.keys.iter().map(|(key, value)| (key.as_str(), value))
    }

    fn grant(&mut self, ttl: Duration, now: Duration) -> Answer {
        self.next_lease += 1;
        let (lease, ttl) = (LeaseId(self.next_lease), ttl.max(SHORTEST_LEASE));
        self.leases.insert(lease, Lease { ttl, expires: now + ttl });
        Answer::Granted { lease, ttl }
    }

    /// Renews a lease; `None` if its time is up and it is not taken away yet.
    fn keep_alive(&mut self, id: LeaseId, now: Duration) -> Option<Answer> {
        let Some(lease) = self.leases.get_mut(&id) else {
            return Some(Answer::Alive { ttl: Duration::ZERO });
        };
        if lease.expires <= now {
            return None;
        }
        lease.expires = now + lease.ttl;
        Some(Answer::Alive { ttl: lease.ttl })
    }

    /// Executes one branch of a transaction, if the key was made at that revision; 0: is not there.
    fn transact(&mut self, key: &str, created: u64, then: Vec<Op>, otherwise: Vec<Op>) -> Answer {
        let succeeded = self.keys.get(key).map_or(0, |value| value.created) == created;
        let ops = if succeeded { then } else { otherwise };
        let gone =
            |op: &Op| matches!(op, Op::Put { lease: Some(lease), .. } if !self.leases.contains_key(lease));
        if ops.iter().any(gone) {
            return Answer::Refused(EtcdError::LeaseNotFound);
        }
        let changes = |op: &Op| match op {
            Op::Put { .. } => true,
            Op::Delete { key } => self.keys.contains_key(key),
            _ => false,
        };
        if ops.iter().any(changes) {
            self.revision += 1;
        }
        let results = ops.into_iter().map(|op| self.apply(op)).collect();
        Answer::Done { revision: self.revision, succeeded, results }
    }

    fn apply(&mut self, op: Op) -> OpResult {
        match op {
            Op::Put { key, value, lease } => {
                let created = self.keys.get(&key).map_or(self.revision, |known| known.created);
                self.keys.insert(key, KeyValue { value, created, lease });
                OpResult::Put
            }
            Op::Get { key } => OpResult::Got(self.keys.get(&key).map(|value| (key, value.clone()))),
            Op::First { prefix } => OpResult::Got(self.first(&prefix)),
            Op::LastBefore { prefix, revision } => {
                let before = self.under(&prefix).filter(|(_, value)| value.created < revision);
                OpResult::Got(before.max_by_key(|(_, value)| value.created).map(owned))
            }
            Op::Delete { key } => OpResult::Deleted(self.keys.remove(&key).is_some()),
        }
    }

    fn first(&self, prefix: &str) -> Option<(String, KeyValue)> {
        self.under(prefix).min_by_key(|(_, value)| value.created).map(owned)
    }

    fn under(&self, prefix: &str) -> impl Iterator<Item = (&String, &KeyValue)> {
        self.keys.range(prefix.to_owned()..).take_while({
            let prefix = prefix.to_owned();
            move |(key, _)| key.starts_with(&prefix)
        })
    }

    fn revoke(&mut self, lease: LeaseId, out: &mut Outbox<Answer>) -> bool {
        for (_, to, number) in self.waiting.extract_if(.., |(waits_for, ..)| *waits_for == lease) {
            out.answer(to, number, Answer::Alive { ttl: Duration::ZERO });
        }
        let known = self.leases.remove(&lease).is_some();
        let of = self.keys.iter().filter(|(_, value)| value.lease == Some(lease));
        let keys: Vec<String> = of.map(|(key, _)| key.clone()).collect();
        if !keys.is_empty() {
            self.revision += 1;
        }
        keys.iter().for_each(|key| {
            self.keys.remove(key);
        });
        known
    }

    /// Tells those who watch of keys that are gone, and finds the locks that have another owner.
    fn settle(&mut self, cause: &'static str, out: &mut Outbox<Answer>) {
        let gone: Vec<(String, ServiceConnection)> =
            self.watches.iter().filter(|(key, _)| !self.keys.contains_key(key)).cloned().collect();
        for watch in gone {
            self.watches.remove(&watch);
            let (key, to) = watch;
            out.answer(to, EVENT, Answer::KeyGone { key });
        }
        let mut locks: BTreeMap<String, &KeyValue> = BTreeMap::new();
        for (key, value) in &self.keys {
            let owner = locks.entry(lock_of(key).to_owned()).or_insert(value);
            if value.created < owner.created {
                *owner = value;
            }
        }
        let owners: BTreeMap<String, Vec<u8>> =
            locks.into_iter().map(|(lock, value)| (lock, value.value.clone())).collect();
        let before = std::mem::replace(&mut self.owners, owners);
        for lock in before.keys().chain(self.owners.keys()).collect::<BTreeSet<_>>() {
            let (was, is) = (before.get(lock), self.owners.get(lock));
            if was != is {
                let (before, after) = (was.cloned(), is.cloned());
                out.changes.push(OwnerChange { lock: lock.clone(), before, after, cause });
            }
        }
    }
}

/// The lock that a key stands for: it is called as that, or its place in line stands behind a slash.
fn lock_of(key: &str) -> &str {
    let name = key.strip_prefix("/locks/").unwrap_or(key);
    name.split_once('/').map_or(name, |(lock, _)| lock)
}

fn owned((key, value): (&String, &KeyValue)) -> (String, KeyValue) {
    (key.clone(), value.clone())
}

impl Service for Etcd {
    const KIND: ServiceKind = ServiceKind::Etcd;

    type Request = Request;
    type Answer = Answer;

    fn word(request: &Request) -> &'static str {
        request.word()
    }

    fn receive(
        &mut self,
        from: ServiceConnection,
        number: u32,
        request: Request,
        now: Duration,
        out: &mut Outbox<Answer>,
    ) {
        let word = request.word();
        let answer = match request {
            Request::Grant { ttl } => self.grant(ttl, now),
            Request::KeepAlive { lease } => match self.keep_alive(lease, now) {
                Some(answer) => answer,
                None => return self.waiting.push((lease, from, number)),
            },
            Request::Revoke { lease } if self.revoke(lease, out) => Answer::Revoked,
            Request::Revoke { .. } => Answer::Refused(EtcdError::LeaseNotFound),
            Request::Transaction { key, created, then, otherwise } => {
                self.transact(&key, created, then, otherwise)
            }
            Request::Watch { key } => {
                self.watches.insert((key, from));
                Answer::Watching
            }
        };
        out.answer(from, number, answer);
        self.settle(word, out);
    }

    fn disconnect(&mut self, connection: ServiceConnection, _: Duration, _: &mut Outbox<Answer>) {
        self.watches.retain(|(_, watcher)| *watcher != connection);
        self.waiting.retain(|(_, waiting, _)| *waiting != connection);
    }

    fn advance(&mut self, now: Duration, out: &mut Outbox<Answer>) {
        let over = |(id, lease): (&LeaseId, &Lease)| (look_after(lease.expires) <= now).then_some(*id);
        let over: Vec<LeaseId> = self.leases.iter().filter_map(over).collect();
        for id in over {
            self.revoke(id, out);
        }
        self.settle(SESSION_ENDED, out);
    }

    fn next_due(&self) -> Option<Duration> {
        self.leases.values().map(|lease| look_after(lease.expires)).min()
    }

    fn restart(&mut self, now: Duration, _: &mut Outbox<Answer>) {
        self.watches.clear();
        self.waiting.clear();
        for lease in self.leases.values_mut() {
            lease.expires = now + lease.ttl + ELECTION_TIMEOUT;
        }
    }
}

/// The first look at or after a time.
fn look_after(at: Duration) -> Duration {
    let look = LOOK.as_nanos();
    Duration::from_nanos(u64::try_from(at.as_nanos().div_ceil(look) * look).unwrap_or(u64::MAX))
}
