//! Promises of ZooKeeper, each by itself: when sessions end, how often watches fire, and for how long a lock
//! stays taken. Not here: whatever needs several of them at once, which the model has.

use std::time::Duration;

use doublehold_services::zookeeper::{Answer, Request, SessionId, WatchKind, ZooKeeper, ZooKeeperRules};
use doublehold_services::{Outgoing, ServiceConnection};
use proptest::prelude::*;

use crate::carrier::{Carrier, ms};
use crate::model::cases;

const A: ServiceConnection = ServiceConnection(1);
const B: ServiceConnection = ServiceConnection(2);
const LATER: ServiceConnection = ServiceConnection(9);
/// A timeout that both ends take as it is, with the usual tick of 2 s.
const TIMEOUT: Duration = Duration::from_secs(10);

fn service(tick: Duration, lock_delay: Duration) -> Carrier<ZooKeeper> {
    Carrier::new(ZooKeeper::new(ZooKeeperRules { tick, lock_delay }))
}

fn usual() -> Carrier<ZooKeeper> {
    Carrier::new(ZooKeeper::new(ZooKeeperRules::default()))
}

fn begin(
    service: &mut Carrier<ZooKeeper>,
    from: ServiceConnection,
    timeout: Duration,
) -> (SessionId, Duration) {
    match service.ask(from, Request::Connect { session: None, timeout }) {
        Some(Answer::Connected { session, timeout }) => (session, timeout),
        other => panic!("no session: {other:?}"),
    }
}

fn go_on(service: &mut Carrier<ZooKeeper>, from: ServiceConnection, session: SessionId) -> Option<Answer> {
    service.ask(from, Request::Connect { session: Some(session), timeout: TIMEOUT })
}

/// Stands in line for the lock, and returns the path and the number of the transaction.
fn line_up(service: &mut Carrier<ZooKeeper>, from: ServiceConnection) -> (String, u64) {
    let (path, data) = ("/locks/a/n-".to_owned(), from.0.to_le_bytes().to_vec());
    match service.ask(from, Request::Create { path, data, ephemeral: true, sequential: true }) {
        Some(Answer::Created { path, zxid }) => (path, zxid),
        other => panic!("not in line: {other:?}"),
    }
}

fn delete(path: &str) -> Request {
    Request::Delete { path: path.to_owned() }
}

fn exists(path: &str) -> Request {
    Request::Exists { path: path.to_owned(), watch: true }
}

fn fired(path: &str) -> Answer {
    Answer::Fired { kind: WatchKind::Node, path: path.to_owned() }
}

/// Pings, each some time after the one before.
fn pings() -> impl Strategy<Value = Vec<Duration>> {
    prop::collection::vec((0..3_000_000_u64).prop_map(Duration::from_micros), 0..6)
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_session_ends_after_its_timeout_and_at_most_a_tick_later(
        (tick, wanted, begun) in (1_500_000..4_000_000_u64, 0..90_000_000_u64, 0..9_000_000_u64),
        pings in pings(),
    ) {
        let (tick, wanted) = (Duration::from_micros(tick), Duration::from_micros(wanted));
        let mut zk = service(tick, Duration::ZERO);
        zk.wait_until(Duration::from_micros(begun));
        let (session, timeout) = begin(&mut zk, A, wanted);
        prop_assert_eq!(timeout, wanted.max(tick * 2).min(tick * 20));
        for pause in pings {
            zk.wait_until(zk.now + pause);
            prop_assert_eq!(zk.ask(A, Request::Ping), Some(Answer::Pong));
        }
        let heard = zk.now;
        zk.wait_until(heard + timeout);
        prop_assert_eq!(zk.closed_at(A), None, "ended before its timeout");
        zk.wait_until(heard + timeout + tick);
        prop_assert!(zk.closed_at(A).is_some(), "outlived its timeout by more than a tick");
        prop_assert_eq!(go_on(&mut zk, LATER, session), Some(Answer::Expired));
    }

    #[test]
    fn a_lock_stays_taken_for_the_delay_from_the_end_of_its_session_on(
        (pings, delay) in (pings(), 1..40_000_u64),
        heartbeats_on_another_connection: bool,
    ) {
        let mut zk = service(ms(2000), ms(delay));
        let (session, _) = begin(&mut zk, A, TIMEOUT);
        line_up(&mut zk, A);
        let mut from = A;
        if heartbeats_on_another_connection {
            zk.disconnect(A);
            from = B;
            go_on(&mut zk, B, session);
        }
        for pause in pings {
            zk.wait_until(zk.now + pause);
            zk.ask(from, Request::Ping);
        }
        zk.wait_until(zk.now + ms(100_000));
        let ended = zk.closed_at(from).expect("it is silent for longer than its timeout");
        prop_assert_eq!(zk.last_owner(), Some((ended + ms(delay), None)));
    }

    #[test]
    fn the_number_of_a_transaction_never_goes_back_also_over_restarts(
        steps in prop::collection::vec(0..6_u8, 1..40),
    ) {
        let (mut zk, mut last) = (usual(), 0);
        let mut own: Vec<String> = Vec::new();
        let (session, _) = begin(&mut zk, A, ms(40_000));
        for (place, step) in (10..).zip(steps) {
            let connection = ServiceConnection(place);
            go_on(&mut zk, connection, session);
            match step {
                0 => zk.restart(Duration::ZERO),
                1 if !own.is_empty() => {
                    let path = own.pop().expect("it is not empty");
                    prop_assert_eq!(zk.ask(connection, delete(&path)), Some(Answer::Deleted));
                }
                _ => {
                    let (path, zxid) = line_up(&mut zk, connection);
                    prop_assert!(zxid > last, "{} after {}", zxid, last);
                    last = zxid;
                    own.push(path);
                }
            }
        }
    }

    #[test]
    fn a_watch_fires_once_however_often_its_node_comes_and_goes(
        (asked, changes) in (1..4_usize, 1..6_usize),
    ) {
        let mut zk = usual();
        begin(&mut zk, A, TIMEOUT);
        begin(&mut zk, B, TIMEOUT);
        for _ in 0..asked {
            zk.ask(B, exists("/up"));
        }
        for _ in 0..changes {
            let (path, data) = ("/up".to_owned(), Vec::new());
            let answer = zk.ask(A, Request::Create { path, data, ephemeral: true, sequential: false });
            prop_assert!(matches!(answer, Some(Answer::Created { .. })), "{:?}", answer);
            prop_assert_eq!(zk.ask(A, delete("/up")), Some(Answer::Deleted));
        }
        prop_assert_eq!(zk.events(B), [fired("/up")]);
    }
}

