//! The units in which a page tells how often something happens: once in so many months, once in so many grants, or as a
//! share of runs.
//!
//! A month is told only where the weather claims the rates of the field and the study says how the lock is used: under
//! the faults of a search a month means nothing. A share of somebody waiting scales all rules alike: each of them needs
//! a second client that wants the lock.
//!
//! Decision: "A report tells months only under a weather that claims the field" (docs/decisions/sweeps.md).
//!
//! Not modelled: that a long stop gives others more time to come. Where few wait, the rates are too low by that.

use std::fmt;

use doublehold_history::Predicate;
use doublehold_statistics::{
    Estimate, Interval, Reason, Scale, Unsupported, bound_words, range_parts, rate_parts,
};
use doublehold_sweeps::study::{HOURS_OF_MONTH, Usage};
use doublehold_sweeps::sweep::StudyHeader;
use doublehold_text::{digits, group_digits};

use super::rates::{Figures, SURE};
use super::world;

/// The unit of a page's rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Measure {
    /// Of all runs.
    Runs,
    /// Of all granted calls.
    Grants,
    /// Events a month, of a service with this use.
    Months(Usage),
}

/// A rate in a unit, or why there is none.
pub(crate) type UnitRate = Result<Estimate, Unsupported>;

impl Measure {
    /// The unit that a study's records support.
    pub(crate) fn choose(header: &StudyHeader) -> Measure {
        let worlds = header.designs.iter().filter(|design| !design.weather.is_empty());
        let (mut of_field, mut others) = (0, 0);
        worlds.for_each(|design| match world::claims_field(&design.world) {
            true => of_field += 1,
            false => others += 1,
        });
        if of_field == 0 || others > 0 {
            return Measure::Runs;
        }
        // Typed texts were checked when the study was read.
        match Usage::parse(&header.usage.grants, &header.usage.busy) {
            Ok(usage) => Measure::Months(usage),
            Err(_) => Measure::Grants,
        }
    }

    /// A cell's rate of a predicate.
    pub(crate) fn rate(self, cell: &Figures, predicate: Predicate) -> UnitRate {
        let per_run = cell.rate(predicate).per_run;
        match self {
            Measure::Runs => per_run,
            Measure::Grants => cell.grants.rate(per_run, SURE),
            Measure::Months(usage) => {
                let per_grant = cell.grants.rate(per_run, SURE);
                scale(per_grant, usage.grants_per_month() * usage.busy)
            }
        }
    }

    /// A rate and its interval in words: `once in 7 months` and `6 to 9 months`; a share of runs on this scale.
    pub(crate) fn words(self, told: &UnitRate, scale: Scale) -> (String, String) {
        match told {
            Ok(it) => match self {
                Measure::Runs => rate_parts(it.value, it.interval, scale),
                _ => (self.once(it.value, it.value), self.between(it.interval)),
            },
            Err(Unsupported { reason: Reason::Undecided { range, interval }, .. }) => match self {
                Measure::Runs => range_parts(*range, *interval, scale),
                _ => (self.once(range.low, range.high), self.between(*interval)),
            },
            Err(Unsupported { at_most: Some(bound), reason }) => {
                let what = if matches!(reason, Reason::NoneSeen { .. }) { "not seen" } else { "no number" };
                let bound =
                    if self == Measure::Runs { bound_words(*bound, scale) } else { self.at_most(*bound) };
                (bound, what.to_owned())
            }
            Err(_) => ("unknown".to_owned(), String::new()),
        }
    }

    /// `once in 7 to 9 months`, `3.4 to 4.0 %`: from one rate to another.
    pub(crate) fn once(self, low: f64, high: f64) -> String {
        match self {
            Measure::Runs => share_range(low, high),
            Measure::Grants => {
                let (few, many) = (two_digits(1.0 / high), two_digits(1.0 / low));
                format!("once in {} grants", join(&few, &many))
            }
            Measure::Months(_) => Times::from_rates(low, high).to_string(),
        }
    }

    /// Says in words how often something comes, from its count in a granted call; `None` of a study that tells shares
    /// of runs.
    pub(crate) fn per_grant(self, count: f64) -> Option<String> {
        match self {
            Measure::Runs => None,
            Measure::Grants => Some(self.once(count, count)),
            Measure::Months(usage) => {
                let per_month = count * usage.grants_per_month() * usage.busy;
                Some(self.once(per_month, per_month))
            }
        }
    }

    fn between(self, interval: Interval) -> String {
        match self {
            Measure::Months(_) if interval.low <= 0.0 => {
                format!("at most {}", self.once(interval.high, interval.high))
            }
            Measure::Grants if interval.low <= 0.0 => self.at_most(interval.high),
            _ => self.once(interval.low, interval.high).trim_start_matches("once in ").to_owned(),
        }
    }

    /// `at most once in 2 years`: the time is rounded down, since what is rounded up is no bound.
    pub(crate) fn at_most(self, bound: f64) -> String {
        match self {
            Measure::Runs => bound_words(bound, Scale::Share),
            Measure::Grants => format!("at most once in {} grants", floor_digits(1.0 / bound)),
            Measure::Months(_) => format!("at most {}", Times::bound(bound)),
        }
    }

    /// The words behind a share: ` of runs`.
    pub(crate) fn noun(self) -> &'static str {
        if self == Measure::Runs { " of runs" } else { "" }
    }

    /// The words of an axis.
    pub(crate) fn axis(self) -> &'static str {
        match self {
            Measure::Runs => "share of runs",
            Measure::Grants => "share of grants",
            Measure::Months(_) => "times a month",
        }
    }
}

