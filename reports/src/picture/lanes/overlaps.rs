//! The double holds, under the clients: where two claims overlap, and where two valid ones do.

use doublehold_history::Predicate;

use super::pen::Pen;
use crate::layout::columns;
use crate::picture::legend::Sign;
use crate::picture::view::OverlapSpan;
use crate::style::Paint;

pub(super) fn draw(all: &[OverlapSpan], pen: &mut Pen<'_>) {
    for predicate in [Predicate::P1, Predicate::P2] {
        let overlaps = || all.iter().filter(|it| it.predicate == predicate);
        let Some(first) = overlaps().next() else { continue };
        pen.row(predicate.as_str(), Paint::Bad);
        for overlap in overlaps() {
            pen.fill(overlap.from, overlap.to, Sign::Double, Paint::Bad);
        }
        let words = match overlaps().count() {
            1 => first.words.clone(),
            count => format!("{}, and {} more", first.words, count - 1),
        };
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