#[test]
fn a_watch_fires_before_the_answer_to_who_made_it_fire() {
    let mut zk = usual();
    begin(&mut zk, A, TIMEOUT);
    let (path, _) = line_up(&mut zk, A);
    zk.ask(A, exists(&path));
    zk.ask(A, delete(&path));
    let last: Vec<_> = zk.said.iter().rev().take(2).map(|(_, _, message)| message.clone()).collect();
    assert_eq!(last, [Outgoing::Say(4, Answer::Deleted), Outgoing::Say(0, fired(&path))]);
}

#[test]
fn a_watch_goes_with_its_connection_although_its_session_goes_on() {
    let mut zk = usual();
    begin(&mut zk, A, TIMEOUT);
    let (path, _) = line_up(&mut zk, A);
    let (session, _) = begin(&mut zk, B, TIMEOUT);
    zk.ask(B, exists(&path));
    go_on(&mut zk, LATER, session);
    zk.ask(A, delete(&path));
    assert_eq!((zk.events(B), zk.events(LATER)), (vec![], vec![]));
}

#[test]
fn a_watch_goes_with_its_connection_when_that_ends() {
    let mut zk = usual();
    begin(&mut zk, A, TIMEOUT);
    let (path, _) = line_up(&mut zk, A);
    begin(&mut zk, B, TIMEOUT);
    zk.ask(B, exists(&path));
    zk.disconnect(B);
    zk.ask(A, delete(&path));
    assert_eq!(zk.events(B), []);
}

#[test]
fn nothing_is_executed_for_a_session_that_was_closed() {
    let mut zk = usual();
    begin(&mut zk, A, TIMEOUT);
    assert_eq!(zk.ask(A, Request::CloseSession), Some(Answer::Closed));
    let (path, data) = ("/up".to_owned(), Vec::new());
    assert_eq!(zk.ask(A, Request::Create { path, data, ephemeral: false, sequential: false }), None);
    assert_eq!((zk.service.nodes().count(), zk.service.sessions().count()), (0, 0));
}

#[test]
fn no_watch_is_left_after_a_restart() {
    let mut zk = usual();
    let (session, _) = begin(&mut zk, A, TIMEOUT);
    let (path, _) = line_up(&mut zk, A);
    begin(&mut zk, B, TIMEOUT);
    zk.ask(B, exists(&path));
    zk.restart(zk.now);
    go_on(&mut zk, LATER, session);
    assert_eq!(zk.ask(LATER, delete(&path)), Some(Answer::Deleted));
    assert_eq!(zk.events(B), []);
}

#[test]
fn a_session_that_is_over_comes_to_nothing_however_its_client_goes_on() {
    let mut zk = usual();
    let (session, _) = begin(&mut zk, A, TIMEOUT);
    let (path, _) = line_up(&mut zk, A);
    zk.wait_until(ms(12_000));
    assert_eq!(zk.last_owner(), Some((ms(12_000), None)));
    assert_eq!(zk.ask(A, Request::Ping), None);
    assert_eq!(zk.ask(A, delete(&path)), None);
    for (restarts, connection) in [(false, B), (true, LATER)] {
        if restarts {
            zk.restart(Duration::ZERO);
        }
        assert_eq!(go_on(&mut zk, connection, session), Some(Answer::Expired));
        assert!(zk.closed_at(connection).is_some());
        assert_eq!(zk.ask(connection, Request::Ping), None);
    }
}

