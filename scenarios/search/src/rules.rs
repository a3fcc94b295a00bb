//! White-box rules, asked of many runs of one scenario: how often each is broken, and by what first.
//!
//! A rule needs the report of a run, which costs more than its verdicts. It needs few of them: what breaks one does so
//! in most runs, or is what predicates are for. So the first few hundred seeds are asked, beside a search and not in
//! it.
//!
//! Runs are counted in the order of their seeds, so the result is the same on any number of threads.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use doublehold_scenarios::pool::{Crew, Foreman, Hand, Stuck, run_in_order};
use doublehold_scenarios::report::white_box::{Rule, RuleVerdict, ask_all};
use doublehold_scenarios::{Prepared, Report, Seed};

use crate::many::Many;

/// The most runs that a check asks: enough for a rule that one run in a hundred breaks, and done in a part of a second.
pub const ASKED_MAX: u64 = 200;
/// The fewest, where there are so many.
const ASKED_MIN: u64 = 20;

/// How many seeds a thread takes at a time: reports are few.
const BLOCK: u64 = 8;
/// How many blocks a thread may be ahead of the first that is not counted yet.
const AHEAD: usize = 8;

/// The results of all rules in many runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleTally {
    /// How many runs were asked.
    pub runs: u64,
    /// The results of each rule.
    pub counts: BTreeMap<Rule, RuleCount>,
}

/// The results of one rule in many runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleCount {
    /// In how many it holds.
    pub holds: u64,
    /// In how many it is broken.
    pub broken: u64,
    /// The first seed from which it is broken, and what breaks it first there.
    pub first: Option<(Seed, String)>,
    /// In how many nothing could be judged by it.
    pub off: u64,
    /// The reason in the first of these.
    pub why_off: Option<&'static str>,
}

/// How many of so many runs a check asks: a fifth of them, so that its other runs are most of what it takes, and no
/// fewer than 20.
pub fn asked_of(runs: u64) -> u64 {
    (runs / 5).clamp(ASKED_MIN, ASKED_MAX).min(runs)
}

/// Asks all rules of these runs.
///
/// # Errors
///
/// If no run ends for as long as is allowed.
pub fn ask_many<P: Prepared + 'static>(prepared: &Arc<P>, many: &Many) -> Result<RuleTally, Stuck> {
    let (first, last) = (many.seeds.start().0, many.seeds.end().0);
    let mut blocks = Blocks { next: Some(first), last, tally: RuleTally::default() };
    let prepared = prepared.clone();
    let work = move |hand: &Hand<'_>, seeds: RangeInclusive<u64>| {
        let mut tally = RuleTally::default();
        for seed in seeds.map(Seed).take_while(|_| !hand.is_over()) {
            hand.begins(seed);
            tally.add(&prepared.run(seed));
        }
        tally
    };
    run_in_order(Crew { jobs: many.jobs, ahead: AHEAD }, many.patience, &mut blocks, work)?;
    Ok(blocks.tally)
}

struct Blocks {
    next: Option<u64>,
    last: u64,
    tally: RuleTally,
}

impl Foreman for Blocks {
    type Piece = RangeInclusive<u64>;
    type Done = RuleTally;

    fn next(&mut self) -> Option<RangeInclusive<u64>> {
        let first = self.next.filter(|first| *first <= self.last)?;
        self.next = first.checked_add(BLOCK);
        Some(first..=first.saturating_add(BLOCK - 1).min(self.last))
    }

    fn receive(&mut self, later: RuleTally) -> ControlFlow<()> {
        self.tally.merge(later);
        ControlFlow::Continue(())
    }
}

impl RuleTally {
    /// The results of a rule.
    pub fn count(&self, rule: Rule) -> RuleCount {
        self.counts.get(&rule).cloned().unwrap_or_default()
    }

    /// Whether a rule was judged, and never broken.
    pub fn holds(&self, rule: Rule) -> bool {
        matches!(self.count(rule), RuleCount { broken: 0, holds: 1.., .. })
    }

    fn add(&mut self, report: &Report) {
        self.runs += 1;
        for (rule, verdict) in ask_all(report) {
            let count = self.counts.entry(rule).or_default();
            match verdict {
                RuleVerdict::Holds => count.holds += 1,
                RuleVerdict::Broken(breaches) => {
                    count.broken += 1;
                    let first = breaches.into_iter().next().map(|breach| (report.seed, breach.words));
                    count.first = count.first.take().or(first);
                }
                RuleVerdict::Off(why) => {
                    count.off += 1;
                    count.why_off.get_or_insert(why);
                }
            }
        }
    }

    /// Adds the results of later seeds.
    fn merge(&mut self, later: RuleTally) {
        self.runs += later.runs;
        for (rule, theirs) in later.counts {
            let ours = self.counts.entry(rule).or_default();
            ours.holds += theirs.holds;
            ours.broken += theirs.broken;
            ours.first = ours.first.take().or(theirs.first);
            ours.off += theirs.off;
            ours.why_off = ours.why_off.or(theirs.why_off);
        }
    }
}
