//! Whose key it is, for locks that mark their keys in other ways than with a token told beforehand.

use std::time::Duration;

use doublehold_history::{CallId, EventKind, LockId, NodeId, Verdict, wrong_release};
use doublehold_lockimpl::Env;
use doublehold_sim_redis::core::{KeyChange, Stored, StoredValue};

use crate::report::{KeyEnd, KeyOrigin};
use crate::run::Driver;
use crate::run::engine::env::Connection;
use crate::run::tests::{
    CLIENT, Client, LOCK, ask, del, doubts, extended, recorded, released, run, send, set, touches,
};

/// Two calls take a key with tokens of 16 bytes: the first overslept its lease, and then deletes whatever is there.
async fn overslept(client: Client, first_tells_late: bool) {
    let mut connection = client.connect().await;
    let tokens = [*b"0123456789abcdef", [0xff; 16]];
    for (token, ttl) in tokens.iter().zip([100, 60_000]) {
        client.recorder.begin(CLIENT, LOCK);
        if !first_tells_late {
            client.env.marks(token);
        }
        ask(&mut connection, redis::cmd("SET").arg("stock").arg(token).arg("NX").arg("PX").arg(ttl)).await;
        client.env.marks(token);
        client.host.sleep(Duration::from_millis(500)).await;
    }
    client.recorder.enter(CLIENT, CallId(1));
    ask(&mut connection, &del()).await;
}

#[test]
fn a_wrong_release_of_a_token_of_16_bytes_is_seen_also_if_it_is_told_after_the_grant() {
    for late in [false, true] {
        let history = run(move |client| overslept(client, late));
        assert_eq!(touches(&history), [released(1, 2)], "told late: {late}");
        assert_eq!(wrong_release(&history).as_str(), "violated", "told late: {late}");
    }
}

#[test]
fn what_is_told_after_the_key_was_released_still_says_whose_it_was() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        client.recorder.begin(CLIENT, LOCK);
        ask(&mut connection, &set("late")).await;
        ask(&mut connection, &del()).await;
        client.env.marks(b"late");
        // What comes after it in the record stays after it.
        client.acquires("two");
        ask(&mut connection, &set("two")).await;
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), [released(1, 1), released(2, 2)]);
    let times: Vec<_> = history.events().iter().map(|event| event.at).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(wrong_release(&history), Verdict::Holds);
}

#[test]
fn a_value_that_every_call_sets_is_each_time_of_the_call_that_set_it() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        for _ in 0..2 {
            client.acquires("1");
            ask(&mut connection, &set("1")).await;
            send(&mut connection, &["PEXPIRE", "stock", "60000"]).await;
            ask(&mut connection, &del()).await;
        }
        client.acquires("1");
        ask(&mut connection, &set("1")).await;
        client.recorder.enter(CLIENT, CallId(2));
        ask(&mut connection, &del()).await;
    });
    let expected = [extended(1, 1), released(1, 1), extended(2, 2), released(2, 2), released(2, 3)];
    assert_eq!(touches(&history), expected);
}

#[test]
fn a_value_set_again_by_another_call_is_that_calls_and_setting_it_was_no_extension() {
    for late in [false, true] {
        let (history, spans) = recorded(Driver::RedisRs, move |client| async move {
            let mut connection = client.connect().await;
            for _ in 0..2 {
                client.recorder.begin(CLIENT, LOCK);
                if !late {
                    client.env.marks(b"1");
                }
                ask(&mut connection, &set("1")).await;
                client.env.marks(b"1");
            }
            client.recorder.enter(CLIENT, CallId(1));
            ask(&mut connection, &del()).await;
        });
        assert_eq!(touches(&history), [released(1, 2)], "told late: {late}");
        let drawn: Vec<_> = spans.iter().map(|it| (it.grant, it.until.map(|(_, how)| how))).collect();
        let expected = [(CallId(1), Some(KeyEnd::Overwritten)), (CallId(2), Some(KeyEnd::Deleted))];
        assert_eq!(drawn, expected, "told late: {late}");
        assert_eq!(spans[0].until.map(|(at, _)| at), Some(spans[1].from));
    }
}

