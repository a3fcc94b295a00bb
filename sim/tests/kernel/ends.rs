//! How connections end: end of stream, reset, silence, and what becomes of bytes that were sent before.

use std::time::Duration;

use doublehold_sim::{Fault, HostId, SimTime, Trigger};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::story::{PORT, Story, always, connect, link, ms, say_all, send};

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

/// A server that never reads, dies at 50 ms behind a cut of its own link that swallows the reset, and is up again at
/// 60 ms. The cut ends at 100 ms.
fn a_reset_lost_at_50(story: &mut Story) -> HostId {
    story.host("server", |host, _| async move {
        let mut incoming = host.listen(PORT);
        let _held = incoming.accept().await;
        std::future::pending().await
    })
}

fn lose_the_reset(story: &mut Story, server: HostId, client: HostId) {
    story.during(40, 100, Fault::Cut { from: server, to: client });
    story.during(50, 60, Fault::Crash { host: server });
}

#[test]
fn a_lost_reset_hides_no_later_one() {
    let mut story = Story::new();
    let server = a_reset_lost_at_50(&mut story);
    let client = story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        send(&mut stream, "never read").await;
        host.sleep(ms(198)).await;
        send(&mut stream, "to nobody").await; // at 200 ms, answered by a reset of its own
        say_all(stream, &log).await;
    });
    lose_the_reset(&mut story, server, client);
    story.tells(&["202ms connection reset"]);
}

#[test]
fn each_segment_to_a_socket_that_nobody_holds_is_answered_by_a_reset_of_its_own() {
    // The first answer is lost. The first word leaves again at 320 ms, the second word is there before that.
    for (second, expected) in [(Some(200), "202ms connection reset"), (None, "322ms connection reset")] {
        let mut story = Story::new();
        let server = a_reset_lost_at_50(&mut story);
        let client = story.essential("client", move |host, log| async move {
            let mut stream = connect(&host, server).await;
            send(&mut stream, "never read").await;
            host.sleep(ms(118)).await;
            send(&mut stream, "first").await; // at 120 ms
            if let Some(at) = second {
                host.sleep_until(doublehold_sim::MonotonicTime(at * 1_000_000)).await;
                send(&mut stream, "second").await;
            }
            say_all(stream, &log).await;
        });
        lose_the_reset(&mut story, server, client);
        let probability = always();
        story.during(110, 150, Fault::Lose { from: server, to: client, probability });
        story.tells(&[expected]);
    }
}

#[test]
fn without_a_word_to_a_dead_peer_a_lost_reset_is_never_noticed() {
    let mut story = Story::new();
    let server = a_reset_lost_at_50(&mut story);
    let client = story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        send(&mut stream, "never read").await;
        let late = host.clocks().monotonic.after(Duration::from_secs(3600));
        log.say(host.race(stream.read_u8(), late).await.is_err());
    });
    lose_the_reset(&mut story, server, client);
    story.tells(&["3600002ms true"]);
}

#[test]
fn a_middlebox_resets_both_ends_at_once_and_what_is_on_the_way_never_arrives() {
    let mut story = Story::new();
    let (first, second) = (story.listener("first"), story.echo("second"));
    let client = story.essential("client", move |host, log| async move {
        let (mut to_first, mut to_second) = (connect(&host, first).await, connect(&host, second).await);
        send(&mut to_first, "in time").await;
        host.sleep(ms(6)).await;
        send(&mut to_first, "on the way").await;
        say_all(to_first, &log).await;
        send(&mut to_second, "others go on").await;
        to_second.read_exact(&mut [0; 12]).await.expect("nobody touched this one");
        send(&mut connect(&host, first).await, "and a new one does").await;
        host.sleep(ms(200)).await;
    });
    // Between the departure of the word and its arrival.
    let at = SimTime::ZERO.after(Duration::from_micros(10_500));
    story.plan(Trigger::At(at), vec![Fault::ResetConnections { from: first, to: client }], None);
    let reset = "10ms+500000ns connection reset";
    story.tells(&[
        "5ms in time",
        reset,
        reset,
        "15ms+500000ns and a new one does",
        "15ms+500000ns end of stream",
    ]);
}

#[test]
fn a_machine_that_sleeps_through_a_reset_learns_of_it_when_it_sends_again() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        host.sleep(ms(50)).await;
        for word in ["to nobody", "again"] {
            log.say(stream.write(word.as_bytes()).await.is_ok());
            host.sleep(ms(10)).await;
        }
    });
    story.during(10, 100, Fault::Suspend { host: client });
    story.at(20, Fault::ResetConnections { from: client, to: server });
    story.tells(&["20ms connection reset", "142ms true", "152ms false"]);
}
