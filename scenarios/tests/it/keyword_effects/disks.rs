//! `[[faults]]` of disks: what a node finds when it starts again.

use doublehold_history::Predicate;

use crate::keyword_effects::row::{Row, check};
use crate::keyword_effects::seen::Seen;

/// c1 takes the lock, A loses power, and c2 asks A when it is back.
const POWER: &str = r#"
    claim = "a node that loses power"
    lock = { algorithm = "single", ttl = "10s" }
    nodes = { names = ["A"], persistence = "always" }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "work 9s", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "work 1s", "release"]
    retry = "100ms"
    start = "2s after c1's grant"
    [[faults]]
    kind = "power-loss"
    host = "A"
    for = "1s"
    at = "1s after c1's grant"
"#;

/// c1 takes the lock and gives it back, A loses power, and c2 asks A when it is back.
const SNAPSHOT: &str = r#"
    claim = "a node whose disk is put back"
    lock = { algorithm = "single", ttl = "10s" }
    nodes = { names = ["A"], persistence = "always" }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "work 500ms", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "work 1s", "release"]
    retry = "100ms"
    start = "2s after c1's grant"
    [[faults]]
    kind = "power-loss"
    host = "A"
    for = "1s"
    at = "1s after c1's grant"
    [[faults]]
    kind = "disk-snapshot"
    host = "A"
    at = "c1's grant"
    [[faults]]
    kind = "disk-rollback"
    host = "A"
    at = "1.5s after c1's grant"
"#;

/// A number for each of 20 grants within the first second, of which no fsync knows; then A loses power.
const TAIL: &str = r#"
    claim = "a node that loses power before its fsync"
    lock = { algorithm = "single", ttl = "10s", fencing = true }
    nodes = { names = ["A"], persistence = "everysec" }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "release"]
    rounds = 20
    [[clients]]
    name = "c2"
    program = ["acquire", "release"]
    retry = "100ms"
    start = "15s"
    [[faults]]
    kind = "power-loss"
    host = "A"
    for = "0s"
    at = "c1's 20th grant"
"#;

pub(crate) fn rows() -> Vec<Row> {
    [torn_tail(), lies(), snapshots()].into_iter().flatten().collect()
}

#[test]
fn every_fault_of_a_disk_does_what_it_says() {
    check(&rows());
}

fn torn_tail() -> Vec<Row> {
    vec![Row {
        word: "faults.power-loss.torn_tail",
        claim: "a part of what no fsync covered is found again: numbers go on from somewhere instead of beginning anew",
        with: &[("faults.0.torn_tail", "true")],
        shows: |without, with| {
            let first_after = |seen: &Seen| seen.grant("c2").fencing.expect("the lock makes numbers");
            first_after(without) == 1 && (2..=21).contains(&first_after(with))
        },
        ..Row::on(TAIL)
    }]
}

/// Whether c2 had to wait because the node remembered c1's key.
fn remembered(seen: &Seen) -> bool {
    seen.refusals("c2").iter().any(|(_, why)| why == "taken")
}

fn lies() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=fsync-lies",
            claim: "a key that was fsynced before the reply is not there after a power loss",
            with: &[("faults", POWER_AND_LIES)],
            turns: &[(Predicate::P1, "holds", "violated")],
            shows: |without, with| remembered(without) && !remembered(with),
            ..Row::on(POWER)
        },
        Row {
            word: "faults.fsync-lies.host",
            claim: "the disk that is named lies, and no other",
            both: &[
                ("nodes.names", "['A', 'B', 'C']"),
                ("lock.algorithm", "redlock"),
                ("faults", THREE_LOSE_POWER),
            ],
            with: &[("faults.1.host", "['A', 'B']")],
            turns: &[(Predicate::P1, "holds", "violated")],
            shows: |without, with| {
                let kept = |seen: &Seen| ["A", "B", "C"].map(|node| synced(seen, node));
                kept(without) == [true, true, false] && kept(with) == [false, false, true]
            },
            ..Row::on(POWER)
        },
    ]
}

const POWER_AND_LIES: &str = "[{ kind = 'power-loss', host = 'A', for = '1s', at = \"1s after c1's grant\" }, \
     { kind = 'fsync-lies', host = 'A', at = '0s' }]";
const THREE_LOSE_POWER: &str = "[{ kind = 'power-loss', host = ['A', 'B', 'C'], for = '1s', at = \"1s after c1's grant\" }, \
     { kind = 'fsync-lies', host = 'C', at = '0s' }]";

/// Whether any fsync of the node made anything durable.
fn synced(seen: &Seen, node: &str) -> bool {
    let node = seen.host(node);
    seen.trace().any(|(_, event)| {
        matches!(event, doublehold_sim::Event::Synced { host, durable } if *host == node && *durable > 0)
    })
}

fn snapshots() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=disk-snapshot",
            claim: "a disk is put back to what it was at the snapshot, and to nothing without one",
            both: &[("faults.1", "{ kind = 'disk-rollback', at = \"1.5s after c1's grant\" }")],
            with: &[("faults.1", "{ kind = 'disk-snapshot', at = \"c1's grant\" }")],
            shows: |without, with| !remembered(without) && remembered(with),
            ..Row::on(SNAPSHOT)
        },
        Row {
            word: "faults.disk-snapshot.host",
            claim: "the disk that is named is remembered",
            both: &[("nodes.names", "['A', 'B', 'C']"), ("lock.algorithm", "redlock"), ("faults", ALL_BACK)],
            with: &[("faults.1.host", "['A', 'B', 'C']")],
            shows: |without, with| {
                let refused = |seen: &Seen| seen.refusals("c2").first().map(|(_, why)| why.clone());
                refused(without).is_none() && refused(with).as_deref() == Some("0 of the 2 votes needed")
            },
            ..Row::on(SNAPSHOT)
        },
        Row {
            word: "faults.kind=disk-rollback",
            claim: "a key that was deleted is there again",
            both: &[("faults.2", "{ kind = 'disk-snapshot', at = \"c1's grant\" }")],
            with: &[("faults.2", "{ kind = 'disk-rollback', at = \"1.5s after c1's grant\" }")],
            shows: |without, with| !remembered(without) && remembered(with),
            ..Row::on(SNAPSHOT)
        },
        Row {
            word: "faults.disk-rollback.host",
            claim: "the disk that is named is put back, and no other",
            both: &[("nodes.names", "['A', 'B', 'C']"), ("lock.algorithm", "redlock"), ("faults", ONE_BACK)],
            with: &[("faults.2.host", "['A', 'C']")],
            shows: |without, with| {
                without.refusals("c2").is_empty() && with.refusals("c2")[0].1 == "1 of the 2 votes needed"
            },
            ..Row::on(SNAPSHOT)
        },
    ]
}

/// A power loss of all nodes, C's disk remembered, and all of them put back.
const ALL_BACK: &str = "[{ kind = 'power-loss', host = ['A', 'B', 'C'], for = '1s', at = \"1s after c1's grant\" }, \
     { kind = 'disk-snapshot', host = 'C', at = \"c1's grant\" }, \
     { kind = 'disk-rollback', host = ['A', 'B', 'C'], at = \"1.5s after c1's grant\" }]";
/// A power loss of all nodes, all disks remembered, and one of them put back.
const ONE_BACK: &str = "[{ kind = 'power-loss', host = ['A', 'B', 'C'], for = '1s', at = \"1s after c1's grant\" }, \
     { kind = 'disk-snapshot', host = ['A', 'B', 'C'], at = \"c1's grant\" }, \
     { kind = 'disk-rollback', host = 'B', at = \"1.5s after c1's grant\" }]";
