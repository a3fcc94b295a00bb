//! How the replay of a plan compares with the run that the plan is of.

use doublehold_history::Predicate;
use doublehold_sim::TraceHash;
use doublehold_text::shorten;

/// What this program makes a trace's digest of.
pub(crate) const HASH_RULES: u32 = TraceHash::RULES;

/// A plan's replay beside the run that the plan is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replay {
    /// The same run: the trace came to the plan's digest, and to its verdicts as far as it has any.
    Same,
    /// The same trace, of which the plan says other verdicts: somebody changed the plan, or judges changed.
    OtherVerdicts {
        /// What verdicts were compared: predicate, what it came to then, and now.
        verdicts: Vec<Compared>,
    },
    /// Another run: the trace should have come to this digest.
    Another {
        /// The plan's digest.
        planned: String,
    },
    /// The plan's digest was made under other rules, so that the digests cannot be compared.
    OtherRules {
        /// The plan's rules.
        made_under: u32,
        /// What verdicts were compared: predicate, what it came to then, and now.
        verdicts: Vec<Compared>,
    },
}

impl Replay {
    /// Whether it was the same run, whatever verdicts the plan has; `None` if nobody can tell.
    pub fn is_same_run(&self) -> Option<bool> {
        match self {
            Replay::Same | Replay::OtherVerdicts { .. } => Some(true),
            Replay::Another { .. } => Some(false),
            Replay::OtherRules { .. } => None,
        }
    }

    /// Whether it contradicts the plan: another run, or other verdicts.
    pub fn contradicts(&self) -> bool {
        match self {
            Replay::Same => false,
            Replay::Another { .. } | Replay::OtherVerdicts { .. } => true,
            Replay::OtherRules { verdicts, .. } => differing(verdicts).next().is_some(),
        }
    }

    /// Whether the verdicts are the plan's, where runs cannot be compared. `Some(false)` also for the same run with
    /// other ones; `None` otherwise, and where the plan has none.
    pub fn are_same_verdicts(&self) -> Option<bool> {
        match self {
            Replay::OtherVerdicts { .. } => Some(false),
            Replay::OtherRules { verdicts, .. } if !verdicts.is_empty() => Some(!self.contradicts()),
            _ => None,
        }
    }

    /// What a reader must know of the replay whose trace came to `hash`, as a sentence.
    pub fn words(&self, hash: &str) -> String {
        let (made_under, verdicts) = match self {
            Replay::Same => return format!("same run: trace {hash}, as in the plan"),
            Replay::Another { planned } => {
                let planned = shorten(planned);
                return format!("NOT THE SAME RUN: the plan came to trace {planned}, this replay to {hash}");
            }
            Replay::OtherVerdicts { verdicts } => {
                let same = format!(
                    "NOT AS IN THE PLAN: the run is the same, trace {hash}, and its verdicts are not"
                );
                return same + &compared_text(verdicts);
            }
            Replay::OtherRules { made_under, verdicts } => (made_under, verdicts),
        };
        let mut words = format!("made under hash rules {made_under}, this program has {HASH_RULES}: ");
        if verdicts.is_empty() {
            return words + "hashes cannot be compared, and the plan holds no verdicts to compare";
        }
        words += "verdicts are compared, hashes cannot be";
        if !self.contradicts() {
            return words + "; every verdict is as in the plan";
        }
        words.insert_str(0, "NOT AS IN THE PLAN: ");
        words + &compared_text(verdicts)
    }
}

/// A predicate, what it came to in the plan, and now.
pub type Compared = (Predicate, &'static str, &'static str);

/// Those that came to something else than in the plan.
pub(crate) fn differing(verdicts: &[Compared]) -> impl Iterator<Item = &Compared> {
    verdicts.iter().filter(|(_, was, is)| was != is)
}

fn compared_text(verdicts: &[Compared]) -> String {
    let words = |(predicate, was, is): &Compared| format!("; {predicate} was {was} and is {is}");
    differing(verdicts).map(words).collect()
}
