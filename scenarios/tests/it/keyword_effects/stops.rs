//! `[[faults]]` that stop a host. What is common to all faults is in `texts`.

use doublehold_history::{EventKind, Predicate};
use doublehold_scenarios::report::KeyEnd;
use doublehold_sim::{End, Event, Fault};

use crate::keyword_effects::row::{ONE, Row, TWO, check};
use crate::keyword_effects::seen::{MS, SEC, Seen};

pub(crate) fn rows() -> Vec<Row> {
    [pause(), suspend(), crash(), power_loss()].into_iter().flatten().collect()
}

#[test]
fn every_fault_that_stops_a_host_does_what_it_says() {
    check(&rows());
}

/// From c1's read to its check, between which it works for 1 s.
fn read_to_check(seen: &Seen) -> u64 {
    seen.marks("c1", "check")[0] - seen.marks("c1", "read")[0]
}

/// By how much c1's monotonic and boot clocks are behind true time at its last reading.
fn behind(seen: &Seen) -> (u64, u64) {
    let (at, reading) = seen.readings("c1").pop().expect("claims begin and end with readings");
    (at - reading.monotonic_ns, at - reading.boot_ns)
}

/// Whether no code ran on the host while the fault lasted.
fn stands_still(seen: &Seen, host: &str) -> bool {
    let host = seen.host(host);
    let during = seen.struck(0) + 1..seen.fault(0).1.expect("it ends");
    let ran = |event: &Event| matches!(event, Event::Ran { host: at } if *at == host);
    !seen.trace().any(|(at, event)| during.contains(&at) && ran(event))
}

const PAUSE: (&str, &str) = ("faults", "[{ kind = 'pause', host = 'c1', for = '5s', at = \"c1's read\" }]");

fn pause() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=pause",
            claim: "c1's code stands still for 5 s, and its clocks run on",
            with: &[PAUSE],
            shows: |without, with| {
                read_to_check(without) == SEC
                    && read_to_check(with) == 6 * SEC
                    && behind(with) == (0, 0)
                    && with.fault(0) == (Some(with.marks("c1", "read")[0]), Some(with.struck(0) + 5 * SEC))
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.kind=pause",
            claim: "a pause between check and write is longer than a lease: the write comes too late",
            with: &[("faults", "[{ kind = 'pause', host = 'c1', for = '20s', at = \"c1's check\" }]")],
            turns: &[
                (Predicate::P1, "holds", "violated"),
                (Predicate::P2, "holds", "holds"),
                (Predicate::P3, "holds", "violated"),
                (Predicate::P4, "holds", "violated"),
            ],
            shows: |_, with| with.marks("c1", "check").len() == 1,
            ..Row::on(TWO)
        },
        Row {
            word: "faults.pause.host",
            claim: "every host that is named stands still, and no other",
            both: &[PAUSE],
            with: &[("faults.0.host", "['c2', 'A']")],
            shows: |without, with| {
                let stopped = |seen: &Seen| ["c1", "c2", "A"].map(|host| stands_still(seen, host));
                stopped(without) == [true, false, false] && stopped(with) == [false, true, true]
            },
            ..Row::on(TWO)
        },
        Row {
            word: "faults.pause.for",
            claim: "c1 goes on after that time",
            both: &[PAUSE],
            with: &[("faults.0.for", "7s")],
            shows: |_, with| {
                read_to_check(with) == 8 * SEC && with.fault(0).1 == Some(with.struck(0) + 7 * SEC)
            },
            ..Row::on(ONE)
        },
    ]
}

const SUSPEND: (&str, &str) =
    ("faults", "[{ kind = 'suspend', host = 'c1', for = '5s', at = \"c1's read\" }]");

