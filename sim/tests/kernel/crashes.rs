//! What the machine of a dead process still does for it: it delivers what was sent, then ends each connection.

use std::time::Duration;

use doublehold_sim::{Fault, HostId, Pattern};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::story::{PORT, Story, always, connect, link, ms, say_all, send};

/// Keeps the run going for a minute.
fn a_minute(story: &mut Story) {
    story.essential("clock", |host, _| async move { host.sleep(Duration::from_secs(60)).await });
}

/// A client that sends a word at 20 ms and waits, and a server that says what it reads.
fn a_word_at_20(story: &mut Story, word: &'static str) -> (HostId, HostId) {
    let server = story.listener("server");
    let client = story.host("client", move |host, _| async move {
        if host.restarts() > 0 {
            return std::future::pending().await;
        }
        let mut stream = connect(&host, server).await;
        host.sleep(ms(18)).await;
        send(&mut stream, word).await;
        std::future::pending().await
    });
    a_minute(story);
    (client, server)
}

#[test]
fn a_killed_process_still_delivers_what_it_sent_and_then_the_end_of_the_stream() {
    let mut story = Story::new();
    let (client, _) = a_word_at_20(&mut story, "last words");
    story.on(Pattern::Sent { host: client, to: None }, 1, Fault::Crash { host: client }, None);
    story.tells(&["21ms last words", "21ms end of stream"]);
}

#[test]
fn what_waits_behind_a_cut_or_a_loss_when_its_process_is_killed_arrives_when_that_is_over() {
    for is_cut in [true, false] {
        let mut story = Story::new();
        let (from, to) = a_word_at_20(&mut story, "held");
        let probability = always();
        let fault = if is_cut { Fault::Cut { from, to } } else { Fault::Lose { from, to, probability } };
        story.during(10, 1000, fault);
        story.at(50, Fault::Crash { host: from });
        // The word was sent at 20 ms, so it leaves again at 1420 ms, and the end of the stream with it.
        story.tells(&["1421ms held", "1421ms end of stream"]);
    }
}

#[test]
fn what_a_full_window_accepted_arrives_whole_although_its_process_was_killed() {
    const ACCEPTED: usize = 256 * 1024;
    let mut story = Story::new();
    let server = story.host("server", |host, log| async move {
        let mut stream = host.listen(PORT).accept().await;
        host.sleep(ms(500)).await;
        let mut bytes = Vec::new();
        log.say(stream.read_to_end(&mut bytes).await.expect("an end of stream"));
        std::future::pending().await
    });
    let client = story.host("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        stream.write_all(&vec![1; ACCEPTED]).await.expect("not broken");
        log.say("accepted");
        let _ = stream.write_all(b"one more").await; // waits at the full window
    });
    story.at(100, Fault::Crash { host: client });
    a_minute(&mut story);
    story.tells(&["2ms accepted", &format!("501ms {ACCEPTED}")]);
}

#[test]
fn a_process_that_restarts_does_not_disturb_what_its_machine_still_delivers_for_the_former() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.host("client", move |host, _| async move {
        host.sleep(ms(18)).await;
        let mut stream = connect(&host, server).await;
        send(&mut stream, if host.restarts() == 0 { "former" } else { "latter" }).await;
        std::future::pending().await
    });
    story.at(20, Fault::Cut { from: client, to: server });
    story.during(50, 60, Fault::Crash { host: client });
    story.at(70, Fault::Heal { from: client, to: server }); // the second process connects at 78 ms
    story.at(100, Fault::Crash { host: client });
    a_minute(&mut story);
    story.tells(&["81ms latter", "101ms end of stream", "221ms former", "221ms end of stream"]);
}

#[test]
fn a_machine_that_loses_power_while_it_delivers_for_a_dead_process_stops_doing_so() {
    let mut story = Story::new();
    let (client, server) = a_word_at_20(&mut story, "held");
    story.during(10, 100, Fault::Cut { from: client, to: server });
    story.at(50, Fault::Crash { host: client });
    story.during(60, 70, Fault::LosePower { host: client, torn_tail: false });
    story.tells(&[]);
}

