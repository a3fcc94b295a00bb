//! Whose a claim is that is counted: a re-entrant lock's field, and a key that is a number.

use std::time::Duration;

use doublehold_history::{
    CallId, ClientId, EventKind, History, KeyOp, LockId, NodeId, Verdict, wrong_release,
};
use doublehold_lockimpl::Env;
use doublehold_sim_redis::core::{KeyChange, Stored, StoredValue};

use super::env::Connection;
use super::tests::{CLIENT, Client, LOCK, ask, del, doubts, extended, released, run, send, touches};
use crate::report::KeyOrigin;

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
    client.recorder.forgotten(NodeId(0));
    let held = Stored { value: StoredValue::String(count.as_bytes()), expires_at_ms: None };
    let loaded = KeyChange { database: 0, key: b"stock", before: None, after: Some(held), command: "SET" };
    client.recorder.changed(NodeId(0), KeyOrigin::Loaded, None, &loaded);
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

/// As Redisson's read-write lock: what it is locked for stands beside the owners, and is nobody's.
#[test]
fn a_field_beside_the_owners_is_no_claim() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        let one = client.acquires("uuid:1");
        send(&mut connection, &["HSET", "stock", "mode", "read"]).await;
        send(&mut connection, &["HSET", "stock", "uuid:1", "1"]).await;
        client.granted(one);
        // A call of another lock is granted, and has no part in this one.
        let other = client.recorder.begin(CLIENT, LockId(1));
        client.env.marks(b"uuid:1");
        send(&mut connection, &["SET", "orders", "uuid:1"]).await;
        client.granted_of(other, LockId(1));
        client.releases(one);
        send(&mut connection, &["HDEL", "stock", "uuid:1"]).await;
        ask(&mut connection, &del()).await;
        // A call that does not say what it marks its keys with may have meant the field.
        client.recorder.begin(CLIENT, LOCK);
        send(&mut connection, &["HSET", "stock", "mode", "read"]).await;
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), [released(1, 1)]);
    assert_eq!(doubts(&history).len(), 1);
}

#[test]
fn a_field_beside_an_owner_that_a_call_set_which_took_none_is_in_doubt() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        let one = client.acquires("uuid:1");
        send(&mut connection, &["HSET", "stock", "uuid:1", "1"]).await;
        // It marks what the other took, and may have its own claim in the field.
        client.acquires("uuid:1");
        send(&mut connection, &["HSET", "stock", "mode", "uuid:2"]).await;
        client.recorder.enter(CLIENT, one);
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), [released(1, 1)]);
    assert_eq!(doubts(&history).len(), 1, "{:?}", doubts(&history));
}

/// A call outlives its lease, and gives back in another's key what it has no more: by counting, or by setting.
#[test]
fn a_late_release_that_puts_its_field_beside_anothers_changes_that_ones_key() {
    for late in [["HINCRBY", "stock", "uuid:1", "-1"], ["HSET", "stock", "uuid:1", "0"]] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            let first = takes(&client, &mut connection, "100").await;
            client.granted(first);
            client.host.sleep(Duration::from_millis(500)).await;
            let second = client.acquires("uuid:2");
            send(&mut connection, &["HINCRBY", "stock", "uuid:2", "1"]).await;
            client.granted(second);
            client.releases(first);
            send(&mut connection, &late).await;
            client.releases(second);
            ask(&mut connection, &del()).await;
        });
        // The second deletes its own key, and what the first one left in it.
        assert_eq!(wrong(&history), [extended(1, 2)], "{late:?}");
        assert_eq!(wrong_release(&history).as_str(), "violated", "{late:?}");
    }
}

/// A read-write lock: each reader has a field of its own.
#[test]
fn whoever_joins_others_in_a_hash_takes_nothing_from_them() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        for reader in ["uuid:1", "uuid:2"] {
            let call = client.acquires(reader);
            send(&mut connection, &["HINCRBY", "stock", reader, "2"]).await;
            client.granted(call);
        }
        for (call, reader) in [(1, "uuid:1"), (2, "uuid:2")] {
            client.releases(CallId(call));
            // Only the second is the last.
            send(&mut connection, &["HINCRBY", "stock", reader, "-1"]).await;
            send(&mut connection, &["HDEL", "stock", reader]).await;
        }
    });
    assert_right(&history);
    assert_eq!(touches(&history), [extended(1, 1), released(1, 1), extended(2, 2), released(2, 2)]);
}

/// Nobody can say whose a mark is that another client has as well: then whoever gave all back has no part in the claim.
#[test]
fn a_call_that_gave_back_some_of_what_it_counted_still_has_the_rest_and_nothing_of_the_others() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        client.recorder.begin(ClientId(1), LOCK);
        client.recorder.marks(ClientId(1), b"uuid:1");
        let outer = takes(&client, &mut connection, "30000").await;
        send(&mut connection, &["HINCRBY", "stock", "uuid:1", "1"]).await;
        client.granted(outer);
        let inner = takes(&client, &mut connection, "30000").await;
        client.granted(inner);
        client.releases(outer);
        for _ in 0..2 {
            gives_back(&mut connection).await;
        }
    });
    let own = extended(2, 2);
    assert_eq!(
        touches(&history),
        [own, own, extended(3, 3), own, own, own, extended(2, 3)],
        "the last moves the expiry of what is the other's alone"
    );
}

#[test]
fn a_field_that_was_set_again_is_no_more_what_another_counted() {
    // Lower, or to what it was.
    for count in ["1", "2"] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            let one = takes(&client, &mut connection, "30000").await;
            send(&mut connection, &["HINCRBY", "stock", "uuid:1", "1"]).await;
            let two = client.acquires("uuid:1");
            send(&mut connection, &["HSET", "stock", "uuid:1", count]).await;
            client.granted(two);
            client.recorder.enter(CLIENT, one);
            send(&mut connection, &["HINCRBY", "stock", "uuid:1", "-1"]).await;
        });
        assert_eq!(wrong(&history), [extended(1, 2)], "set to {count}");
    }
}

#[test]
fn a_call_that_found_a_field_counted_up_nothing_of_it() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        takes(&client, &mut connection, "30000").await;
        client.acquires("uuid:1");
        send(&mut connection, &["PEXPIRE", "stock", "60000"]).await;
        send(&mut connection, &["HINCRBY", "stock", "uuid:1", "-1"]).await;
    });
    assert_eq!(wrong(&history), [extended(2, 1)]);
}

/// A key may be made as a number that says otherwise that nobody has it: whoever does means to have it.
#[test]
fn a_key_that_is_made_as_nothing_is_its_makers() {
    for set in [
        &["SET", "stock", "0"][..],
        &["SETEX", "stock", "30", "0"],
        &["PSETEX", "stock", "30000", "0"],
        &["GETSET", "stock", "0"],
        &["MSET", "stock", "0"],
        &["SETNX", "stock", "0"],
        &["MSETNX", "stock", "0"],
    ] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            for command in [set, &["DEL", "stock"]] {
                client.recorder.begin(CLIENT, LOCK);
                client.env.marks_key(b"stock");
                send(&mut connection, command).await;
            }
        });
        assert_eq!(touches(&history), [released(2, 1)], "{set:?}");
    }
}
