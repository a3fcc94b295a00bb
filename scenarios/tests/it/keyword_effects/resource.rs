//! `[resource]`. The object's name is in `texts`.

use doublehold_history::{EventKind, Predicate};

use crate::keyword_effects::row::{Row, check};
use crate::keyword_effects::seen::{MS, SEC, Seen, applied};

/// c1 is paused before its late write (number 1); c2 has the lock and the number 2 meanwhile.
const LATE_WRITE: &str = r#"
    claim = "a write that is late"
    lock = { algorithm = "single", ttl = "10s", elapsed_check = true, fencing = true }
    nodes = { names = ["A"] }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "read", "work 1s", "check", "write", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "read", "work 1s", "check", "write", "release"]
    retry = "100ms"
    start = "c1's grant"
    [[faults]]
    kind = "pause"
    host = "c1"
    for = "20s"
    at = "c1's check"
"#;

pub(crate) fn rows() -> Vec<Row> {
    [fencing(), tokens(), asked(), numbers_of_its_own(), reads_and_versions()].into_iter().flatten().collect()
}

#[test]
fn every_key_of_resource_does_what_it_says() {
    check(&rows());
}

/// Why the client's writes were refused.
fn refused(seen: &Seen, client: &str) -> Vec<String> {
    let why = |(_, what): (u64, &EventKind)| match what {
        EventKind::WriteRefused { why, .. } => Some(why.clone()),
        _ => None,
    };
    seen.did(client).filter_map(why).collect()
}

/// The fencing numbers that came with the client's writes.
fn numbers(seen: &Seen, client: &str) -> Vec<Option<u64>> {
    let number = |(_, what): (u64, &EventKind)| match what {
        EventKind::WriteApplied { fencing, .. } | EventKind::WriteRefused { fencing, .. } => Some(*fencing),
        _ => None,
    };
    seen.did(client).filter_map(number).collect()
}

fn fencing() -> Vec<Row> {
    vec![
        Row {
            word: "resource.fencing=off",
            claim: "numbers are sent and not looked at: a late write lands",
            both: &[("resource.fencing", "reject-lower")],
            with: &[("resource.fencing", "off")],
            turns: &[(Predicate::P3, "holds", "violated"), (Predicate::P4, "holds", "violated")],
            shows: |_, with| {
                refused(with, "c1").is_empty()
                    && numbers(with, "c1") == [Some(1)]
                    && numbers(with, "c2") == [Some(2)]
            },
            ..Row::on(LATE_WRITE)
        },
        Row {
            word: "resource.fencing=reject-lower",
            claim: "a write with a lower number than one that was seen is refused",
            with: &[("resource.fencing", "reject-lower")],
            turns: &[(Predicate::P3, "violated", "holds"), (Predicate::P4, "violated", "holds")],
            shows: |_, with| refused(with, "c1") == ["fencing number 1 is stale: 2 has been seen"],
            ..Row::on(LATE_WRITE)
        },
        Row {
            word: "resource.fencing=reject-lower-or-equal",
            claim: "a second write with the same number is refused, which `reject-lower` lets through",
            both: &[
                ("resource.fencing", "reject-lower"),
                ("faults", "[]"),
                ("clients.0.program", "['acquire', 'read', 'write', 'work 1s', 'write', 'release']"),
            ],
            with: &[("resource.fencing", "reject-lower-or-equal")],
            shows: |without, with| {
                without.times("c1", applied).len() == 2
                    && with.times("c1", applied).len() == 1
                    && refused(with, "c1") == ["fencing number 1 is stale: 1 has been seen"]
            },
            ..Row::on(LATE_WRITE)
        },
    ]
}

/// The program of both clients, with a marker.
const MARKED: &str = "['acquire', 'prepare', 'read', 'work 1s', 'check', 'write', 'release']";

fn tokens() -> Vec<Row> {
    vec![
        Row {
            word: "resource.fencing=reject-replaced",
            claim: "a token is refused once another came after it, and one that was never seen is not",
            both: &[("clients.0.program", "['acquire', 'write', 'work 1s', 'check', 'write', 'release']")],
            with: &[("resource.fencing", "reject-replaced")],
            turns: &[(Predicate::P3, "violated", "holds")],
            shows: |_, with| {
                with.times("c1", applied).len() == 1
                    && with.times("c2", applied).len() == 1
                    && refused(with, "c1") == ["this grant's token was replaced by a newer one"]
                    && numbers(with, "c1") == [None, None]
            },
            ..Row::on(LATE_WRITE)
        },
        Row {
            word: "resource.fencing=compare-marker",
            claim: "a write is refused of whoever was not the last to prepare",
            both: &[("clients.0.program", MARKED), ("clients.1.program", MARKED)],
            with: &[("resource.fencing", "compare-marker")],
            turns: &[(Predicate::P3, "violated", "holds"), (Predicate::P4, "violated", "holds")],
            shows: |without, with| {
                refused(without, "c1").is_empty()
                    && refused(with, "c1") == ["the marker is not this grant's token"]
                    && refused(with, "c2").is_empty()
            },
            ..Row::on(LATE_WRITE)
        },
        Row {
            word: "resource.fencing=client-compares-marker",
            claim: "the client asks for the marker before it writes, and sends no write if it finds another's",
            both: &[("clients.0.program", MARKED), ("clients.1.program", MARKED)],
            with: &[("resource.fencing", "client-compares-marker")],
            turns: &[(Predicate::P3, "violated", "holds"), (Predicate::P4, "violated", "holds")],
            shows: |without, with| {
                let sent = |what: &EventKind| matches!(what, EventKind::WriteSent { .. });
                without.times("c1", sent).len() == 1
                    && with.times("c1", sent).is_empty()
                    && with.sent("c2", "resource").len() == without.sent("c2", "resource").len() + 1
            },
            ..Row::on(LATE_WRITE)
        },
    ]
}

