//! The seeds that somebody asks for from outside, whatever the test says: one, so many, a range, or as many as fit into
//! a time.
//!
//! Assumes that variables are set for all checks of a process alike. Does not model a time for each of them.

use std::env;
use std::ops::{ControlFlow, RangeInclusive};
use std::time::{Duration, Instant};

use doublehold_scenarios::{Seed, format};
use doublehold_search::many::Tally;

use super::CheckError;

/// The variable that says which one seed is to be run.
pub(super) const SEED: &str = "DOUBLEHOLD_SEED";
/// The variable that says how many seeds are to be run, or which.
const SEEDS: &str = "DOUBLEHOLD_SEEDS";
/// The variable that says for how long seeds are to be run.
const TIME: &str = "DOUBLEHOLD_TIME";

/// What is asked for from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AskedFor {
    Nothing,
    One(Seed),
    /// So many, from the first on.
    First(u64),
    Range(RangeInclusive<Seed>),
    Time(Duration),
}

/// Reads what was typed, if it makes sense.
type Read = fn(&str) -> Option<AskedFor>;

impl AskedFor {
    /// What the environment says.
    ///
    /// # Errors
    ///
    /// If it says nonsense, or two things at once.
    pub(super) fn from_environment() -> Result<AskedFor, CheckError> {
        // An empty variable is one that somebody wanted to unset.
        AskedFor::from_variables(|name| env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<AskedFor, CheckError> {
        let kinds: [(&str, &str, Read); 3] = [
            (SEED, "the number of a seed", |typed| typed.parse().ok().map(AskedFor::One)),
            (SEEDS, "a number of seeds such as 5000, or a range such as 1..=5000", number_or_range),
            (TIME, "a time such as 60s", time),
        ];
        let mut set = kinds.into_iter().filter_map(|(name, takes, read)| {
            variable(name)
                .map(|value| (name, read(&value).ok_or(CheckError::Variable { name, value, takes })))
        });
        match (set.next(), set.next()) {
            (None, _) => Ok(AskedFor::Nothing),
            (Some((_, asked)), None) => asked,
            (Some((one, _)), Some((other, _))) => Err(CheckError::TwoVariables { one, other }),
        }
    }

    /// The one seed that somebody wants to see.
    pub(super) fn one(&self) -> Option<Seed> {
        match self {
            AskedFor::One(seed) => Some(*seed),
            _ => None,
        }
    }

    /// The seeds to run in place of these.
    pub(super) fn seeds(&self, otherwise: &RangeInclusive<Seed>) -> RangeInclusive<Seed> {
        let first = *otherwise.start();
        match self {
            AskedFor::Nothing => otherwise.clone(),
            AskedFor::One(seed) => *seed..=*seed,
            AskedFor::First(count) => first..=Seed(first.0.saturating_add(count - 1)),
            AskedFor::Range(seeds) => seeds.clone(),
            AskedFor::Time(_) => first..=Seed(u64::MAX),
        }
    }

    /// What says whether to go on: until the time is over, which begins now, but not without any run.
    pub(super) fn until(&self) -> impl FnMut(&Tally) -> ControlFlow<()> + use<> {
        let ends = match self {
            AskedFor::Time(time) => Instant::now().checked_add(*time),
            _ => None,
        };
        move |tally| match ends {
            Some(ends) if tally.runs > 0 && Instant::now() >= ends => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

fn number_or_range(typed: &str) -> Option<AskedFor> {
    if let Some((first, last)) = typed.split_once("..=") {
        let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        return (first <= last).then_some(AskedFor::Range(Seed(first)..=Seed(last)));
    }
    typed.parse().ok().filter(|count| *count > 0).map(AskedFor::First)
}

fn time(typed: &str) -> Option<AskedFor> {
    format::duration(typed).ok().filter(|time| !time.is_zero()).map(AskedFor::Time)
}

/// The seeds of so many runs, from the first of these on.
pub(super) fn first_of(seeds: &RangeInclusive<Seed>, runs: u64) -> RangeInclusive<Seed> {
    let first = *seeds.start();
    first..=Seed(first.0.saturating_add(runs.saturating_sub(1)))
}

/// What to type before a command that is to run this seed alone.
pub(super) fn setting(seed: Seed) -> String {
    let is_set = |name: &&&str| env::var(name).is_ok_and(|value| !value.is_empty());
    let unset: String = [SEEDS, TIME].iter().filter(is_set).map(|name| format!("{name}= ")).collect();
    format!("{unset}{SEED}={seed}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[(&str, &str)]) -> Result<AskedFor, String> {
        let value = |name: &str| set.iter().find(|(it, _)| *it == name).map(|(_, it)| (*it).to_owned());
        AskedFor::from_variables(value).map_err(|error| error.to_string())
    }

    #[test]
    fn one_seed_a_number_a_range_or_a_time_can_be_asked_for() {
        let numbers = |set: &[(&str, &str)]| {
            let seeds = read(set).expect("it makes sense").seeds(&(Seed(10)..=Seed(19)));
            (seeds.start().0, seeds.end().0)
        };
        assert_eq!(numbers(&[]), (10, 19));
        assert_eq!(numbers(&[(SEED, "0")]), (0, 0));
        assert_eq!(numbers(&[(SEEDS, "5000")]), (10, 5009));
        assert_eq!(numbers(&[(SEEDS, "1..=5000")]), (1, 5000));
        assert_eq!(numbers(&[(SEEDS, "7 ..= 7")]), (7, 7));
        assert_eq!(numbers(&[(TIME, "60s")]), (10, u64::MAX));
        assert_eq!(read(&[(TIME, "1500ms")]), Ok(AskedFor::Time(Duration::from_millis(1500))));
    }

    #[test]
    fn nonsense_is_refused_with_what_it_may_be() {
        for (name, typed, takes) in [
            (SEED, "many", "the number of a seed"),
            (SEED, "-1", "the number of a seed"),
            (SEEDS, "0", "a number of seeds such as 5000, or a range such as 1..=5000"),
            (SEEDS, "5..=1", "a number of seeds such as 5000, or a range such as 1..=5000"),
            (SEEDS, "1..5", "a number of seeds such as 5000, or a range such as 1..=5000"),
            (TIME, "60", "a time such as 60s"),
            (TIME, "0s", "a time such as 60s"),
        ] {
            let refused = format!("the variable {name} is `{typed}`: set it to {takes}, or unset it");
            assert_eq!(read(&[(name, typed)]), Err(refused));
        }
    }

    #[test]
    fn two_at_once_are_refused() {
        let refused = "the variables DOUBLEHOLD_SEEDS and DOUBLEHOLD_TIME are both set: unset one of them";
        assert_eq!(read(&[(TIME, "60s"), (SEEDS, "5")]), Err(refused.to_owned()));
        let refused = "the variables DOUBLEHOLD_SEED and DOUBLEHOLD_TIME are both set: unset one of them";
        assert_eq!(read(&[(TIME, "nonsense"), (SEED, "5")]), Err(refused.to_owned()));
    }

    #[test]
    fn a_time_that_is_over_ends_a_search_and_nothing_else_does() {
        let is_over = |asked: AskedFor, runs| asked.until()(&Tally { runs, ..Tally::default() }).is_break();
        assert!(is_over(AskedFor::Time(Duration::ZERO), 1));
        assert!(!is_over(AskedFor::Time(Duration::ZERO), 0), "no run is no check");
        assert!(!is_over(AskedFor::Time(Duration::MAX), 1));
        assert!(!is_over(AskedFor::Nothing, 1));
    }

    #[test]
    fn the_seeds_that_were_run_begin_with_the_first() {
        assert_eq!(first_of(&(Seed(5)..=Seed(u64::MAX)), 32), Seed(5)..=Seed(36));
        assert_eq!(first_of(&(Seed(5)..=Seed(u64::MAX)), 0), Seed(5)..=Seed(5));
    }
}
