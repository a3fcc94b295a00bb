//! Promises of etcd, each by itself: when leases end, that no keep-alive revives one, and how often watches
//! fire. Not here: whatever needs several of them at once, which the model has.

use std::time::Duration;

use doublehold_services::etcd::{Answer, Etcd, EtcdError, LeaseId, Op, OpResult, Request};
use doublehold_services::{Outgoing, ServiceConnection};
use proptest::prelude::*;

use crate::carrier::{Carrier, ms};
use crate::model::cases;

const A: ServiceConnection = ServiceConnection(1);
const B: ServiceConnection = ServiceConnection(2);
const HALF_A_SECOND: Duration = Duration::from_millis(500);

fn grant(etcd: &mut Carrier<Etcd>, ttl: Duration) -> LeaseId {
    match etcd.ask(A, Request::Grant { ttl }) {
        Some(Answer::Granted { lease, ttl: granted }) => {
            assert_eq!(granted, ttl.max(ms(2000)));
            lease
        }
        other => panic!("no lease: {other:?}"),
    }
}

/// Writes a key if there is none, and reads what is there then: a lock. Returns whether it was written, and
/// the revision at which the key was made.
fn take(etcd: &mut Carrier<Etcd>, from: ServiceConnection, key: &str, lease: Option<LeaseId>) -> (bool, u64) {
    let put = Op::Put { key: key.to_owned(), value: from.0.to_le_bytes().to_vec(), lease };
    let get = Op::Get { key: key.to_owned() };
    let (then, otherwise) = (vec![put, get.clone()], vec![get]);
    match etcd.ask(from, Request::Transaction { key: key.to_owned(), created: 0, then, otherwise }) {
        Some(Answer::Done { succeeded, results, .. }) => match results.last() {
            Some(OpResult::Got(Some((_, value)))) => (succeeded, value.created),
            other => panic!("no key: {other:?}"),
        },
        other => panic!("no transaction: {other:?}"),
    }
}

fn delete(key: &str) -> Request {
    let (key, ops) = (key.to_owned(), vec![Op::Delete { key: key.to_owned() }]);
    Request::Transaction { key, created: 0, then: Vec::new(), otherwise: ops }
}

fn keep_alive(lease: LeaseId) -> Request {
    Request::KeepAlive { lease }
}

fn watch(key: &str) -> Request {
    Request::Watch { key: key.to_owned() }
}

fn gone(key: &str) -> Answer {
    Answer::KeyGone { key: key.to_owned() }
}

