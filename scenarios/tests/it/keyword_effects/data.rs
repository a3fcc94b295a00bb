//! `[[faults]]` of what a node holds: keys that go without a crash, a clock or a client.

use doublehold_history::Predicate;
use doublehold_scenarios::report::KeyEnd;

use crate::keyword_effects::row::{REDLOCK, REPLICATED, Row, Sets, TWO, check, run};
use crate::keyword_effects::seen::Seen;

pub(crate) fn rows() -> Vec<Row> {
    [flush(), evict()].into_iter().flatten().collect()
}

#[test]
fn every_fault_of_a_nodes_data_does_what_it_says() {
    check(&rows());
}

const LONG_WORK: (&str, &str) = ("clients.0.program", "['acquire', 'work 9s', 'release']");
const FLUSH: (&str, &str) = ("faults", "[{ kind = 'flush', host = 'A', at = \"1s after c1's grant\" }]");
const EVICT: (&str, &str) = ("faults", "[{ kind = 'evict', host = 'A', at = \"1s after c1's grant\" }]");

/// How c1's first key ended on each of these nodes.
fn ends<const N: usize>(seen: &Seen, nodes: [&str; N]) -> [Option<KeyEnd>; N] {
    nodes.map(|node| seen.keys(node, "c1")[0].until.map(|(_, how)| how))
}

fn flush() -> Vec<Row> {
    use KeyEnd::{Deleted, Flushed};
    vec![
        Row {
            word: "faults.kind=flush",
            claim: "FLUSHALL is typed on the node's own machine, and takes the key from its holder; it is no release",
            both: &[LONG_WORK],
            with: &[FLUSH],
            turns: &[(Predicate::P1, "holds", "violated"), (Predicate::WR, "holds", "holds")],
            shows: |_, with| {
                with.executed("A", "FLUSHALL", "A").len() == 1 && ends(with, ["A"]) == [Some(Flushed)]
            },
            ..Row::on(TWO)
        },
        Row {
            word: "faults.flush.host",
            claim: "the nodes that are named are flushed, and no other",
            both: &[FLUSH, LONG_WORK],
            with: &[("faults.0.host", "['A', 'B']")],
            turns: &[(Predicate::P1, "holds", "violated")],
            shows: |without, with| {
                let all = ["A", "B", "C"];
                ends(without, all) == [Some(Flushed), Some(Deleted), Some(Deleted)]
                    && ends(with, all) == [Some(Flushed), Some(Flushed), Some(Deleted)]
            },
            ..Row::on(REDLOCK)
        },
    ]
}

fn evict() -> Vec<Row> {
    use KeyEnd::{Deleted, Evicted};
    vec![
        Row {
            word: "faults.kind=evict",
            claim: "the key is gone by nobody's command",
            both: &[LONG_WORK],
            with: &[EVICT],
            turns: &[(Predicate::P1, "holds", "violated"), (Predicate::WR, "holds", "holds")],
            shows: |_, with| {
                let before = with.struck(0);
                let executed = with.marks("A", "EVALSHA").into_iter().chain(with.marks("A", "SET"));
                let gone = with.keys("A", "c1")[0].until.expect("it is gone").0.0;
                ends(with, ["A"]) == [Some(Evicted)]
                    && gone == before
                    && executed.into_iter().all(|at| at != gone)
            },
            ..Row::on(TWO)
        },
        Row {
            word: "faults.evict.host",
            claim: "the nodes that are named evict their keys, and no other",
            both: &[EVICT, LONG_WORK],
            with: &[("faults.0.host", "['A', 'B']")],
            turns: &[(Predicate::P1, "holds", "violated")],
            shows: |without, with| {
                let all = ["A", "B", "C"];
                ends(without, all) == [Some(Evicted), Some(Deleted), Some(Deleted)]
                    && ends(with, all) == [Some(Evicted), Some(Evicted), Some(Deleted)]
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "faults.evict.volatile_only",
            claim: "a counter, which has no lifetime, goes only where every key does: fencing numbers begin anew",
            both: &[("lock.fencing", "true"), EVICT, LONG_WORK],
            with: &[("faults.0.volatile_only", "false")],
            shows: |without, with| {
                let numbers = |seen: &Seen| ["c1", "c2"].map(|client| seen.grant(client).fencing);
                numbers(without) == [Some(1), Some(2)] && numbers(with) == [Some(1), Some(1)]
            },
            ..Row::on(TWO)
        },
    ]
}

/// A master's DEL, or its FLUSHALL, reaches its replicas; a replica that is told itself refuses or does nothing.
#[test]
fn a_master_takes_its_replicas_keys_along_and_a_replica_none() {
    let nodes = ["M", "R1", "R2"];
    for kind in ["flush", "evict"] {
        let ends = |host: &str| {
            let fault = format!("[{{ kind = '{kind}', host = '{host}', at = \"1s after c1's grant\" }}]");
            let sets: Sets = &[LONG_WORK];
            let seen = run(REPLICATED, &[sets, &[("faults", fault.as_str())]].concat(), 1);
            let struck = seen.struck(0);
            nodes.map(|node| {
                let gone = seen.keys(node, "c1")[0].until.expect("c1 gives it back in the end").0.0;
                gone < struck + 10_000_000
            })
        };
        assert_eq!(ends("M"), [true; 3], "{kind} of the master");
        assert_eq!(ends("R1"), [false; 3], "{kind} of a replica");
    }
}

/// Each key that goes is in the file as a DEL, and a restart does not bring it back.
#[test]
fn what_was_evicted_or_flushed_is_not_in_the_file() {
    for kind in ["flush", "evict"] {
        let faults = format!(
            "[{{ kind = '{kind}', host = 'A', at = \"1s after c1's grant\" }}, \
             {{ kind = 'crash', host = 'A', for = '0s', at = \"1.05s after c1's grant\" }}]"
        );
        let sets =
            [LONG_WORK, ("nodes.persistence", "always"), ("clients.1.start", "2s"), ("faults", &faults)];
        let seen = run(TWO, &sets, 1);
        assert!(seen.refusals("c2").is_empty(), "{kind}: {:?}", seen.refusals("c2"));
    }
}
