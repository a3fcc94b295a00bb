//! Scenarios with Sentinels: what is refused, and what is run with a warning.

use doublehold_scenarios::format::Source;
use doublehold_scenarios::{Engine, SimEngine};

const GOOD: &str = r#"claim = "something can be shown"
lock = { algorithm = "single", ttl = "10s" }
[nodes]
names = ["A", "B", "C"]
master = "A"
[sentinels]
count = 3
down_after = "1s"
[[clients]]
name = "c1"
program = ["acquire", "work 1s", "release"]
[[faults]]
kind = "crash"
host = "A"
at = "5s"
for = "10s"
"#;

fn source(line: &str, replacement: &str) -> Source {
    assert!(GOOD.contains(line), "`{line}` is not in the good scenario");
    let text = GOOD.replacen(line, replacement, 1);
    Source { name: "x".into(), file: "x.toml".into(), text, ..Source::default() }
}

/// Each case: a line of the good scenario, what stands there instead, and the message.
fn check(cases: &[((&str, &str), &str)]) {
    for ((line, replacement), expected) in cases {
        let message = match source(line, replacement).read() {
            Ok(_) => panic!("accepted: {replacement}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(message, format!("cannot read scenario `x.toml`: {expected}"), "for `{replacement}`");
    }
}

#[test]
fn sentinels_that_cannot_be_are_refused_with_a_way_out() {
    check(&[
        (
            ("count = 3", "count = 3\nquorum = 4"),
            "line 8: `sentinels.quorum` is 4, and there are 3 Sentinels\nhint: use 3 or less: otherwise nobody ever fails \
             over",
        ),
        (
            ("count = 3", "count = 0"),
            "line 7: `sentinels.count` must be a whole number within bounds, not `0`\nhint: use 1 to 15",
        ),
        (
            ("count = 3", "count = 3\nnames = [\"X\", \"Y\"]"),
            "line 7: `sentinels.count` says how many Sentinels there are, and so does `names`\nhint: keep one of the two",
        ),
        (
            ("\"B\", \"C\"]", "\"B\", \"S1\"]"),
            "line 6: a node is named `S1`, as a Sentinel would be\nhint: name the Sentinels: `names = [\"W1\", \"W2\", \
             \"W3\"]`",
        ),
        (
            ("master = \"A\"", "master = \"A\"\nreplica_priority = { B = -1 }"),
            "line 6: `nodes.replica_priority.B` must be a whole number within bounds, not `-1`\nhint: use 0 to 2147483647",
        ),
        (
            ("master = \"A\"", "master = \"A\"\nreplica_priority = { D = 1 }"),
            "line 6: `nodes.replica_priority.D`: there is no node `D`\nhint: known are `A`, `B`, `C` and `others`",
        ),
        (
            ("down_after = \"1s\"", "down_after = \"1500us\""),
            "line 8: `sentinels.down_after` is 1.5 ms, and Sentinels count milliseconds\nhint: use whole milliseconds",
        ),
    ]);
}

#[test]
fn sentinels_with_nothing_to_do_are_refused_with_a_way_out() {
    check(&[
        (
            ("[\"A\", \"B\", \"C\"]\nmaster = \"A\"", "[\"A\"]"),
            "line 5: Sentinels watch a master, and there is none\nhint: add `master = \"A\"` to `[nodes]`, and name its \
             replicas there",
        ),
        (
            ("[\"A\", \"B\", \"C\"]", "[\"A\"]"),
            "line 6: the master has no replica, so nothing can be promoted\nhint: name more nodes: `names = [\"A\", \"B\", \
             \"C\"]`",
        ),
        (
            (
                "\"single\", ttl = \"10s\" }\n[nodes]\nnames = [\"A\", \"B\", \"C\"]\nmaster = \"A\"",
                "\"redlock\", ttl = \"10s\" }\n[nodes]\nnames = [\"A\", \"B\", \"C\"]",
            ),
            "line 5: the nodes of the `redlock` lock know nothing of each other: nobody fails over\nhint: remove \
             `[sentinels]`, or use `single`, `replicated`, `counter`, `job`, `list`, `hash` or another of `doublehold locks`",
        ),
        (
            ("ttl = \"10s\"", "ttl = \"10s\", driver = \"stackexchange-redis-3\""),
            "line 6: it is not known how the driver `stackexchange-redis-3` finds a master behind Sentinels\nhint: say how: \
             `discovery = \"at-connect\"` asks at each new connection, and `discovery = \"fixed\"` never",
        ),
        (
            (
                "kind = \"crash\"\nhost = \"A\"\nat = \"5s\"\nfor = \"10s\"",
                "kind = \"promote\"\nhost = \"B\"\nat = \"5s\"",
            ),
            "line 14: Sentinels decide who is master here, and would undo the order\nhint: remove it and stop, cut off or \
             crash the master, or remove `[sentinels]`",
        ),
        (
            (
                "kind = \"crash\"\nhost = \"A\"\nat = \"5s\"\nfor = \"10s\"",
                "kind = \"follow\"\nhost = \"B\"\nmaster = \"C\"\nat = \"5s\"",
            ),
            "line 14: Sentinels decide who is master here, and would undo the order\nhint: remove it and stop, cut off or \
             crash the master, or remove `[sentinels]`",
        ),
    ]);
}

#[test]
fn sentinels_that_may_never_fail_over_are_run_with_a_note() {
    let cases = [
        (("count = 3", "count = 3"), &[][..]),
        (
            ("count = 3", "count = 1"),
            &[
                "`sentinels.count` is 1: a Sentinel that is gone leaves no majority, and nobody fails over; use 3 or more",
            ],
        ),
        (
            ("count = 3", "count = 2"),
            &[
                "`sentinels.count` is 2: one that is gone leaves no majority, and nobody fails over; use 3 or more",
            ],
        ),
        (
            ("count = 3", "count = 3\nquorum = 3"),
            &[
                "`sentinels.quorum` is 3 of 3 Sentinels: with 1 Sentinel out of reach nobody fails over; use 2",
            ],
        ),
        (
            ("master = \"A\"", "master = \"A\"\nreplica_priority = { A = 10, others = 0 }"),
            &[
                "`nodes.replica_priority` is 0 for every replica: Sentinels promote none of them, and nobody fails over; give \
                 one of them another",
            ],
        ),
        (
            ("down_after = \"1s\"", "down_after = \"30s\""),
            &[
                "`sentinels.down_after` is 30 s, and no lease is longer than 10 s: the key that a master takes with it is of \
               a lease that has ended before there is another master; shorten it, or lengthen `lock.ttl`",
            ],
        ),
    ];
    for ((line, replacement), expected) in cases {
        let scenario = source(line, replacement).read().expect("it can be run");
        assert_eq!(SimEngine.run(&scenario, 1).notes, expected, "for `{replacement}`");
    }
}
