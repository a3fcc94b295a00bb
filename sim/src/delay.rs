//! Delay laws: how long something takes, drawn from a stream. Integer arithmetic only, so that every platform draws
//! the same nanosecond.

use std::sync::Arc;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::normal::quantile_q32;
use crate::random::Stream;
use crate::time::nanos;

/// The law a one-way delay (or a command's or a disk's time) follows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DelayLaw {
    /// Always the same.
    Fixed(Duration),
    /// Every nanosecond from `min` to `max`, both included, alike. `max` below `min` counts as `min`.
    Uniform {
        /// The shortest.
        min: Duration,
        /// The longest.
        max: Duration,
    },
    /// Log-normal: half the draws are below `median`; one standard deviation up multiplies by e^(`sigma_milli`/1000).
    LogNormal {
        /// The middle draw.
        median: Duration,
        /// Standard deviation of the logarithm, in thousandths; draws are cut off at eight of them.
        sigma_milli: u32,
    },
    /// Measured quantiles at equal steps from the smallest to the largest, joined by straight lines.
    /// Sorted by the caller; an empty list is no delay.
    #[serde(serialize_with = "serialize_quantiles")]
    Quantiles(Arc<[Duration]>),
}

fn serialize_quantiles<S: Serializer>(quantiles: &Arc<[Duration]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(quantiles.iter())
}

impl DelayLaw {
    /// The longest draw; `None` where a law has none that means anything.
    pub fn longest(&self) -> Option<Duration> {
        match self {
            DelayLaw::Fixed(delay) => Some(*delay),
            DelayLaw::Uniform { min, max } => Some(*min.max(max)),
            DelayLaw::LogNormal { .. } => None,
            DelayLaw::Quantiles(quantiles) => Some(quantiles.last().copied().unwrap_or_default()),
        }
    }

    /// One draw.
    pub fn draw(&self, stream: &mut Stream) -> Duration {
        match self {
            DelayLaw::Fixed(delay) => *delay,
            DelayLaw::Uniform { min, max } => {
                let (min, max) = (nanos(*min), nanos(*max));
                let width = max.saturating_sub(min).saturating_add(1);
                Duration::from_nanos(min.saturating_add(stream.below(width)))
            }
            DelayLaw::LogNormal { median, sigma_milli } => log_normal(*median, *sigma_milli, stream),
            DelayLaw::Quantiles(quantiles) => draw_between_quantiles(quantiles, stream),
        }
    }
}

fn draw_between_quantiles(quantiles: &[Duration], stream: &mut Stream) -> Duration {
    let Some(gaps) = quantiles.len().checked_sub(1) else { return Duration::ZERO };
    if gaps == 0 {
        return quantiles[0];
    }
    let gap = stream.below(gaps as u64) as usize;
    let (low, high) = (nanos(quantiles[gap]), nanos(quantiles[gap + 1]));
    Duration::from_nanos(low + stream.below(high.saturating_sub(low).saturating_add(1)))
}

/// One draw of the stream each, and a longer one for a larger number: two studies that differ only in a median or a
/// sigma are struck by the same draws.
fn log_normal(median: Duration, sigma_milli: u32, stream: &mut Stream) -> Duration {
    const LOG2_E_Q56: i128 = 0x0171_5476_52b8_2fe1; // log2(e) × 2^56
    let exponent_q88 =
        i128::from(quantile_q32(stream.next_u64())) * i128::from(sigma_milli) * LOG2_E_Q56 / 1000;
    Duration::from_nanos(times_two_to(nanos(median), exponent_q88 >> 56))
}

/// `value × 2^(exponent / 2^32)`, saturating: whole powers by shifting, the fraction bit by bit with
/// 2^(1/2), 2^(1/4), …
///
/// Sixteen of these come short by at most one part in 94,000 (2^-16 ln 2) and the rounding to nanoseconds: no count of
/// runs tells apart two medians that differ by so little.
fn times_two_to(value: u64, exponent_q32: i128) -> u64 {
    let whole = exponent_q32 >> 32;
    let fraction = exponent_q32 as u32;
    let mut scaled = u128::from(value) << 32; // Q32
    for (bit, root) in ROOTS_OF_TWO_Q62.iter().enumerate() {
        if fraction >> (31 - bit) & 1 == 1 {
            scaled = ((scaled >> 16) * (root >> 30)) >> 16;
        }
    }
    let shifted = match u32::try_from(whole) {
        Ok(left) if left < scaled.leading_zeros() => scaled << left,
        Ok(_) => u128::MAX,
        Err(_) => scaled.checked_shr((-whole).min(128) as u32).unwrap_or(0),
    };
    u64::try_from(shifted >> 32).unwrap_or(u64::MAX)
}

/// 2^(1/2), 2^(1/4), … 2^(1/65536) as fixed-point numbers with 62 fractional bits, by repeated integer square roots.
const ROOTS_OF_TWO_Q62: [u128; 16] = {
    let mut roots = [0; 16];
    let mut root: u128 = 2 << 62;
    let mut i = 0;
    while i < roots.len() {
        root = (root << 62).isqrt();
        roots[i] = root;
        i += 1;
    }
    roots
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;

    #[test]
    fn powers_of_two_come_short_by_less_than_stated() {
        let mut stream = Stream::new(Seed(1), "powers");
        for _ in 0..20_000 {
            // From 2^-8 to 2^8 seconds.
            let exponent = stream.below(16 << 32) as i64 - (8 << 32);
            let exact = 1e9 * (exponent as f64 / 2f64.powi(32)).exp2();
            let short = (exact - times_two_to(1_000_000_000, exponent.into()) as f64) / exact;
            assert!((-1e-9..1.0 / 94_000.0 + 1e-6).contains(&short), "2^({exponent}/2^32): {short:e}");
        }
    }
}
