//! What a lock can tell of its connection. It cannot tell the lean one from redis-rs': nearly all tests are of both.

mod cut;

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use doublehold_history::{CallId, KeyOp};
use doublehold_lockimpl::{connection_config, connection_info};
use doublehold_sim::HostId;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Cmd, ErrorKind, RedisResult, ServerErrorKind, Value};
use tokio::io::AsyncWriteExt;

use super::LeanConnection;
use crate::run::Driver;
use crate::run::engine::env::{Connection, REDIS_PORT};
use crate::run::tests::{CLIENT, Client, ask, del, run_through, set, touches};

const DRIVERS: [Driver; 2] = [Driver::RedisRs, Driver::Lean];
/// The port on which a host listens to itself.
const PORT: u16 = 7000;

/// Runs a client through either driver.
fn both<F>(work: impl Fn(Client) -> F + Copy + Send + Sync + 'static)
where
    F: Future<Output = ()> + Send + 'static,
{
    for driver in DRIVERS {
        run_through(driver, work);
    }
}

fn ping(text: &str) -> Cmd {
    redis::cmd("PING").arg(text).to_owned()
}

fn pong(text: &str) -> RedisResult<Value> {
    Ok(Value::BulkString(text.as_bytes().to_vec()))
}

/// Sends a request and gives it up before its reply comes.
async fn give_up(client: &Client, connection: &mut Connection, cmd: &Cmd) {
    let mut request = pin!(connection.req_packed_command(cmd));
    assert!(poll_fn(|cx| Poll::Ready(request.as_mut().poll(cx).is_pending())).await);
    // Time for redis-rs' driver to write it.
    client.host.sleep(Duration::from_micros(1)).await;
}

#[test]
fn commands_are_packed_as_redis_rs_packs_them() {
    let long = "x".repeat(1234);
    let mut scan = redis::cmd("SCAN");
    scan.cursor_arg(42).arg("COUNT").arg(10);
    let set = redis::cmd("SET").arg("stock").arg(&long).arg("").arg(b"\r\n\0\xff").arg(-7).to_owned();
    for cmd in [ping("hi"), redis::cmd("PING"), set, scan] {
        let mut packed = b"before".to_vec();
        super::pack(&cmd, &mut packed);
        assert_eq!(packed, [b"before", &cmd.get_packed_command()[..]].concat());
    }
}

#[test]
fn a_late_reply_is_nobodys() {
    both(|client| async move {
        let mut connection = client.connect().await;
        for idle_ms in [0, 1, 2, 10] {
            give_up(&client, &mut connection, &ping("late")).await;
            client.host.sleep(Duration::from_millis(idle_ms)).await;
            assert_eq!(
                connection.req_packed_command(&ping("mine")).await,
                pong("mine"),
                "after {idle_ms} ms"
            );
        }
    });
}

#[test]
fn what_comes_unasked_behind_a_reply_is_nobodys() {
    both(|client| async move {
        let mut connection = client.connect().await;
        assert_eq!(connection.req_packed_command(&redis::cmd("MONITOR")).await, Ok(Value::Okay));
        for text in ["a", "b", "c"] {
            // Behind the reply, the node shows the command.
            assert_eq!(connection.req_packed_command(&ping(text)).await, pong(text));
        }
    });
}

#[test]
fn what_comes_unasked_before_a_request_does_not_keep_it_waiting() {
    both(|client| async move {
        let (mut monitor, mut other) = (client.connect().await, client.connect().await);
        assert_eq!(monitor.req_packed_command(&redis::cmd("MONITOR")).await, Ok(Value::Okay));
        // The node shows it the other's command, and nobody reads that before the next request.
        ask(&mut other, &ping("shown")).await;
        client.host.sleep(Duration::from_millis(10)).await;
        assert_eq!(monitor.req_packed_command(&ping("mine")).await, pong("mine"));
    });
}

#[test]
fn whoever_reads_leaves_others_their_replies_and_somebody_who_reads() {
    both(|client| async move {
        let one = client.connect().await;
        // Which of three requests is given up while the others wait, in whatever order they are polled.
        for (given_up, backwards) in [(0, false), (1, false), (2, false), (0, true), (1, true), (2, true)] {
            let mut clones = [one.clone(), one.clone(), one.clone()];
            let texts = [ping("a"), ping("b"), ping("c")];
            let mut requests: Vec<_> = clones
                .iter_mut()
                .zip(&texts)
                .map(|(clone, cmd)| Some(clone.req_packed_command(cmd)))
                .collect();
            let mut order = [0, 1, 2];
            for request in requests.iter_mut().flatten() {
                assert!(poll_fn(|cx| Poll::Ready(request.as_mut().poll(cx).is_pending())).await);
            }
            client.host.sleep(Duration::from_micros(1)).await;
            if backwards {
                order.reverse();
            }
            let mut replies = [const { None }; 3];
            let mut dropped = false;
            poll_fn(|cx| {
                for index in order {
                    if let Some(request) = &mut requests[index]
                        && let Poll::Ready(reply) = request.as_mut().poll(cx)
                    {
                        (replies[index], requests[index]) = (Some(reply), None);
                    }
                }
                if !std::mem::replace(&mut dropped, true) {
                    requests[given_up] = None;
                }
                if requests.iter().all(Option::is_none) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            let expected = [0, 1, 2].map(|index| (index != given_up).then(|| pong(["a", "b", "c"][index])));
            assert_eq!(replies, expected, "{given_up} given up, backwards: {backwards}");
        }
    });
}

#[test]
fn tasks_that_share_a_connection_wake_each_other() {
    both(|client| async move {
        let connection = client.connect().await;
        let (sender, mut done) = tokio::sync::mpsc::unbounded_channel();
        for number in 0..20_u64 {
            let (mut connection, sender, host) = (connection.clone(), sender.clone(), client.host.clone());
            client.host.spawn(async move {
                host.sleep(Duration::from_micros(300 * number)).await;
                let text = number.to_string();
                for _ in 0..5 {
                    assert_eq!(connection.req_packed_command(&ping(&text)).await, pong(&text));
                }
                sender.send(number).expect("the test waits");
            });
        }
        drop(sender);
        let mut all = Vec::new();
        while let Some(number) = done.recv().await {
            all.push(number);
        }
        all.sort_unstable();
        assert_eq!(all, (0..20).collect::<Vec<_>>());
    });
}

#[test]
fn what_the_network_had_no_room_for_is_sent_though_nobody_waits_any_more() {
    both(|client| async move {
        let mut connection = client.connect().await;
        let large = redis::cmd("SET").arg("large").arg(vec![b'x'; 300_000]).to_owned();
        give_up(&client, &mut connection, &large).await;
        client.host.sleep(Duration::from_millis(50)).await;
        let mut other = client.connect().await;
        let length = redis::cmd("STRLEN").arg("large").to_owned();
        assert_eq!(other.req_packed_command(&length).await, Ok(Value::Int(300_000)));
        assert_eq!(connection.req_packed_command(&ping("mine")).await, pong("mine"));
    });
}

#[test]
fn dropping_the_last_clone_closes_the_connection_whatever_is_to_come() {
    both(|client| async move {
        let mut watching = client.connect().await;
        let mut connection = client.connect().await;
        let clients = redis::cmd("CLIENT").arg("LIST").to_owned();
        let mut count = async || match watching.req_packed_command(&clients).await {
            Ok(Value::BulkString(text)) => text.iter().filter(|byte| **byte == b'\n').count(),
            other => panic!("CLIENT LIST said {other:?}"),
        };
        assert_eq!(count().await, 2);
        give_up(&client, &mut connection, &redis::cmd("WAIT").arg(1).arg(0).to_owned()).await;
        let clone = connection.clone();
        drop(connection);
        assert_eq!(count().await, 2, "a clone is left");
        drop(clone);
        client.host.sleep(Duration::from_millis(10)).await;
        assert_eq!(count().await, 1);
    });
}

#[test]
fn when_the_node_hangs_up_all_that_waits_and_all_that_follows_fails_as_with_redis_rs() {
    both(|client| async move {
        let mut connection = client.connect().await;
        let (mut one, mut two) = (connection.clone(), connection.clone());
        let (quit, late) = (redis::cmd("QUIT"), ping("late"));
        let mut quit = pin!(one.req_packed_command(&quit));
        let mut late = pin!(two.req_packed_command(&late));
        assert!(poll_fn(|cx| Poll::Ready(quit.as_mut().poll(cx).is_pending())).await);
        assert!(poll_fn(|cx| Poll::Ready(late.as_mut().poll(cx).is_pending())).await);
        assert_eq!(quit.await, Ok(Value::Okay));
        let lost = late.await.expect_err("the node hung up before");
        assert!(lost.is_connection_dropped() && lost.kind() == ErrorKind::Io, "{lost}");
        client.host.sleep(Duration::from_millis(10)).await;
        let refused = connection.req_packed_command(&ping("no")).await.expect_err("the connection is over");
        assert_eq!((refused.kind(), refused.to_string()), (ErrorKind::Io, "broken pipe".to_owned()));
    });
}

#[test]
fn errors_of_the_node_are_replies() {
    both(|client| async move {
        let mut connection = client.connect().await;
        let unknown = redis::cmd("EVALSHA").arg("0".repeat(40)).arg(0).to_owned();
        let reply = connection.req_packed_command(&unknown).await.expect("it is a reply");
        let error = reply.extract_error().expect_err("it is an error");
        assert_eq!(error.kind(), ErrorKind::Server(ServerErrorKind::NoScript));
        let empty = connection.req_packed_command(&Cmd::new()).await.expect_err("nothing to send");
        assert_eq!(
            (empty.kind(), empty.to_string()),
            (ErrorKind::Client, "empty command - Client".to_owned())
        );
    });
}

#[test]
fn a_request_that_wants_no_reply_returns_at_once_and_its_reply_is_nobodys() {
    both(|client| async move {
        let mut connection = client.connect().await;
        let before = client.host.clocks().monotonic;
        let mut silent = ping("silent");
        silent.set_no_response(true);
        assert_eq!(connection.req_packed_command(&silent).await, Ok(Value::Nil));
        assert_eq!(client.host.clocks().monotonic, before);
        assert_eq!(connection.req_packed_command(&ping("mine")).await, pong("mine"));
    });
}

#[test]
fn pipelines_and_transactions_give_what_they_give_with_redis_rs() {
    both(|client| async move {
        let mut connection = client.connect().await;
        for atomic in [false, true] {
            let mut pipeline = redis::pipe();
            if atomic {
                pipeline.atomic();
            }
            pipeline.cmd("SET").arg("n").arg(1).cmd("INCR").arg("n").cmd("HSET").arg("n").arg("f").arg(1);
            let replies: RedisResult<Vec<Value>> = pipeline.query_async(&mut connection).await;
            let error = replies.expect_err("n is no hash");
            assert_eq!(error.kind(), ErrorKind::Extension, "atomic: {atomic}: {error}");
        }
        let mut bad = redis::pipe();
        bad.atomic().cmd("SET").arg("n").cmd("INCR").arg("n");
        let replies: RedisResult<Vec<Value>> = bad.query_async(&mut connection).await;
        let error = replies.expect_err("SET wants two arguments");
        assert_eq!(error.kind(), ErrorKind::Server(ServerErrorKind::ExecAbort), "{error}");
        assert_eq!(connection.req_packed_command(&ping("mine")).await, pong("mine"));
    });
}

#[test]
fn what_a_lean_connection_sends_is_its_calls() {
    let history = run_through(Driver::Lean, |client| async move {
        let mut connection = client.connect().await;
        client.acquires("one");
        ask(&mut connection, &set("one")).await;
        // Made in one call and polled in the next.
        let (mut clone, extend) =
            (connection.clone(), redis::cmd("PEXPIRE").arg("stock").arg(60_000).to_owned());
        let made = clone.req_packed_command(&extend);
        client.acquires("two");
        made.await.expect("the node answers");
        let mut pipeline = redis::pipe();
        pipeline.atomic().add_command(ping("x")).add_command(del());
        pipeline.exec_async(&mut connection).await.expect("the node answers");
        client.recorder.leave(CLIENT);
    });
    let expected = [(CallId(1), CallId(1), KeyOp::Extend), (CallId(2), CallId(1), KeyOp::Release)];
    assert_eq!(touches(&history), expected);
}

#[test]
fn a_request_that_nobody_polls_is_not_sent() {
    both(|client| async move {
        let mut connection = client.connect().await;
        let set = redis::cmd("SET").arg("never").arg(1).to_owned();
        drop(connection.req_packed_command(&set));
        let get = redis::cmd("GET").arg("never").to_owned();
        let mut get = pin!(connection.req_packed_command(&get));
        assert!(get.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(get.await, Ok(Value::Nil));
    });
}
