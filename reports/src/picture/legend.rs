//! The legend: one line for the clients' lanes and one for the nodes', naming only what was drawn.

use std::collections::BTreeSet;

use super::facts::Facts;
use crate::layout::{BINDER, wrap};
use crate::style::{Paint, Style};

/// A sign that lanes use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// Waits for the lock.
    Asks,
    /// Was refused, or never learnt.
    Refused,
    /// Believes in its grant, before its own deadline.
    Holds,
    /// Believes in its grant, its own deadline past.
    Overdue,
    /// A write left for the resource.
    Sent,
    /// A write was applied.
    Wrote,
    /// A write was applied too late.
    WroteLate,
    /// The resource refused a write.
    WriteRefused,
    /// A write was lost.
    WriteLost,
    /// Two clients hold.
    Double,
    /// Something was done to a host, for a while.
    Fault,
    /// Something was done to a link of a host, for a while.
    Link,
    /// Something was done to a host, once.
    Struck,
    /// A node holds a key.
    Key,
    /// A key expired.
    Expired,
    /// The session that a lock belongs to ends at its service.
    SessionEnded,
    /// A key was lost.
    Lost,
}

impl Sign {
    /// The character that stands for it. A key's is its holder's instead.
    pub(super) fn glyph(self, style: &Style) -> char {
        let (unicode, ascii) = match self {
            Sign::Asks => ('·', '.'),
            Sign::Refused => ('○', 'o'),
            Sign::Holds => ('█', '#'),
            Sign::Overdue => ('▒', '='),
            Sign::Sent => ('›', '>'),
            Sign::Wrote => ('w', 'w'),
            Sign::WroteLate => ('L', 'L'),
            Sign::WriteRefused => ('×', 'x'),
            Sign::WriteLost => ('✗', 'X'),
            Sign::Double => ('▀', '%'),
            Sign::Fault => ('░', '~'),
            Sign::Link => ('┄', '-'),
            Sign::Struck => ('▲', '^'),
            Sign::Key => ('1', '1'),
            Sign::Expired | Sign::SessionEnded => ('┤', ')'),
            Sign::Lost => ('†', '!'),
        };
        style.glyph(unicode, ascii)
    }

    fn words(self) -> &'static str {
        match self {
            Sign::Asks => "asks for the lock",
            Sign::Refused => "is refused",
            Sign::Holds => "believes it holds the lock",
            Sign::Overdue => "still believes it, past its own deadline",
            Sign::Sent => "write sent",
            Sign::Wrote => "write applied",
            Sign::WroteLate => "late write applied",
            Sign::WriteRefused => "write refused",
            Sign::WriteLost => "committed write lost",
            Sign::Double => "double hold",
            Sign::Fault => "a fault lasts",
            Sign::Link => "a fault of a link lasts",
            Sign::Struck => "a fault strikes",
            Sign::Key => "1 2 3 the node holds the key of that client",
            Sign::Expired => "the key expires",
            Sign::SessionEnded => "the session ends",
            Sign::Lost => "the node's memory loses the key",
        }
    }
}

/// What lanes were drawn with.
pub(super) struct UsedSigns {
    pub(super) signs: BTreeSet<Sign>,
    /// The clients whose keys were drawn, by their places in the scenario.
    pub(super) clients: BTreeSet<usize>,
}

/// The legend of what was used.
pub(super) fn legend(used: &UsedSigns, facts: &Facts<'_>, style: &Style) -> String {
    let mut entries: Vec<String> = Vec::new();
    for sign in &used.signs {
        match sign {
            Sign::Key if !facts.signs.are_in_names() => {
                entries.extend(used.clients.iter().map(|place| key_of(*place, facts)));
            }
            Sign::Key => entries.push(sign.words().to_owned()),
            _ => entries.push(format!("{} {}", sign.glyph(style), sign.words())),
        }
    }
    entries.push("true time runs to the right, in order but not to scale".to_owned());
    // Bound together, an entry is one word to the wrapping: no line ends between a sign and its meaning.
    let bound: Vec<String> = entries
        .iter()
        .map(|entry| format!("{}{BINDER}{BINDER}", entry.replace(' ', &BINDER.to_string())))
        .collect();
    let text = wrap(&bound.join(" "), "  ", "  ", style.width);
    text.lines().map(|line| style.paint(line, Paint::Dim) + "\n").collect()
}

/// `1 the node holds alice's key`.
fn key_of(place: usize, facts: &Facts<'_>) -> String {
    let client = facts.run.clients.get(place).map(|client| facts.host(*client));
    format!("{} the node holds {}'s key", facts.signs.sign_at(place), client.unwrap_or_default())
}
