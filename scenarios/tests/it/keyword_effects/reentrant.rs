//! `[lock]`: what only locks have that admit their holder again.

use doublehold_history::{EventKind, Predicate};

use crate::keyword_effects::row::{Row, check};
use crate::keyword_effects::seen::{MS, SEC, Seen};

pub(crate) fn rows() -> Vec<Row> {
    [stages(), scripts(), limits(), counts(), replicas(), several()].into_iter().flatten().collect()
}

#[test]
fn every_switch_of_a_lock_that_admits_its_holder_again_does_what_it_says() {
    check(&rows());
}

/// Two threads of one process.
pub(crate) const THREADS: &str = r#"
    claim = "two threads of a process take turns"
    lock = { algorithm = "local-remote", ttl = "10s" }
    nodes = { names = ["A"] }
    network = { delay = "1ms" }
    clients = [
        { name = "c1", process = "web", program = ["try", "read", "work 2s", "write", "release"] },
        { name = "c2", process = "web", program = ["acquire", "read", "work 1s", "write", "release"], start = "1s" },
    ]
"#;

fn together(seen: &Seen) -> bool {
    let gives_back = seen.times("c1", |what| matches!(what, EventKind::ReleaseCalled { .. }));
    seen.grant("c2").at < gives_back[0]
}

fn stages() -> Vec<Row> {
    vec![
        Row {
            word: "lock.local=object",
            claim: "threads wait at mutexes of their own, and find the id of their process",
            with: &[("lock.local", "object")],
            turns: &[(Predicate::P1, "holds", "violated")],
            shows: |without, with| !together(without) && together(with),
            ..Row::on(THREADS)
        },
        Row {
            word: "lock.local=process",
            claim: "threads wait at one mutex",
            both: &[("lock.local", "object")],
            with: &[("lock.local", "process")],
            turns: &[(Predicate::P1, "violated", "holds")],
            shows: |without, with| together(without) && !together(with),
            ..Row::on(THREADS)
        },
        Row {
            word: "lock.client_id=lock",
            claim: "each lock object has an id, and the key keeps them apart",
            both: &[("lock.local", "object")],
            with: &[("lock.client_id", "lock")],
            turns: &[(Predicate::P1, "violated", "holds")],
            shows: |without, with| together(without) && !together(with),
            ..Row::on(THREADS)
        },
        Row {
            word: "lock.client_id=process",
            claim: "all lock objects of a process have one id",
            both: &[("lock.local", "object"), ("lock.client_id", "lock")],
            with: &[("lock.client_id", "process")],
            turns: &[(Predicate::P1, "holds", "violated")],
            shows: |without, with| !together(without) && together(with),
            ..Row::on(THREADS)
        },
    ]
}

fn scripts() -> Vec<Row> {
    vec![
        Row {
            word: "lock.script=fails-halfway",
            claim: "the script sets the key, and is answered with an error",
            with: &[("lock.script", "fails-halfway")],
            shows: |without, with| without.grants("c1").len() == 1 && with.grants("c1").is_empty(),
            ..Row::on(THREADS)
        },
        Row {
            word: "lock.script=does-not-compile",
            claim: "the node loads no such script, and sets nothing",
            with: &[("lock.script", "does-not-compile")],
            shows: |without, with| {
                without.grants("c1").len() == 1
                    && with.grants("c1").is_empty()
                    && with.keys("A", "c1").is_empty()
            },
            ..Row::on(THREADS)
        },
        Row {
            word: "lock.script=read-as-text",
            claim: "the key is set for its lease, and its client has no lock",
            with: &[("lock.script", "read-as-text")],
            shows: |without, with| {
                without.grants("c1").len() == 1
                    && with.grants("c1").is_empty()
                    && !with.keys("A", "c1").is_empty()
            },
            ..Row::on(THREADS)
        },
        Row {
            word: "lock.script=whole",
            claim: "the script sets the key and says so",
            both: &[("lock.script", "fails-halfway")],
            with: &[("lock.script", "whole")],
            shows: |without, with| without.grants("c1").is_empty() && with.grants("c1").len() == 1,
            ..Row::on(THREADS)
        },
    ]
}

