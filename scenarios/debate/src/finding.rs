//! Findings: in which of its cases a claim is right, what all of them assume, and the run that would refute the finding
//! if it said more.
//!
//! The sentences are typed beside the claim, since no run can write them. So a claim that leaves one out is refused
//! here, and one that the runs contradict is refused by [`rows`](crate::rows()).

use crate::claims::{DebateCase, RunCase};

/// The outcome of a claim in words.
#[derive(Clone, Debug)]
pub struct DebateFinding {
    /// When the claim is right and when it is wrong, in one sentence; `None` for a claim of one case, which says it.
    pub when: Option<String>,
    /// What all cases assume.
    pub scope: String,
    /// The reason why nothing can be run outside of the scope; `None` where an attack is.
    pub no_attack: Option<String>,
}

impl DebateFinding {
    /// A finding as typed, held against the cases of its claim.
    pub(crate) fn new(
        cases: &[DebateCase],
        when: Option<String>,
        scope: Option<String>,
        no_attack: Option<String>,
    ) -> Result<DebateFinding, &'static str> {
        let scope = scope.ok_or(NO_SCOPE)?;
        let attacks: Vec<&RunCase> = cases.iter().filter_map(attack).collect();
        check_when(when.as_deref(), cases.len() - attacks.len())?;
        match (attacks.is_empty(), &no_attack) {
            (true, None) => return Err(NO_ATTACK),
            (false, Some(_)) => return Err("it has both `attacks` and `no_attack`"),
            _ => {}
        }
        attacks.into_iter().try_for_each(check_attack)?;
        Ok(DebateFinding { when, scope, no_attack })
    }
}

const NO_SCOPE: &str = "it has no `scope`: say what all its cases assume, such as `one object, clocks right`";
const NO_ATTACK: &str =
    "nothing is run outside of its `scope`: add a run under `attacks`, or the reason under `no_attack`";
const NO_SENTENCE: &str =
    "its `when` is not a sentence: begin with `right` or `wrong`, and end without a full stop";

/// A claim of several cases has the sentence, and a claim of one is said by its case.
fn check_when(when: Option<&str>, cases: usize) -> Result<(), &'static str> {
    match when {
        None if cases > 1 => Err("it has several cases and no `when`: say in one sentence when it is right"),
        Some(_) if cases == 1 => Err("it has one case, which says when it is right: leave out `when`"),
        Some(when) if !is_one_sentence(when) => Err(NO_SENTENCE),
        _ => Ok(()),
    }
}

fn is_one_sentence(text: &str) -> bool {
    let begins = text.starts_with("right") || text.starts_with("wrong");
    begins && !text.contains(". ") && !text.ends_with('.')
}

fn attack(case: &DebateCase) -> Option<&RunCase> {
    match case {
        DebateCase::Run(run) if run.is_attack => Some(run),
        _ => None,
    }
}

fn check_attack(attack: &RunCase) -> Result<(), &'static str> {
    match attack {
        RunCase { setup, .. } if setup.about.is_none() => {
            Err("an attack has no `about`: say what is outside of the scope")
        }
        RunCase { says, .. } if !says.is_empty() => {
            Err("an attack has `says`: nobody speaks of what is outside of the scope")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use doublehold_history::Predicate;

    use super::*;
    use crate::claims::Says;

    fn run(expect: &str, is_attack: bool) -> DebateCase {
        let mut run: RunCase =
            toml::from_str(&format!("scenario = 'x'\nabout = 'later'\nexpect = {expect}")).unwrap();
        run.is_attack = is_attack;
        DebateCase::Run(run)
    }

    fn refused(cases: &[DebateCase], [when, scope, no_attack]: [Option<&str>; 3]) -> &'static str {
        let [when, scope, no_attack] = [when, scope, no_attack].map(|text| text.map(str::to_owned));
        DebateFinding::new(cases, when, scope, no_attack).expect_err("a finding that is refused")
    }

    #[test]
    fn a_claim_of_several_cases_says_when_it_is_right() {
        let cases = [run("{ P1 = 'holds' }", false), run("{ P1 = 'violated' }", false)];
        let scope = Some("one node");
        let why = Some("there is no other node");
        assert!(refused(&cases, [None, scope, why]).contains("no `when`"));
        assert!(refused(&cases, [Some("it depends"), scope, why]).contains("not a sentence"));
        assert!(refused(&cases, [Some("right. wrong. "), scope, why]).contains("not a sentence"));
        assert!(refused(&cases[..1], [Some("right at all times"), scope, why]).contains("one case"));
        let when = Some("right on Mondays; wrong on Tuesdays".to_owned());
        assert!(DebateFinding::new(&cases, when, scope.map(str::to_owned), why.map(str::to_owned)).is_ok());
    }

    #[test]
    fn a_finding_names_its_scope_and_what_is_outside_of_it() {
        let inside = run("{ P1 = 'holds' }", false);
        assert!(refused(from_ref(&inside), [None, None, Some("none")]).contains("no `scope`"));
        assert!(refused(from_ref(&inside), [None, Some("one node"), None]).contains("`no_attack`"));
        let attack = run("{ P1 = 'violated' }", true);
        let both = [inside.clone(), attack.clone()];
        assert!(refused(&both, [None, Some("one node"), Some("none")]).contains("both"));
        assert!(DebateFinding::new(&both, None, Some("one node".to_owned()), None).is_ok());
    }

    #[test]
    fn an_attack_says_what_is_outside_and_nobody_speaks_of_it() {
        let inside = run("{ P1 = 'holds' }", false);
        let told = |change: fn(&mut RunCase)| {
            let mut attack = run("{ P1 = 'violated' }", true);
            if let DebateCase::Run(attack) = &mut attack {
                change(attack);
            }
            refused(&[inside.clone(), attack], [None, Some("one node"), None])
        };
        assert!(told(|attack| attack.setup.about = None).contains("has no `about`"));
        assert!(told(|attack| attack.says = [(Predicate::P1, Says::Holds)].into()).contains("has `says`"));
    }
}
