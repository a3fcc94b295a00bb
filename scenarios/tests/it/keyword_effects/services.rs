//! `[service]`, and what locks on services other than Redis have: sessions, leases, and a database as its own resource.

use doublehold_history::{EventKind, Predicate, losses};

use crate::keyword_effects::row::{Row, check, read, run};
use crate::keyword_effects::seen::{SEC, Seen};
use crate::keyword_effects::texts::Word;

pub(crate) fn rows() -> Vec<Row> {
    [sessions(), news(), leases(), databases(), keepalives(), standbys()].into_iter().flatten().collect()
}

#[test]
fn every_word_about_services_does_what_it_says() {
    check(&rows());
}

/// c1 is cut off from ZooKeeper while it holds the lock, and c2 waits.
pub(crate) const CUT: &str = r#"
    claim = "a holder that is cut off from ZooKeeper"
    lock = { algorithm = "kazoo", ttl = "10s" }
    nodes = { names = ["zk"] }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "read", "work 40s", "write", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "read", "work 5s", "write", "release"]
    start = "1s after c1's grant"
    [[faults]]
    kind = "cut"
    from = "c1"
    to = "zk"
    both_ways = true
    for = "25s"
    at = "3s after c1's grant"
"#;

/// The moments at which c1's library told it that word.
fn notices(seen: &Seen, word: &str) -> Vec<u64> {
    let is_it = |what: &EventKind| matches!(what, EventKind::LossNotice { notice, .. } if notice == word);
    seen.did("c1").filter(|(_, what)| is_it(what)).map(|(at, _)| at).collect()
}

/// The moments at which c1's own code stopped.
fn stopped(seen: &Seen) -> Vec<u64> {
    seen.times("c1", |what| matches!(what, EventKind::ExpiryNoticed { .. }))
}

fn sessions() -> Vec<Row> {
    vec![
        Row {
            word: "service.tick",
            claim: "the service looks at its sessions every 5 s: c1's ends at such a look",
            with: &[("service.tick", "5s")],
            shows: |without, with| {
                let ends = |seen: &Seen| seen.keys("zk", "c1")[0].until.expect("the session ended").0.0;
                ends(without) % (2 * SEC) == 0 && ends(with) % (5 * SEC) == 0 && ends(with) > ends(without)
            },
            ..Row::on(CUT)
        },
        Row {
            word: "service.lock_delay",
            claim: "c2 waits as much longer",
            with: &[("service.lock_delay", "4s")],
            shows: |without, with| {
                let waited = with.grant("c2").at - without.grant("c2").at;
                (4 * SEC - SEC / 10..=4 * SEC + SEC / 10).contains(&waited)
            },
            ..Row::on(CUT)
        },
    ]
}

fn news() -> Vec<Row> {
    vec![
        Row {
            word: "lock.heeds=suspended",
            claim: "c1 stops at SUSPENDED, before c2 has the lock",
            with: &[("lock.heeds", "suspended")],
            turns: &[(Predicate::P1, "violated", "holds"), (Predicate::P3, "violated", "holds")],
            shows: |without, with| {
                stopped(without).is_empty()
                    && stopped(with)[0] == notices(with, "SUSPENDED")[0]
                    && stopped(with)[0] < with.grant("c2").at
            },
            ..Row::on(CUT)
        },
        Row {
            word: "lock.heeds=lost",
            claim: "c1 stops at LOST, after c2 was granted the lock",
            with: &[("lock.heeds", "lost")],
            turns: &[(Predicate::P1, "violated", "violated"), (Predicate::P3, "violated", "holds")],
            shows: |without, with| {
                stopped(without).is_empty()
                    && stopped(with)[0] == notices(with, "LOST")[0]
                    && stopped(with)[0] > with.grant("c2").at
            },
            ..Row::on(CUT)
        },
        Row {
            word: "lock.heeds=nothing",
            claim: "c1 hears both, and works on",
            both: &[("lock.heeds", "suspended")],
            with: &[("lock.heeds", "nothing")],
            turns: &[(Predicate::P1, "holds", "violated"), (Predicate::P3, "holds", "violated")],
            shows: |_, with| {
                stopped(with).is_empty()
                    && notices(with, "SUSPENDED").len() == 1
                    && notices(with, "LOST").len() == 1
            },
            ..Row::on(CUT)
        },
    ]
}

