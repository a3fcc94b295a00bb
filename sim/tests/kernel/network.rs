//! The network's claims: order, back-pressure, ends, retransmission, cuts, timeouts, handshakes.

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

// Ends.

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
        let late = host.clocks().monotonic.after(secs(3600));
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
        host.sleep(secs(1)).await;
    });
    story.tells(&["250ms true", "300ms SET", "350ms end of stream"]);
}

// Loss.

#[test]
fn a_lost_transmission_is_repeated_with_a_wait_that_doubles() {
    // Sent at 20 ms into a link that loses everything; retransmissions at 220, 620, 1420, 3020, 6220 ms.
    for (heals, arrives) in [(219, 221), (221, 621), (620, 621), (700, 1421), (1421, 3021), (3021, 6221)] {
        let mut story = Story::new();
        let server = story.listener("server");
        let client = story.essential("client", move |host, _| async move {
            let mut stream = connect(&host, server).await;
            host.sleep(ms(18)).await;
            send(&mut stream, "hello").await;
            host.sleep(secs(60)).await;
        });
        story.during(10, heals, Fault::Lose { from: client, to: server, probability: always() });
        story.tells(&[&format!("{arrives}ms hello")]);
    }
}

#[test]
fn losses_that_overlap_stack() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.essential("client", move |host, _| async move {
        let mut stream = connect(&host, server).await;
        host.sleep(ms(18)).await;
        send(&mut stream, "hello").await; // retransmissions at 220, 620, 1420 ms
        host.sleep(secs(60)).await;
    });
    story.during(10, 1000, Fault::Lose { from: client, to: server, probability: always() });
    story.during(15, 300, Fault::Lose { from: client, to: server, probability: always() });
    story.tells(&["1421ms hello"]);
}

#[test]
fn a_link_that_loses_everything_ends_in_the_user_timeout() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        host.sleep(ms(18)).await;
        send(&mut stream, "hello").await;
        say_all(stream, &log).await;
    });
    story.at(10, Fault::Lose { from: client, to: server, probability: always() });
    story.tells(&["924020ms timed out"]);
}

#[test]
fn a_lossy_link_loses_about_its_share() {
    let mut story = Story::with_links(link(1));
    let server = story.listener("server");
    let client = story.essential("client", move |host, _| async move {
        for _ in 0..1000 {
            let mut stream = connect(&host, server).await;
            send(&mut stream, "x").await;
            drop(stream);
            host.sleep(secs(3)).await;
        }
    });
    let tenth = Probability::new(1, 10).expect("below one");
    story.world.set_link(client, server, LinkSpec { delay: DelayLaw::Fixed(ms(1)), loss: tenth });
    story.run();
    let held = story.world.take_trace().iter().filter(|r| matches!(r.event, Event::Held { .. })).count();
    assert!(
        (140..=280).contains(&held),
        "a tenth of some 2,000 segments (data and ends) and their repeats: {held}"
    );
}

// Cuts.

/// A client that says hello to a listening server at 20 ms.
fn hello_at_20(story: &mut Story) -> (HostId, HostId) {
    let server = story.listener("server");
    let client = story.essential("client", move |host, _| async move {
        let mut stream = connect(&host, server).await;
        host.sleep(ms(18)).await;
        send(&mut stream, "hello").await;
        host.sleep(secs(60)).await;
    });
    (client, server)
}

#[test]
fn a_cut_holds_and_after_it_heals_the_next_retransmission_arrives() {
    for (heals, arrives) in [(100, 221), (220, 221), (221, 621), (1000, 1421), (2000, 3021)] {
        let mut story = Story::new();
        let (from, to) = hello_at_20(&mut story);
        story.during(10, heals, Fault::Cut { from, to });
        story.tells(&[&format!("{arrives}ms hello")]);
    }
}

#[test]
fn healing_one_of_two_cuts_heals_nothing() {
    let mut story = Story::new();
    let (from, to) = hello_at_20(&mut story);
    story.during(10, 1000, Fault::Cut { from, to });
    story.during(15, 100, Fault::Cut { from, to });
    story.tells(&["1421ms hello"]);
}

#[test]
fn a_one_way_cut_lets_the_other_way_through() {
    let mut story = Story::new();
    let (from, to) = hello_at_20(&mut story);
    story.during(10, 1000, Fault::Cut { from: to, to: from });
    story.tells(&["21ms hello"]);
}

#[test]
fn what_a_cut_held_is_lost_when_the_senders_user_timeout_ends_its_side() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        host.sleep(ms(18)).await;
        send(&mut stream, "held").await;
        let failed = stream.read_u8().await.expect_err("the user timeout");
        log.say(failed.kind());
        log.say(stream.write_all(b"more").await.expect_err("it is over").kind());
        host.sleep(secs(600)).await;
    });
    story.during(10, 1_000_000, Fault::Cut { from: client, to: server });
    story.tells(&["924020ms timed out", "924020ms timed out"]);
}

#[test]
fn a_sender_whose_acknowledgements_are_cut_times_out_although_its_data_arrived() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        host.sleep(ms(18)).await;
        send(&mut stream, "heard").await;
        say_all(stream, &log).await;
    });
    story.at(10, Fault::Cut { from: server, to: client });
    story.tells(&["21ms heard", "924020ms timed out"]);
}

#[test]
fn acknowledgements_that_get_through_in_time_keep_the_connection() {
    // Retransmissions must arrive to be acknowledged: healing the way back alone is not enough.
    for (data_cut_until, expected) in [(30, "1000002ms true"), (950_000, "924020ms false")] {
        let mut story = Story::new();
        let server = story.listener("server");
        let client = story.essential("client", move |host, log| async move {
            let mut stream = connect(&host, server).await;
            host.sleep(ms(18)).await;
            send(&mut stream, "heard").await;
            let end = doublehold_sim::MonotonicTime(1_000_002_000_000);
            log.say(host.race(stream.read_u8(), end).await.is_err());
        });
        story.during(10, 900_000, Fault::Cut { from: server, to: client });
        story.during(25, data_cut_until, Fault::Cut { from: client, to: server });
        story.tells(&["21ms heard", expected]);
    }
}

#[test]
fn a_socket_that_timed_out_takes_no_more_data() {
    let mut story = Story::new();
    let server = story.host("server", |host, _| async move {
        let mut stream = host.listen(PORT).accept().await;
        host.sleep(secs(1000)).await;
        send(&mut stream, "late").await;
        std::future::pending().await
    });
    let client = story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        host.sleep(ms(18)).await;
        send(&mut stream, "held").await;
        host.sleep(secs(1100)).await;
        log.say(stream.read_u8().await.expect_err("it timed out").kind());
    });
    story.during(10, 950_000, Fault::Cut { from: client, to: server });
    story.tells(&["1100020ms timed out"]);
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
