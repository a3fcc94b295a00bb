//! `[[clients]]` and the steps of their programs. The name of a client is in `texts`.

use doublehold_history::{EventKind, KeyOp, Predicate, ReleaseOutcome};
use doublehold_scenarios::report::KeyEnd;

use crate::keyword_effects::row::{ONE, Row, TWO, check};
use crate::keyword_effects::seen::{MS, SEC, Seen, applied, gaps};

pub(crate) fn rows() -> Vec<Row> {
    [keys(), limits_of_a_client(), asking(), effects(), lease()].into_iter().flatten().collect()
}

#[test]
fn every_key_and_step_of_a_client_does_what_it_says() {
    check(&rows());
}

/// c1 holds the lock for 5 s.
const HELD: (&str, &str) = ("clients.0.program", "['acquire', 'work 5s', 'release']");

fn gave_up(what: &EventKind) -> bool {
    matches!(what, EventKind::GaveUp { .. })
}

/// When a client asked for the lock while c1's work went on, or stood still.
fn asked(seen: &Seen, client: &str) -> Vec<u64> {
    let (from, to) = (seen.grant("c1").at, seen.grant("c1").at + 3 * SEC);
    let asked = seen.times(client, |what| matches!(what, EventKind::AcquireStarted { .. }));
    asked.into_iter().filter(|at| (from..to).contains(at)).collect()
}

