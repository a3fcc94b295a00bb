//! A node's lane: whose key of a lock it holds, as that client's sign.

use doublehold_history::LockId;
use doublehold_scenarios::report::KeyEnd;
use doublehold_scenarios::scenario::HostIndex;

use super::pen::Pen;
use crate::picture::facts::Facts;
use crate::picture::legend::Sign;
use crate::style::Paint;

pub(super) fn draw(pen: &mut Pen<'_>, facts: &Facts<'_>, node: HostIndex, lock: LockId) {
    pen.row(&facts.label_for(&facts.host(node), lock), Paint::Plain);
    // A node that loads a key whose time was up meanwhile drops it in the same instant.
    let keys = || {
        let of_lock = facts.keys_on(node).iter().filter(move |key| key.lock == lock);
        of_lock.filter(|key| key.until.is_none_or(|(until, _)| until > key.from))
    };
    for key in keys() {
        let place = facts.place_of(key.client);
        let until = key.until.map_or(facts.run.ended, |(at, _)| at);
        pen.fill_key(key.from, until, place, facts.signs.of(place));
    }
    for (at, how) in keys().filter_map(|key| key.until) {
        let (sign, paint) = match how {
            KeyEnd::Expired => (Sign::Expired, Paint::Dim),
            KeyEnd::Forgotten => (Sign::Lost, Paint::Bad),
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
