//! The account of the first violation, in one sentence; or, if nothing is violated, of what a lock saw by itself.
//!
//! The sentence gives **what happened, in order** (`words.rs`), and **the cause** after a `because`
//! (`because.rs`). The cause is told only if the run was made again without it and the violation was gone
//! ([`doublehold_diagnosis::cause`]). If there is no finding and no known cause, there is no sentence.

mod because;
mod words;

use doublehold_diagnosis::finding;
use doublehold_history::{Evidence, LockId};
use doublehold_text::list;
use serde::Serialize;

pub(crate) use self::because::words as cause_words;
use super::facts::Facts;

/// The sentence that is told of a run before all else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    /// True if it says what the violation came from. If not, it only says what happened.
    pub is_cause: bool,
    /// The sentence, without a full stop.
    pub words: String,
}

impl Account {
    /// The word or two that stand before it.
    pub fn label(&self) -> &'static str {
        if self.is_cause { "why" } else { "what happened" }
    }

    /// The sentence, if it says what the violation came from.
    pub fn cause(self) -> Option<String> {
        self.is_cause.then_some(self.words)
    }

    /// The sentence, if it only says what happened.
    pub fn order(self) -> Option<String> {
        (!self.is_cause).then_some(self.words)
    }
}

/// The account of the predicate that is told, which is the first that is violated if nobody says which; where none is,
/// of a lock that saw by itself that its grant came too late. Of several locks it begins with the one it is about.
pub(super) fn account(facts: &Facts<'_>) -> Option<Account> {
    let found = finding::find(facts);
    let violated = facts.run.verdicts.first_evidence(facts.run.told);
    let because = violated.and_then(|(predicate, evidence)| because::clause(facts, predicate, evidence));
    let (lock, words::Sentence { first, then }) = match (found, violated) {
        (Some((lock, found)), _) => (lock, words::sentence(facts, &found)),
        (None, Some((_, evidence))) if because.is_some() => {
            let (lock, first) = violation(facts, evidence)?;
            (lock, words::Sentence { first, then: String::new() })
        }
        (None, _) => return None,
    };
    let is_cause = because.is_some();
    let because = because.map_or(String::new(), |because| format!(", because {because}"));
    Some(Account { is_cause, words: prefix_with_lock(facts, lock, format!("{first}{because}{then}")) })
}

fn prefix_with_lock(facts: &Facts<'_>, lock: LockId, words: String) -> String {
    if facts.has_several_locks() { format!("{}: {words}", facts.the_lock(lock)) } else { words }
}

/// The violation itself, where no more is known of how it came to it.
fn violation(facts: &Facts<'_>, evidence: &Evidence) -> Option<(LockId, String)> {
    Some(match evidence {
        Evidence::Overlap(it) => {
            let [one, other] = it.clients.map(|client| facts.client(client));
            (it.lock, format!("{other} was granted the lock while {one} held it"))
        }
        Evidence::StaleWrite(it) => {
            let [name, later] = [it.client, it.later_client].map(|client| facts.client(client));
            (it.lock, format!("{name}'s write was applied after {later} was granted the lock"))
        }
        Evidence::WrongKey(it) => {
            let (name, node) = (facts.client(it.client), facts.node(it.node));
            (it.lock, format!("{name} changed another grant's key on {node}"))
        }
        Evidence::Waited(it) => {
            let names: Vec<String> = it.clients.iter().map(|client| facts.client(*client)).collect();
            (it.lock, format!("{} waited too long", list(&names)))
        }
        Evidence::LongWait(it) => (it.lock, format!("{} waited too long", facts.client(it.client))),
        Evidence::Cycle(_) | Evidence::LostWrite(_) | Evidence::Omitted { .. } => return None,
    })
}
