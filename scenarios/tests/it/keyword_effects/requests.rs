//! `[[faults]]` of requests: what is sent twice.

use crate::keyword_effects::row::{ONE, Row, TWO, check};
use crate::keyword_effects::seen::{MS, SEC, Seen, applied};

pub(crate) fn rows() -> Vec<Row> {
    vec![
        Row {
            word: "faults.kind=duplicate",
            claim: "the SET is executed again 5 s later, on a connection of its own, and the key is the same grant's again",
            with: &[DUPLICATE],
            shows: |without, with| {
                let set = with.executed("A", "SET", "c1");
                let keys = |seen: &Seen| seen.keys("A", "c1").iter().map(|key| key.grant).collect::<Vec<_>>();
                let of = keys(without)[0];
                // A handshake of two ways, and the way, and not the first: that was part of both.
                set.len() == 2
                    && set[1] == set[0] + 5 * SEC + 2 * MS
                    && keys(without) == [of]
                    && keys(with) == [of, of]
                    && with.connecting("c1", "A").len() == without.connecting("c1", "A").len() + 1
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.duplicate.from",
            claim: "what the host that is named asks next is asked twice, and nothing else",
            both: &[DUPLICATE],
            with: &[("faults.0.from", "c2")],
            shows: |without, with| {
                let twice = |seen: &Seen| ["c1", "c2"].map(|client| connections(seen, client, "A") == 2);
                twice(without) == [true, false] && twice(with) == [false, true]
            },
            ..Row::on(TWO)
        },
        Row {
            word: "faults.duplicate.to",
            claim: "what is asked of the host that is named is asked twice: the resource is written to again",
            both: &[DUPLICATE, ("faults.0.at", "c1's write")],
            with: &[("faults.0.to", "resource")],
            shows: |without, with| {
                let written = |seen: &Seen| seen.times("c1", applied);
                let (once, twice) = (written(without), written(with));
                once.len() == 1 && twice.len() == 2 && twice[1] == twice[0] + 5 * SEC + 2 * MS
            },
            ..Row::on(ONE)
        },
        Row {
            word: "faults.duplicate.after",
            claim: "it is asked again so much later",
            both: &[DUPLICATE],
            with: &[("faults.0.after", "700ms")],
            shows: |without, with| {
                let later = |seen: &Seen| {
                    let set = seen.executed("A", "SET", "c1");
                    set[1] - set[0]
                };
                later(without) == 5 * SEC + 2 * MS && later(with) == 702 * MS
            },
            ..Row::on(ONE)
        },
    ]
}

#[test]
fn every_fault_of_a_request_does_what_it_says() {
    check(&rows());
}

const DUPLICATE: (&str, &str) =
    ("faults", "[{ kind = 'duplicate', from = 'c1', to = 'A', after = '5s', at = \"c1's acquire\" }]");

fn connections(seen: &Seen, from: &str, to: &str) -> usize {
    seen.connecting(from, to).len()
}
