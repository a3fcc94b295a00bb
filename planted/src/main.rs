//! Plants small faults in doublehold's own code, one at a time, and tells which of them no test notices.
//!
//! All faults are built into one copy of the tree, behind a switch; each test is run by itself once, to learn which of
//! them it comes by; then each fault is switched on for the tests that come by its place, quickest first, until one
//! fails.
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
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::Parser;

use crate::areas::Area;
use crate::compile::{Binary, Built};
use crate::fault::Fault;
use crate::hunt::{Outcome, hunt};
use crate::noticed::NOT_BUILT;

/// Plants small faults in doublehold's own code, one at a time, and prints those that no test notices.
///
/// Exits with 1 if less than nine of ten are noticed in an area, those that change nothing left aside.
#[derive(Parser)]
struct Arguments {
    /// The areas, by how their names begin [default: all]
    areas: Vec<String>,
    /// Only the tenth that the last commit's hash chooses: what CI tries
    #[arg(long)]
    tenth: bool,
    /// All faults that the rules make, instead of one in so many (see planted/areas.toml)
    #[arg(long)]
    all: bool,
    /// Only faults whose printed line has this text in it
    #[arg(long, value_name = "TEXT")]
    fault: Option<String>,
    /// Prints the faults, and tries none
    #[arg(long)]
    list: bool,
    /// Writes down which test noticed each, in planted/noticed.tsv, for `--tenth` to ask first
    #[arg(long)]
    write: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let areas = areas::areas(&root, &arguments.areas)?;
    let (faults, owners) = chosen(&root, &areas, arguments)?;
    if arguments.list {
        faults.iter().for_each(|fault| println!("{fault}"));
        return Ok(ExitCode::SUCCESS);
    }
    let hints = noticed::read(&root)?;
    let mut outcomes: BTreeMap<usize, Outcome> = BTreeMap::new();
    let (binaries, broken) = built(&root, &areas, &faults, &hints)?;
    outcomes.extend(broken.iter().map(|number| (*number, Outcome::NotBuilt)));
    let tests_of = |fault: usize| areas[owners[fault]].tests.as_slice();
    let found = hunt(&faults, &broken, &binaries, tests_of, &hints, &root.join("target/planted"))?;
    outcomes.extend(found);
    if arguments.write {
        write(&root, hints, &faults, &outcomes)?;
    }
    let survivors = areas::survivors(&root)?;
    Ok(told(&areas, &faults, &owners, &outcomes, &survivors))
}

/// The faults that are to be tried, and the number of the area of each.
fn chosen(root: &Path, areas: &[Area], arguments: &Arguments) -> Result<(Vec<Fault>, Vec<usize>)> {
    let part = if arguments.tenth { Some(tenth(root)?) } else { None };
    let (mut faults, mut owners) = (Vec::new(), Vec::new());
    for (number, area) in areas.iter().enumerate() {
        let mut of_area = areas::faults(root, area, arguments.all)?;
        of_area.retain(|fault| part.is_none_or(|part| fault.digest() / 1_000 % 10 == part));
        of_area.retain(|fault| arguments.fault.as_ref().is_none_or(|text| fault.to_string().contains(text)));
        owners.resize(faults.len() + of_area.len(), number);
        faults.extend(of_area);
    }
    if faults.is_empty() {
        bail!("no fault is asked for");
    }
    Ok((faults, owners))
}

/// A number below ten that changes from commit to commit.
fn tenth(root: &Path) -> Result<u64> {
    let head = Command::new("git").current_dir(root).args(["rev-parse", "--short=8", "HEAD"]).output()?;
    let head = String::from_utf8(head.stdout)?;
    let number = u64::from_str_radix(head.trim(), 16).context("git does not name the last commit")? % 10;
    println!("the tenth no. {number}");
    Ok(number)
}

/// The test binaries with all faults in them, but for those that do not compile.
fn built(
    root: &Path,
    areas: &[Area],
    faults: &[Fault],
    hints: &BTreeMap<String, String>,
) -> Result<(Vec<Binary>, BTreeSet<usize>)> {
    let is_known = |fault: &Fault| hints.get(&fault.name()).is_some_and(|by| by == NOT_BUILT);
    let mut broken: BTreeSet<usize> = (0..faults.len()).filter(|number| is_known(&faults[*number])).collect();
    loop {
        let whole: BTreeSet<usize> = (0..faults.len()).filter(|number| !broken.contains(number)).collect();
        eprintln!("building {} faults into a copy of the tree", whole.len());
        let tree = tree::plant(root, &root.join("target/planted/tree"), faults, &whole)?;
        match compile::build(&tree, &root.join("target"), areas)? {
            Built::Tests(binaries) => return Ok((binaries, broken)),
            Built::Broken(more) => {
                eprintln!("{} do not compile", more.len());
                broken.extend(more);
            }
        }
    }
}

fn write(
    root: &Path,
    mut noticed: BTreeMap<String, String>,
    faults: &[Fault],
    outcomes: &BTreeMap<usize, Outcome>,
) -> Result<()> {
    for (number, outcome) in outcomes {
        let name = faults[*number].name();
        match outcome {
            Outcome::NotBuilt => noticed.insert(name, NOT_BUILT.to_owned()),
            Outcome::Noticed { by } => noticed.insert(name, by.clone()),
            Outcome::Survived { .. } => noticed.remove(&name),
        };
    }
    noticed::write(root, &noticed)
}

/// Prints what survived, and the table; whether that is good enough.
fn told(
    areas: &[Area],
    faults: &[Fault],
    owners: &[usize],
    outcomes: &BTreeMap<usize, Outcome>,
    survivors: &BTreeMap<String, areas::Survivor>,
) -> ExitCode {
    let mut is_enough = true;
    let mut table =
        format!("{:32} {:>7} {:>8} {:>8} {:>9}\n", "area", "planted", "noticed", "nothing", "rate");
    for (number, area) in areas.iter().enumerate() {
        let (mut planted, mut noticed, mut nothing) = (0_usize, 0_usize, 0_usize);
        let of_area = outcomes.iter().filter(|(fault, _)| owners[**fault] == number);
        for (fault, outcome) in of_area.filter(|(_, outcome)| !matches!(outcome, Outcome::NotBuilt)) {
            planted += 1;
            let Outcome::Survived { asked } = outcome else {
                noticed += 1;
                continue;
            };
            let fault = &faults[*fault];
            let known = survivors.get(&fault.name());
            nothing += usize::from(known.is_some_and(|known| known.changes_nothing));
            match known {
                Some(known) if known.changes_nothing => {}
                Some(known) => println!("survives: {fault}\n    {}", known.why),
                None => println!("survives: {fault}\n    {asked} tests come by it"),
            }
        }
        let counted = planted - nothing;
        let percent = if counted == 0 { 100.0 } else { 100.0 * noticed as f64 / counted as f64 };
        is_enough &= noticed * 10 >= counted * 9;
        table += &format!("{:32} {planted:>7} {noticed:>8} {nothing:>8} {percent:>7.1} %\n", area.name);
    }
    print!("\n{table}");
    ExitCode::from(u8::from(!is_enough))
}
