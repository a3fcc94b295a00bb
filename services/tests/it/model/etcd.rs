//! A naive etcd: lists of leases, keys and watches.
//!
//! Not modelled: the revocation of a lease while a keep-alive of it waits, which has a test of its own.

use std::time::Duration;

use doublehold_services::etcd::{Answer, Etcd, EtcdError, KeyValue, LeaseId, Op, OpResult, Request};
use doublehold_services::{EVENT, Outbox, Service, ServiceConnection};
use proptest::prelude::*;

use super::{Model, Pair, QUANTUM, cases, say, sequences, tell_owners};

type Out = Outbox<Answer>;

/// Stands for the revision at which the key of a transaction was made.
const AS_IT_IS: u64 = u64::MAX;

#[derive(Debug, Default)]
struct Naive {
    revision: u64,
    granted: u64,
    /// Each lease with how long it lasts and when it is over.
    leases: Vec<(LeaseId, Duration, Duration)>,
    keys: Vec<(String, KeyValue)>,
    watches: Vec<(String, ServiceConnection)>,
    waiting: Vec<(LeaseId, ServiceConnection, u32)>,
    owners: Vec<(String, Vec<u8>)>,
}

impl Naive {
    fn get(&self, key: &str) -> Option<(String, KeyValue)> {
        self.keys.iter().find(|(known, _)| known == key).cloned()
    }

    fn knows(&self, lease: LeaseId) -> bool {
        self.leases.iter().any(|(known, ..)| *known == lease)
    }

    /// Returns the keys under a prefix by age; those of one transaction by their names.
    fn under(&self, prefix: &str) -> Vec<(String, KeyValue)> {
        let mut found: Vec<_> =
            self.keys.iter().filter(|(key, _)| key.starts_with(prefix)).cloned().collect();
        found.sort_by_key(|(_, it)| it.created);
        found
    }

    fn apply(&mut self, op: Op) -> OpResult {
        match op {
            Op::Put { key, value, lease } => {
                let created = self.get(&key).map_or(self.revision, |(_, known)| known.created);
                self.keys.retain(|(known, _)| *known != key);
                self.keys.push((key, KeyValue { value, created, lease }));
                self.keys.sort_by(|a, b| a.0.cmp(&b.0));
                OpResult::Put
            }
            Op::Get { key } => OpResult::Got(self.get(&key)),
            Op::First { prefix } => OpResult::Got(self.under(&prefix).first().cloned()),
            Op::LastBefore { prefix, revision } => {
                let mut before = self.under(&prefix);
                before.retain(|(_, it)| it.created < revision);
                OpResult::Got(before.last().cloned())
            }
            Op::Delete { key } => {
                let known = self.get(&key).is_some();
                self.keys.retain(|(it, _)| *it != key);
                OpResult::Deleted(known)
            }
        }
    }

    fn transact(&mut self, key: &str, created: u64, then: Vec<Op>, otherwise: Vec<Op>) -> Answer {
        let succeeded = match self.get(key) {
            Some((_, known)) => known.created == created,
            None => created == 0,
        };
        let ops = if succeeded { then } else { otherwise };
        let mut writes = false;
        for op in &ops {
            match op {
                Op::Put { lease: Some(lease), .. } if !self.knows(*lease) => {
                    return Answer::Refused(EtcdError::LeaseNotFound);
                }
                Op::Put { .. } => writes = true,
                Op::Delete { key } => writes |= self.get(key).is_some(),
                _ => {}
            }
        }
        self.revision += u64::from(writes);
        let results = ops.into_iter().map(|op| self.apply(op)).collect();
        Answer::Done { revision: self.revision, succeeded, results }
    }

    fn revoke(&mut self, lease: LeaseId) {
        self.leases.retain(|(known, ..)| *known != lease);
        let keys = self.keys.len();
        self.keys.retain(|(_, it)| it.lease != Some(lease));
        self.revision += u64::from(self.keys.len() < keys);
    }

    fn answer(
        &mut self,
        from: ServiceConnection,
        number: u32,
        request: Request,
        now: Duration,
    ) -> Option<Answer> {
        Some(match request {
            Request::Grant { ttl } => {
                self.granted += 1;
                let (lease, ttl) = (LeaseId(self.granted), ttl.max(Duration::from_secs(2)));
                self.leases.push((lease, ttl, now + ttl));
                Answer::Granted { lease, ttl }
            }
            Request::KeepAlive { lease } => {
                match self.leases.iter_mut().find(|(known, ..)| *known == lease) {
                    None => Answer::Alive { ttl: Duration::ZERO },
                    Some((.., until)) if *until <= now => {
                        self.waiting.push((lease, from, number));
                        return None;
                    }
                    Some((_, ttl, until)) => {
                        *until = now + *ttl;
                        Answer::Alive { ttl: *ttl }
                    }
                }
            }
            Request::Revoke { lease } if !self.knows(lease) => Answer::Refused(EtcdError::LeaseNotFound),
            Request::Revoke { lease } => {
                self.revoke(lease);
                Answer::Revoked
            }
            Request::Transaction { key, created, then, otherwise } => {
                self.transact(&key, created, then, otherwise)
            }
            Request::Watch { key } => {
                if !self.watches.contains(&(key.clone(), from)) {
                    self.watches.push((key, from));
                }
                Answer::Watching
            }
        })
    }

