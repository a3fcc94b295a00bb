//! Same plan, same program: same hash. Alone, after a hundred other runs, on another thread, in another process, traced
//! or not, in debug and in release.
//!
//! The golden values at the end are checked in whatever profile the tests are built: run them with
//! `cargo test -p doublehold-sim` and with `cargo test -p doublehold-sim --release` to compare the two.

use std::io::Write as _;
use std::time::Duration;

use doublehold_sim::{
    Budget, ClockKind, DelayLaw, Event, Fault, Host, HostId, HostSpec, LinkSpec, Occurrence, Pattern,
    PlannedFault, Probability, RatePpb, Record, Run, Seed, SimTime, Trigger, World,
};
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::story::{PORT, always, ms};

/// A world with a bit of everything: jitter, losses, random bytes, races, a crash, a cut, drift, fsyncs.
fn busy(seed: u64, traced: bool) -> (Run, Vec<Record>) {
    let fault = |at, fault, lasting| PlannedFault {
        trigger: Trigger::At(SimTime::ZERO.after(ms(at))),
        faults: vec![fault],
        lasting: Some(ms(lasting)),
    };
    let (server, client) = (HostId(1), HostId(2));
    let plan = vec![
        fault(60, Fault::Crash { host: server }, 40),
        fault(120, Fault::Cut { from: client, to: server }, 100),
        fault(90, Fault::ChangeRate { host: client, by: RatePpb(50_000_000) }, 200),
    ];
    busy_with(seed, traced, plan)
}

