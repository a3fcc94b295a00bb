//! Plants small faults in doublehold's own code, one at a time, and tells which of them no test notices.
//!
//! All faults are built into one copy of the tree, behind a switch. Each is switched on for the test that noticed it
//! the last time. For those that are left each test is run by itself once, to learn which of them it comes by; then
//! each is switched on for the tests that come by its place, quickest first, until one fails.
//!
//! | module | what it holds |
//! |---|---|
//! | `areas` | which code is tried and by which tests; faults and reasons that people wrote down |
//! | `operators` | faults that are made by rule |
//! | `tree`, `compile` | the copy with the faults in it, and its build |
//! | `suite`, `hunt` | the tests, and which of them notices a fault |
//! | `noticed` | what noticed it the last time |

mod areas;
mod compile;
mod fault;
mod hunt;
mod noticed;
mod operators;
mod suite;
mod threads;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::Parser;

use crate::areas::Area;
use crate::compile::{Binary, Built};
use crate::fault::Fault;
use crate::hunt::{Outcome, hunt};
use crate::noticed::Hint;

/// Plants small faults in doublehold's own code, one at a time, and prints those that no test notices.
///
/// Exits with 1 if less than nine of ten are noticed in an area, those that change nothing left aside.
#[derive(Parser)]
struct Arguments {
    /// The areas, by how their names begin [default: all]
    areas: Vec<String>,
    /// Only one area, about a tenth of all, which the last commit's hash chooses; survivors that have a reason are
    /// taken at their word
    #[arg(long)]
    tenth: bool,
    /// All faults that the rules make, instead of one in so many (see selftest/mutation-tests/areas.toml)
    #[arg(long)]
    all: bool,
    /// Only faults whose printed line has this text in it
    #[arg(long, value_name = "TEXT")]
    fault: Option<String>,
    /// Prints the faults, and tries none
    #[arg(long)]
    list: bool,
    /// Writes down which test noticed each, in selftest/mutation-tests/noticed.tsv: it is asked first the next time
    #[arg(long)]
    write: bool,
}

