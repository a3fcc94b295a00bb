//! What is wrong with a scenario, before it is known in which file: a place, a cause and a way out.

/// Where a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemOrigin {
    /// A line of the file, counted from 1.
    Line(usize),
    /// The `--set` of that number, counted from 0.
    Set(usize),
}

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The place of it.
    pub origin: ItemOrigin,
    /// What is wrong.
    pub cause: String,
    /// The way out.
    pub hint: String,
}

/// A part that was read, or what is wrong with it.
pub type Result<T> = std::result::Result<T, Problem>;

impl Problem {
    /// A problem with its cause and the way out.
    pub fn new(origin: ItemOrigin, cause: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem { origin, cause: cause.into(), hint: hint.into() }
    }

    /// The same, found in another place.
    pub(crate) fn at(self, origin: ItemOrigin) -> Problem {
        Problem { origin, ..self }
    }
}
