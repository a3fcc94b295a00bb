//! What a stopped host means: pause, suspension, process crash and power loss, and how they combine.

use std::time::Duration;

use doublehold_sim::{Fault, Host, Pattern, WallTime};
use tokio::io::AsyncReadExt;

use crate::story::{Log, PORT, Story, connect, ms, say_all, send};

/// Says its number every 100 ms of its monotonic clock, three times.
async fn three_steps(host: Host, log: Log) {
    for step in 1..=3 {
        host.sleep(ms(100)).await;
        log.say(step);
    }
}

// Pause.

#[test]
fn a_paused_host_takes_its_next_step_at_resume() {
    let mut story = Story::new();
    let host = story.essential("worker", three_steps);
    story.during(150, 1000, Fault::Pause { host });
    story.tells(&["100ms 1", "1000ms 2", "1100ms 3"]);
}

#[test]
fn all_three_clocks_run_through_a_pause() {
    let mut story = Story::new();
    let host = story.essential("worker", |host, log| async move {
        host.sleep(ms(100)).await;
        let now = host.clocks();
        log.say(format!("{} {} {}", now.wall.0, now.monotonic.0, now.boot.0));
    });
    story.during(50, 400, Fault::Pause { host });
    story.tells(&["400ms 400000000 400000000 400000000"]);
}

#[test]
fn late_timers_fire_in_the_order_in_which_they_came_due() {
    // Set in another order than they come due in, many of them, so that chance cannot put them right.
    let delays = [70, 20, 90, 40, 10, 60, 30, 80, 50, 100];
    let mut story = Story::new();
    let host = story.essential("worker", move |host, log| async move {
        for delay in delays {
            let (sleeper, log) = (host.clone(), log.clone());
            host.spawn(async move {
                sleeper.sleep(ms(delay)).await;
                log.say(delay);
            });
        }
        host.sleep(ms(1100)).await;
    });
    story.during(5, 1000, Fault::Pause { host });
    // A change of a clock while they are late must not shuffle them.
    story.at(500, Fault::StepClock { host, by_ns: -1 });
    story.at(600, Fault::ChangeRate { host, by: doublehold_sim::RatePpb(1_000_000) });
    story.tells(
        &[10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
            .map(|d| format!("1000ms {d}"))
            .each_ref()
            .map(|s| s.as_str()),
    );
}

#[test]
fn a_late_timer_fires_before_one_that_is_due_at_the_very_resume() {
    let mut story = Story::new();
    let host = story.host("worker", |host, log| async move {
        for delay in [50, 100] {
            let (sleeper, log) = (host.clone(), log.clone());
            host.spawn(async move {
                sleeper.sleep(ms(delay)).await;
                log.say(delay);
            });
        }
    });
    // Planned before the run begins, so the resume is the first event of its instant.
    story.at(10, Fault::Pause { host });
    story.at(100, Fault::Resume { host });
    story.essential("clock", |host, _| async move { host.sleep(ms(200)).await });
    story.tells(&["100ms 50", "100ms 100"]);
}

#[test]
fn replies_wait_unread_during_a_pause_and_are_read_after_it() {
    let mut story = Story::new();
    let server = story.echo("server");
    let client = story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        send(&mut stream, "hello").await;
        let mut reply = [0; 5];
        stream.read_exact(&mut reply).await.expect("the server answers");
        log.say(String::from_utf8_lossy(&reply));
    });
    story.during(3, 500, Fault::Pause { host: client }); // connected at 2 ms, the reply comes at 4 ms
    story.tells(&["500ms hello"]);
}

/// A client that waits for an echo against a deadline 100 ms from its start.
fn racing_client(story: &mut Story, server: doublehold_sim::HostId) -> doublehold_sim::HostId {
    story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        send(&mut stream, "hello").await;
        let deadline = host.clocks().monotonic.after(ms(100));
        let mut reply = [0; 5];
        match host.race(stream.read_exact(&mut reply), deadline).await {
            Ok(_) => log.say("reply"),
            Err(passed) => log.say(passed),
        }
    })
}

#[test]
fn after_a_pause_a_reply_that_waits_wins_against_its_late_timeout() {
    let mut story = Story::new();
    let server = story.echo("server");
    let client = racing_client(&mut story, server);
    story.during(3, 500, Fault::Pause { host: client });
    story.tells(&["500ms reply"]);
}