/// The words that leave a run as it is: what a release says changes nothing that was sent, and the kind of a service is
/// its lock's to say.
pub(crate) const WORDS: &[Word] = &[
    ("lock.release_says=done", || !learns_from_its_release("done")),
    ("lock.release_says=lost", || learns_from_its_release("lost")),
    ("service.kind=zookeeper", || is_kind("kazoo", "zookeeper")),
    ("service.kind=etcd", || is_kind("etcd3", "etcd")),
    ("service.kind=database", || is_kind("row-lock", "database")),
];

/// True if a release that finds its node gone tells its client so.
fn learns_from_its_release(says: &str) -> bool {
    let seen = run(CUT, &[("lock.release_says", says)], 1);
    losses(&seen.report.history)[0].heard.iter().any(|it| it.word == "its release")
}

/// True if the service of this lock can be called by this word, and by no other.
fn is_kind(lock: &str, word: &str) -> bool {
    let as_kind = |kind: &str| read(CUT, &[("lock.algorithm", lock), ("service.kind", kind)]);
    ["zookeeper", "etcd", "database"].iter().all(|kind| as_kind(kind).is_ok() == (*kind == word))
}

#[test]
fn every_word_that_leaves_a_run_as_it_is_says_what_it_says() {
    let wrong: Vec<&str> = WORDS.iter().filter(|(_, shows)| !shows()).map(|(word, _)| *word).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// c2's lease ends while it waits in line, and c3 stands behind it.
const DEAD_LEASE: &str = r#"
    claim = "a waiter whose lease ends"
    lock = { algorithm = "etcd-mutex", ttl = "10s" }
    nodes = { names = ["etcd"] }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "read", "work 30s", "write", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "read", "work 10s", "write", "release"]
    start = "1s after c1's grant"
    [[clients]]
    name = "c3"
    program = ["acquire", "read", "work 10s", "write", "release"]
    start = "2s after c1's grant"
    [[faults]]
    kind = "cut"
    from = "c2"
    to = "etcd"
    both_ways = true
    for = "15s"
    at = "4s after c1's grant"
"#;

fn leases() -> Vec<Row> {
    vec![
        Row {
            word: "lock.checks_key",
            claim: "without a look at its own key, c2 takes itself for the holder when c1's key is gone",
            with: &[("lock.checks_key", "false")],
            turns: &[(Predicate::P1, "holds", "violated")],
            shows: |without, with| with.grant("c2").at < without.grant("c2").at,
            ..Row::on(DEAD_LEASE)
        },
        Row {
            word: "lock.heeds_loss",
            claim: "c1 stops when its library says that the lease is over, and does not write",
            both: &[("lock.algorithm", "etcd-mutex"), ("faults.0.kind", "cut")],
            with: &[("lock.heeds_loss", "true")],
            turns: &[(Predicate::P3, "violated", "holds")],
            shows: |without, with| {
                stopped(without).is_empty() && stopped(with)[0] == notices(with, "Done")[0]
            },
            ..Row::on(CUT)
        },
    ]
}

/// c1 stops for 25 s with a row locked, and c2 waits.
const ROW: &str = r#"
    claim = "a holder that stops with a row locked"
    lock = { algorithm = "row-lock", ttl = "10s" }
    nodes = { names = ["db"] }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "read", "work 40s", "write", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "read", "work 4s", "write", "release"]
    start = "1s after c1's grant"
    [[faults]]
    kind = "pause"
    host = "c1"
    for = "25s"
    at = "3s after c1's grant"
"#;
const IDLE: (&str, &str) = ("service.idle_in_transaction_timeout", "5s");
const ADVISORY: (&str, &str) = ("lock.algorithm", "advisory-lock");

/// So long after its grant, c2 has the lock as well.
fn waits(seen: &Seen) -> u64 {
    seen.grant("c2").at - seen.grant("c1").at
}

fn about(time: u64, seconds: u64) -> bool {
    (seconds * SEC..=seconds * SEC + SEC / 10).contains(&time)
}

