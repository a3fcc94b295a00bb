//! The words of a moment: a fault strikes at the very instant of the event that is named, and of no other.
//!
//! The fault here steps the clock of a host that nobody reads, so that nothing else moves. Every event of the story
//! has an instant of its own.

use crate::keyword_effects::row::{Row, Sets, check};
use crate::keyword_effects::seen::{MS, SEC, Seen};

/// c1 takes two turns; c2 waits for it, and works for longer than its lease. The node B is away for half a second.
const STORY: &str = r#"
    claim = "two clients and every step there is"
    lock = { algorithm = "redlock", ttl = "5s", tries = 1, order = "parallel" }
    nodes = { names = ["A", "B", "C"] }
    network = { delay = "1ms..5ms" }
    limits = { time = "5m" }
    [[clients]]
    name = "c1"
    program = ["acquire", "work 100ms", "read", "work 100ms", "check", "work 100ms", "write", "work 100ms", "extend", "work 100ms", "release", "work 1s"]
    rounds = 2
    retry = "200ms..300ms"
    [[clients]]
    name = "c2"
    program = ["acquire", "work 7s", "check", "release"]
    retry = "100ms..200ms"
    start = "200ms"
    [[faults]]
    kind = "clock-step"
    host = "resource"
    by = "1s"
    at = "0s"
    [[faults]]
    kind = "crash"
    host = "B"
    for = "500ms"
    at = "1s"
"#;

/// A row whose fault strikes at `with` instead of at the beginning.
fn at(word: &'static str, claim: &'static str, with: Sets, shows: fn(&Seen, &Seen) -> bool) -> Row {
    Row { word, claim, with, shows, ..Row::on(STORY) }
}

pub(crate) fn rows() -> Vec<Row> {
    [moments(), commands(), messages(), chains(), each_time()].into_iter().flatten().collect()
}

#[test]
fn every_word_of_a_moment_means_that_instant() {
    check(&rows());
}

/// The first of the times that is after a time.
fn first_after(times: &[u64], after: u64) -> Option<u64> {
    times.iter().copied().find(|at| *at > after)
}

fn moments() -> Vec<Row> {
    vec![
        at("when=acquire", "c2 asks", &[("faults.0.at", "c2's acquire")], |_, seen| {
            seen.struck(0) == seen.marks("c2", "acquire")[0]
        }),
        at("when=grant", "c1 is granted the lock", &[("faults.0.at", "c1's grant")], |_, seen| {
            seen.struck(0) == seen.grant("c1").at
        }),
        at("when=refusal", "c2 is refused", &[("faults.0.at", "c2's refusal")], |_, seen| {
            seen.struck(0) == seen.refusals("c2")[0].0
        }),
        at("when=read", "c1 has read", &[("faults.0.at", "c1's read")], |_, seen| {
            seen.struck(0) == seen.marks("c1", "read")[0]
        }),
        at("when=check", "c1 has looked at its deadline", &[("faults.0.at", "c1's check")], |_, seen| {
            seen.struck(0) == seen.marks("c1", "check")[0]
        }),
        at("when=write", "c1 is about to write", &[("faults.0.at", "c1's write")], |_, seen| {
            let sent = seen.sent("c1", "resource").into_iter().filter(|(at, _)| *at == seen.struck(0));
            seen.struck(0) == seen.marks("c1", "write")[0] && sent.count() == 1
        }),
        at("when=extending", "c1 is about to extend", &[("faults.0.at", "c1's extending")], |_, seen| {
            let sent = |node| seen.sent("c1", node).iter().any(|(at, _)| *at == seen.struck(0));
            let [before, after] = ["extending", "extend"].map(|mark| seen.marks("c1", mark)[0]);
            seen.struck(0) == before && before < after && ["A", "B", "C"].into_iter().all(sent)
        }),
        at("when=extend", "c1 has tried to extend", &[("faults.0.at", "c1's extend")], |_, seen| {
            seen.struck(0) == seen.marks("c1", "extend")[0]
        }),
        at("when=release", "c1 is about to release", &[("faults.0.at", "c1's release")], |_, seen| {
            seen.struck(0) == seen.marks("c1", "release")[0]
        }),
        at(
            "when=expiry",
            "c2 notices that its lease has ended",
            &[("faults.0.at", "c2's expiry")],
            |_, seen| seen.struck(0) == seen.marks("c2", "expiry")[0],
        ),
        at("when=boot", "B starts again", &[("faults.0.at", "B's 2nd boot")], |_, seen| {
            seen.struck(0) == 1_500 * MS && seen.boots("B") == [0, 1_500 * MS]
        }),
        at(
            "when=timer",
            "c1 has worked for 100 ms after its grant",
            &[("faults.0.at", "c1's timer after c1's grant")],
            |_, seen| seen.struck(0) == seen.grant("c1").at + 100 * MS,
        ),
        at(
            "when=clock read",
            "c1 reads a clock for the first time after its grant",
            &[("faults.0.at", "c1's clock read after c1's write")],
            |_, seen| {
                let c1 = seen.host("c1");
                use doublehold_sim::Event;
                let is = |event: &Event| matches!(event, Event::ClockRead { host, .. } if *host == c1);
                let reads: Vec<u64> = seen.trace().filter(|(_, event)| is(event)).map(|(at, _)| at).collect();
                Some(seen.struck(0)) == first_after(&reads, seen.marks("c1", "write")[0])
            },
        ),
    ]
}