#[test]
fn a_reply_that_waits_wins_against_a_deadline_that_passed_before_the_race_began() {
    let mut story = Story::new();
    let server = story.echo("server");
    let client = story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, server).await;
        let deadline = host.clocks().monotonic.after(ms(100));
        send(&mut stream, "hello").await;
        host.mark("sent", None).await; // and here the pause strikes
        let mut reply = [0; 5];
        log.say(host.race(stream.read_exact(&mut reply), deadline).await.is_ok());
        log.say(host.race(stream.read_exact(&mut reply), deadline).await.is_ok());
    });
    let sent = Pattern::Mark { host: Some(client), label: "sent".into(), about: None };
    story.on(sent, 1, Fault::Pause { host: client }, Some(ms(500)));
    story.tells(&["502ms true", "502ms false"]);
}

#[test]
fn after_a_pause_without_a_reply_the_timeout_fires_late() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = racing_client(&mut story, server);
    story.during(3, 500, Fault::Pause { host: client });
    story.tells(&["3ms hello", "500ms the deadline passed first"]);
}

#[test]
fn a_pause_at_a_clock_read_strikes_between_the_sample_and_its_use() {
    let mut story = Story::new();
    let host = story.essential("client", |host, log| async move {
        host.sleep(ms(10)).await;
        let sample = host.monotonic().await;
        log.say(sample.0);
    });
    story.on(Pattern::ClockRead { host }, 1, Fault::Pause { host }, Some(ms(990)));
    story.tells(&["1000ms 10000000"]);
}

#[test]
fn a_pause_at_a_mark_strikes_before_the_send_that_follows() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.essential("client", move |host, _| async move {
        let mut stream = connect(&host, server).await;
        host.mark("checked", None).await;
        send(&mut stream, "write").await;
        host.sleep(ms(5)).await;
    });
    let checked = Pattern::Mark { host: Some(client), label: "checked".into(), about: None };
    story.on(checked, 1, Fault::Pause { host: client }, Some(ms(1000)));
    story.tells(&["1003ms write"]);
}

#[test]
fn overlapping_pauses_compose() {
    for [first, second] in [[(10, 500), (20, 300)], [(10, 300), (20, 500)], [(10, 500), (10, 500)]] {
        let mut story = Story::new();
        let host = story.essential("worker", |host, log| async move {
            host.sleep(ms(100)).await;
            log.say("awake");
        });
        for (from, until) in [first, second] {
            story.during(from, until, Fault::Pause { host });
        }
        story.tells(&["500ms awake"]);
    }
}

#[test]
fn a_pause_and_a_suspension_must_both_end() {
    let mut story = Story::new();
    let host = story.essential("worker", |host, log| async move {
        host.sleep(ms(100)).await;
        log.say("awake");
    });
    story.during(50, 500, Fault::Pause { host });
    story.during(60, 300, Fault::Suspend { host }); // monotonic shows 60 ms at 300 ms, 100 ms at 340 ms
    story.tells(&["500ms awake"]);
}

#[test]
fn the_machine_of_a_paused_server_completes_handshakes_and_queues_them() {
    let mut story = Story::new();
    let server = story.listener("server");
    story.essential("client", move |host, log| async move {
        host.sleep(ms(10)).await;
        let mut stream = connect(&host, server).await;
        log.say("connected");
        send(&mut stream, "hello").await;
        host.sleep(ms(1000)).await;
    });
    story.during(5, 500, Fault::Pause { host: server });
    story.tells(&["12ms connected", "500ms hello"]);
}

// Suspension.

#[test]
fn a_suspended_monotonic_clock_stands_still_and_the_others_do_not_notice() {
    let mut story = Story::new();
    let host = story.essential("laptop", |host, log| async move {
        host.sleep(ms(100)).await;
        let now = host.clocks();
        log.say(format!("{} {} {}", now.wall.0, now.monotonic.0, now.boot.0));
    });
    story.during(40, 1000, Fault::Suspend { host });
    story.tells(&["1060ms 1060000000 100000000 1060000000"]);
}

#[test]
fn what_is_sent_to_a_suspended_host_arrives_by_retransmission_after_it_woke() {
    let mut story = Story::new();
    let laptop = story.listener("laptop");
    story.essential("peer", move |host, _| async move {
        let mut stream = connect(&host, laptop).await;
        host.sleep(ms(98)).await;
        send(&mut stream, "hello").await; // at 100 ms; retransmissions at 300, 700, 1500, 3100 ms
        host.sleep(ms(5000)).await;
    });
    story.during(50, 1000, Fault::Suspend { host: laptop });
    story.tells(&["1501ms hello"]);
}

