//! The debate about Redis locks, claim by claim: who says it, what was predicted, and what came of it when it was run.
//!
//! Two posts and a page of documentation are quoted by everybody, and most of what they say can be run. A
//! [`DebateClaim`] is one sentence of theirs with the [`DebateCase`]s that test it: scenarios of the catalogue from
//! many seeds ([`RunCase`]), the value at which a verdict turns ([`Threshold`]), and how long or how often something is
//! ([`Measure`]). [`rows`] runs them all and gives a [`ClaimRow`] each.
//!
//! A prediction was made by reasoning, before the run, and stays as it was made: where the run disagrees, the row says
//! so, and its note says which of the two was wrong. A claim that no word of the format can express stands among the
//! others, with its reason ([`Missing`]).
//!
//! # Map, in reading order
//!
//! - [`DebateClaim`] and what it is made of, [`claims`](claims()): the files in `topics/`, one a topic
//! - [`DebateFinding`]: when a claim is right, what its cases assume, and what is run outside of that
//! - [`rows`], [`ClaimRow`]: everything run, on all processors
//! - `threshold`: a bisection, from both sides
//! - `figure`: what is measured of a run besides its verdicts
//! - [`AuthorTally`]: who was confirmed on what
//! - [`Selection`]: some of the claims, as typed
//! - [`Post`]: the two posts, paragraph by paragraph
//!
//! Nothing here prints.

mod claims;
mod figure;
mod finding;
mod posts;
mod rows;
mod selection;
mod tally;
mod threshold;

pub use claims::{
    BadClaims, DebateCase, DebateClaim, Ends, Measure, Missing, NotSeen, NotYet, Prediction, RunCase, Says,
    Threshold, claims,
};
pub use figure::Figure;
pub use finding::DebateFinding;
pub use posts::{Paragraph, Post, posts};
pub use rows::{BadCase, CaseOutcome, ClaimRow, Measured, Stand, VerdictCount, cases, rows};
pub use selection::{Selection, UnknownClaim};
pub use tally::{AuthorTally, tallies};
pub use threshold::{Flip, NoFlip, Side};
