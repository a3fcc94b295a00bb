//! Each random plan in which the two engines differ: made small, and asked what the difference hangs on.
//!
//! Three runs ask that. With *clients apart* they begin a millisecond one after the other, so that no two are ready at
//! one instant when they first draw a delay. With *own delays* every way between two hosts has a fixed one, so that
//! none is drawn. And from *other seeds* the same plan runs with everything else drawn anew.
//!
//! `BLESS=1` writes the tables of `docs/engines.md`. It takes minutes: so otherwise a sample is checked, and that the
//! page names the plans that differ and no others.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::iter;
use std::time::Duration;

use doublehold_history::Predicate;
use doublehold_lockimpl::descriptors;
use doublehold_scenarios::scenario::{DelayLaw, LinkSetup, Role};
use doublehold_scenarios::{Engine, Prepared, Scenario, Searchable, Seed, SimEngine};
use doublehold_search::shrink::{Case, Effort, Target, shrink};
use doublehold_statistics::{Confidence, Proportion};

use crate::agreement::{self, engines, prepared, rate, share, under};
use crate::both::{Both, Difference, Violates, Whose};
use crate::pages::{ENGINES, read, write_or_compare};

/// The seeds from which a plan is run again.
const OTHER_SEEDS: std::ops::Range<u64> = 1_000_000..1_000_050;
/// Sets of fixed delays.
const DELAYS: u64 = 3;
/// The differences that are made small in every test: one of each class, and one of each engine.
const SAMPLE: [(&str, &str, u64); 3] =
    [("network-only", "single", 1), ("network-only", "single", 4), ("network-only", "counter", 3)];

