//! Promises of the database, each by itself: who has a lock, who is next, which writes count, and which
//! sessions are ended. Not here: whatever needs several of them at once, which the model has.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use doublehold_services::database::{Answer, Database, DatabaseError, DatabaseRules, LockMode, Request};
use doublehold_services::{Outgoing, Service, ServiceConnection};
use proptest::prelude::*;

use crate::carrier::{Carrier, ms};
use crate::model::cases;
use crate::model::database::Log;

const A: ServiceConnection = ServiceConnection(1);
const B: ServiceConnection = ServiceConnection(2);
const C: ServiceConnection = ServiceConnection(3);

fn database(in_transaction: Option<u64>, outside: Option<u64>) -> (Carrier<Database>, Log) {
    let log = Log::default();
    let (idle_in_transaction, idle_session) = (in_transaction.map(ms), outside.map(ms));
    let rules = DatabaseRules { idle_in_transaction, idle_session, keepalive: None };
    (Carrier::new(Database::new(rules, Box::new(log.clone()))), log)
}

fn lock(from: ServiceConnection, mode: LockMode) -> Request {
    Request::Lock { name: "a".to_owned(), mode, token: token(from), waits: true }
}

/// Returns the name of a lock while it is this session's.
fn token(session: ServiceConnection) -> Vec<u8> {
    session.0.to_le_bytes().to_vec()
}

fn write(byte: u8) -> Request {
    Request::Write { request: vec![byte] }
}

fn unlock() -> Request {
    Request::Unlock { name: "a".to_owned() }
}

/// Returns to whom the lock was given, in order, by the answers.
fn granted(database: &Carrier<Database>) -> Vec<ServiceConnection> {
    let locked = database.said.iter().filter(|(_, _, it)| matches!(it, Outgoing::Say(_, Answer::Locked)));
    locked.map(|(_, to, _)| *to).collect()
}

/// The ways in which a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Commit,
    Rollback,
    Disconnect,
    Idle,
    Restart,
}

const ENDS: [End; 5] = [End::Commit, End::Rollback, End::Disconnect, End::Idle, End::Restart];

