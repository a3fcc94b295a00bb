//! From numbers to places on an axis, and where its ticks are.

use doublehold_text::{digits, is_small, power, rough, rough_beside, share};

/// What an axis counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// A share of runs.
    Share,
    /// Seconds.
    Seconds,
    /// A number without a unit.
    Number,
}

/// From numbers to places between 0 and 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    kind: Kind,
    quantity: Quantity,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Linear,
    /// Powers of ten.
    Log,
    /// Powers of ten, and zero below them.
    LogAndZero,
    /// Words side by side.
    Words(Vec<String>),
}

/// More than this between the smallest and the largest number, and powers tell more than steps.
const WIDE: f64 = 30.0;
/// How much of an axis of powers is left for zero.
const ZERO: f64 = 0.09;

impl Scale {
    /// Holds all values, from zero on.
    pub(super) fn linear(values: impl Iterator<Item = f64>, quantity: Quantity) -> Scale {
        let high = values.filter(|it| it.is_finite()).fold(0.0, f64::max);
        let high = if high > 0.0 { high } else { 1.0 };
        let step = step(high, 5);
        let mut top = (high / step - 1e-9).ceil() * step;
        if quantity == Quantity::Share {
            top = top.min(1.0).max(high);
        }
        Scale { low: 0.0, high: top, kind: Kind::Linear, quantity }
    }

    /// Whole powers of ten around all values above zero.
    pub(super) fn log(values: impl Iterator<Item = f64>, quantity: Quantity) -> Scale {
        let (low, high) = ends(values.filter(|it| it.is_finite() && *it > 0.0)).unwrap_or((1e-3, 1.0));
        // What lies right at a power of ten needs no other.
        let mut powers = ((low.log10() + 1e-9).floor(), (high.log10() - 1e-9).ceil());
        if powers.1 <= powers.0 {
            powers.1 = powers.0 + 1.0;
        }
        let (low, mut high) = (10f64.powf(powers.0), 10f64.powf(powers.1));
        if quantity == Quantity::Share && low < 1.0 {
            high = high.min(1.0);
        }
        Scale { low, high, kind: Kind::Log, quantity }
    }

    /// For numbers some of which may be zero: powers where the others are far apart, else steps.
    pub(super) fn fitting(values: &[f64], quantity: Quantity) -> Scale {
        match ends(values.iter().copied().filter(|it| *it > 0.0)) {
            Some((low, high)) if high / low > WIDE => {
                let scale = Scale::log(values.iter().copied(), quantity);
                let kind = if values.iter().any(|it| *it <= 0.0) { Kind::LogAndZero } else { Kind::Log };
                Scale { kind, ..scale }
            }
            _ => Scale::linear(values.iter().copied(), quantity),
        }
    }

    /// For the values of a parameter: no further than they go, with powers if they are far apart.
    pub(super) fn around(values: &[f64], quantity: Quantity) -> Scale {
        let Some((low, high)) = ends(values.iter().copied()).filter(|(low, high)| low < high) else {
            let kind = Kind::Words(values.iter().take(1).map(|it| format_value(*it, quantity)).collect());
            let at = values.first().copied().unwrap_or(0.0);
            return Scale { low: at - 0.5, high: at + 0.5, kind, quantity };
        };
        if low > 0.0 && high / low > WIDE / 3.0 {
            let room = (high / low).powf(0.03);
            return Scale { low: low / room, high: high * room, kind: Kind::Log, quantity };
        }
        let room = (high - low) * 0.03;
        Scale { low: low - room, high: high + room, kind: Kind::Linear, quantity }
    }

    /// Words side by side, at 0, 1, 2 and so on.
    pub(super) fn words_of(words: &[String]) -> Scale {
        let high = words.len().max(1) as f64 - 0.5;
        Scale { low: -0.5, high, kind: Kind::Words(words.to_vec()), quantity: Quantity::Number }
    }

    /// Where a number is. What lies outside is put at the edge.
    pub(super) fn place(&self, value: f64) -> f64 {
        let of_log = || (value.max(self.low) / self.low).log10() / (self.high / self.low).log10();
        let place = match self.kind {
            Kind::Log => of_log(),
            Kind::LogAndZero if value < self.low => (value / self.low).max(0.0) * ZERO,
            Kind::LogAndZero => ZERO + (1.0 - ZERO) * of_log(),
            Kind::Linear | Kind::Words(_) => (value - self.low) / (self.high - self.low),
        };
        place.clamp(0.0, 1.0)
    }

    /// Where ticks are, and what they say. At most about so many have words.
    pub(super) fn ticks(&self, most: usize) -> Vec<(f64, Option<String>)> {
        match &self.kind {
            Kind::Linear => self.steps(most),
            Kind::Log => self.powers(most),
            Kind::LogAndZero => [(0.0, Some("0".to_owned()))].into_iter().chain(self.powers(most)).collect(),
            Kind::Words(words) => {
                let every = words.len().div_ceil(most.max(1)).max(1);
                let first = self.low + 0.5;
                let tick = |(place, word): (usize, &String)| {
                    (first + place as f64, (place % every == 0).then(|| word.clone()))
                };
                words.iter().enumerate().map(tick).collect()
            }
        }
    }

