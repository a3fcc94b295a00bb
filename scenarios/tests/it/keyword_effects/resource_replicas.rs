//! `[resource]` with several replicas, and one that forgets.

use doublehold_history::{EventKind, Predicate};

use crate::keyword_effects::row::{Row, check, run};
use crate::keyword_effects::seen::{MS, Seen, applied};

/// c1 is paused before its late write (number 1); c2 has the lock and the number 2 meanwhile, and the third replica is
/// down.
const THREE: &str = r#"
    claim = "a write that is late, and three replicas"
    lock = { algorithm = "single", ttl = "10s", elapsed_check = true, fencing = true }
    nodes = { names = ["A"] }
    network = { delay = "1ms" }
    resource = { replicas = 3, write_quorum = 2, read_quorum = 2, prepare_quorum = 2, fencing = "reject-lower" }
    [[clients]]
    name = "c1"
    program = ["acquire", "prepare", "read", "work 1s", "check", "write", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "prepare", "read", "work 5s", "check", "write", "release"]
    retry = "100ms"
    give_up_after = "30s"
    start = "c1's grant"
    [[faults]]
    kind = "pause"
    host = "c1"
    for = "12s"
    at = "c1's check"
    [[faults]]
    kind = "crash"
    host = "resource-3"
    at = "c1's check"
"#;

/// Nothing goes wrong, and the data are on one host.
const ONE_HOST: &str = r#"
    claim = "two turns"
    lock = { algorithm = "single", ttl = "10s", elapsed_check = true, fencing = true }
    nodes = { names = ["A"] }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "read", "write", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "read", "write", "release"]
    retry = "100ms"
    start = "c1's grant"
"#;

pub(crate) fn rows() -> Vec<Row> {
    [counts(), quorums(), memory()].into_iter().flatten().collect()
}

#[test]
fn every_key_of_replicas_does_what_it_says() {
    check(&rows());
}

/// Counts the replicas that were sent anything by a client once it had the lock.
fn asked(seen: &Seen, client: &str) -> usize {
    let replicas = ["resource-1", "resource-2", "resource-3"];
    let known = |name: &&&str| seen.report.scenario.hosts.iter().any(|host| host.name == **name);
    replicas.iter().filter(known).filter(|replica| !seen.sent(client, replica).is_empty()).count()
}

fn has_read(what: &EventKind) -> bool {
    matches!(what, EventKind::ReadDone { .. })
}

fn refused(what: &EventKind) -> bool {
    matches!(what, EventKind::WriteRefused { .. })
}

#[test]
fn a_late_answer_to_an_earlier_request_is_not_taken_for_one_to_a_later() {
    let slow = "[{ from = 'resource-2', to = 'c1', delay = '300ms' }, \
                 { from = 'resource-3', to = 'c1', delay = '310ms' }]";
    let sets = [
        ("resource.replicas", "3"),
        ("network.links", slow),
        ("clients.0.program", "['acquire', 'read', 'write', 'read', 'release']"),
    ];
    let seen = run(ONE_HOST, &sets, 1);
    let [first, second] = seen.marks("c1", "read")[..] else { panic!("it reads twice") };
    // The write and the second read each wait for the second of the three, and the first read's third answer is there
    // soon after the write begins.
    assert!((600 * MS..700 * MS).contains(&(second - first)), "{}", second - first);
    assert_eq!(reads(&seen, "c1"), [0, 1_001]);
}

fn reads(seen: &Seen, client: &str) -> Vec<u64> {
    let version = |(_, what): (u64, &EventKind)| match what {
        EventKind::ReadDone { version, .. } => Some(*version),
        _ => None,
    };
    seen.did(client).filter_map(version).collect()
}

fn counts() -> Vec<Row> {
    vec![Row {
        word: "resource.replicas",
        claim: "the data are on so many hosts, and a client asks all of them",
        with: &[("resource.replicas", "3")],
        shows: |without, with| {
            (asked(without, "c1"), asked(with, "c1")) == (0, 3)
                && with.times("c1", applied).len() == 1
                && with.times("c2", applied).len() == 1
                && reads(with, "c2") == [1_001]
        },
        ..Row::on(ONE_HOST)
    }]
}

fn quorums() -> Vec<Row> {
    vec![
        Row {
            word: "resource.write_quorum",
            claim: "a write is one once so many have it: two of three are, with one down, and three are not",
            with: &[("resource.write_quorum", "3")],
            shows: |without, with| {
                without.times("c2", applied).len() == 1 && with.times("c2", applied).is_empty()
            },
            ..Row::on(THREE)
        },
        Row {
            word: "resource.read_quorum",
            claim: "a read waits for so many: it has none of three while one is down",
            with: &[("resource.read_quorum", "3")],
            shows: |without, with| reads(without, "c2") == [0] && reads(with, "c2").is_empty(),
            ..Row::on(THREE)
        },
        Row {
            word: "resource.prepare_quorum",
            claim: "whoever shows its number waits for so many: it does not begin while one of three is down",
            with: &[("resource.prepare_quorum", "3")],
            shows: |without, with| {
                without.marks("c2", "prepare").len() == 1
                    && with.marks("c2", "prepare").is_empty()
                    && with.marks("c2", "release").len() == 1
            },
            ..Row::on(THREE)
        },
        Row {
            word: "resource.read_repair",
            claim: "a reader sees to it that as many have what it read as a write waits for",
            both: &[
                (
                    "faults",
                    "[{ kind = 'cut', from = 'c1', to = ['resource-2', 'resource-3'], at = \"c1's write\" }, \
                     { kind = 'power-loss', host = 'c1', at = \"1s after c1's write\" }]",
                ),
                ("network.links", "[{ from = 'resource-3', to = 'c2', delay = '50ms' }]"),
                ("clients.1.program", "['acquire', 'read', 'release']"),
            ],
            with: &[("resource.read_repair", "true")],
            shows: |without, with| {
                let to_others = |seen: &Seen| seen.sent("c2", "resource-2").len();
                (reads(without, "c2"), reads(with, "c2")) == (vec![1_001], vec![1_001])
                    && without.times("c1", applied) == without.times("c2", has_read)
                    && to_others(with) == to_others(without) + 1
            },
            ..Row::on(THREE)
        },
    ]
}

fn memory() -> Vec<Row> {
    vec![Row {
        word: "resource.forgets",
        claim: "a replica that restarts has forgotten the highest number, and takes a lower one",
        both: &[(
            "faults",
            "[{ kind = 'pause', host = 'c1', for = '12s', at = \"c1's check\" }, \
                 { kind = 'cut', from = 'c2', to = 'resource-3', both_ways = true, at = \"c1's check\" }, \
                 { kind = 'crash', host = 'resource-1', for = '100ms', at = \"c2's read\" }]",
        )],
        with: &[("resource.forgets", "true")],
        turns: &[(Predicate::P3, "holds", "violated"), (Predicate::P4, "holds", "violated")],
        shows: |without, with| {
            let counts = |seen: &Seen| (seen.times("c1", applied).len(), seen.times("c1", refused).len());
            // Of the three, one refuses either way: that alone is no refusal.
            (counts(without), counts(with)) == ((0, 1), (1, 0))
        },
        ..Row::on(THREE)
    }]
}
