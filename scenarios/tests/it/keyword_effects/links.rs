//! `[[faults]]` of links.

use doublehold_history::EventKind;
use doublehold_sim::{End, Event, Fault, HostId};

use crate::keyword_effects::row::{ONE, REDLOCK, Row, TWO, check};
use crate::keyword_effects::seen::{MS, SEC, Seen};

pub(crate) fn rows() -> Vec<Row> {
    let ways = [cut_where(), cut_how(), slow_where(), slow_how(), packet_delay(), loss_where(), loss_how()];
    ways.into_iter().flatten().chain(resets()).collect()
}

#[test]
fn every_fault_of_a_link_does_what_it_says() {
    check(&rows());
}

/// The longest that a message was on its way.
fn longest(seen: &Seen, from: &str, to: &str) -> u64 {
    seen.transits(from, to).into_iter().max().expect("they talk with each other")
}

/// Which of these directions had late messages.
fn late<const N: usize>(seen: &Seen, directions: [(&str, &str); N]) -> [bool; N] {
    directions.map(|(from, to)| longest(seen, from, to) > MS)
}

const C1_A: [(&str, &str); 2] = [("c1", "A"), ("A", "c1")];
const PATIENT: (&str, &str) = ("lock.request_timeout", "none");
/// Asks more than once, so that both directions are used after the fault began.
const ROUNDS: (&str, &str) = ("clients.0.rounds", "2");

/// The directions that were cut.
fn cuts(seen: &Seen) -> Vec<(HostId, HostId)> {
    let cut = |(_, event): (u64, &Event)| match event {
        Event::Fault { fault: Fault::Cut { from, to } } => Some((*from, *to)),
        _ => None,
    };
    seen.trace().filter_map(cut).collect()
}

const CUT: (&str, &str) =
    ("faults", "[{ kind = 'cut', from = 'c1', to = 'A', for = '3s', at = \"c1's check\" }]");

fn cut_where() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=cut",
            claim: "nothing arrives until the cut is healed, and then it does",
            both: &[PATIENT],
            with: &[CUT],
            shows: |without, with| {
                let healed = with.fault(0).1.expect("it lasts for 3 s");
                let held = with.sent("c1", "A").iter().any(|(at, _)| (with.struck(0)..healed).contains(at));
                let arrived = with.delivered("c1", "A").iter().any(|at| *at >= healed);
                let in_between =
                    with.delivered("c1", "A").iter().any(|at| (with.struck(0)..healed).contains(at));
                late(without, C1_A) == [false, false] && held && arrived && !in_between
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.cut.from",
            claim: "what the hosts that are named send is held, and nothing else",
            both: &[PATIENT, CUT],
            with: &[("faults.0.from", "A"), ("faults.0.to", "c1")],
            shows: |without, with| {
                let directions = [("c1", "A"), ("A", "c1"), ("resource", "c1")];
                late(without, directions) == [true, false, false]
                    && late(with, directions) == [false, true, false]
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.cut.to",
            claim: "what is sent to the host that is named is held, and nothing else",
            both: &[PATIENT, CUT],
            with: &[("faults.0.to", "resource")],
            shows: |without, with| {
                let directions = [("c1", "A"), ("A", "c1"), ("c1", "resource")];
                late(without, directions) == [true, false, false]
                    && late(with, directions) == [false, false, true]
            },
            ..Row::on(ONE)
        },
    ]
}

fn cut_how() -> Vec<Row> {
    vec![
        Row {
            word: "faults.cut.for",
            claim: "the cut heals after that time",
            both: &[PATIENT, CUT],
            with: &[("faults.0.for", "9s")],
            shows: |without, with| {
                let lasted = |seen: &Seen| seen.fault(0).1.map(|healed| healed - seen.struck(0));
                lasted(without) == Some(3 * SEC)
                    && lasted(with) == Some(9 * SEC)
                    && longest(without, "c1", "A") < 9 * SEC
                    && longest(with, "c1", "A") > 8 * SEC
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.cut.both_ways",
            claim: "the way back is cut as well: the reply is held, and so would be the next request",
            both: &[PATIENT, CUT, ("faults.0.at", "SET executed for c1")],
            with: &[("faults.0.both_ways", "true")],
            shows: |without, with| {
                let there_and_back = [(with.host("c1"), with.host("A")), (with.host("A"), with.host("c1"))];
                late(without, C1_A) == [true, false]
                    && late(with, C1_A) == [false, true]
                    && cuts(without) == there_and_back[..1]
                    && cuts(with) == there_and_back
            },
            ..Row::on(ONE)
        },
    ]
}

const SLOW: (&str, &str) =
    ("faults", "[{ kind = 'slow', from = 'c1', to = 'A', by = '300ms', for = '3s', at = '0s' }]");

fn slow_where() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=slow",
            claim: "every message of one direction takes 300 ms longer for 3 s, and then no more",
            both: &[ROUNDS],
            with: &[SLOW],
            shows: |without, with| {
                let there = with.transits("c1", "A");
                late(without, C1_A) == [false, false]
                    && late(with, C1_A) == [true, false]
                    && there[0] == 301 * MS
                    && there.last() == Some(&MS)
                    && there.iter().all(|transit| [301 * MS, MS].contains(transit))
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.slow.from",
            claim: "what the host that is named sends is slow, and nothing else",
            both: &[SLOW],
            with: &[("faults.0.from", "resource"), ("faults.0.to", "c1")],
            shows: |without, with| {
                let directions = [("c1", "A"), ("resource", "c1"), ("c1", "resource")];
                late(without, directions) == [true, false, false]
                    && late(with, directions) == [false, true, false]
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.slow.to",
            claim: "what is sent to the hosts that are named is slow, and nothing else",
            both: &[SLOW, ("lock.node_timeout", "none")],
            with: &[("faults.0.to", "['B', 'C']")],
            shows: |without, with| {
                let directions = [("c1", "A"), ("c1", "B"), ("c1", "C"), ("B", "c1")];
                late(without, directions) == [true, false, false, false]
                    && late(with, directions) == [false, true, true, false]
            },
            ..Row::on(REDLOCK)
        },
    ]
}

