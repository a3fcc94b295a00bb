//! The sum of a search's parts, from the JSON that each printed: what all runs together came to, as if one process had
//! made them. A file that is not a part of this search is refused, and so is a set with one missing.
//!
//! Assumes that parts were printed by this version of the program. A file that was changed by hand is noticed where its
//! numbers contradict each other.

use std::collections::BTreeMap;
use std::{fs, io};

use doublehold::findings::SearchPart;
use doublehold::nondeterminism::Nondeterminism;
use doublehold_history::Predicate;
use doublehold_scenarios::Seed;
use doublehold_scenarios::fault::Effect;
use doublehold_scenarios::report::StruckAt;
use doublehold_search::coverage::{Coverage, KindCoverage};
use doublehold_search::many::{Count, Tally};
use doublehold_sweeps::sweep::Shard;
use doublehold_text::{clean, group_digits, list, several, shorten};
use serde::Deserialize;
use serde_json::Value;

use super::part::Runs;
use super::search::Counted;
use crate::error::CliError;

/// More missing parts than these nobody reads.
const NAMED: usize = 8;
/// The way out where parts are not of one search.
const ONE_SEARCH: &str = "make the parts with this command, with `--shard I/N` instead of `--sum`";
/// The way out where one part is not as it should be.
const ANEW: &str = "make that part again";

/// The result of a part, as far as it is needed.
#[derive(Deserialize)]
struct PartFile {
    command: String,
    runs: u64,
    part: PartHead,
    grants: u64,
    refused: Option<Reason>,
    predicates: BTreeMap<Predicate, PartCount>,
    panicked: Option<Panicked>,
    coverage: Vec<KindLine>,
}

#[derive(Deserialize)]
struct PartHead {
    number: u64,
    of: u64,
    first_seed: SeedText,
    runs: u64,
    program: String,
    digest: String,
    nondeterminism: Option<Sign>,
}

#[derive(Deserialize)]
struct Sign {
    sign: String,
    seed: Option<SeedText>,
}

#[derive(Deserialize)]
struct Reason {
    first_seed: SeedText,
    why: String,
}

#[derive(Deserialize)]
struct PartCount {
    holds: u64,
    violated: u64,
    undecided: u64,
    first_violated: Option<SeedText>,
    first_undecided: Option<SeedText>,
    why_undecided: Option<String>,
    not_seen: u64,
    why_not_seen: Option<String>,
}

#[derive(Deserialize)]
struct Panicked {
    runs: u64,
    first_seed: SeedText,
}

#[derive(Deserialize)]
struct KindLine {
    kind: String,
    drawn: u64,
    struck: u64,
    at: BTreeMap<String, u64>,
}

/// A seed as JSON has it.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct SeedText(Seed);

impl TryFrom<String> for SeedText {
    type Error = String;

    fn try_from(text: String) -> Result<SeedText, String> {
        text.parse().map(SeedText).map_err(|_| format!("`{}` is not a seed", shorten(&text)))
    }
}

/// Adds up the parts in these files, which have to be all parts of the search of this command.
pub(super) fn sum(files: &[String], command: &str, whole: &SearchPart) -> Result<Counted, CliError> {
    let mut parts: BTreeMap<u64, (&str, PartFile)> = BTreeMap::new();
    let mut one: Option<(&str, u64)> = None;
    for file in files {
        let part = read(file)?;
        refuse_other_search(&part, (command, whole)).map_err(|cause| refused(file, &cause, ONE_SEARCH))?;
        refuse_unfinished(&part).map_err(|cause| refused(file, &cause, ANEW))?;
        let (number, of) = (part.part.number, part.part.of);
        let (first, of_first) = *one.get_or_insert((file, of));
        if of != of_first {
            let cause = format!("it is one of {of} parts, and `{}` is one of {of_first}", clean(first));
            return Err(refused(file, &cause, "name the parts of one division: leave the others out"));
        }
        if let Some((other, _)) = parts.insert(number, (file, part)) {
            let cause = format!("it is part {number} of {of}, and so is `{}`", clean(other));
            return Err(refused(file, &cause, "name each part once"));
        }
    }
    refuse_missing(&parts, one.map_or(0, |(_, of)| of))?;
    // So that no sum overflows.
    let most = u64::MAX / files.len().max(1) as u64;
    let mut counted = Counted::default();
    for (file, part) in parts.into_values() {
        let damaged = |cause: String| refused(file, &cause, ANEW);
        let (tally, sign) = part.into_counts(most).map_err(damaged)?;
        counted.tally.merge(tally);
        counted.nondeterminism = counted.nondeterminism.or(sign);
    }
    Ok(counted)
}

