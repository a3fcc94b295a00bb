//! The causes of a violation as a clause: only those that runs without them have shown.

use doublehold_history::{Evidence, Predicate};
use doublehold_scenarios::report::{Cause, Found};
use doublehold_text::{clean, join_names, list};

use crate::picture::facts::Facts;

/// The clause after `because`; `None` if no cause is known, or nobody asked.
pub(super) fn clause(facts: &Facts<'_>, predicate: Predicate, evidence: &Evidence) -> Option<String> {
    let causes = facts.run.causes.filter(|causes| causes.told.is_of(predicate, evidence))?;
    let words = |causes: &[Cause]| -> Vec<String> { causes.iter().map(|it| clean(&it.words)).collect() };
    Some(match &causes.found {
        Found::Needed(causes) => match words(causes).as_slice() {
            [] => return None,
            [one] => one.clone(),
            [one, other] => format!("{one} and {other}, both together"),
            several => format!("{}, all together", list(several)),
        },
        Found::Either(causes) => match words(causes).as_slice() {
            [one, other] => format!("either {one} or {other}: each would have been enough"),
            several => format!("{}: any one of these would have been enough", join_names(several, "or")),
        },
        Found::Nothing | Found::NotAsked => return None,
    })
}
