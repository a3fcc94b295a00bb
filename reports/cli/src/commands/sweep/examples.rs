//! Examples for the report of a sweep: of each design the run that shows best what was counted, made small.
//!
//! A design has at most one example of each of three sorts: two clients held the lock (P2, or P1 where no deadline was
//! broken), the data suffered (P4, or P3), a key was taken away (WR). Each is one of the first runs of the cell in
//! which that happens most often. Waits that were too long have no example: they are told by rates, and made small they
//! say nothing more.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use doublehold_diagnosis::Explained;
use doublehold_diagnosis::counterexample::{Counterexample, counterexample};
use doublehold_history::Predicate;
use doublehold_history::instant;
use doublehold_pages::figure::{self, Options};
use doublehold_render::picture::{self, Account, view::View};
use doublehold_scenarios::plan::Plan;
use doublehold_scenarios::pool::each;
use doublehold_scenarios::{Detailed, Engine, Scenario, Seed};
use doublehold_search::shrink::{Effort, KeepNodes, Size, Target};
use doublehold_sweeps::records::{EXAMPLES, Example, Shrinkage, TimedSentence, file_name};
use doublehold_sweeps::results::Results;
use doublehold_sweeps::study::{CellId, Study};
use doublehold_sweeps::sweep::{PredicateCount, Shard, SweepError};
use doublehold_text::several;
use doublehold_text::shell;
use doublehold_text::{clean, list};

use crate::engine::EngineChoice;
use crate::error::CliError;
use crate::folder::Folder;
use crate::output;
use crate::scenario_file;
use crate::stopping::Stopping;

/// Predicates of which one example is enough, the graver first.
const SORTS: [&[Predicate]; 3] =
    [&[Predicate::P2, Predicate::P1], &[Predicate::P4, Predicate::P3], &[Predicate::WR]];
/// More than this nobody reads, and each takes some tenths of a second.
const MOST: usize = 24;
/// Where their files are, in the folder of the records.
const FOLDER: &str = "examples";
/// Those files, in messages.
const WHAT: &str = "the examples";

/// The runs of a study that take as long as one example takes to be made small, run again through redis-rs, and drawn:
/// 320 to 690 in five of the ready studies, and more for designs that need many faults.
pub(super) const RUNS_OF_AN_EXAMPLE: u64 = 600;

/// The most examples that a study of so many designs has.
pub(super) fn max_examples(designs: usize) -> u64 {
    (designs * SORTS.len()).min(MOST) as u64
}

/// A run to make an example of.
#[derive(Clone, Debug)]
struct Chosen {
    cell: u64,
    stratum: u64,
    /// Seeds that do.
    seeds: Vec<u64>,
    predicate: Predicate,
    runs: u64,
    violated: u64,
}

/// Makes the examples of a sweep and writes them beside its records. Returns how many there are, and what could not be
/// made small.
pub(super) fn write(
    folder: &Folder,
    (study, engine): (&Study, EngineChoice),
    jobs: NonZeroUsize,
    stopping: &Stopping,
) -> Result<(usize, Vec<String>), CliError> {
    let results = Results::read_file(&folder.path().join(file_name(Shard::WHOLE)))?;
    let chosen = choose_runs(&results);
    if !chosen.is_empty() {
        let examples = several(chosen.len() as u64, "example");
        output::inform(&format!(
            "making {examples}: each is made small, run again through redis-rs, and drawn"
        ));
    }
    if !chosen.is_empty() {
        folder.create_folder(WHAT, FOLDER)?;
    }
    let made = each(&chosen, jobs, |chosen| {
        let goes_on = stopping.signal_status().is_none();
        goes_on.then(|| make(folder, (study, engine), &results, chosen))
    });
    let (mut lines, mut failed) = (String::new(), Vec::new());
    let mut count = 0;
    for example in made.into_iter().flatten() {
        match example {
            Ok(example) => {
                lines += &serde_json::to_string(&example)?;
                lines.push('\n');
                count += 1;
            }
            Err(error) => failed.push(error.to_string()),
        }
    }
    folder.create(WHAT, EXAMPLES)?.write(|output| output.write_all(lines.as_bytes()))?.keep()?;
    Ok((count, failed))
}

/// Which runs are shown: in the order of designs, and of each the graver first.
fn choose_runs(results: &Results) -> Vec<Chosen> {
    let mut chosen = Vec::new();
    for design in 0..results.header.designs.len() {
        for sort in SORTS {
            chosen.extend(sort.iter().find_map(|predicate| worst_cell(results, design, *predicate)));
        }
    }
    chosen.truncate(MOST);
    chosen
}

/// The cell of a design, and the part of it, in which a predicate is violated most often; the first of equals.
fn worst_cell(results: &Results, design: usize, predicate: Predicate) -> Option<Chosen> {
    let of_design = results.cells.iter().filter(|(cell, _)| results.place(**cell).0 == design);
    let violating = of_design.flat_map(|(_, it)| it.strata.values()).filter_map(|row| {
        let (cell, stratum, runs) = (row.cell, row.stratum, row.runs);
        let PredicateCount { violated, seeds, .. } = row.count(predicate);
        (violated > 0).then_some(Chosen { cell, stratum, seeds, predicate, runs, violated })
    });
    // Fractions are compared without division, so that equals are equal.
    violating.fold(None, |best: Option<Chosen>, one| match best {
        Some(best)
            if u128::from(one.violated) * u128::from(best.runs)
                <= u128::from(best.violated) * u128::from(one.runs) =>
        {
            Some(best)
        }
        _ => Some(one),
    })
}

