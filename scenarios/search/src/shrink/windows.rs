//! For how long and how late: the range of each length and moment that still violates.
//!
//! Found by bisection: from the value there is, towards less and towards more, as if what violates had no gaps. So it
//! is the connected range around that value under this assumption, not all values that violate, and no proof for each
//! in between. Upwards a value is doubled until it loses the violation, or is a minute and eight times the value there
//! is.

use std::fmt;
use std::time::Duration;

use doublehold_scenarios::model::scenario::Scenario;
use doublehold_scenarios::model::when::When;
use doublehold_scenarios::{Engine, Stepped};
use doublehold_text::{duration, exact_duration};

use super::passes::shorten_durations::{LengthPlace, is_rate, nanoseconds};
use super::search::ShrinkSearch;

/// Bounds are found to a millisecond, or to a thousandth of themselves where that is more.
const FINEST_NS: u64 = 1_000_000;
/// What is tried upwards at least.
const FAR_NS: u64 = 60_000_000_000;

/// The range of one length or moment of a fault that still violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// What varies, as `--set` has it: `faults.0.for`.
    pub key: String,
    /// What the scenario says there. Of a moment: how much later than its event, or than the beginning.
    pub value: Duration,
    /// From here on it violates.
    pub from: Duration,
    /// Whether less was tried, and lost the violation. If not, less would mean nothing.
    pub loses_below: bool,
    /// Up to here it violates.
    pub to: Duration,
    /// Whether more was tried, and lost the violation. If not, this is the most that was tried.
    pub loses_above: bool,
    /// Of a moment: after what, in words.
    pub after: Option<String>,
}

/// `faults.0.for: from 9.99 s to 160 s (longest tried)`.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after = self.after.as_ref().map_or(String::new(), |after| format!(" after {after}"));
        if self.from == self.to {
            return write!(f, "{}: only {}{after}", self.key, round_duration(self.from));
        }
        let most = if self.loses_above { "" } else { " (longest tried)" };
        write!(
            f,
            "{}: from {} to {}{after}{most}",
            self.key,
            round_duration(self.from),
            round_duration(self.to)
        )
    }
}

/// Every window of a scenario's faults.
pub(super) fn all<E: Engine<Prepared: Stepped>>(search: &mut ShrinkSearch<'_, E>) -> Vec<Window> {
    let scenario = search.scenario().clone();
    let mut all = Vec::new();
    for place in LengthPlace::all(&scenario) {
        let (fault, key) = match place {
            LengthPlace::Offset(fault) => (fault, "at"),
            LengthPlace::Lasting(fault) => (fault, "for"),
            LengthPlace::By(fault) if !is_rate(&scenario.faults[fault]) => (fault, "by"),
            _ => continue,
        };
        let window = window(search, &scenario, place);
        // What there were no more replays for would look like a bound.
        if search.is_spent() {
            break;
        }
        let after = (key == "at").then(|| anchor_text(&scenario.faults[fault].at));
        all.extend(window.map(|window| Window { key: format!("faults.{fault}.{key}"), after, ..window }));
    }
    all
}

fn window<E: Engine<Prepared: Stepped>>(
    search: &mut ShrinkSearch<'_, E>,
    scenario: &Scenario,
    place: LengthPlace,
) -> Option<Window> {
    let value = place.get(scenario)?;
    let (least, most) = (place.minimum(scenario), nanoseconds(scenario.limits.time));
    let range = range(value, least, most, |size| search.still_violates(place.with_size(scenario, size)));
    let Range { from, loses_below, to, loses_above } = range;
    let [value, from, to] = [value, from, to].map(Duration::from_nanos);
    Some(Window { key: String::new(), value, from, loses_below, to, loses_above, after: None })
}

/// Both ends of what violates, and whether anything beyond them was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    from: u64,
    loses_below: bool,
    to: u64,
    loses_above: bool,
}

/// The range around a value that violates, down to the least that means something and up to the most that a run lasts.
fn range(value: u64, least: u64, most: u64, mut violates: impl FnMut(u64) -> bool) -> Range {
    let least = least.min(value);
    let loses_below = value > least && !violates(least);
    let from = if loses_below { bisect(value, least, &mut violates) } else { least };
    let far = value.saturating_mul(8).max(FAR_NS).min(most).max(value);
    let (mut to, mut loses_above) = (value, false);
    while to < far && !loses_above {
        let more = to.saturating_mul(2).max(FINEST_NS).min(far);
        if violates(more) {
            to = more;
        } else {
            (to, loses_above) = (bisect(to, more, &mut violates), true);
        }
    }
    Range { from, loses_below, to, loses_above }
}

/// The last value that violates on the way from one that does to one that does not.
fn bisect(violating: u64, not: u64, violates: &mut impl FnMut(u64) -> bool) -> u64 {
    let (mut yes, mut no) = (violating, not);
    while yes.abs_diff(no) > FINEST_NS.max(yes.max(no) / 1_000) {
        let middle = yes.midpoint(no);
        if violates(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    yes
}

/// Text of what a moment comes after.
fn anchor_text(moment: &When) -> String {
    match moment {
        When::At(_) => "the beginning".to_owned(),
        When::On { events, .. } => {
            let event = When::On { events: events.clone(), after: Duration::ZERO }.words();
            event.trim_start_matches("at ").to_owned()
        }
    }
}

fn round_duration(length: Duration) -> String {
    let ns = nanoseconds(length);
    if ns.is_multiple_of(FINEST_NS) { exact_duration(length) } else { duration(ns) }
}

#[cfg(test)]
mod tests;
