//! Fields and counts beside those of an owner: whose they are, and whose they are not.

use super::*;

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
