//! Randomness: one seed, and a stream of its own for each use.
//!
//! A stream is derived from (seed, label), so a use that draws more numbers than before shifts nobody else's. The
//! generator is Xoshiro256++, whose numbers never change with a version of its crate; the few distributions needed
//! are written out here for the same reason. No float decides an event: chances are exact ratios.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use rand::Rng as _;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// The one number a run's randomness comes from. Written and read as a decimal number.
///
/// ```
/// use doublehold_sim::Seed;
///
/// assert_eq!("7".parse(), Ok(Seed(7)));
/// assert_eq!(Seed::from(7).to_string(), "7");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seed(pub u64);

impl From<u64> for Seed {
    fn from(number: u64) -> Seed {
        Seed(number)
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Seed {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Seed, ParseIntError> {
        text.parse().map(Seed)
    }
}

/// One labelled stream of random numbers.
///
/// ```
/// use doublehold_sim::{Seed, Stream};
///
/// let mut network = Stream::new(Seed(7), "network");
/// let mut again = Stream::new(Seed(7), "network");
/// let mut weather = Stream::new(Seed(7), "weather");
/// assert_eq!(network.next_u64(), again.next_u64());
/// assert_ne!(network.next_u64(), weather.next_u64());
/// ```
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `seed` for the use named `label`.
    pub fn new(seed: Seed, label: &str) -> Stream {
        // FNV-1a over the label, mixed with the seed; `seed_from_u64` then spreads it with SplitMix64.
        let named = label
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
        Stream(Xoshiro256PlusPlus::seed_from_u64(seed.0 ^ named.rotate_left(32)))
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, each exactly as likely as the other (Lemire's method with rejection).
    ///
    /// # Panics
    /// If `bound` is zero: there is no such number.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no number is below zero");
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            // The threshold is below the bound, so that it is rarely needed, and with it a division.
            if product as u64 >= bound || product as u64 >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// True with exactly this probability. Never and always draw nothing.
    pub fn chance(&mut self, probability: Probability) -> bool {
        match probability.numerator {
            0 => false,
            n if n == probability.denominator => true,
            n => self.below(u64::from(probability.denominator)) < u64::from(n),
        }
    }

    /// Fills `bytes`.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let random = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&random[..chunk.len()]);
        }
    }
}

/// An exact chance between never and always, written `1/200`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Probability {
    numerator: u32,
    denominator: u32,
}

/// Why a text or a ratio is not a probability.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProbabilityError {
    /// Larger than one, or a denominator of zero.
    #[error("`{0}/{1}` is not a probability: it must lie between 0 and 1")]
    OutOfRange(u32, u32),
    /// Not of the form `n/d`.
    #[error("`{0}` is not a probability: write a ratio such as \"1/200\"")]
    NotARatio(String),
}

impl Probability {
    /// Zero: it never happens.
    pub const NEVER: Probability = Probability { numerator: 0, denominator: 1 };

    /// As likely as not.
    pub const HALF: Probability = Probability { numerator: 1, denominator: 2 };

    /// The ratio of two numbers. Fails when it is above one or the denominator is zero.
    pub fn new(numerator: u32, denominator: u32) -> Result<Probability, ProbabilityError> {
        if denominator == 0 || numerator > denominator {
            return Err(ProbabilityError::OutOfRange(numerator, denominator));
        }
        Ok(Probability { numerator, denominator })
    }

    /// The ratio as a number, for statistics: nothing in a world is decided by it.
    pub fn as_f64(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

impl FromStr for Probability {
    type Err = ProbabilityError;

    fn from_str(text: &str) -> Result<Probability, ProbabilityError> {
        let ratio =
            text.split_once('/').and_then(|(n, d)| Some((n.trim().parse().ok()?, d.trim().parse().ok()?)));
        let (numerator, denominator) = ratio.ok_or_else(|| ProbabilityError::NotARatio(text.to_owned()))?;
        Probability::new(numerator, denominator)
    }
}
