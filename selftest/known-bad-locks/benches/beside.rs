//! The score of a check beside the repaired form: which known-bad locks are told from their repair where nobody says in
//! which world or weather, and how many of them by an example that shows it.
//!
//! ```sh
//! cargo bench -p doublehold-known-bad-locks --bench beside                    # all
//! cargo bench -p doublehold-known-bad-locks --bench beside -- wall            # those with `wall` in their name
//! cargo bench -p doublehold-known-bad-locks --bench beside -- --usual         # in the usual world, under `cloud`
//! ```
//!
//! One thread, and seconds are those that a core worked, so that nothing beside it changes what is found.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::time::Duration;

use doublehold::check::{LockKind as _, Predicate, World};
use doublehold_beside::{
    Beside, BesideComparison, BesideError, BesideExample, CountedPairs, LockSide, PairBudget, PairWorlds,
    Survey, Weathers,
};
use doublehold_known_bad_locks::{BadLock, Kind, all};
use doublehold_scenarios::weather::preset;
use doublehold_scenarios::{OwnLocks, Seed, builtin_locks};
use rustix::time::{ClockId, clock_gettime};

/// How long a comparison may take, its survey included.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long cores have worked for this process.
#[derive(Clone, Copy)]
struct CoreTime(Duration);

impl CoreTime {
    fn now() -> CoreTime {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        CoreTime(Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32))
    }

    fn elapsed(self) -> Duration {
        CoreTime::now().0.saturating_sub(self.0)
    }
}

/// What a comparison came to.
struct ComparedRule {
    /// The predicates and white-box rules that speak: `P2 margin`.
    worse: String,
    outcome: &'static str,
    survey_seconds: f64,
    seconds: f64,
    pairs: u64,
    example: Option<(Predicate, u64, usize, f64)>,
    /// Counts for and against the lock with the bug: `P2 3:1`.
    pairs_apart: Vec<String>,
}

fn main() -> Result<(), BesideError> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_usual = words.iter().any(|word| word == "--usual");
    let wanted: Vec<&String> = words.iter().filter(|word| !word.starts_with("--")).collect();
    let is_wanted =
        |bad: &BadLock| wanted.is_empty() || wanted.iter().any(|name| bad.name.contains(name.as_str()));
    let mut rows = Vec::new();
    for bad in all().into_iter().filter(is_wanted) {
        let row = compare(&bad, is_usual)?;
        println!("{}", line(&bad, &row));
        rows.push((bad, row));
    }
    sum_up(&rows);
    Ok(())
}

