//! A switch of a few words.

/// A choice among words, each with what it means.
pub trait Choice: Copy + PartialEq + 'static {
    /// The words, in the order in which they are shown.
    const WORDS: &'static [(&'static str, Self)];
}
