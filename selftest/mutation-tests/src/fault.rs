//! A fault: a piece of a file, and what stands there instead.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// The longest text of a name before it is cut.
const LONGEST: usize = 90;

/// A small change of one file's text.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// The file's path from the root of the project.
    pub(crate) file: String,
    /// The function it is in, with the type it belongs to.
    pub(crate) function: String,
    /// The line on which the changed piece begins, from 1.
    pub(crate) line: usize,
    /// The bytes of the changed piece: a whole expression, or a whole statement.
    pub(crate) range: Range<usize>,
    /// The text that is there instead.
    pub(crate) text: String,
    /// True for a statement, which stands for nothing.
    pub(crate) is_statement: bool,
    /// The changed piece and its replacement in a line, for people.
    pub(crate) change: String,
}

impl Fault {
    /// Its name, the same as long as the function and the piece are called and written as they are.
    pub(crate) fn name(&self) -> String {
        format!("{} {}: {}", self.file, self.function, self.change)
    }

    /// A number that has nothing in common with its neighbours', by which faults are dealt out (FNV-1a of the name).
    pub(crate) fn digest(&self) -> u64 {
        let mixed = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = self.name().bytes().fold(0xcbf2_9ce4_8422_2325, mixed);
        hash ^ (hash >> 32)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} in {}: {}", self.file, self.line, self.function, self.change)
    }
}

/// `was -> is` in a line.
pub(crate) fn change(was: &str, is: &str) -> String {
    let is = if is.trim().is_empty() { "(nothing)".to_owned() } else { shorten(is) };
    format!("{} -> {is}", shorten(was))
}

fn shorten(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= LONGEST {
        return text;
    }
    // The end tells more: two calls on one thing begin alike.
    let head: String = text.chars().take(LONGEST / 3).collect();
    let tail: Vec<char> = text.chars().rev().take(LONGEST - LONGEST / 3).collect();
    format!("{head} … {}", tail.into_iter().rev().collect::<String>())
}

/// Numbers those that would otherwise have one name.
pub(crate) fn number(faults: &mut [Fault]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for fault in faults {
        let times = seen.entry(fault.name()).or_default();
        *times += 1;
        if *times > 1 {
            fault.change = format!("{} (no. {times})", fault.change);
        }
    }
}
