//! redis-rs' own connection with the settings a lock gives it, over a byte stream in memory.
#![expect(clippy::disallowed_methods, reason = "what is under test is the driver, not the schedule")]

use redis::aio::MultiplexedConnection;
use redis::{Cmd, RedisResult};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use crate::{connection_config, connection_info};

async fn open() -> (MultiplexedConnection, DuplexStream) {
    let (client, server) = tokio::io::duplex(1024);
    let info = connection_info();
    let opening = MultiplexedConnection::new_with_config(&info, client, connection_config());
    let opened = tokio::time::timeout(Duration::from_secs(5), opening).await;
    let opened = opened.expect("the set-up waits for no reply, because it asks for nothing");
    let (connection, driver) = opened.expect("the set-up says nothing that could be refused");
    tokio::task::spawn(driver);
    (connection, server)
}

async fn read(server: &mut DuplexStream) -> String {
    let mut buffer = [0; 256];
    let count = server.read(&mut buffer).await.expect("the stream is in memory");
    String::from_utf8_lossy(&buffer[..count]).into_owned()
}

#[tokio::test]
async fn a_connection_begins_with_the_first_command_and_nothing_before_it() {
    let (mut connection, mut server) = open().await;
    let ping = async move {
        let _: RedisResult<()> = Cmd::new().arg("PING").query_async(&mut connection).await;
    };
    tokio::task::spawn(ping);
    assert_eq!(read(&mut server).await, "*1\r\n$4\r\nPING\r\n");
}

#[tokio::test]
async fn a_reply_that_comes_after_its_request_was_given_up_is_discarded() {
    let (mut connection, mut server) = open().await;
    {
        let mut clone = connection.clone();
        let mut get = Cmd::new();
        get.arg("GET").arg("given-up");
        let mut request = pin!(get.query_async::<String>(&mut clone));
        poll_fn(|cx| {
            assert!(request.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        assert_eq!(read(&mut server).await, "*2\r\n$3\r\nGET\r\n$8\r\ngiven-up\r\n");
    }
    let next = tokio::task::spawn(async move {
        Cmd::new().arg("GET").arg("next").query_async::<String>(&mut connection).await
    });
    assert_eq!(read(&mut server).await, "*2\r\n$3\r\nGET\r\n$4\r\nnext\r\n");
    server.write_all(b"$4\r\nlate\r\n$6\r\nprompt\r\n").await.expect("room");
    let reply: RedisResult<String> = next.await.expect("the task does not panic");
    assert_eq!(reply.as_deref(), Ok("prompt"));
}

#[tokio::test]
async fn dropping_the_last_clone_closes_the_stream_even_with_a_request_unanswered() {
    let (connection, mut server) = open().await;
    let mut clone = connection.clone();
    {
        let mut ping = Cmd::new();
        ping.arg("PING");
        let mut request = pin!(ping.query_async::<String>(&mut clone));
        poll_fn(|cx| {
            assert!(request.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        assert!(read(&mut server).await.contains("PING"));
    }
    drop((connection, clone));
    assert_eq!(read(&mut server).await, "", "end of stream");
}
