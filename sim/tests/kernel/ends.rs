//! How connections end: end of stream, reset, silence, and what becomes of bytes that were sent before.

use std::time::Duration;

use doublehold_sim::Fault;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::story::{PORT, Story, connect, link, ms, say_all, send};

#[test]
fn an_end_of_stream_comes_after_the_data_and_leaves_the_other_direction_open() {
    let mut story = Story::new();
    let server = story.host("server", |host, log| async move {
        let mut stream = host.listen(PORT).accept().await;
        let mut request = String::new();
        stream.read_to_string(&mut request).await.expect("text, then its end");
        log.say(&request);
        send(&mut stream, "reply").await;
    });
    story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        send(&mut stream, "request").await;
        stream.shutdown().await.expect("not broken");
        log.say(stream.write_all(b"more").await.expect_err("it said that it had finished").kind());
        say_all(stream, &log).await;
    });
    story.tells(&["2ms broken pipe", "3ms request", "4ms reply", "4ms end of stream"]);
}

#[test]
fn dropping_a_stream_with_unread_data_resets_it() {
    let mut story = Story::new();
    let server = story.host("server", |host, _| async move {
        let _stream = host.listen(PORT).accept().await;
        host.sleep(ms(100)).await;
    });
    story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        send(&mut stream, "never read").await;
        say_all(stream, &log).await;
    });
    story.tells(&["102ms connection reset"]);
}

#[test]
fn data_for_a_dropped_stream_is_answered_by_a_reset() {
    let mut story = Story::new();
    let server = story.host("server", |host, _| async move {
        drop(host.listen(PORT).accept().await);
        std::future::pending().await
    });
    story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        log.say(stream.read(&mut [0; 8]).await.expect("an end of stream"));
        send(&mut stream, "to nobody").await;
        host.sleep(ms(10)).await;
        log.say(stream.write_all(b"again").await.expect_err("reset by now").kind());
    });
    story.tells(&["2ms 0", "12ms connection reset"]);
}

#[test]
fn a_refusal_that_meets_a_cut_arrives_after_it_heals() {
    let mut story = Story::new();
    let server = story.host("server", |host, _| async move {
        drop(host.listen(PORT).accept().await);
        std::future::pending().await
    });
    let client = story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        host.sleep(ms(18)).await;
        send(&mut stream, "to nobody").await; // at 20 ms; the refusal leaves at 21 ms, and again at 221 ms
        for wait in [200, 3] {
            host.sleep(ms(wait)).await;
            log.say(stream.write(b"more").await.is_ok());
        }
    });
    story.during(15, 100, Fault::Cut { from: server, to: client });
    story.tells(&["220ms true", "223ms false"]);
}

#[test]
fn half_open_connections_stay_so_until_someone_sends() {
    let mut story = Story::new();
    let server = story.host("server", |host, _| async move {
        let _held = host.listen(PORT).accept().await;
        std::future::pending().await
    });
    story.essential("client", move |host, log| async move {
        let stream = connect(&host, server).await;
        let late = host.clocks().monotonic.after(Duration::from_secs(3600));
        log.say(host.race(say_all(stream, &log), late).await.is_err());
    });
    story.during(10, 20, Fault::LosePower { host: server, torn_tail: false });
    story.tells(&["3600002ms true"]);
}

#[test]
fn a_request_given_up_on_is_not_recalled() {
    let mut story = Story::with_links(link(100));
    let server = story.listener("server");
    story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await; // at 200 ms
        let exchange = async {
            send(&mut stream, "SET").await;
            stream.read_u8().await
        };
        log.say(host.race(exchange, doublehold_sim::MonotonicTime(250_000_000)).await.is_err());
        drop(stream);
        host.sleep(Duration::from_secs(1)).await;
    });
    story.tells(&["250ms true", "300ms SET", "350ms end of stream"]);
}
