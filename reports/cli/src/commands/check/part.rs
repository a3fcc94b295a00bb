//! Parts of a search: which seeds a process runs where several share them out, and what tells that parts belong
//! together.
//!
//! A part is a row of seeds, so that it is a search like any other, and parts differ by one run at most. It makes all
//! of its runs: no part knows what another found.
//!
//! Decision: "A part of a search is a row of seeds, and its sum is the search with its runs made already"
//! (docs/decisions/search.md).

use clap::Args;
use doublehold::findings::SearchPart;
use doublehold_scenarios::{Prepared, PreparedSim, Scenario, Seed};
use doublehold_sim::parts::digest;
use doublehold_sweeps::sweep::Shard;
use doublehold_text::several;

use crate::commands::shared::parse_shard;
use crate::error::CliError;

/// As typed.
#[derive(Debug, Args)]
pub(super) struct PartOptions {
    /// Make only the runs of this part, such as 3/8, and all of them, as with --keep-going; --sum adds the parts up
    #[arg(long, value_name = "I/N", value_parser = parse_shard, requires = "runs", conflicts_with_all = ["sum", "lasting"])]
    pub(super) shard: Option<Shard>,
    /// Make no runs: add up the parts of this search, each printed by --shard with --format json
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "runs", conflicts_with = "lasting")]
    pub(super) sum: Vec<String>,
}

/// The runs of a search: so many from a seed on, or as many as there is time for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runs {
    pub(super) first: Seed,
    pub(super) count: Option<u64>,
}

impl Runs {
    /// The runs of a shard of a search that has so many.
    pub(super) fn of_shard(first: Seed, runs: u64, shard: Shard) -> Result<Runs, CliError> {
        let (number, of) = (shard.number(), shard.total());
        if of > runs {
            return Err(CliError::Usage {
                problem: format!(
                    "`--shard {number}/{of}` of {}: some parts would have none",
                    several(runs, "run")
                ),
                hint: format!("make at most {} of it, or more `--runs`", several(runs, "part")),
            });
        }
        let (share, more, before) = (runs / of, runs % of, number - 1);
        let first = Seed(first.0 + before * share + before.min(more));
        Ok(Runs { first, count: Some(share + u64::from(before < more)) })
    }
}

/// What all parts of a search have in common, and which of them this is.
pub(super) fn part(
    scenario: &Scenario,
    prepared: &PreparedSim,
    (first, runs): (Seed, u64),
    shard: Shard,
) -> SearchPart {
    // Whatever differs in the scenario or the program shows in one or the other.
    let run = prepared.judge(first).trace_hash;
    SearchPart {
        number: shard.number(),
        of: shard.total(),
        first,
        runs,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        digest: format!("{:016x}", digest(format!("{run}\n{}", scenario.to_toml()).as_bytes())),
    }
}

/// `3-of-8`, as in the names of its files.
pub(super) fn file_word(shard: Shard) -> String {
    format!("{}-of-{}", shard.number(), shard.total())
}

/// Tells whether a text ends in such a word after a dot.
pub(super) fn ends_in_file_word(text: &str) -> bool {
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    let word = text.rsplit_once('.').and_then(|(_, word)| word.split_once("-of-"));
    word.is_some_and(|(number, of)| is_number(number) && is_number(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_rows_of_seeds_that_differ_by_one_run_at_most() {
        for (runs, of) in [(1, 1), (10, 3), (12, 4), (100, 7), (9, 9), (1_000_000_000_000, 8)] {
            let mut next = 5;
            for number in 1..=of {
                let shard = Shard::new(number, of).expect("a shard");
                let Runs { first, count } = Runs::of_shard(Seed(5), runs, shard).expect("it has runs");
                let count = count.expect("a number");
                assert_eq!(first, Seed(next));
                assert!(count == runs / of || count == runs.div_ceil(of), "{count} of {runs} in {of}");
                next += count;
            }
            assert_eq!(next, 5 + runs, "{runs} in {of}");
        }
        assert!(Runs::of_shard(Seed(1), 2, Shard::new(1, 3).expect("a shard")).is_err());
    }

    #[test]
    fn a_file_of_a_part_is_told_from_a_name_that_looks_like_one() {
        assert!(ends_in_file_word(&format!("redlock.{}", file_word(Shard::new(3, 8).expect("a shard")))));
        assert!(!ends_in_file_word("wait-one-of-two") && !ends_in_file_word("a.b-of-c"));
    }
}
