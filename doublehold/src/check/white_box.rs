//! What a check learns of the inside of a lock, beside its counts: white-box rules, and the marks that runs reached.

use crate::findings::RuleFindings;
use crate::marks::Marks;

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
