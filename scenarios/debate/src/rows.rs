//! Every case of every claim, run; and what each came to.
//!
//! Each case runs on one thread, its seeds one after the other, with the same engine as `doublehold run`, so that the
//! command in a row shows the very run that was counted. All cases share the processors.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use doublehold_history::{Predicate, Verdict};
use doublehold_scenarios::report::{Report, Summary};
use doublehold_scenarios::{
    Engine, PrepareError, Prepared, PreparedSim, ScenarioError, SimEngine, catalog, pool,
};
use thiserror::Error;

use crate::claims::{DebateCase, DebateClaim, Measure, Prediction, RunCase, Says, Setup, Threshold};
use crate::threshold::{self, Flip, NoFlip, Side};

/// The seeds of a case that does not say how many: enough that a verdict that hangs on the delays shows as one.
const SEEDS: u64 = 20;
/// The same at each value of a threshold, of which a dozen are tried.
const SEEDS_OF_A_VALUE: u64 = 10;

/// A claim, and what came of it.
#[derive(Clone, Debug)]
pub struct ClaimRow<'a> {
    /// The claim.
    pub claim: &'a DebateClaim,
    /// Its cases, in order; empty where it cannot be run yet.
    pub outcomes: Vec<CaseOutcome<'a>>,
}

impl ClaimRow<'_> {
    /// True if all cases came out as predicted; `None` where nothing was run.
    pub fn as_expected(&self) -> Option<bool> {
        self.claim.cases.is_ok().then(|| self.outcomes.iter().all(CaseOutcome::as_expected))
    }

    /// What became of its authors' statements about each predicate.
    pub fn stands(&self) -> BTreeMap<Predicate, Stand> {
        let mut stands: BTreeMap<Predicate, Stand> = BTreeMap::new();
        for outcome in &self.outcomes {
            let Measured::Verdicts(case, counts) = &outcome.measured else { continue };
            for (predicate, _, count) in counts {
                let confirms = case.says.get(predicate).and_then(|says| count.confirms(*says));
                let Some(confirms) = confirms else { continue };
                let stand = if confirms { Stand::Confirmed } else { Stand::Refuted };
                stands.entry(*predicate).and_modify(|known| *known = known.and(stand)).or_insert(stand);
            }
        }
        stands
    }

    /// True if an attack came out otherwise than some run inside the scope, or is about what no run is about.
    fn is_refutation(&self, attack: &CaseOutcome<'_>) -> bool {
        verdicts(attack).iter().any(|(predicate, came_out, _)| {
            let inside = self.outcomes.iter().filter(|outcome| !outcome.case.is_attack()).flat_map(verdicts);
            let mut same = inside.filter(|(it, ..)| it == predicate).peekable();
            same.peek().is_none() || same.any(|(.., count)| !count.is(*came_out))
        })
    }

    /// Refuses a finding that the runs contradict: an attack that came out otherwise or does not refute, or a sentence
    /// that is silent about one side of what came out.
    fn check_finding(&self) -> Result<(), Refused> {
        for attack in self.outcomes.iter().filter(|outcome| outcome.case.is_attack()) {
            let scenario = || attack.case.setup().scenario.clone();
            if !attack.as_expected() {
                return Err(Refused::AttackMissed { scenario: scenario() });
            }
            if !self.is_refutation(attack) {
                return Err(Refused::Broader { scenario: scenario() });
            }
        }
        let when = self.claim.finding.as_ref().and_then(|finding| finding.when.as_deref());
        let Some(when) = when else { return Ok(()) };
        for (predicate, stand) in self.stands() {
            for (word, is_said) in [("right", stand != Stand::Refuted), ("wrong", stand != Stand::Confirmed)]
            {
                if is_said && !when.contains(word) {
                    return Err(Refused::OneSided { predicate, word });
                }
            }
        }
        Ok(())
    }
}

/// The verdicts of a case that has some.
fn verdicts<'a>(outcome: &'a CaseOutcome<'_>) -> &'a [(Predicate, Prediction, VerdictCount)] {
    match &outcome.measured {
        Measured::Verdicts(_, counts) => counts,
        Measured::Flip(..) | Measured::Figure(..) => &[],
    }
}

/// What became of all statements about one predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    /// Every run is as stated.
    Confirmed,
    /// No run is.
    Refuted,
    /// Some are, and some are not.
    Both,
}

impl Stand {
    fn and(self, other: Stand) -> Stand {
        if self == other { self } else { Stand::Both }
    }
}