fn compare(bad: &BadLock, is_usual: bool) -> Result<ComparedRule, BesideError> {
    let began = CoreTime::now();
    let cloud = preset("cloud")?.weather;
    let mine = side(&bad.lock);
    let (worlds, weathers) = match is_usual {
        true => {
            let world = World::usual(&mine.descriptor()?);
            (PairWorlds::One(Box::new(mine.scenario(&world)?)), Weathers::Fixed(cloud))
        }
        false => (PairWorlds::Family(World::family()), Weathers::Drawn(cloud)),
    };
    let beside = Beside::new(mine, side(&bad.control), &worlds, &weathers)?;
    let budget = PairBudget {
        jobs: NonZeroUsize::MIN,
        patience: Duration::from_secs(60),
        pairs: None,
        first: Seed(1),
    };
    let survey = beside.survey(&budget)?;
    let survey_seconds = began.elapsed().as_secs_f64();
    let compared = |counted: &CountedPairs, shown: &[Predicate]| {
        BesideComparison::new(&survey, counted, &Predicate::ALL, shown)
    };
    let mut looked = 0;
    let counted = beside.count(&survey, &budget, |counted| {
        let is_late = began.elapsed() >= PATIENCE;
        let is_new = counted.rounds > looked;
        looked = counted.rounds;
        let is_told = is_new && !compared(counted, &[]).worse().is_empty();
        if is_late || is_told { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let seconds = began.elapsed().as_secs_f64();
    let example = first_example(bad, (&beside, &survey, &counted), &compared(&counted, &[]))?;
    let shown: Vec<Predicate> =
        example.iter().filter(|(it, _)| it.convinces()).map(|(it, _)| it.wanted.predicate).collect();
    let comparison = compared(&counted, &shown);
    Ok(ComparedRule {
        worse: worse_words(&comparison),
        outcome: comparison.outcome().as_str(),
        survey_seconds,
        seconds,
        pairs: counted.pairs,
        pairs_apart: pairs_apart(&comparison, &counted),
        example: example
            .map(|(it, took)| (it.wanted.predicate, it.separates, it.shrunk.scenario.faults.len(), took)),
    })
}

fn worse_words(comparison: &BesideComparison) -> String {
    let predicates = comparison.worse().into_iter().map(|predicate| predicate.to_string());
    let rules = comparison.broken.iter().map(|rule| rule.to_string());
    predicates.chain(rules).collect::<Vec<_>>().join(" ")
}

/// In how many pairs only the lock with the bug broke something, and only its repair.
fn pairs_apart(comparison: &BesideComparison, counted: &CountedPairs) -> Vec<String> {
    let predicates = comparison.rows.iter().map(|row| (row.predicate.to_string(), row.kept.decided));
    let rules = counted.inside().rules.into_iter().map(|(rule, pairs)| (rule.to_string(), pairs));
    let apart = predicates.chain(rules).map(|(name, pairs)| (name, pairs.only_first, pairs.only_second));
    apart
        .filter(|(_, first, second)| first + second > 0)
        .map(|(name, first, second)| format!("{name} {first}:{second}"))
        .collect()
}

type Both = Beside<OwnLocks, OwnLocks>;

/// The example of what is worse, or of whatever only the lock with the bug did.
fn first_example(
    bad: &BadLock,
    (beside, survey, counted): (&Both, &Survey, &CountedPairs),
    comparison: &BesideComparison,
) -> Result<Option<(BesideExample, f64)>, BesideError> {
    let (mine, theirs) = (side(&bad.lock), side(&bad.control));
    let began = CoreTime::now();
    let mut best: Option<BesideExample> = None;
    for predicate in comparison.to_show() {
        let is_over = || began.elapsed() > Duration::from_secs(30);
        let found = beside.example((&mine.engine, &theirs), (survey, counted), predicate, is_over)?;
        best = match (best, found) {
            (Some(best), Some(found)) if found.separates <= best.separates => Some(best),
            (best, found) => found.or(best),
        };
        if is_over() || best.as_ref().is_some_and(BesideExample::convinces) {
            break;
        }
    }
    Ok(best.map(|best| (best, began.elapsed().as_secs_f64())))
}

fn side(kind: &Kind) -> LockSide<OwnLocks> {
    let engine = OwnLocks(builtin_locks().with(kind.clone()));
    let lock = kind.descriptor().name.to_owned();
    LockSide { engine, title: lock.clone(), lock, switches: doublehold::check::Switches::new() }
}

fn line(bad: &BadLock, row: &ComparedRule) -> String {
    let example =
        row.example.as_ref().map_or(row.pairs_apart.join(", "), |(predicate, separates, faults, took)| {
            format!("{predicate} {separates}/20 {faults} faults {took:.1}s")
        });
    format!(
        "{:<36}{:<9}{:<15}{:<24}{:>6.1}{:>6.1}{:>7}  {}",
        bad.name,
        words(bad.breaks),
        row.outcome,
        row.worse,
        row.survey_seconds,
        row.seconds,
        row.pairs,
        example
    )
}

fn sum_up(rows: &[(BadLock, ComparedRule)]) {
    let told = rows.iter().filter(|(_, row)| row.outcome == "worse" || row.outcome == "mixed").count();
    let shown = rows.iter().filter(|(_, row)| row.example.as_ref().is_some_and(|it| it.1 >= 18)).count();
    println!("\n{told} of {} told from their repair, {shown} by an example", rows.len());
    let mut table: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (bad, row) in rows {
        *table.entry((words(bad.breaks), row.worse.clone())).or_default() += 1;
    }
    println!("\nbreaks    told by");
    for ((breaks, worse), count) in table {
        println!("{breaks:<10}{worse:<20}{count:>3}");
    }
}

fn words(predicates: &[Predicate]) -> String {
    predicates.iter().map(|predicate| predicate.as_str()).collect::<Vec<_>>().join(" ")
}
