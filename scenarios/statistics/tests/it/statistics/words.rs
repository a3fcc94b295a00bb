//! Rates in words: digits, units, bounds.

use doublehold_statistics::{
    Confidence, Interval, Proportion, Scale, Stratified, bound_words, estimate_words, range_words, rate_words,
};

#[test]
fn a_rate_has_the_digits_that_its_interval_leaves() {
    let table = [
        (0.0123, 0.009, 0.0161, "1.2 % (0.9 to 1.6 %)"),
        (0.012_345, 0.0123, 0.0124, "1.234 % (1.230 to 1.240 %)"),
        (0.5, 0.2, 0.8, "50 % (20 to 80 %)"),
        (0.06, 0.041, 0.087, "6.0 % (4.1 to 8.7 %)"),
        (0.04, 0.02, 0.08, "4.0 % (2.0 to 8.0 %)"),
        (0.04, 0.002, 0.1, "4 % (0.2 to 10 %)"),
        (1.0, 0.9992, 1.0, "100.00 % (99.92 to 100.00 %)"),
        (0.0004, 0.000_07, 0.0023, "0.04 % (0.007 to 0.2 %)"),
        (0.0001, 0.000_08, 0.000_13, "0.010 % (0.008 to 0.013 %)"),
        (3.41e-9, 2.93e-9, 4.02e-9, "3.4 × 10⁻⁹ (2.9 to 4.0 × 10⁻⁹)"),
        (3.41e-9, 1.2e-9, 1.2e-8, "3 × 10⁻⁹ (1 to 12 × 10⁻⁹)"),
        (9.9e-13, 9.8e-13, 1.01e-12, "9.9 × 10⁻¹³ (9.8 to 10.1 × 10⁻¹³)"),
        (1e-9, 0.9e-9, 1.1e-9, "1.0 × 10⁻⁹ (0.9 to 1.1 × 10⁻⁹)"),
        (0.0, 0.0, 0.0, "0 % (0 to 0 %)"),
    ];
    for (value, low, high, words) in table {
        assert_eq!(rate_words(value, Interval { low, high }, Scale::Share), words);
    }
}

#[test]
fn a_difference_has_its_sign() {
    let table = [
        (-0.005, -0.012, 0.001, "−0.5 % (−1.2 to 0.1 %)"),
        (0.0, -0.02, 0.02, "0 % (−2 to 2 %)"),
        (0.000_001, -0.02, 0.02, "0.00 % (−2 to 2 %)"),
        (-0.000_001, -0.02, 0.02, "0.00 % (−2 to 2 %)"),
        (-4.2e-7, -9.3e-7, 1.1e-7, "−4 × 10⁻⁷ (−9 to 1 × 10⁻⁷)"),
    ];
    for (value, low, high, words) in table {
        assert_eq!(rate_words(value, Interval { low, high }, Scale::Share), words);
    }
}

#[test]
fn a_number_per_hour_has_no_per_cent() {
    let table = [
        (0.52, 0.48, 0.57, "0.52 (0.48 to 0.57)"),
        (1234.0, 1000.0, 1500.0, "1,200 (1,000 to 1,500)"),
        (205_624.0, 176_373.0, 237_067.0, "210,000 (180,000 to 240,000)"),
        (0.0012, 0.001, 0.0015, "0.0012 (0.0010 to 0.0015)"),
        (0.000_12, 0.0001, 0.000_15, "1.2 × 10⁻⁴ (1.0 to 1.5 × 10⁻⁴)"),
    ];
    for (value, low, high, words) in table {
        assert_eq!(rate_words(value, Interval { low, high }, Scale::Number), words);
    }
}

#[test]
fn a_bound_is_rounded_up() {
    let table = [
        (0.06, "at most 6 %"),
        (0.000_599, "at most 0.06 %"),
        (0.000_601, "at most 0.061 %"),
        (1.0, "at most 100 %"),
        (0.9999, "at most 100 %"),
        (0.123, "at most 13 %"),
        (2e-9, "at most 2 × 10⁻⁹"),
        (2.01e-9, "at most 2.1 × 10⁻⁹"),
    ];
    for (bound, words) in table {
        assert_eq!(bound_words(bound, Scale::Share), words);
    }
    assert_eq!(bound_words(0.25, Scale::Number), "at most 0.25");
    // Two digits are themselves: no last bit of a float adds a third.
    for percent in 10..100 {
        assert_eq!(bound_words(f64::from(percent) / 100.0, Scale::Share), format!("at most {percent} %"));
        let small = format!("at most 0.{percent}").trim_end_matches('0').to_owned() + " %";
        assert_eq!(bound_words(f64::from(percent) / 10_000.0, Scale::Share), small);
    }
}

/// The two ends of a rate of which a part is undecided.
#[test]
fn both_ends_of_a_range_have_the_digits_that_tell_them_apart() {
    let table = [
        ((0.01, 0.012), (0.003, 0.029), "1.0 to 1.2 % (0.3 to 2.9 %)"),
        ((0.1, 0.1004), (0.05, 0.15), "10.00 to 10.04 % (5.00 to 15.00 %)"),
        ((0.1, 0.100_001), (0.05, 0.15), "10 to 10 % (5 to 15 %)"),
        ((-0.0123, -0.0121), (-0.0124, -0.0120), "−1.23 to −1.21 % (−1.24 to −1.20 %)"),
    ];
    for ((from, to), (low, high), words) in table {
        let (range, interval) = (Interval { low: from, high: to }, Interval { low, high });
        assert_eq!(range_words(range, interval, Scale::Share), words);
    }
}

#[test]
fn beside_what_needs_a_power_of_ten_all_have_one() {
    let table = [
        (0.0, "0 (0 to 0)"),
        (0.5, "5.0 × 10⁻¹ (4.5 to 5.5 × 10⁻¹)"),
        (5.0, "5.0 (4.5 to 5.5)"),
        (50.0, "5.0 × 10¹ (4.5 to 5.5 × 10¹)"),
    ];
    for (value, words) in table {
        let interval = Interval { low: value * 0.9, high: value * 1.1 };
        assert_eq!(rate_words(value, interval, Scale::Powers), words);
    }
}

/// However it is shown, it is no less than it was, and at most a tenth more.
#[test]
fn no_bound_becomes_tighter_by_being_shown() {
    let mut bound = 0.99;
    while bound > 1e-13 {
        let words = bound_words(bound, Scale::Share);
        let number = words.trim_start_matches("at most ").trim_end_matches(" %");
        let (digits, exponent) = number.split_once(" × 10⁻").unwrap_or((number, ""));
        let digits: f64 = digits.parse().expect("a number");
        let raised = |c| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|digit| digit == c).expect("a raised digit") as i32;
        let power = exponent.chars().fold(0, |power, c| power * 10 + raised(c));
        let shown = digits / if power == 0 { 100.0 } else { 10_f64.powi(power) };
        assert!(shown >= bound * (1.0 - 1e-11) && shown <= bound * 1.101, "{bound}: {words}");
        bound *= 0.983;
    }
}

#[test]
fn an_estimate_that_is_refused_shows_its_bound() {
    let words = |hits, of| {
        let estimate = Stratified::from_proportion(Proportion::new(hits, of)).estimate(Confidence::P95);
        estimate_words(&estimate, Scale::Share)
    };
    assert_eq!(words(0, 5_000), "at most 0.06 %");
    assert_eq!(words(60, 5_000), "1.2 % (0.9 to 1.5 %)");
    assert_eq!(words(0, 0), "unknown");
}
