//! What is above and below the lanes: the numbers of the events, and the line of true time.

use doublehold_history::TrueNs;
use doublehold_history::instant;

use super::axis::Axis;
use super::canvas::Canvas;
use super::story::{Rank, Story};
use crate::layout::columns;
use crate::style::{Paint, Style};

/// The sign of the event with this index, one column wide.
pub(super) fn number(index: usize, style: &Style) -> char {
    const CIRCLED: [char; 20] =
        ['①', '②', '③', '④', '⑤', '⑥', '⑦', '⑧', '⑨', '⑩', '⑪', '⑫', '⑬', '⑭', '⑮', '⑯', '⑰', '⑱', '⑲', '⑳'];
    const PLAIN: [char; 20] =
        ['1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'];
    let signs = if style.unicode { CIRCLED } else { PLAIN };
    signs.get(index).copied().unwrap_or('+')
}

/// The row of numbers above the lanes. Events that share a column stand beside each other.
pub(super) fn numbers(canvas: &mut Canvas, axis: &Axis, story: &Story, style: &Style) {
    let width = canvas.width();
    // From the right, what does not fit moves left; then from the left, what collides moves right.
    let mut places: Vec<usize> = story.events.iter().map(|event| axis.column(event.at)).collect();
    let count = places.len();
    for (index, place) in places.iter_mut().enumerate() {
        *place = (*place).min(width.saturating_sub(count - index));
    }
    let mut free = 0;
    let row = canvas.row("", Paint::Plain);
    for (index, place) in places.iter().enumerate() {
        let column = (*place).max(free);
        let paint = if story.events[index].rank <= Rank::Proof { Paint::Strong } else { Paint::Plain };
        row.draw_cell(column, number(index, style), paint);
        free = column + 1;
    }
}

/// The axis below the lanes, with the times of the events that fit.
pub(super) fn time(canvas: &mut Canvas, axis: &Axis, story: &Story, ended: TrueNs, style: &Style) {
    let end = axis.column(ended);
    let row = canvas.row("", Paint::Dim);
    row.fill(0, end + 1, style.glyph('─', '-'), Paint::Dim);
    for &(from, to) in axis.breaks() {
        let middle = from + (to - from) / 2;
        row.write(middle, if style.unicode { "╱╱" } else { "//" }, Paint::Dim);
    }
    let ticks = std::iter::once(TrueNs(0)).chain(story.events.iter().map(|event| event.at)).chain([ended]);
    for at in ticks {
        row.draw_cell(axis.column(at), style.glyph('┴', '+'), Paint::Dim);
    }
    let row = canvas.row("time", Paint::Dim);
    row.write(0, "0 s", Paint::Dim);
    // The end is always named; then proofs, then whatever else there is room for.
    let mut wanted = vec![(Rank::Decides, ended)];
    let mut by_rank: Vec<(Rank, TrueNs)> = story.events.iter().map(|event| (event.rank, event.at)).collect();
    by_rank.sort_unstable();
    wanted.extend(by_rank);
    let width = end + 1;
    for (_, at) in wanted {
        let label = instant(at);
        let start = axis.column(at).min(width.saturating_sub(columns(&label)));
        // A blank on either side, or two labels read as one.
        if row.is_blank(start.saturating_sub(1), (start + columns(&label) + 1).min(width)) {
            row.write(start, &label, Paint::Dim);
        }
    }
}