/// When the nodes executed a command for a client, in order of time.
fn executed(seen: &Seen, command: &str, client: &str) -> Vec<u64> {
    let mut times: Vec<u64> =
        ["A", "B", "C"].iter().flat_map(|node| seen.executed(node, command, client)).collect();
    times.sort_unstable();
    times
}

fn commands() -> Vec<Row> {
    vec![
        at(
            "when=executed",
            "any node executes a script",
            &[("faults.0.at", "EVALSHA executed")],
            |_, seen| {
                let of_any = [executed(seen, "EVALSHA", "c1"), executed(seen, "EVALSHA", "c2")].concat();
                Some(&seen.struck(0)) == of_any.iter().min()
            },
        ),
        at(
            "when=for",
            "any node executes c2's SET, and not c1's",
            &[("faults.0.at", "SET executed for c2")],
            |_, seen| {
                seen.struck(0) == executed(seen, "SET", "c2")[0]
                    && seen.struck(0) > executed(seen, "SET", "c1")[0]
            },
        ),
        at("when=on", "C executes a SET, and not A", &[("faults.0.at", "SET executed on C")], |_, seen| {
            let on = |node| [seen.executed(node, "SET", "c1"), seen.executed(node, "SET", "c2")].concat();
            Some(&seen.struck(0)) == on("C").iter().min() && !on("A").contains(&seen.struck(0))
        }),
        at(
            "when=on",
            "both ends count, in either order",
            &[("faults.0.at", "the 2nd SET executed on B for c2")],
            |_, seen| seen.struck(0) == seen.executed("B", "SET", "c2")[1],
        ),
    ]
}

fn messages() -> Vec<Row> {
    vec![
        at(
            "when=message to",
            "bytes of c2 leave for B",
            &[("faults.0.at", "c2's 2nd message to B")],
            |_, seen| seen.struck(0) == seen.sent("c2", "B")[1].0,
        ),
        at(
            "when=message from",
            "bytes of B reach c2",
            &[("faults.0.at", "c2's 2nd message from B")],
            |_, seen| seen.struck(0) == seen.delivered("B", "c2")[1],
        ),
    ]
}

fn chains() -> Vec<Row> {
    vec![
        at(
            "when=the",
            "an article changes nothing: the third SET is the third",
            &[("faults.0.at", "the 3rd SET executed for c2")],
            |_, seen| seen.struck(0) == executed(seen, "SET", "c2")[2],
        ),
        at("when=after", "so much later", &[("faults.0.at", "1.5s after c1's 2nd grant")], |_, seen| {
            seen.struck(0) == seen.grants("c1")[1].at + 1_500 * MS
        }),
        at(
            "when=after",
            "a chain is read backwards in time: c1's grant that follows c2's",
            &[("faults.0.at", "c1's grant after c2's grant")],
            |_, seen| {
                let [first, second] = &seen.grants("c1")[..] else { return false };
                let c2 = seen.grant("c2").at;
                first.at < c2 && c2 < second.at && seen.struck(0) == second.at
            },
        ),
        at(
            "when=after",
            "each event of a chain is counted from the one before it, and the offset from the last",
            &[(
                "faults.0.at",
                "2s after the 2nd SET executed for c1 after c1's 3rd acquire after c2's grant",
            )],
            |_, seen| {
                let asked: Vec<u64> =
                    seen.marks("c1", "acquire").into_iter().filter(|at| *at > seen.grant("c2").at).collect();
                let sets = executed(seen, "SET", "c1");
                let sets: Vec<&u64> = sets.iter().filter(|at| **at > asked[2]).collect();
                seen.struck(0) == sets[1] + 2 * SEC
            },
        ),
        at(
            "faults.at",
            "a time is true time, whatever clocks show",
            &[("faults.0.at", "3.25s"), ("clocks.resource", "{ offset = '-1h', drift = '1/2' }")],
            |without, with| without.struck(0) == 0 && with.struck(0) == 3_250 * MS,
        ),
    ]
}

const EACH: Sets = &[("faults.0.each", "true")];

fn each_time() -> Vec<Row> {
    vec![
        Row {
            word: "faults.each",
            claim: "the fault strikes at both of c1's grants, and not at the first alone",
            both: &[("faults.0.at", "c1's grant")],
            with: EACH,
            shows: |without, with| {
                let grants = |seen: &Seen| seen.grants("c1").iter().map(|grant| grant.at).collect::<Vec<_>>();
                without.strikes(0) == grants(without)[..1]
                    && with.strikes(0) == grants(with)
                    && grants(with).len() == 2
            },
            ..Row::on(STORY)
        },
        Row {
            word: "faults.each",
            claim: "of a chain the whole chain has to come anew",
            both: &[("faults.0.at", "the 2nd SET executed for c2 after c2's acquire")],
            with: EACH,
            shows: |without, with| {
                let asked = with.marks("c2", "acquire").len();
                without.strikes(0).len() == 1 && with.strikes(0).len() == asked && asked > 2
            },
            ..Row::on(STORY)
        },
    ]
}