fn databases() -> Vec<Row> {
    vec![
        Row {
            word: "service.idle_in_transaction_timeout",
            claim: "c1's session is ended 5 s after its last statement, and its write is refused",
            with: &[IDLE],
            turns: &[(Predicate::P1, "holds", "violated"), (Predicate::P3, "holds", "holds")],
            shows: |without, with| about(waits(without), 40) && about(waits(with), 5),
            ..Row::on(ROW)
        },
        Row {
            word: "service.idle_session_timeout",
            claim: "a session outside of a transaction is ended 6 s after its last statement",
            both: &[ADVISORY],
            with: &[("service.idle_session_timeout", "6s")],
            turns: &[(Predicate::P1, "holds", "violated")],
            shows: |without, with| about(waits(without), 40) && about(waits(with), 6),
            ..Row::on(ROW)
        },
        Row {
            word: "resource.writes=elsewhere",
            claim: "the write goes to the resource's host, and nobody there knows of the session",
            both: &[IDLE],
            with: &[("resource.writes", "elsewhere")],
            turns: &[(Predicate::P3, "holds", "violated"), (Predicate::P4, "holds", "violated")],
            shows: |without, with| {
                without.sent("c1", "resource").is_empty() && !with.sent("c1", "resource").is_empty()
            },
            ..Row::on(ROW)
        },
        Row {
            word: "resource.writes=in-session",
            claim: "the write goes through the session, which is over",
            both: &[IDLE, ("resource.writes", "elsewhere")],
            with: &[("resource.writes", "in-session")],
            turns: &[(Predicate::P3, "violated", "holds"), (Predicate::P4, "violated", "holds")],
            shows: |_, with| with.executed("db", "UPDATE", "c2").len() == 1,
            ..Row::on(ROW)
        },
    ]
}

/// As [`ROW`], but c1 is cut off.
const ROW_CUT: &str = r#"
    claim = "a holder that is cut off with a row locked"
    lock = { algorithm = "row-lock", ttl = "10s" }
    nodes = { names = ["db"] }
    network = { delay = "1ms" }
    service = { keepalive_idle = "2s", keepalive_interval = "2s", keepalive_count = 2 }
    [[clients]]
    name = "c1"
    program = ["acquire", "read", "work 40s", "write", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "read", "work 4s", "write", "release"]
    start = "1s after c1's grant"
    [[faults]]
    kind = "cut"
    from = "c1"
    to = "db"
    both_ways = true
    for = "25s"
    at = "3s after c1's grant"
"#;

fn keepalives() -> Vec<Row> {
    vec![
        Row {
            word: "service.keepalive_idle",
            claim: "the first probe that is not answered comes later: at 10 s in place of 4 s",
            with: &[("service.keepalive_idle", "10s")],
            shows: |without, with| about(waits(without), 8) && about(waits(with), 14),
            ..Row::on(ROW_CUT)
        },
        Row {
            word: "service.keepalive_interval",
            claim: "two probes without an answer take longer",
            with: &[("service.keepalive_interval", "5s")],
            shows: |without, with| about(waits(without), 8) && about(waits(with), 14),
            ..Row::on(ROW_CUT)
        },
        Row {
            word: "service.keepalive_count",
            claim: "five probes have to stay without an answer",
            with: &[("service.keepalive_count", "5")],
            shows: |without, with| about(waits(without), 8) && about(waits(with), 14),
            ..Row::on(ROW_CUT)
        },
    ]
}

/// c1 commits, the primary crashes 500 ms later, and the standby is promoted. c2 reads there.
const FAILOVER: &str = r#"
    claim = "a commit before a failover"
    lock = { algorithm = "row-lock", ttl = "10s" }
    nodes = { names = ["db", "db2"] }
    service = { standby = "db2" }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "read", "write", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "read", "write", "release"]
    start = "2s after c1's release"
    [[faults]]
    kind = "crash"
    host = "db"
    at = "500ms after c1's release"
    [[faults]]
    kind = "promote"
    host = "db2"
    at = "1s after c1's release"
"#;

/// The version that c2 read.
fn read_by_c2(seen: &Seen) -> u64 {
    let read = seen.did("c2").find_map(|(_, what)| match what {
        EventKind::ReadDone { version, .. } => Some(*version),
        _ => None,
    });
    read.expect("it reads")
}

fn standbys() -> Vec<Row> {
    vec![
        Row {
            word: "service.standby",
            claim: "c2 finds the other host, which was the standby, and the other way round it finds nobody",
            with: &[("service.standby", "db"), ("faults.1.host", "db")],
            shows: |without, with| {
                let on_standby = without.executed("db2", "SELECT", "c2").len();
                on_standby == 1 && with.executed("db2", "SELECT", "c1").len() == 1
            },
            ..Row::on(FAILOVER)
        },
        Row {
            word: "service.standby_lag",
            claim: "a commit leaves for the standby a second later, which is after the crash",
            with: &[("service.standby_lag", "1s")],
            turns: &[(Predicate::P4, "holds", "violated")],
            shows: |without, with| read_by_c2(without) == 1 && read_by_c2(with) == 0,
            ..Row::on(FAILOVER)
        },
    ]
}
