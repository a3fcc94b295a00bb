//! `[network]`. What a delay may look like is in `laws`.

use crate::keyword_effects::row::{ONE, Row, TWO, check};
use crate::keyword_effects::seen::{MS, Seen};

fn always(transits: &[u64], expected: u64) -> bool {
    !transits.is_empty() && transits.iter().all(|transit| *transit == expected)
}

/// Whether some messages were lost: they come with a retransmission, 200 ms later.
fn lossy(transits: &[u64]) -> bool {
    transits.iter().any(|transit| *transit >= 200 * MS)
}

const ROUNDS: (&str, &str) = ("clients.0.rounds", "5");

pub(crate) fn rows() -> Vec<Row> {
    [everywhere(), links()].into_iter().flatten().collect()
}

#[test]
fn every_key_of_network_does_what_it_says() {
    check(&rows());
}

fn everywhere() -> Vec<Row> {
    vec![
        Row {
            word: "network.delay",
            claim: "every message takes that long, in both directions and on every link",
            with: &[("network.delay", "7ms")],
            shows: |without, with| {
                let everywhere = |seen: &Seen, delay| {
                    [("c1", "A"), ("A", "c1"), ("c1", "resource"), ("resource", "c1")]
                        .iter()
                        .all(|(from, to)| always(&seen.transits(from, to), delay))
                };
                everywhere(without, MS) && everywhere(with, 7 * MS)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "network.loss",
            claim: "some messages come with a retransmission, in both directions and on every link",
            both: &[("clients.0.rounds", "20"), ("lock.request_timeout", "none")],
            with: &[("network.loss", "1/4")],
            shows: |without, with| {
                [("c1", "A"), ("A", "c1"), ("c1", "resource"), ("resource", "c1")].iter().all(|(from, to)| {
                    always(&without.transits(from, to), MS) && lossy(&with.transits(from, to))
                })
            },
            ..Row::on(ONE)
        },
    ]
}

fn links() -> Vec<Row> {
    vec![
        Row {
            word: "network.links.delay",
            claim: "one direction of one link takes that long, and the way back does not",
            with: &[("network.links", "[{ from = 'c1', to = 'A', delay = '7ms' }]")],
            shows: |_, with| {
                always(&with.transits("c1", "A"), 7 * MS)
                    && always(&with.transits("A", "c1"), MS)
                    && always(&with.transits("c1", "resource"), MS)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "network.links.from",
            claim: "the link of the host that is named is slow, and no other",
            both: &[("network.links", "[{ from = 'c1', to = 'A', delay = '7ms' }]")],
            with: &[("network.links.0.from", "['c2', 'resource']"), ("network.links.0.to", "['A', 'c1']")],
            shows: |without, with| {
                let delays = |seen: &Seen, delays: [u64; 3]| {
                    [("c1", "A"), ("c2", "A"), ("resource", "c1")]
                        .iter()
                        .zip(delays)
                        .all(|((from, to), delay)| always(&seen.transits(from, to), delay * MS))
                };
                delays(without, [7, 1, 1]) && delays(with, [1, 7, 7])
            },
            ..Row::on(TWO)
        },
        Row {
            word: "network.links.to",
            claim: "the link to the host that is named is slow, and no other",
            both: &[("network.links", "[{ from = 'c1', to = 'A', delay = '7ms' }]")],
            with: &[("network.links.0.to", "resource")],
            shows: |without, with| {
                always(&without.transits("c1", "A"), 7 * MS)
                    && always(&without.transits("c1", "resource"), MS)
                    && always(&with.transits("c1", "A"), MS)
                    && always(&with.transits("c1", "resource"), 7 * MS)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "network.links.loss",
            claim: "one direction of one link loses messages, with the usual delay, and the way back does not",
            both: &[ROUNDS, ("lock.request_timeout", "none")],
            with: &[("network.links", "[{ from = 'c1', to = 'A', loss = '1/2' }]")],
            shows: |_, with| {
                let there = with.transits("c1", "A");
                lossy(&there) && there.contains(&MS) && always(&with.transits("A", "c1"), MS)
            },
            ..Row::on(ONE)
        },
        Row {
            word: "network.links.loss",
            claim: "a link that is named loses what the network loses, where it says nothing else",
            both: &[("clients.0.rounds", "20"), ("lock.request_timeout", "none"), ("network.loss", "1/4")],
            with: &[(
                "network.links",
                "[{ from = 'c1', to = 'A' }, { from = 'A', to = 'c1', loss = '0/1' }]",
            )],
            shows: |without, with| {
                lossy(&with.transits("c1", "A"))
                    && lossy(&without.transits("A", "c1"))
                    && always(&with.transits("A", "c1"), MS)
            },
            ..Row::on(ONE)
        },
    ]
}