/// Two threads of one process, and another that has the key.
const TRIES: &str = r#"
    claim = "a thread tries for 3 s behind another that tries for 2 s"
    lock = { algorithm = "local-remote", ttl = "60s" }
    nodes = { names = ["A"] }
    network = { delay = "1ms" }
    clients = [
        { name = "c1", process = "web", program = ["try 2s", "release"], start = "c3's grant" },
        { name = "c2", process = "web", program = ["try 3s", "release"], start = "100ms after c3's grant" },
        { name = "c3", program = ["acquire", "work 20s", "release"] },
    ]
"#;

fn limits() -> Vec<Row> {
    fn tried(seen: &Seen) -> u64 {
        let gave_up = seen.times("c2", |what| matches!(what, EventKind::GaveUp { .. }))[0];
        gave_up - seen.times("c2", |what| matches!(what, EventKind::AcquireStarted { .. }))[0]
    }
    vec![
        Row {
            word: "lock.wait=twice",
            claim: "who has waited at the mutex has the whole limit for the key",
            with: &[("lock.wait", "twice")],
            shows: |without, with| tried(without) < 3_200 * MS && tried(with) > 4_800 * MS,
            ..Row::on(TRIES)
        },
        Row {
            word: "lock.wait=once",
            claim: "who has waited at the mutex has what is left of the limit for the key",
            both: &[("lock.wait", "twice")],
            with: &[("lock.wait", "once")],
            shows: |without, with| tried(without) > 4_800 * MS && tried(with) < 3_200 * MS,
            ..Row::on(TRIES)
        },
    ]
}

/// One client that takes its lock again when the lease is over.
pub(crate) const NESTED: &str = r#"
    claim = "a client takes a lock again that it has"
    lock = { algorithm = "thread-count", ttl = "10s" }
    nodes = { names = ["A"] }
    network = { delay = "1ms" }
    clients = [
        { name = "c1", program = ["acquire", "work 12s", "acquire", "work 1s", "release", "release"] },
    ]
"#;

fn counts() -> Vec<Row> {
    vec![
        Row {
            word: "lock.count_expires",
            claim: "a count whose lease is over asks the node again",
            with: &[("lock.count_expires", "true")],
            shows: |without, with| {
                let asked = |seen: &Seen| seen.executed("A", "SET", "c1").len();
                (asked(without), asked(with)) == (1, 2)
                    && [without, with].iter().all(|seen| seen.grants("c1").len() == 2)
            },
            ..Row::on(NESTED)
        },
        Row {
            word: "lock.release_on_failure",
            claim: "an acquire without a reply is counted down, and one release gives the lock back",
            both: &[
                ("lock.algorithm", "hash"),
                ("nodes.scripts", "loaded"),
                ("clients.0.program", "['acquire', 'release']"),
                ("clients.0.rounds", "3"),
                (
                    "faults",
                    "[{ kind = 'slow', from = 'A', to = 'c1', by = '2s', for = '500ms', at = \"c1's 2nd acquire\" }]",
                ),
            ],
            with: &[("lock.release_on_failure", "true")],
            shows: |without, with| {
                let ends = |seen: &Seen| {
                    let last = seen.keys("A", "c1").last().and_then(|span| span.until).map(|(at, _)| at.0);
                    last.unwrap_or(u64::MAX).saturating_sub(*seen.marks("c1", "release").last().expect("one"))
                };
                ends(without) > 9 * SEC && ends(with) < SEC
            },
            ..Row::on(NESTED)
        },
    ]
}

/// A lock on a master of which one replica of two hears nothing.
pub(crate) const FOLLOWED: &str = r#"
    claim = "a lock on a master with two replicas"
    lock = { algorithm = "hash-replicated", ttl = "10s" }
    nodes = { names = ["M", "R1", "R2"], master = "M" }
    network = { delay = "1ms" }
    clients = [{ name = "c1", program = ["try", "work 1s", "release"], start = "2s" }]
    faults = [{ kind = "cut", from = "M", to = "R1", at = "1s", for = "30s" }]
"#;