/// Three clients (hosts 2 to 4) that talk to a server (host 1) under these faults.
fn busy_with(seed: u64, traced: bool, plan: Vec<PlannedFault>) -> (Run, Vec<Record>) {
    let links = LinkSpec {
        delay: DelayLaw::LogNormal { median: ms(2), sigma_milli: 500 },
        loss: Probability::new(1, 20).expect("below one"),
    };
    let mut world = if traced { World::traced(Seed(seed), links) } else { World::new(Seed(seed), links) };
    let server = world.add_host(HostSpec::new("server"), |host| async move {
        let mut incoming = host.listen(PORT);
        loop {
            let mut stream = incoming.accept().await;
            let host = host.clone();
            host.clone().spawn(async move {
                let mut bytes = [0; 16];
                while stream.read_exact(&mut bytes).await.is_ok() {
                    host.append("log", &bytes);
                    host.fsync("log").await;
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    for name in ["c1", "c2", "c3"] {
        world.add_host(HostSpec::new(name).essential(), move |host| async move {
            for _ in 0..10 {
                let deadline = host.monotonic().await.after(ms(300));
                let _ = host.race(exchange(&host, server), deadline).await;
                let wait = host.draw(&DelayLaw::Uniform { min: ms(1), max: ms(20) });
                host.sleep(wait).await;
            }
        });
    }
    plan.into_iter().for_each(|fault| world.plan(fault));
    let run = world.run(Budget { events: 20_000, ..Budget::default() });
    (run, world.take_trace())
}

async fn exchange(host: &Host, server: HostId) {
    let Ok(mut stream) = host.connect(server, PORT).await else { return };
    let mut bytes = [0; 16];
    host.random(&mut bytes);
    host.mark("exchange", Some(server)).await;
    if stream.write_all(&bytes).await.is_ok() {
        let _ = stream.read_exact(&mut bytes).await;
    }
}

/// Runs a world several times, here and on another thread. Fails when the hashes differ.
///
/// # Panics
/// With the two runs, if two of them differ.
fn assert_deterministic(world: fn() -> Run) {
    let first = world();
    for _ in 0..20 {
        assert_eq!(world(), first, "two runs of one plan in one process differ");
    }
    assert_eq!(on_another_thread(world), first, "the run depends on its thread");
}

#[expect(clippy::disallowed_methods, reason = "the claim is about threads")]
fn on_another_thread(world: fn() -> Run) -> Run {
    std::thread::spawn(world).join().expect("the world does not panic")
}

#[test]
fn a_run_is_the_same_again_and_on_another_thread() {
    assert_deterministic(|| busy(7, false).0);
}

#[test]
fn a_run_is_the_same_after_a_hundred_others() {
    let alone = busy(7, false).0;
    (1000..1100).for_each(|seed| drop(busy(seed, false)));
    assert_eq!(busy(7, false).0, alone);
}

#[test]
fn keeping_the_trace_changes_nothing() {
    let (traced, trace) = busy(7, true);
    let (untraced, no_trace) = busy(7, false);
    assert_eq!(traced, untraced);
    assert_eq!(trace.len() as u64, traced.events);
    assert!(no_trace.is_empty());
}

#[test]
fn another_seed_is_another_run() {
    let hashes: std::collections::BTreeSet<_> = (0..200).map(|seed| busy(seed, false).0.hash).collect();
    assert_eq!(hashes.len(), 200);
}

#[test]
fn other_bytes_other_marks_and_other_faults_are_other_runs() {
    let run = |word: &'static str, label: &'static str, by_ns| {
        let mut world = World::new(Seed(1), crate::story::link(1));
        let host = world.add_host(HostSpec::new("host").essential(), move |host| async move {
            let mut incoming = host.listen(PORT);
            let mut stream = host.connect(host.id(), PORT).await.expect("it listens to itself");
            let mut other = incoming.accept().await;
            stream.write_all(word.as_bytes()).await.expect("not broken");
            other.read_u8().await.expect("not broken");
            host.mark(label, None).await;
        });
        let trigger = Trigger::At(SimTime::ZERO);
        world.plan(PlannedFault { trigger, faults: vec![Fault::StepClock { host, by_ns }], lasting: None });
        world.run(Budget::default()).hash
    };
    let hashes = [run("a", "x", 1), run("b", "x", 1), run("a", "y", 1), run("a", "x", 2)];
    assert_eq!(std::collections::BTreeSet::from(hashes).len(), 4);
    assert_eq!(run("a", "x", 1), hashes[0]);
}

fn any_host() -> impl Strategy<Value = HostId> {
    (1u32..5).prop_map(HostId)
}

fn any_fault() -> impl Strategy<Value = Fault> {
    let of_host =
        (0..11, any_host(), -3_000_000_000i64..3_000_000_000).prop_map(|(kind, host, by_ns)| match kind {
            0 => Fault::StepClock { host, by_ns },
            1 => Fault::ChangeRate { host, by: RatePpb(by_ns / 2) },
            2 => Fault::Freeze { host, clock: ClockKind::Monotonic },
            3 => Fault::Pause { host },
            4 => Fault::Suspend { host },
            5 => Fault::Crash { host },
            6 => Fault::LosePower { host, torn_tail: by_ns > 0 },
            7 => Fault::Start { host },
            8 => Fault::SnapshotDisk { host },
            9 => Fault::RollBackDisk { host },
            _ => Fault::Wake { host },
        });
    let of_link =
        (0..6, any_host(), any_host(), 0u64..500_000_000).prop_map(|(kind, from, to, by_ns)| match kind {
            0 => Fault::Cut { from, to },
            1 => Fault::Slow { from, to, by_ns },
            2 => Fault::DelayNext { from, to, by_ns },
            3 => Fault::ResetConnections { from, to },
            4 => Fault::CopyNext { from, to, after_ns: by_ns },
            _ => Fault::Lose {
                from,
                to,
                probability: Probability::new(by_ns as u32 % 5, 4).unwrap_or(always()),
            },
        });
    prop_oneof![of_host, of_link]
}

fn any_trigger() -> impl Strategy<Value = Trigger> {
    let pattern = (0..7, any_host()).prop_map(|(kind, host)| match kind {
        0 => Pattern::Mark { host: Some(host), label: "exchange".into(), about: None },
        1 => Pattern::ClockRead { host },
        2 => Pattern::Sent { host, to: None },
        3 => Pattern::Delivered { host, from: None },
        4 => Pattern::Ended { host },
        5 => Pattern::TimerFired { host },
        _ => Pattern::Booted { host },
    });
    let offset = prop_oneof![3 => Just(0u64), 1 => 1u64..50];
    let at_event = (pattern, 1u32..8, offset, any::<bool>()).prop_map(|(pattern, nth, offset, each)| {
        Trigger::On { occurrences: vec![Occurrence { pattern, nth }], offset: ms(offset), each }
    });
    prop_oneof![(0u64..400).prop_map(|at| Trigger::At(SimTime::ZERO.after(ms(at)))), at_event]
}

fn any_planned_fault() -> impl Strategy<Value = PlannedFault> {
    let lasting = prop::option::weighted(0.8, (0u64..600).prop_map(ms));
    (any_trigger(), prop::collection::vec(any_fault(), 1..3), lasting)
        .prop_map(|(trigger, faults, lasting)| PlannedFault { trigger, faults, lasting })
}

proptest! {
    /// No plan makes the kernel panic, every plan repeats, and no event of its trace breaks a promise: whatever strikes
    /// whom, when, and on top of what.
    #[test]
    fn every_plan_of_faults_repeats_and_keeps_the_promises(
        seed: u64,
        plan in prop::collection::vec(any_planned_fault(), 0..12),
    ) {
        let (run, trace) = busy_with(seed, true, plan.clone());
        prop_assert_eq!(&busy_with(seed, false, plan).0, &run);
        prop_assert!(trace.is_sorted_by_key(|record| record.at));
        let mut stops = Stops::default();
        for record in &trace {
            prop_assert!(stops.allow(&record.event), "{} although {stops:?}", line(record));
        }
    }
}

/// What the faults of a trace have done so far, counted as plainly as can be.
#[derive(Debug, Default)]
struct Stops {
    pauses: [u32; 5],
    suspensions: [u32; 5],
    down: [bool; 5],
    off: [bool; 5],
    cuts: [[u32; 5]; 5],
    /// Somebody else may send for a host's process.
    copies: bool,
}

impl Stops {
    /// Whether this event may happen now. A stopped host's code takes no step; nothing reaches a machine that is off
    /// or suspended, nor crosses a cut.
    fn allow(&mut self, event: &Event) -> bool {
        let acts = |host: HostId| {
            let at = host.0 as usize;
            !self.down[at] && self.pauses[at] == 0 && self.suspensions[at] == 0
        };
        let answers = |host: HostId| !self.off[host.0 as usize] && self.suspensions[host.0 as usize] == 0;
        match event {
            Event::ClockRead { host, .. } | Event::Mark { host, .. } | Event::TimerFired { host } => {
                acts(*host)
            }
            Event::Sent { from, .. } => acts(*from) || self.copies && answers(*from),
            Event::Connecting { from, .. } => acts(*from) || self.copies,
            Event::Accepted { host, .. } => answers(*host) && !self.down[host.0 as usize],
            Event::Delivered { from, to, .. } => {
                answers(*to) && self.cuts[from.0 as usize][to.0 as usize] == 0
            }
            Event::Booted { host } => !self.down[host.0 as usize],
            Event::Synced { host, .. } => !self.off[host.0 as usize],
            Event::Fault { fault } => {
                self.strike(fault);
                true
            }
            Event::Ran { .. } | Event::Held { .. } | Event::Ended { .. } => true,
        }
    }

    fn strike(&mut self, fault: &Fault) {
        let at = |host: HostId| host.0 as usize;
        match *fault {
            Fault::Pause { host } => self.pauses[at(host)] += 1,
            Fault::Resume { host } => self.pauses[at(host)] = self.pauses[at(host)].saturating_sub(1),
            Fault::Suspend { host } => self.suspensions[at(host)] += 1,
            Fault::Wake { host } => self.suspensions[at(host)] = self.suspensions[at(host)].saturating_sub(1),
            Fault::Crash { host } if self.down[at(host)] => {}
            Fault::Crash { host } => (self.down[at(host)], self.pauses[at(host)]) = (true, 0),
            Fault::LosePower { host, .. } => {
                (self.down[at(host)], self.off[at(host)]) = (true, true);
                (self.pauses[at(host)], self.suspensions[at(host)]) = (0, 0);
            }
            Fault::Start { host } => (self.down[at(host)], self.off[at(host)]) = (false, false),
            Fault::CopyNext { .. } => self.copies = true,
            Fault::Cut { from, to } => self.cuts[at(from)][at(to)] += 1,
            Fault::Heal { from, to } => {
                self.cuts[at(from)][at(to)] = self.cuts[at(from)][at(to)].saturating_sub(1);
            }
            _ => {}
        }
    }
}

/// A world whose host iterates over a hash map, whose order the operating system's randomness decides.
#[expect(clippy::disallowed_types, reason = "planted: the order of this map is what must be caught")]
fn with_a_planted_hash_map() -> Run {
    let mut world = World::new(Seed(1), crate::story::link(1));
    world.add_host(HostSpec::new("host").essential(), |host| async move {
        let map: std::collections::HashMap<u32, u32> = (0..32).map(|n| (n, n)).collect();
        for key in map.keys() {
            host.mark(format!("visits {key}"), None).await;
        }
    });
    world.run(Budget::default())
}

#[test]
#[should_panic(expected = "two runs of one plan in one process differ")]
fn iteration_over_a_hash_map_is_caught() {
    assert_deterministic(with_a_planted_hash_map);
}

const ASKED_FOR_A_HASH: &str = "DOUBLEHOLD_TEST_PRINT_HASH";

#[test]
fn a_run_is_the_same_in_another_process() {
    let hash = busy(7, false).0.hash;
    if std::env::var_os(ASKED_FOR_A_HASH).is_some() {
        return writeln!(std::io::stderr(), "{hash}").expect("the process that asked listens");
    }
    let myself = std::env::current_exe().expect("the tests are a program");
    let asked = std::process::Command::new(myself)
        .args(["--exact", "determinism::a_run_is_the_same_in_another_process", "--nocapture"])
        .env(ASKED_FOR_A_HASH, "1")
        .output()
        .expect("a program can be run twice");
    let answer = String::from_utf8_lossy(&asked.stderr);
    assert!(answer.contains(&hash.to_string()), "{hash} here, and there: {answer}");
}

/// A world small enough to read: an echo, a pause at a mark, a clock read.
fn pinned() -> (Run, Vec<String>) {
    let links = LinkSpec::lossless(DelayLaw::Uniform { min: ms(1), max: ms(3) });
    let mut world = World::traced(Seed(2024), links);
    let server = world.add_host(HostSpec::new("server"), |host| async move {
        let mut stream = host.listen(PORT).accept().await;
        let byte = stream.read_u8().await.expect("the client sends one");
        stream.write_u8(byte).await.expect("not broken");
        std::future::pending().await
    });
    let client = world.add_host(HostSpec::new("client").essential(), move |host| async move {
        let mut stream = host.connect(server, PORT).await.expect("the server listens");
        host.mark("connected", Some(server)).await;
        stream.write_u8(7).await.expect("not broken");
        stream.read_u8().await.expect("the echo");
        host.wall().await;
    });
    let pattern = Pattern::Mark { host: Some(client), label: "connected".into(), about: None };
    world.plan(PlannedFault {
        trigger: Trigger::On {
            occurrences: vec![Occurrence { pattern, nth: 1 }],
            offset: Duration::ZERO,
            each: false,
        },
        faults: vec![Fault::Pause { host: client }],
        lasting: Some(Duration::from_secs(1)),
    });
    let run = world.run(Budget::default());
    let trace = world.take_trace().iter().map(line).collect();
    (run, trace)
}

fn line(record: &Record) -> String {
    let what = match &record.event {
        Event::Booted { host } => format!("h{} boots", host.0),
        Event::Ran { host } => format!("h{} runs", host.0),
        Event::ClockRead { host, clock, reading } => format!("h{} reads {}: {reading}", host.0, clock.name()),
        Event::TimerFired { host } => format!("h{} timer", host.0),
        Event::Connecting { connection, from, to } => {
            format!("h{} asks h{} for #{}", from.0, to.0, connection.0)
        }
        Event::Accepted { connection, host } => format!("h{} takes #{}", host.0, connection.0),
        Event::Sent { connection, bytes, digest, .. } => {
            format!("#{} sent {bytes} ({digest:016x})", connection.0)
        }
        Event::Delivered { connection, to, bytes, .. } => {
            format!("#{} brings h{} {bytes}", connection.0, to.0)
        }
        Event::Mark { host, label, .. } => format!("h{} marks {label}", host.0),
        Event::Fault { fault: Fault::Pause { host } } => format!("h{} pauses", host.0),
        Event::Fault { fault: Fault::Resume { host } } => format!("h{} resumes", host.0),
        other => format!("{other:?}"),
    };
    format!("{} {what}", record.at)
}

#[test]
fn the_pinned_world_has_its_golden_trace_and_hash() {
    // A change of either is a change of what every seed means: say so in the commit that changes it.
    let (run, trace) = pinned();
    assert_eq!(trace, GOLDEN_TRACE);
    assert_eq!(run.hash.to_string(), "74432b5575bf3bd0");
}

const GOLDEN_TRACE: &[&str] = &[
    "0.000000000 h1 boots",
    "0.000000000 h2 boots",
    "0.000000000 h2 runs",
    "0.000000000 h2 asks h1 for #1",
    "0.000000000 h1 runs",
    "0.002505557 h1 takes #1",
    "0.002505557 h1 runs",
    "0.004986026 h2 runs",
    "0.004986026 h2 marks connected",
    "0.004986026 h2 pauses",
    "1.004986026 h2 resumes",
    "1.004986026 h2 runs",
    "1.004986026 #1 sent 1 (dda37c3c99342934)",
    "1.007088640 #1 brings h1 1",
    "1.007088640 h1 runs",
    "1.007088640 #1 sent 1 (dda37c3c99342934)",
    "1.008483430 #1 brings h2 1",
    "1.008483430 h2 runs",
    "1.008483430 h2 reads wall: 1008483430",
];
