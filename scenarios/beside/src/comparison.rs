//! From counts to one word: does the first lock do worse than the reference?
//!
//! Each predicate is asked twice: in the conditions in which the reference keeps it, and in the rest, where only a
//! better lock can show. A difference counts if McNemar's exact test says so, at a level that is divided among both
//! questions, all predicates, the white-box rules and every look. After round r a look may use 1/(r(r+1)) of it, so
//! that all looks together use the whole. Two locks that are alike are told apart once in [`ALPHA`]⁻¹ comparisons at
//! most, however long one looks.
//!
//! An example is evidence of another kind: a run that only the first lock breaks, and that goes so in other
//! futures as well. It decides where pairs say the same and are too few to decide alone. By itself it decides
//! nothing: of two locks that are as good, one of which sends a request more, each breaks something in plans of
//! its own, and shrinking looks through thousands of plans for one. Of 200 comparisons of such locks three had an
//! example that convinces.

use std::cmp::{Ordering, Reverse};

use doublehold_history::Predicate;
use doublehold_scenarios::report::white_box::Rule;
use doublehold_statistics::{Confidence, Interval, Paired, PartlyPaired};

use crate::count::{CountedPairs, sum};
use crate::inside::Inside;
use crate::survey::Survey;

/// How often two locks that are alike are told apart.
const ALPHA: f64 = 0.001;
/// The level at which pairs must speak for an example: six to none do, five to none do not.
const SHOWN_ALPHA: f64 = 0.05;
/// A difference of so many runs at most is none that matters: one in a hundred.
const MARGIN: f64 = 0.01;
/// Fewer pairs than these say nothing of a difference that small.
const PAIRS_MIN: u64 = 200;

/// What a predicate came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RuleFound {
    /// The first lock breaks it more often.
    Worse,
    /// The reference breaks it more often.
    Better,
    /// The first lock breaks it in so many runs more at most, as a share of runs; less than one in a hundred.
    NoWorse(f64),
    /// Nobody can say yet.
    NotToldApart,
    /// The reference breaks it in every condition, and both do alike.
    NotAsked,
}

impl RuleFound {
    /// The word of reports.
    pub fn as_str(self) -> &'static str {
        match self {
            RuleFound::Worse => "worse",
            RuleFound::Better => "better",
            RuleFound::NoWorse(_) => "no worse",
            RuleFound::NotToldApart => "not told apart",
            RuleFound::NotAsked => "not asked",
        }
    }
}

/// One predicate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedRule {
    /// Which.
    pub predicate: Predicate,
    /// What it came to.
    pub found: RuleFound,
    /// The pairs in conditions in which the reference keeps it.
    pub kept: PartlyPaired,
    /// The pairs in all others.
    pub rest: PartlyPaired,
}

impl ComparedRule {
    /// The difference of the rates where the reference keeps it, first less second; in all conditions if it keeps it in
    /// none.
    pub fn interval(&self) -> Option<Interval> {
        let table = if self.kept.pairs() > 0 { &self.kept } else { &self.rest };
        table.decided.interval(Confidence::P95)
    }
}

/// What the whole came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BesideOutcome {
    /// Something is worse and nothing better.
    Worse,
    /// Something is better and nothing worse.
    Better,
    /// Something is worse and something else better.
    Mixed,
    /// Nothing is told apart, and no difference that matters is left.
    NoWorse,
    /// Nothing is told apart, and there were too few pairs to say more.
    NotToldApart,
    /// Both runs of every pair were the same: no world exercises what differs.
    NeverReached,
}

impl BesideOutcome {
    /// The word of reports.
    pub fn as_str(self) -> &'static str {
        match self {
            BesideOutcome::Worse => "worse",
            BesideOutcome::Better => "better",
            BesideOutcome::Mixed => "mixed",
            BesideOutcome::NoWorse => "no worse",
            BesideOutcome::NotToldApart => "not told apart",
            BesideOutcome::NeverReached => "never reached",
        }
    }
}

/// All predicates.
#[derive(Clone, Debug, PartialEq)]
pub struct BesideComparison {
    /// In the order of [`Predicate::ALL`].
    pub rows: Vec<ComparedRule>,
    /// How many pairs there were.
    pub pairs: u64,
    /// In how many pairs both runs were the same.
    pub same: u64,
    /// In how many pairs only the first lock's code panicked.
    pub only_mine_panicked: u64,
    /// The white-box rules that the first lock breaks more often than chance would have it.
    pub broken: Vec<Rule>,
}

impl BesideComparison {
    /// Compares what pairs came to. `shown` are the predicates for which an example was found.
    pub fn new(
        survey: &Survey,
        counted: &CountedPairs,
        asked: &[Predicate],
        shown: &[Predicate],
    ) -> BesideComparison {
        let rows = asked.iter().map(|predicate| row(*predicate, survey, counted, shown)).collect();
        let all = || counted.conditions.iter();
        BesideComparison {
            rows,
            pairs: counted.pairs,
            same: all().map(|counts| counts.same).sum(),
            only_mine_panicked: all().map(|counts| counts.only_mine_panicked).sum(),
            broken: broken(&counted.inside(), counted.rounds),
        }
    }