    fn settle(&mut self, cause: &'static str, out: &mut Out) {
        self.watches.sort();
        for (key, to) in std::mem::take(&mut self.watches) {
            if self.get(&key).is_some() {
                self.watches.push((key, to));
            } else {
                say(out, to, EVENT, Answer::KeyGone { key });
            }
        }
        let lock_of =
            |key: &str| key.trim_start_matches("/locks/").split('/').next().unwrap_or("").to_owned();
        let mut by_age: Vec<&(String, KeyValue)> = self.keys.iter().collect();
        by_age.sort_by_key(|(_, it)| it.created);
        let mut owners: Vec<(String, Vec<u8>)> = Vec::new();
        for (key, it) in by_age {
            if !owners.iter().any(|(lock, _)| *lock == lock_of(key)) {
                owners.push((lock_of(key), it.value.clone()));
            }
        }
        tell_owners(&self.owners, &owners, cause, out);
        self.owners = owners;
    }
}

impl Model<Etcd> for Naive {
    fn prepare(&self, _: ServiceConnection, mut request: Request) -> Option<Request> {
        match &mut request {
            Request::Transaction { key, created, .. } if *created == AS_IT_IS => {
                *created = self.get(key).map_or(0, |(_, it)| it.created);
            }
            Request::Revoke { lease } if self.waiting.iter().any(|(of, ..)| of == lease) => return None,
            _ => {}
        }
        Some(request)
    }

    fn receive(
        &mut self,
        from: ServiceConnection,
        number: u32,
        request: Request,
        now: Duration,
        out: &mut Out,
    ) {
        let word = Etcd::word(&request);
        if let Some(answer) = self.answer(from, number, request, now) {
            say(out, from, number, answer);
            self.settle(word, out);
        }
    }

    fn disconnect(&mut self, connection: ServiceConnection, _: Duration, _: &mut Out) {
        self.watches.retain(|(_, watcher)| *watcher != connection);
        self.waiting.retain(|(_, waiter, _)| *waiter != connection);
    }

    /// Ends what is over, at each half second and whenever one was slept through.
    fn look(&mut self, now: Duration, out: &mut Out) {
        for (lease, _, until) in self.leases.clone() {
            let mut look = Duration::ZERO;
            while look < until {
                look += Duration::from_millis(500);
            }
            if look > now {
                continue;
            }
            self.revoke(lease);
            for (of, to, number) in std::mem::take(&mut self.waiting) {
                if of == lease {
                    say(out, to, number, Answer::Alive { ttl: Duration::ZERO });
                } else {
                    self.waiting.push((of, to, number));
                }
            }
        }
        self.settle("SESSION ENDED", out);
    }

    fn restart(&mut self, now: Duration, _: &mut Out) {
        self.watches.clear();
        self.waiting.clear();
        for (_, ttl, until) in &mut self.leases {
            *until = now + *ttl + Duration::from_secs(1);
        }
    }

    fn agrees(&self, service: &Etcd) {
        let leases: Vec<LeaseId> = self.leases.iter().map(|(lease, ..)| *lease).collect();
        assert_eq!(service.leases().collect::<Vec<_>>(), leases);
        let keys: Vec<(&str, &KeyValue)> = self.keys.iter().map(|(key, it)| (key.as_str(), it)).collect();
        assert_eq!(service.keys().collect::<Vec<_>>(), keys);
    }
}

fn leases() -> impl Strategy<Value = LeaseId> {
    (1..7_u64).prop_map(LeaseId)
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]", "/locks/[ab]", "[ab]/[123]"]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        5 => (key(), any::<bool>(), prop::option::weighted(0.8, leases())).prop_map(|(key, which, lease)| {
            Op::Put { key, value: vec![u8::from(which)], lease }
        }),
        1 => key().prop_map(|key| Op::Get { key }),
        1 => "[ab]/?".prop_map(|prefix| Op::First { prefix }),
        1 => ("[ab]/?", 0..15_u64).prop_map(|(prefix, revision)| Op::LastBefore { prefix, revision }),
        2 => key().prop_map(|key| Op::Delete { key }),
    ]
}

fn requests() -> impl Strategy<Value = Request> {
    let created = prop_oneof![Just(0), Just(AS_IT_IS), 1..9_u64];
    let ops = || prop::collection::vec(op(), 0..3);
    prop_oneof![
        4 => (0..20_u32).prop_map(|quanta| Request::Grant { ttl: QUANTUM * quanta }),
        8 => leases().prop_map(|lease| Request::KeepAlive { lease }),
        1 => leases().prop_map(|lease| Request::Revoke { lease }),
        9 => (key(), created, ops(), ops()).prop_map(|(key, created, then, otherwise)| {
            Request::Transaction { key, created, then, otherwise }
        }),
        5 => key().prop_map(|key| Request::Watch { key }),
    ]
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn etcd_says_what_a_naive_model_says(steps in sequences(90, Just(None), requests())) {
        Pair::new(Etcd::default(), Naive::default()).run(steps);
    }
}
