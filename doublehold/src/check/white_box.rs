//! What a check learns of the inside of a lock, beside its counts: white-box rules, and the marks that runs reached.

use std::sync::Arc;

use doublehold_scenarios::{Prepared, Seed, TakesLocks};
use doublehold_search::many::Many;
use doublehold_search::rules::{ask_many, asked_of};

use super::{Check, CheckError};
use crate::findings::RuleFindings;
use crate::marks::{Marked, Marks};

/// The inside of a lock, as runs showed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WhiteBox {
    /// The results of white-box rules in the first runs.
    pub rules: RuleFindings,
    /// The marks that runs reached.
    pub marks: Marks,
}

impl WhiteBox {
    /// Whether every rule that was asked for held wherever it was judged, in one run at least, and every mark that is
    /// expected was reached.
    pub fn holds(&self) -> bool {
        self.rules.asked.iter().all(|rule| self.rules.tally.holds(*rule))
            && self.marks.missing().next().is_none()
    }

    /// Lines about it, if there is anything to say.
    pub(super) fn lines(&self, runs: u64) -> Vec<String> {
        let mut lines = self.rules.lines(runs);
        lines.extend(self.marks.lines(runs));
        lines
    }
}

impl<E: TakesLocks> Check<E> {
    /// Asks white-box rules of the first of so many runs, which were made from this seed on.
    pub(super) fn white_box<P: Prepared + 'static>(
        &self,
        prepared: &Arc<P>,
        marked: &Marked<P>,
        (first, runs): (Seed, u64),
        is_one: bool,
    ) -> Result<WhiteBox, CheckError> {
        let last = first.0.saturating_add(asked_of(runs).saturating_sub(1));
        // One run that somebody wants to see need not come everywhere.
        let expected = if is_one { &[] } else { &self.marks[..] };
        Ok(WhiteBox {
            rules: RuleFindings {
                tally: ask_many(prepared, &Many::new(first..=Seed(last), self.patience))?,
                asked: self.rules.clone(),
            },
            marks: marked.marks(expected),
        })
    }
}
