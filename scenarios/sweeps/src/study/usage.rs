//! The use that a reader makes of a lock: grants an hour, and how often somebody else waits. It turns a rate per grant
//! into one per month.
//!
//! Pure: reads two texts. Changes nothing in a run.
//!
//! Not modelled: hours of the day. So many grants an hour are a mean, and so is the share of them that others wait for.

use std::fmt;

use doublehold_text::shorten;
use thiserror::Error;

/// Hours of a month: a twelfth of a year of 365 days.
pub const HOURS_OF_MONTH: f64 = 730.0;

/// Grants and contention of a service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Of all locks together.
    pub grants_per_hour: f64,
    /// The share of grants during which somebody else asks for the same lock. One in a study's worlds, where somebody
    /// always waits.
    pub busy: f64,
}

/// A text that says no use.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{cause}\nhint: {hint}")]
pub struct UsageError {
    /// What is wrong.
    pub cause: String,
    /// The way out.
    pub hint: &'static str,
}

const GRANTS: &str =
    "write it as \"200 grants an hour\"; a second, minute, hour, day or month may follow `a`";
const BUSY: &str = "write it as \"one in ten\" or \"1/10\", or as \"always\"";
const UNITS: [(&str, f64); 5] = [
    ("second", 1.0 / 3_600.0),
    ("minute", 1.0 / 60.0),
    ("hour", 1.0),
    ("day", 24.0),
    ("month", HOURS_OF_MONTH),
];
const NUMBERS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

impl Usage {
    /// Reads `200 grants an hour`, and `one in ten`, which is `always` where nothing is said.
    ///
    /// ```
    /// use doublehold_sweeps::study::Usage;
    ///
    /// let usage = Usage::parse("200 grants an hour", "one in ten").expect("both are right");
    /// assert_eq!((usage.grants_per_hour, usage.busy), (200.0, 0.1));
    /// assert_eq!(usage.grants_per_month(), 200.0 * 730.0);
    /// ```
    ///
    /// # Errors
    ///
    /// If a text is not of that form, or a number is zero or not finite.
    pub fn parse(grants: &str, busy: &str) -> Result<Usage, UsageError> {
        let wrong = |what: &str, text: &str, hint| UsageError {
            cause: format!("{what} must not be `{}`", shorten(text)),
            hint,
        };
        let grants_per_hour = read_grants(grants).ok_or_else(|| wrong("`use`", grants, GRANTS))?;
        let busy = read_share(busy).ok_or_else(|| wrong("`busy`", busy, BUSY))?;
        Ok(Usage { grants_per_hour, busy })
    }

    /// Grants in a month, also those that nobody waits for.
    pub fn grants_per_month(&self) -> f64 {
        self.grants_per_hour * HOURS_OF_MONTH
    }
}

/// A mean number of grants an hour: `200 grants an hour`, `3 grants per minute`.
fn read_grants(text: &str) -> Option<f64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [number, "grant" | "grants", "a" | "an" | "per", unit] = words[..] else { return None };
    let hours = UNITS.iter().find(|(name, _)| *name == unit)?.1;
    let number: f64 = number.replace('_', "").parse().ok()?;
    Some(number / hours).filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// A share above zero: `always`, `1/10`, `one in ten`, `1 in 10`.
fn read_share(text: &str) -> Option<f64> {
    if ["always", ""].contains(&text) {
        return Some(1.0);
    }
    let number = |word: &str| {
        let place = NUMBERS.iter().position(|known| *known == word);
        place.map(|place| place as f64 + 1.0).or_else(|| word.parse().ok().filter(|it: &f64| it.is_finite()))
    };
    let (part, whole) = text.split_once('/').or_else(|| text.split_once(" in "))?;
    let share = number(part.trim())? / number(whole.trim())?;
    Some(share).filter(|share| *share > 0.0 && *share <= 1.0)
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} grants an hour", doublehold_text::digits(self.grants_per_hour))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_without_a_unit_or_with_a_share_above_one_is_refused() {
        let refused = |grants: &str, busy: &str| Usage::parse(grants, busy).expect_err("it is wrong").cause;
        for grants in [
            "200",
            "200 grants",
            "200 grants an year",
            "0 grants an hour",
            "-1 grants an hour",
            "inf grants a day",
        ] {
            assert_eq!(refused(grants, "always"), format!("`use` must not be `{grants}`"));
        }
        for busy in ["ten", "0/10", "two in one", "1/0", "one in eleven"] {
            assert_eq!(refused("1 grant a day", busy), format!("`busy` must not be `{busy}`"));
        }
    }

    #[test]
    fn a_day_has_24_hours_and_a_month_730() {
        let per_hour = |text: &str| Usage::parse(text, "always").expect("it is right").grants_per_hour;
        assert_eq!(per_hour("48 grants a day"), 2.0);
        assert_eq!(per_hour("730 grants per month"), 1.0);
        assert!((per_hour("1_000 grants a second") - 3.6e6).abs() < 1e-3);
        assert_eq!(Usage::parse("1 grant an hour", "two in 8").expect("it is right").busy, 0.25);
    }
}
