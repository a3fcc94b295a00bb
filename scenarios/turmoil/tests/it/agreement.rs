//! Both engines asked for the same runs: the table of `docs/engines.md`, and the share of verdicts that are equal.
//!
//! `BLESS=1` writes the table anew. A difference is explained there by hand, in [`EXPLAINED`], or it fails.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::thread;

use doublehold_history::Predicate;
use doublehold_lockimpl::{Descriptor, descriptors};
use doublehold_scenarios::build::World;
use doublehold_scenarios::fault::Effect;
use doublehold_scenarios::report::Summary;
use doublehold_scenarios::{
    Engine, PrepareError, Prepared, PreparedSim, Scenario, Searchable, Seed, SimEngine, catalog,
};
use doublehold_statistics::{Confidence, Proportion};
use doublehold_turmoil_engine::TurmoilEngine;

use crate::both::{Difference, Violates};
use crate::differences::{self, Plan};
use crate::pages::{ENGINES, read, write_or_compare};

/// From each entry of the catalogue so many seeds are run.
const SEEDS: u64 = 20;
/// So many random plans.
const PLANS: usize = 900;
/// The weathers of random plans, but for their loss.
pub(crate) const WEATHERS: [&str; 5] = ["cloud", "hostile", "pauses-only", "clocks-only", "network-only"];

/// Entries of the catalogue whose verdicts differ, with the rule that one network has and the other has not. The rule
/// was put into the other to see that the difference goes; a new one is to be tried the same way.
const EXPLAINED: [(&str, &str); 1] = [(
    "suspend-in-flight/node-timeouts",
    "what reached a suspended machine is sent again by the kernel's TCP when its timer runs out, which has doubled \
     several times by then, and on turmoil by our adapter at the machine's first instant awake: the votes come in time there",
)];

/// The reason where only predicates differ of which an entry states nothing.
const LEFT_OPEN: &str =
    "the entry states nothing of it: it hangs on the delays that are drawn, on either engine";

/// The verdicts of one scenario on both.
#[derive(Default)]
pub(crate) struct Compared {
    runs: usize,
    /// Verdicts, one for each predicate of each run.
    verdicts: usize,
    equal: usize,
    /// Differences with the count of runs, as `P1 holds on sim and violated on turmoil`.
    differing: BTreeMap<String, usize>,
}

impl Compared {
    fn take(&mut self, sim: &Summary, turmoil: &Summary) {
        self.runs += 1;
        for predicate in Predicate::ALL {
            let words = [sim, turmoil].map(|run| run.verdicts.get(predicate).as_str());
            self.verdicts += 1;
            if words[0] == words[1] {
                self.equal += 1;
            } else {
                let what =
                    format!("{}: {} on `sim`, {} on `turmoil`", predicate.as_str(), words[0], words[1]);
                *self.differing.entry(what).or_default() += 1;
            }
        }
    }

    fn of(scenario: &Scenario, seeds: impl Iterator<Item = u64>) -> Compared {
        let (sim, turmoil) = prepared(scenario);
        let mut compared = Compared::default();
        seeds.for_each(|seed| compared.take(&sim.judge(seed), &turmoil.judge(seed)));
        compared
    }

    /// Whether a predicate differs of which the scenario states something.
    fn differs_in_stated(&self, scenario: &Scenario) -> bool {
        let stated =
            |what: &String| scenario.expect.keys().any(|predicate| what.starts_with(predicate.as_str()));
        self.differing.keys().any(stated)
    }

    fn add(&mut self, other: &Compared) {
        self.runs += other.runs;
        self.verdicts += other.verdicts;
        self.equal += other.equal;
        other
            .differing
            .iter()
            .for_each(|(what, runs)| *self.differing.entry(what.clone()).or_default() += runs);
    }

    fn share(&self) -> String {
        share(self.equal as u64, self.verdicts as u64)
    }

    fn differences(&self) -> String {
        let told = self.differing.iter().map(|(what, runs)| format!("{what} ({runs})"));
        told.collect::<Vec<_>>().join("; ")
    }
}

pub(crate) fn prepared(scenario: &Scenario) -> (PreparedSim, PreparedSim) {
    let sim = SimEngine.prepare(scenario).expect("a scenario of ours");
    (sim, TurmoilEngine.prepare(scenario).unwrap_or_else(|error| panic!("{}: {error}", scenario.name)))
}

/// Whether turmoil's worlds cannot express something of a scenario.
pub(crate) fn is_refused(scenario: &Scenario) -> bool {
    matches!(TurmoilEngine.prepare(scenario), Err(PrepareError::CannotExpress { .. }))
}

/// The locks without the libraries, which are settings of them, and without the lock of a queue's jobs: its stalled
/// check comes twice in a minute, and the usual world is over by then.
pub(crate) fn engines() -> Vec<Descriptor> {
    descriptors().into_iter().filter(|lock| lock.profile.is_none() && lock.name != "job").collect()
}

/// A lock's usual world under a weather that loses nothing.
pub(crate) fn under(lock: &Descriptor, weather: &str) -> Scenario {
    let scenario = World::usual(lock).weather(weather).scenario(lock.name, descriptors());
    let mut scenario = scenario.unwrap_or_else(|error| panic!("{}: {error}", lock.name));
    let lines = &mut scenario.weather.as_mut().expect("it has weather").faults;
    lines.retain(|line| !matches!(line.effect, Effect::Loss { .. }));
    scenario
}

