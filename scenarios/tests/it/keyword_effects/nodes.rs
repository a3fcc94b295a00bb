//! `[nodes]`.

use doublehold_history::Predicate;
use doublehold_scenarios::report::{KeyEnd, KeyOrigin};

use crate::keyword_effects::row::{ONE, REDLOCK, REPLICATED, Row, TWO, check};
use crate::keyword_effects::seen::{MS, Seen};

pub(crate) fn rows() -> Vec<Row> {
    [who(), version(), persistence(), snapshots(), times(), scripts()].into_iter().flatten().collect()
}

#[test]
fn every_key_of_nodes_does_what_it_says() {
    check(&rows());
}

fn who() -> Vec<Row> {
    vec![
        Row {
            word: "nodes.names",
            claim: "the nodes that are named are those that are asked",
            with: &[("nodes.names", "['A', 'B', 'C', 'D', 'E']")],
            shows: |without, with| {
                let nodes = &with.report.history.header().nodes;
                *nodes == ["A", "B", "C", "D", "E"]
                    && without.report.history.header().nodes == ["A", "B", "C"]
                    && nodes.iter().all(|node| !with.executed(node, "SET", "c1").is_empty())
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "nodes.master",
            claim: "the lock is taken on the master, and the others follow it",
            with: &[("nodes.master", "R2")],
            shows: |without, with| {
                let set_on =
                    |seen: &Seen| ["M", "R1", "R2"].map(|node| seen.executed(node, "SET", "c1").len());
                set_on(without) == [1, 0, 0]
                    && set_on(with) == [0, 0, 1]
                    && !with.connecting("M", "R2").is_empty()
                    && with.connecting("R2", "M").is_empty()
            },
            ..Row::on(REPLICATED)
        },
    ]
}

/// How long the last thing is that a replica told its master: how far it is, and from 7.2 on how far its file.
fn last_told(seen: &Seen) -> u32 {
    *seen.sizes("R1", "M").last().expect("a replica acknowledges")
}

fn version() -> Vec<Row> {
    const FILE: (&str, &str) = ("nodes.persistence", "everysec");
    // `$4 FACK` and an offset with its length.
    const FACK: u32 = 10 + 7;
    vec![
        Row {
            word: "nodes.version",
            claim: "a node of 7.2 and later tells its master how far its file is",
            both: &[FILE],
            with: &[("nodes.version", "'8.4'")],
            shows: |without, with| last_told(with) >= last_told(without) + FACK,
            ..Row::on(REPLICATED)
        },
        Row {
            word: "nodes.version=7.0",
            claim: "a node of 7.0 says only how far it is itself",
            both: &[FILE, ("nodes.version", "'8.4'")],
            with: &[("nodes.version", "'7.0'")],
            shows: |without, with| last_told(with) + FACK <= last_told(without),
            ..Row::on(REPLICATED)
        },
        Row {
            word: "nodes.version=8.4",
            claim: "a node without a file has nothing more to tell",
            both: &[("nodes.version", "'8.4'")],
            with: &[FILE],
            shows: |without, with| last_told(with) >= last_told(without) + FACK,
            ..Row::on(REPLICATED)
        },
    ]
}

/// How often c1 had to load a script.
fn loads(seen: &Seen) -> usize {
    seen.executed("A", "SCRIPT", "c1").len()
}

fn scripts() -> Vec<Row> {
    const TWICE: (&str, &str) = ("clients.0.rounds", "2");
    vec![
        Row {
            word: "nodes.scripts",
            claim: "a node that knows the lock's scripts refuses none of them",
            with: &[("nodes.scripts", "loaded")],
            shows: |without, with| {
                let runs = |seen: &Seen| seen.executed("A", "EVALSHA", "c1").len();
                (runs(without), loads(without)) == (2, 1) && (runs(with), loads(with)) == (1, 0)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "nodes.scripts=loaded",
            claim: "a restart forgets them, as it forgets those that clients loaded",
            both: &[TWICE, ("nodes.persistence", "always")],
            with: &[
                ("nodes.scripts", "loaded"),
                ("faults", "[{ kind = 'crash', host = 'A', for = '0s', at = \"500ms after c1's grant\" }]"),
            ],
            shows: |without, with| loads(without) == 1 && loads(with) == 1,
            ..Row::on(ONE)
        },
        Row {
            word: "nodes.scripts=unknown",
            claim: "the first call of each script is refused, and it is loaded then",
            both: &[TWICE, ("nodes.scripts", "loaded")],
            with: &[("nodes.scripts", "unknown")],
            shows: |without, with| loads(without) == 0 && loads(with) == 1,
            ..Row::on(ONE)
        },
    ]
}

const CRASH: (&str, &str) = ("faults", "[{ kind = 'crash', host = 'A', for = '0s', at = \"c1's grant\" }]");
const POWER_LOSS: (&str, &str) =
    ("faults", "[{ kind = 'power-loss', host = 'A', for = '0s', at = \"c1's grant\" }]");
const LONG_WORK: (&str, &str) = ("clients.0.program", "['acquire', 'work 9s', 'release']");

/// Whether c2 had to wait for c1's key after the crash.
fn waited(seen: &Seen) -> bool {
    seen.grant("c2").at
        > seen.times("c1", |what| matches!(what, doublehold_history::EventKind::ReleaseCalled { .. }))[0]
}

fn persistence() -> Vec<Row> {
    vec![
        Row {
            word: "nodes.persistence=none",
            claim: "a crash takes the key",
            both: &[CRASH, LONG_WORK, ("nodes.persistence", "always")],
            with: &[("nodes.persistence", "none")],
            turns: &[(Predicate::P2, "holds", "violated")],
            shows: |without, with| {
                waited(without)
                    && !waited(with)
                    && with.keys("A", "c1")[0].until.is_some_and(|(_, how)| how == KeyEnd::Forgotten)
            },
            ..Row::on(TWO)
        },
        Row {
            word: "nodes.persistence=everysec",
            claim: "a crash takes nothing",
            both: &[CRASH, LONG_WORK],
            with: &[("nodes.persistence", "everysec")],
            turns: &[(Predicate::P2, "violated", "holds")],
            shows: |without, with| !waited(without) && waited(with),
            ..Row::on(TWO)
        },
        Row {
            word: "nodes.persistence=everysec",
            claim: "a power loss takes what was written since the last second began",
            both: &[POWER_LOSS, LONG_WORK, ("nodes.persistence", "always")],
            with: &[("nodes.persistence", "everysec")],
            turns: &[(Predicate::P2, "holds", "violated")],
            shows: |without, with| waited(without) && !waited(with),
            ..Row::on(TWO)
        },
        Row {
            word: "nodes.persistence=always",
            claim: "a power loss takes nothing that was answered",
            both: &[POWER_LOSS, LONG_WORK, ("nodes.persistence", "everysec")],
            with: &[("nodes.persistence", "always")],
            turns: &[(Predicate::P2, "violated", "holds")],
            shows: |without, with| !waited(without) && waited(with),
            ..Row::on(TWO)
        },
    ]
}

/// A crash long enough after c1's grant for a snapshot.
const LATER_CRASH: (&str, &str) =
    ("faults", "[{ kind = 'crash', host = 'A', for = '0s', at = \"4s after c1's grant\" }]");

fn snapshots() -> Vec<Row> {
    vec![
        Row {
            word: "nodes.persistence=rdb",
            claim: "a crash takes what was written since the last snapshot, of which there is none within the first hour",
            both: &[LATER_CRASH, LONG_WORK, ("nodes.persistence", "everysec")],
            with: &[("nodes.persistence", "rdb")],
            turns: &[(Predicate::P2, "holds", "violated")],
            shows: |without, with| waited(without) && !waited(with),
            ..Row::on(TWO)
        },
        Row {
            word: "nodes.snapshot_interval",
            claim: "a snapshot is taken that often, and a restart finds it",
            both: &[LATER_CRASH, LONG_WORK, ("nodes.persistence", "rdb")],
            with: &[("nodes.snapshot_interval", "1s")],
            turns: &[(Predicate::P2, "violated", "holds")],
            shows: |without, with| {
                let loaded =
                    |seen: &Seen| seen.keys("A", "c1").iter().any(|key| key.origin == KeyOrigin::Loaded);
                !waited(without) && waited(with) && !loaded(without) && loaded(with)
            },
            ..Row::on(TWO)
        },
    ]
}

/// From the execution of c1's SET until c1 has the lock.
fn answered_after(seen: &Seen) -> u64 {
    seen.grant("c1").at - seen.executed("A", "SET", "c1")[0]
}

fn times() -> Vec<Row> {
    vec![
        Row {
            word: "nodes.fsync_time",
            claim: "a reply leaves when the fsync is done, which takes that long, and 1 ms where nothing is said",
            both: &[("nodes.persistence", "always")],
            with: &[("nodes.fsync_time", "300ms")],
            shows: |without, with| answered_after(without) == 2 * MS && answered_after(with) == 301 * MS,
            ..Row::on(ONE)
        },
        Row {
            word: "nodes.restart_after",
            claim: "a node that died stays away at least for so long, and for no time where nothing is said",
            both: &[POWER_LOSS, LONG_WORK],
            with: &[("nodes.restart_after", "20s")],
            turns: &[(Predicate::P2, "violated", "holds")],
            shows: |without, with| !waited(without) && waited(with),
            ..Row::on(TWO)
        },
        Row {
            word: "nodes.command_time.others",
            claim: "a node that is named takes its own time, and all others that of the others",
            both: &[("nodes.command_time", "{ B = '20ms', others = '1ms' }")],
            with: &[("nodes.command_time.others", "5ms")],
            shows: |without, with| {
                let busy = |seen: &Seen| {
                    let replied = |node: &str| seen.sent(node, "c1")[0].0;
                    ["A", "B", "C"].map(|node| replied(node) - seen.executed(node, "SET", "c1")[0])
                };
                busy(without) == [MS, 20 * MS, MS] && busy(with) == [5 * MS, 20 * MS, 5 * MS]
            },
            ..Row::on(REDLOCK)
        },
        Row {
            word: "nodes.command_time",
            claim: "each command keeps the node busy for that long, and for no time where nothing is said",
            with: &[("nodes.command_time", "5ms")],
            shows: |without, with| {
                let served = |seen: &Seen| seen.grant("c1").at - seen.sent("c1", "A")[0].0;
                served(without) == 2 * MS && served(with) == 7 * MS
            },
            ..Row::on(ONE)
        },
    ]
}