#[test]
fn a_restart_gives_a_silent_session_its_whole_timeout_anew() {
    let mut zk = usual();
    let (session, _) = begin(&mut zk, A, TIMEOUT);
    line_up(&mut zk, A);
    zk.restart(ms(11_500));
    zk.wait_until(ms(21_999));
    assert_eq!(zk.service.sessions().collect::<Vec<_>>(), [session]);
    zk.wait_until(ms(22_000));
    assert_eq!(zk.last_owner(), Some((ms(22_000), None)));
    let (other, _) = begin(&mut zk, B, TIMEOUT);
    assert!(other > session, "a number of a session is used twice");
}

#[test]
fn a_lock_delay_is_never_shorter_for_a_restart_or_a_late_look() {
    let mut zk = service(ms(2000), ms(5000));
    begin(&mut zk, A, TIMEOUT);
    line_up(&mut zk, A);
    // The service stands still while the session ends: it ends when the service looks.
    zk.now = ms(20_000);
    zk.look();
    assert_eq!(zk.closed_at(A), Some(ms(20_000)));
    zk.wait_until(ms(24_000));
    zk.restart(ms(1000));
    zk.wait_until(ms(5999));
    assert_eq!(zk.last_owner().map(|(_, owner)| owner.is_some()), Some(true));
    zk.wait_until(ms(60_000));
    assert_eq!(zk.last_owner(), Some((ms(6000), None)));
}

#[test]
fn a_session_that_is_gone_on_with_has_its_whole_timeout_anew() {
    let mut zk = usual();
    let (session, _) = begin(&mut zk, A, TIMEOUT);
    zk.wait_until(ms(11_000));
    go_on(&mut zk, B, session);
    zk.wait_until(ms(60_000));
    assert_eq!((zk.closed_at(A), zk.closed_at(B)), (Some(ms(11_000)), Some(ms(22_000))));
}

#[test]
fn the_owner_is_the_lowest_number_whatever_stands_before_it() {
    let mut zk = usual();
    begin(&mut zk, A, TIMEOUT);
    for name in ["z-", "a-"] {
        let (path, data) = (format!("/locks/a/{name}"), name.into());
        zk.ask(A, Request::Create { path, data, ephemeral: true, sequential: true });
    }
    assert_eq!(zk.last_owner(), Some((ms(0), Some(b"z-".to_vec()))));
    zk.ask(A, delete("/locks/a/z-0000000000"));
    assert_eq!(zk.last_owner(), Some((ms(0), Some(b"a-".to_vec()))));
}

#[test]
fn a_session_that_is_closed_gives_its_lock_back_without_delay() {
    let mut zk = service(ms(2000), ms(5000));
    begin(&mut zk, A, TIMEOUT);
    line_up(&mut zk, A);
    zk.wait_until(ms(1234));
    assert_eq!(zk.ask(A, Request::CloseSession), Some(Answer::Closed));
    assert_eq!(zk.last_owner(), Some((ms(1234), None)));
}

#[test]
fn a_lock_goes_along_the_line_one_owner_at_a_time() {
    let mut zk = usual();
    let line = [A, B, LATER];
    let paths = line.map(|it| {
        begin(&mut zk, it, TIMEOUT);
        line_up(&mut zk, it).0
    });
    // The second gives up its place, so the third is next.
    zk.ask(B, delete(&paths[1]));
    zk.ask(A, delete(&paths[0]));
    zk.ask(LATER, delete(&paths[2]));
    let token = |it: ServiceConnection| it.0.to_le_bytes().to_vec();
    let of = zk.changes.iter().filter(|(_, change)| change.lock == "locks/a");
    let owners: Vec<_> = of.map(|(_, it)| (it.before.clone(), it.after.clone())).collect();
    let (a, later) = (Some(token(A)), Some(token(LATER)));
    assert_eq!(owners, [(None, a.clone()), (a, later.clone()), (later, None)]);
}

#[test]
fn nothing_is_said_on_a_connection_after_its_close() {
    let mut zk = usual();
    begin(&mut zk, A, TIMEOUT);
    let (path, _) = line_up(&mut zk, A);
    begin(&mut zk, B, TIMEOUT);
    zk.ask(B, exists(&path));
    zk.wait_until(ms(12_000));
    let last = zk.said.iter().rfind(|(_, to, _)| *to == B).expect("B was closed");
    assert_eq!(last.2, Outgoing::Close);
}