#[test]
fn overlapping_suspensions_compose() {
    let mut story = Story::new();
    let host = story.essential("laptop", |host, log| async move {
        host.sleep(ms(100)).await;
        log.say("awake");
    });
    story.during(50, 300, Fault::Suspend { host });
    story.during(60, 500, Fault::Suspend { host });
    story.tells(&["550ms awake"]);
}

#[test]
fn a_suspended_client_does_not_repeat_requests_and_still_connects_after_it_woke() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.essential("client", move |host, log| async move {
        host.sleep(ms(10)).await;
        log.say(host.connect(server, PORT).await.is_ok());
    });
    story.during(11, 2000, Fault::Suspend { host: client }); // the answer comes at 12 ms; repeated at 1010, 3010 ms
    story.tells(&["3012ms true"]);
}

// Process crash.

#[test]
fn the_machine_of_a_crashed_process_refuses_connections() {
    let mut story = Story::new();
    let server = story.listener("server");
    story.essential("client", move |host, log| async move {
        host.sleep(ms(20)).await;
        log.say(host.connect(server, PORT).await.err().expect("nobody listens"));
    });
    story.at(10, Fault::Crash { host: server });
    story.tells(&["22ms connection refused"]);
}

#[test]
fn a_restart_boots_again_and_reads_what_the_crashed_process_had_written() {
    let mut story = Story::new();
    let host = story.essential("node", |host, log| async move {
        log.say(format!("boots with {:?}", String::from_utf8_lossy(&host.read_file("log"))));
        host.append("log", b"x");
        host.sleep(ms(100)).await;
        log.say("done");
    });
    story.during(50, 80, Fault::Crash { host });
    story.tells(&["0ms boots with \"\"", "80ms boots with \"x\"", "180ms done"]);
}

#[test]
fn handles_of_a_dead_process_are_inert() {
    // The first process leaves its handle behind where the second finds it.
    let left = std::sync::Arc::new(std::sync::Mutex::new(None::<Host>));
    let mut story = Story::new();
    let host = story.essential("node", move |host, log| {
        let left = left.clone();
        async move {
            let old = left.lock().expect("no test panics here").replace(host.clone());
            let Some(old) = old else { return std::future::pending().await };
            old.append("file", b"from the grave");
            old.note("from the grave", None);
            let ghost = log.clone();
            old.spawn(async move { ghost.say("a dead process's task runs") });
            let late = host.clocks().monotonic.after(ms(500));
            log.say(host.race(old.sleep(ms(1)), late).await.is_err());
            log.say(host.read_file("file").len());
        }
    });
    story.during(10, 20, Fault::Crash { host });
    story.run();
    assert_eq!(story.said(), ["520ms true", "520ms 0"]);
    let trace = story.world.take_trace();
    assert!(
        !trace.iter().any(|r| matches!(&r.event, doublehold_sim::Event::Mark { .. })),
        "a dead process notes nothing"
    );
}

#[test]
fn a_paused_host_that_crashes_starts_unpaused_and_its_old_resume_ends_no_later_pause() {
    let mut story = Story::new();
    let host = story.essential("node", |host, log| async move {
        log.say("boots");
        host.sleep(ms(200)).await;
        log.say("done");
    });
    story.during(10, 400, Fault::Pause { host });
    story.during(50, 100, Fault::Crash { host });
    story.during(150, 600, Fault::Pause { host });
    story.tells(&["0ms boots", "100ms boots", "600ms done"]);
}

#[test]
fn peers_learn_of_a_crash_during_a_suspension_only_after_the_machine_woke() {
    let mut story = Story::new();
    let laptop = story.host("laptop", |host, _| async move {
        let mut incoming = host.listen(PORT);
        let _held = incoming.accept().await;
        std::future::pending().await
    });
    story.essential("peer", move |host, log| async move {
        say_all(connect(&host, laptop).await, &log).await;
    });
    story.during(50, 1000, Fault::Suspend { host: laptop });
    story.at(100, Fault::Crash { host: laptop });
    story.tells(&["1501ms end of stream"]);
}