fn read(file: &str) -> Result<PartFile, CliError> {
    const HINT: &str = "name files that `check --shard I/N --format json` printed";
    let unread = |error: io::Error| refused(file, &format!("it cannot be read: {error}"), HINT);
    let unlike = |error: serde_json::Error| {
        refused(file, &format!("it is not a result of `check`: {}", shorten(&error.to_string())), HINT)
    };
    let value: Value = serde_json::from_str(&fs::read_to_string(file).map_err(unread)?).map_err(unlike)?;
    if value.get("check").is_some() && value.get("part").is_none_or(Value::is_null) {
        return Err(refused(file, "it is the result of a whole search, and of no part", HINT));
    }
    serde_json::from_value(value).map_err(unlike)
}

/// Refuses a part of another search than that of this command.
fn refuse_other_search(part: &PartFile, (command, whole): (&str, &SearchPart)) -> Result<(), String> {
    let PartHead { first_seed: SeedText(first), runs, program, digest, .. } = &part.part;
    let differs = |what: &str, here: &str, there: &str| {
        Err(format!("it is of another search: {what} `{}` in it, and `{there}` here", shorten(&clean(here))))
    };
    if part.command != command {
        return differs("the command is", &part.command, command);
    }
    if *program != whole.program {
        return differs("the program's version is", program, &whole.program);
    }
    let seeds = |first: Seed, runs: u64| format!("--seed {first} --runs {runs}");
    if (*first, *runs) != (whole.first, whole.runs) {
        return differs("the seeds are", &seeds(*first, *runs), &seeds(whole.first, whole.runs));
    }
    if *digest != whole.digest {
        return Err(
            "it is of another search: the same seeds give other runs, since the program or a file that the \
                    command names has changed"
                .to_owned(),
        );
    }
    Ok(())
}

/// Refuses a part that has not made all of its runs.
fn refuse_unfinished(part: &PartFile) -> Result<(), String> {
    let PartHead { number, of, runs, first_seed: SeedText(first), .. } = &part.part;
    let due = Shard::new(*number, *of).and_then(|shard| Runs::of_shard(*first, *runs, shard).ok());
    let due = due.and_then(|due| due.count).ok_or_else(|| format!("it is part {number} of {of}"))?;
    if part.runs == due {
        return Ok(());
    }
    Err(format!("it has {}, and part {number} of {of} has {}", several(part.runs, "run"), group_digits(due)))
}

fn refuse_missing(parts: &BTreeMap<u64, (&str, PartFile)>, of: u64) -> Result<(), CliError> {
    let missing: Vec<String> =
        (1..=of).filter(|number| !parts.contains_key(number)).take(NAMED).map(|it| it.to_string()).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let more = (of - parts.len() as u64).saturating_sub(missing.len() as u64);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let are = if missing.len() == 1 { "one is" } else { "some are" };
    Err(CliError::Usage {
        problem: format!("of {of} parts, {are} missing: {}{more}", list(&missing)),
        hint: format!("name them too; `--shard {first}/{of}` instead of `--sum` makes one"),
    })
}

