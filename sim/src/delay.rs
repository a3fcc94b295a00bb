//! Delay laws: how long something takes, drawn from a stream. Integer arithmetic only, so that every platform draws
//! the same nanosecond.

use std::sync::Arc;
use std::time::Duration;

use crate::random::Stream;
use crate::time::nanos;

/// The law a one-way delay (or a command's or a disk's time) follows.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        /// Standard deviation of the logarithm, in thousandths; draws are cut off at six of them.
        sigma_milli: u32,
    },
    /// Measured quantiles at equal steps from the smallest to the largest, joined by straight lines.
    /// Sorted by the caller; an empty list is no delay.
    Quantiles(Arc<[Duration]>),
}

impl DelayLaw {
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
            DelayLaw::Quantiles(quantiles) => between_quantiles(quantiles, stream),
        }
    }
}

fn between_quantiles(quantiles: &[Duration], stream: &mut Stream) -> Duration {
    let Some(gaps) = quantiles.len().checked_sub(1) else { return Duration::ZERO };
    if gaps == 0 {
        return quantiles[0];
    }
    let gap = stream.below(gaps as u64) as usize;
    let (low, high) = (nanos(quantiles[gap]), nanos(quantiles[gap + 1]));
    Duration::from_nanos(low + stream.below(high.saturating_sub(low).saturating_add(1)))
}

/// The sum of twelve uniforms less six (Irwin–Hall): mean 0, variance 1, tails cut at ±6. Chosen over a table of the
/// normal's quantiles because it is three draws and no constants, and a network's delay is not normal to the fourth
/// digit anyway.
fn standard_normal_q16(stream: &mut Stream) -> i64 {
    let twelve: u64 = (0..3).map(|_| stream.next_u64()).map(sixteen_bit_parts).sum();
    twelve as i64 - 6 * 0xffff
}

fn sixteen_bit_parts(bits: u64) -> u64 {
    (0..4).map(|part| (bits >> (16 * part)) & 0xffff).sum()
}

fn log_normal(median: Duration, sigma_milli: u32, stream: &mut Stream) -> Duration {
    const LOG2_E_Q16: i128 = 94_548; // log2(e) × 2^16
    let exponent_q32 = i128::from(standard_normal_q16(stream)) * i128::from(sigma_milli) * LOG2_E_Q16 / 1000;
    Duration::from_nanos(times_two_to(nanos(median), exponent_q32))
}

/// `value × 2^(exponent / 2^32)`, saturating: whole powers by shifting, the fraction bit by bit with
/// 2^(1/2), 2^(1/4), …
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
