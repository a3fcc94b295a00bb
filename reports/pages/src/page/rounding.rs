//! Numbers of exports, rounded to nine digits: the last digits of logarithms differ between machines, and files do not.

use doublehold_statistics::{Confidence, Exposure};
use serde::{Serialize, Serializer};

/// A number of nine digits.
pub(crate) fn round_value(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

/// Writes a mean per run. How sure its interval is does not matter to it.
pub(crate) fn mean<S: Serializer>(of: &Exposure, serializer: S) -> Result<S::Ok, S::Error> {
    of.mean(Confidence::P95).map(|(mean, _)| round_value(mean)).serialize(serializer)
}

/// Writes a share.
pub(crate) fn share<S: Serializer>(share: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    share.map(round_value).serialize(serializer)
}