const OVER: Answer = Answer::Alive { ttl: Duration::ZERO };

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_lease_ends_at_the_first_look_after_its_last_keep_alive_and_its_time(
        (begun, ttl) in (0..5_000_000_u64, 0..9_000_000_u64),
        pauses in prop::collection::vec(0..2_000_000_u64, 0..6),
        disconnects: bool,
    ) {
        let (mut etcd, ttl) = (Carrier::new(Etcd::default()), Duration::from_micros(ttl));
        etcd.wait_until(Duration::from_micros(begun));
        let lease = grant(&mut etcd, ttl);
        let ttl = ttl.max(ms(2000));
        take(&mut etcd, A, "a", Some(lease));
        for pause in pauses {
            etcd.wait_until(etcd.now + Duration::from_micros(pause));
            prop_assert_eq!(etcd.ask(A, keep_alive(lease)), Some(Answer::Alive { ttl }));
        }
        if disconnects {
            etcd.disconnect(A);
        }
        let over = etcd.now + ttl;
        etcd.wait_until(over + ms(10_000));
        let (ended, owner) = etcd.last_owner().expect("the lock had an owner");
        prop_assert_eq!(owner, None);
        prop_assert!(ended >= over && ended < over + HALF_A_SECOND, "{:?} after {:?}", ended, over);
    }

    #[test]
    fn a_keep_alive_after_the_end_of_a_lease_does_not_revive_it(
        (begun, late) in (1..500_u64, 0..500_u64),
        looks_late: bool,
    ) {
        let mut etcd = Carrier::new(Etcd::default());
        etcd.wait_until(ms(begun));
        let lease = grant(&mut etcd, ms(2000));
        take(&mut etcd, A, "a", Some(lease));
        let over = ms(begun + 2000);
        if looks_late {
            etcd.now = over + ms(late);
        } else {
            etcd.wait_until(over + ms(late));
        }
        let at_once = etcd.ask(A, keep_alive(lease));
        prop_assert!(at_once.is_none() || at_once == Some(OVER), "{:?}", at_once);
        etcd.wait_until(over + ms(1000));
        let answers = etcd.said.iter().filter(|(_, _, said)| {
            matches!(said, Outgoing::Say(_, answer) if *answer == OVER)
        });
        prop_assert_eq!(answers.count(), 1, "a keep-alive has one answer");
        prop_assert_eq!(etcd.service.leases().count(), 0);
        prop_assert_eq!(etcd.last_owner().map(|(_, owner)| owner), Some(None));
        prop_assert_eq!(etcd.ask(A, keep_alive(lease)), Some(OVER));
    }

    #[test]
    fn the_revision_of_a_new_key_is_higher_than_each_before_also_over_restarts(
        steps in prop::collection::vec((0..5_u8, "[abc]"), 1..40),
    ) {
        let (mut etcd, mut last) = (Carrier::new(Etcd::default()), 0);
        for (step, key) in steps {
            match step {
                0 => etcd.restart(Duration::ZERO),
                1 => {
                    etcd.ask(A, delete(&key));
                }
                _ => {
                    let (made, created) = take(&mut etcd, A, &key, None);
                    prop_assert_eq!(made, created > last, "{} after {}", created, last);
                    last = last.max(created);
                }
            }
        }
    }

    #[test]
    fn a_lease_has_its_whole_time_and_a_second_more_after_a_restart(
        (ttl, ran, clock) in (2..30_u64, 0..60_000_u64, 0..100_000_u64),
    ) {
        let mut etcd = Carrier::new(Etcd::default());
        let lease = grant(&mut etcd, ms(ttl * 1000));
        take(&mut etcd, A, "a", Some(lease));
        etcd.wait_until(ms(ran.min(ttl * 1000 - 1)));
        etcd.restart(ms(clock));
        etcd.wait_until(ms(clock + 100_000));
        let (ended, owner) = etcd.last_owner().expect("the lock had an owner");
        let over = ms(clock + ttl * 1000 + 1000);
        prop_assert_eq!(owner, None);
        prop_assert!(ended >= over && ended < over + HALF_A_SECOND, "{:?} after {:?}", ended, over);
    }
}

#[test]
fn a_watch_fires_once_when_its_key_is_gone_and_at_once_if_there_is_none() {
    let mut etcd = Carrier::new(Etcd::default());
    take(&mut etcd, A, "a", None);
    for _ in 0..2 {
        assert_eq!(etcd.ask(B, watch("a")), Some(Answer::Watching));
    }
    assert_eq!(etcd.events(B), []);
    for _ in 0..2 {
        etcd.ask(A, delete("a"));
        take(&mut etcd, A, "a", None);
    }
    assert_eq!(etcd.events(B), [gone("a")]);
    assert_eq!(etcd.ask(B, watch("b")), Some(Answer::Watching));
    take(&mut etcd, A, "b", None);
    etcd.ask(A, delete("b"));
    assert_eq!(etcd.events(B), [gone("a"), gone("b")]);
}

#[test]
fn a_watch_fires_when_the_lease_of_its_key_is_over() {
    let mut etcd = Carrier::new(Etcd::default());
    let lease = grant(&mut etcd, ms(2000));
    take(&mut etcd, A, "a", Some(lease));
    etcd.ask(B, watch("a"));
    etcd.wait_until(ms(1999));
    assert_eq!(etcd.events(B), []);
    etcd.wait_until(ms(9000));
    assert_eq!(etcd.events(B), [gone("a")]);
}

