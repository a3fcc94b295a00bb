//! Every word of the format as data: for the test that demands a scenario in which each of them matters, and for tools
//! that complete or colour scenario files.
//!
//! Assembled from the constants that the reader itself compares with. What constants cannot promise (a table whose keys
//! nobody passed on) a test asks the reader, whose refusals list what it knows. What a duration, a ratio or a law looks
//! like is not in here, nor which keys exclude each other.

use std::fmt;

use super::section::Choices;
use super::{clients, fault, hosts, lock, network, own_vocabulary, resource, section, weather, when};

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

/// The whole vocabulary, in alphabetical order, each key and each word once.
///
/// ```
/// let vocabulary = doublehold_scenarios::format::vocabulary();
/// let known = |word: &str| vocabulary.iter().any(|key| key.to_string() == word);
/// assert!(known("lock.ttl") && known("lock.clock=wall") && known("faults.pause.for") && known("when=grant"));
/// assert!(!known("lock.ttll"));
/// ```
pub fn vocabulary() -> Vec<Key> {
    let mut keys = [
        own_vocabulary(),
        lock::vocabulary(&doublehold_lockimpl::descriptors()),
        hosts::vocabulary(),
        resource::vocabulary(),
        network::vocabulary(),
        clients::vocabulary(),
        fault::vocabulary(),
        weather::vocabulary(),
        section::vocabulary(),
        when::vocabulary(),
    ]
    .concat();
    keys.sort();
    keys.dedup();
    keys
}
