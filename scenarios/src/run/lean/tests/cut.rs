//! A node that says anything, in pieces: replies that are cut anywhere, and what is no reply.

use super::*;

/// A node that is asked nothing it knows, and says what it says: each piece at its time, in milliseconds.
fn says(client: &Client, pieces: Vec<(u64, Vec<u8>)>) {
    let (mut incoming, host) = (client.host.listen(PORT), client.host.clone());
    client.host.spawn(async move {
        let mut stream = incoming.accept().await;
        let mut now = 0;
        for (at, piece) in pieces {
            host.sleep(Duration::from_millis(at - now)).await;
            stream.write_all(&piece).await.expect("somebody listens");
            now = at;
        }
        // It does not hang up.
        host.sleep(Duration::from_secs(1)).await;
    });
}

/// Connects to what the host itself says, through either driver.
async fn hears(client: &Client, driver: Driver) -> Box<dyn Clones> {
    let stream = client.host.connect(client.host.id(), PORT).await.expect("it listens");
    if driver == Driver::Lean {
        return Box::new(LeanConnection::new(stream, client.host.clone()));
    }
    let made = MultiplexedConnection::new_with_config(&connection_info(), stream, connection_config()).await;
    let (connection, driver) = made.expect("nothing is asked");
    client.host.spawn(driver);
    Box::new(connection)
}

/// A connection of either driver.
trait Clones: ConnectionLike + Send + Sync {
    fn another(&self) -> Box<dyn Clones>;
}

impl<C: ConnectionLike + Clone + Send + Sync + 'static> Clones for C {
    fn another(&self) -> Box<dyn Clones> {
        Box::new(self.clone())
    }
}

/// Runs a client against a node that says this, through either driver.
fn both_hear<F>(
    pieces: Vec<(u64, Vec<u8>)>,
    work: impl Fn(Client, Box<dyn Clones>) -> F + Copy + Send + Sync + 'static,
) where
    F: Future<Output = ()> + Send + 'static,
{
    for driver in DRIVERS {
        let pieces = pieces.clone();
        run_through(driver, move |client| {
            let pieces = pieces.clone();
            async move {
                says(&client, pieces);
                let connection = hears(&client, driver).await;
                work(client, connection).await;
            }
        });
    }
}

