//! The normal quantile: one draw of 64 bits to a number of standard deviations. Integer arithmetic only.
//!
//! Tail probabilities are divided into octaves (up to 1/2, 1/4, 1/8, …) and each octave into eighths. Over an eighth
//! the quantile is a cubic that has its value and its slope at both ends (Hermite's). The cubics are evaluated without
//! rounding and rounded down once, so that a larger draw never gives a smaller number. Errors are below 2^-19 of a
//! standard deviation: the share of draws beyond any number of deviations is right to two parts in 10^5. The tails end
//! at 8 deviations, which one draw in 8 × 10^14 would exceed.
//!
//! Wichura's rational approximations (AS 241) are closer than any use needs, and take a logarithm, two polynomials of
//! degree seven and a division; a run draws a delay for every message.
//!
//! Decision: "Log-normal delays use integer arithmetic only" (docs/decisions/world.md).

mod points;

use points::POINTS;

/// The end of the tails, in units of 2^-32 standard deviations.
const CUT_Q32: i64 = 8 << 32;
/// The octave of the first point: tail probabilities from 2^14 in 2^65 on.
const FIRST_OCTAVE: u32 = 14;
/// The binary digits of a place within an eighth: with more of them the cube of a place would not fit.
const PLACE_BITS: u32 = 26;

/// The number of standard deviations, in units of 2^-32, below which a normal number lies as often as a random one of
/// 64 bits lies below `uniform` and a half.
pub(crate) fn quantile_q32(uniform: u64) -> i64 {
    if uniform >> 63 == 0 { -upper_q32(uniform) } else { upper_q32(!uniform) }
}

