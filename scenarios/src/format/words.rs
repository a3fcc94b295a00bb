//! Sizes and ordinal numbers in words, for reports.

use super::units::SIZES;

/// A size as a reader says it: `1 GiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    let (unit, scale) = SIZES.into_iter().find(|(_, scale)| bytes.is_multiple_of(*scale)).unwrap_or(("B", 1));
    format!("{} {unit}", bytes / scale)
}

/// `1st`, `2nd`, `3rd`, `11th`.
pub(crate) fn ordinal(n: u32) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}