/// A case, and what was measured.
#[derive(Clone, Debug)]
pub struct CaseOutcome<'a> {
    /// The case.
    pub case: &'a DebateCase,
    /// The outcome.
    pub measured: Measured<'a>,
}

/// A measurement, with the case that it is held against.
#[derive(Clone, Debug)]
pub enum Measured<'a> {
    /// The verdicts of all seeds, for each predicate of which something was predicted.
    Verdicts(&'a RunCase, Vec<(Predicate, Prediction, VerdictCount)>),
    /// The place where the verdict turned; or why there is none.
    Flip(&'a Threshold, Result<Flip, NoFlip>),
    /// The figure; `None` if no run had one.
    Figure(&'a Measure, Option<f64>),
}

/// The verdicts of one predicate, from all seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictCount {
    /// The runs in which it holds.
    pub holds: u64,
    /// Those in which it is violated.
    pub violated: u64,
    /// Those in which nothing happened that it is about.
    pub not_seen: u64,
    /// Those that were cut short, or in which a fault never struck.
    pub undecided: u64,
}

impl VerdictCount {
    fn from_runs(runs: &[Summary], predicate: Predicate) -> VerdictCount {
        let mut count = VerdictCount::default();
        for run in runs {
            match run.verdicts.get(predicate) {
                Verdict::Holds => count.holds += 1,
                Verdict::Violated(_) => count.violated += 1,
                Verdict::NotSeen(_) => count.not_seen += 1,
                Verdict::Inconclusive(_) => count.undecided += 1,
            }
        }
        count
    }

    /// All runs.
    pub fn runs(self) -> u64 {
        self.holds + self.violated + self.not_seen + self.undecided
    }

    /// True if this is what was predicted. A run that decided nothing confirms nothing.
    pub fn is(self, prediction: Prediction) -> bool {
        match prediction {
            Prediction::Holds => self.holds == self.runs(),
            Prediction::Violated => self.violated == self.runs(),
            Prediction::Sometimes => self.violated > 0 && self.holds > 0,
            Prediction::NotSeen => self.not_seen == self.runs(),
        }
    }

    /// True if a statement is confirmed, false if it is refuted; `None` if undecided runs leave it open, or no run
    /// shows anything of the predicate.
    pub fn confirms(self, says: Says) -> Option<bool> {
        let all_hold = self.undecided == 0 && self.holds > 0;
        let violated = if self.violated > 0 { Some(true) } else { all_hold.then_some(false) };
        match says {
            Says::Violated => violated,
            Says::Holds => violated.map(|violated| !violated),
        }
    }
}

impl CaseOutcome<'_> {
    /// True if it came out as predicted.
    pub fn as_expected(&self) -> bool {
        match &self.measured {
            Measured::Verdicts(_, counts) => counts.iter().all(|(_, expected, count)| count.is(*expected)),
            Measured::Flip(threshold, flip) => flip.as_ref().is_ok_and(|flip| flip.is_at(threshold)),
            Measured::Figure(measure, value) => value.is_some_and(|value| {
                measure.at_most.is_none_or(|most| value <= most)
                    && measure.at_least.is_none_or(|least| value >= least)
            }),
        }
    }
}

impl DebateCase {
    /// True if it is outside of the scope of its claim's finding.
    pub fn is_attack(&self) -> bool {
        matches!(self, DebateCase::Run(run) if run.is_attack)
    }

    /// The scenario, its changes and its seeds.
    pub fn setup(&self) -> &Setup {
        match self {
            DebateCase::Run(run) => &run.setup,
            DebateCase::Threshold(threshold) => &threshold.setup,
            DebateCase::Measure(measure) => &measure.setup,
        }
    }

    /// From how many seeds each.
    pub fn seeds(&self) -> u64 {
        match self {
            DebateCase::Run(RunCase { setup, .. }) | DebateCase::Measure(Measure { setup, .. }) => {
                setup.seeds(SEEDS)
            }
            DebateCase::Threshold(threshold) => threshold.setup.seeds(SEEDS_OF_A_VALUE),
        }
    }
}

/// A case that cannot be run: its scenario is refused.
#[derive(Debug, Error)]
#[error("{claim}: {source}")]
pub struct BadCase {
    claim: String,
    /// Boxed: as large as all other errors of the program together.
    source: Box<Refused>,
}

