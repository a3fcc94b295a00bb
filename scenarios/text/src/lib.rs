//! Wording that every report shares: how durations, counts and names are said.
//!
//! - [`time`](exact_duration): a duration as it was measured, exactly, as files write it, or with three digits
//! - [`numbers`](several): counts, ordinals, shares
//! - [`text`](list): lists, and what may be shown of text from outside
//! - [`shell`]: command lines that can be pasted
//! - [`suggest`]: "did you mean"
//! - [`every`]: all variants of an enum, for lists that must be whole
//!
//! Pure functions. Widths, line breaks and colours are the business of whoever shows the text.
//!
//! Decision: "Formatting is a crate of its own (`doublehold-text`), at the bottom" (docs/decisions/crates.md).

mod every;
mod numbers;
pub mod shell;
pub mod suggest;
mod text;
mod time;

pub use numbers::{
    SIZES, bytes, digits, end, group_digits, is_small, ordinal, power, several, share, superscript,
};
pub use text::{capital, clean, join_names, list, mark_controls, shorten};
pub use time::{
    duration, exact_duration, file_duration, rough, rough_beside, seconds, signed_duration,
    signed_file_duration,
};