    /// The whole in one word.
    pub fn outcome(&self) -> BesideOutcome {
        let has = |wanted: fn(RuleFound) -> bool| self.rows.iter().any(|row| wanted(row.found));
        let is_worse =
            has(|found| found == RuleFound::Worse) || self.only_mine_panicked > 0 || !self.broken.is_empty();
        match (is_worse, has(|found| found == RuleFound::Better)) {
            (true, true) => BesideOutcome::Mixed,
            (true, false) => BesideOutcome::Worse,
            (false, true) => BesideOutcome::Better,
            (false, false) if self.pairs > 0 && self.same == self.pairs => BesideOutcome::NeverReached,
            (false, false) if has(|found| found == RuleFound::NotToldApart) => BesideOutcome::NotToldApart,
            (false, false) if has(|found| matches!(found, RuleFound::NoWorse(_))) => BesideOutcome::NoWorse,
            (false, false) => BesideOutcome::NotToldApart,
        }
    }

    /// The predicates to look for an example of: those that are worse, or else those of which one would decide.
    pub fn to_show(&self) -> Vec<Predicate> {
        let worse = self.worse();
        if !worse.is_empty() {
            return worse;
        }
        let mut rows: Vec<&ComparedRule> =
            self.rows.iter().filter(|row| speaks_for_an_example(&row.kept)).collect();
        rows.sort_by_key(|row| Reverse(row.kept.decided.only_first));
        rows.into_iter().map(|row| row.predicate).collect()
    }

    /// The predicates that only the first lock breaks more often, those with the most such pairs first.
    pub fn worse(&self) -> Vec<Predicate> {
        let mut worse: Vec<&ComparedRule> =
            self.rows.iter().filter(|row| row.found == RuleFound::Worse).collect();
        worse.sort_by_key(|row| Reverse(row.kept.decided.only_first));
        worse.into_iter().map(|row| row.predicate).collect()
    }
}

/// The white-box rules that the first lock breaks more often than chance would have it.
fn broken(inside: &Inside, rounds: u32) -> Vec<Rule> {
    let is_broken = |rule: &Rule| {
        let pairs = inside.rules.get(rule).copied().unwrap_or_default();
        pairs.only_first > pairs.only_second && pairs.p_value() < level(rounds)
    };
    Rule::ALL.into_iter().filter(is_broken).collect()
}

fn row(predicate: Predicate, survey: &Survey, counted: &CountedPairs, shown: &[Predicate]) -> ComparedRule {
    let tables = |is_kept: bool| {
        let places =
            (0..counted.conditions.len()).filter(move |place| survey.keeps(*place, predicate) == is_kept);
        sum(places.map(|place| counted.conditions[place].of(predicate)))
    };
    let (kept, rest) = (tables(true), tables(false));
    let level = level(counted.rounds);
    let told = [&kept, &rest].map(|table| {
        let table = table.decided;
        if table.p_value() < level { table.only_first.cmp(&table.only_second) } else { Ordering::Equal }
    });
    let is_shown = shown.contains(&predicate) && speaks_for_an_example(&kept);
    let found = if told.contains(&Ordering::Greater) || is_shown {
        RuleFound::Worse
    } else if told.contains(&Ordering::Less) {
        RuleFound::Better
    } else if !survey.places().any(|place| survey.keeps(place, predicate)) {
        RuleFound::NotAsked
    } else {
        bound(&kept)
    };
    ComparedRule { predicate, found, kept, rest }
}

/// True if pairs say what an example does.
fn speaks_for_an_example(kept: &PartlyPaired) -> bool {
    is_one_sided(&kept.decided) && kept.decided.p_value() < SHOWN_ALPHA
}

/// True if pairs speak against the first lock, and hardly any for it. A lock that is as good and sends one request more
/// meets other moments: it may break in 29 pairs what the reference breaks in 13.
pub(crate) fn is_one_sided(table: &Paired) -> bool {
    table.only_first > 3 * table.only_second
}

/// What can be said where no difference is told.
fn bound(kept: &PartlyPaired) -> RuleFound {
    match kept.decided.interval(Confidence::P95) {
        Some(interval) if interval.high <= MARGIN && kept.decided.pairs() >= PAIRS_MIN => {
            RuleFound::NoWorse(interval.high.max(0.0))
        }
        _ => RuleFound::NotToldApart,
    }
}

/// True if pairs speak against the first lock beyond doubt at a look after so many rounds.
pub(crate) fn is_certain(table: &Paired, rounds: u32) -> bool {
    table.only_first > table.only_second && table.p_value() < level(rounds)
}

/// The level of one question at a look after so many rounds.
fn level(rounds: u32) -> f64 {
    let questions = 2 * Predicate::ALL.len() + Rule::ALL.len();
    let round = f64::from(rounds.max(1));
    ALPHA / questions as f64 / (round * (round + 1.0))
}
