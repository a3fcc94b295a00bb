//! `[lock]`: how a client waits for a lock that another holds, and what a node has to be told for it.

use doublehold_history::EventKind;

use crate::keyword_effects::row::{Row, Sets, TWO, check};
use crate::keyword_effects::seen::{MS, SEC, Seen, gaps};

pub(crate) fn rows() -> Vec<Row> {
    [ways(), events(), bounds(), limits(), lists()].into_iter().flatten().collect()
}

#[test]
fn every_way_of_waiting_does_what_it_says() {
    check(&rows());
}

/// c1 holds the lock for 5 s, and nothing but a word of the node wakes c2.
const PUBSUB: Sets = &[HELD, ("lock.wake", "pubsub"), ("lock.poll", "none"), ("lock.until_expiry", "false")];
const HELD: (&str, &str) = ("clients.0.program", "['acquire', 'work 5s', 'release']");
const TELLS: (&str, &str) = ("nodes.notify_keyspace_events", "KA");

/// How long after c1's release c2 had the lock.
fn handover(seen: &Seen) -> u64 {
    seen.marks("c2", "grant")[0] - seen.marks("c1", "release")[0]
}

/// How often c2 asked for the key.
fn asked(seen: &Seen) -> usize {
    seen.executed("A", "SET", "c2").len()
}

fn gave_up(what: &EventKind) -> bool {
    matches!(what, EventKind::GaveUp { .. })
}

/// A row about a word that wakes c2 at once, where it asked every 700 ms before.
fn wakes(
    word: &'static str,
    claim: &'static str,
    both: Sets,
    with: Sets,
    shows: fn(&Seen, &Seen) -> bool,
) -> Row {
    Row { word, claim, both, with, shows, ..Row::on(TWO) }
}

fn ways() -> Vec<Row> {
    vec![
        wakes(
            "lock.wake=none",
            "a call asks once, and the program asks again",
            &[HELD, ("lock.wake", "poll")],
            &[("lock.wake", "none")],
            |without, with| {
                without.marks("c2", "refusal").is_empty() && with.marks("c2", "refusal").len() > 40
            },
        ),
        wakes(
            "lock.wake=poll",
            "a call asks every so often",
            &[HELD],
            &[("lock.wake", "poll"), ("lock.poll", "700ms")],
            |_, with| {
                let asked = with.executed("A", "SET", "c2");
                asked.len() == 9 && gaps(&asked[1..]).iter().all(|gap| (700 * MS..705 * MS).contains(gap))
            },
        ),
        wakes(
            "lock.wake=pubsub",
            "a call subscribes, asks again, and once more at a message of the release",
            &[HELD],
            &[("lock.wake", "pubsub"), ("lock.poll", "none")],
            |without, with| asked(without) > 40 && asked(with) == 3 && handover(with) < 10 * MS,
        ),
        wakes(
            "lock.wake=list",
            "a call waits at the node for what a release puts on a list",
            &[HELD],
            &[("lock.wake", "list"), ("lock.poll", "none")],
            |without, with| asked(without) > 40 && asked(with) == 2 && handover(with) < 10 * MS,
        ),
        wakes(
            "lock.wake=keyspace",
            "a call is told by the node that the key is gone",
            &[HELD, TELLS],
            &[("lock.wake", "keyspace"), ("lock.poll", "none")],
            |without, with| asked(without) > 40 && asked(with) == 3 && handover(with) < 10 * MS,
        ),
        wakes(
            "lock.wake=tracking",
            "a call is told by the node that the key is not any more as it was read",
            &[HELD],
            &[("lock.wake", "tracking"), ("lock.poll", "none")],
            |without, with| asked(without) > 40 && asked(with) == 2 && handover(with) < 10 * MS,
        ),
    ]
}

fn events() -> Vec<Row> {
    vec![wakes(
        "nodes.notify_keyspace_events",
        "a node that is to tell of keys wakes who waits for that; another lets it wait until its limit",
        &[
            HELD,
            ("lock.wake", "keyspace"),
            ("lock.poll", "none"),
            ("lock.until_expiry", "false"),
            ("clients.1.give_up_after", "20s"),
        ],
        &[TELLS],
        |without, with| handover(without) > 14 * SEC && handover(with) < 10 * MS,
    )]
}