fn replicas() -> Vec<Row> {
    fn waited(seen: &Seen) -> usize {
        seen.executed("M", "WAIT", "c1").len()
    }
    vec![
        Row {
            word: "lock.algorithm=hash-replicated",
            claim: "a script takes the lock, and a client that has it takes it again",
            both: &[("lock.algorithm", "replicated"), ("faults", "[]")],
            with: &[
                ("lock.algorithm", "hash-replicated"),
                ("clients.0.program", "['acquire', 'acquire', 'release', 'release']"),
            ],
            shows: |without, with| {
                without.executed("M", "SET", "c1").len() == 1
                    && with.executed("M", "SET", "c1").is_empty()
                    && with.grants("c1").len() == 2
            },
            ..Row::on(FOLLOWED)
        },
        Row {
            word: "lock.synced=any",
            claim: "one replica of two is enough",
            both: &[("lock.synced", "all")],
            with: &[("lock.synced", "any")],
            shows: |without, with| {
                without.refusals("c1")[0].1 == "1 of the 2 replicas wanted have it"
                    && with.grants("c1").len() == 1
                    && waited(with) > 0
            },
            ..Row::on(FOLLOWED)
        },
        Row {
            word: "lock.synced=all",
            claim: "one replica of two is not enough",
            with: &[("lock.synced", "all")],
            shows: |without, with| {
                without.grants("c1").len() == 1
                    && with.refusals("c1")[0].1 == "1 of the 2 replicas wanted have it"
            },
            ..Row::on(FOLLOWED)
        },
        Row {
            word: "lock.synced=none",
            claim: "no replica is waited for",
            both: &[("lock.synced", "any")],
            with: &[("lock.synced", "none")],
            shows: |without, with| waited(without) > 0 && waited(with) == 0,
            ..Row::on(FOLLOWED)
        },
    ]
}

/// A lock on three nodes at once.
pub(crate) const MULTI: &str = r#"
    claim = "a client takes a lock on three nodes at once"
    lock = { algorithm = "multi-lock", ttl = "10s" }
    nodes = { names = ["A", "B", "C"] }
    network = { delay = "1ms" }
    clients = [{ name = "c1", program = ["try 2s", "work 1s", "release"] }]
"#;
const C_DEAD: (&str, &str) = ("faults", "[{ kind = 'crash', host = 'C', at = '0s' }]");

fn several() -> Vec<Row> {
    fn grants(seen: &Seen) -> usize {
        seen.grants("c1").len()
    }
    fn expires(seen: &Seen) -> usize {
        seen.executed("A", "PEXPIRE", "c1").len()
    }
    vec![
        Row {
            word: "lock.algorithm=multi-lock",
            claim: "every node is asked for a hash, where a key was set before",
            both: &[("lock.algorithm", "redlock")],
            with: &[("lock.algorithm", "multi-lock")],
            shows: |without, with| {
                let sets = |seen: &Seen| seen.executed("C", "SET", "c1").len();
                (sets(without), sets(with)) == (1, 0) && !with.keys("C", "c1").is_empty()
            },
            ..Row::on(MULTI)
        },
        Row {
            word: "lock.members=majority",
            claim: "two of three are enough",
            both: &[C_DEAD],
            with: &[("lock.members", "majority")],
            shows: |without, with| (grants(without), grants(with)) == (0, 1),
            ..Row::on(MULTI)
        },
        Row {
            word: "lock.members=all",
            claim: "two of three are not enough",
            both: &[C_DEAD, ("lock.members", "majority")],
            with: &[("lock.members", "all")],
            shows: |without, with| (grants(without), grants(with)) == (1, 0),
            ..Row::on(MULTI)
        },
        Row {
            word: "lock.lease_from=wait",
            claim: "members are asked for another lease than at the end: the request has a byte less",
            both: &[("lock.wake", "pubsub")],
            with: &[("lock.lease_from", "wait")],
            shows: |without, with| without.sizes("c1", "A") != with.sizes("c1", "A"),
            ..Row::on(MULTI)
        },
        Row {
            word: "lock.lease_from=lease",
            claim: "members are asked for the lease as it is",
            both: &[("lock.wake", "pubsub"), ("lock.lease_from", "wait")],
            with: &[("lock.lease_from", "lease")],
            shows: |without, with| without.sizes("c1", "A") != with.sizes("c1", "A"),
            ..Row::on(MULTI)
        },
        Row {
            word: "lock.final_expire=unchecked",
            claim: "the last step is a command that looks at nothing",
            with: &[("lock.final_expire", "unchecked")],
            shows: |without, with| (expires(without), expires(with)) == (0, 1),
            ..Row::on(MULTI)
        },
        Row {
            word: "lock.final_expire=checked",
            claim: "the last step is a script",
            both: &[("lock.final_expire", "unchecked")],
            with: &[("lock.final_expire", "checked")],
            shows: |without, with| (expires(without), expires(with)) == (1, 0),
            ..Row::on(MULTI)
        },
    ]
}