fn slow_how() -> Vec<Row> {
    vec![
        Row {
            word: "faults.slow.for",
            claim: "messages that are sent after that time are not slow",
            both: &[SLOW],
            with: &[("faults.0.for", "200ms")],
            shows: |without, with| {
                let slow = |seen: &Seen| {
                    let on_the_way = seen.transits("c1", "A");
                    on_the_way.iter().filter(|transit| **transit > MS).count()
                };
                with.fault(0) == (Some(0), Some(200 * MS)) && slow(without) > 1 && slow(with) <= 1
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.slow.by",
            claim: "messages take that much longer",
            both: &[SLOW],
            with: &[("faults.0.by", "70ms")],
            shows: |without, with| {
                longest(without, "c1", "A") == 301 * MS && longest(with, "c1", "A") == 71 * MS
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.slow.both_ways",
            claim: "the way back is slow as well",
            both: &[SLOW],
            with: &[("faults.0.both_ways", "true")],
            shows: |without, with| late(without, C1_A) == [true, false] && late(with, C1_A) == [true, true],
            ..Row::on(ONE)
        },
    ]
}

const PACKET: (&str, &str) =
    ("faults", "[{ kind = 'packet-delay', from = 'c1', to = 'resource', by = '5s', at = \"c1's write\" }]");

fn packet_delay() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=packet-delay",
            claim: "the next message takes 5 s longer, and no other",
            both: &[ROUNDS],
            with: &[PACKET],
            shows: |without, with| {
                let write = with.marks("c1", "write")[0];
                let late: Vec<_> = with.transits("c1", "resource");
                let sent = with.sent("c1", "resource");
                let expected = |at: u64| if at == write { 5 * SEC + MS } else { MS };
                longest(without, "c1", "resource") == MS
                    && sent.iter().zip(late).all(|((at, _), transit)| transit == expected(*at))
                    && with.transits("resource", "c1").iter().all(|transit| *transit == MS)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.packet-delay.from",
            claim: "the next message of the host that is named is late",
            both: &[PACKET],
            with: &[("faults.0.from", "resource"), ("faults.0.to", "c1")],
            shows: |without, with| {
                let directions = [("c1", "resource"), ("resource", "c1")];
                late(without, directions) == [true, false] && late(with, directions) == [false, true]
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.packet-delay.to",
            claim: "the next message to the host that is named is late",
            both: &[PACKET, PATIENT],
            with: &[("faults.0.to", "A")],
            shows: |without, with| {
                let directions = [("c1", "resource"), ("c1", "A")];
                late(without, directions) == [true, false] && late(with, directions) == [false, true]
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.packet-delay.by",
            claim: "it takes that much longer",
            both: &[PACKET],
            with: &[("faults.0.by", "20s")],
            shows: |without, with| {
                longest(without, "c1", "resource") == 5 * SEC + MS
                    && longest(with, "c1", "resource") == 20 * SEC + MS
            },
            ..Row::on(TWO)
        },
    ]
}

/// From its second turn on, half of what c1 sends to A is lost at first, and comes with a retransmission.
const LOSS: (&str, &str) = (
    "faults",
    "[{ kind = 'loss', from = 'c1', to = 'A', probability = '1/2', for = '1h', at = \"c1's 2nd grant\" }]",
);
const MANY_ROUNDS: (&str, &str) = ("clients.0.rounds", "10");

/// Whether some messages came with a retransmission.
fn lossy<const N: usize>(seen: &Seen, directions: [(&str, &str); N]) -> [bool; N] {
    directions.map(|(from, to)| longest(seen, from, to) >= 200 * MS)
}

fn loss_where() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=loss",
            claim: "some messages of one direction come with a retransmission, and none of the other",
            both: &[MANY_ROUNDS, PATIENT],
            with: &[LOSS],
            shows: |without, with| {
                late(without, C1_A) == [false, false]
                    && lossy(with, C1_A) == [true, false]
                    && with.transits("c1", "A").contains(&MS)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.loss.from",
            claim: "what the host that is named sends is lost, and nothing else",
            both: &[MANY_ROUNDS, PATIENT, LOSS],
            with: &[("faults.0.from", "resource"), ("faults.0.to", "c1")],
            shows: |without, with| {
                let directions = [("c1", "A"), ("resource", "c1"), ("c1", "resource")];
                lossy(without, directions) == [true, false, false]
                    && lossy(with, directions) == [false, true, false]
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.loss.to",
            claim: "what is sent to the hosts that are named is lost, and nothing else",
            both: &[MANY_ROUNDS, PATIENT, LOSS],
            with: &[("faults.0.to", "resource")],
            shows: |without, with| {
                let directions = [("c1", "A"), ("c1", "resource")];
                lossy(without, directions) == [true, false] && lossy(with, directions) == [false, true]
            },
            ..Row::on(ONE)
        },
    ]
}

fn loss_how() -> Vec<Row> {
    vec![
        Row {
            word: "faults.loss.for",
            claim: "nothing is lost after that time",
            both: &[MANY_ROUNDS, PATIENT, LOSS],
            with: &[("faults.0.for", "2s"), ("faults.0.probability", "1/1")],
            shows: |without, with| {
                let late_after = |seen: &Seen, from: u64| {
                    let sent = seen.sent("c1", "A");
                    sent.iter().zip(seen.transits("c1", "A")).any(|((at, _), t)| *at >= from && t > MS)
                };
                let over = with.struck(0) + 2 * SEC;
                late_after(without, over) && late_after(with, 0) && !late_after(with, over)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.loss.probability",
            claim: "with certainty every message is lost at first",
            both: &[MANY_ROUNDS, PATIENT, LOSS, ("faults.0.for", "6s")],
            with: &[("faults.0.probability", "1/1")],
            shows: |without, with| {
                let arrived_at_once = |seen: &Seen| {
                    let sent = seen.sent("c1", "A");
                    let early = sent
                        .iter()
                        .zip(seen.transits("c1", "A"))
                        .filter(|((at, _), _)| (seen.struck(0)..seen.struck(0) + 5 * SEC).contains(at));
                    early.filter(|(_, transit)| *transit == MS).count()
                };
                arrived_at_once(without) > 0 && arrived_at_once(with) == 0
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.loss.both_ways",
            claim: "the way back loses messages as well",
            both: &[MANY_ROUNDS, PATIENT, LOSS],
            with: &[("faults.0.both_ways", "true")],
            shows: |without, with| lossy(without, C1_A) == [true, false] && lossy(with, C1_A) == [true, true],
            ..Row::on(ONE)
        },
    ]
}

/// How many connections were reset at a host when the fault struck.
fn reset(seen: &Seen, host: &str) -> usize {
    let id = seen.host(host);
    let is = |event: &Event| matches!(event, Event::Ended { host, how: End::Reset, .. } if *host == id);
    seen.trace().filter(|(at, event)| *at == seen.struck(0) && is(event)).count()
}

const RESET: (&str, &str) =
    ("faults", "[{ kind = 'reset-connections', from = 'c1', to = 'A', at = 'SET executed for c1' }]");

/// When everybody has asked.
const LATER: (&str, &str) = ("faults.0.at", "1s");

fn resets() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=reset-connections",
            claim: "both ends are reset, between a SET and its reply: the node holds a key of which c1 knows nothing",
            with: &[RESET],
            shows: |without, with| {
                let doubts = |seen: &Seen| {
                    seen.times("c1", |what| matches!(what, EventKind::AcquireUnknown { .. })).len()
                };
                let set = with.executed("A", "SET", "c1")[0];
                let held = with.keys("A", "c1")[0].from.0;
                (reset(with, "c1"), reset(with, "A"), reset(with, "resource")) == (1, 1, 0)
                    && with.struck(0) == set
                    && held == set
                    && without.grant("c1").at == set + MS
                    && (doubts(without), doubts(with)) == (0, 1)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.reset-connections.from",
            claim: "the host that is named loses its connections, whoever opened them, and no other host does",
            both: &[RESET, LATER],
            with: &[("faults.0.from", "['A']"), ("faults.0.to", "['c2']")],
            shows: |without, with| {
                let resets = |seen: &Seen| ["c1", "c2", "A"].map(|host| reset(seen, host));
                resets(without) == [1, 0, 1] && resets(with) == [0, 1, 1]
            },
            ..Row::on(TWO)
        },
        Row {
            word: "faults.reset-connections.to",
            claim: "the connections with that host are reset, and no others",
            both: &[RESET, LATER],
            with: &[("faults.0.to", "B")],
            shows: |without, with| {
                let resets = |seen: &Seen| ["c1", "A", "B", "C"].map(|host| reset(seen, host));
                resets(without) == [1, 1, 0, 0] && resets(with) == [1, 0, 1, 0]
            },
            ..Row::on(REDLOCK)
        },
    ]
}
