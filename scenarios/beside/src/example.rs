//! The run that convinces: the least one that only the first lock breaks, and that goes so in other futures, too.
//!
//! A pair in which only the first lock breaks a rule may be luck of timing: the two send different messages, and a
//! fault that strikes a moment later would have hit the other. So an example must separate the locks in [`FUTURES_MIN`]
//! of [`FUTURES`] other futures: other seeds, half of them with other delays. Shrinking looks at none of these seeds.
//!
//! Before that, the first such pairs are grouped by the kinds of faults without which they are gone, so that the
//! example is of the group that comes most often.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use doublehold_history::Predicate;
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::scenario::{DelayLaw, Scenario};
use doublehold_scenarios::{Engine, Prepared as _, Searchable as _, Seed, Stepped};
use doublehold_search::shrink::{Case, Effort, KeepNodes, Shrunk, Target, shrink};

use crate::BesideError;
use crate::beside::Beside;
use crate::count::CountedPairs;
use crate::masked::{Masked, WantedBreach};
use crate::sides::LockSide;
use crate::survey::Survey;

/// Number of other futures in which an example is tried.
pub const FUTURES: u64 = 20;
/// In how many of them it must separate the locks.
pub const FUTURES_MIN: u64 = 18;
/// Distance from an example's own seed to the seeds of its futures: shrinking looks at the seeds right after it.
const FUTURES_AFTER: u64 = 1_000_000;
/// How many pairs are grouped.
const GROUPED: usize = 20;
/// How many pairs are shrunk until one separates.
const SHRUNK_MAX: usize = 4;
/// Runs of one shrinking, at most.
const REPLAYS_MAX: u64 = 4_000;
/// As many events as one shrinking may take: long runs get fewer of them.
const EVENTS_MAX: u64 = 2_000_000;
/// Two hold at once for so long at least, or for a tenth of the lease if that is shorter.
const OVERLAP: Duration = Duration::from_millis(100);
/// A fault first strikes the two locks so far apart at most, or a tenth of the lease if that is longer. A round trip
/// that only one of them makes moves everything after it.
const APART: Duration = Duration::from_millis(100);

/// A run that only the first lock breaks.
#[derive(Clone, Debug)]
pub struct BesideExample {
    /// What it breaks.
    pub wanted: WantedBreach,
    /// The number of the condition that it was found in.
    pub condition: u64,
    /// The seed of the pair.
    pub found: Seed,
    /// The least scenario that separates the locks.
    pub shrunk: Shrunk,
    /// The same scenario with the reference.
    pub theirs: Scenario,
    /// In how many other futures it separates them, of [`FUTURES`].
    pub separates: u64,
    /// The first pairs that only the first lock breaks, by what removes them; the group of the example first.
    pub groups: Vec<NeedsGroup>,
}

impl BesideExample {
    /// Whether it is evidence that the first lock does worse.
    pub fn convinces(&self) -> bool {
        self.separates >= FUTURES_MIN
    }
}

/// Pairs that the same kinds of faults are needed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedsGroup {
    /// The kinds of faults without which they are gone, each alone; none if it takes no single one.
    pub needs: Vec<&'static str>,
    /// How many there are.
    pub pairs: usize,
}

/// The demands on a pair, the strictest first: the next is made where none led to an example that convinces.
#[derive(Clone, Copy, Debug)]
enum Strictness {
    /// Two hold for long, and faults strike both locks at nearly the same times.
    SameStrain,
    /// Two hold for long.
    Long,
    /// Only the first lock breaks it.
    Any,
}

impl Strictness {
    fn wanted(self, predicate: Predicate, ttl: Duration) -> WantedBreach {
        let (overlap, apart) = (OVERLAP.min(ttl / 10), Some(APART.max(ttl / 10)));
        match self {
            Strictness::SameStrain => WantedBreach { predicate, overlap, apart },
            Strictness::Long => WantedBreach { predicate, overlap, apart: None },
            Strictness::Any => WantedBreach { predicate, overlap: Duration::ZERO, apart: None },
        }
    }
}

/// A pair that only the first lock breaks.
struct Candidate {
    condition: u64,
    seed: Seed,
    /// The scenario with the faults written out.
    scenario: Scenario,
    wanted: WantedBreach,
    needs: Vec<&'static str>,
}