/// One random plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Plan {
    pub(crate) weather: &'static str,
    pub(crate) lock: &'static str,
    pub(crate) seed: Seed,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{} {} {}`", self.weather, self.lock, self.seed)
    }
}

impl Plan {
    /// The scenario with the faults that the seed draws written out.
    fn scenario(&self) -> Scenario {
        let locks = descriptors();
        let lock = locks.iter().find(|lock| lock.name == self.lock).expect("one of ours");
        let scenario = under(lock, self.weather);
        let prepared = SimEngine.prepare(&scenario).expect("a scenario of ours");
        let drawn = prepared.climate().expect("it has weather").draw(self.seed);
        let faults = [&scenario.faults[..], &drawn[..]].concat();
        Scenario { faults, weather: None, ..scenario }
    }
}

/// The way in which a difference comes to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// The order of tasks that are ready at one instant.
    Order,
    /// The packets that each network sends, and so which of them gets which delay.
    Packets,
    /// A rule of one network: the time at which something is sent again.
    Again,
}

impl Class {
    const ALL: [Class; 3] = [Class::Order, Class::Packets, Class::Again];

    fn name(self) -> &'static str {
        match self {
            Class::Order => "who is first",
            Class::Packets => "other packets",
            Class::Again => "sent again",
        }
    }
}

/// A difference that was made small.
struct Small {
    plan: Plan,
    difference: Difference,
    measured: Measured,
    /// The smallest form in words.
    form: String,
    /// Other seeds at which the smallest form differs, and of how many.
    differs: (u64, u64),
}

/// The runs of a plan that differs, as far as the predicate in which it does.
struct Measured {
    equal_apart: bool,
    equal_with_own_delays: bool,
    /// Of the runs from other seeds, those that are equal.
    others_equal_apart: u64,
    others_equal_with_own_delays: u64,
    /// Of the runs from other seeds, those that violate: on `sim`, on `turmoil`.
    violated: [u64; 2],
}

/// The same with clients that begin one after the other, when the first connections are open.
pub(crate) fn apart(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    for (place, client) in scenario.clients.iter_mut().enumerate() {
        let begins = Duration::from_millis(20 + place as u64);
        client.start = Some(client.start.take().map_or(begins.into(), |start| start.delay_by(begins)));
    }
    scenario
}

/// The same with a fixed delay for every way, and no two alike: from one to five milliseconds.
pub(crate) fn own_delays(scenario: &Scenario, set: u64) -> Scenario {
    let cast = scenario.cast();
    let machines = scenario.hosts.iter().filter(|host| !matches!(host.role, Role::Thread(_)));
    let hosts: Vec<_> = machines.map(|host| cast.host(&host.name).expect("one of its hosts")).collect();
    let ways = hosts.iter().flat_map(|from| hosts.iter().map(move |to| (*from, *to)));
    let ways = ways.filter(|(from, to)| from != to).zip(1..);
    let links = ways.map(|((from, to), number): (_, u64)| {
        let spread = (number * 7_919 + set * 104_729) % 100_003;
        let delay = DelayLaw::Fixed(Duration::from_nanos(1_000_000 + spread * 40));
        (from, to, LinkSetup { delay, ..scenario.link.clone() })
    });
    Scenario { links: links.collect(), ..scenario.clone() }
}

/// The runs from these seeds in which both engines come to the same verdict, and those that violate on each.
fn counted(scenario: &Scenario, seeds: impl Iterator<Item = u64>, predicate: Predicate) -> (u64, [u64; 2]) {
    let (sim, turmoil) = prepared(scenario);
    let (mut equal, mut violated) = (0, [0, 0]);
    for seed in seeds {
        let runs = [sim.judge(seed), turmoil.judge(seed)];
        let verdicts = runs.each_ref().map(|run| run.verdicts.get(predicate).as_str());
        equal += u64::from(verdicts[0] == verdicts[1]);
        let hits = runs.map(|run| u64::from(run.violates(predicate)));
        violated = [violated[0] + hits[0], violated[1] + hits[1]];
    }
    (equal, violated)
}

fn measured(scenario: &Scenario, seed: Seed, predicate: Predicate) -> Measured {
    let is_equal = |scenario: &Scenario| counted(scenario, iter::once(seed.0), predicate).0 == 1;
    let others = |scenario: &Scenario| counted(scenario, OTHER_SEEDS, predicate);
    let (apart, own_delays) = (apart(scenario), |set| own_delays(scenario, set));
    Measured {
        equal_apart: is_equal(&apart),
        equal_with_own_delays: (0..DELAYS).all(|set| is_equal(&own_delays(set))),
        others_equal_apart: others(&apart).0,
        others_equal_with_own_delays: others(&own_delays(0)).0,
        violated: others(scenario).1,
    }
}

/// The first predicate in which the runs of a plan differ.
fn difference(plan: &Plan, scenario: &Scenario) -> Difference {
    let (sim, turmoil) = prepared(scenario);
    let all = Difference::all(&sim.judge(plan.seed), &turmoil.judge(plan.seed));
    *all.first().unwrap_or_else(|| panic!("{plan} does not differ any more"))
}

fn small(plan: &Plan) -> Small {
    let scenario = plan.scenario();
    let difference = difference(plan, &scenario);
    let case = Case { scenario: &scenario, seed: plan.seed, target: Target::Violates(difference.predicate) };
    let shrunk = shrink(&Both(difference), &case, &Effort::default()).expect("it differs");
    assert!(shrunk.is_minimal, "{plan}");
    let clients = match shrunk.after.clients {
        1 => "One client.".to_owned(),
        several => format!("{several} clients."),
    };
    let form = format!("{clients} {}", shrunk.scenario.story);
    let measured = measured(&scenario, plan.seed, difference.predicate);
    Small { plan: plan.clone(), difference, measured, form, differs: shrunk.others }
}

impl Small {
    fn class(&self) -> Class {
        let Measured { equal_apart, equal_with_own_delays, .. } = self.measured;
        let (differs, of) = self.differs;
        let [apart, own_delays] =
            [self.measured.others_equal_apart, self.measured.others_equal_with_own_delays].map(is_nearly_all);
        if 20 * differs >= 19 * of || !equal_with_own_delays {
            Class::Again
        } else if equal_apart && apart {
            Class::Order
        } else if own_delays {
            Class::Packets
        } else {
            Class::Again
        }
    }

    fn violated(&self) -> String {
        format!("{} on `{}`", self.difference.predicate.as_str(), self.difference.whose.name())
    }

    /// The beginning of its row, which plans share that come to the same.
    fn row(&self) -> String {
        let (differs, of) = self.differs;
        format!("| {} | {} | {} | {differs} of {of} |", self.class().name(), self.form, self.violated())
    }
}

/// One row for each smallest form, with the plans that come to it.
fn forms(all: &[Small]) -> String {
    let mut rows: BTreeMap<(Class, String), Vec<String>> = BTreeMap::new();
    for small in all {
        rows.entry((small.class(), small.row())).or_default().push(small.plan.to_string());
    }
    let mut table =
        "| class | smallest form | violated | differs at other seeds | plans |\n|---|---|---|---|---|\n"
            .to_owned();
    for ((_, row), plans) in rows {
        writeln!(table, "{row} {} |", plans.join(", ")).expect("a text can be written to");
    }
    table
}

/// True of nine of ten runs from other seeds.
fn is_nearly_all(runs: u64) -> bool {
    10 * runs >= 9 * (OTHER_SEEDS.end - OTHER_SEEDS.start)
}

/// The numbers of the plans of one class.
fn numbers(class: Class, all: &[&Measured]) -> String {
    let sum = |of: fn(&Measured) -> u64| all.iter().map(|measured| of(measured)).sum::<u64>();
    let each = OTHER_SEEDS.end - OTHER_SEEDS.start;
    let runs = each * all.len() as u64;
    let interval = |hits| Proportion::new(hits, each).wilson(Confidence::P95).expect("there were runs");
    let disjoint = all.iter().filter(|measured| {
        let [one, other] = measured.violated.map(interval);
        one.low > other.high || other.low > one.high
    });
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        class.name(),
        all.len(),
        sum(|it| it.equal_apart.into()),
        share(sum(|it| it.others_equal_apart), runs),
        sum(|it| it.equal_with_own_delays.into()),
        share(sum(|it| it.others_equal_with_own_delays), runs),
        rate(sum(|it| it.violated[0]), runs),
        rate(sum(|it| it.violated[1]), runs),
        disjoint.count()
    )
}

/// The numbers of each class.
fn classes(all: &[Small]) -> String {
    let mut table = "| class | plans | equal with clients apart | and from 50 other seeds each | \
                     equal with own delays | and from the other seeds | violated from them as it is, on `sim` (95 %) | \
                     on `turmoil` | plans whose intervals are apart |\n|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for class in Class::ALL {
        let of_class = all.iter().filter(|small| small.class() == class);
        let of_class: Vec<&Measured> = of_class.map(|small| &small.measured).collect();
        if !of_class.is_empty() {
            writeln!(table, "{}", numbers(class, &of_class)).expect("a text can be written to");
        }
    }
    table
}

/// The part of the page with the smallest forms.
fn forms_of_page(page: &str) -> &str {
    let (_, rest) = page.split_once("<!-- differences -->\n").expect("the page has the mark");
    rest.split_once("<!-- end of differences -->").expect("the page has the mark's end").0
}

/// Fails unless the page's smallest forms are those of these plans.
pub(crate) fn are_on_the_page(page: &str, plans: &[Plan]) {
    let named: Vec<&str> = forms_of_page(page).lines().filter_map(|row| row.rsplit('|').nth(1)).collect();
    let mut named: Vec<String> =
        named.iter().flat_map(|plans| plans.split(", ")).map(|plan| plan.trim().to_owned()).collect();
    named.retain(|plan| plan.starts_with('`'));
    named.sort();
    let mut found: Vec<String> = plans.iter().map(Plan::to_string).collect();
    found.sort();
    assert_eq!(named, found, "docs/engines.md explains other plans: {REMEDY}");
}

