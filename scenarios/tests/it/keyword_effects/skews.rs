//! `[[faults]]` of clocks.

use doublehold_history::{Predicate, Reading};

use crate::keyword_effects::row::{ONE, Row, TWO, check};
use crate::keyword_effects::seen::{SEC, Seen};

pub(crate) fn rows() -> Vec<Row> {
    [step(), drift(), freeze()].into_iter().flatten().collect()
}

#[test]
fn every_fault_of_a_clock_does_what_it_says() {
    check(&rows());
}

/// How far c1's clocks went from its grant to its release, in true time and as wall, monotonic and boot clock show it.
fn went(seen: &Seen) -> (i128, [i128; 3]) {
    let granted = seen.grant("c1");
    let (released, reading) = seen.readings("c1").pop().expect("claims begin and end with readings");
    let on = |reading: &Reading| {
        [i128::from(reading.wall_ns), i128::from(reading.monotonic_ns), i128::from(reading.boot_ns)]
    };
    let (before, after) = (on(&granted.reading), on(&reading));
    (i128::from(released - granted.at), [0, 1, 2].map(|clock| after[clock] - before[clock]))
}

/// How much more than true time c1's clocks counted while it held the lock, in nanoseconds.
fn gained(seen: &Seen) -> [i128; 3] {
    let (true_time, shown) = went(seen);
    shown.map(|shown| shown - true_time)
}

const S: i128 = SEC as i128;
const STEP: (&str, &str) =
    ("faults", "[{ kind = 'clock-step', host = 'c1', by = '+10s', at = \"c1's read\" }]");

fn step() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=clock-step",
            claim: "c1's wall clock jumps 10 s ahead, and no other clock of it",
            with: &[STEP],
            shows: |without, with| gained(without) == [0; 3] && gained(with) == [10 * S, 0, 0],
            ..Row::on(ONE)
        },
        Row {
            word: "faults.clock-step.by",
            claim: "a minus sets it back",
            both: &[STEP],
            with: &[("faults.0.by", "-4s")],
            shows: |_, with| gained(with) == [-4 * S, 0, 0],
            ..Row::on(ONE)
        },
        Row {
            word: "faults.clock-step.for",
            claim: "after that time the clock is right again",
            both: &[STEP],
            with: &[("faults.0.for", "300ms")],
            shows: |_, with| gained(with) == [0; 3] && with.fault(0).1 == Some(with.struck(0) + 3 * SEC / 10),
            ..Row::on(ONE)
        },
        Row {
            word: "faults.clock-step.host",
            claim: "the clock of the node jumps: its key is over, and c2 gets the lock",
            both: &[STEP, ("clients.0.program", "['acquire', 'read', 'work 8s', 'check', 'release']")],
            with: &[("faults.0.host", "A")],
            turns: &[(Predicate::P2, "holds", "violated")],
            shows: |without, with| gained(without) == [10 * S, 0, 0] && gained(with) == [0; 3],
            ..Row::on(TWO)
        },
    ]
}

const DRIFT: (&str, &str) =
    ("faults", "[{ kind = 'clock-drift', host = 'c1', by = '1/2', at = \"c1's read\" }]");
/// Long work, measured on the clock that drifts.
const WORK_6S: (&str, &str) = ("clients.0.program", "['acquire', 'read', 'work 6s', 'check', 'release']");

fn drift() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=clock-drift",
            claim: "a plus makes all clocks of c1 fast: it works for 4 s and thinks they were 6",
            both: &[WORK_6S],
            with: &[DRIFT],
            shows: |without, with| gained(without) == [0; 3] && gained(with) == [2 * S; 3],
            ..Row::on(ONE)
        },
        Row {
            word: "faults.clock-drift.by",
            claim: "a minus makes them slow: c1 works for 12 s and thinks they were 6, while c2 gets the lock",
            both: &[WORK_6S, DRIFT],
            with: &[("faults.0.by", "-1/2")],
            turns: &[(Predicate::P2, "holds", "violated")],
            shows: |_, with| gained(with) == [-6 * S; 3],
            ..Row::on(TWO)
        },
        Row {
            word: "faults.clock-drift.for",
            claim: "after that time the clocks run true again",
            both: &[WORK_6S, DRIFT],
            with: &[("faults.0.for", "1s")],
            shows: |_, with| gained(with) == [S / 2; 3],
            ..Row::on(ONE)
        },
        Row {
            word: "faults.clock-drift.host",
            claim: "the clocks of the hosts that are named drift, and no others",
            both: &[WORK_6S, DRIFT],
            with: &[("faults.0.host", "['A', 'c2']"), ("faults.0.by", "2/1")],
            turns: &[(Predicate::P2, "holds", "violated")],
            shows: |_, with| gained(with) == [0; 3],
            ..Row::on(TWO)
        },
    ]
}

const FREEZE: (&str, &str) =
    ("faults", "[{ kind = 'clock-freeze', host = 'c1', clock = 'boot', for = '500ms', at = \"c1's read\" }]");

fn freeze() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=clock-freeze",
            claim: "a clock of c1 stands still for 500 ms",
            with: &[FREEZE],
            shows: |without, with| gained(without) == [0; 3] && gained(with) == [0, 0, -S / 2],
            ..Row::on(ONE)
        },
        Row {
            word: "faults.clock-freeze.clock=boot",
            claim: "the boot clock stands still, and no other",
            both: &[FREEZE, ("faults.0.clock", "wall")],
            with: &[("faults.0.clock", "boot")],
            shows: |_, with| gained(with) == [0, 0, -S / 2],
            ..Row::on(ONE)
        },
        Row {
            word: "faults.clock-freeze.clock=wall",
            claim: "the wall clock stands still, and no other",
            both: &[FREEZE],
            with: &[("faults.0.clock", "wall")],
            shows: |_, with| gained(with) == [-S / 2, 0, 0],
            ..Row::on(ONE)
        },
        Row {
            word: "faults.clock-freeze.clock=monotonic",
            claim: "the monotonic clock stands still with the sleep that waits on it, and no other clock",
            both: &[FREEZE],
            with: &[("faults.0.clock", "monotonic")],
            shows: |without, with| {
                let slept = |seen: &Seen| seen.marks("c1", "check")[0] - seen.marks("c1", "read")[0];
                gained(with) == [0, -S / 2, 0] && slept(with) - slept(without) == SEC / 2
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.clock-freeze.for",
            claim: "the clock runs again after that time",
            both: &[FREEZE],
            with: &[("faults.0.for", "200ms")],
            shows: |_, with| gained(with) == [0, 0, -S / 5],
            ..Row::on(ONE)
        },
        Row {
            word: "faults.clock-freeze.host",
            claim: "the clock of the host that is named stands still: its key does not expire",
            both: &[
                FREEZE,
                ("clients.0.program", "['acquire', 'read', 'work 1s']"),
                ("faults.0.clock", "wall"),
                ("faults.0.for", "5s"),
            ],
            with: &[("faults.0.host", "A")],
            shows: |without, with| {
                let waited = |seen: &Seen| seen.grant("c2").at - seen.grant("c1").at;
                gained(with) == [0; 3] && (4 * SEC..6 * SEC).contains(&(waited(with) - waited(without)))
            },
            ..Row::on(TWO)
        },
    ]
}