/// The quantile that is exceeded as often as `tail` and a half comes in 2^64; `tail` is below 2^63.
fn upper_q32(tail: u64) -> i64 {
    let odd = tail << 1 | 1;
    let octave = odd.ilog2();
    if octave < FIRST_OCTAVE {
        return CUT_Q32;
    }
    let mantissa = odd << odd.leading_zeros();
    let eighth = (mantissa >> 60 & 7) as usize;
    let place = i128::from(mantissa >> (60 - PLACE_BITS) & ((1 << PLACE_BITS) - 1));
    let begin = (octave - FIRST_OCTAVE) as usize * 8 + eighth;
    let ((from, fall), (to, next_fall)) = (POINTS[begin], POINTS[begin + 1]);
    // The eighths of the next octave are twice as wide, and a slope is over an eighth.
    let last_fall = if eighth == 7 { next_fall / 2 } else { next_fall };
    let height = from - to;
    let square = i128::from(2 * fall + last_fall - 3 * height);
    let cube = i128::from(2 * height - fall - last_fall);
    let cubic = (i128::from(from) << (3 * PLACE_BITS)) - ((i128::from(fall) * place) << (2 * PLACE_BITS))
        + ((square * place * place) << PLACE_BITS)
        + cube * place * place * place;
    ((cubic >> (3 * PLACE_BITS + 8)) as i64).min(CUT_Q32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Seed, Stream};

    /// Draws, and √2 erfinv(2p - 1) for p = (draw + 1/2) / 2^64 to 60 digits (mpmath), cut off at 8. Both tails, each
    /// octave's ends and insides, and both sides of the middle.
    const TRUE_QUANTILES: &[(u64, f64)] = &[
        (0x8000_0000_0000_0000, 6.794e-20),
        (0x8000_0000_0000_0001, 2.038e-19),
        (0x8000_0100_0000_0000, 1.494e-07),
        (0x7fff_ffff_ffff_ffff, -6.794e-20),
        (0x8020_0000_0000_0000, 0.001223939893),
        (0x4000_0000_0000_0000, -0.674489750196),
        (0xc000_0000_0000_0000, 0.674489750196),
        (0x7ffc_0000_0000_0000, -0.000152992449),
        (0x0000_0000_0000_2000, -8.000000000000),
        (0x0000_0000_0000_204d, -8.000000000000),
        (0x0000_0000_0002_0000, -7.694445510659),
        (0x0000_0000_0003_3039, -7.634585650802),
        (0x0000_0000_0020_0000, -7.331627870704),
        (0x0000_0000_0030_3039, -7.276576094555),
        (0x0000_0000_0200_0000, -6.950575945815),
        (0x0000_0000_0300_3039, -6.893116681121),
        (0x0000_0000_2000_0000, -6.548269367693),
        (0x0000_0000_3000_3039, -6.487430092009),
        (0x0000_0002_0000_0000, -6.120756285963),
        (0x0000_0003_0000_3039, -6.055826489120),
        (0x0000_0020_0000_0000, -5.662697617459),
        (0x0000_0030_0000_3039, -5.592737238534),
        (0x0000_0200_0000_0000, -5.166578119729),
        (0x0000_0300_0000_3039, -5.090230844612),
        (0x0000_2000_0000_0000, -4.621231001499),
        (0x0000_3000_0000_3039, -4.536407905651),
        (0x0002_0000_0000_0000, -4.008772594169),
        (0x0003_0000_0000_3039, -3.911952993880),
        (0x0020_0000_0000_0000, -3.297193345692),
        (0x0030_0000_0000_3039, -3.181559608735),
        (0x0200_0000_0000_0000, -2.417559016237),
        (0x0300_0000_0000_3039, -2.266226809210),
        (0x2000_0000_0000_0000, -1.150349380376),
        (0x3000_0000_0000_3039, -0.887146559019),
        (0xffff_ffff_ffef_ffff, 7.423939748863),
        (0xffff_ffff_bfff_ffff, 6.443934526468),
        (0xffff_feff_ffff_ffff, 5.294704084855),
        (0xfffb_ffff_ffff_ffff, 3.841930685502),
        (0xefff_ffff_ffff_ffff, 1.534120544353),
        (0xbb91_433a_6aa7_9987, 0.620954688171),
        (0xd1f6_f86c_029a_7245, 0.916031141492),
        (0xcd87_78e7_d340_bbcd, 0.851839438140),
        (0xdaea_58ba_4c73_a942, 1.058728796105),
        (0xee89_7110_5e50_3a67, 1.489215564419),
        (0x452e_c40a_3193_ca54, -0.612072670482),
        (0x6fac_aa50_90e5_e945, -0.160538588556),
        (0x5f81_1cb9_2964_5f8b, -0.323749500174),
        (0xdfc9_e3b1_1fcf_f454, 1.146347675118),
        (0x42d6_cb5c_6ed4_e94b, -0.639988610129),
        (0xa091_250e_8fe4_6024, 0.324485453226),
        (0x9c9c_ea0c_2ca1_c789, 0.283933481828),
    ];

    #[test]
    fn quantiles_are_those_of_the_normal_distribution() {
        for &(uniform, expected) in TRUE_QUANTILES {
            let error = (quantile_q32(uniform) as f64 / 2f64.powi(32) - expected).abs();
            assert!(error < 2f64.powi(-19), "{uniform:#018x}: off by {error:e} from {expected}");
        }
    }

    /// The share of a normal distribution beyond so many deviations above the middle, to about 14 digits: near the
    /// middle by its power series, further out by Laplace's continued fraction.
    fn share_beyond(deviations: f64) -> f64 {
        let square = deviations * deviations;
        if deviations < 2.5 {
            let terms = (1..80).scan(deviations, |term, number| {
                *term *= square / f64::from(2 * number + 1);
                Some(*term)
            });
            0.5 - density(deviations) * (deviations + terms.sum::<f64>())
        } else {
            let rest = (1..200).rev().fold(deviations, |rest, number| deviations + f64::from(number) / rest);
            density(deviations) / rest
        }
    }

    fn density(deviations: f64) -> f64 {
        (-deviations * deviations / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
    }

    /// A table's wrong line is wrong in two eighths of four hundred, where chosen values need not lie.
    #[test]
    fn each_eighth_is_that_of_the_normal_distribution() {
        for octave in FIRST_OCTAVE..64 {
            for part in 0..32_u64 {
                // Draws from all over each eighth, its first one among them.
                let tail = ((1_u64 << 63) | (part << 58)) >> (64 - octave);
                let deviations = upper_q32(tail) as f64 / 2f64.powi(32);
                let wanted = (tail as f64 + 0.5) / 2f64.powi(64);
                let error = (share_beyond(deviations) - wanted) / density(deviations);
                let is_cut = deviations == 8.0 && error > 0.0;
                assert!(
                    error.abs() < 2f64.powi(-19) || is_cut,
                    "{tail:#018x}: {deviations} is off by {error:e}"
                );
            }
        }
    }

    #[test]
    fn a_larger_draw_never_gives_a_smaller_number() {
        let is_monotone = |first: u64, second: u64| {
            let (low, high) = (first.min(second), first.max(second));
            assert!(quantile_q32(low) <= quantile_q32(high), "{low:#018x} and {high:#018x}");
        };
        // Neighbours on both sides of each point, and of each octave's.
        for octave in 12..64 {
            for eighth in 0..8 {
                let begin = ((1_u64 << 63) + (eighth << 60)) >> (64 - octave);
                for near in begin.saturating_sub(64)..begin + 64 {
                    is_monotone(near, near + 1);
                    is_monotone(!near, !(near + 1));
                }
            }
        }
        let mut stream = Stream::new(Seed(1), "quantile");
        for _ in 0..200_000 {
            let (one, shift) = (stream.next_u64(), stream.below(64));
            is_monotone(one, stream.next_u64());
            is_monotone(one >> shift, (one >> shift).saturating_add(1 + stream.below(1 << 20)));
        }
    }

    #[test]
    fn the_two_tails_are_alike_and_end_at_eight() {
        let mut stream = Stream::new(Seed(2), "quantile");
        for shift in 0..64 {
            let uniform = stream.next_u64() >> shift;
            assert_eq!(quantile_q32(uniform), -quantile_q32(!uniform), "{uniform:#018x}");
        }
        assert_eq!((quantile_q32(0), quantile_q32(u64::MAX)), (-CUT_Q32, CUT_Q32));
    }
}