impl<A, B> Beside<A, B>
where
    A: Engine<Prepared: Stepped> + Send + Sync + 'static,
    B: Engine<Prepared: Stepped> + Send + Sync + 'static,
{
    /// Looks for an example of what only the first lock breaks, through these engines; `is_over` is asked between two
    /// shrinkings.
    ///
    /// # Errors
    ///
    /// If a scenario that was run before is refused now.
    pub fn example<R, S>(
        &self,
        (mine, theirs): (&R, &LockSide<S>),
        (survey, counted): (&Survey, &CountedPairs),
        predicate: Predicate,
        mut is_over: impl FnMut() -> bool,
    ) -> Result<Option<BesideExample>, BesideError>
    where
        R: Engine<Prepared: Stepped>,
        S: Engine<Prepared: Stepped>,
    {
        let found = self.pairs_of(survey, counted, predicate);
        let mut best: Option<BesideExample> = None;
        for strictness in [Strictness::SameStrain, Strictness::Long, Strictness::Any] {
            let mut candidates: Vec<Candidate> = Vec::new();
            for (place, seed) in &found {
                candidates.extend(self.candidate((mine, theirs), (*place, *seed), predicate, strictness)?);
            }
            let groups = groups(&candidates);
            for candidate in in_turn(&groups, &candidates).into_iter().take(SHRUNK_MAX) {
                let example = make_small((mine, theirs), candidate, &groups)?;
                if best.as_ref().is_none_or(|best| example.separates > best.separates) {
                    best = Some(example);
                }
                if is_over() || best.as_ref().is_some_and(BesideExample::convinces) {
                    return Ok(best);
                }
            }
        }
        Ok(best)
    }

    /// The pairs to look at, from as many conditions as there are, those with the fewest kinds of faults first.
    fn pairs_of(&self, survey: &Survey, counted: &CountedPairs, predicate: Predicate) -> Vec<(usize, Seed)> {
        let mut places: Vec<usize> =
            survey.places().filter(|place| survey.keeps(*place, predicate)).collect();
        places.sort_by_key(|place| {
            let table = counted.conditions[*place].of(predicate).decided;
            (self.conditions()[*place].weather.faults.len(), Reverse(table.only_first))
        });
        let seeds =
            |place: &usize| counted.conditions[*place].only_mine.get(&predicate).cloned().unwrap_or_default();
        let mut found = Vec::new();
        for turn in 0..8 {
            found.extend(places.iter().filter_map(|place| Some((*place, *seeds(place).get(turn)?))));
        }
        found.truncate(GROUPED);
        found
    }

    /// A pair through the engines that are to show it, without the faults that it does not need to strike.
    fn candidate<R, S>(
        &self,
        (mine, theirs): (&R, &LockSide<S>),
        (place, seed): (usize, Seed),
        predicate: Predicate,
        strictness: Strictness,
    ) -> Result<Option<Candidate>, BesideError>
    where
        R: Engine<Prepared: Stepped>,
        S: Engine<Prepared: Stepped>,
    {
        let Some(pair) = self.shared().pair(place) else { return Ok(None) };
        let condition = &self.conditions()[place];
        let scenario = Scenario { faults: pair.faults(seed), ..condition.scenario.clone() };
        let wanted = strictness.wanted(predicate, scenario.lock.ttl);
        let target = Target::Violates(predicate);
        let scenario = with_struck_faults(mine, scenario, seed)?;
        let prepared = Masked { mine, theirs, wanted }.prepare(&scenario)?;
        if !target.is_in(&prepared.judge(seed)) {
            return Ok(None);
        }
        let without = |kind: &str| {
            let faults = scenario.faults.iter().filter(|fault| fault.effect.kind().word != kind);
            let faults: Vec<Fault> = faults.cloned().collect();
            prepared.with_faults(faults).is_ok_and(|prepared| target.is_in(&prepared.judge(seed)))
        };
        let mut needs: Vec<&'static str> =
            scenario.faults.iter().map(|fault| fault.effect.kind().word).collect();
        needs.sort_unstable();
        needs.dedup();
        needs.retain(|kind| !without(kind));
        Ok(Some(Candidate { condition: condition.number, seed, scenario, wanted, needs }))
    }
}

/// The scenario without the faults that never strike in the run from a seed.
fn with_struck_faults<R: Engine>(mine: &R, scenario: Scenario, seed: Seed) -> Result<Scenario, BesideError> {
    let run = mine.prepare(&scenario)?.judge(seed);
    let struck = scenario.faults.iter().zip(&run.faults).filter(|(_, hit)| hit.struck > 0);
    let faults = struck.map(|(fault, _)| fault.clone()).collect();
    Ok(Scenario { faults, ..scenario })
}

/// One candidate of each group, then the next of each: the one that begins with fewest faults first.
fn in_turn<'a>(groups: &[NeedsGroup], candidates: &'a [Candidate]) -> Vec<&'a Candidate> {
    let of_group = |group: &NeedsGroup| {
        let mut of_group: Vec<&Candidate> =
            candidates.iter().filter(|candidate| candidate.needs == group.needs).collect();
        of_group.sort_by_key(|candidate| candidate.scenario.faults.len());
        of_group
    };
    let by_group: Vec<Vec<&Candidate>> = groups.iter().map(of_group).collect();
    (0..GROUPED).flat_map(|turn| by_group.iter().filter_map(move |group| group.get(turn).copied())).collect()
}