/// Nothing was seen of the second key's own claim: that of the first, which is gone, does not come back.
#[test]
fn of_two_keys_of_a_lock_with_one_value_the_second_is_nobodys() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        client.env.names_key("stock", b"lock:stock");
        client.acquires("one");
        ask(&mut connection, &set("one")).await;
        send(&mut connection, &["SET", "lock:stock", "one"]).await;
        ask(&mut connection, &del()).await;
        send(&mut connection, &["DEL", "lock:stock"]).await;
    });
    assert_eq!(touches(&history), [released(1, 1)]);
    let doubts = doubts(&history);
    assert!(doubts.len() == 1 && doubts[0].contains("nobody knows which call set the value"), "{doubts:?}");
}

#[test]
fn a_value_that_a_call_set_and_never_marked_is_nobodys_also_if_another_is_granted_it() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        client.recorder.begin(CLIENT, LOCK);
        ask(&mut connection, &set("1")).await;
        let call = client.acquires("1");
        client.granted(call);
        client.releases(call);
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), []);
    assert_eq!(wrong_release(&history).as_str(), "inconclusive");
}

#[test]
fn a_value_that_two_calls_set_and_one_of_them_marked_is_nobodys() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        client.acquires("1");
        ask(&mut connection, &set("1")).await;
        ask(&mut connection, &del()).await;
        client.recorder.begin(CLIENT, LOCK);
        ask(&mut connection, &set("1")).await;
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), [released(1, 1)]);
    assert_eq!(
        doubts(&history),
        [
            "DEL changed the lock's key on A, and it held a value that the call which set it had not said it marks its \
          keys with"
        ]
    );
    assert_eq!(wrong_release(&history).as_str(), "inconclusive");
}

/// A lock as Redisson's: a hash whose field is the owner, and its value how often it took the lock.
async fn takes(client: &Client, connection: &mut Connection, owner: &str) {
    client.acquires(owner);
    send(connection, &["HINCRBY", "stock", owner, "1"]).await;
    send(connection, &["PEXPIRE", "stock", "30000"]).await;
}

#[test]
fn a_field_of_a_hash_is_its_owners_claim() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        takes(&client, &mut connection, "uuid:1").await;
        // Once more by its holder, and back.
        send(&mut connection, &["HINCRBY", "stock", "uuid:1", "1"]).await;
        send(&mut connection, &["HINCRBY", "stock", "uuid:1", "-1"]).await;
        send(&mut connection, &["DEL", "stock"]).await;
    });
    let one = extended(1, 1);
    assert_eq!(touches(&history), [one, one, one, released(1, 1)]);
    assert_eq!(wrong_release(&history), Verdict::Holds);
}

#[test]
fn a_wrong_release_of_a_hash_is_seen_and_another_field_is_another_claim() {
    for release in [&["DEL", "stock"][..], &["HDEL", "stock", "uuid:2"][..]] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            takes(&client, &mut connection, "uuid:1").await;
            send(&mut connection, &["HDEL", "stock", "uuid:1"]).await;
            takes(&client, &mut connection, "uuid:2").await;
            // A reader beside it: its field is its own, and changes nobody else's.
            client.acquires("uuid:3");
            send(&mut connection, &["HSET", "stock", "uuid:3", "1"]).await;
            send(&mut connection, &["HDEL", "stock", "uuid:3"]).await;
            client.recorder.enter(CLIENT, CallId(1));
            send(&mut connection, release).await;
        });
        let own = [extended(1, 1), released(1, 1), extended(2, 2), released(3, 3), released(1, 2)];
        assert_eq!(touches(&history), own, "{release:?}");
        assert_eq!(wrong_release(&history).as_str(), "violated", "{release:?}");
    }
}

#[test]
fn a_hash_that_holds_its_token_in_a_field_nobody_marked_makes_wr_inconclusive() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        for (token, ttl) in [("a1", "100"), ("b1", "30000")] {
            let call = client.acquires(token);
            send(&mut connection, &["HSET", "stock", "owner", token]).await;
            send(&mut connection, &["PEXPIRE", "stock", ttl]).await;
            client.granted(call);
            client.host.sleep(Duration::from_millis(500)).await;
        }
        // The first overslept its lease, and deletes what the second has.
        client.releases(CallId(1));
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), []);
    assert_eq!(wrong_release(&history).as_str(), "inconclusive");
}

