//! A node's lane: whose key of a lock it holds, as that client's sign.

use doublehold_scenarios::report::KeyEnd;

use super::pen::Pen;
use crate::picture::facts::Facts;
use crate::picture::legend::Sign;
use crate::picture::view::NodeLane;
use crate::style::Paint;

pub(super) fn draw(lane: &NodeLane, pen: &mut Pen<'_>, facts: &Facts<'_>) {
    pen.row(&lane.label, Paint::Plain);
    for key in &lane.keys {
        let place = facts.place_of(key.client);
        let until = key.until.map_or(facts.run.ended, |(at, _)| at);
        pen.fill_key(key.from, until, place, facts.signs.sign_at(place));
    }
    for (at, how) in lane.keys.iter().filter_map(|key| key.until) {
        let (sign, paint) = match how {
            KeyEnd::Expired => (Sign::Expired, Paint::Dim),
            KeyEnd::SessionEnded => (Sign::SessionEnded, Paint::Dim),
            KeyEnd::Forgotten | KeyEnd::Flushed | KeyEnd::Evicted => (Sign::Lost, Paint::Bad),
            // The next holder's key, or nothing, says enough.
            KeyEnd::Deleted | KeyEnd::Overwritten => continue,
        };
        let column = pen.column(at);
        // A key that was set again in the same column matters more than the end of the last.
        if pen.last_row().is_blank(column, column + 1) {
            pen.fill(at, at, sign, paint);
        }
    }
}