/// The largest group first; of groups of one size the one that needs least. Those that need luck come last: which
/// packets are lost is another question in every future.
fn groups(candidates: &[Candidate]) -> Vec<NeedsGroup> {
    let mut counts: BTreeMap<Vec<&'static str>, usize> = BTreeMap::new();
    for candidate in candidates {
        *counts.entry(candidate.needs.clone()).or_default() += 1;
    }
    let mut groups: Vec<NeedsGroup> =
        counts.into_iter().map(|(needs, pairs)| NeedsGroup { needs, pairs }).collect();
    let takes_luck = |group: &NeedsGroup| group.needs.is_empty() || group.needs.contains(&"loss");
    groups.sort_by_key(|group| (takes_luck(group), Reverse(group.pairs), group.needs.len()));
    groups
}

fn make_small<R, S>(
    (mine, theirs): (&R, &LockSide<S>),
    candidate: &Candidate,
    groups: &[NeedsGroup],
) -> Result<BesideExample, BesideError>
where
    R: Engine<Prepared: Stepped>,
    S: Engine<Prepared: Stepped>,
{
    let Candidate { condition, seed, scenario, wanted, needs } = candidate;
    let masked = Masked { mine, theirs, wanted: *wanted };
    let case = Case { scenario, seed: *seed, target: Target::Violates(wanted.predicate) };
    let events = mine.prepare(scenario)?.judge(*seed).events.max(1);
    let replays_max = (EVENTS_MAX / events).clamp(2 * Effort::REPLAYS_MIN, REPLAYS_MAX);
    let mut effort = Effort { replays_max, nodes: KeepNodes::OfQuorums, is_steady: false };
    let mut shrunk = shrink(&masked, &case, &effort)?;
    let mut separates = separated_futures(&masked, &shrunk)?;
    if (FUTURES / 4..FUTURES_MIN).contains(&separates) {
        // What depends on luck needs more rounds or clients than its own seed does.
        effort.is_steady = true;
        let larger = shrink(&masked, &case, &effort)?;
        let of_larger = separated_futures(&masked, &larger)?;
        if of_larger > separates {
            (shrunk, separates) = (larger, of_larger);
        }
    }
    let mut groups = groups.to_vec();
    groups.sort_by_key(|group| group.needs != *needs);
    Ok(BesideExample {
        wanted: *wanted,
        condition: *condition,
        found: *seed,
        theirs: theirs.in_place_of(&shrunk.scenario)?,
        shrunk,
        separates,
        groups,
    })
}

/// In how many other futures only the first lock breaks it.
pub(crate) fn separated_futures<A, B>(masked: &Masked<'_, A, B>, shrunk: &Shrunk) -> Result<u64, BesideError>
where
    A: Engine<Prepared: Stepped>,
    B: Engine<Prepared: Stepped>,
{
    let target = Target::Violates(masked.wanted.predicate);
    let as_it_is = masked.prepare(&shrunk.scenario)?;
    let slower = masked.prepare(&with_delays(&shrunk.scenario, 3, 2))?;
    let faster = masked.prepare(&with_delays(&shrunk.scenario, 2, 3))?;
    let first = shrunk.seed.0.wrapping_add(FUTURES_AFTER);
    let separates = |future: &u64| {
        let prepared = match future % 4 {
            0 => &slower,
            1 => &faster,
            _ => &as_it_is,
        };
        target.is_in(&prepared.judge(Seed(first.wrapping_add(*future))))
    };
    Ok((0..FUTURES).filter(separates).count() as u64)
}

/// The same with all delays of the network so many times as long.
fn with_delays(scenario: &Scenario, times: u32, over: u32) -> Scenario {
    let scaled = |law: &DelayLaw| match law {
        DelayLaw::Fixed(delay) => DelayLaw::Fixed(*delay * times / over),
        DelayLaw::Uniform { min, max } => {
            DelayLaw::Uniform { min: *min * times / over, max: *max * times / over }
        }
        DelayLaw::LogNormal { median, sigma_milli } => {
            DelayLaw::LogNormal { median: *median * times / over, sigma_milli: *sigma_milli }
        }
        DelayLaw::Quantiles(quantiles) => {
            DelayLaw::Quantiles(quantiles.iter().map(|delay| *delay * times / over).collect())
        }
    };
    let mut scenario = scenario.clone();
    scenario.link.delay = scaled(&scenario.link.delay);
    for (_, _, link) in &mut scenario.links {
        link.delay = scaled(&link.delay);
    }
    scenario
}
