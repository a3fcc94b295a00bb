//! What cannot be delivered: lost and cut transmissions, when they leave again, and when their sender gives up.

use std::time::Duration;

use doublehold_sim::{DelayLaw, Event, Fault, HostId, LinkSpec, Pattern, Probability, SimTime, Trigger};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::story::{PORT, Story, always, connect, link, ms, say_all, send};

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
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
fn of_several_losses_the_latest_counts_and_then_again_the_one_before_it() {
    // Sent at 20 ms, while the later loss lets everything through; and at 40 ms, when only the earlier one is left.
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.essential("client", move |host, _| async move {
        let mut stream = connect(&host, server).await;
        for (wait, word) in [(18, "first"), (20, "second")] {
            host.sleep(ms(wait)).await;
            send(&mut stream, word).await;
        }
        host.sleep(secs(60)).await;
    });
    story.during(10, 300, Fault::Lose { from: client, to: server, probability: always() });
    story.during(15, 30, Fault::Lose { from: client, to: server, probability: Probability::NEVER });
    story.tells(&["21ms first", "641ms second"]); // again at 240 ms, lost, and at 640 ms
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
fn a_cut_holds_what_is_on_its_way_at_any_moment_while_it_lasts() {
    // Links of 50 ms: connected at 100 ms, sent at 200 ms, there at 250 ms, and otherwise by the retransmission at 500
    // ms.
    const MS: u64 = 1_000_000;
    for (from, until, arrives) in [
        (150 * MS, 200 * MS - 1, 250), // over before it leaves
        (150 * MS, 200 * MS + 1, 550), // it leaves into the cut
        (200 * MS - 1, 200 * MS + 1, 550),
        (200 * MS - 1, 249 * MS, 550), // shorter than the delay
        (210 * MS, 220 * MS, 550),     // wholly while it is on its way
        (250 * MS - 1, 250 * MS + 1, 550),
        (250 * MS - 1, 490 * MS, 550),
        (250 * MS + 1, 490 * MS, 250), // it is there
    ] {
        let mut story = Story::with_links(link(50));
        let server = story.listener("server");
        let client = story.essential("client", move |host, _| async move {
            let mut stream = connect(&host, server).await;
            host.sleep(ms(100)).await;
            send(&mut stream, "hello").await;
            host.sleep(secs(60)).await;
        });
        let cut = vec![Fault::Cut { from: client, to: server }];
        story.plan(Trigger::At(SimTime(from)), cut, Some(Duration::from_nanos(until - from)));
        story.tells(&[&format!("{arrives}ms hello")]);
    }
}

#[test]
fn a_cut_right_before_and_one_right_after_a_message_hold_it_alike() {
    for at in ["about to send", "sent"] {
        let mut story = Story::with_links(link(50));
        let server = story.listener("server");
        let client = story.essential("client", move |host, _| async move {
            let mut stream = connect(&host, server).await;
            host.mark("about to send", None).await;
            send(&mut stream, "hello").await; // at 100 ms
            host.mark("sent", None).await;
            host.sleep(secs(60)).await;
        });
        let mark = Pattern::Mark { host: Some(client), label: at.into(), about: None };
        story.on(mark, 1, Fault::Cut { from: client, to: server }, Some(ms(49)));
        story.tells(&["450ms hello"]);
    }
}

#[test]
fn a_cut_never_makes_a_message_arrive_earlier_than_without_it() {
    let mut story = Story::new();
    let (from, to) = hello_at_20(&mut story);
    story.at(10, Fault::DelayNext { from, to, by_ns: 10_000_000_000 }); // there at 10,021 ms
    story.during(100, 110, Fault::Cut { from, to });
    story.tells(&["12621ms hello"]); // the first retransmission from then on
}

#[test]
fn a_connect_whose_request_or_answer_meets_a_cut_shorter_than_the_delay_asks_again() {
    for (there, cut_from) in [(true, 110), (false, 160)] {
        let mut story = Story::with_links(link(50));
        let server = story.listener("server");
        let client = story.essential("client", move |host, log| async move {
            host.sleep(ms(100)).await;
            log.say(host.connect(server, PORT).await.is_ok());
        });
        let (from, to) = if there { (client, server) } else { (server, client) };
        story.during(cut_from, cut_from + 20, Fault::Cut { from, to });
        story.run();
        assert_eq!(story.said()[0], "1200ms true", "there: {there}");
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

#[test]
fn a_user_timeout_stands_still_with_its_suspended_machine() {
    // Sent at 20 ms into the cut; the user timeout would be over at 924.02 s, while the machine sleeps. It wakes at
    // 1000 s, and what it held leaves at its next retransmission.
    let mut story = Story::new();
    let server = story.listener("server");
    let laptop = story.essential("laptop", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        host.sleep(ms(18)).await;
        send(&mut stream, "held").await;
        let late = host.clocks().monotonic.after(secs(300));
        log.say(host.race(stream.read_u8(), late).await.is_err());
    });
    story.during(10, 500_000, Fault::Cut { from: laptop, to: server });
    story.during(100_000, 1_000_000, Fault::Suspend { host: laptop });
    story.tells(&["1044621ms held", "1200020ms true"]);
}

/// The whole milliseconds at which a line was said.
fn said_at(line: &str) -> u64 {
    line.split("ms").next().and_then(|at| at.parse().ok()).expect("a line begins with its time")
}

/// When a word arrives, in milliseconds, that is sent at 60 s over links of this delay and lost at first.
fn arrives_when_lost_at_60_s(delay: u64, sent_before: u32) -> u64 {
    let mut story = Story::with_links(link(delay));
    let server = story.listener("server");
    let client = story.essential("client", move |host, _| async move {
        let mut stream = connect(&host, server).await;
        for _ in 0..sent_before {
            host.sleep(ms(10)).await;
            send(&mut stream, "before").await;
        }
        host.sleep_until(doublehold_sim::MonotonicTime(60_000_000_000)).await;
        send(&mut stream, "lost").await;
        host.sleep(secs(300)).await;
    });
    story.during(59_999, 60_001, Fault::Lose { from: client, to: server, probability: always() });
    story.run();
    let lost = story.said().into_iter().find(|line| line.contains("lost")).expect("it arrives");
    said_at(&lost)
}

#[test]
fn a_lost_transmission_is_repeated_after_a_timeout_that_knows_the_round_trip() {
    // Three round trips after the handshake alone, 200 ms at least, and less the longer the round trip has been steady.
    for (delay, sent_before, waits) in [
        (1, 0, 200),
        (33, 0, 200),
        (34, 0, 204),
        (500, 0, 3000),
        (500, 1, 2500),
        (500, 2, 2125),
        (5000, 0, 30_000),
    ] {
        let arrives = arrives_when_lost_at_60_s(delay, sent_before);
        assert_eq!(arrives, 60_000 + waits + delay, "{delay} ms, after {sent_before} words");
    }
    for sent_before in 0..20 {
        let waited = arrives_when_lost_at_60_s(500, sent_before) - 60_500;
        assert!(waited >= 1000, "it left again after {waited} ms, before its round trip was over");
    }
}

#[test]
fn a_slow_link_is_learned_and_a_single_late_message_is_not() {
    let story_with = |fault: fn(HostId, HostId) -> Fault| {
        let mut story = Story::new();
        let server = story.listener("server");
        let client = story.essential("client", move |host, _| async move {
            let mut stream = connect(&host, server).await;
            for _ in 0..3 {
                send(&mut stream, "word").await;
                host.sleep(secs(10)).await;
            }
            send(&mut stream, "lost").await; // at 30,002 ms
            host.sleep(secs(60)).await;
        });
        story.plan(Trigger::At(SimTime(1)), vec![fault(client, server)], None);
        story.during(30_001, 30_003, Fault::Lose { from: client, to: server, probability: always() });
        story
    };
    const LATE: u64 = 1_000_000_000;
    let late_once = story_with(|from, to| Fault::DelayNext { from, to, by_ns: LATE });
    late_once.tells(&["1003ms word", "10003ms word", "20003ms word", "30203ms lost"]);
    let mut slow = story_with(|from, to| Fault::Slow { from, to, by_ns: LATE });
    slow.run();
    let said = slow.said();
    assert!(
        said_at(&said[3]) > 30_002 + 1002 + 1001,
        "it left again before its round trip was over: {said:?}"
    );
}
