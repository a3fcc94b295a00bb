//! Messages and clocks of runs: what they say is what the trace, the history and the nodes say, in the whole catalogue.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use doublehold_history::{EventKind, Reading, TrueNs};
use doublehold_scenarios::detail::{ClockLine, Detail, Message, PhraseKind};
use doublehold_scenarios::fault::{Effect, Fault};
use doublehold_scenarios::report::Report;
use doublehold_scenarios::scenario::{HostIndex, Role};
use doublehold_scenarios::{Detailed, Engine, Prepared, Scenario, Seed, SimEngine, catalog};

/// Every scenario of the catalogue with its variants, run from its own seed.
static CATALOGUE: LazyLock<Vec<(Report, Detail)>> = LazyLock::new(|| {
    let entries = catalog::entries().expect("the catalogue can be read");
    let scenarios = entries.iter().map(|entry| catalog::load(&entry.name, &[]).expect("it was listed"));
    scenarios.map(|scenario| run_in_detail(&scenario, scenario.own_seed())).collect()
});

fn catalogue(mut see: impl FnMut(&Report, &Detail)) {
    CATALOGUE.iter().for_each(|(report, detail)| see(report, detail));
}

fn run(name: &str, seed: u64) -> (Report, Detail) {
    run_in_detail(&catalog::load(name, &[]).expect("a scenario of the catalogue"), Seed(seed))
}

fn run_in_detail(scenario: &Scenario, seed: Seed) -> (Report, Detail) {
    let prepared = SimEngine.prepare(scenario).expect("it can be run");
    let (report, _, detail) = prepared.run_with_detail(seed);
    (report, detail)
}

fn role(report: &Report, host: HostIndex) -> Role {
    report.scenario.hosts[host.0].role
}

#[test]
fn a_run_that_is_kept_in_detail_is_the_run_that_is_judged() {
    catalogue(|report, detail| {
        let prepared = SimEngine.prepare(&report.scenario).expect("it can be run");
        let judged = prepared.judge(report.seed);
        assert_eq!(report.trace_hash, judged.trace_hash, "{}", report.scenario.name);
        assert_eq!(report.verdicts, judged.verdicts, "{}", report.scenario.name);
        // What an operator types on a machine crosses no lane.
        let orders = |fault: &Fault| {
            matches!(fault.effect, Effect::Promote { .. } | Effect::Follow { .. } | Effect::Flush { .. })
        };
        let typed = report.scenario.faults.iter().any(orders);
        let (kept, sent) = (detail.messages.len() as u64, judged.messages);
        assert!(kept == sent || kept < sent && typed, "{}: {kept} of {sent}", report.scenario.name);
    });
}

#[test]
fn every_message_arrives_after_it_was_sent_and_in_the_order_of_its_connection() {
    catalogue(|report, detail| {
        let name = &report.scenario.name;
        assert!(detail.messages.is_sorted_by_key(|message| message.sent), "{name}");
        let mut directions: BTreeMap<(u64, HostIndex), Vec<&Message>> = BTreeMap::new();
        for message in &detail.messages {
            assert!(message.bytes > 0 && message.from != message.to, "{name}: {message:?}");
            assert!(
                message.arrived.is_none_or(|at| message.sent <= at && at <= report.ended),
                "{name}: {message:?}"
            );
            let held = message.arrived.unwrap_or(report.ended);
            assert!(message.held.iter().all(|at| message.sent <= *at && *at <= held), "{name}: {message:?}");
            directions.entry((message.connection, message.from)).or_default().push(message);
        }
        for messages in directions.values() {
            let last = TrueNs(u64::MAX);
            assert!(
                messages.is_sorted_by_key(|message| message.arrived.unwrap_or(last)),
                "{name}: {messages:?}"
            );
        }
    });
}

/// What a client and a node say to each other can be read to the last byte, and every answer has its question.
#[test]
fn every_reply_of_a_node_answers_a_request_that_arrived_before() {
    let mut read = 0;
    catalogue(|report, detail| {
        let mut asked: BTreeMap<(u64, u64), TrueNs> = BTreeMap::new();
        for message in &detail.messages {
            let whole = !message.phrases.is_empty();
            assert!(whole, "{}: {message:?} ends in the middle of something", report.scenario.name);
            for phrase in &message.phrases {
                assert!(!phrase.words.is_empty() && !phrase.short.is_empty(), "{message:?}");
                let key = (message.connection, phrase.number);
                match (phrase.kind, message.arrived) {
                    (PhraseKind::Request, arrived) => {
                        asked.insert(key, arrived.unwrap_or(TrueNs(u64::MAX)));
                    }
                    (PhraseKind::Reply, _) => {
                        let at = asked.get(&key);
                        assert!(
                            at.is_some_and(|at| *at <= message.sent),
                            "{}: {message:?}",
                            report.scenario.name
                        );
                        read += 1;
                    }
                    (PhraseKind::Push, _) => {}
                    (PhraseKind::Replication, _) => {
                        let nodes = [message.from, message.to].map(|host| role(report, host) == Role::Node);
                        assert_eq!(nodes, [true, true], "{message:?}");
                    }
                }
            }
        }
    });
    assert!(read > 5_000, "only {read} replies");
}

