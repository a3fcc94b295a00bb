//! Randomness: that streams keep their values for ever, and that laws and chances are what they say.

use std::time::Duration;

use doublehold_sim::{DelayLaw, Probability, ProbabilityError, Seed, Stream};

use crate::story::{always, ms};

fn draws(law: &DelayLaw, count: usize) -> Vec<Duration> {
    let mut stream = Stream::new(Seed(42), "laws");
    (0..count).map(|_| law.draw(&mut stream)).collect()
}

/// The share of draws below a bound, in percent.
fn percent_below(draws: &[Duration], bound: Duration) -> usize {
    draws.iter().filter(|&&draw| draw < bound).count() * 100 / draws.len()
}

#[test]
fn a_stream_never_changes_its_numbers() {
    // If this fails, every seed anyone ever wrote down means another run.
    let first = |seed, label| {
        let mut stream = Stream::new(Seed(seed), label);
        [stream.next_u64(), stream.next_u64(), stream.below(1000)]
    };
    assert_eq!(first(0, "network"), GOLDEN[0]);
    assert_eq!(first(0, "schedule"), GOLDEN[1]);
    assert_eq!(first(1, "network"), GOLDEN[2]);
    assert_eq!(first(u64::MAX, "host/c1"), GOLDEN[3]);
    let mut bytes = [0; 11];
    Stream::new(Seed(0), "network").fill(&mut bytes);
    assert_eq!(bytes[..8], GOLDEN[0][0].to_le_bytes());
    assert_eq!(bytes[8..], GOLDEN[0][1].to_le_bytes()[..3]);
}

/// First two numbers and one below 1,000. Computed apart from this program, in another language, from the definitions
/// of FNV-1a, SplitMix64, Xoshiro256++ and Lemire's method.
const GOLDEN: [[u64; 3]; 4] = [
    [10_104_515_247_919_026_337, 5_201_018_583_911_801_462, 424],
    [5_834_986_211_525_134_471, 10_441_912_255_317_177_428, 63],
    [1_162_291_033_431_779_027, 14_898_523_038_581_710_118, 474],
    [13_266_503_215_625_715_384, 11_344_255_553_885_944_148, 898],
];

#[test]
fn below_is_uniform_and_reaches_both_ends() {
    let mut stream = Stream::new(Seed(3), "x");
    let mut counts = [0usize; 7];
    (0..70_000).for_each(|_| counts[stream.below(7) as usize] += 1);
    assert!(counts.iter().all(|count| (9_600..=10_400).contains(count)), "{counts:?}"); // four standard deviations
    assert_eq!(stream.below(1), 0);
    assert!((0..100).any(|_| stream.below(u64::MAX) > u64::MAX / 2));
}

#[test]
fn never_and_always_draw_nothing() {
    let mut stream = Stream::new(Seed(5), "x");
    let mut untouched = stream.clone();
    for _ in 0..10 {
        assert!(!stream.chance(Probability::NEVER));
        assert!(!stream.chance(Probability::new(0, 7).expect("zero")));
        assert!(stream.chance(always()));
        assert!(stream.chance(Probability::new(7, 7).expect("one")));
    }
    assert_eq!(stream.next_u64(), untouched.next_u64());
}

#[test]
fn a_chance_comes_true_in_its_share_of_cases() {
    let mut stream = Stream::new(Seed(5), "x");
    for (numerator, denominator, expected) in
        [(1, 200, 500), (1, 3, 33_333), (u32::MAX - 1, u32::MAX, 100_000)]
    {
        let probability = Probability::new(numerator, denominator).expect("below one");
        let hits = (0..100_000).filter(|_| stream.chance(probability)).count();
        assert!(hits.abs_diff(expected) < 600, "{probability}: {hits}");
    }
}

#[test]
fn only_ratios_between_zero_and_one_are_probabilities() {
    for (text, expected) in [
        ("1/200", Probability::new(1, 200)),
        (" 3 / 4 ", Probability::new(3, 4)),
        ("0/1", Ok(Probability::NEVER)),
        ("2/1", Err(ProbabilityError::OutOfRange(2, 1))),
        ("1/0", Err(ProbabilityError::OutOfRange(1, 0))),
        ("0.5", Err(ProbabilityError::NotARatio("0.5".into()))),
        ("-1/2", Err(ProbabilityError::NotARatio("-1/2".into()))),
        ("", Err(ProbabilityError::NotARatio("".into()))),
    ] {
        assert_eq!(text.parse(), expected, "{text:?}");
    }
}