/// The rows of the random plans, their sum, and the plans that differ: each lock in its usual world, under each
/// weather. Beside turmoil's stands the kernel itself with the same faults and everything else drawn anew.
pub(crate) fn random_plans() -> (String, Compared, Vec<Plan>) {
    let locks = engines();
    let each = PLANS.div_ceil(locks.len() * WEATHERS.len()) as u64;
    let mut table =
        "| weather | plans | equal | differing, in so many runs | `sim` and `sim` from another seed | P1 \
                     violated on `sim` (95 %) | on `turmoil` |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    let (mut total, mut differing) = (Compared::default(), Vec::new());
    for weather in WEATHERS {
        let (mut engines, mut luck, mut violated) = (Compared::default(), Compared::default(), [0, 0]);
        for lock in &locks {
            let (sim, turmoil) = prepared(&under(lock, weather));
            for seed in (1..=each).map(Seed) {
                let (first, second) = (sim.judge(seed), turmoil.judge(seed));
                engines.take(&first, &second);
                violated[0] += u64::from(first.violates(Predicate::P1));
                violated[1] += u64::from(second.violates(Predicate::P1));
                let drawn = sim.climate().expect("it has weather").draw(seed);
                luck.take(&first, &sim.judge_among(Seed(seed.0 + 1_000_000), drawn));
                if !Difference::all(&first, &second).is_empty() {
                    differing.push(Plan { weather, lock: lock.name, seed });
                }
            }
        }
        let (share, told, runs) = (engines.share(), engines.differences(), engines.runs);
        let [sim, turmoil] = violated.map(|hits| rate(hits, runs as u64));
        writeln!(table, "| {weather} | {runs} | {share} | {told} | {} | {sim} | {turmoil} |", luck.share())
            .expect("a text can be written to");
        total.add(&engines);
    }
    writeln!(table, "| all | {} | {} | | | | |", total.runs, total.share())
        .expect("a text can be written to");
    (table, total, differing)
}

/// So many of so many, and in percent.
pub(crate) fn share(some: u64, of: u64) -> String {
    format!("{some} of {of} ({:.1} %)", 100.0 * some as f64 / of as f64)
}

/// A share in percent with Wilson's interval.
pub(crate) fn rate(hits: u64, of: u64) -> String {
    let interval = Proportion::new(hits, of).wilson(Confidence::P95).expect("there were runs");
    format!("{hits}: {:.0} to {:.0} %", interval.low * 100.0, interval.high * 100.0)
}

#[test]
fn verdicts_of_both_engines_agree_as_the_table_says() {
    // At the same time: no other test takes half as long as either.
    let ((catalogue, of_catalogue), (plans, of_plans, differing)) = thread::scope(|scope| {
        let plans = scope.spawn(random_plans);
        (catalogue(), plans.join().expect("random plans that could be run"))
    });
    let share = |compared: &Compared| compared.equal as f64 / compared.verdicts as f64;
    assert!(of_plans.runs >= PLANS, "{} random plans", of_plans.runs);
    assert!(
        share(&of_catalogue) >= 0.95 && share(&of_plans) >= 0.95,
        "the engines differ:\n{catalogue}\n{plans}"
    );
    write_or_compare(ENGINES, &[("catalogue", &catalogue), ("random plans", &plans)]);
    differences::are_on_the_page(&read(ENGINES), &differing);
}

/// The rows of the catalogue, and their sum.
fn catalogue() -> (String, Compared) {
    let (mut total, mut equal, mut differing) = (Compared::default(), 0, String::new());
    let (mut refused, mut wrong) = (Vec::new(), Vec::new());
    for entry in catalog::entries().expect("the catalogue is right") {
        let scenario = catalog::load(&entry.name, &[]).expect("it was just read");
        if is_refused(&scenario) {
            refused.push(format!("`{}`", entry.name));
            continue;
        }
        let compared = Compared::of(&scenario, 1..=SEEDS);
        let explained = EXPLAINED.iter().find(|(name, _)| *name == entry.name).map(|(_, why)| *why);
        if explained.is_some() != compared.differs_in_stated(&scenario) {
            wrong.push(format!("{}: {}", entry.name, compared.differences()));
        }
        match explained {
            None if compared.differing.is_empty() => equal += 1,
            why => {
                let (share, told, why) = (compared.share(), compared.differences(), why.unwrap_or(LEFT_OPEN));
                writeln!(differing, "| `{}` | {share} | {told} | {why} |", entry.name)
                    .expect("a text can be written to");
            }
        }
        total.add(&compared);
    }
    assert!(wrong.is_empty(), "differing and not explained, or the other way round:\n{}", wrong.join("\n"));
    let table = format!(
        "Of {} runs, {} verdicts are equal. All of them in {equal} entries, and in the others:\n\n\
         | entry | equal | differing, in so many runs | because |\n|---|---|---|---|\n{differing}\n\
         Not run, since `turmoil` refuses what they are about: {}.\n",
        total.runs,
        total.share(),
        refused.join(", ")
    );
    (table, total)
}

/// A seed means the same faults on both.
#[test]
fn a_weather_draws_the_same_faults_on_both_engines() {
    let locks = descriptors();
    let lock = locks.iter().find(|lock| lock.name == "redlock").expect("there is one");
    let (sim, turmoil) = prepared(&under(lock, "hostile"));
    for seed in (1..=20).map(Seed) {
        let drawn = [&sim, &turmoil].map(|prepared| prepared.climate().expect("there is weather").draw(seed));
        assert_eq!(drawn[0], drawn[1], "seed {seed}");
    }
}
