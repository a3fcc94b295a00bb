//! Whose a claim is that is counted: a re-entrant lock's field, and a key that is a number.

mod neighbours;

use std::time::Duration;

use doublehold_history::{
    CallId, ClientId, EventKind, History, KeyOp, LockId, NodeId, Verdict, wrong_release,
};
use doublehold_lockimpl::Env;
use doublehold_sim_redis::core::{KeyChange, Stored, StoredValue};

use crate::report::KeyOrigin;
use crate::run::engine::env::Connection;
use crate::run::tests::{CLIENT, Client, LOCK, ask, del, doubts, extended, released, run, send, touches};

/// Nobody did anything to a key that was another's, and nothing is in doubt.
fn assert_right(history: &History) {
    assert_eq!(wrong(history), []);
    assert_eq!(wrong_release(history), Verdict::Holds);
}

/// What was done to keys that were another's.
fn wrong(history: &History) -> Vec<(CallId, CallId, KeyOp)> {
    touches(history).into_iter().filter(|(by, held, _)| by != held).collect()
}

/// As Redisson does: the field is client and thread, its value how often they took the lock.
async fn takes(client: &Client, connection: &mut Connection, ttl: &str) -> CallId {
    let call = client.acquires("uuid:1");
    send(connection, &["HINCRBY", "stock", "uuid:1", "1"]).await;
    send(connection, &["PEXPIRE", "stock", ttl]).await;
    call
}

async fn gives_back(connection: &mut Connection) {
    send(connection, &["HINCRBY", "stock", "uuid:1", "-1"]).await;
    send(connection, &["PEXPIRE", "stock", "30000"]).await;
}

#[test]
fn a_reentrant_lock_that_outlives_a_call_by_a_lost_reply_is_that_of_each_call_that_takes_it() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        // The first one's reply is lost: what it counted up stays.
        takes(&client, &mut connection, "30000").await;
        for _ in 0..2 {
            let call = takes(&client, &mut connection, "30000").await;
            client.granted(call);
            client.releases(call);
            gives_back(&mut connection).await;
        }
        let last = takes(&client, &mut connection, "30000").await;
        client.granted(last);
        client.releases(last);
        ask(&mut connection, &del()).await;
    });
    assert_right(&history);
    assert_eq!(touches(&history).last(), Some(&released(4, 4)));
}

#[test]
fn a_reentrant_lock_that_its_holder_takes_twice_is_of_both_calls_until_each_gives_it_back() {
    // The first to take it is the last to give it back, or the first.
    for outer_first in [false, true] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            let outer = takes(&client, &mut connection, "30000").await;
            client.granted(outer);
            let inner = takes(&client, &mut connection, "30000").await;
            client.granted(inner);
            // The watchdog of the first.
            client.recorder.enter(CLIENT, outer);
            send(&mut connection, &["PEXPIRE", "stock", "30000"]).await;
            for call in if outer_first { [outer, inner] } else { [inner, outer] } {
                client.releases(call);
                gives_back(&mut connection).await;
            }
            ask(&mut connection, &del()).await;
        });
        assert_right(&history);
        let last = if outer_first { 2 } else { 1 };
        assert_eq!(touches(&history).last(), Some(&released(last, last)));
    }
}

#[test]
fn a_call_whose_reply_was_lost_loses_nothing_when_its_clients_other_call_gives_the_key_back() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        let outer = takes(&client, &mut connection, "30000").await;
        client.granted(outer);
        let call = takes(&client, &mut connection, "30000").await;
        let why = "a reply was lost".to_owned();
        client.recorder.note(CLIENT, |client| EventKind::AcquireUnknown { client, call, why });
        client.releases(outer);
        ask(&mut connection, &del()).await;
    });
    assert_right(&history);
    assert_eq!(touches(&history).last(), Some(&released(1, 1)));
}

#[test]
fn a_call_that_has_the_lock_may_set_its_count_and_takes_no_other_calls_share() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        let outer = takes(&client, &mut connection, "30000").await;
        client.granted(outer);
        let inner = takes(&client, &mut connection, "30000").await;
        client.granted(inner);
        client.recorder.enter(CLIENT, inner);
        send(&mut connection, &["HSET", "stock", "uuid:1", "1"]).await;
        send(&mut connection, &["HSET", "stock", "uuid:1", "1"]).await;
        for call in [inner, outer] {
            client.recorder.enter(CLIENT, call);
            send(&mut connection, &["PEXPIRE", "stock", "30000"]).await;
        }
    });
    assert_right(&history);
}