fn scale(told: UnitRate, by: f64) -> UnitRate {
    let interval = |it: Interval| Interval { low: it.low * by, high: it.high * by };
    match told {
        Ok(it) => Ok(Estimate { value: it.value * by, interval: interval(it.interval), ..it }),
        Err(Unsupported { reason, at_most }) => Err(Unsupported {
            reason: match reason {
                Reason::Undecided { range, interval: around } => {
                    Reason::Undecided { range: interval(range), interval: interval(around) }
                }
                other => other,
            },
            at_most: at_most.map(|bound| bound * by),
        }),
    }
}

/// `3.4 to 4.0 %`; one number where both are the same.
fn share_range(low: f64, high: f64) -> String {
    let end =
        |value: f64| rate_parts(value, Interval { low: value * 0.9, high: value * 1.1 }, Scale::Share).0;
    let (low, high) = (end(low), end(high));
    match low.strip_suffix(" %").filter(|_| high.ends_with(" %")) {
        _ if low == high => high,
        Some(low) => format!("{low} to {high}"),
        None => format!("{low} to {high}"),
    }
}

fn join(few: &str, many: &str) -> String {
    if few == many { few.to_owned() } else { format!("{few} to {many}") }
}

/// Rounded to two digits, with its thousands apart.
fn two_digits(number: f64) -> String {
    round_digits(number, f64::round, 2)
}

fn floor_digits(number: f64) -> String {
    round_digits(number, f64::floor, 2)
}

fn round_digits(number: f64, round: fn(f64) -> f64, count: i32) -> String {
    if !number.is_finite() || number >= 1e15 {
        return "very many".to_owned();
    }
    let place = 10_f64.powi((number.abs().log10().floor() as i32 - count + 1).max(0));
    // A hair more, so that a whole number is not rounded down for the last bit of a quotient.
    group_digits((round(number * (1.0 + 1e-12) / place) * place) as u64)
}

/// A mean time between two events, in the unit that suits both ends: `once in 7 to 9 months`, `3 times a day`.
struct Times {
    few: f64,
    many: f64,
    is_bound: bool,
}

const UNITS: [(&str, f64); 5] = [
    ("year", 12.0),
    ("month", 1.0),
    ("day", 24.0 / HOURS_OF_MONTH),
    ("hour", 1.0 / HOURS_OF_MONTH),
    ("minute", 1.0 / 60.0 / HOURS_OF_MONTH),
];

impl Times {
    /// From two numbers of events a month.
    fn from_rates(low: f64, high: f64) -> Times {
        Times { few: 1.0 / high, many: 1.0 / low, is_bound: false }
    }

    /// No more often than this.
    fn bound(high: f64) -> Times {
        Times { few: 1.0 / high, many: 1.0 / high, is_bound: true }
    }

    /// The largest unit of which a length has two; the smallest for what is shorter.
    fn unit(length: f64) -> (&'static str, f64) {
        let is_small_enough = |(_, unit): &&(&str, f64)| length >= 2.0 * unit * (1.0 - 1e-9);
        *UNITS.iter().find(is_small_enough).unwrap_or(&UNITS[UNITS.len() - 1])
    }

    fn number(&self, length: f64, unit: f64) -> String {
        let number = length / unit;
        let round = if self.is_bound { f64::floor } else { f64::round };
        round_digits(number, round, 2)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (small, large) = (Times::unit(self.few), Times::unit(self.many));
        let minutes = UNITS[UNITS.len() - 1];
        if self.few < minutes.1 {
            return write!(f, "{} times a minute", digits(minutes.1 / self.few));
        }
        let (few, many) = (self.number(self.few, small.1), self.number(self.many, large.1));
        if small.0 == large.0 {
            let plural = if many == "1" { "" } else { "s" };
            return write!(f, "once in {} {}{plural}", join(&few, &many), small.0);
        }
        write!(f, "once in {few} {}s to {many} {}s", small.0, large.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn months(grants: &str) -> Measure {
        Measure::Months(Usage::parse(grants, "always").expect("it is right"))
    }

    #[test]
    fn times_have_the_largest_unit_that_has_two_of_them() {
        let once = |low: f64, high: f64| months("200 grants an hour").once(low, high);
        assert_eq!(once(0.14, 0.14), "once in 7 months");
        assert_eq!(once(1.0 / 24.0, 1.0 / 24.0), "once in 2 years");
        assert_eq!(once(0.1, 0.14), "once in 7 to 10 months");
        assert_eq!(once(1.0 / 60.0, 0.14), "once in 7 months to 5 years");
        assert_eq!(once(730.0 / 24.0 / 3.0, 730.0 / 24.0 / 3.0), "once in 3 days");
        assert_eq!(once(730.0 * 600.0, 730.0 * 600.0), "10 times a minute");
    }

    #[test]
    fn a_bound_is_never_rounded_to_less_than_it_is() {
        let measure = months("200 grants an hour");
        assert_eq!(measure.at_most(1.0 / 35.9), "at most once in 2 years");
        assert_eq!(measure.at_most(1.0 / 1.99), "at most once in 60 days");
        assert_eq!(Measure::Grants.at_most(1.0 / 12_999.0), "at most once in 12,000 grants");
    }
}
