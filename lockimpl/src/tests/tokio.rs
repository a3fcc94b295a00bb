//! The environment of a real machine, on this one: what a lock starts and what it connects to, over the loopback
//! interface.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::fake::ms;
use crate::connection::subscription::Subscription;
use crate::{Env, NodeName, Push, TokioEnv};

/// A server that says `:1` to every request, and how many there were.
async fn says_yes() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("redis://{}", listener.local_addr().expect("it is bound"));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let served = TokioEnv::new().spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("somebody connects");
        let mut bytes = [0; 1024];
        while stream.read(&mut bytes).await.is_ok_and(|read| read > 0) {
            count.fetch_add(1, Ordering::SeqCst);
            stream.write_all(b":1\r\n").await.expect("it is connected");
        }
    });
    // The server runs on without its handle.
    drop(served);
    (address, asked)
}

#[tokio::test]
async fn a_watchdog_renews_until_it_is_aborted() {
    let (address, asked) = says_yes().await;
    let env = TokioEnv::new();
    let mut connection = env.connect(&NodeName::new(&address)).await.expect("the server listens");
    let clock = env.clone();
    let watchdog = env.spawn(async move {
        loop {
            let renew = redis::cmd("PEXPIRE").arg("stock").arg(10_000).to_owned();
            renew.query_async::<i64>(&mut connection).await.expect("the server answers");
            clock.sleep_until(clock.monotonic().await.saturating_add(ms(1))).await;
        }
    });
    while asked.load(Ordering::SeqCst) < 3 {
        env.sleep_until(env.monotonic().await.saturating_add(ms(1))).await;
    }
    watchdog.abort();
    env.sleep_until(env.monotonic().await.saturating_add(ms(20))).await;
    let after = asked.load(Ordering::SeqCst);
    env.sleep_until(env.monotonic().await.saturating_add(ms(50))).await;
    assert_eq!(asked.load(Ordering::SeqCst), after);
}

#[tokio::test]
async fn a_stream_reaches_what_is_no_redis() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let env = TokioEnv::new();
    env.spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("somebody connects");
        let mut word = [0; 4];
        stream.read_exact(&mut word).await.expect("four bytes");
        stream.write_all(if &word == b"ruok" { b"imok" } else { b"what" }).await.expect("it is connected");
    });
    let mut stream = env.stream("127.0.0.1", port).await.expect("somebody listens");
    stream.write_all(b"ruok").await.expect("it is connected");
    let mut reply = [0; 4];
    stream.read_exact(&mut reply).await.expect("it answers");
    assert_eq!(&reply, b"imok");
}

/// A server that says these bytes, one after another, each when it has been asked something; then it hangs up.
async fn says(lines: &'static [&'static [u8]]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("redis://{}", listener.local_addr().expect("it is bound"));
    TokioEnv::new().spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("somebody connects");
        let mut bytes = [0; 1024];
        for line in lines {
            assert!(stream.read(&mut bytes).await.is_ok_and(|read| read > 0));
            stream.write_all(line).await.expect("it is connected");
        }
    });
    address
}

#[tokio::test]
async fn a_node_is_heard_until_it_hangs_up() {
    let address = says(&[
        b"%1\r\n$5\r\nproto\r\n:3\r\n",
        b">3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n>3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n",
        b"+OK\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$5\r\nstock\r\n",
    ])
    .await;
    let (env, node) = (TokioEnv::new(), NodeName::new(&address));
    let mut listening = Subscription::open(&env, &node, None).await.expect("the server listens");
    listening.subscribe(&env, "news", None).await.expect("the server answers");
    let hello = Push::Message { channel: b"news".to_vec(), payload: b"hello".to_vec() };
    assert_eq!(listening.next(&env, None).await, Ok(hello));
    let track = redis::cmd("CLIENT").arg("TRACKING").arg("ON").to_owned();
    listening.call(&env, &track, None).await.expect("the server answers");
    assert_eq!(listening.next(&env, None).await, Ok(Push::Changed(vec![b"stock".to_vec()])));
    assert_eq!(listening.next(&env, None).await, Ok(Push::Ended));
}