#[test]
fn a_wrong_release_of_a_reentrant_lock_is_seen_although_both_calls_have_the_same_owner() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        let one = takes(&client, &mut connection, "100").await;
        client.granted(one);
        client.host.sleep(Duration::from_millis(500)).await;
        let two = takes(&client, &mut connection, "30000").await;
        client.granted(two);
        client.releases(one);
        send(&mut connection, &["HINCRBY", "stock", "uuid:1", "-1"]).await;
        ask(&mut connection, &del()).await;
    });
    assert_eq!(wrong(&history), [extended(1, 2), released(1, 2)]);
}

#[test]
fn a_call_that_has_a_share_may_give_back_its_own_and_not_anothers() {
    for (release, expected) in [
        (&["HINCRBY", "stock", "uuid:1", "-1"][..], vec![]),
        (&["HINCRBY", "stock", "uuid:1", "-2"], vec![extended(1, 2)]),
        (&["DEL", "stock"], vec![released(1, 2)]),
    ] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            // Its reply is lost, and what it sends to clean up comes late.
            let one = takes(&client, &mut connection, "30000").await;
            let two = takes(&client, &mut connection, "30000").await;
            client.granted(two);
            client.recorder.enter(CLIENT, one);
            send(&mut connection, release).await;
        });
        assert_eq!(wrong(&history), expected, "{release:?}");
    }
}

#[test]
fn a_share_is_given_back_once() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        let one = takes(&client, &mut connection, "30000").await;
        client.granted(one);
        let two = takes(&client, &mut connection, "30000").await;
        client.granted(two);
        client.releases(two);
        // The first reply was lost, so it is sent again.
        for _ in 0..2 {
            send(&mut connection, &["HINCRBY", "stock", "uuid:1", "-1"]).await;
        }
    });
    assert_eq!(wrong(&history), [extended(2, 1)]);
}

#[test]
fn a_field_or_a_whole_key_set_again_is_of_the_call_that_did() {
    for (set, whole) in
        [(&["HSET", "stock", "uuid:1", "1"][..], false), (&["SET", "stock", "1", "PX", "30000"], true)]
    {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            let mut calls = Vec::new();
            for _ in 0..2 {
                let call = client.acquires("uuid:1");
                if whole {
                    client.env.marks_key(b"stock");
                }
                send(&mut connection, set).await;
                client.granted(call);
                calls.push(call);
            }
            // The second has it now, and then the first deletes it.
            client.recorder.enter(CLIENT, calls[1]);
            send(&mut connection, &["PEXPIRE", "stock", "60000"]).await;
            client.recorder.enter(CLIENT, calls[0]);
            ask(&mut connection, &del()).await;
        });
        assert_eq!(touches(&history), [extended(2, 2), released(1, 2)], "{set:?}");
    }
}

#[test]
fn a_field_that_a_stranger_sets_back_is_its_owners_and_was_extended() {
    for (change, by) in
        [(&["HSET", "stock", "uuid:1", "1"][..], 2), (&["HINCRBY", "stock", "uuid:1", "-1"], 2)]
    {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            takes(&client, &mut connection, "30000").await;
            send(&mut connection, &["HINCRBY", "stock", "uuid:1", "1"]).await;
            client.acquires("uuid:2");
            send(&mut connection, change).await;
        });
        assert_eq!(wrong(&history), [extended(by, 1)], "{change:?}");
    }
}

#[test]
fn a_key_may_be_prolonged_by_whoever_has_a_field_of_its_own_in_it() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        for reader in ["uuid:1", "uuid:2"] {
            client.acquires(reader);
            send(&mut connection, &["HSET", "stock", reader, "1"]).await;
            send(&mut connection, &["PEXPIRE", "stock", "30000"]).await;
        }
        client.acquires("uuid:3");
        send(&mut connection, &["PEXPIRE", "stock", "1"]).await;
    });
    assert_eq!(touches(&history), [extended(1, 1), extended(2, 2), extended(3, 1), extended(3, 2)]);
}

/// A lock that counts: whoever counts to one has it.
async fn counts(client: &Client, connection: &mut Connection, by: &str) -> CallId {
    let call = client.recorder.begin(CLIENT, LOCK);
    client.env.marks_key(b"stock");
    send(connection, &["INCRBY", "stock", by]).await;
    call
}

