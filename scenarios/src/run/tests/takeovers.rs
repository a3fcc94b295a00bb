//! Whose a claim is that one call after another takes: taken over, set again, copied, or found standing.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use doublehold_history::{CallId, ClientId, History, NodeId, Verdict, wrong_release};
use doublehold_lockimpl::Env;
use doublehold_sim_redis::core::{KeyChange, Stored, StoredValue};
use redis::aio::ConnectionLike;

use crate::report::KeyOrigin;
use crate::run::engine::env::Connection;
use crate::run::tests::{
    CLIENT, Client, LOCK, ask, del, doubts, extended, released, run, send, set, touches,
};

/// Nobody did anything to a key that was another's, and nothing is in doubt.
fn assert_right(history: &History) {
    assert!(touches(history).iter().all(|(by, held, _)| by == held), "{:?}", touches(history));
    assert_eq!(wrong_release(history), Verdict::Holds);
}

/// Takes the key with a plain `SET`, whoever has it.
async fn overwrites(client: &Client, connection: &mut Connection, mark: &str) -> CallId {
    let call = client.acquires(mark);
    ask(connection, &set(mark)).await;
    client.granted(call);
    call
}

#[test]
fn an_extension_that_writes_a_new_token_over_anothers_key_took_it_over() {
    // It is said before the key is set, or after it.
    for late in [false, true] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            let one = overwrites(&client, &mut connection, "a1").await;
            overwrites(&client, &mut connection, "b1").await;
            client.recorder.enter(CLIENT, one);
            if !late {
                client.env.marks(b"a2");
            }
            ask(&mut connection, &set("a2")).await;
            client.env.marks(b"a2");
            // It is the first one's from here on.
            ask(&mut connection, &del()).await;
        });
        assert_eq!(touches(&history), [extended(1, 2), released(1, 1)], "late: {late}");
    }
}

#[test]
fn an_extension_that_writes_a_new_token_over_its_own_key_is_right() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        let one = overwrites(&client, &mut connection, "a1").await;
        client.recorder.enter(CLIENT, one);
        client.env.marks(b"a2");
        ask(&mut connection, &set("a2")).await;
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), [released(1, 1)]);
    assert_right(&history);
}

#[test]
fn an_acquire_that_overwrites_is_no_wrong_release_also_if_it_says_so_later() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        overwrites(&client, &mut connection, "a1").await;
        let two = client.recorder.begin(CLIENT, LOCK);
        ask(&mut connection, &set("b1")).await;
        client.env.marks(b"b1");
        client.granted(two);
    });
    assert_eq!(touches(&history), []);
    assert_right(&history);
}

#[test]
fn an_acquire_that_overwrites_is_no_wrong_release_also_if_it_comes_after_its_grant() {
    let history = run(|client| async move {
        let (mut slow, mut fast) = (client.connect().await, client.connect().await);
        overwrites(&client, &mut fast, "a1").await;
        let two = client.acquires("b1");
        // Sent in the acquire, and on its way when another node's yes was enough.
        let cmd = set("b1");
        let mut late = pin!(slow.req_packed_command(&cmd));
        assert!(poll_fn(|cx| Poll::Ready(late.as_mut().poll(cx).is_pending())).await);
        client.host.sleep(Duration::from_micros(1)).await;
        client.granted(two);
        late.await.expect("the node answers");
        // What nobody sends in a call would be in doubt.
        client.recorder.enter(CLIENT, two);
        ask(&mut fast, &del()).await;
    });
    assert_eq!(touches(&history), [released(2, 2)]);
    assert_right(&history);
}

#[test]
fn an_extension_that_sets_the_same_again_over_anothers_key_is_one_of_anothers() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        let one = overwrites(&client, &mut connection, "1").await;
        let two = overwrites(&client, &mut connection, "1").await;
        client.recorder.enter(CLIENT, one);
        ask(&mut connection, &set("1")).await;
        // Which makes it nobody else's.
        client.recorder.enter(CLIENT, two);
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), [extended(1, 2), released(2, 2)]);
}

