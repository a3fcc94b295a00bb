//! The double holds, under the clients: where two claims overlap, and where two valid ones do.

use doublehold_history::words::duration;
use doublehold_history::{Overlap, Predicate};

use super::pen::Pen;
use crate::picture::facts::Facts;
use crate::picture::legend::Sign;
use crate::style::Paint;
use crate::words::columns;

pub(super) fn draw(pen: &mut Pen<'_>, facts: &Facts<'_>) {
    for predicate in [Predicate::P1, Predicate::P2] {
        let overlaps: Vec<&Overlap> = facts.overlaps(predicate).collect();
        let Some(first) = overlaps.first() else { continue };
        pen.row(predicate.as_str(), Paint::Bad);
        for overlap in &overlaps {
            pen.fill(overlap.from, overlap.to, Sign::Double, Paint::Bad);
        }
        let words = words(first, overlaps.len(), facts);
        let (from, to) = (pen.column(first.from), pen.column(first.to));
        let width = columns(&words);
        let (after, inside) = (to.max(from + 1) + 1, from + (to.saturating_sub(from + width)) / 2);
        let before = from.checked_sub(width + 1);
        let row = pen.last_row();
        let fits = |start: usize| row.is_blank(start, start + width);
        // What fits nowhere is in the list and in the verdicts.
        if let Some(start) = [Some(after), before].into_iter().flatten().find(|start| fits(*start)) {
            row.write(start, &words, Paint::Bad);
        } else if to > from + width + 3 {
            row.write(inside - 1, &format!(" {words} "), Paint::Bad);
        }
    }
}

fn words(first: &Overlap, count: usize, facts: &Facts<'_>) -> String {
    let [one, other] = first.clients.map(|client| facts.client(client));
    let validly = if first.predicate == Predicate::P2 { "validly " } else { "" };
    let long = match first.to.since(first.from) {
        0 => "for one instant".to_owned(),
        long => duration(long),
    };
    let more = if count > 1 { format!(", and {} more", count - 1) } else { String::new() };
    let what =
        if facts.has_several_locks() { format!(" {}", facts.the_lock(first.lock)) } else { String::new() };
    format!("{one} and {other} both {validly}hold{what}: {long}{more}")
}