fn refused(file: &str, cause: &str, hint: &str) -> CliError {
    CliError::Usage { problem: format!("cannot add up `{}`: {cause}", clean(file)), hint: hint.to_owned() }
}

impl PartFile {
    /// Its counts, if these are numbers that a search can have.
    fn into_counts(self, most: u64) -> Result<(Tally, Option<Nondeterminism>), String> {
        let runs = self.runs;
        let mut coverage = Coverage::default();
        for line in self.coverage {
            let (kind, count) = line.into_count(most)?;
            coverage.set(kind, count);
        }
        let mut counts = self.predicates;
        let mut predicates = BTreeMap::new();
        for predicate in Predicate::ALL {
            let count = counts.remove(&predicate).and_then(|count| count.into_count(runs));
            let count =
                count.ok_or_else(|| format!("its counts of {predicate} are not those of {runs} runs"))?;
            predicates.insert(predicate, count);
        }
        let sign = self.part.nondeterminism.map(Sign::into_sign).transpose()?;
        let is_impossible = self.panicked.as_ref().is_some_and(|it| it.runs == 0 || it.runs > runs);
        if is_impossible || self.grants > most {
            return Err(format!("its counts of grants and panics are not those of {runs} runs"));
        }
        let tally = Tally {
            runs,
            predicates,
            panicked: self.panicked.map(|Panicked { runs, first_seed: SeedText(first) }| (first, runs)),
            grants: self.grants,
            refused: self.refused.map(|Reason { first_seed: SeedText(first), why }| (first, why)),
            coverage,
        };
        Ok((tally, sign))
    }
}

impl Sign {
    fn into_sign(self) -> Result<Nondeterminism, String> {
        let Self { sign: word, seed } = self;
        let seed = seed.map(|SeedText(seed)| seed);
        Nondeterminism::from_word(&word, seed).ok_or_else(|| {
            let of = seed.map_or("no seed".to_owned(), |seed| format!("seed {seed}"));
            format!("`{}` of {of} is not a sign of nondeterminism", shorten(&clean(&word)))
        })
    }
}

impl PartCount {
    /// `None` if no such runs can be.
    fn into_count(self, runs: u64) -> Option<Count> {
        let all = self.holds.checked_add(self.violated)?.checked_add(self.undecided)?;
        let first = self.first_violated.map(|SeedText(first)| first);
        let unsaid = self.first_undecided.map(|SeedText(first)| first).zip(self.why_undecided);
        let not_seen = self.why_not_seen.map(|why| (self.not_seen, why));
        let is_told = first.is_some() == (self.violated > 0)
            && unsaid.is_some() == (self.undecided > 0)
            && not_seen.is_some() == (self.not_seen > 0);
        (all == runs && self.not_seen <= self.holds && is_told).then_some(Count {
            holds: self.holds,
            not_seen,
            violated: self.violated,
            inconclusive: self.undecided,
            first,
            unsaid,
        })
    }
}

impl KindLine {
    fn into_count(self, most: u64) -> Result<(&'static str, KindCoverage), String> {
        let Self { kind: word, drawn, struck, at } = self;
        let kind = Effect::kinds().into_iter().map(|kind| kind.word).find(|known| *known == word);
        let kind = kind.ok_or_else(|| format!("`{}` is not a kind of fault", shorten(&clean(&word))))?;
        let place = |(word, count): (String, u64)| Some((StruckAt::from_word(&word)?, count));
        let at: Option<BTreeMap<StruckAt, u64>> = at.into_iter().map(place).collect();
        let is_possible = |at: &BTreeMap<StruckAt, u64>| {
            let sum = at.values().try_fold(0_u64, |sum, count| sum.checked_add(*count));
            sum == Some(struck) && struck.max(drawn) <= most
        };
        let at =
            at.filter(is_possible).ok_or_else(|| format!("its counts of {kind} contradict each other"))?;
        Ok((kind, KindCoverage { drawn, struck, at }))
    }
}