#[test]
fn a_key_of_the_same_name_in_another_database_is_another_key() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        let one = overwrites(&client, &mut connection, "1").await;
        send(&mut connection, &["SELECT", "1"]).await;
        client.acquires("1");
        send(&mut connection, &["SET", "stock", "1"]).await;
        send(&mut connection, &["DEL", "stock"]).await;
        send(&mut connection, &["SELECT", "0"]).await;
        client.recorder.enter(CLIENT, one);
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), [released(2, 2), released(1, 1)]);
    assert_right(&history);
}

#[test]
fn a_value_that_another_call_put_there_is_not_blamed_on_the_only_one_that_marked_it() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        let one = overwrites(&client, &mut connection, "a1").await;
        let two = client.acquires("b1");
        send(&mut connection, &["RENAME", "stock", "elsewhere"]).await;
        client.acquires("c1");
        send(&mut connection, &["COPY", "elsewhere", "stock"]).await;
        client.recorder.enter(CLIENT, two);
        ask(&mut connection, &del()).await;
        // What it sets itself is its own again.
        client.recorder.enter(CLIENT, one);
        ask(&mut connection, &set("a1")).await;
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), [released(2, 1), released(1, 1)]);
    assert_eq!(
        doubts(&history),
        [
            "DEL changed the lock's key on A, and it held a value that the call which set it had not said it marks its \
          keys with"
        ]
    );
}

#[test]
fn a_value_that_one_call_set_and_another_marked_is_nobodys() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        client.acquires("a1");
        client.recorder.begin(CLIENT, LOCK);
        ask(&mut connection, &set("a1")).await;
        client.acquires("b1");
        ask(&mut connection, &del()).await;
    });
    assert_eq!(touches(&history), []);
    assert_eq!(wrong_release(&history).as_str(), "inconclusive");
}

#[test]
fn a_copy_is_of_the_only_call_that_set_its_value_if_that_call_marked_it() {
    for (marks, expected) in [(true, "violated"), (false, "inconclusive")] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            let one = client.recorder.begin(CLIENT, LOCK);
            let two = client.recorder.begin(CLIENT, LOCK);
            client.recorder.enter(CLIENT, if marks { one } else { two });
            client.env.marks(b"a1");
            client.recorder.enter(CLIENT, one);
            ask(&mut connection, &set("a1")).await;
            // The node's process is another one, which has the key from its file.
            client.recorder.forget_node(NodeId(0));
            let held = Stored { value: StoredValue::String(b"a1"), expires_at_ms: None };
            let loaded =
                KeyChange { database: 0, key: b"stock", before: None, after: Some(held), command: "SET" };
            client.recorder.record_key_change(NodeId(0), KeyOrigin::Loaded, None, &loaded);
            client.recorder.enter(CLIENT, two);
            ask(&mut connection, &del()).await;
        });
        assert_eq!(wrong_release(&history).as_str(), expected, "the setter marked it: {marks}");
    }
}

/// One call takes the key and never learns that it did; the next, of the same owner, is granted what it finds.
async fn finds(client: &Client, connection: &mut Connection, look: &[&str]) -> (CallId, CallId) {
    let one = client.acquires("mine");
    ask(connection, &set("mine")).await;
    let two = client.acquires("mine");
    send(connection, look).await;
    client.granted(two);
    (one, two)
}

#[test]
fn a_key_that_an_earlier_call_of_its_owner_took_is_that_of_the_call_that_is_granted_it() {
    for look in [&["GET", "stock"][..], &["PEXPIRE", "stock", "30000"]] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            let (_, two) = finds(&client, &mut connection, look).await;
            client.releases(two);
            ask(&mut connection, &del()).await;
        });
        assert_right(&history);
        assert_eq!(touches(&history), [released(2, 2)], "{look:?}");
        // What the first sends late takes the key from the second.
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            let (one, _) = finds(&client, &mut connection, look).await;
            client.recorder.enter(CLIENT, one);
            ask(&mut connection, &del()).await;
        });
        assert_eq!(touches(&history), [released(1, 2)], "{look:?}");
    }
}

