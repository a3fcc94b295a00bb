//! A node's lane: whose key it holds, as the last sign of that client's name.

use doublehold_scenarios::report::{KeyEnd, KeySpan};
use doublehold_scenarios::scenario::HostIndex;

use super::Used;
use crate::picture::axis::Axis;
use crate::picture::canvas::Canvas;
use crate::picture::facts::Facts;
use crate::picture::legend::Sign;
use crate::style::{Paint, Style};

pub(super) fn draw(
    canvas: &mut Canvas,
    axis: &Axis,
    facts: &Facts<'_>,
    node: HostIndex,
    style: &Style,
    used: &mut Used,
) {
    let row = canvas.row(&facts.host(node), Paint::Plain);
    // A node that loads a key whose time was up meanwhile drops it in the same instant.
    let lasting = |key: &&KeySpan| key.until.is_none_or(|(until, _)| until > key.from);
    let keys = || facts.report.keys.iter().filter(|key| key.node == node).filter(lasting);
    for key in keys() {
        let (glyph, number) = holder(facts, key.client);
        let until = key.until.map_or(facts.report.ended, |(at, _)| at);
        row.fill(axis.column(key.from), axis.column(until), glyph, Paint::Client(number));
        used.insert(Sign::Key);
    }
    for (at, how) in keys().filter_map(|key| key.until) {
        let (sign, paint) = match how {
            KeyEnd::Expired => (Sign::Expired, Paint::Dim),
            KeyEnd::Forgotten => (Sign::Lost, Paint::Bad),
            // The next holder's key, or nothing, says enough.
            KeyEnd::Deleted | KeyEnd::Overwritten => continue,
        };
        let column = axis.column(at);
        // A key that was set again in the same column matters more than the end of the last.
        if row.is_blank(column, column + 1) {
            row.put(column, sign.glyph(style), paint);
            used.insert(sign);
        }
    }
}

/// The sign and the number of the client that holds a key: the last character of its name if that tells all clients
/// apart, or else a letter.
fn holder(facts: &Facts<'_>, client: HostIndex) -> (char, usize) {
    let clients = &facts.report.scenario.clients;
    let mut signs: Vec<char> =
        clients.iter().map(|plan| facts.host(plan.host).chars().last().unwrap_or('?')).collect();
    let number = clients.iter().position(|plan| plan.host == client).unwrap_or(0);
    let sign = signs.get(number).copied().unwrap_or('?');
    let alike = signs.len();
    signs.sort_unstable();
    signs.dedup();
    if signs.len() == alike && sign.is_ascii_alphanumeric() {
        return (sign, number);
    }
    let letter = u8::try_from(number % 26).map_or('?', |number| char::from(b'a' + number));
    (letter, number)
}