#[test]
fn a_machine_that_is_suspended_while_it_delivers_for_a_dead_process_goes_on_when_it_wakes() {
    let mut story = Story::new();
    let (client, server) = a_word_at_20(&mut story, "held");
    story.during(10, 100, Fault::Cut { from: client, to: server });
    story.at(50, Fault::Crash { host: client });
    story.during(60, 500, Fault::Suspend { host: client });
    story.tells(&["621ms held", "621ms end of stream"]);
}

#[test]
fn a_crash_after_a_proper_close_still_delivers_what_was_written() {
    let mut story = Story::with_links(link(1));
    let server = story.listener("server");
    let client = story.host("client", move |host, _| async move {
        let mut stream = connect(&host, server).await;
        host.sleep(ms(20)).await;
        send(&mut stream, "held").await;
        drop(stream);
        std::future::pending().await
    });
    story.during(10, 100, Fault::Cut { from: client, to: server });
    story.at(50, Fault::Crash { host: client });
    a_minute(&mut story);
    story.tells(&["223ms held", "223ms end of stream"]);
}

/// A client that gets a greeting it never reads, and sends a word at 20 ms.
fn a_word_beside_unread_input(story: &mut Story) -> (HostId, HostId) {
    let server = story.host("server", |host, log| async move {
        let mut stream = host.listen(PORT).accept().await;
        send(&mut stream, "greeting").await;
        say_all(stream, &log).await;
        std::future::pending().await
    });
    let client = story.host("client", move |host, _| async move {
        let mut stream = connect(&host, server).await;
        host.sleep(ms(18)).await;
        send(&mut stream, "word").await;
        std::future::pending().await
    });
    a_minute(story);
    (client, server)
}

#[test]
fn unread_input_makes_the_end_a_reset_which_overtakes_nothing_that_is_on_its_way() {
    for late_by in [0, 500] {
        let mut story = Story::new();
        let (client, server) = a_word_beside_unread_input(&mut story);
        story.at(10, Fault::DelayNext { from: client, to: server, by_ns: late_by * 1_000_000 });
        story.at(21, Fault::Crash { host: client });
        let word = format!("{}ms word", 21 + late_by);
        let reset = format!("{}ms connection reset", if late_by == 0 { 22 } else { 21 + late_by });
        story.tells(&[&word, &reset]);
    }
}

#[test]
fn a_reset_takes_what_waited_to_be_repeated_and_does_not_wait_for_it() {
    let mut story = Story::new();
    let (client, server) = a_word_beside_unread_input(&mut story);
    story.during(10, 100, Fault::Cut { from: client, to: server });
    story.at(110, Fault::Crash { host: client }); // after the heal, before the retransmission at 220 ms
    story.tells(&["111ms connection reset"]);
}

#[test]
fn a_machine_gives_up_what_it_delivers_for_a_dead_process_when_its_peer_sends_more() {
    // Linux resets a connection whose closed end gets data, and so forgets what that end still had to send.
    let mut story = Story::new();
    let server = story.host("server", |host, log| async move {
        let mut stream = host.listen(PORT).accept().await;
        host.sleep(ms(60)).await;
        send(&mut stream, "more").await; // arrives at 62 ms
        host.sleep(ms(500)).await;
        say_all(stream, &log).await;
    });
    let client = story.host("client", move |host, _| async move {
        let mut stream = connect(&host, server).await;
        host.sleep(ms(18)).await;
        send(&mut stream, "held").await;
        std::future::pending().await
    });
    story.during(10, 100, Fault::Cut { from: client, to: server });
    story.at(50, Fault::Crash { host: client });
    a_minute(&mut story);
    story.tells(&["561ms connection reset"]);
}

#[test]
fn a_port_that_dies_with_its_process_resets_the_connections_that_wait_there() {
    let mut story = Story::new();
    let server = story.host("server", |host, _| async move {
        let _incoming = host.listen(PORT);
        std::future::pending().await
    });
    story.essential("client", move |host, log| async move {
        say_all(connect(&host, server).await, &log).await;
    });
    story.at(50, Fault::Crash { host: server });
    story.tells(&["51ms connection reset"]);
}
