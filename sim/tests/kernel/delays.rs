//! Delays of the next message on a way: which message they strike, how they add up, and which of them are reported to
//! have struck.

use std::time::Duration;

use doublehold_sim::{Fault, HostId, Occurrence, Pattern, SimTime, Trigger};

use crate::story::{Story, connect, ms, send};

/// When, in milliseconds, and by how many.
type Delay = (u64, u64);

/// A client that sends a message, each on a connection of its own, at these milliseconds, over links that take one.
fn sending(story: &mut Story, server: HostId, messages: &'static [u64]) -> HostId {
    story.essential("client", move |host, _| async move {
        let mut streams = Vec::new();
        for _ in messages {
            streams.push(connect(&host, server).await);
        }
        for (stream, at) in streams.iter_mut().zip(messages) {
            host.sleep_until(doublehold_sim::MonotonicTime(at * 1_000_000)).await;
            send(stream, &format!("of {at}")).await;
        }
        host.sleep(ms(2_000)).await;
    })
}

fn at(milliseconds: u64) -> Trigger {
    Trigger::At(SimTime::ZERO.after(ms(milliseconds)))
}

/// What the server reads, and which of these delays of the client's next message to it are reported to have struck.
fn told(delays: &[Delay], messages: &'static [u64]) -> (Vec<String>, Vec<bool>) {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = sending(&mut story, server, messages);
    for &(when, by) in delays {
        story.at(when, Fault::DelayNext { from: client, to: server, by_ns: by * 1_000_000 });
    }
    let struck = story.run().faults.iter().map(|strikes| !strikes.is_empty()).collect();
    (story.said(), struck)
}

#[test]
fn delays_that_wait_for_the_same_message_add_up_and_all_of_them_struck() {
    let orders: [[Delay; 2]; 6] = [
        [(10, 500), (10, 7)],
        [(10, 7), (10, 500)],
        [(10, 500), (20, 7)],
        [(10, 7), (20, 500)],
        [(20, 7), (10, 500)],
        [(10, 7), (20, 7)],
    ];
    for delays in orders {
        let late = 31 + delays[0].1 + delays[1].1;
        let first = format!("{late}ms of 30");
        assert_eq!(told(&delays, &[30]), (vec![first.clone()], vec![true, true]), "{delays:?}");
        // They strike one message and not one each, and a message on another connection overtakes it.
        let mut both = vec!["41ms of 40".to_owned(), first];
        both.sort_by_key(|said| said.split('m').next().and_then(|at| at.parse::<u64>().ok()));
        assert_eq!(told(&delays, &[30, 40]), (both, vec![true, true]), "{delays:?}");
    }
}

#[test]
fn delays_for_which_no_message_came_struck_nothing() {
    for delays in [[(10, 500), (10, 7)], [(10, 7), (20, 500)], [(10, 7), (20, 7)], [(10, 0), (10, 7)]] {
        assert_eq!(told(&delays, &[]), (vec![], vec![false, false]), "{delays:?}");
        assert_eq!(told(&delays, &[9]), (vec!["10ms of 9".into()], vec![false, false]), "{delays:?}");
    }
}

#[test]
fn a_delay_that_waits_takes_nothing_from_one_that_struck_whatever_their_lengths() {
    for (first, second) in [(500, 7), (7, 500), (7, 7), (7, 0), (0, 7)] {
        let (delays, late) = ([(10, first), (30, second)], format!("{}ms of 20", 21 + first));
        let waits = told(&delays, &[20]);
        assert_eq!(waits, (vec![late.clone()], vec![true, false]), "by {first} ms, then by {second} ms");
        let (_, both) = told(&delays, &[20, 40]);
        assert_eq!(both, [true, true], "by {first} ms, then by {second} ms");
    }
}

#[test]
fn a_run_says_when_the_last_late_message_was_to_arrive() {
    let last = |delays: &[Delay], messages: &'static [u64]| {
        let mut story = Story::new();
        let server = story.listener("server");
        let client = sending(&mut story, server, messages);
        for &(when, by) in delays {
            story.at(when, Fault::DelayNext { from: client, to: server, by_ns: by * 1_000_000 });
        }
        story.run().last_late.0 / 1_000_000
    };
    assert_eq!(last(&[], &[20]), 0);
    assert_eq!(last(&[(10, 500)], &[9]), 0, "it met no message");
    assert_eq!(last(&[(10, 500)], &[20, 40]), 521);
    assert_eq!(last(&[(10, 500), (15, 7)], &[20]), 528);
    assert_eq!(last(&[(10, 500), (30, 7)], &[20, 40]), 521, "the later one arrives earlier");
}

/// A fault that delays a message to each of several hosts is one fault: the one message that came is what it struck.
#[test]
fn a_delay_on_several_ways_struck_if_it_struck_on_one() {
    let strikes = |messages: &'static [u64], other_first: bool| {
        let mut story = Story::new();
        let (server, other) = (story.listener("server"), story.listener("other"));
        let client = sending(&mut story, server, messages);
        let mut faults = [server, other].map(|to| Fault::DelayNext { from: client, to, by_ns: 7 });
        if other_first {
            faults.reverse();
        }
        story.plan(at(10), faults.to_vec(), None);
        story.run().faults.iter().map(Vec::len).collect::<Vec<_>>()
    };
    for other_first in [false, true] {
        assert_eq!(strikes(&[30], other_first), [1]);
        assert_eq!(strikes(&[], other_first), [0]);
        assert_eq!(strikes(&[9], other_first), [0]);
    }
}

#[test]
fn what_is_done_together_with_a_delay_that_waits_was_done() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = sending(&mut story, server, &[]);
    let delay = Fault::DelayNext { from: client, to: server, by_ns: 7 };
    story.plan(at(10), vec![delay, Fault::StepClock { host: client, by_ns: 1 }], None);
    assert_eq!(story.run().faults.iter().map(Vec::len).collect::<Vec<_>>(), [1]);
}

/// Strikes of one fault and of another on the same way: what is reported of the one is its own.
#[test]
fn of_delays_that_strike_each_time_those_before_the_last_message_struck() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.essential("client", move |host, _| async move {
        let mut stream = connect(&host, server).await; // until 2 ms
        for round in 1..=6 {
            host.sleep(ms(10)).await;
            host.mark("tick", None).await; // at 12, 22, .. 62 ms
            if round == 4 {
                send(&mut stream, "word").await; // at 42 ms
            }
        }
        host.sleep(ms(2_000)).await;
    });
    let occurrences = vec![Occurrence {
        pattern: Pattern::Mark { host: Some(client), label: "tick".into(), about: None },
        nth: 1,
    }];
    let each = Trigger::On { occurrences, offset: Duration::ZERO, each: true };
    story.plan(each, vec![Fault::DelayNext { from: client, to: server, by_ns: 7_000_000 }], None);
    story.at(50, Fault::DelayNext { from: client, to: server, by_ns: 900_000_000 });
    let struck: Vec<Vec<u64>> = story
        .run()
        .faults
        .iter()
        .map(|strikes| strikes.iter().map(|struck| struck.from.0 / 1_000_000).collect())
        .collect();
    assert_eq!(struck, [vec![12, 22, 32, 42], vec![]]);
    assert_eq!(story.said()[0], "71ms word", "42 ms, one on the way, and four delays of 7 ms");
}
