//! `[lock]`: what the lock makes of time.

use doublehold_history::{ClockKind, Predicate};

use crate::keyword_effects::row::{ONE, Row, TWO, check};
use crate::keyword_effects::seen::{MS, Seen};

/// c1 is paused when the node has set its key, until the key is gone and c2 holds the lock.
const IN_FLIGHT: &str = r#"
    claim = "a pause while the reply is in flight"
    lock = { algorithm = "single", ttl = "10s", elapsed_check = true, request_timeout = "none" }
    nodes = { names = ["A"] }
    network = { delay = "1ms" }
    [[clients]]
    name = "c1"
    program = ["acquire", "work 1s", "release"]
    retry = "10s"
    [[clients]]
    name = "c2"
    program = ["acquire", "work 5s", "release"]
    retry = "100ms"
    start = "SET executed for c1"
    [[faults]]
    kind = "pause"
    host = "c1"
    for = "12s"
    at = "SET executed for c1"
"#;
/// The same with c1's wall clock set back meanwhile.
const STEPPED_BACK: &str = "[{ kind = 'pause', host = 'c1', for = '12s', at = 'SET executed for c1' }, \
     { kind = 'clock-step', host = 'c1', by = '-10s', at = '5s after SET executed for c1' }]";
/// The same with c1's machine suspended instead.
const SUSPENDED: &str = "[{ kind = 'suspend', host = 'c1', for = '12s', at = 'SET executed for c1' }]";

pub(crate) fn rows() -> Vec<Row> {
    [checks(), clocks(), allowances()].into_iter().flatten().collect()
}

#[test]
fn every_switch_of_timing_does_what_it_says() {
    check(&rows());
}

fn checks() -> Vec<Row> {
    vec![
        Row {
            word: "lock.elapsed_check",
            claim: "a yes that comes after the lease is a refusal",
            both: &[("lock.elapsed_check", "false")],
            with: &[("lock.elapsed_check", "true")],
            turns: &[(Predicate::P1, "violated", "holds"), (Predicate::P2, "violated", "holds")],
            shows: |without, with| {
                without.refusals("c1").is_empty()
                    && without.grant("c1").deadline.is_none()
                    && with.refusals("c1")[0].1.starts_with("granted too late to be valid; 12.0")
            },
            ..Row::on(IN_FLIGHT)
        },
        Row {
            word: "lock.unchecked_deadline",
            claim: "a lock that checks nothing still says until when it is good",
            both: &[("lock.elapsed_check", "false")],
            with: &[("lock.unchecked_deadline", "true")],
            shows: |without, with| {
                without.grant("c1").deadline.is_none() && with.grant("c1").deadline.is_some()
            },
            ..Row::on(ONE)
        },
        Row {
            word: "lock.unchecked_deadline",
            claim: "a deadline that has passed ends a claim for the reader of a history",
            both: &[("lock.elapsed_check", "false")],
            with: &[("lock.unchecked_deadline", "true")],
            turns: &[(Predicate::P1, "violated", "violated"), (Predicate::P2, "violated", "holds")],
            shows: |_, with| with.refusals("c1").is_empty(),
            ..Row::on(IN_FLIGHT)
        },
    ]
}

fn clock_of(seen: &Seen, client: &str) -> ClockKind {
    seen.grant(client).deadline.expect("the elapsed check is on").clock
}

fn clocks() -> Vec<Row> {
    vec![
        Row {
            word: "lock.clock=wall",
            claim: "the lease is measured on a clock that can be set back: a lock that has ended is accepted",
            both: &[("faults", STEPPED_BACK)],
            with: &[("lock.clock", "wall")],
            turns: &[(Predicate::P1, "holds", "violated"), (Predicate::P2, "holds", "violated")],
            shows: |_, with| clock_of(with, "c1") == ClockKind::Wall,
            ..Row::on(IN_FLIGHT)
        },
        Row {
            word: "lock.clock=monotonic",
            claim: "the lease is measured on a clock that nobody sets back",
            both: &[("faults", STEPPED_BACK), ("lock.clock", "wall")],
            with: &[("lock.clock", "monotonic")],
            turns: &[(Predicate::P2, "violated", "holds")],
            shows: |_, with| clock_of(with, "c1") == ClockKind::Monotonic,
            ..Row::on(IN_FLIGHT)
        },
        Row {
            word: "lock.clock=boot",
            claim: "the lease is measured on a clock that runs while the machine is suspended",
            both: &[("faults", SUSPENDED)],
            with: &[("lock.clock", "boot")],
            turns: &[(Predicate::P2, "violated", "holds")],
            shows: |_, with| clock_of(with, "c1") == ClockKind::Boot,
            ..Row::on(IN_FLIGHT)
        },
    ]
}

/// How much earlier c1's deadline is.
fn earlier(without: &Seen, with: &Seen) -> i64 {
    let deadline = |seen: &Seen| seen.grant("c1").deadline.expect("the elapsed check is on").reading_ns;
    deadline(without) - deadline(with)
}

fn allowances() -> Vec<Row> {
    vec![
        Row {
            word: "lock.drift_ratio",
            claim: "a tenth of 10 s is given up instead of a hundredth: enough for a clock that is 5 % slow",
            both: &[
                ("clocks.c1.drift", "-5/100"),
                ("clients.0.program", "['acquire', 'work 9.5s', 'check', 'work 3s', 'release']"),
            ],
            with: &[("lock.drift_ratio", "1/10")],
            turns: &[(Predicate::P2, "violated", "holds")],
            shows: |without, with| earlier(without, with) == 900 * MS as i64,
            ..Row::on(TWO)
        },
        Row {
            word: "lock.drift_constant",
            claim: "50 ms are given up instead of 2 ms",
            both: &[("clients.0.program", "['acquire', 'work 9.87s', 'check', 'release']")],
            with: &[("lock.drift_constant", "50ms")],
            shows: |without, with| {
                earlier(without, with) == 48 * MS as i64
                    && without.marks("c1", "expiry").is_empty()
                    && with.marks("c1", "expiry").len() == 1
            },
            ..Row::on(ONE)
        },
    ]
}