#[test]
fn watches_go_with_their_connection_and_with_a_restart() {
    let mut etcd = Carrier::new(Etcd::default());
    take(&mut etcd, A, "a", None);
    take(&mut etcd, A, "b", None);
    etcd.ask(B, watch("a"));
    etcd.disconnect(B);
    etcd.ask(A, delete("a"));
    etcd.ask(B, watch("b"));
    etcd.restart(etcd.now);
    etcd.ask(A, delete("b"));
    assert_eq!(etcd.events(B), []);
}

#[test]
fn a_key_has_one_owner_until_its_lease_ends_and_then_the_next() {
    let mut etcd = Carrier::new(Etcd::default());
    let (mine, theirs) = (grant(&mut etcd, ms(2000)), grant(&mut etcd, ms(20_000)));
    assert!(take(&mut etcd, A, "a", Some(mine)).0);
    etcd.wait_until(ms(1999));
    assert!(!take(&mut etcd, B, "a", Some(theirs)).0);
    etcd.wait_until(ms(2000));
    assert!(take(&mut etcd, B, "a", Some(theirs)).0);
    assert_eq!(etcd.last_owner(), Some((ms(2000), Some(B.0.to_le_bytes().to_vec()))));
}

#[test]
fn nothing_is_written_with_a_lease_that_is_gone() {
    let mut etcd = Carrier::new(Etcd::default());
    let lease = grant(&mut etcd, ms(2000));
    assert_eq!(etcd.ask(A, Request::Revoke { lease }), Some(Answer::Revoked));
    let put = |key: &str, lease| Op::Put { key: key.to_owned(), value: vec![], lease };
    let then = vec![put("b", None), put("a", Some(lease))];
    let request = Request::Transaction { key: "a".into(), created: 0, then, otherwise: vec![] };
    assert_eq!(etcd.ask(A, request), Some(Answer::Refused(EtcdError::LeaseNotFound)));
    assert_eq!(etcd.service.keys().count(), 0);
}

#[test]
fn the_number_of_a_lease_is_not_used_again_after_a_restart() {
    let mut etcd = Carrier::new(Etcd::default());
    let before = grant(&mut etcd, ms(2000));
    etcd.wait_until(ms(2000));
    etcd.restart(ms(0));
    assert!(grant(&mut etcd, ms(2000)) > before);
}

#[test]
fn a_keep_alive_that_waits_is_not_answered_on_a_connection_that_is_gone() {
    for is_gone in [false, true] {
        let mut etcd = Carrier::new(Etcd::default());
        etcd.wait_until(ms(100));
        let lease = grant(&mut etcd, ms(2000));
        etcd.wait_until(ms(2200));
        assert_eq!(etcd.ask(B, keep_alive(lease)), None);
        if is_gone {
            etcd.disconnect(B);
        }
        etcd.wait_until(ms(60_000));
        let answers: Vec<_> = etcd.said.iter().filter(|(_, to, _)| *to == B).cloned().collect();
        let expected = if is_gone { vec![] } else { vec![(ms(2500), B, Outgoing::Say(2, OVER))] };
        assert_eq!(answers, expected);
    }
}

#[test]
fn a_keep_alive_that_waits_is_answered_when_its_lease_is_revoked() {
    let mut etcd = Carrier::new(Etcd::default());
    etcd.wait_until(ms(100));
    let lease = grant(&mut etcd, ms(2000));
    etcd.wait_until(ms(2200));
    assert_eq!(etcd.ask(A, keep_alive(lease)), None);
    assert_eq!(etcd.ask(B, Request::Revoke { lease }), Some(Answer::Revoked));
    etcd.wait_until(ms(60_000));
    let said = etcd.said.iter().rfind(|(_, to, _)| *to == A).expect("A has its lease");
    assert_eq!(said.2, Outgoing::Say(2, OVER));
}
