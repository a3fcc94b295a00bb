//! The two ends of a sorted set.

/// From which end members are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extreme {
    Lowest,
    Highest,
}

impl Extreme {
    /// MIN or MAX, in any case.
    pub(crate) fn from_word(word: &[u8]) -> Option<Extreme> {
        match word {
            _ if word.eq_ignore_ascii_case(b"MIN") => Some(Extreme::Lowest),
            _ if word.eq_ignore_ascii_case(b"MAX") => Some(Extreme::Highest),
            _ => None,
        }
    }

    /// What is told of who takes from this end.
    pub(crate) fn pop_event(self) -> &'static str {
        match self {
            Extreme::Lowest => "zpopmin",
            Extreme::Highest => "zpopmax",
        }
    }

    /// The command that takes from this end.
    pub(crate) fn pop_name(self) -> &'static [u8] {
        match self {
            Extreme::Lowest => b"ZPOPMIN",
            Extreme::Highest => b"ZPOPMAX",
        }
    }
}
