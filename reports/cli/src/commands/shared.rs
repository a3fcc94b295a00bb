//! Options that several commands have, each written once: its name, its values, its help.
//!
//! A command in which one of them means something of its own changes its help alone (`mut_arg`). Options that have a
//! name in common and no meaning, such as `--out`, are each command's own.

use std::num::NonZeroUsize;

use clap::Args;
use doublehold_history::Predicate;
use doublehold_scenarios::Seed;
use doublehold_scenarios::pool::cores;
use doublehold_sweeps::sweep::Shard;
use doublehold_text::shorten;

use crate::error::CliError;

/// Options of every command that looks for violations in many runs.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What to look for, and what the exit status is about [default: all]
    #[arg(long, value_name = "P1,P2,…", value_delimiter = ',', value_parser = predicate)]
    pub(crate) predicate: Vec<Predicate>,
    #[command(flatten)]
    pub(crate) jobs: Jobs,
    /// The seed of every run
    #[arg(long, value_name = "N", default_value_t = Seed(1))]
    pub(crate) seed: Seed,
    #[command(flatten)]
    pub(crate) changes: Changes,
}

impl Search {
    /// The options that say what is searched, and for what, as they are typed.
    pub(crate) fn question(&self) -> Vec<String> {
        let names: Vec<&str> = self.predicate.iter().map(|predicate| predicate.as_str()).collect();
        let predicates = (!names.is_empty()).then(|| ["--predicate".to_owned(), names.join(",")]);
        let changes = self.changes.options().map(str::to_owned);
        changes.chain(predicates.into_iter().flatten()).collect()
    }
}

/// The option of every command that runs on several threads.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Jobs {
    /// How many threads [default: as many as there are cores]
    // As many as two bytes count: more than a system lets a process have, and few enough to ask for.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
}

impl Jobs {
    /// The number that was typed, or that of the cores.
    pub(crate) fn count(self) -> NonZeroUsize {
        self.jobs.and_then(|jobs| NonZeroUsize::new(jobs.into())).unwrap_or_else(cores)
    }

    /// The number that was typed.
    pub(crate) fn number(self) -> Option<u16> {
        self.jobs
    }
}

/// The option of every command that changes a scenario.
#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// Change the scenario, such as `lock.elapsed_check=false`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl Changes {
    /// The keys and their values.
    pub(crate) fn pairs(&self) -> Result<Vec<(String, String)>, CliError> {
        self.set.iter().map(|typed| change(typed)).collect()
    }

    /// The options as they are typed.
    pub(crate) fn options(&self) -> impl Iterator<Item = &str> {
        self.set.iter().flat_map(|set| ["--set", set])
    }
}

/// A change to a scenario, `key=value`, in its two parts.
fn change(typed: &str) -> Result<(String, String), CliError> {
    match typed.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err(CliError::Usage {
            problem: format!("`--set {}` is no change to a scenario", shorten(typed)),
            hint: "write a key, `=` and a value, such as `--set lock.ttl=5s`".to_owned(),
        }),
    }
}

/// A predicate by its name, in letters of either size.
pub(crate) fn predicate(typed: &str) -> Result<Predicate, String> {
    let names = Predicate::ALL.map(Predicate::as_str);
    typed.trim().parse().map_err(|_| format!("the predicates are {}", names.join(", ")))
}

/// A part of a sweep or of a search: `3/8`.
pub(crate) fn parse_shard(typed: &str) -> Result<Shard, String> {
    let numbers =
        typed.split_once('/').and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
    numbers
        .and_then(|(number, of)| Shard::new(number, of))
        .ok_or_else(|| "a part is written `3/8`: the third of eight, counted from 1".to_owned())
}
