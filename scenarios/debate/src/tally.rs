//! Statements, confirmed and refuted, counted by their author and predicate.
//!
//! A statement is what a claim's author says of one setup and one predicate. Two who say the same are counted both.

use std::collections::BTreeMap;

use doublehold_history::Predicate;

use crate::rows::{ClaimRow, Measured};

/// The statements of one author.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorTally {
    /// The author.
    pub who: String,
    /// Of each predicate: how many statements were confirmed, and how many refuted.
    pub of: BTreeMap<Predicate, (u64, u64)>,
    /// Claims that cannot be run yet.
    pub not_yet: u64,
}

/// A tally for each author, whoever says most first.
pub fn tallies(rows: &[ClaimRow<'_>]) -> Vec<AuthorTally> {
    let mut tallies: BTreeMap<&str, AuthorTally> = BTreeMap::new();
    for row in rows {
        for who in &row.claim.who {
            let tally = tallies
                .entry(who)
                .or_insert_with(|| AuthorTally { who: who.clone(), ..AuthorTally::default() });
            tally.not_yet += u64::from(row.claim.cases.is_err());
            for outcome in &row.outcomes {
                let Measured::Verdicts(case, counts) = &outcome.measured else { continue };
                for (predicate, _, count) in counts {
                    let confirms = case.says.get(predicate).and_then(|says| count.confirms(*says));
                    let (confirmed, refuted) = tally.of.entry(*predicate).or_default();
                    *confirmed += u64::from(confirms == Some(true));
                    *refuted += u64::from(confirms == Some(false));
                }
            }
        }
    }
    let mut tallies: Vec<AuthorTally> = tallies.into_values().collect();
    tallies.sort_by_key(|tally| std::cmp::Reverse(tally.statements() + tally.not_yet));
    tallies
}

impl AuthorTally {
    /// The number of statements that were run.
    pub fn statements(&self) -> u64 {
        self.of.values().map(|(confirmed, refuted)| confirmed + refuted).sum()
    }
}