const REMEDY: &str = "BLESS=1 cargo test -p doublehold-turmoil-engine --test it -- --ignored differences";

#[test]
fn a_sample_of_the_differences_comes_to_the_forms_on_the_page() {
    let page = read(ENGINES);
    for (weather, lock, seed) in SAMPLE {
        let small = small(&Plan { weather, lock, seed: Seed(seed) });
        let row = forms_of_page(&page).lines().find(|row| row.contains(&small.plan.to_string()));
        let row = row.unwrap_or_else(|| panic!("{} is not on the page: {REMEDY}", small.plan));
        assert!(row.starts_with(&small.row()), "{row}\nis now {}\n{REMEDY}", small.row());
    }
}

#[test]
#[ignore = "takes minutes"]
fn every_difference_is_made_small_and_counted() {
    let (_, _, plans) = agreement::random_plans();
    let all: Vec<Small> = plans.iter().map(small).collect();
    let (forms, classes) = (forms(&all), classes(&all));
    write_or_compare(ENGINES, &[("differences", &forms), ("classes", &classes)]);
}

/// Fixed delays leave nothing to draw but to clients, so what differs then is a rule of one network or of one queue.
#[test]
fn pauses_and_clocks_differ_in_nothing_where_no_delay_is_drawn() {
    for weather in ["pauses-only", "clocks-only"] {
        for lock in &engines() {
            let (sim, turmoil) = prepared(&own_delays(&under(lock, weather), 0));
            for seed in (1..=20).map(Seed) {
                let differing = Difference::all(&sim.judge(seed), &turmoil.judge(seed));
                assert_eq!(differing, [], "{weather}, {}, seed {seed}", lock.name);
            }
        }
    }
}

/// The engine of two finds what it is for, and nothing where there is nothing.
#[test]
fn two_engines_differ_only_where_one_of_them_violates() {
    let entry = |name| doublehold_scenarios::catalog::load(name, &[]).expect("it is in the catalogue");
    let on = |whose| Both(Difference { predicate: Predicate::P1, whose });
    let [known, both] = ["suspend-in-flight/node-timeouts", "lease-pause"].map(entry);
    let run = |whose, scenario| on(whose).prepare(scenario).expect("both can").judge(1);
    assert!(run(Whose::Turmoil, &known).violates(Predicate::P1));
    assert!(!run(Whose::Sim, &known).violates(Predicate::P1));
    for whose in [Whose::Sim, Whose::Turmoil] {
        assert!(!run(whose, &both).violates(Predicate::P1), "both violate it");
    }
}