#[test]
fn a_fixed_law_draws_nothing() {
    let mut stream = Stream::new(Seed(5), "x");
    let mut untouched = stream.clone();
    assert_eq!(DelayLaw::Fixed(ms(3)).draw(&mut stream), ms(3));
    assert_eq!(stream.next_u64(), untouched.next_u64());
}

#[test]
fn a_uniform_law_draws_every_nanosecond_alike_with_both_ends() {
    let law = DelayLaw::Uniform { min: Duration::from_nanos(10), max: Duration::from_nanos(14) };
    let mut counts = [0usize; 5];
    draws(&law, 50_000).iter().for_each(|draw| counts[draw.as_nanos() as usize - 10] += 1);
    assert!(counts.iter().all(|count| (9_600..=10_400).contains(count)), "{counts:?}");
    let backwards = DelayLaw::Uniform { min: ms(5), max: ms(3) };
    assert!(draws(&backwards, 100).iter().all(|&draw| draw == ms(5)));
    let endless = DelayLaw::Uniform { min: Duration::ZERO, max: Duration::MAX };
    assert_eq!(draws(&endless, 100).len(), 100);
}

#[test]
fn a_log_normal_law_has_its_median_and_its_spread() {
    // Below median × e^(kσ) lie the normal's 2.3, 15.9, 50, 84.1 and 97.7 percent.
    let (median, sigma) = (ms(10), 0.4f64);
    let drawn = draws(&DelayLaw::LogNormal { median, sigma_milli: 400 }, 100_000);
    for (k, expected) in [(-2.0, 2), (-1.0, 15), (0.0, 50), (1.0, 84), (2.0, 97)] {
        let below = percent_below(&drawn, median.mul_f64((k * sigma).exp()));
        assert!(below.abs_diff(expected) <= 1, "{k} standard deviations: {below} %");
    }
    let cut = median.mul_f64((8.0 * sigma).exp() * 1.001);
    assert!(drawn.iter().all(|&draw| draw < cut && draw > Duration::ZERO));
}

/// Shares above k standard deviations are the normal's (Φ(-3) = 0.001350, Φ(-3.5) = 0.0002326), within four deviations
/// of a count. A sum of twelve uniforms has 0.78 and 0.54 times as many.
#[test]
fn a_log_normal_law_has_the_tail_of_a_normal() {
    let median = ms(10);
    let drawn = draws(&DelayLaw::LogNormal { median, sigma_milli: 1_000 }, 1_000_000);
    for (k, share) in [(3.0_f64, 1.349_898e-3), (3.5, 2.326_291e-4)] {
        let above = drawn.iter().filter(|&&draw| draw > median.mul_f64(k.exp())).count() as f64;
        let expected = share * drawn.len() as f64;
        assert!((above - expected).abs() < 4.0 * expected.sqrt(), "{k}: {above}, not {expected}");
    }
}

#[test]
fn a_log_normal_law_without_spread_is_its_median_and_a_wild_one_saturates() {
    let narrow = DelayLaw::LogNormal { median: ms(10), sigma_milli: 0 };
    assert!(draws(&narrow, 100).iter().all(|&draw| draw == ms(10)));
    let wild = DelayLaw::LogNormal { median: Duration::MAX, sigma_milli: u32::MAX };
    let drawn = draws(&wild, 1000);
    assert!(drawn.contains(&Duration::ZERO) && drawn.contains(&Duration::from_nanos(u64::MAX)));
}

#[test]
fn measured_quantiles_are_joined_by_straight_lines() {
    let law = DelayLaw::Quantiles([ms(0), ms(10), ms(20), ms(120)].into());
    let drawn = draws(&law, 60_000);
    for (bound, expected) in [(5, 16), (10, 33), (15, 50), (20, 66), (70, 83)] {
        let below = percent_below(&drawn, ms(bound));
        assert!(below.abs_diff(expected) <= 1, "below {bound} ms: {below} %");
    }
    assert!(drawn.iter().all(|&draw| draw <= ms(120)));
}

#[test]
fn quantile_lists_too_short_for_a_line_are_a_point_or_no_delay() {
    assert_eq!(draws(&DelayLaw::Quantiles([ms(7)].into()), 2), [ms(7), ms(7)]);
    assert_eq!(draws(&DelayLaw::Quantiles([].into()), 2), [Duration::ZERO; 2]);
}
