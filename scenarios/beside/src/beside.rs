//! Runs pairs: draws the conditions, surveys the reference in them, and counts what both locks come to.
//!
//! Pairs come in rounds. Each round is planned from what the rounds before came to, and never from which thread was
//! fast, so that the result is the same on any number of threads. A condition in which only the first lock broke what
//! the reference keeps gets more pairs: of two locks that are alike, each pair that tells them apart still takes either
//! side like a coin.
//!
//! Decision: "Pairs go where the locks differ" (docs/decisions/search.md).

use std::fmt;
use std::ops::{ControlFlow, Range, RangeFrom};
use std::sync::{Arc, OnceLock};

use doublehold_history::Predicate;
use doublehold_lockimpl::{Descriptor, Nodes};
use doublehold_scenarios::build::{Abilities, World};
use doublehold_scenarios::pool::{Crew, Foreman, Hand, run_in_order};
use doublehold_scenarios::scenario::{Scenario, Step};
use doublehold_scenarios::weather::Weather;
use doublehold_scenarios::{Engine, Prepared as _, Seed, Stepped};
use doublehold_search::panic_hook;

use crate::BesideError;
use crate::condition::{Condition, draw_weather};
use crate::count::{CountedPairs, Counts, is_violated};
use crate::pair::Pair;
use crate::rounds::{Block, PairBudget, Rounds};
use crate::sides::LockSide;
use crate::survey::{Survey, Surveyed};

/// Where the survey's seeds begin, and where they do if a comparison begins near there: none of them is one of its.
const SURVEY_SEEDS: [u64; 2] = [1 << 40, 1 << 38];
/// How many runs without faults a reference must come through.
const CALM_RUNS: u64 = 3;
/// How many conditions are drawn from a family.
const OF_FAMILY: u64 = 160;
/// How many weathers are drawn for one world.
const OF_WORLD: u64 = 60;

/// The seeds of a survey: none of them is one of the comparison's.
pub(crate) fn survey_seeds(budget: &PairBudget) -> RangeFrom<u64> {
    SURVEY_SEEDS[usize::from(budget.first.0 >= 1 << 39)]..
}

/// Where both locks run.
#[derive(Clone, Debug)]
pub enum PairWorlds {
    /// In members of this family.
    Family(World),
    /// In this one, whatever lock it names.
    One(Box<Scenario>),
}

/// What strikes there.
#[derive(Clone, Debug)]
pub enum Weathers {
    /// Some kinds of this weather, others in each condition.
    Drawn(Weather),
    /// All of this weather.
    Fixed(Weather),
}

/// Two locks and the conditions in which they run.
pub struct Beside<A: Engine, B: Engine> {
    shared: Arc<Shared<A, B>>,
    left_out: Option<LeftOut>,
}

/// Worlds of a family in which one of the locks cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Their number.
    pub worlds: u64,
    /// The reason for which the first of them is refused.
    pub why: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {OF_FAMILY} worlds are left out: {}", self.worlds, self.why)
    }
}

pub(crate) struct Shared<A: Engine, B: Engine> {
    pub(crate) mine: LockSide<A>,
    pub(crate) theirs: LockSide<B>,
    pub(crate) conditions: Vec<Condition>,
    pairs: Vec<PreparedOnce<A, B>>,
}

/// A condition that is prepared when somebody asks for it; `None` if it cannot be run with both locks.
type PreparedOnce<A, B> = OnceLock<Option<Pair<<A as Engine>::Prepared, <B as Engine>::Prepared>>>;

impl<A, B> Shared<A, B>
where
    A: Engine<Prepared: Stepped>,
    B: Engine<Prepared: Stepped>,
{
    /// The condition at a place, prepared for both; `None` if it cannot be run with the reference.
    pub(crate) fn pair(&self, place: usize) -> Option<&Pair<A::Prepared, B::Prepared>> {
        let Condition { scenario, weather, .. } = &self.conditions[place];
        let prepare = || Pair::new((&self.mine, &self.theirs), scenario, weather).ok();
        self.pairs[place].get_or_init(prepare).as_ref()
    }
}

