//! The double holds: where two claims overlap, and where two valid ones do.

use doublehold_history::{Overlap, Predicate};
use doublehold_text::duration;

use super::lanes::OverlapSpan;
use crate::picture::facts::Facts;

pub(super) fn spans(facts: &Facts<'_>) -> Vec<OverlapSpan> {
    let overlaps = [Predicate::P1, Predicate::P2].into_iter().flat_map(|of| facts.overlaps(of));
    let span = |it: &Overlap| OverlapSpan {
        predicate: it.predicate,
        lock: it.lock,
        clients: it.clients,
        grants: it.grants,
        from: it.from,
        to: it.to,
        words: words(it, facts),
    };
    overlaps.map(span).collect()
}

fn words(overlap: &Overlap, facts: &Facts<'_>) -> String {
    let [one, other] = overlap.clients.map(|client| facts.client(client));
    let validly = if overlap.predicate == Predicate::P2 { "validly " } else { "" };
    let long = match overlap.to.since(overlap.from) {
        0 => "for one instant".to_owned(),
        long => duration(long),
    };
    let what =
        if facts.has_several_locks() { format!(" {}", facts.the_lock(overlap.lock)) } else { String::new() };
    format!("{one} and {other} both {validly}hold{what}: {long}")
}