#[test]
fn a_lock_that_answers_its_holder_from_memory_is_right() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        let outer = overwrites(&client, &mut connection, "mine").await;
        for _ in 0..2 {
            let inner = client.acquires("mine");
            client.granted(inner);
            client.releases(inner);
        }
        client.releases(outer);
        ask(&mut connection, &del()).await;
    });
    assert_right(&history);
    assert_eq!(touches(&history), [released(1, 1)]);
    assert_eq!(doubts(&history), [""; 0]);
}

#[test]
fn a_value_that_is_everybodys_is_found_by_nobody() {
    let history = run(|client| async move {
        let mut connection = client.connect().await;
        // What another client marks its keys with says nothing about whose this one is.
        client.recorder.begin(ClientId(1), LOCK);
        client.recorder.marks(ClientId(1), b"mine");
        client.recorder.enter(CLIENT, CallId(1));
        ask(&mut connection, &set("mine")).await;
        let two = client.acquires("mine");
        send(&mut connection, &["PEXPIRE", "stock", "30000"]).await;
        client.granted(two);
    });
    assert_eq!(touches(&history), [extended(2, 1)]);
}

/// A call that moves a key's expiry may find its own there: as far as it has told by then.
#[test]
fn a_call_that_told_another_mark_is_not_expected_to_mark_what_it_prolongs() {
    for (tells_another, expected) in
        [(false, vec![released(2, 2)]), (true, vec![extended(2, 1), released(2, 1)])]
    {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            client.acquires("mine");
            ask(&mut connection, &set("mine")).await;
            client.recorder.begin(CLIENT, LOCK);
            if tells_another {
                client.env.marks(b"another");
            }
            send(&mut connection, &["PEXPIRE", "stock", "30000"]).await;
            client.env.marks(b"mine");
            ask(&mut connection, &del()).await;
        });
        assert_eq!(touches(&history), expected, "it told another mark before: {tells_another}");
    }
}

/// A stranger's change of a claim that several have is one of the latest's, the last that took it.
#[test]
fn of_all_that_have_a_claim_the_latest_is_the_last_that_took_it_before_its_grant() {
    // One finds the claim, another counts it up, then the first of the two does: before its grant, or after it.
    for granted in [false, true] {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            let counts_up = ["HINCRBY", "stock", "mine", "1"];
            client.acquires("mine");
            send(&mut connection, &counts_up).await;
            let early = client.acquires("mine");
            let finds = client.acquires("mine");
            send(&mut connection, &["PEXPIRE", "stock", "30000"]).await;
            if granted {
                client.granted(finds);
                let fourth = client.acquires("mine");
                send(&mut connection, &counts_up).await;
                client.granted(fourth);
            } else {
                // The command that it sent before comes late.
                client.recorder.enter(CLIENT, early);
                send(&mut connection, &counts_up).await;
            }
            client.recorder.enter(CLIENT, finds);
            send(&mut connection, &counts_up).await;
            client.acquires("stranger");
            send(&mut connection, &["PEXPIRE", "stock", "60000"]).await;
        });
        let expected = if granted { extended(5, 4) } else { extended(4, 3) };
        assert_eq!(touches(&history).last(), Some(&expected), "granted: {granted}");
    }
}

#[test]
fn a_grant_whose_key_was_not_seen_says_why() {
    let cases: [(&[&str], &str); 3] = [
        (
            &["SET", "lock:stock", "mine"],
            "c1 was granted \"stock\", and no key of that name was changed on any node: say how the lock's key is \
             named",
        ),
        (
            &["SET", "stock", "another"],
            "c1 was granted \"stock\" (grant 2) by a call that changed no key of that name, and none was there that \
             is known to be its client's: nobody can say what it was granted on",
        ),
        (&["SET", "stock", "mine"], ""),
    ];
    for (first, expected) in cases {
        let history = run(move |client| async move {
            let mut connection = client.connect().await;
            client.acquires(first[2]);
            send(&mut connection, first).await;
            let two = client.acquires("mine");
            client.granted(two);
        });
        assert_eq!(doubts(&history).join("\n"), expected, "{first:?}");
    }
}