impl<A, B> Beside<A, B>
where
    A: Engine<Prepared: Stepped> + Send + Sync + 'static,
    B: Engine<Prepared: Stepped> + Send + Sync + 'static,
{
    /// Draws the conditions.
    ///
    /// # Errors
    ///
    /// If no world fits both locks, or a program has a step that one of them lacks.
    pub fn new(
        mine: LockSide<A>,
        theirs: LockSide<B>,
        worlds: &PairWorlds,
        weathers: &Weathers,
    ) -> Result<Beside<A, B>, BesideError> {
        refuse_other_nodes(&mine, &theirs)?;
        let can = mine.try_out()?.can.common(theirs.try_out()?.can);
        let (conditions, left_out) = match worlds {
            PairWorlds::Family(family) => of_family((&mine, &theirs), family, can, weathers)?,
            PairWorlds::One(scenario) => {
                refuse_to_extend(scenario, &mine, &theirs)?;
                theirs.in_place_of(scenario)?;
                (of_world(&mine.in_place_of(scenario)?, weathers), None)
            }
        };
        let pairs = conditions.iter().map(|_| OnceLock::new()).collect();
        Ok(Beside { shared: Arc::new(Shared { mine, theirs, conditions, pairs }), left_out })
    }

    /// The worlds of the family in which one of the locks cannot be run, if there are any.
    pub fn left_out(&self) -> Option<&LeftOut> {
        self.left_out.as_ref()
    }

    /// The conditions, by their places.
    pub fn conditions(&self) -> &[Condition] {
        &self.shared.conditions
    }

    pub(crate) fn shared(&self) -> &Arc<Shared<A, B>> {
        &self.shared
    }

    /// Refuses a reference that breaks one of these predicates without any fault, in the first condition.
    ///
    /// # Errors
    ///
    /// If it does, or cannot be run there.
    pub fn refuse_broken_in_calm(&self, predicates: &[Predicate]) -> Result<(), BesideError> {
        let Shared { theirs, conditions, .. } = &*self.shared;
        let scenario = &conditions[0].scenario;
        let calm = theirs.in_place_of(&Scenario { faults: Vec::new(), ..scenario.clone() })?;
        let prepared = theirs.engine.prepare(&calm)?;
        for seed in (1..=CALM_RUNS).map(Seed) {
            let run = prepared.judge(seed);
            let is_broken = |it: &&Predicate| is_violated(run.verdicts.get(**it)) == Some(true);
            if let Some(predicate) = predicates.iter().find(is_broken) {
                return Err(BesideError::BrokenInCalm {
                    lock: theirs.title.clone(),
                    predicate: *predicate,
                    world: calm.name,
                });
            }
        }
        Ok(())
    }

    /// Finds out where the reference keeps what.
    ///
    /// # Errors
    ///
    /// If no condition can be run, or the code of a lock does not come back.
    pub fn survey(&self, budget: &PairBudget) -> Result<Survey, BesideError> {
        let seeds = survey_seeds(budget);
        let next = 0..self.shared.conditions.len();
        let mut rest = Surveying { next, until: BATCH, told: 0, survey: Survey::default() };
        let shared = self.shared.clone();
        let check = panic_hook::current_check();
        let work = move |hand: &Hand<'_>, place: usize| {
            check.clone().hush(|| {
                let pair = shared.pair(place)?;
                let mut surveyed = Surveyed::new();
                for seed in seeds.clone().map(Seed) {
                    if surveyed.is_enough() {
                        break;
                    }
                    hand.begins(seed);
                    surveyed.add(&pair.judge_theirs(seed, pair.survey_faults(seed)));
                }
                Some((place, surveyed))
            })
        };
        run_in_order(Crew { jobs: budget.jobs, ahead: 4 }, budget.patience, &mut rest, work)?;
        if rest.survey.places().next().is_none() {
            return Err(self.no_world());
        }
        Ok(rest.survey)
    }

    /// Why not even the first condition can be run.
    fn no_world(&self) -> BesideError {
        let Shared { mine, theirs, conditions, .. } = &*self.shared;
        let pair = Pair::new((mine, theirs), &conditions[0].scenario, &conditions[0].weather);
        BesideError::NoWorld(pair.err().map_or(String::new(), |error| error.to_string()))
    }

    /// Makes pairs, until there are as many as the budget says, or `until` says so: it is asked after each block.
    ///
    /// # Errors
    ///
    /// If the code of a lock does not come back.
    pub fn count(
        &self,
        survey: &Survey,
        budget: &PairBudget,
        until: impl FnMut(&CountedPairs) -> ControlFlow<()>,
    ) -> Result<CountedPairs, BesideError> {
        let mut rounds = Rounds::new(survey, *budget, self.shared.conditions.len(), until);
        let shared = self.shared.clone();
        let check = panic_hook::current_check();
        let work = move |hand: &Hand<'_>, Block { place, first, count }: Block| {
            check.clone().hush(|| {
                let mut counts = Counts::default();
                let Some(pair) = shared.pair(place) else { return (place, counts) };
                for seed in (0..count).map(|run| Seed(first.0.wrapping_add(run))) {
                    hand.begins(seed);
                    let faults = pair.faults(seed);
                    let mine = pair.run_mine(seed, faults.clone());
                    hand.begins(seed);
                    counts.add(&mine, &pair.run_theirs(seed, faults));
                }
                (place, counts)
            })
        };
        run_in_order(Crew { jobs: budget.jobs, ahead: 8 }, budget.patience, &mut rounds, work)?;
        Ok(rounds.counted)
    }
}