/// The recorder read these clocks while the run went on.
#[test]
fn clocks_run_as_the_history_read_them() {
    let mut compared = 0;
    catalogue(|report, detail| {
        for event in report.history.events() {
            let (client, reading) = match &event.what {
                EventKind::Clocks { client, reading }
                | EventKind::Granted { client, reading: Some(reading), .. } => (client, reading),
                _ => continue,
            };
            let host = report.scenario.clients[client.0 as usize].host;
            let lines = &detail.clocks[host.0].lines;
            // At the instant of a change the reading may be that of before or of after it.
            let around = lines.iter().filter(|line| line.from <= event.at && event.at <= line.to);
            let shown: Vec<Reading> = around.map(|line| on_line(line, event.at)).collect();
            let matches = shown.iter().any(|it| is_near(it, reading));
            assert!(matches, "{} at {:?}: {shown:?}, not {reading:?}", report.scenario.name, event.at);
            compared += 1;
        }
    });
    assert!(compared > 500, "only {compared} readings");
}

#[test]
fn lines_of_clocks_follow_each_other_from_the_beginning_to_the_end() {
    catalogue(|report, detail| {
        assert_eq!(detail.clocks.len(), report.scenario.hosts.len());
        for clocks in &detail.clocks {
            assert_eq!(clocks.lines.first().map(|line| line.from), Some(TrueNs(0)));
            assert_eq!(clocks.lines.last().map(|line| line.to), Some(report.ended));
            assert!(clocks.lines.windows(2).all(|pair| pair[0].to == pair[1].from));
        }
    });
}

#[test]
fn a_step_a_suspension_and_nothing_look_as_they_are() {
    let (_, detail) = run("clock-jump", 1);
    let step = |host: usize| {
        let lines = &detail.clocks[host].lines;
        lines.windows(2).map(|pair| pair[1].first.wall_ns - pair[0].last.wall_ns).collect::<Vec<_>>()
    };
    let jumps: Vec<Vec<i64>> = (0..detail.clocks.len()).map(step).collect();
    assert_eq!(jumps.iter().flatten().collect::<Vec<_>>(), [&10_000_000_000], "only C's clock jumps, once");
    let (report, detail) = run("suspend-in-flight", 1);
    let c1 = report.scenario.clients[0].host;
    let last = detail.clocks[c1.0].lines.last().expect("a line").last;
    assert_eq!(last.wall_ns - detail.epoch_ns, report.ended.0 as i64, "its wall clock is right");
    assert_eq!(last.boot_ns - last.monotonic_ns, 12_000_000_000, "its monotonic clock stood still for 12 s");
}

#[test]
fn what_is_said_is_what_the_lock_sends() {
    let (report, detail) = run("lease-pause", 7);
    let short = |kind| {
        let phrases = detail.messages.iter().flat_map(|message| &message.phrases);
        phrases
            .filter(move |phrase| phrase.kind == kind)
            .map(|phrase| phrase.short.as_str())
            .collect::<Vec<_>>()
    };
    let (requests, replies) = (short(PhraseKind::Request), short(PhraseKind::Reply));
    for wanted in ["SET stock … NX PX 10000", "read stock", "write stock, computed from version 0"] {
        assert!(requests.contains(&wanted), "{wanted}: {requests:?}");
    }
    for wanted in ["OK", "(nil)", "version 2"] {
        assert!(replies.contains(&wanted), "{wanted}: {replies:?}");
    }
    // The whole of it has the token of the history.
    let token = report.history.events().iter().find_map(|event| match &event.what {
        EventKind::Granted { token, .. } => Some(token.clone()),
        _ => None,
    });
    let set = detail
        .messages
        .iter()
        .flat_map(|it| &it.phrases)
        .find(|phrase| phrase.words.starts_with("SET stock"));
    let said = set.expect("a SET").words.split(' ').nth(2).expect("a token").to_owned();
    let bytes = token.expect("a grant");
    let told = (0..bytes.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&bytes[at..at + 2], 16).expect("hexadecimal"));
    assert_eq!(said, told.collect::<Vec<u8>>().escape_ascii().to_string());
}

#[test]
fn a_message_behind_a_cut_is_held_and_one_that_stays_there_never_arrives() {
    let (report, detail) = run("failover-before-replication", 1);
    let lost: Vec<&Message> = detail.messages.iter().filter(|message| message.arrived.is_none()).collect();
    let to_replicas = |message: &&&Message| {
        role(&report, message.to) == Role::Node
            && message.phrases.iter().any(|it| it.short.contains("SET stock"))
    };
    assert_eq!(lost.iter().filter(to_replicas).count(), 2, "the key never reached the two replicas");
    assert!(lost.iter().filter(to_replicas).all(|message| !message.held.is_empty()), "{lost:?}");
    let (_, detail) = run("suspend-in-flight", 1);
    let late = detail.messages.iter().filter(|it| !it.held.is_empty() && it.arrived.is_some());
    assert!(late.count() >= 3, "the replies waited for the machine to wake");
}

fn on_line(line: &ClockLine, at: TrueNs) -> Reading {
    let (passed, whole) = (i128::from(at.since(line.from)), i128::from(line.to.since(line.from)).max(1));
    let between = |first: i128, last: i128| first + (last - first) * passed / whole;
    let unsigned = |first: u64, last: u64| between(first.into(), last.into()) as u64;
    Reading {
        wall_ns: between(line.first.wall_ns.into(), line.last.wall_ns.into()) as i64,
        monotonic_ns: unsigned(line.first.monotonic_ns, line.last.monotonic_ns),
        boot_ns: unsigned(line.first.boot_ns, line.last.boot_ns),
    }
}

/// A clock that runs at another rate is rounded down at each reading.
fn is_near(one: &Reading, other: &Reading) -> bool {
    one.wall_ns.abs_diff(other.wall_ns) <= 1
        && one.monotonic_ns.abs_diff(other.monotonic_ns) <= 1
        && one.boot_ns.abs_diff(other.boot_ns) <= 1
}
