//! Keys and words of the format as data, which each reader lists of its own part.

use std::fmt;

/// The words a value may be, and what each means.
pub(crate) type Choices<T> = &'static [(&'static str, T)];

/// A key of the format, or one of the words its value may be.
///
/// Prints as `lock.ttl`, `clocks.offset`, `faults.pause.for`; with a word as `lock.clock=wall`,
/// `clients.program=extend`. The numbers of lists and the names of hosts are left out. The words of moments stand as
/// `when=grant`, the keys of delay laws as `law.median`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The path.
    pub path: String,
    /// One of the words that the value may be.
    pub word: Option<String>,
}

impl Key {
    /// Each key of the table at `path`.
    pub(super) fn all(path: &str, keys: &[&str]) -> Vec<Key> {
        let dot = if path.is_empty() { "" } else { "." };
        keys.iter().map(|key| Key { path: format!("{path}{dot}{key}"), word: None }).collect()
    }

    /// Each word that the value at `path` may be.
    pub(super) fn words(path: &str, words: &[&str]) -> Vec<Key> {
        words.iter().map(|word| Key { path: path.to_owned(), word: Some((*word).to_owned()) }).collect()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.word {
            None => f.write_str(&self.path),
            Some(word) => write!(f, "{}={word}", self.path),
        }
    }
}

/// The words of a list of choices.
pub(super) fn words_of<T>(choices: Choices<T>) -> Vec<&'static str> {
    choices.iter().map(|(word, _)| *word).collect()
}
