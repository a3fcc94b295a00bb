//! When faults strike, what is reported of them, and how they are taken back.

use std::time::Duration;

use doublehold_sim::{
    Budget, Event, Fault, HostId, Occurrence, Outcome, Pattern, PlannedFault, Probability, RatePpb, Seed,
    SimTime, Struck, Trigger, World,
};

use crate::story::{PORT, Story, connect, link, ms, send};

fn at_ms(milliseconds: u64) -> SimTime {
    SimTime::ZERO.after(ms(milliseconds))
}

fn mark(host: HostId, label: &str) -> Pattern {
    Pattern::Mark { host: Some(host), label: label.into(), about: None }
}

fn nth(nth: u32, pattern: Pattern) -> Occurrence {
    Occurrence { pattern, nth }
}

/// A world in which a host marks `tick` every 10 ms and `tock` 5 ms after each, and when a fault that waits for these
/// occurrences strikes in it.
fn strikes(occurrences: impl Fn(HostId) -> Vec<Occurrence>, offset: Duration) -> Option<u64> {
    let strikes = all_strikes(occurrences, offset, false);
    assert!(strikes.len() <= 1, "it strikes once: {strikes:?}");
    strikes.first().copied()
}

fn all_strikes(occurrences: impl Fn(HostId) -> Vec<Occurrence>, offset: Duration, each: bool) -> Vec<u64> {
    let mut story = Story::new();
    let host = story.essential("clock", |host, _| async move {
        for _ in 0..10 {
            host.sleep(ms(5)).await;
            host.mark("tock", None).await;
            host.sleep(ms(5)).await;
            host.mark("tick", None).await;
        }
    });
    let trigger = Trigger::On { occurrences: occurrences(host), offset, each };
    story.plan(trigger, vec![Fault::Signal { host, signal: "now".into() }], None);
    story.run().faults[0].iter().map(|struck| struck.from.0 / 1_000_000).collect()
}

#[test]
fn a_fault_waits_for_the_nth_event_that_fits() {
    for n in 1..=10 {
        assert_eq!(strikes(|host| vec![nth(n, mark(host, "tick"))], Duration::ZERO), Some(u64::from(n) * 10));
    }
    assert_eq!(strikes(|host| vec![nth(11, mark(host, "tick"))], Duration::ZERO), None);
}

#[test]
fn each_link_of_a_chain_counts_from_the_one_before_it() {
    let chain =
        |host| vec![nth(2, mark(host, "tick")), nth(2, mark(host, "tock")), nth(1, mark(host, "tick"))];
    assert_eq!(strikes(chain, Duration::ZERO), Some(40)); // ticks at 20 ms, tocks at 25 and 35, tick at 40
}