fn bounds() -> Vec<Row> {
    vec![
        wakes(
            "lock.poll",
            "whoever was not woken asks again after that time",
            PUBSUB,
            &[("lock.poll", "800ms")],
            |without, with| asked(without) == 3 && (8..=10).contains(&asked(with)),
        ),
        wakes(
            "lock.poll=none",
            "whoever was not woken does not ask again",
            &[HELD, ("lock.wake", "list"), ("lock.until_expiry", "false")],
            &[("lock.poll", "none")],
            |without, with| asked(without) > 30 && asked(with) == 2,
        ),
        wakes(
            "lock.until_expiry",
            "whoever knows when the key is to be gone asks again then, though its holder never released it",
            &[
                ("clients.0.program", "['acquire']"),
                ("lock.wake", "pubsub"),
                ("lock.poll", "none"),
                ("lock.until_expiry", "false"),
                ("clients.1.give_up_after", "30s"),
            ],
            &[("lock.until_expiry", "true")],
            |without, with| {
                let waited = |seen: &Seen| seen.marks("c2", "grant")[0] - seen.marks("c1", "grant")[0];
                waited(without) > 29 * SEC && (10 * SEC - 10 * MS..10 * SEC + 20 * MS).contains(&waited(with))
            },
        ),
        wakes(
            "lock.signal_ttl",
            "a client that comes to the list late finds a signal that lives so long, and else waits for the next",
            &[
                HELD,
                ("lock.wake", "list"),
                ("lock.poll", "none"),
                ("lock.until_expiry", "false"),
                ("clients.1.start", "4500ms"),
                ("clients.1.give_up_after", "20s"),
                (
                    "faults",
                    "[{ kind = 'pause', host = 'c2', for = '2s', at = 'the 1st SET executed for c2' }]",
                ),
            ],
            &[("lock.signal_ttl", "3s")],
            |without, with| handover(without) > 15 * SEC && (SEC..2 * SEC).contains(&handover(with)),
        ),
    ]
}

fn limits() -> Vec<Row> {
    const LIMITED: (&str, &str) = ("clients.1.program", "['try 2s', 'work 1s', 'release']");
    vec![
        Row {
            word: "clients.program=try",
            claim: "with a limit a client asks again until then, whatever the lock, and then ends its round",
            both: &[HELD, ("clients.1.program", "['try', 'work 1s', 'release']")],
            with: &[LIMITED],
            shows: |without, with| {
                let tried = |seen: &Seen| seen.times("c2", gave_up)[0] - seen.marks("c2", "acquire")[0];
                tried(without) < 10 * MS && (2 * SEC..2_110 * MS).contains(&tried(with))
            },
            ..Row::on(TWO)
        },
        wakes(
            "lock.wait_clock=wall",
            "a wall clock that is set ahead ends a wait, and one that is set back makes it longer",
            &[
                HELD,
                LIMITED,
                ("lock.wake", "poll"),
                ("faults", "[{ kind = 'clock-step', host = 'c2', by = '-1s', at = '1s' }]"),
            ],
            &[("lock.wait_clock", "wall")],
            |without, with| {
                let tried = |seen: &Seen| seen.times("c2", gave_up)[0] - seen.marks("c2", "acquire")[0];
                (2 * SEC..2_110 * MS).contains(&tried(without))
                    && (3 * SEC..3_110 * MS).contains(&tried(with))
            },
        ),
        wakes(
            "lock.wait_clock=monotonic",
            "a clock that nobody sets ends a wait when it is over",
            &[
                HELD,
                LIMITED,
                ("lock.wake", "poll"),
                ("lock.wait_clock", "wall"),
                ("faults", "[{ kind = 'clock-step', host = 'c2', by = '10s', at = '1s' }]"),
            ],
            &[("lock.wait_clock", "monotonic")],
            |without, with| {
                let tried = |seen: &Seen| seen.times("c2", gave_up)[0] - seen.marks("c2", "acquire")[0];
                tried(without) < 1_110 * MS && (2 * SEC..2_110 * MS).contains(&tried(with))
            },
        ),
    ]
}

/// c1 dies with its lock after a second, where it does not give it back before.
pub(crate) const LIST: &str = r#"
    claim = "two clients wait at a list beside the key"
    lock = { algorithm = "list", ttl = "10s" }
    nodes = { names = ["A"] }
    network = { delay = "1ms" }
    faults = [{ kind = "crash", host = "c1", at = "1s" }]
    [[clients]]
    name = "c1"
    program = ["acquire", "work 5s", "release"]
    [[clients]]
    name = "c2"
    program = ["acquire", "release"]
    start = "c1's grant"
    give_up_after = "1m"
"#;

fn lists() -> Vec<Row> {
    vec![
        Row {
            word: "lock.algorithm=list",
            claim: "a client waits at a list beside the key, where it asked before",
            both: &[("lock.algorithm", "single"), ("faults", "[]")],
            with: &[("lock.algorithm", "list")],
            shows: |without, with| asked(without) > 40 && asked(with) == 2 && handover(with) < 10 * MS,
            ..Row::on(LIST)
        },
        Row {
            word: "lock.expiry=none",
            claim: "a key without an end outlives its holder",
            with: &[("lock.expiry", "none")],
            shows: |without, with| without.grants("c2").len() == 1 && with.grants("c2").is_empty(),
            ..Row::on(LIST)
        },
        Row {
            word: "lock.expiry=px",
            claim: "a key with an end goes with the lease",
            both: &[("lock.expiry", "none")],
            with: &[("lock.expiry", "px")],
            shows: |without, with| without.grants("c2").is_empty() && with.grants("c2").len() == 1,
            ..Row::on(LIST)
        },
    ]
}