fn end(database: &mut Carrier<Database>, how: End, session: ServiceConnection) {
    match how {
        End::Commit => drop(database.ask(session, Request::Commit)),
        End::Rollback => drop(database.ask(session, Request::Rollback)),
        End::Disconnect => database.disconnect(session),
        End::Idle => database.wait_until(database.now + ms(1000)),
        End::Restart => database.restart(ms(0)),
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn waiters_are_granted_a_lock_in_the_order_in_which_they_asked(
        order in Just((1..9_u64).map(ServiceConnection).collect::<Vec<_>>()).prop_shuffle(),
        leaves in prop::collection::btree_set(1..9_u64, 0..5),
        mode in prop::sample::select(vec![LockMode::Row, LockMode::Advisory]),
    ) {
        let (mut database, _) = database(None, None);
        for &session in &order {
            database.ask(session, Request::Begin);
            database.ask(session, lock(session, mode));
        }
        let mut line: VecDeque<ServiceConnection> = order.into();
        let first = line.pop_front().expect("eight are in line");
        let (gone, expected): (Vec<ServiceConnection>, Vec<ServiceConnection>) =
            line.into_iter().partition(|session| leaves.contains(&session.0));
        gone.into_iter().for_each(|session| database.disconnect(session));
        prop_assert_eq!(granted(&database), [first]);
        for _ in 0..=expected.len() {
            let (_, owner) = database.service.locks().next().expect("somebody has it");
            database.disconnect(owner);
        }
        prop_assert_eq!(granted(&database), [vec![first], expected].concat());
        prop_assert_eq!(database.service.locks().count(), 0);
    }

    #[test]
    fn no_two_sessions_have_one_lock_by_what_they_are_told(
        mode in prop::sample::select(vec![LockMode::Row, LockMode::Advisory]),
        steps in prop::collection::vec((1..5_u64, 0..7_u8), 1..80),
    ) {
        let (mut database, _) = database(None, None);
        let (mut owners, mut waiting): (BTreeSet<ServiceConnection>, BTreeSet<ServiceConnection>) = Default::default();
        let mut read = 0;
        for (session, step) in steps {
            let session = ServiceConnection(session);
            match step {
                0..4 if owners.contains(&session) || waiting.contains(&session) => continue,
                0..4 => {
                    database.ask(session, Request::Begin);
                    waiting.insert(session);
                    database.ask(session, lock(session, mode));
                }
                _ if !owners.remove(&session) => continue,
                4 if mode == LockMode::Row => drop(database.ask(session, Request::Commit)),
                4 => drop(database.ask(session, unlock())),
                _ => database.disconnect(session),
            }
            for (_, to, message) in &database.said[read..] {
                if matches!(message, Outgoing::Say(_, Answer::Locked)) {
                    prop_assert!(waiting.remove(to), "{:?} did not ask", to);
                    owners.insert(*to);
                    prop_assert_eq!(owners.len(), 1, "two have it: {:?}", owners);
                }
            }
            read = database.said.len();
            prop_assert!(waiting.is_empty() || owners.len() == 1, "nobody has what is asked for");
        }
    }

    #[test]
    fn writes_of_a_transaction_count_when_it_commits_and_never_otherwise(
        writes in prop::collection::vec(any::<u8>(), 0..6),
        how in prop::sample::select(ENDS.to_vec()),
    ) {
        let (mut database, log) = database(Some(1000), None);
        database.ask(A, Request::Begin);
        database.ask(A, lock(A, LockMode::Row));
        for &byte in &writes {
            prop_assert_eq!(database.ask(A, write(byte)), Some(Answer::Done));
        }
        prop_assert_eq!(log.written(), [] as [u8; 0]);
        end(&mut database, how, A);
        let expected = if how == End::Commit { writes } else { Vec::new() };
        prop_assert_eq!(log.written(), expected.clone());
        prop_assert_eq!(database.service.locks().count(), 0);
        let next = if matches!(how, End::Commit | End::Rollback) { A } else { B };
        for request in [Request::Begin, write(7), Request::Commit] {
            prop_assert_eq!(database.ask(next, request), Some(Answer::Done));
        }
        prop_assert_eq!(log.written(), [expected, vec![7]].concat());
    }
}

#[test]
fn a_row_is_free_when_its_transaction_ends_and_an_advisory_lock_is_not() {
    for (mode, is_free) in [(LockMode::Row, true), (LockMode::Advisory, false)] {
        for how in [End::Commit, End::Rollback] {
            let (mut database, _) = database(None, None);
            database.ask(A, Request::Begin);
            assert_eq!(database.ask(A, lock(A, mode)), Some(Answer::Locked));
            end(&mut database, how, A);
            assert_eq!(database.service.locks().count() == 0, is_free, "{mode:?} {how:?}");
        }
    }
}

#[test]
fn a_write_outside_of_a_transaction_counts_at_once() {
    let (mut database, log) = database(None, None);
    database.ask(A, lock(A, LockMode::Advisory));
    assert_eq!(database.ask(A, write(7)), Some(Answer::Row(vec![7])));
    assert_eq!(log.written(), [7]);
}

#[test]
fn only_its_owner_gives_an_advisory_lock_back() {
    let (mut database, _) = database(None, None);
    database.ask(A, lock(A, LockMode::Advisory));
    assert_eq!(database.ask(B, unlock()), Some(Answer::Unlocked(false)));
    assert_eq!(database.service.locks().collect::<Vec<_>>(), [("a", A)]);
    assert_eq!(database.ask(A, unlock()), Some(Answer::Unlocked(true)));
    assert_eq!(database.service.locks().count(), 0);
}

#[test]
fn who_does_not_wait_for_a_lock_gets_no_place_in_its_line() {
    let (mut database, _) = database(None, None);
    database.ask(A, lock(A, LockMode::Advisory));
    let (name, mode, token) = ("a".to_owned(), LockMode::Advisory, vec![]);
    assert_eq!(database.ask(B, Request::Lock { name, mode, token, waits: false }), Some(Answer::Taken));
    database.ask(A, unlock());
    assert_eq!(granted(&database), [A]);
    assert_eq!(database.service.locks().count(), 0);
}

#[test]
fn an_idle_session_is_ended_at_its_limit_and_each_request_counts_it_anew() {
    let why = [(true, DatabaseError::IdleInTransaction, 1000), (false, DatabaseError::IdleSession, 3000)];
    for (in_transaction, why, limit) in why {
        let (mut database, _) = database(Some(1000), Some(3000));
        database.ask(A, if in_transaction { Request::Begin } else { unlock() });
        database.wait_until(ms(900));
        database.ask(A, lock(A, LockMode::Advisory));
        database.wait_until(ms(899 + limit));
        assert_eq!((database.closed_at(A), database.service.locks().count()), (None, 1));
        database.wait_until(ms(60_000));
        assert_eq!(database.closed_at(A), Some(ms(900 + limit)));
        assert_eq!(database.events(A), [Answer::Ended(why)]);
        assert_eq!(database.last_owner(), Some((ms(900 + limit), None)));
    }
}

#[test]
fn a_session_is_not_idle_while_it_waits_and_is_from_the_grant_on() {
    let (mut database, _) = database(Some(1000), None);
    database.ask(A, lock(A, LockMode::Advisory));
    database.ask(B, Request::Begin);
    assert_eq!(database.ask(B, lock(B, LockMode::Advisory)), None);
    database.wait_until(ms(50_000));
    database.ask(A, unlock());
    database.wait_until(ms(60_000));
    assert_eq!(database.closed_at(B), Some(ms(51_000)));
}

#[test]
fn without_a_limit_a_silent_session_keeps_its_lock_until_its_connection_ends() {
    let (mut database, _) = database(None, None);
    database.ask(A, lock(A, LockMode::Advisory));
    database.ask(B, lock(B, LockMode::Advisory));
    assert_eq!(database.service.next_due(), None);
    database.wait_until(Duration::from_secs(1_000_000));
    database.disconnect(A);
    assert_eq!(database.last_owner(), Some((Duration::from_secs(1_000_000), Some(token(B)))));
}

#[test]
fn a_waiter_whose_client_is_silent_is_granted_the_lock_all_the_same() {
    let (mut database, _) = database(None, None);
    for session in [A, B, C] {
        database.ask(session, lock(session, LockMode::Advisory));
    }
    database.disconnect(A);
    database.wait_until(ms(600_000));
    assert_eq!(granted(&database), [A, B]);
}

#[test]
fn a_restart_ends_all_sessions_and_grants_no_waiter_anything() {
    let (mut database, _) = database(Some(1000), Some(1000));
    database.ask(A, Request::Begin);
    database.ask(A, lock(A, LockMode::Row));
    database.ask(B, Request::Begin);
    database.ask(B, lock(B, LockMode::Row));
    database.restart(ms(0));
    assert_eq!((granted(&database), database.last_owner()), (vec![A], Some((ms(0), None))));
    assert_eq!((database.service.locks().count(), database.service.next_due()), (0, None));
}

#[test]
fn a_write_that_comes_after_the_end_of_its_session_does_not_count() {
    let (mut database, log) = database(Some(1000), None);
    database.ask(A, Request::Begin);
    database.ask(A, lock(A, LockMode::Row));
    database.wait_until(ms(1000));
    assert_eq!(database.closed_at(A), Some(ms(1000)));
    assert_eq!(database.ask(A, write(7)), None);
    assert_eq!(log.written(), [] as [u8; 0]);
}