#[test]
fn a_counter_that_another_call_counts_down_was_extended_or_released() {
    for (count, expected) in [("3", extended(2, 1)), ("1", released(2, 1))] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            counts(&client, &mut connection, count).await;
            client.recorder.begin(CLIENT, LOCK);
            client.env.marks_key(b"stock");
            send(&mut connection, &["DECR", "stock"]).await;
        });
        assert_eq!(touches(&history), [expected], "{count}");
    }
}

#[test]
fn a_call_that_counted_up_in_vain_may_count_down_again_once() {
    for (downs, expected) in [(1, vec![]), (2, vec![released(2, 1)])] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            counts(&client, &mut connection, "1").await;
            counts(&client, &mut connection, "1").await;
            for _ in 0..downs {
                send(&mut connection, &["DECR", "stock"]).await;
            }
        });
        assert_eq!(touches(&history), expected, "{downs}");
    }
}

#[test]
fn a_counter_that_was_counted_down_to_nothing_is_the_next_ones() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        let one = counts(&client, &mut connection, "1").await;
        client.granted(one);
        // In vain, and it takes back what it counted only after the first gave the lock back.
        let two = counts(&client, &mut connection, "1").await;
        client.releases(one);
        send(&mut connection, &["DECR", "stock"]).await;
        client.recorder.enter(CLIENT, two);
        send(&mut connection, &["DECR", "stock"]).await;
        let three = counts(&client, &mut connection, "1").await;
        client.granted(three);
        // The first gives back once more.
        client.recorder.enter(CLIENT, one);
        send(&mut connection, &["DECR", "stock"]).await;
    });
    assert_eq!(touches(&history), [extended(1, 1), released(1, 3)]);
    assert_eq!(doubts(&history), [""; 0]);
}

#[test]
fn a_counter_that_is_set_to_nothing_was_given_back() {
    for (nothing, last) in [("0", 2), ("-1", 1)] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            for _ in 0..2 {
                let call = counts(&client, &mut connection, "1").await;
                client.granted(call);
                client.releases(call);
                send(&mut connection, &["SET", "stock", nothing]).await;
            }
        });
        assert_right(&history);
        // Counted up from less than nothing, it is still nobody's.
        assert_eq!(touches(&history).last(), Some(&released(last, last)), "{nothing}");
    }
}

/// The node's process is another one, which has the counter from its file.
fn reloads(client: &Client, count: &'static str) {
    client.recorder.forget_node(NodeId(0));
    let held = Stored { value: StoredValue::String(count.as_bytes()), expires_at_ms: None };
    let loaded = KeyChange { database: 0, key: b"stock", before: None, after: Some(held), command: "SET" };
    client.recorder.record_key_change(NodeId(0), KeyOrigin::Loaded, None, &loaded);
}

#[test]
fn nobody_is_blamed_for_counting_down_a_copy_of_which_nobody_knows_who_counted_it_up() {
    // The second counts up in vain before the copy is made, or after it; and down again before the first, or after it.
    for (copied, first_is_first, expected) in [
        ("1", false, "holds"),
        ("1", true, "inconclusive"),
        ("2", false, "inconclusive"),
        ("2", true, "inconclusive"),
    ] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            let one = counts(&client, &mut connection, "1").await;
            client.granted(one);
            if copied == "1" {
                reloads(&client, copied);
            }
            let two = counts(&client, &mut connection, "1").await;
            if copied == "2" {
                reloads(&client, copied);
            }
            for call in if first_is_first { [one, two] } else { [two, one] } {
                if call == one {
                    client.releases(one);
                }
                client.recorder.enter(CLIENT, call);
                send(&mut connection, &["DECR", "stock"]).await;
            }
        });
        assert_eq!(wrong(&history), [], "{copied}, {first_is_first}");
        assert_eq!(wrong_release(&history).as_str(), expected, "{copied}, {first_is_first}");
    }
}

#[test]
fn what_a_call_counted_up_that_nobody_knows_is_blamed_on_nobody() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        let one = takes(&client, &mut connection, "30000").await;
        client.granted(one);
        let two = client.acquires("uuid:1");
        client.recorder.leave(CLIENT);
        send(&mut connection, &["HINCRBY", "stock", "uuid:1", "1"]).await;
        client.granted(two);
        client.releases(two);
        gives_back(&mut connection).await;
    });
    assert_eq!(wrong(&history), []);
    assert_eq!(wrong_release(&history).as_str(), "inconclusive");
}
