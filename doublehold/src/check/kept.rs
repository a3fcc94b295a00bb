//! The plans that a check keeps: written where somebody said what is to hold and it did not, and replayed before any
//! seed from then on.
//!
//! A check by itself writes none. Whoever counts what a bad lock does wrong expects it, and a folder full of plans
//! would tell nobody anything. A violation is a failure in [`Checked::assert_holds`](super::Checked::assert_holds).
//!
//! Does not model plans of another engine, which is another check's.

use std::fmt::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use doublehold_diagnosis::counterexample::explain_in_time;
use doublehold_history::{Predicate, Verdict};
use doublehold_render::style::Style;
use doublehold_render::text;
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::{Futures, Prepared, Report, Stepped, TakesLocks};
use doublehold_search::many::{Many, Tally, run_many};
use doublehold_search::panic_hook::QuietPanics;
use doublehold_search::shrink::Target;

use super::{Check, CheckError};
use crate::regressions::{self, Written};

/// What a check keeps, and what it kept. Nothing by default.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Where plans go; nowhere if nothing is to be kept.
    folder: Option<PathBuf>,
    replayed: usize,
    /// Plans of which something still shows that is looked for.
    broken: Vec<Regression>,
    /// A run for each thing that was found, the gravest first.
    found: Vec<(Target, Report)>,
}

/// A plan that was replayed, and what it still shows.
#[derive(Clone, Debug)]
struct Regression {
    path: PathBuf,
    shows: Vec<Target>,
    text: String,
}

impl Kept {
    /// Replays the plans of the check's folder.
    pub(super) fn replay<E>(check: &Check<E>) -> Result<Kept, CheckError>
    where
        E: TakesLocks<Prepared: Stepped + Futures>,
    {
        let Some(folder) = &check.regressions else { return Ok(Kept::default()) };
        let plans = regressions::read_plans(folder, &check.locks.descriptors())?;
        let mut kept = Kept { folder: Some(folder.clone()), ..Kept::default() };
        let engine = E::from_locks(check.locks.clone());
        for (path, plan) in plans.iter().filter(|(_, plan)| plan.engine == engine.name()) {
            kept.replayed += 1;
            kept.broken.extend(replay(check, &engine, path, plan)?);
        }
        Ok(kept)
    }

    /// Remembers a run that shows something, in case it is to be kept.
    pub(super) fn found(&mut self, report: &Report, run: impl Fn(Target) -> Option<Report>) {
        if self.folder.is_none() {
            return;
        }
        self.found = Target::ALL
            .into_iter()
            .filter_map(|target| match shows(report, target) {
                true => Some((target, report.clone())),
                false => Some((target, run(target)?)),
            })
            .collect();
    }

    /// True if no plan still shows anything of this.
    pub(super) fn holds(&self, predicates: &[Predicate]) -> bool {
        let is_asked = |target: &Target| is_about(*target, predicates);
        !self.broken.iter().any(|regression| regression.shows.iter().any(is_asked))
    }

    /// Keeps the plan of the gravest of this that was found, and says where.
    pub(super) fn keep(&self, predicates: &[Predicate]) -> String {
        let found = self.found.iter().find(|(target, _)| is_about(*target, predicates));
        let (Some(folder), Some((target, report))) = (&self.folder, found) else { return String::new() };
        match regressions::write_plan(folder, *target, report) {
            Written::Ok(path) => {
                format!("plan: {} (commit it: this check replays it before any seed)\n", path.display())
            }
            Written::Err((path, cause)) => {
                format!("the plan cannot be written to {}: {cause}\n", path.display())
            }
        }
    }
}

/// Replays a plan. `None` if it shows nothing any more that is looked for.
fn replay<E>(check: &Check<E>, engine: &E, path: &Path, plan: &Plan) -> Result<Option<Regression>, CheckError>
where
    E: TakesLocks<Prepared: Stepped + Futures>,
{
    let prepared = Arc::new(QuietPanics::new(engine.prepare(&plan.scenario)?));
    let many = Many::new(plan.seed..=plan.seed, check.patience);
    let tally: Tally = run_many(&prepared, &many, |_| ControlFlow::Continue(()))?;
    let shows: Vec<Target> =
        Target::ALL.into_iter().filter(|target| check.first(&tally, *target).is_some()).collect();
    if shows.is_empty() {
        return Ok(None);
    }
    let report = prepared.run(plan.seed);
    let report = Report { replays: Some(plan.compare_replay(&report)), ..report };
    let explained = prepared.hush(|_| explain_in_time(prepared.share_prepared(), report, check.patience));
    let replay = "run this test again: it replays the plan before any seed";
    let text = text::render_run(&explained, replay, &Style::UNICODE);
    Ok(Some(Regression { path: path.to_owned(), shows, text }))
}

fn is_about(target: Target, predicates: &[Predicate]) -> bool {
    match target {
        Target::Panics => true,
        Target::Violates(predicate) => predicates.contains(&predicate),
    }
}

/// Whether a run shows this.
fn shows(report: &Report, target: Target) -> bool {
    match target {
        Target::Panics => report.panicked.is_some(),
        Target::Violates(predicate) => matches!(report.verdicts.get(predicate), Verdict::Violated(_)),
    }
}

impl fmt::Display for Kept {
    /// Nothing where nothing was replayed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(folder) = self.folder.as_ref().filter(|_| self.replayed > 0) else { return Ok(()) };
        let (replayed, broken) = (self.replayed, self.broken.len());
        writeln!(
            f,
            "\n  plans that were replayed first: {replayed}, of which still fail: {broken} (in {})",
            folder.display()
        )?;
        let mut text = String::new();
        for Regression { path, shows, text: picture } in &self.broken {
            let shows: Vec<String> = shows.iter().map(Target::to_string).collect();
            writeln!(text, "\n{}, as in the plan {}\n\n{picture}", shows.join(", "), path.display())?;
        }
        f.write_str(&text)
    }
}
