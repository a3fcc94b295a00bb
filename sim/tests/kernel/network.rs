//! The network's claims: order, delays, back-pressure, handshakes.

use std::time::Duration;

use doublehold_sim::{DelayLaw, Event, Fault, HostId, LinkSpec, Pattern, Probability, SimTime};
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::story::{PORT, Story, always, connect, link, ms, say_all, send};

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A link whose every segment takes its own time.
fn jittery(loss: Probability) -> LinkSpec {
    LinkSpec { delay: DelayLaw::Uniform { min: ms(1), max: ms(50) }, loss }
}

// Streams.

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever the delays, the losses and the cuts: each connection's bytes arrive once, whole and in order.
    #[test]
    fn a_connection_is_a_queue_of_bytes(
        seed: u64,
        loss in 0u32..5,
        cuts in prop::collection::vec((0u64..400, 1u64..300), 0..4),
        words in prop::collection::vec((0usize..3, 0u64..40, 1usize..9), 1..40),
    ) {
        let mut story = Story::seeded(seed, jittery(Probability::new(loss, 10).expect("below one")));
        let got = [(); 3].map(|()| std::sync::Arc::new(std::sync::Mutex::new(Vec::new())));
        let sinks = got.clone();
        let server = story.host("server", move |host, _| {
            let sinks = sinks.clone();
            async move {
                let mut incoming = host.listen(PORT);
                loop {
                    let mut stream = incoming.accept().await;
                    let sinks = sinks.clone();
                    host.spawn(async move {
                        let Ok(which) = stream.read_u8().await else { return };
                        let mut bytes = [0; 5];
                        while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                            sinks[which as usize].lock().expect("no panic").extend_from_slice(&bytes[..count]);
                        }
                    });
                }
            }
        });
        let plan = words.clone();
        let client = story.essential("client", move |host, _| {
            let plan = plan.clone();
            async move {
                let mut streams = Vec::new();
                for which in 0..3 {
                    let mut stream = loop {
                        // Three losses in ten each way can come to seven in a row.
                        if let Ok(stream) = host.connect(server, PORT).await {
                            break stream;
                        }
                    };
                    stream.write_u8(which).await.expect("not broken");
                    streams.push(stream);
                }
                for (at, (which, wait, len)) in plan.into_iter().enumerate() {
                    host.sleep(ms(wait)).await;
                    streams[which].write_all(&vec![at as u8; len]).await.expect("not broken");
                }
                drop(streams);
                host.sleep(secs(600)).await;
            }
        });
        for (from, lasting) in cuts {
            story.during(from, from + lasting, Fault::Cut { from: client, to: server });
        }
        story.run();
        for (which, got) in got.iter().enumerate() {
            let sent = words.iter().enumerate().filter(|(_, word)| word.0 == which);
            let sent: Vec<u8> = sent.flat_map(|(at, word)| vec![at as u8; word.2]).collect();
            prop_assert_eq!(&*got.lock().expect("no panic"), &sent);
        }
    }

    /// Cuts are counted: at no time does anything cross a link that a counter says is cut, in either direction.
    #[test]
    fn nothing_crosses_a_cut_link(
        seed: u64,
        changes in prop::collection::vec((0u64..2000, any::<bool>(), 1u64..800), 1..12),
    ) {
        let mut story = Story::seeded(seed, jittery(Probability::NEVER));
        let server = story.echo("server");
        let client = story.essential("client", move |host, _| async move {
            let stream = connect(&host, server).await;
            let (mut read, mut write) = tokio::io::split(stream);
            host.spawn(async move { while read.read_u8().await.is_ok() {} });
            for _ in 0..250 {
                host.sleep(ms(10)).await;
                write.write_u8(1).await.expect("not broken");
            }
            host.sleep(secs(60)).await;
        });
        let ends = |there: bool| if there { (client, server) } else { (server, client) };
        for &(from, there, lasting) in &changes {
            let (a, b) = ends(there);
            story.during(from, from + lasting, Fault::Cut { from: a, to: b });
        }
        story.run();
        let cut = |at: SimTime, link: (HostId, HostId)| changes.iter().any(|&(from, there, lasting)| {
            // Strictly inside: at the two instants themselves either order is right.
            ends(there) == link && at > SimTime(from * 1_000_000) && at < SimTime((from + lasting) * 1_000_000)
        });
        let mut delivered = 0;
        for record in story.world.take_trace() {
            if let Event::Delivered { from, to, bytes, .. } = record.event {
                prop_assert!(!cut(record.at, (from, to)), "delivered through a cut at {}", record.at);
                delivered += bytes;
            }
        }
        prop_assert_eq!(delivered, 500); // and all of it got through in the end
    }
}

#[test]
fn a_later_connection_can_overtake_an_earlier_one() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.essential("client", move |host, _| async move {
        let (mut slow, mut quick) = (connect(&host, server).await, connect(&host, server).await);
        host.sleep(ms(16)).await;
        send(&mut slow, "first").await; // at 20 ms
        send(&mut quick, "second").await;
        send(&mut slow, "third").await;
        host.sleep(secs(1)).await;
    });
    story.at(10, Fault::DelayNext { from: client, to: server, by_ns: 500_000_000 });
    story.tells(&["21ms second", "521ms firstthird"]);
}

#[test]
fn a_delayed_segment_holds_up_only_what_follows_it() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.essential("client", move |host, _| async move {
        let mut stream = connect(&host, server).await;
        host.sleep(ms(17)).await;
        send(&mut stream, "before").await; // at 19 ms
        host.sleep(ms(1)).await;
        send(&mut stream, "delayed").await; // at 20 ms
        host.sleep(ms(80)).await;
        send(&mut stream, "after").await; // at 100 ms
        host.sleep(secs(1)).await;
    });
    story.on(
        Pattern::Sent { host: client, to: None },
        1,
        Fault::DelayNext { from: client, to: server, by_ns: 500_000_000 },
        None,
    );
    // The fault strikes once the first word was sent, so the second is the next.
    story.tells(&["20ms before", "521ms delayedafter"]);
}