/// A reason why a scenario cannot be run.
#[derive(Debug, Error)]
enum Refused {
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error(
        "`{scenario}` at {value} shows nothing of the predicate: choose an end at which two clients want the lock at \
         once, or state the side under `not_seen`"
    )]
    Hollow { scenario: String, value: String },
    #[error(
        "`{scenario}` at {value} shows something of the predicate, and `not_seen` says nothing is seen there: leave \
         out `not_seen`"
    )]
    SeenAfterAll { scenario: String, value: String },
    #[error("its attack `{scenario}` did not come out as predicted: correct its `expect`")]
    AttackMissed { scenario: String },
    #[error("its attack `{scenario}` refutes nothing: the finding holds there too, so widen its `scope`")]
    Broader { scenario: String },
    #[error("of {predicate} it came out {word} somewhere, and its `when` does not say where")]
    OneSided { predicate: Predicate, word: &'static str },
}

/// The number of cases of such claims: of how many a caller of [`rows`] hears.
pub fn cases(claims: &[&DebateClaim]) -> usize {
    claims.iter().flat_map(|claim| &claim.cases).map(Vec::len).sum()
}

/// Runs all cases of some claims, and tells of each that is done.
///
/// # Errors
///
/// If a scenario of the catalogue is refused, which only a change to the program can bring about.
pub fn rows<'a>(
    claims: &[&'a DebateClaim],
    jobs: NonZeroUsize,
    done: impl Fn() + Sync,
) -> Result<Vec<ClaimRow<'a>>, BadCase> {
    let cases = claims.iter().flat_map(|&claim| claim.cases.iter().flatten().map(move |case| (claim, case)));
    let cases: Vec<(&DebateClaim, &DebateCase)> = cases.collect();
    let results = pool::each(&cases, jobs, |(claim, case)| {
        let outcome =
            outcome(case).map_err(|source| BadCase { claim: claim.id.clone(), source: Box::new(source) });
        done();
        outcome
    });
    let mut rows: Vec<ClaimRow<'a>> =
        claims.iter().map(|&claim| ClaimRow { claim, outcomes: Vec::new() }).collect();
    let mut at = 0;
    for ((claim, _), outcome) in cases.iter().zip(results) {
        while rows[at].claim.id != claim.id {
            at += 1;
        }
        rows[at].outcomes.push(outcome?);
    }
    for row in &rows {
        row.check_finding()
            .map_err(|source| BadCase { claim: row.claim.id.clone(), source: Box::new(source) })?;
    }
    Ok(rows)
}

fn outcome(case: &DebateCase) -> Result<CaseOutcome<'_>, Refused> {
    let seeds = case.seeds();
    let measured = match case {
        DebateCase::Run(run) => {
            let runs = runs(&run.setup, seeds)?;
            let counted =
                |(&predicate, &expected)| (predicate, expected, VerdictCount::from_runs(&runs, predicate));
            Measured::Verdicts(run, run.expect.iter().map(counted).collect())
        }
        DebateCase::Threshold(threshold) => {
            let flip = threshold::find(threshold, |value| {
                let text = threshold.text(value);
                let changes: Vec<(&str, &str)> =
                    threshold.keys().into_iter().map(|key| (key, text.as_str())).collect();
                let prepared = prepare(&threshold.setup, &changes)?;
                let reports: Vec<Report> = (1..=seeds).map(|seed| prepared.run(seed)).collect();
                Ok::<_, Refused>(Side::from_runs(threshold.predicate, &reports))
            })?;
            let scenario = || threshold.setup.scenario.clone();
            match flip {
                Err(NoFlip::Hollow { value }) => {
                    return Err(Refused::Hollow { scenario: scenario(), value: threshold.number(value) });
                }
                Err(NoFlip::SeenAfterAll { value }) => {
                    return Err(Refused::SeenAfterAll {
                        scenario: scenario(),
                        value: threshold.number(value),
                    });
                }
                flip => Measured::Flip(threshold, flip),
            }
        }
        DebateCase::Measure(measure) => {
            let runs = runs(&measure.setup, seeds)?;
            Measured::Figure(measure, measure.figure.value_over_runs(&runs))
        }
    };
    Ok(CaseOutcome { case, measured })
}

/// The runs of a scenario, from the first seeds.
fn runs(setup: &Setup, seeds: u64) -> Result<Vec<Summary>, Refused> {
    let prepared = prepare(setup, &[])?;
    Ok((1..=seeds).map(|seed| prepared.judge(seed)).collect())
}

/// A scenario with such changes besides its own.
fn prepare(setup: &Setup, changes: &[(&str, &str)]) -> Result<PreparedSim, Refused> {
    let mut sets = setup.sets();
    sets.extend(changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    Ok(SimEngine.prepare(&catalog::load(&setup.scenario, &sets)?)?)
}
