//! Requests that are sent twice: which message is copied, on what connection, and what the copy outlives.

use doublehold_sim::{Fault, HostId, SimTime, Trigger};
use tokio::io::AsyncReadExt;

use crate::story::{Story, connect, ms, send};

/// A client that sends one message at 10 ms over a link that takes one, and a server that says what it reads.
fn asking() -> (Story, HostId, HostId) {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.essential("client", move |host, _| async move {
        if host.restarts() > 0 {
            return;
        }
        let mut stream = connect(&host, server).await;
        host.sleep_until(doublehold_sim::MonotonicTime(10_000_000)).await;
        send(&mut stream, "SET").await;
    });
    (story, client, server)
}

fn copy(from: HostId, to: HostId, after: u64) -> Fault {
    Fault::CopyNext { from, to, after_ns: after * 1_000_000 }
}

#[test]
fn a_copy_has_a_connection_of_its_own_and_the_run_waits_for_it() {
    let (mut story, client, server) = asking();
    story.at(5, copy(client, server, 500));
    // A handshake of two, and the way. The run ends with the arrival.
    story.tells(&["11ms SET", "11ms end of stream", "513ms SET"]);
}

#[test]
fn each_fault_that_waits_brings_a_copy_and_one_that_found_no_message_struck_nothing() {
    let (mut story, client, server) = asking();
    for (at, after) in [(5, 500), (5, 100), (20, 100)] {
        story.at(at, copy(client, server, after));
    }
    let struck: Vec<bool> = story.run().faults.iter().map(|strikes| !strikes.is_empty()).collect();
    assert_eq!(struck, [true, true, false]);
    let said = story.said();
    let sets: Vec<&String> = said.iter().filter(|line| line.ends_with("SET")).collect();
    assert_eq!(sets, ["11ms SET", "113ms SET", "513ms SET"]);
}

#[test]
fn an_answer_is_no_request_and_the_answer_to_a_copy_is_nobodys() {
    let mut story = Story::new();
    let server = story.echo("server");
    let client = story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        send(&mut stream, "SET").await;
        let mut bytes = [0; 64];
        let count = stream.read(&mut bytes).await.expect("the server answers");
        log.say(String::from_utf8_lossy(&bytes[..count]));
        host.sleep(ms(50)).await;
    });
    story.at(0, copy(server, client, 1));
    story.at(1, copy(client, server, 10));
    let struck: Vec<bool> = story.run().faults.iter().map(|strikes| !strikes.is_empty()).collect();
    assert_eq!((struck, story.said()), (vec![false, true], vec!["4ms SET".to_owned()]));
}

#[test]
fn a_copy_outlives_the_process_waits_with_a_suspended_machine_and_goes_with_its_power() {
    let told = |strike: fn(HostId) -> Fault| {
        let (mut story, client, server) = asking();
        story.at(5, copy(client, server, 500));
        story.plan(Trigger::At(SimTime::ZERO.after(ms(100))), vec![strike(client)], Some(ms(1_000)));
        story.run();
        let said = story.said().split_off(2);
        said.into_iter().filter(|line| line.ends_with("SET")).collect::<Vec<_>>()
    };
    assert_eq!(told(|host| Fault::Crash { host }), ["513ms SET"]);
    assert_eq!(told(|host| Fault::Pause { host }), ["513ms SET"]);
    // It asks when it is due and gets no answer, and again after 1 s.
    assert_eq!(told(|host| Fault::Suspend { host }), ["1513ms SET"]);
    assert_eq!(told(|host| Fault::LosePower { host, torn_tail: false }), [] as [&str; 0]);
}

#[test]
fn a_crash_in_the_middle_of_a_copys_handshake_does_not_end_it() {
    for at in [510, 511, 512, 513] {
        let (mut story, client, server) = asking();
        story.at(5, copy(client, server, 500));
        story.during(at, at + 1, Fault::Crash { host: client });
        story.tells(&["11ms SET", "11ms end of stream", "513ms SET"]);
    }
}

#[test]
fn a_cut_holds_a_copy_and_a_process_that_is_gone_refuses_it() {
    let (mut story, client, server) = asking();
    story.at(5, copy(client, server, 500));
    story.during(100, 1_000, Fault::Cut { from: client, to: server });
    story.tells(&["11ms SET", "11ms end of stream", "1513ms SET"]);
    let (mut story, client, server) = asking();
    story.at(5, copy(client, server, 500));
    story.at(100, Fault::Crash { host: server });
    story.tells(&["11ms SET", "11ms end of stream"]);
}