#[test]
fn a_slow_link_is_slow_until_that_is_taken_back() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.essential("client", move |host, _| async move {
        let mut stream = connect(&host, server).await;
        for at in [20, 40, 60, 80] {
            host.sleep_until(doublehold_sim::MonotonicTime(at * 1_000_000)).await;
            send(&mut stream, &format!("{at}")).await;
        }
        host.sleep(secs(1)).await;
    });
    story.during(30, 70, Fault::Slow { from: client, to: server, by_ns: 3_000_000 });
    story.during(50, 70, Fault::Slow { from: client, to: server, by_ns: 5_000_000 });
    story.tells(&["21ms 20", "44ms 40", "69ms 60", "81ms 80"]);
}

#[test]
fn a_writer_waits_at_a_full_window_until_the_reader_reads() {
    let mut story = Story::new();
    let server = story.host("server", |host, log| async move {
        let mut stream = host.listen(PORT).accept().await;
        host.sleep(ms(500)).await;
        let mut bytes = vec![0; 300 * 1024];
        stream.read_exact(&mut bytes).await.expect("the client sends that much");
        log.say("read");
        std::future::pending().await
    });
    story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        stream.write_all(&vec![1; 256 * 1024]).await.expect("not broken");
        log.say("window full");
        stream.write_all(&vec![1; 44 * 1024]).await.expect("not broken");
        log.say("all sent");
        host.sleep(ms(100)).await;
    });
    story.tells(&["2ms window full", "501ms all sent", "502ms read"]);
}

#[test]
fn writing_nothing_sends_nothing() {
    let mut story = Story::new();
    let server = story.listener("server");
    story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        log.say(stream.write(b"").await.expect("not broken"));
    });
    story.run();
    assert!(!story.world.take_trace().iter().any(|record| matches!(record.event, Event::Sent { .. })));
}

// Handshakes.

/// A client that connects at 100 ms and says when that was done and how.
fn connecting_at_100(story: &mut Story, server: HostId) -> HostId {
    story.essential("client", move |host, log| async move {
        host.sleep(ms(100)).await;
        match host.connect(server, PORT).await {
            Ok(_) => log.say("connected"),
            Err(error) => log.say(error),
        }
    })
}

#[test]
fn a_connect_takes_a_round_trip() {
    let mut story = Story::with_links(link(7));
    let server = story.listener("server");
    connecting_at_100(&mut story, server);
    story.run();
    assert_eq!(story.said()[0], "114ms connected");
}

#[test]
fn a_connect_to_a_port_where_nobody_listens_is_refused() {
    let mut story = Story::new();
    let server = story.host("server", |_, _| std::future::pending());
    connecting_at_100(&mut story, server);
    story.tells(&["102ms connection refused"]);
}

#[test]
fn a_connect_into_silence_asks_again_after_1_3_7_and_more_seconds_and_gives_up_after_127() {
    for (heals, expected) in [
        (1099, "1102ms connected"),
        (1103, "3102ms connected"),
        (3103, "7102ms connected"),
        (7103, "15102ms connected"),
        (31_103, "63102ms connected"),
        (63_103, "127100ms connection timed out"),
        (900_000, "127100ms connection timed out"),
    ] {
        for there in [true, false] {
            let mut story = Story::new();
            let server = story.host("server", |host, _| async move {
                let mut incoming = host.listen(PORT);
                let _held = (incoming.accept().await, incoming.accept().await);
            });
            let client = connecting_at_100(&mut story, server);
            let (from, to) = if there { (client, server) } else { (server, client) };
            story.during(10, heals, Fault::Cut { from, to });
            story.tells(&[expected]);
        }
    }
}

#[test]
fn a_lost_request_and_a_lost_answer_cost_a_second_and_queue_one_connection() {
    for there in [true, false] {
        let mut story = Story::new();
        let server = story.host("server", |host, log| async move {
            let mut incoming = host.listen(PORT);
            loop {
                let stream = incoming.accept().await;
                log.say("accepted");
                host.spawn(async move { drop((stream, std::future::pending::<()>().await)) });
            }
        });
        let client = connecting_at_100(&mut story, server);
        let (from, to) = if there { (client, server) } else { (server, client) };
        story.during(50, 200, Fault::Lose { from, to, probability: always() });
        let accepted = if there { "1101ms accepted" } else { "101ms accepted" };
        story.tells(&[accepted, "1102ms connected"]);
    }
}

#[test]
fn a_connect_to_a_server_that_dies_with_the_connection_in_its_queue_fails() {
    let mut story = Story::with_links(link(10));
    let server = story.host("server", |host, _| async move {
        let _incoming = host.listen(PORT);
        std::future::pending().await
    });
    story.essential("client", move |host, log| async move {
        host.sleep(ms(100)).await;
        let stream = connect(&host, server).await;
        log.say("connected");
        say_all(stream, &log).await;
    });
    story.during(115, 117, Fault::Crash { host: server });
    story.tells(&["120ms connected", "125ms connection reset"]);
}

#[test]
fn closing_a_port_resets_the_connections_that_wait_there() {
    let mut story = Story::new();
    let server = story.host("server", |host, _| async move {
        let incoming = host.listen(PORT);
        host.sleep(ms(50)).await;
        drop(incoming);
        std::future::pending().await
    });
    story.essential("client", move |host, log| async move {
        say_all(connect(&host, server).await, &log).await;
    });
    story.tells(&["51ms connection reset"]);
}