fn main() -> ExitCode {
    match run_areas(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run_areas(arguments: &Arguments) -> Result<ExitCode> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let mut areas = areas::areas(&root, &arguments.areas)?;
    if arguments.tenth {
        // Not a few faults of each area: that would take the tests of all of them, and their build.
        let number = number_of_the_last_commit(&root)? % areas.len();
        areas = vec![areas.swap_remove(number)];
    }
    let (faults, owners) = choose_faults(&root, &areas, arguments)?;
    if arguments.list {
        faults.iter().for_each(|fault| println!("{fault}"));
        return Ok(ExitCode::SUCCESS);
    }
    let (hints, survivors) = (noticed::read_hints(&root)?, areas::survivors(&root)?);
    let mut outcomes: BTreeMap<usize, Outcome> = BTreeMap::new();
    if arguments.tenth {
        // Taken at their word: asking all tests that come by them again takes longer than all others together.
        let is_known = |number: &usize| survivors.contains_key(&faults[*number].name());
        let known = (0..faults.len()).filter(is_known);
        outcomes.extend(known.map(|number| (number, Outcome::Survived { asked: 0 })));
    }
    // First what noticed each the last time: few tests, which need not be looked for.
    let is_built = |fault: &Fault| hints.get(&fault.name()) != Some(&Hint::NotBuilt);
    let mut broken: BTreeSet<usize> =
        (0..faults.len()).filter(|number| !is_built(&faults[*number])).collect();
    let binaries =
        build_binaries(&root, &hinted_binaries(&areas, &owners, &faults, &hints), &faults, &mut broken)?;
    let asks = |fault: usize, binary: &Binary, test: Option<&str>| {
        let area = &areas[owners[fault]];
        let is_of = |test: &str| test.split("::").next().is_some_and(|module| area.has(module));
        area.tests.contains(&binary.name) && (!binary.name.ends_with(":it") || test.is_none_or(is_of))
    };
    let hopeful = untried_faults(&faults, &outcomes, &broken);
    outcomes.extend(hunt::retry_remembered(&faults, &hopeful, &binaries, asks, &hints)?);
    let others = untried_faults(&faults, &outcomes, &broken);
    if !others.is_empty() {
        let binaries = build_binaries(&root, &area_binaries(&areas, &owners, &others), &faults, &mut broken)?;
        let others = untried_faults(&faults, &outcomes, &broken);
        outcomes.extend(hunt(&faults, &others, &binaries, asks, &root.join("target/mutation-tests"))?);
    }
    for number in broken {
        // In another binary it may not compile, and was noticed in the first.
        if !matches!(outcomes.get(&number), Some(Outcome::Noticed { .. })) {
            outcomes.insert(number, Outcome::NotBuilt);
        }
    }
    if arguments.write {
        write(&root, hints, &faults, &outcomes)?;
    }
    let counts = print_report(&areas, &faults, &owners, &outcomes, &survivors);
    println!("{:32} {}", "all", Counts::sum(&counts));
    Ok(ExitCode::from(u8::from(!counts.iter().all(Counts::is_enough))))
}

/// The faults that are to be tried, and the number of the area of each.
fn choose_faults(root: &Path, areas: &[Area], arguments: &Arguments) -> Result<(Vec<Fault>, Vec<usize>)> {
    let (mut faults, mut owners) = (Vec::new(), Vec::new());
    for (number, area) in areas.iter().enumerate() {
        let mut of_area = areas::faults(root, area, arguments.all)?;
        of_area.retain(|fault| arguments.fault.as_ref().is_none_or(|text| fault.to_string().contains(text)));
        owners.resize(faults.len() + of_area.len(), number);
        faults.extend(of_area);
    }
    if faults.is_empty() {
        bail!("no fault is asked for");
    }
    Ok((faults, owners))
}

/// A number that changes from commit to commit.
fn number_of_the_last_commit(root: &Path) -> Result<usize> {
    let head = Command::new("git").current_dir(root).args(["rev-parse", "--short=8", "HEAD"]).output()?;
    let head = String::from_utf8(head.stdout)?;
    usize::from_str_radix(head.trim(), 16).context("git does not name the last commit")
}

/// Faults of which nothing is known yet.
fn untried_faults(
    faults: &[Fault],
    known: &BTreeMap<usize, Outcome>,
    broken: &BTreeSet<usize>,
) -> Vec<usize> {
    (0..faults.len()).filter(|number| !known.contains_key(number) && !broken.contains(number)).collect()
}

/// The binaries of the tests that noticed faults when they were last tried.
fn hinted_binaries<'a>(
    areas: &'a [Area],
    owners: &[usize],
    faults: &[Fault],
    hints: &BTreeMap<String, Hint>,
) -> BTreeSet<&'a str> {
    let mut wanted = BTreeSet::new();
    for (fault, owner) in faults.iter().zip(owners) {
        let Some(Hint::Test { name, .. }) = hints.get(&fault.name()) else { continue };
        let is_of = |binary: &&String| name.split(' ').next() == Some(binary.as_str());
        let binary = areas[*owner].tests.iter().find(is_of);
        wanted.extend(binary.map(String::as_str));
    }
    wanted
}

/// All binaries that the areas of these faults ask for.
fn area_binaries<'a>(areas: &'a [Area], owners: &[usize], faults: &[usize]) -> BTreeSet<&'a str> {
    faults.iter().flat_map(|number| areas[owners[*number]].tests.iter().map(String::as_str)).collect()
}