fn make(
    folder: &Folder,
    (study, engine): (&Study, EngineChoice),
    results: &Results,
    chosen: &Chosen,
) -> Result<Example, CliError> {
    let target = Target::Violates(chosen.predicate);
    let (seed, scenario) = simplest((study, engine), chosen)?;
    // A design is shown as the study describes it.
    let effort = Effort { nodes: KeepNodes::All, ..Effort::default() };
    let found = counterexample(&engine.many(), &engine.one(), (&scenario, seed, target), &effort)?;
    let design = &results.header.designs[results.place(chosen.cell).0].name;
    let stem = format!("{}-{}", file_stem(design), chosen.predicate);
    let (plan, file) = (format!("{FOLDER}/{stem}.plan"), format!("{FOLDER}/{stem}.toml"));
    let text = scenario_file::text(&example_title(&found, design), &found.shrunk.scenario);
    let as_plan = Plan::from_report(&found.run.report)
        .to_toml()
        .map_err(|error| CliError::Format(error.to_string()))?;
    for (name, text) in [(&plan, &as_plan), (&file, &text)] {
        folder.create(WHAT, name)?.write(|output| output.write_all(text.as_bytes()))?.keep()?;
    }
    Ok(Example {
        cell: chosen.cell,
        predicate: chosen.predicate,
        seed: seed.0,
        design: design.clone(),
        headline: headline(&found),
        why: picture::account(&found.run).and_then(Account::cause),
        what_happened: picture::account(&found.run).and_then(Account::order),
        real: found.is_real,
        others: [found.shrunk.others.0, found.shrunk.others.1],
        size: Shrinkage { from: counts(&found.shrunk.before), to: counts(&found.shrunk.after) },
        sentences: sentences(&found),
        svg: draw_example((&found, engine), &stem)?,
        scenario: text,
        replay: shell::line(["doublehold", "replay", &plan]),
        run: scenario_file::command(&file, found.shrunk.seed, engine),
    })
}

/// The run with the fewest faults: it is made small sooner, and what is left is easier to follow.
fn simplest((study, engine): (&Study, EngineChoice), chosen: &Chosen) -> Result<(Seed, Scenario), CliError> {
    let run = |seed: &u64| {
        Ok((Seed(*seed), study.run_of(&engine.many(), CellId(chosen.cell), chosen.stratum, Seed(*seed))?))
    };
    let runs = chosen.seeds.iter().map(run).collect::<Result<Vec<_>, SweepError>>()?;
    let fewest = runs.into_iter().min_by_key(|(_, scenario)| scenario.faults.len());
    fewest.ok_or_else(|| CliError::Format("a violation without a seed".to_owned()))
}

fn example_title(found: &Counterexample, design: &str) -> String {
    let (same, of) = found.shrunk.others;
    clean(&format!(
        "{} in design `{design}`, found by `doublehold sweep` from seed {}, and shrunk",
        found.target, found.first
    )) + &format!("\n{same} of {of} other seeds do the same")
}

/// What has to happen, in a line.
fn headline(found: &Counterexample) -> String {
    let faults: Vec<String> = found.run.report.scenario.faults.iter().map(ToString::to_string).collect();
    clean(&if faults.is_empty() { "no fault is needed".to_owned() } else { list(&faults) })
}

fn sentences(found: &Counterexample) -> Vec<TimedSentence> {
    let sentence =
        |it: &picture::view::StoryLine| TimedSentence { at: instant(it.at), words: it.words.clone() };
    View::from_run(&found.run, None).story.iter().map(sentence).collect()
}

fn draw_example((found, engine): (&Counterexample, EngineChoice), stem: &str) -> Result<String, CliError> {
    let engine = if found.is_real { engine.one() } else { engine.many() };
    let prepared = engine.prepare(&found.shrunk.scenario)?;
    let (report, _, detail) = prepared.run_with_detail(found.shrunk.seed);
    let run = Explained { report, causes: found.run.causes.clone() };
    let id = stem.chars().filter(char::is_ascii_alphanumeric).collect();
    Ok(figure::svg(&View::from_run(&run, Some(detail)), &Options { width: Options::IN_REPORT, id }))
}

fn counts(size: &Size) -> BTreeMap<String, u64> {
    let Size { faults, clients, steps, nodes } = *size;
    let counts = [("faults", faults), ("clients", clients), ("steps", steps), ("nodes", nodes)];
    counts.into_iter().map(|(what, count)| (what.to_owned(), count as u64)).collect()
}

/// A design's name as a file's: letters, digits and hyphens.
fn file_stem(design: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let mut stem: String = design.chars().map(plain).collect();
    while stem.contains("--") {
        stem = stem.replace("--", "-");
    }
    stem.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits that were too long make no example, as the head of this file says.
    #[test]
    fn every_predicate_but_liveness_is_of_one_sort() {
        let mut sorts = [&SORTS.concat()[..], &[Predicate::LV]].concat();
        sorts.sort_unstable();
        assert_eq!(sorts, Predicate::ALL);
    }
}