/// Asks for two replies at once.
async fn two(connection: &dyn Clones) -> [RedisResult<Value>; 2] {
    let (mut one, mut two, cmd) = (connection.another(), connection.another(), redis::cmd("PING"));
    let (mut one, mut two) = (one.req_packed_command(&cmd), two.req_packed_command(&cmd));
    let mut replies = [const { None }; 2];
    poll_fn(|cx| {
        for (request, reply) in [&mut one, &mut two].into_iter().zip(&mut replies) {
            if reply.is_none()
                && let Poll::Ready(came) = request.as_mut().poll(cx)
            {
                *reply = Some(came);
            }
        }
        if replies.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    replies.map(|reply| reply.expect("both came"))
}

#[test]
fn replies_may_be_cut_anywhere_also_what_nobody_asked_for() {
    // Two that are asked for, and one that is not.
    let said = b"$3\r\none\r\n:2\r\n+unasked\r\n";
    for cut in 0..said.len() {
        let (first, rest) = said.split_at(cut);
        let pieces = vec![(5, first.to_vec()), (6, rest.to_vec()), (15, b"+next\r\n+un".to_vec())];
        both_hear(
            [pieces, vec![(16, b"asked\r\n".to_vec()), (25, b":4\r\n".to_vec())]].concat(),
            |client, mut it| async move {
                let replies = two(&*it).await;
                assert_eq!(replies, [Ok(Value::BulkString(b"one".to_vec())), Ok(Value::Int(2))]);
                client.host.sleep(Duration::from_millis(5)).await;
                let ping = redis::cmd("PING");
                assert_eq!(it.req_packed_command(&ping).await, Ok(Value::SimpleString("next".to_owned())));
                client.host.sleep(Duration::from_millis(5)).await;
                assert_eq!(it.req_packed_command(&ping).await, Ok(Value::Int(4)));
            },
        );
    }
}

#[test]
fn what_is_no_reply_ends_the_connection_and_the_oldest_request_hears_why() {
    both_hear(vec![(5, b"?\r\n".to_vec())], |_, it| async move {
        let kinds = two(&*it).await.map(|reply| reply.expect_err("it is no reply").kind());
        assert_eq!(kinds, [ErrorKind::Parse, ErrorKind::Io]);
    });
    both_hear(vec![(5, b"?\r\n".to_vec())], |_, mut it| async move {
        for kind in [ErrorKind::Parse, ErrorKind::Io] {
            let reply = it.req_packed_command(&redis::cmd("PING")).await;
            assert_eq!(reply.expect_err("it is no reply").kind(), kind);
        }
    });
}

#[test]
fn nothing_is_to_come_on_a_connection_that_said_what_is_no_reply() {
    run_through(Driver::Lean, |client| async move {
        says(&client, vec![(5, b"?\r\n".to_vec())]);
        let stream = client.host.connect(client.host.id(), PORT).await.expect("it listens");
        let mut connection = LeanConnection::new(stream, client.host.clone());
        connection.req_packed_command(&redis::cmd("PING")).await.expect_err("it is no reply");
        assert!(connection.shared.lock().is_idle());
    });
}

#[test]
fn what_the_network_had_no_room_for_is_sent_while_its_caller_waits() {
    both(|client| async move {
        let mut connection = client.connect().await;
        let large = redis::cmd("SET").arg("large").arg(vec![b'x'; 300_000]).to_owned();
        assert_eq!(connection.req_packed_command(&large).await, Ok(Value::Okay));
    });
}

#[test]
fn what_the_network_had_no_room_for_is_sent_though_others_read_meanwhile_and_are_gone() {
    both(|client| async move {
        let mut connection = client.connect().await;
        let large = redis::cmd("SET").arg("large").arg(vec![b'x'; 300_000]).to_owned();
        give_up(&client, &mut connection, &large).await;
        // Time for somebody to go on with it, who has to be told again when the other is gone.
        client.host.sleep(Duration::from_micros(1)).await;
        give_up(&client, &mut connection, &ping("late")).await;
        client.host.sleep(Duration::from_millis(50)).await;
        let mut other = client.connect().await;
        let length = redis::cmd("STRLEN").arg("large").to_owned();
        assert_eq!(other.req_packed_command(&length).await, Ok(Value::Int(300_000)));
    });
}

#[test]
fn one_caretaker_reads_for_all_who_are_gone_and_ends_when_nothing_is_to_come() {
    run_through(Driver::Lean, |client| async move {
        let stream = client.host.connect(HostId(1), REDIS_PORT).await.expect("the node listens");
        let connection = LeanConnection::new(stream, client.host.clone());
        for _ in 0..2 {
            let (mut clones, cmd) =
                ([connection.clone(), connection.clone(), connection.clone()], ping("late"));
            poll_fn(|cx| {
                for clone in &mut clones {
                    assert!(clone.req_packed_command(&cmd).as_mut().poll(cx).is_pending());
                }
                Poll::Ready(())
            })
            .await;
            drop(clones);
            assert_eq!(Arc::weak_count(&connection.shared), 1);
            client.host.sleep(Duration::from_millis(10)).await;
            assert_eq!(Arc::weak_count(&connection.shared), 0);
        }
    });
}

#[test]
fn a_request_that_is_polled_after_its_reply_panics() {
    both(|client| async move {
        let (mut connection, cmd) = (client.connect().await, ping("once"));
        let mut request = connection.req_packed_command(&cmd);
        assert_eq!(request.as_mut().await, pong("once"));
        let again = poll_fn(|cx| {
            Poll::Ready(catch_unwind(AssertUnwindSafe(|| request.as_mut().poll(cx).is_ready())))
        });
        assert!(again.await.is_err());
    });
}