#[test]
fn a_fault_that_strikes_each_time_waits_for_the_whole_chain_again() {
    let every = |n, pattern: fn(HostId) -> Pattern, offset| {
        all_strikes(|host| vec![nth(n, pattern(host))], ms(offset), true)
    };
    let tick = |host| mark(host, "tick");
    assert_eq!(every(1, tick, 0), [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    assert_eq!(every(3, tick, 0), [30, 60, 90]);
    // Strikes that are still to come do not hide the events meanwhile.
    assert_eq!(every(2, tick, 33), [53, 73, 93]);
    // The event that ends a chain does not begin the next.
    let chain = |host| vec![nth(1, mark(host, "tick")), nth(1, mark(host, "tick"))];
    assert_eq!(all_strikes(chain, Duration::ZERO, true), [20, 40, 60, 80, 100]);
    assert_eq!(all_strikes(|host| vec![nth(11, mark(host, "tick"))], Duration::ZERO, true), []);
}

/// A host that marks `tick` every 10 ms, ten times, and lives for 100 ms more; and the trigger of every tick.
fn ticking(story: &mut Story) -> (HostId, Trigger) {
    let host = story.essential("clock", |host, _| async move {
        for _ in 0..10 {
            host.sleep(ms(10)).await;
            host.mark("tick", None).await;
        }
        host.sleep(ms(100)).await;
    });
    let occurrences = vec![nth(1, mark(host, "tick"))];
    (host, Trigger::On { occurrences, offset: Duration::ZERO, each: true })
}

#[test]
fn strikes_of_one_fault_that_overlap_count_and_each_is_taken_back_in_its_turn() {
    let mut story = Story::new();
    let other = story.listener("other");
    let (host, each) = ticking(&mut story);
    story.plan(each, vec![Fault::Cut { from: host, to: other }], Some(ms(25)));
    let run = story.run();
    let expected: Vec<Struck> =
        (1..=10).map(|n| Struck { from: at_ms(10 * n), until: Some(at_ms(10 * n + 25)) }).collect();
    assert_eq!(run.faults, [expected]);
    let heals = story.world.take_trace().into_iter().filter_map(|record| match record.event {
        Event::Fault { fault: Fault::Heal { .. } } => Some(record.at),
        _ => None,
    });
    assert_eq!(heals.collect::<Vec<_>>(), (1..=10).map(|n| at_ms(10 * n + 25)).collect::<Vec<_>>());
}

#[test]
fn a_process_that_dies_each_time_it_starts_is_never_down_for_good() {
    let mut story = Story::new();
    let host = story.essential("phoenix", |host, log| async move {
        log.say(host.restarts());
        if host.restarts() < 4 {
            std::future::pending().await
        }
    });
    let occurrences = vec![nth(1, Pattern::Booted { host })];
    let trigger = Trigger::On { occurrences, offset: ms(10), each: true };
    story.plan(trigger, vec![Fault::Crash { host }], Some(ms(5)));
    story.tells(&["0ms 0", "15ms 1", "30ms 2", "45ms 3", "60ms 4"]);
}

#[test]
fn a_fault_that_causes_its_own_event_meets_the_budget_and_hangs_nobody() {
    let mut story = Story::new();
    let host = story.essential("phoenix", |_, _| std::future::pending());
    let occurrences = vec![nth(1, Pattern::Booted { host })];
    let trigger = Trigger::On { occurrences, offset: Duration::ZERO, each: true };
    story.plan(trigger, vec![Fault::Crash { host }], Some(Duration::ZERO));
    let run = story.world.run(Budget { events: 1_000, ..Budget::default() });
    assert_eq!((run.outcome, run.ended), (Outcome::EventBudget, SimTime::ZERO));
}

#[test]
fn of_delays_that_strike_each_time_those_that_still_wait_have_struck_nothing() {
    let mut story = Story::new();
    let other = story.listener("other");
    let (host, each) = ticking(&mut story);
    story.plan(each, vec![Fault::DelayNext { from: host, to: other, by_ns: 7 }], None);
    assert_eq!(story.run().faults, [vec![]], "nobody sends anything");
}

#[test]
fn an_offset_counts_from_the_last_event() {
    assert_eq!(strikes(|host| vec![nth(3, mark(host, "tick"))], ms(7)), Some(37));
}

#[test]
fn patterns_tell_hosts_and_subjects_apart() {
    let event =
        |host, about| Event::Mark { host: HostId(host), label: "SET".into(), about: Some(HostId(about)) };
    let pattern = |host: Option<u32>, about: Option<u32>| Pattern::Mark {
        host: host.map(HostId),
        label: "SET".into(),
        about: about.map(HostId),
    };
    for (wanted, fits) in [
        (pattern(None, None), true),
        (pattern(Some(1), None), true),
        (pattern(Some(2), None), false),
        (pattern(None, Some(5)), true),
        (pattern(None, Some(6)), false),
        (pattern(Some(1), Some(5)), true),
        (Pattern::Booted { host: HostId(1) }, false),
    ] {
        assert_eq!(wanted.matches(&event(1, 5)), fits, "{wanted:?}");
    }
    let other = Event::Mark { host: HostId(1), label: "GET".into(), about: None };
    assert!(!pattern(None, None).matches(&other));
    assert!(!pattern(None, Some(5)).matches(&Event::Mark {
        host: HostId(1),
        label: "SET".into(),
        about: None
    }));
}

#[test]
fn every_kind_of_event_can_bring_a_fault_down() {
    let mut story = Story::new();
    let server = story.echo("server");
    let client = story.essential("client", move |host, _| async move {
        let mut stream = connect(&host, server).await; // until 2 ms
        let _ = host.wall().await;
        send(&mut stream, "x").await; // delivered at 3 ms, and back at 4 ms
        host.sleep(ms(10)).await;
        assert!(host.connect(server, PORT + 1).await.is_err()); // asked at 12 ms, ended at 14 ms
    });
    let patterns = [
        (Pattern::Booted { host: client }, 0),
        (Pattern::ClockRead { host: client }, 2),
        (Pattern::Sent { host: client, to: Some(server) }, 2),
        (Pattern::Delivered { host: server, from: Some(client) }, 3),
        (Pattern::Delivered { host: client, from: None }, 4),
        (Pattern::TimerFired { host: client }, 12),
        (Pattern::Ended { host: client }, 14),
    ];
    for (pattern, _) in &patterns {
        story.on(pattern.clone(), 1, Fault::Signal { host: client, signal: "x".into() }, None);
    }
    let run = story.run();
    for ((pattern, at), struck) in patterns.iter().zip(run.faults) {
        assert_eq!(struck, [Struck { from: at_ms(*at), until: None }], "{pattern:?}");
    }
}

#[test]
fn a_fault_without_offset_strikes_before_the_code_takes_another_step() {
    let mut story = Story::new();
    let host = story.essential("node", |host, log| async move {
        host.sleep(ms(10)).await;
        if host.clocks().wall.0 > 15_000_000 {
            return;
        }
        host.mark("granted", None).await;
        log.say("after the mark");
    });
    story.on(mark(host, "granted"), 1, Fault::Crash { host }, Some(ms(10)));
    story.tells(&[]);
}

#[test]
fn struck_reports_from_and_until_and_nothing_for_what_never_struck() {
    let mut story = Story::new();
    let host = story.essential("node", |host, _| async move { host.sleep(ms(100)).await });
    story.during(10, 30, Fault::Pause { host });
    story.at(20, Fault::StepClock { host, by_ns: 5 });
    story.during(90, 500, Fault::StepClock { host, by_ns: 5 });
    story.at(500, Fault::StepClock { host, by_ns: 5 });
    story.on(mark(host, "never"), 1, Fault::Pause { host }, None);
    let struck = |from, until: Option<u64>| vec![Struck { from: at_ms(from), until: until.map(at_ms) }];
    let none = vec![];
    assert_eq!(
        story.run().faults,
        [struck(10, Some(30)), struck(20, None), struck(90, None), none.clone(), none]
    );
}

#[test]
fn the_faults_of_one_plan_strike_in_order_and_are_taken_back_last_first() {
    let mut story = Story::new();
    let (a, b) = (story.listener("a"), story.listener("b"));
    story.essential("clock", |host, _| async move { host.sleep(ms(100)).await });
    let cut = Fault::Cut { from: a, to: b };
    let slow = Fault::Slow { from: a, to: b, by_ns: 1 };
    story.plan(Trigger::At(at_ms(10)), vec![cut.clone(), slow.clone()], Some(ms(5)));
    story.run();
    let applied: Vec<(u64, Fault)> = story
        .world
        .take_trace()
        .into_iter()
        .filter_map(|record| match record.event {
            Event::Fault { fault } => Some((record.at.0 / 1_000_000, fault)),
            _ => None,
        })
        .collect();
    let undone = |fault: &Fault| (15, fault.undo().expect("it can be undone"));
    let expected = [(10, cut.clone()), (10, slow.clone()), undone(&slow), undone(&cut)];
    assert_eq!(applied, expected);
}

#[test]
fn taking_back_every_fault_leaves_clocks_and_links_as_they_were() {
    let mut story = Story::with_links(link(3));
    let server = story.echo("server");
    let client = story.essential("client", move |host, log| async move {
        host.sleep(ms(100)).await;
        log.say(host.clocks().wall.0);
        drop(connect(&host, server).await);
        log.say("connected");
    });
    let (from, to) = (client, server);
    let probability = Probability::new(1, 2).expect("below one");
    for fault in [
        Fault::StepClock { host: client, by_ns: 77 },
        Fault::ChangeRate { host: server, by: RatePpb(5) },
        Fault::Cut { from, to },
        Fault::Slow { from, to, by_ns: 9 },
        Fault::Lose { from, to, probability },
        Fault::Freeze { host: server, clock: doublehold_sim::ClockKind::Wall },
        Fault::Pause { host: server },
    ] {
        story.during(10, 50, fault);
    }
    story.tells(&["100ms 100000000", "106ms connected"]);
}

#[test]
fn a_host_that_will_be_started_again_is_not_done_and_one_that_is_down_for_good_is() {
    // How the crash ends, and when the run does.
    let run = |plan: fn(&mut Story, HostId)| {
        let mut story = Story::new();
        let host = story.essential("node", |host, _| async move { host.sleep(ms(100)).await });
        plan(&mut story, host);
        let run = story.world.run(Default::default());
        (run.outcome, run.ended.0 / 1_000_000)
    };
    let for_good = |story: &mut Story, host| story.at(50, Fault::Crash { host });
    let lasting = |story: &mut Story, host| story.during(50, 80, Fault::Crash { host });
    let started: fn(&mut Story, HostId) = |story, host| {
        story.at(50, Fault::LosePower { host, torn_tail: false });
        story.at(80, Fault::Start { host });
    };
    let never_started: fn(&mut Story, HostId) = |story, host| {
        story.at(50, Fault::Crash { host });
        story.on(mark(host, "never"), 1, Fault::Start { host }, None);
    };
    assert_eq!(run(for_good), (Outcome::Completed, 50));
    assert_eq!(run(lasting), (Outcome::Completed, 180));
    assert_eq!(run(started), (Outcome::Completed, 180));
    assert_eq!(run(never_started), (Outcome::Stalled, 50)); // the plan did not happen: no pass
}

/// A death that is taken back does not end another: a random crash must not heal an explicit one.
#[test]
fn a_host_starts_again_when_the_last_of_its_deaths_is_over() {
    let boots = |plan: fn(&mut Story, HostId)| {
        let mut story = Story::new();
        let host = story.host("node", |_, log| async move { log.say("boots") });
        story.essential("clock", |host, _| async move { host.sleep(ms(500)).await });
        plan(&mut story, host);
        story.run();
        story.said()
    };
    let crash = |host| Fault::Crash { host };
    let off = |host| Fault::LosePower { host, torn_tail: false };
    let nested: fn(&mut Story, HostId) = |story, host| {
        story.during(10, 100, Fault::Crash { host });
        story.during(20, 50, Fault::LosePower { host, torn_tail: false });
    };
    assert_eq!(boots(nested), ["0ms boots", "100ms boots"]);
    let overlapping: fn(&mut Story, HostId) = |story, host| {
        story.during(10, 60, Fault::LosePower { host, torn_tail: false });
        story.during(20, 90, Fault::Crash { host });
    };
    assert_eq!(boots(overlapping), ["0ms boots", "90ms boots"]);
    for first in [crash, off] {
        let mut story = Story::new();
        let host = story.host("node", |_, log| async move { log.say("boots") });
        story.essential("clock", |host, _| async move { host.sleep(ms(500)).await });
        story.at(10, first(host));
        story.during(20, 50, Fault::Crash { host });
        story.run();
        assert_eq!(story.said(), ["0ms boots"], "an explicit death is for good");
    }
}

/// The run does not wait for a host that was to be started again and then died for good.
#[test]
fn a_host_that_dies_for_good_while_it_is_down_is_not_waited_for() {
    let mut story = Story::new();
    let host = story.essential("node", |host, _| async move { host.sleep(ms(100)).await });
    story.during(10, 80, Fault::Crash { host });
    story.at(20, Fault::Crash { host });
    let run = story.world.run(Default::default());
    assert_eq!((run.outcome, run.ended.0 / 1_000_000), (Outcome::Completed, 20));
}

#[test]
fn a_start_and_a_crash_at_one_instant_boot_nothing_and_two_starts_boot_once() {
    let mut story = Story::new();
    let host = story.host("node", |_, log| async move { log.say("boots") });
    story.essential("clock", |host, _| async move { host.sleep(ms(100)).await });
    story.at(10, Fault::Crash { host });
    story.plan(Trigger::At(at_ms(20)), vec![Fault::Start { host }, Fault::Crash { host }], None);
    story.plan(
        Trigger::At(at_ms(30)),
        vec![Fault::Start { host }, Fault::Crash { host }, Fault::Start { host }, Fault::Start { host }],
        None,
    );
    story.tells(&["0ms boots", "30ms boots"]);
}

#[test]
fn a_host_that_dies_at_the_boot_of_another_is_not_booted() {
    let mut story = Story::new();
    let first = story.host("first", |_, log| async move { log.say("first") });
    let second = story.host("second", |_, log| async move { log.say("second") });
    story.on(Pattern::Booted { host: first }, 1, Fault::Crash { host: second }, None);
    story.essential("clock", |host, _| async move { host.sleep(ms(100)).await });
    story.tells(&["0ms first"]);
}

#[test]
fn a_signal_reaches_the_process_also_after_a_pause_and_waits_for_the_next_one() {
    let mut story = Story::new();
    let host = story.host("node", |host, log| async move {
        loop {
            log.say(host.signal().await);
        }
    });
    story.essential("clock", |host, _| async move { host.sleep(ms(100)).await });
    let signal = |signal: &str| Fault::Signal { host, signal: signal.into() };
    story.at(10, signal("one"));
    story.during(15, 30, Fault::Pause { host });
    story.at(20, signal("two"));
    story.at(21, signal("three"));
    story.during(40, 60, Fault::Crash { host });
    story.at(50, signal("kept"));
    story.at(70, signal("four"));
    story.tells(&["10ms one", "30ms two", "30ms three", "60ms kept", "70ms four"]);
}

#[test]
#[should_panic(expected = "no fault can strike host 0")]
fn the_observer_is_beyond_all_faults() {
    let mut world = World::new(Seed(1), link(1));
    let faults = vec![Fault::Pause { host: HostId(0) }];
    world.plan(PlannedFault { trigger: Trigger::At(at_ms(1)), faults, lasting: None });
}

#[test]
#[should_panic(expected = "no fault can strike host 7")]
fn a_fault_on_a_host_that_does_not_exist_is_refused() {
    let mut world = World::new(Seed(1), link(1));
    let faults = vec![Fault::Cut { from: HostId(7), to: HostId(0) }];
    world.plan(PlannedFault { trigger: Trigger::At(at_ms(1)), faults, lasting: None });
}