#[test]
fn a_counter_is_the_claim_of_the_call_that_made_it_whatever_it_counts() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        for _ in 0..2 {
            client.recorder.begin(CLIENT, LOCK);
            client.env.marks_key(b"stock");
            send(&mut connection, &["INCR", "stock"]).await;
        }
        // The second came second, and was refused: counting up is no extension, prolonging the key is one.
        send(&mut connection, &["PEXPIRE", "stock", "60000"]).await;
        client.recorder.enter(CLIENT, CallId(1));
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), [extended(2, 1), released(1, 1)]);
    assert_eq!(wrong_release(&history).as_str(), "violated");
}

#[test]
fn a_lock_that_tells_nothing_makes_wr_inconclusive_whatever_type_its_key_has() {
    for take in [&["SET", "stock", "x"][..], &["HSET", "stock", "x", "1"], &["INCR", "stock"]] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            client.recorder.begin(CLIENT, LOCK);
            send(&mut connection, take).await;
            ask(&mut connection, &del()).await;
        });
        assert_eq!(touches(&history), [], "{take:?}");
        assert_eq!(doubts(&history).len(), 1, "{take:?}");
        assert_eq!(wrong_release(&history).as_str(), "inconclusive", "{take:?}");
    }
}

#[test]
fn each_lock_has_keys_of_its_own_also_where_they_hold_the_same() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        for (lock, key) in [(LOCK, "stock"), (LockId(1), "orders")] {
            client.recorder.begin(CLIENT, lock);
            client.env.marks(b"1");
            send(&mut connection, &["SET", key, "1"]).await;
        }
        // It gives back both, and the second with the call of the first.
        client.recorder.enter(CLIENT, CallId(1));
        send(&mut connection, &["DEL", "stock"]).await;
        send(&mut connection, &["DEL", "orders"]).await;
    });
    let touched = history.events().iter().filter_map(|event| match event.what {
        EventKind::KeyTouched { lock, by, held, .. } => Some((lock, by, held)),
        _ => None,
    });
    let expected = [(LOCK, CallId(1), CallId(1)), (LockId(1), CallId(1), CallId(2))];
    assert_eq!(touched.collect::<Vec<_>>(), expected);
    assert_eq!(wrong_release(&history).as_str(), "violated");
}

#[test]
fn a_loaded_key_is_of_the_call_that_set_its_value_and_nobodys_if_several_did() {
    for (values, expected) in [(["one", "two"], "holds"), (["1", "1"], "inconclusive")] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            for value in values {
                ask(&mut connection, &del()).await;
                client.acquires(value);
                ask(&mut connection, &set(value)).await;
            }
            // The node's process is another one, which has the key from its file.
            client.recorder.forget_node(NodeId(0));
            let held = Stored { value: StoredValue::String(values[1].as_bytes()), expires_at_ms: None };
            let loaded =
                KeyChange { database: 0, key: b"stock", before: None, after: Some(held), command: "SET" };
            client.recorder.record_key_change(NodeId(0), KeyOrigin::Loaded, None, &loaded);
            ask(&mut connection, &del()).await;
        });
        assert_eq!(wrong_release(&history).as_str(), expected, "{values:?}");
    }
}

#[test]
fn a_key_that_is_two_locks_is_in_doubt_once() {
    let history = run(|client| async move {
        for lock in ["stock", "stock", "orders", "orders", "stock", "unknown"] {
            client.env.names_key(lock, b"global");
        }
        client.env.names_key("orders", b"own");
    });
    assert_eq!(
        doubts(&history),
        [
            "the locks \"stock\" and \"orders\" have the same key `global`, so nobody can tell whose it is: make the \
             key from the lock's name"
        ]
    );
}

/// A token that stands beside a claim is no detail of it if it is a key of its own.
#[test]
fn a_value_that_a_call_set_and_did_not_mark_is_in_doubt_also_if_the_call_has_a_claim() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        client.acquires("one");
        for value in ["one", "other"] {
            ask(&mut connection, &set(value)).await;
            ask(&mut connection, &del()).await;
        }
    });
    assert_eq!(touches(&history), [released(1, 1)]);
    assert_eq!(doubts(&history).len(), 1);
}