fn suspend() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=suspend",
            claim: "c1's monotonic clock stands still with its code, and its boot clock runs on",
            both: &[PAUSE],
            with: &[("faults.0.kind", "suspend")],
            shows: |without, with| {
                behind(without) == (0, 0) && behind(with) == (5 * SEC, 0) && read_to_check(with) == 6 * SEC
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.suspend.host",
            claim: "every machine that is named is suspended, and no other",
            both: &[SUSPEND],
            with: &[("faults.0.host", "['c2', 'A']")],
            shows: |without, with| {
                let stopped = |seen: &Seen| ["c1", "c2", "A"].map(|host| stands_still(seen, host));
                behind(without) == (5 * SEC, 0)
                    && behind(with) == (0, 0)
                    && stopped(without) == [true, false, false]
                    && stopped(with) == [false, true, true]
            },
            ..Row::on(TWO)
        },
        Row {
            word: "faults.suspend.for",
            claim: "c1 wakes after that time",
            both: &[SUSPEND],
            with: &[("faults.0.for", "7s")],
            shows: |_, with| behind(with) == (7 * SEC, 0),
            ..Row::on(ONE)
        },
        Row {
            word: "faults.suspend.resync",
            claim: "a machine that does not know stands still with all its clocks, and its wall clock is set right 2 s after it woke",
            both: &[SUSPEND, ("clients.0.rounds", "2")],
            with: &[("faults.0.resync", "2s")],
            shows: |without, with| {
                let wall = |seen: &Seen| {
                    let of_run = seen.readings("c1");
                    let (at, first) = of_run[0];
                    let behind = |(now, reading): &(u64, doublehold_history::Reading)| {
                        (now - at) as i64 - (reading.wall_ns - first.wall_ns)
                    };
                    let mut all: Vec<i64> = of_run.iter().map(behind).collect();
                    all.dedup();
                    all
                };
                let step = Fault::StepClock { host: with.host("c1"), by_ns: 5 * SEC as i64 };
                let steps = |seen: &Seen| {
                    let is = |event: &Event| matches!(event, Event::Fault { fault } if *fault == step);
                    seen.trace().filter(|(_, event)| is(event)).map(|(at, _)| at).collect::<Vec<_>>()
                };
                let woke = with.fault(0).1.expect("it lasts for 5 s");
                behind(without) == (5 * SEC, 0)
                    && behind(with) == (5 * SEC, 5 * SEC)
                    && wall(without) == [0]
                    && wall(with) == [0, 5 * SEC as i64, 0]
                    && steps(without).is_empty()
                    && steps(with) == [woke + 2 * SEC]
            },
            ..Row::on(ONE)
        },
    ]
}

const CRASH: (&str, &str) = ("faults", "[{ kind = 'crash', host = 'A', at = \"c1's grant\" }]");
const POWER_LOSS: (&str, &str) = ("faults", "[{ kind = 'power-loss', host = 'A', at = \"c1's grant\" }]");

/// How c1's connection to the node ended, if the node ended it.
fn reset(seen: &Seen) -> bool {
    let c1 = seen.host("c1");
    let is = |event: &Event| matches!(event, Event::Ended { host, how: End::Reset | End::Finished, .. } if *host == c1);
    let soon = seen.struck(0)..seen.struck(0) + 100 * MS;
    seen.trace().any(|(at, event)| soon.contains(&at) && is(event))
}

fn forgotten(seen: &Seen) -> bool {
    let until = seen.keys("A", "c1")[0].until.map(|(at, how)| (at.0, how));
    until == Some((seen.struck(0), KeyEnd::Forgotten))
}

/// Whether the host came back after that time.
fn back_after(seen: &Seen, host: &str, after: u64) -> bool {
    seen.boots(host) == [0, seen.struck(0) + after]
}

const SHORT: (&str, &str) = ("clients.0.give_up_after", "3s");

fn crash() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=crash",
            claim: "the node's process is gone with its keys, and its machine ends the connections",
            both: &[SHORT],
            with: &[CRASH],
            shows: |without, with| {
                without.keys("A", "c1")[0].until.is_some_and(|(_, how)| how == KeyEnd::Deleted)
                    && forgotten(with)
                    && reset(with)
                    && with.boots("A") == [0]
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.crash.host",
            claim: "every process that is named is gone, and no other",
            both: &[CRASH, ("clients.1.give_up_after", "3s")],
            with: &[("faults.0.host", "['c1', 'c2']")],
            shows: |without, with| {
                let died = |seen: &Seen, client| {
                    !seen.times(client, |what| matches!(what, EventKind::Died { .. })).is_empty()
                };
                forgotten(without)
                    && !died(without, "c2")
                    && !forgotten(with)
                    && died(with, "c1")
                    && died(with, "c2")
            },
            ..Row::on(TWO)
        },
        Row {
            word: "faults.crash.for",
            claim: "the process starts again after that time, and never where nothing is said",
            both: &[CRASH, SHORT],
            with: &[("faults.0.for", "700ms")],
            shows: |without, with| without.boots("A") == [0] && back_after(with, "A", 700 * MS),
            ..Row::on(ONE)
        },
    ]
}

fn power_loss() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=power-loss",
            claim: "the machine is gone without a word on its connections",
            both: &[CRASH, SHORT],
            with: &[("faults.0.kind", "power-loss")],
            shows: |without, with| reset(without) && !reset(with) && forgotten(with),
            ..Row::on(ONE)
        },
        Row {
            word: "faults.power-loss.host",
            claim: "every machine that is named is gone, and no other",
            both: &[POWER_LOSS, ("clients.1.give_up_after", "3s")],
            with: &[("faults.0.host", "['c2']")],
            shows: |without, with| {
                let died =
                    |seen: &Seen| !seen.times("c2", |what| matches!(what, EventKind::Died { .. })).is_empty();
                forgotten(without) && !died(without) && !forgotten(with) && died(with)
            },
            ..Row::on(TWO)
        },
        Row {
            word: "faults.power-loss.for",
            claim: "the machine starts again after that time, and never where nothing is said",
            both: &[POWER_LOSS, SHORT],
            with: &[("faults.0.for", "700ms")],
            shows: |without, with| without.boots("A") == [0] && back_after(with, "A", 700 * MS),
            ..Row::on(ONE)
        },
    ]
}