#[test]
fn a_host_that_crashes_while_suspended_boots_when_started_and_runs_when_awake() {
    let mut story = Story::new();
    let host = story.essential("laptop", |host, log| async move {
        log.say("boots");
        host.sleep(ms(100)).await;
        log.say("done");
    });
    story.during(10, 500, Fault::Suspend { host });
    story.during(20, 30, Fault::Crash { host });
    // The monotonic clock stood at 10 ms; only the machine's power loss would start it anew.
    story.tells(&["0ms boots", "500ms boots", "600ms done"]);
}

// Power loss.

/// A client that talks to a node that loses power at 10 ms, and what a second word at 20 ms comes to.
fn client_of_a_dark_node(story: &mut Story) -> doublehold_sim::HostId {
    let node = story.echo("node");
    story.essential("client", move |host, log| async move {
        let mut stream = connect(&host, node).await;
        send(&mut stream, "one").await;
        host.sleep(ms(18)).await;
        send(&mut stream, "two").await; // at 20 ms; retransmissions at 220, 620, 1420 ms
        let late = host.clocks().monotonic.after(ms(5000));
        if host.race(say_all(stream, &log), late).await.is_err() {
            log.say("nothing");
        }
    });
    node
}

#[test]
fn a_power_loss_is_silence_for_a_peer_that_reads() {
    let mut story = Story::new();
    let node = client_of_a_dark_node(&mut story);
    story.at(10, Fault::LosePower { host: node, torn_tail: false });
    story.tells(&["20ms one", "5020ms nothing"]);
}

#[test]
fn after_a_power_loss_and_a_start_data_of_old_connections_is_answered_by_a_reset() {
    let mut story = Story::new();
    let node = client_of_a_dark_node(&mut story);
    story.during(10, 1000, Fault::LosePower { host: node, torn_tail: false });
    story.tells(&["20ms one", "1422ms connection reset"]);
}

#[test]
fn connects_to_a_dark_machine_get_silence_and_work_after_its_start() {
    let mut story = Story::new();
    let node = story.echo("node");
    story.essential("client", move |host, log| async move {
        host.sleep(ms(100)).await;
        log.say(host.connect(node, PORT).await.is_ok()); // asks at 100, 1100, 3100 ms
    });
    story.during(10, 2000, Fault::LosePower { host: node, torn_tail: false });
    story.tells(&["3102ms true"]);
}

#[test]
fn a_start_after_power_loss_starts_monotonic_and_boot_at_zero_and_keeps_wall() {
    let mut story = Story::new();
    let host = story.essential("node", |host, log| async move {
        let now = host.clocks();
        log.say(format!("{} {} {}", now.wall.0, now.monotonic.0, now.boot.0));
        host.sleep(ms(100)).await;
    });
    story.during(50, 300, Fault::LosePower { host, torn_tail: false });
    story.tells(&["0ms 0 0 0", "300ms 300000000 0 0"]);
}

#[test]
fn a_crash_of_a_dark_machine_changes_nothing() {
    let mut story = Story::new();
    let node = story.echo("node");
    story.essential("client", move |host, log| async move {
        host.sleep(ms(100)).await;
        let late = host.clocks().monotonic.after(ms(500));
        log.say(host.race(host.connect(node, PORT), late).await.is_err());
    });
    story.at(10, Fault::LosePower { host: node, torn_tail: false });
    story.at(20, Fault::Crash { host: node });
    story.tells(&["600ms true"]); // silence, not a refusal
}

#[test]
fn a_suspended_host_that_loses_power_starts_awake() {
    let mut story = Story::new();
    let host = story.essential("laptop", |host, log| async move {
        host.sleep(ms(100)).await;
        log.say(WallTime::default() == host.clocks().wall);
    });
    story.during(10, 1000, Fault::Suspend { host });
    story.during(20, 200, Fault::LosePower { host, torn_tail: false });
    story.tells(&["300ms false"]);
}

#[test]
fn a_machine_that_lost_power_repeats_nothing_of_its_former_connections() {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.host("client", move |host, _| async move {
        if host.clocks().wall.0 > 0 {
            return; // the second process
        }
        let mut stream = connect(&host, server).await;
        host.sleep(ms(20)).await;
        send(&mut stream, "held").await;
        drop(stream); // properly closed: the machine would go on delivering for a process that crashed
        std::future::pending().await
    });
    story.essential("clock", |host, _| async move { host.sleep(Duration::from_secs(60)).await });
    story.during(10, 100, Fault::Cut { from: client, to: server });
    story.during(50, 60, Fault::LosePower { host: client, torn_tail: false });
    story.tells(&[]);
}
