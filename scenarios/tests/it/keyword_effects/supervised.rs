//! `[nodes]`: when a node that died may run again, and whom a master must hear of to take writes.

use doublehold_history::Predicate;

use crate::keyword_effects::row::{REPLICATED, Row, TWO, check, run};
use crate::keyword_effects::seen::{MS, SEC, Seen};

pub(crate) fn rows() -> Vec<Row> {
    [supervised(), in_touch()].into_iter().flatten().collect()
}

#[test]
fn every_key_about_restarts_and_replicas_does_what_it_says() {
    check(&rows());
}

const LONG_WORK: (&str, &str) = ("clients.0.program", "['acquire', 'work 9s', 'release']");
/// A dies with c1's key, and its wall clock jumps over the wait; it is to stay away for 20 s.
const DIES_AND_JUMPS: (&str, &str) = (
    "faults",
    "[{ kind = 'crash', host = 'A', for = '0s', at = \"c1's grant\" }, \
     { kind = 'clock-step', host = 'A', by = '+20s', at = \"1s after c1's grant\" }]",
);
/// A dies, and its clocks run twice as fast from then on.
const DIES_AND_HURRIES: (&str, &str) = (
    "faults",
    "[{ kind = 'crash', host = 'A', for = '0s', at = \"c1's grant\" }, \
     { kind = 'clock-drift', host = 'A', by = '1/1', at = \"c1's grant\" }]",
);
const AWAY: (&str, &str) = ("nodes.restart_after", "20s");

/// How long A answers nobody after c1's grant.
fn away(seen: &Seen) -> u64 {
    let granted = seen.grant("c1").at;
    let executed = seen.executed("A", "SET", "c2").into_iter().find(|at| *at > granted + MS);
    executed.expect("c2 asks until it has the lock") - granted
}

fn supervised() -> Vec<Row> {
    vec![
        Row {
            word: "nodes.restart_clock=wall",
            claim: "a machine that waits by its wall clock starts the node when that jumps",
            both: &[DIES_AND_JUMPS, LONG_WORK, AWAY, ("nodes.restart_clock", "monotonic")],
            with: &[("nodes.restart_clock", "wall")],
            turns: &[(Predicate::P2, "holds", "violated")],
            shows: |without, with| {
                (20 * SEC..21 * SEC).contains(&away(without)) && (SEC..2 * SEC).contains(&away(with))
            },
            ..Row::on(TWO)
        },
        Row {
            word: "nodes.restart_clock=monotonic",
            claim: "a machine that waits by its monotonic clock does not see the jump",
            both: &[DIES_AND_JUMPS, LONG_WORK, AWAY, ("nodes.restart_clock", "wall")],
            with: &[("nodes.restart_clock", "monotonic")],
            turns: &[(Predicate::P2, "violated", "holds")],
            shows: |without, with| away(without) < away(with),
            ..Row::on(TWO)
        },
        Row {
            word: "nodes.restart_clock=true-time",
            claim: "true time passes as it does, however fast the machine's clocks run",
            both: &[DIES_AND_HURRIES, AWAY, ("nodes.restart_clock", "monotonic")],
            with: &[("nodes.restart_clock", "true-time")],
            shows: |without, with| {
                (10 * SEC..11 * SEC).contains(&away(without)) && (20 * SEC..21 * SEC).contains(&away(with))
            },
            ..Row::on(TWO)
        },
    ]
}

/// A wall clock goes on while the machine is off, and what it showed is in a file; a monotonic clock begins anew.
#[test]
fn after_a_power_loss_a_monotonic_clock_counts_from_when_the_machine_is_on_again() {
    let faults = "[{ kind = 'power-loss', host = 'A', for = '5s', at = \"c1's grant\" }]";
    for (clock, seconds) in [("true-time", 20), ("wall", 20), ("monotonic", 25)] {
        let away = away(&run(TWO, &[("faults", faults), AWAY, ("nodes.restart_clock", clock)], 1));
        assert!((seconds * SEC..(seconds + 2) * SEC).contains(&away), "{clock}: {away} ns");
    }
}

/// M is a replica of R1 from then on, and ends no connection by itself.
#[test]
fn a_client_that_a_replica_has_refused_looks_for_the_master_again() {
    let faults = "[{ kind = 'promote', host = 'R1', tell = 'R2', at = \"c1's grant\" }, \
                   { kind = 'follow', host = 'M', master = 'R1', at = \"100ms after c1's grant\" }]";
    let seen = run(REPLICATED, &[BY_SCRIPT, PATIENCE, ("faults", faults)], 1);
    assert_eq!(refused_for(&seen, "READONLY"), 1);
    assert!(!seen.grants("c2").is_empty(), "it has gone to R1");
}