fn keys() -> Vec<Row> {
    vec![
        Row {
            word: "clients.process",
            claim: "clients that name one process are threads of one machine, and what stops it stops them all",
            both: &[("faults", "[{ kind = 'pause', host = 'c1', at = \"c1's grant\", for = '3s' }]")],
            with: &[("clients.0.process", "web"), ("clients.1.process", "web"), ("faults.0.host", "web")],
            shows: |without, with| {
                let machines = |seen: &Seen| (seen.host("c1"), seen.host("c2"));
                let ((c1, c2), (first, second)) = (machines(without), machines(with));
                c1 != c2
                    && first == second
                    && asked(without, "c2").len() > 10
                    && asked(with, "c2").is_empty()
                    && with.grants("c2").len() == 1
            },
            ..Row::on(TWO)
        },
        Row {
            word: "clients.rounds",
            claim: "the program runs that often, and once where nothing is said",
            with: &[("clients.0.rounds", "3")],
            shows: |without, with| {
                let released = |seen: &Seen| seen.marks("c1", "release").len();
                (without.grants("c1").len(), released(without)) == (1, 1)
                    && (with.grants("c1").len(), released(with)) == (3, 3)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "clients.retry",
            claim: "a client that was refused waits that long before it asks again",
            both: &[HELD],
            with: &[("clients.1.retry", "700ms")],
            shows: |without, with| {
                let waits = |seen: &Seen, retry: u64| {
                    let asked = seen.marks("c2", "acquire");
                    let refused = seen.marks("c2", "refusal");
                    refused.iter().zip(&asked[1..]).all(|(refused, asked)| asked - refused == retry * MS)
                };
                waits(without, 100) && waits(with, 700)
            },
            ..Row::on(TWO)
        },
    ]
}

fn limits_of_a_client() -> Vec<Row> {
    vec![
        Row {
            word: "clients.give_up_after",
            claim: "a client gives up at the first refusal after that time on its own monotonic clock",
            both: &[HELD, ("clocks.c2.drift", "1/1")],
            with: &[("clients.1.give_up_after", "2s")],
            shows: |without, with| {
                let asked = with.marks("c2", "acquire")[0];
                let [given_up] = with.times("c2", gave_up)[..] else { return false };
                // Its clock runs at twice the rate, and it asks every 50 ms of true time.
                without.times("c2", gave_up).is_empty()
                    && (SEC..SEC + 60 * MS).contains(&(given_up - asked))
                    && with.grants("c2").is_empty()
            },
            ..Row::on(TWO)
        },
        Row {
            word: "clients.ttl",
            claim: "the client's own grants last that long, also extended, and nobody else's",
            both: &[("clients.0.program", "['acquire', 'work 2s', 'extend', 'work 4s', 'release']")],
            with: &[("clients.0.ttl", "3s")],
            shows: |without, with| {
                let lease = |seen: &Seen, client| {
                    let grant = seen.grant(client);
                    grant.deadline.expect("the elapsed check is on").reading_ns as u64
                        - grant.reading.monotonic_ns
                };
                let end = |seen: &Seen| seen.keys("A", "c1")[0].until.expect("it ended");
                lease(without, "c1") > 9 * SEC
                    && end(without).1 == KeyEnd::Deleted
                    && lease(with, "c1") < 3 * SEC
                    && lease(with, "c2") > 9 * SEC
                    && end(with).1 == KeyEnd::Expired
                    && (3 * SEC - 5 * MS..3 * SEC + 5 * MS)
                        .contains(&(end(with).0.0 - with.marks("c1", "extend")[0]))
            },
            ..Row::on(TWO)
        },
        Row {
            word: "clients.on_lost_lock",
            claim: "a client that learns from an extension that it is not the owner stops, unless it is to go on",
            both: &[
                ("clients.0.program", "['acquire', 'read', 'work 12s', 'extend', 'write', 'release']"),
                ("clients.0.on_lost_lock", "go-on"),
            ],
            with: &[("clients.0.on_lost_lock", "stop")],
            turns: &[(Predicate::P3, "violated", "holds"), (Predicate::P4, "violated", "holds")],
            shows: |without, with| {
                let failed = |what: &EventKind| matches!(what, EventKind::ExtendFailed { .. });
                without.times("c1", failed).len() == 1
                    && without.times("c1", applied).len() == 1
                    && with.times("c1", failed).len() == 1
                    && with.times("c1", applied).is_empty()
                    && with.marks("c1", "release").len() == 1
            },
            ..Row::on(TWO)
        },
        Row {
            word: "clients.on_lost_lock=stop",
            claim: "where nothing is said it stops: what it believed in ends there, and not with its release",
            both: &[
                ("clients.0.program", "['acquire', 'work 12s', 'extend', 'work 5s', 'release']"),
                ("clients.0.on_lost_lock", "go-on"),
            ],
            with: &[("clients.0.on_lost_lock", "stop")],
            shows: |without, with| {
                let noticed = |what: &EventKind| matches!(what, EventKind::ExpiryNoticed { .. });
                let works = |seen: &Seen| seen.marks("c1", "release")[0] - seen.marks("c1", "extend")[0];
                without.times("c1", noticed).is_empty()
                    && works(without) == 5 * SEC
                    && with.times("c1", noticed) == with.marks("c1", "extend")
                    && works(with) == 0
            },
            ..Row::on(TWO)
        },
        Row {
            word: "clients.on_lost_lock=go-on",
            claim: "it works on as if nothing was",
            both: &[("clients.0.program", "['acquire', 'work 12s', 'extend', 'work 5s', 'release']")],
            with: &[("clients.0.on_lost_lock", "go-on")],
            shows: |without, with| {
                let works = |seen: &Seen| seen.marks("c1", "release")[0] - seen.marks("c1", "extend")[0];
                works(without) == 0 && works(with) == 5 * SEC
            },
            ..Row::on(TWO)
        },
        Row {
            word: "clients.start",
            claim: "a client begins at that event, and at once where nothing is said",
            with: &[("clients.0.start", "3s")],
            shows: |without, with| {
                let began = |seen: &Seen| seen.marks("c1", "acquire")[0];
                began(without) < 10 * MS && began(with) == 3 * SEC
            },
            ..Row::on(ONE)
        },
    ]
}

fn asking() -> Vec<Row> {
    vec![
        Row {
            word: "clients.program=try",
            claim: "a client that was refused gives up at once, and its round is over",
            both: &[HELD],
            with: &[("clients.1.program", "['try', 'read', 'work 1s', 'check', 'write', 'release']")],
            shows: |_, with| {
                with.marks("c2", "acquire").len() == 1
                    && with.times("c2", gave_up).len() == 1
                    && with.grants("c2").is_empty()
                    && with.times("c2", applied).is_empty()
            },
            ..Row::on(TWO)
        },
        Row {
            word: "clients.program=acquire",
            claim: "a client that was refused asks again until it is granted the lock",
            both: &[HELD, ("clients.1.program", "['try', 'work 1s', 'release']")],
            with: &[("clients.1.program", "['acquire', 'work 1s', 'release']")],
            shows: |without, with| {
                without.grants("c2").is_empty()
                    && with.marks("c2", "acquire").len() > 10
                    && with.grants("c2").len() == 1
            },
            ..Row::on(TWO)
        },
        Row {
            word: "clients.program=work",
            claim: "a client is busy for that long",
            with: &[("clients.0.program", "['acquire', 'read', 'work 3s', 'check', 'write', 'release']")],
            shows: |without, with| {
                let busy = |seen: &Seen| seen.marks("c1", "check")[0] - seen.marks("c1", "read")[0];
                busy(without) == SEC && busy(with) == 3 * SEC
            },
            ..Row::on(ONE)
        },
        Row {
            word: "clients.program=release",
            claim: "the lock is given back, and does not expire",
            both: &[("clients.0.program", "['acquire', 'work 1s']"), ("clients.0.rounds", "2")],
            with: &[("clients.0.program", "['acquire', 'work 1s', 'release']")],
            shows: |without, with| {
                let end = |seen: &Seen| seen.keys("A", "c1")[0].until.map(|(_, how)| how);
                let released = |what: &EventKind| {
                    matches!(what, EventKind::ReleaseReturned { outcome: ReleaseOutcome::Released, .. })
                };
                without.times("c1", released).is_empty()
                    && end(without) == Some(KeyEnd::Expired)
                    && with.times("c1", released).len() == 2
                    && end(with) == Some(KeyEnd::Deleted)
            },
            ..Row::on(ONE)
        },
    ]
}

fn effects() -> Vec<Row> {
    fn value(seen: &Seen) -> Vec<(Option<u64>, u64, u64)> {
        let write = |(_, what): (u64, &EventKind)| match what {
            EventKind::WriteApplied { based_on, version, value, .. } => Some((*based_on, *version, *value)),
            _ => None,
        };
        seen.did("c1").filter_map(write).collect()
    }
    vec![
        Row {
            word: "clients.program=read",
            claim: "a write is based on what was read, and is one more than that",
            both: &[("clients.0.program", "['acquire', 'write', 'release']"), ("clients.0.rounds", "2")],
            with: &[("clients.0.program", "['acquire', 'read', 'write', 'release']")],
            shows: |without, with| {
                let read = |what: &EventKind| matches!(what, EventKind::ReadDone { .. });
                without.times("c1", read).is_empty()
                    && value(without).iter().all(|(based_on, ..)| based_on.is_none())
                    && with.times("c1", read).len() == 2
                    && value(with) == [(Some(0), 1, 1), (Some(1), 2, 2)]
            },
            ..Row::on(ONE)
        },
        Row {
            word: "clients.program=write",
            claim: "the object is written once a round",
            both: &[("clients.0.program", "['acquire', 'read', 'release']"), ("clients.0.rounds", "2")],
            with: &[("clients.0.program", "['acquire', 'read', 'write', 'release']")],
            shows: |without, with| {
                without.times("c1", applied).is_empty() && with.times("c1", applied).len() == 2
            },
            ..Row::on(ONE)
        },
        Row {
            word: "clients.program=check",
            claim: "a client whose lease has ended notices, and does not write",
            both: &[("clients.0.program", "['acquire', 'read', 'work 15s', 'write', 'release']")],
            with: &[("clients.0.program", "['acquire', 'read', 'work 15s', 'check', 'write', 'release']")],
            turns: &[(Predicate::P3, "violated", "holds"), (Predicate::P4, "violated", "holds")],
            shows: |without, with| {
                let noticed = |what: &EventKind| matches!(what, EventKind::ExpiryNoticed { .. });
                without.times("c1", noticed).is_empty()
                    && with.times("c1", noticed) == with.marks("c1", "expiry")
                    && with.times("c1", noticed).len() == 1
                    && with.times("c1", applied).is_empty()
                    // What is left to do after a failed check is to give the lock back.
                    && with.marks("c1", "release").len() == 1
            },
            ..Row::on(TWO)
        },
    ]
}

fn lease() -> Vec<Row> {
    vec![longer_claim(), later_deadline()]
}

/// A promise that was renewed is still one when the node forgets the key.
fn later_deadline() -> Row {
    Row {
        word: "clients.program=extend",
        claim: "what the extension promised is broken when the node's clock jumps before the new deadline",
        both: &[
            ("clients.0.program", "['acquire', 'work 7s', 'work 7s', 'release']"),
            ("faults", "[{ kind = 'clock-step', host = 'A', by = '+10s', at = \"12s after c1's grant\" }]"),
        ],
        with: &[("clients.0.program", "['acquire', 'work 7s', 'extend', 'work 7s', 'release']")],
        turns: &[(Predicate::P2, "holds", "violated")],
        shows: |without, with| without.grant("c2").at < with.grant("c2").at,
        ..Row::on(TWO)
    }
}

fn longer_claim() -> Row {
    Row {
        word: "clients.program=extend",
        claim: "the lease begins anew: a later deadline for the client, a later expiry of the key",
        both: &[("clients.0.program", "['acquire', 'work 7s', 'work 7s', 'check', 'release']")],
        with: &[("clients.0.program", "['acquire', 'work 7s', 'extend', 'work 7s', 'check', 'release']")],
        turns: &[(Predicate::P1, "violated", "holds")],
        shows: |without, with| {
            let extended = |(_, what): (u64, &EventKind)| match what {
                EventKind::Extended { deadline, .. } => *deadline,
                _ => None,
            };
            let touched = |what: &EventKind| matches!(what, EventKind::KeyTouched { op: KeyOp::Extend, .. });
            let before = with.grant("c1").deadline.expect("the elapsed check is on").reading_ns;
            let Some(after) = with.did("c1").find_map(extended) else { return false };
            let gap = gaps(&[before as u64, after.reading_ns as u64])[0];
            (7 * SEC..7 * SEC + 20 * MS).contains(&gap)
                && with.times("c1", touched).len() == 1
                && without.keys("A", "c1")[0].until.map(|(_, how)| how) == Some(KeyEnd::Expired)
                && with.keys("A", "c1")[0].until.map(|(_, how)| how) == Some(KeyEnd::Deleted)
                && with.marks("c1", "extend").len() == 1
                && with.marks("c1", "check").len() == 1
                && without.marks("c1", "expiry").len() == 1
        },
        ..Row::on(TWO)
    }
}