fn of_family<A: Engine, B: Engine>(
    (mine, theirs): (&LockSide<A>, &LockSide<B>),
    family: &World,
    can: Abilities,
    weathers: &Weathers,
) -> Result<(Vec<Condition>, Option<LeftOut>), BesideError> {
    let descriptor = mine.descriptor()?;
    let (mut conditions, mut left_out) = (Vec::new(), None);
    for number in 0..OF_FAMILY {
        // A lock may refuse a lease that is too short for it.
        let scenario = mine.scenario(&family.member(number, &descriptor, can));
        match scenario.and_then(|scenario| theirs.in_place_of(&scenario).map(|_| scenario)) {
            Ok(scenario) => conditions.push(condition(number, scenario, weathers)),
            Err(refused) => {
                let why = || refused.to_string().lines().next().unwrap_or_default().to_owned();
                left_out.get_or_insert_with(|| LeftOut { worlds: 0, why: why() }).worlds += 1;
            }
        }
    }
    match left_out {
        Some(LeftOut { why, .. }) if conditions.is_empty() => Err(BesideError::NoWorld(why)),
        left_out => Ok((conditions, left_out)),
    }
}

fn of_world(scenario: &Scenario, weathers: &Weathers) -> Vec<Condition> {
    let count = if matches!(weathers, Weathers::Drawn(_)) { OF_WORLD } else { 1 };
    (0..count).map(|number| condition(number, scenario.clone(), weathers)).collect()
}

fn condition(number: u64, scenario: Scenario, weathers: &Weathers) -> Condition {
    let weather = match weathers {
        Weathers::Drawn(base) => draw_weather(base, number, &scenario),
        Weathers::Fixed(weather) => weather.clone(),
    };
    Condition { number, scenario: Scenario { weather: None, ..scenario }, weather }
}

fn refuse_other_nodes<A: Engine, B: Engine>(
    mine: &LockSide<A>,
    theirs: &LockSide<B>,
) -> Result<(), BesideError> {
    let words = |lock: &Descriptor| match (lock.service, lock.nodes) {
        (Some(service), _) => service.as_str(),
        (None, Nodes::One) => "one node",
        (None, Nodes::Replicated) => "a master and its replicas",
        (None, Nodes::Independent) => "independent nodes",
    };
    let (my_nodes, their_nodes) = (words(&mine.descriptor()?), words(&theirs.descriptor()?));
    if my_nodes == their_nodes {
        return Ok(());
    }
    Err(BesideError::OtherNodes {
        mine: mine.title.clone(),
        my_nodes,
        theirs: theirs.title.clone(),
        their_nodes,
    })
}

fn refuse_to_extend<A, B>(
    scenario: &Scenario,
    mine: &LockSide<A>,
    theirs: &LockSide<B>,
) -> Result<(), BesideError>
where
    A: Engine<Prepared: Stepped>,
    B: Engine<Prepared: Stepped>,
{
    let extends = scenario.clients.iter().flat_map(|client| &client.program);
    if !extends.into_iter().any(|step| matches!(step, Step::Extend(_))) {
        return Ok(());
    }
    let lacks = match (mine.try_out()?.can.extends, theirs.try_out()?.can.extends) {
        (true, true) => return Ok(()),
        (false, _) => &mine.title,
        (true, false) => &theirs.title,
    };
    Err(BesideError::CannotExtend { lock: lacks.clone() })
}

/// Hands out the conditions for the survey, some at a time, until they have taken enough.
struct Surveying {
    next: Range<usize>,
    /// The first place that is not handed out before all so far are told of.
    until: usize,
    told: usize,
    survey: Survey,
}

/// How many conditions are surveyed before somebody looks at what they took.
const BATCH: usize = 20;
/// As many events as the survey may take: of locks whose runs are long, fewer conditions are surveyed.
const SURVEY_EVENTS: u64 = 2_500_000;

impl Foreman for Surveying {
    type Piece = usize;
    type Done = Option<(usize, Surveyed)>;

    fn next(&mut self) -> Option<usize> {
        if self.next.start == self.until {
            let is_enough = self.survey.events_in_all() > SURVEY_EVENTS;
            if self.told < self.until || is_enough {
                return None;
            }
            self.until += BATCH;
        }
        self.next.next()
    }

    fn receive(&mut self, done: Self::Done) -> ControlFlow<()> {
        self.told += 1;
        if let Some((place, surveyed)) = done {
            self.survey.add(place, surveyed);
        }
        ControlFlow::Continue(())
    }
}