/// The resource cannot reach A once c1 has checked its lease.
const CUT_OFF: (&str, &str) = (
    "faults",
    "[{ kind = 'pause', host = 'c1', for = '20s', at = \"c1's check\" }, \
     { kind = 'cut', from = 'resource', to = 'A', both_ways = true, at = \"c1's check\" }]",
);

fn asked() -> Vec<Row> {
    vec![
        Row {
            word: "resource.fencing=ask-lock",
            claim: "the resource asks the node whose the lock is, and refuses everybody else's write",
            with: &[("resource.fencing", "ask-lock")],
            turns: &[(Predicate::P3, "violated", "holds"), (Predicate::P4, "violated", "holds")],
            shows: |without, with| {
                let asked = |seen: &Seen| seen.executed("A", "GET", "resource").len();
                (asked(without), asked(with)) == (0, 2)
                    && refused(with, "c1") == ["the lock is not this grant's any more"]
                    && refused(with, "c2").is_empty()
            },
            ..Row::on(LATE_WRITE)
        },
        Row {
            word: "resource.no_answer=refuse",
            claim: "a resource that gets no answer within a second refuses, whoever writes",
            both: &[("resource", "{ fencing = 'ask-lock', no_answer = 'apply' }"), CUT_OFF],
            with: &[("resource.no_answer", "refuse")],
            turns: &[(Predicate::P4, "violated", "holds")],
            shows: |without, with| {
                let why = ["the lock did not say whose it is"];
                refused(without, "c1").is_empty() && refused(with, "c1") == why && refused(with, "c2") == why
            },
            ..Row::on(LATE_WRITE)
        },
        Row {
            word: "resource.no_answer=apply",
            claim: "a resource that gets no answer within a second applies, whoever writes",
            both: &[("resource.fencing", "ask-lock"), CUT_OFF],
            with: &[("resource.no_answer", "apply")],
            turns: &[(Predicate::P4, "holds", "violated")],
            shows: |without, with| {
                let takes = |seen: &Seen| seen.times("c2", applied)[0] - seen.marks("c2", "write")[0];
                without.times("c2", applied).is_empty()
                    && with.times("c1", applied).len() == 1
                    && (SEC..SEC + 10 * MS).contains(&takes(with))
            },
            ..Row::on(LATE_WRITE)
        },
    ]
}

fn numbers_of_its_own() -> Vec<Row> {
    vec![
        Row {
            word: "resource.numbers=lock",
            claim: "the number is the lock's: the late holder's is the lower, whenever it shows it",
            both: &[
                ("resource", "{ fencing = 'reject-lower', numbers = 'resource' }"),
                ("clients.0.program", "['acquire', 'work 1s', 'check', 'prepare', 'write', 'release']"),
                ("clients.1.program", MARKED),
            ],
            with: &[("resource.numbers", "lock")],
            turns: &[(Predicate::P3, "violated", "holds")],
            shows: |without, with| {
                numbers(without, "c1") == [Some(2)]
                    && numbers(with, "c2") == [Some(2)]
                    && with.times("c1", applied).is_empty()
            },
            ..Row::on(LATE_WRITE)
        },
        Row {
            word: "resource.numbers=resource",
            claim: "the resource gives out the next number to whoever prepares",
            both: &[
                ("resource.fencing", "reject-lower"),
                ("clients.0.program", MARKED),
                ("clients.1.program", MARKED),
            ],
            with: &[("resource.numbers", "resource"), ("lock.fencing", "false")],
            shows: |_, with| {
                (numbers(with, "c1"), numbers(with, "c2")) == (vec![Some(1)], vec![Some(2)])
                    && refused(with, "c1") == ["fencing number 1 is stale: 2 has been seen"]
            },
            ..Row::on(LATE_WRITE)
        },
        Row {
            word: "clients.program=prepare",
            claim: "a grant is shown before anything is written: a lower number is refused from then on",
            both: &[
                ("resource.fencing", "reject-lower"),
                ("clients.1.program", "['acquire', 'work 1s', 'release']"),
            ],
            with: &[("clients.1.program", "['acquire', 'prepare', 'work 1s', 'release']")],
            turns: &[(Predicate::P3, "violated", "holds")],
            shows: |without, with| {
                refused(without, "c1").is_empty()
                    && refused(with, "c1") == ["fencing number 1 is stale: 2 has been seen"]
                    && with.marks("c2", "prepare").len() == 1
            },
            ..Row::on(LATE_WRITE)
        },
    ]
}

fn reads_and_versions() -> Vec<Row> {
    vec![
        Row {
            word: "resource.fence_reads",
            claim: "a read shows its number: a late write is refused although nobody has written since",
            both: &[
                ("resource.fencing", "reject-lower"),
                ("clients.1.program", "['acquire', 'read', 'work 1s', 'release']"),
            ],
            with: &[("resource.fence_reads", "true")],
            turns: &[(Predicate::P3, "violated", "holds")],
            shows: |without, with| {
                refused(without, "c1").is_empty()
                    && refused(with, "c1") == ["fencing number 1 is stale: 2 has been seen"]
            },
            ..Row::on(LATE_WRITE)
        },
        Row {
            word: "resource.version_check",
            claim: "a write is refused that is based on a version that is not there any more",
            with: &[("resource.version_check", "true")],
            turns: &[(Predicate::P4, "violated", "holds")],
            shows: |without, with| {
                refused(without, "c1").is_empty()
                    && refused(with, "c1") == ["the object is at version 1, the write is based on version 0"]
            },
            ..Row::on(LATE_WRITE)
        },
    ]
}
