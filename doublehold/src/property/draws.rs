//! Drawing cases: how many, from which seed, and each from a generator of its own, so that the n-th case is the
//! same whatever was drawn before it.

use std::env;

use doublehold_lockimpl::Descriptor;
use doublehold_scenarios::{Scenario, Seed};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::PropertyError;
use super::cases::{Case, seeds};

/// The variable that says how many cases there are.
const CASES: &str = "DOUBLEHOLD_CASES";
/// The variable that says from what cases are drawn.
const RNG_SEED: &str = "DOUBLEHOLD_RNG_SEED";
/// They are all drawn before the first is run, and a scenario takes some kilobytes. Who wants more runs has `check`.
pub(super) const CASES_MAX: u64 = 100_000;
/// How often a strategy may refuse what it drew, for one case: a bad strategy is told within seconds.
const REJECTS_MAX: u32 = 1_000;

/// What is to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draws {
    pub(super) cases: u64,
    pub(super) seed: u64,
}

impl Draws {
    /// So many cases, unless the environment says otherwise.
    pub(super) fn asked_for(cases: u64) -> Result<Draws, PropertyError> {
        Draws::from_variables(cases, |name| env::var(name).ok())
    }

    fn from_variables(cases: u64, variable: impl Fn(&str) -> Option<String>) -> Result<Draws, PropertyError> {
        let number = |name: &'static str, least: u64, most: u64| match variable(name) {
            None => Ok(None),
            Some(value) => match value.parse() {
                Ok(number) if (least..=most).contains(&number) => Ok(Some(number)),
                _ => Err(PropertyError::Variable {
                    name,
                    value,
                    takes: format!("a number from {least} to {most}"),
                }),
            },
        };
        if !(1..=CASES_MAX).contains(&cases) {
            return Err(PropertyError::Cases { cases });
        }
        let seed = number(RNG_SEED, 0, u64::MAX)?.unwrap_or(0);
        Ok(Draws { cases: number(CASES, 1, CASES_MAX)?.unwrap_or(cases), seed })
    }

    /// Draws the cases, each as a file would be accepted.
    pub(super) fn add_to(
        &self,
        cases: &mut Vec<Case>,
        scenarios: &impl Strategy<Value = Scenario>,
        locks: &[Descriptor],
    ) -> Result<(), PropertyError> {
        for case in 1..=self.cases {
            let mut runner = self.runner(case);
            let failed =
                |cause: proptest::test_runner::Reason| PropertyError::Draw { case, cause: cause.to_string() };
            let scenario = scenarios.new_tree(&mut runner).map_err(failed)?.current();
            let seed = seeds().new_tree(&mut runner).map_err(failed)?.current();
            let scenario = scenario.validate_with(locks.to_vec());
            let scenario = scenario.map_err(|source| PropertyError::Scenario { case, source })?;
            cases.push(Case { scenario, seed: Seed(seed) });
        }
        Ok(())
    }

    fn runner(&self, case: u64) -> TestRunner {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&case.to_le_bytes());
        let config =
            Config { max_local_rejects: REJECTS_MAX, failure_persistence: None, ..Config::default() };
        TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_wins_and_nonsense_is_refused_with_what_it_may_be() {
        let read = |cases, set: &[(&str, &str)]| {
            let set = set.to_vec();
            let value = move |name: &str| {
                set.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned())
            };
            Draws::from_variables(cases, value).map_err(|error| error.to_string())
        };
        assert_eq!(read(10, &[]), Ok(Draws { cases: 10, seed: 0 }));
        assert_eq!(read(10, &[(RNG_SEED, "0")]), Ok(Draws { cases: 10, seed: 0 }));
        assert_eq!(read(10, &[(CASES, "20"), (RNG_SEED, "7")]), Ok(Draws { cases: 20, seed: 7 }));
        let refused =
            "the variable DOUBLEHOLD_CASES is `many`: set it to a number from 1 to 100000, or unset it";
        assert_eq!(read(10, &[(CASES, "many")]), Err(refused.to_owned()));
        assert_eq!(read(10, &[(CASES, "0")]), Err(refused.replace("many", "0")));
        assert_eq!(read(0, &[]), Err("a property cannot have 0 cases: use 1 to 100000".to_owned()));
    }
}