    fn steps(&self, most: usize) -> Vec<(f64, Option<String>)> {
        let step = step(self.high - self.low, most);
        let (first, last) =
            ((self.low / step - 1e-6).ceil() as i64, (self.high / step + 1e-6).floor() as i64);
        (first..=last).map(|number| step * number as f64).map(|it| (it, Some(self.words(it)))).collect()
    }

    fn powers(&self, most: usize) -> Vec<(f64, Option<String>)> {
        let inside = |value: f64| value >= self.low * (1.0 - 1e-9) && value <= self.high * (1.0 + 1e-9);
        let (low, high) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let whole = (low..=high).filter(|power| inside(10f64.powi(*power))).count();
        let every = whole.div_ceil(most.max(1)).max(1) as i32;
        // Few powers: what lies between them has words too.
        let named: &[i32] = match whole {
            0..=1 => &[1, 2, 3, 5],
            2 => &[1, 2, 5],
            _ => &[1],
        };
        let mut ticks = Vec::new();
        for power in low..=high {
            for digit in 1..10 {
                let value = 10f64.powi(power) * f64::from(digit);
                let is_named = named.contains(&digit) && (high - power) % every == 0;
                if inside(value) && (digit == 1 || every == 1 && whole <= 6) {
                    ticks.push((value, is_named.then(|| self.words(value))));
                }
            }
        }
        ticks
    }

    /// A tick's words, in one unit for all ticks.
    fn words(&self, value: f64) -> String {
        let needs_power = match self.kind {
            Kind::Linear => is_small(step(self.high - self.low, 5)),
            _ => is_small(self.low),
        };
        match self.quantity {
            Quantity::Share if value == 1.0 && needs_power => "1".to_owned(),
            Quantity::Share if value != 0.0 && needs_power => {
                power(value).trim_start_matches("1.0 × ").to_owned()
            }
            Quantity::Seconds => rough_beside(value, self.high),
            quantity => format_value(value, quantity),
        }
    }
}

fn format_value(value: f64, quantity: Quantity) -> String {
    match quantity {
        Quantity::Share => share(value),
        Quantity::Seconds => rough(value),
        Quantity::Number => digits(value),
    }
}

/// The smallest and the largest.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (low.min(it), high.max(it)));
    (low <= high).then_some((low, high))
}

/// A round step that makes about so many of a length.
fn step(length: f64, most: usize) -> f64 {
    let rough = length / most.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    steps.into_iter().map(|it| it * power).find(|it| *it >= rough * (1.0 - 1e-9)).unwrap_or(rough)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_range_is_shown_in_powers_and_a_narrow_one_from_zero() {
        let wide = Scale::fitting(&[0.0, 1e-5, 0.2], Quantity::Share);
        assert_eq!((wide.place(1e-5), wide.place(1.0)), (ZERO, 1.0));
        assert_eq!(wide.place(0.0), 0.0, "zero is below all powers");
        let narrow = Scale::fitting(&[0.1, 0.42], Quantity::Share);
        assert_eq!((narrow.place(0.0), narrow.place(0.5)), (0.0, 1.0));
    }

    #[test]
    fn ticks_are_round() {
        let words =
            |scale: &Scale| -> Vec<String> { scale.ticks(5).into_iter().filter_map(|(_, it)| it).collect() };
        assert_eq!(
            words(&Scale::linear([0.42].into_iter(), Quantity::Share)),
            ["0 %", "10 %", "20 %", "30 %", "40 %", "50 %"]
        );
        assert_eq!(
            words(&Scale::log([0.002, 3.0].into_iter(), Quantity::Seconds)),
            ["0.001 s", "0.01 s", "0.1 s", "1 s", "10 s"],
            "in one unit"
        );
        assert_eq!(
            words(&Scale::log([1e-6, 1.0].into_iter(), Quantity::Share)),
            ["10⁻⁶", "10⁻⁴", "10⁻²", "1"],
            "in one unit"
        );
        assert_eq!(words(&Scale::log([1e-9, 1.0].into_iter(), Quantity::Share)).len(), 5);
    }

    #[test]
    fn nothing_and_one_value_have_a_scale() {
        for values in [vec![], vec![0.0], vec![1.0], vec![f64::NAN]] {
            let scale = Scale::fitting(&values, Quantity::Share);
            assert!(scale.ticks(5).len() > 1, "{values:?}");
            assert!(scale.place(0.5).is_finite());
            assert!(Scale::log(values.into_iter(), Quantity::Seconds).ticks(5).len() > 1);
        }
    }
}
