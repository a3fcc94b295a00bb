//! Facts about waits, against the waits themselves: random ones of a few clients, of which a bound says the long
//! ones.

use doublehold_history::{Bounds, EventKind, Header, RunOutcome, judge};
use doublehold_sim::{Seed, Stream};

use super::*;

const CLIENTS: u32 = 3;
const BOUND: u64 = 20;
const END: u64 = 200;

/// A wait: the client, its beginning and its end.
type Wait = (ClientId, TrueNs, TrueNs);

/// Waits one after the other for each client, in the order in which they began; no two begin at one instant.
fn random(stream: &mut Stream) -> Vec<Wait> {
    let mut waits = Vec::new();
    for client in 0..CLIENTS {
        let mut at = 0;
        loop {
            // Each client has the instants of its own.
            let from = (at + stream.below(30)) / 3 * 3 + u64::from(client);
            let to = from + stream.below(2 * BOUND);
            if to >= END {
                break;
            }
            waits.push((ClientId(client), TrueNs(from), TrueNs(to)));
            at = to + 3;
        }
    }
    waits.sort_by_key(|(_, from, _)| *from);
    waits
}

fn history(waits: &[Wait]) -> History {
    let mut header = Header::new("waits", 1, &["c1", "c2", "c3"], &["stock"]);
    header.bounds = Bounds { obtain_within_ns: Some(BOUND), ..Bounds::default() };
    let mut history = History::new(header);
    for (number, &(client, from, to)) in waits.iter().enumerate() {
        let call = CallId(number as u64);
        history.push(from, EventKind::AcquireStarted { client, call, lock: LockId(0) });
        history.push(to, EventKind::GaveUp { client, call });
    }
    history.push(TrueNs(END), EventKind::RunEnded { outcome: RunOutcome::Completed });
    history
}

#[test]
fn a_client_waits_too_long_in_its_own_long_waits_and_the_verdict_turns_at_the_end_of_the_first() {
    let mut stream = Stream::new(Seed(1), "waits");
    for _ in 0..40 {
        let waits = random(&mut stream);
        let history = history(&waits);
        let verdicts = judge(&history);
        let facts = Facts::from_history(&history, &verdicts, &[]);
        let long: Vec<&Wait> = waits.iter().filter(|(_, from, to)| to.since(*from) > BOUND).collect();
        for (client, at) in (0..CLIENTS).flat_map(|client| (0..=END).map(move |at| (ClientId(client), at))) {
            let at = TrueNs(at);
            let waits_too_long =
                long.iter().any(|(who, from, to)| *who == client && (*from..=*to).contains(&at));
            assert_eq!(facts.waits_too_long(client, at), waits_too_long, "{client:?} at {at:?} of {waits:?}");
        }
        assert_eq!(facts.turns(), Vec::from_iter(long.first().map(|(_, _, to)| *to)), "{waits:?}");
    }
}