/// Another death while the machine waits begins the wait anew, and a fault that lasts longer than the wait decides.
#[test]
fn the_wait_counts_from_the_last_death_and_a_longer_fault_decides() {
    let again = "[{ kind = 'crash', host = 'A', for = '0s', at = \"c1's grant\" }, \
                  { kind = 'crash', host = 'A', for = '0s', at = \"7s after c1's grant\" }]";
    let long = "[{ kind = 'crash', host = 'A', for = '30s', at = \"c1's grant\" }]";
    for (faults, seconds) in [(again, 27), (long, 30)] {
        for clock in ["wall", "monotonic"] {
            let away = away(&run(TWO, &[("faults", faults), AWAY, ("nodes.restart_clock", clock)], 1));
            assert!((seconds * SEC..(seconds + 2) * SEC).contains(&away), "{clock}: {away} ns");
        }
    }
}

/// The master loses its replicas when c1 has the lock; c2 takes it again and again.
const ALONE: (&str, &str) =
    ("faults", "[{ kind = 'cut', from = 'M', to = ['R1', 'R2'], both_ways = true, at = \"c1's grant\" }]");
const AGAIN: (&str, &str) = ("clients.1.program", "['acquire', 'work 400ms', 'release']");
const ROUNDS: (&str, &str) = ("clients.1.rounds", "40");
const PATIENCE: (&str, &str) = ("clients.1.give_up_after", "20s");

/// M is made a replica of R1, which it cannot reach; c2 asks it for a lock by a script, over an old connection.
const TURNED: (&str, &str) = (
    "faults",
    "[{ kind = 'cut', from = 'M', to = ['R1', 'R2'], both_ways = true, at = \"c1's grant\" }, \
     { kind = 'follow', host = 'M', master = 'R1', at = \"100ms after c1's grant\" }]",
);
const BY_SCRIPT: (&str, &str) = ("lock", "{ algorithm = 'hash', ttl = '10s' }");

/// The number of times c2 was refused because of this.
fn refused_for(seen: &Seen, error: &str) -> usize {
    seen.refusals("c2").iter().filter(|(_, why)| why.contains(error)).count()
}

/// How long after the cut c2 was first refused for want of replicas.
fn refused_after(seen: &Seen) -> Option<u64> {
    let refusals = seen.refusals("c2").into_iter();
    let first = refusals.filter(|(_, why)| why.contains("NOREPLICAS")).map(|(at, _)| at).next()?;
    Some(first - seen.struck(0))
}

fn in_touch() -> Vec<Row> {
    vec![
        Row {
            word: "nodes.min_replicas_to_write",
            claim: "a master that hears of no replica takes no writes after a while, and the lock is refused",
            both: &[ALONE, AGAIN, ROUNDS, PATIENCE],
            with: &[("nodes.min_replicas_to_write", "1")],
            shows: |without, with| {
                without.grants("c2").len() == 40
                    && refused_after(without).is_none()
                    && refused_after(with).is_some_and(|after| (9 * SEC..12 * SEC).contains(&after))
            },
            ..Row::on(REPLICATED)
        },
        Row {
            word: "nodes.min_replicas_max_lag",
            claim: "the while is that long, and 10 s where nothing is said: give or take the second between two looks",
            both: &[ALONE, AGAIN, ROUNDS, PATIENCE, ("nodes.min_replicas_to_write", "1")],
            with: &[("nodes.min_replicas_max_lag", "3s")],
            shows: |without, with| {
                let after = |seen| refused_after(seen).expect("it is refused in the end");
                (9 * SEC..12 * SEC).contains(&after(without)) && (2 * SEC..5 * SEC).contains(&after(with))
            },
            ..Row::on(REPLICATED)
        },
        Row {
            word: "nodes.replica_serve_stale_data",
            claim: "a replica without its master runs a script up to its first write, and with `false` no script",
            both: &[TURNED, BY_SCRIPT, PATIENCE],
            with: &[("nodes.replica_serve_stale_data", "false")],
            shows: |without, with| {
                refused_for(without, "READONLY") > 0
                    && refused_for(without, "MASTERDOWN") == 0
                    && refused_for(with, "READONLY") == 0
                    && refused_for(with, "MASTERDOWN") > 0
            },
            ..Row::on(REPLICATED)
        },
    ]
}