/// These test binaries with all faults in them, but for those that do not compile, which are added to `broken`.
fn build_binaries(
    root: &Path,
    wanted: &BTreeSet<&str>,
    faults: &[Fault],
    broken: &mut BTreeSet<usize>,
) -> Result<Vec<Binary>> {
    // Of its own, unless somebody says otherwise: cargo takes the copy's crates for the project's, and in one folder
    // each build would leave binaries to the other.
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or(root.join("target/mutation-tests/build"), |it| root.join(it));
    loop {
        let whole: BTreeSet<usize> = (0..faults.len()).filter(|number| !broken.contains(number)).collect();
        eprintln!("building {} faults into a copy of the tree", whole.len());
        let tree = tree::plant(root, &root.join("target/mutation-tests/tree"), faults, &whole)?;
        match compile::build(&tree, &target, wanted)? {
            Built::Tests(binaries) => return Ok(binaries),
            Built::Broken(more) => {
                eprintln!("{} do not compile", more.len());
                broken.extend(more);
            }
        }
    }
}

fn write(
    root: &Path,
    mut noticed: BTreeMap<String, Hint>,
    faults: &[Fault],
    outcomes: &BTreeMap<usize, Outcome>,
) -> Result<()> {
    for (number, outcome) in outcomes {
        let name = faults[*number].name();
        match outcome {
            Outcome::NotBuilt => noticed.insert(name, Hint::NotBuilt),
            Outcome::Noticed { by, takes } => noticed.insert(name, Hint::test(by, *takes)),
            Outcome::Survived { .. } => noticed.remove(&name),
        };
    }
    // Code changes, and with it the faults that there can be.
    let mut there = BTreeSet::new();
    for area in areas::areas(root, &[])? {
        there.extend(areas::faults(root, &area, true)?.iter().map(Fault::name));
    }
    noticed.retain(|name, _| there.contains(name));
    noticed::write(root, &noticed)
}

/// Prints what survived, and the table; the share that is to be reached is that of each area, or of all together.
fn print_report(
    areas: &[Area],
    faults: &[Fault],
    owners: &[usize],
    outcomes: &BTreeMap<usize, Outcome>,
    survivors: &BTreeMap<String, areas::Survivor>,
) -> Vec<Counts> {
    let mut counts: Vec<Counts> = areas.iter().map(|_| Counts::default()).collect();
    for (number, outcome) in outcomes {
        let (fault, counts) = (&faults[*number], &mut counts[owners[*number]]);
        let known = survivors.get(&fault.name());
        match outcome {
            Outcome::NotBuilt => continue,
            Outcome::Noticed { by, .. } => {
                counts.noticed += 1;
                if known.is_some() {
                    println!("no longer survives: {fault}\n    noticed by {by}");
                }
            }
            Outcome::Survived { .. } if known.is_some_and(|known| known.changes_nothing) => {
                counts.nothing += 1
            }
            Outcome::Survived { asked } => {
                let why =
                    known.map_or_else(|| format!("{asked} tests come by it"), |known| known.why.clone());
                println!("survives: {fault}\n    {why}");
            }
        }
        counts.planted += 1;
    }
    println!("\n{:32} {:>7} {:>8} {:>15} {:>7}", "area", "planted", "noticed", "changes nothing", "rate");
    for (area, counts) in areas.iter().zip(&counts) {
        println!("{:32} {counts}", area.name);
    }
    counts
}

/// Counts of faults by their outcomes.
#[derive(Clone, Copy, Default)]
struct Counts {
    planted: usize,
    noticed: usize,
    nothing: usize,
}

impl Counts {
    fn is_enough(&self) -> bool {
        self.noticed * 10 >= (self.planted - self.nothing) * 9
    }

    fn sum(all: &[Counts]) -> Counts {
        let sum = |of: fn(&Counts) -> usize| all.iter().map(of).sum();
        Counts { planted: sum(|it| it.planted), noticed: sum(|it| it.noticed), nothing: sum(|it| it.nothing) }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { planted, noticed, nothing } = self;
        let rate = 100.0 * *noticed as f64 / (planted - nothing).max(1) as f64;
        write!(f, "{planted:>7} {noticed:>8} {nothing:>15} {rate:>5.1} %")
    }
}
