//! Lists, sets and sorted sets as an observer sees them: to be looked at, not to be changed.

use std::borrow::Cow;
use std::fmt;

use super::values::{List, Set, SortedSet};

/// A list's elements, in their order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Elements<'a>(pub(crate) &'a List);

impl<'a> Elements<'a> {
    /// The elements from the left.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.0.iter()
    }
}

/// A set's members, equal to another's in any order.
#[derive(Clone, Copy)]
pub struct Members<'a>(pub(crate) &'a Set);

impl<'a> Members<'a> {
    /// The members, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'a, [u8]>> + use<'a> {
        self.0.iter()
    }
}

impl PartialEq for Members<'_> {
    fn eq(&self, other: &Members<'_>) -> bool {
        self.0.len() == other.0.len() && self.0.iter().all(|member| other.0.contains(&member))
    }
}

impl Eq for Members<'_> {}

/// A sorted set's members with their scores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Scores<'a>(pub(crate) &'a SortedSet);

impl<'a> Scores<'a> {
    /// Members and their scores, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], f64)> + use<'a> {
        self.0.iter()
    }
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

impl fmt::Debug for Elements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(text)).finish()
    }
}

impl fmt::Debug for Members<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|member| text(&member).into_owned())).finish()
    }
}

impl fmt::Debug for Scores<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(member, score)| (text(member), score))).finish()
    }
}
