//! Merging shards: their batches, in the one order that all batches of a study have. So the result is the file that
//! one sweep without shards writes, byte for byte, whatever order the shards are named in.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use doublehold_text::list;

use super::difference::{Difference, difference};
use super::validate::RecordsChecker;
use super::{Records, RecordsError, display_path};
use crate::sweep::{Batch, Order, PartialHeader, StudyHeader};

/// A shard that is being read, with its next batch.
struct Head {
    records: Records,
    next: Option<Batch>,
}

/// The result of a merge.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The header of the result.
    pub header: StudyHeader,
    /// The files that ended in a torn line.
    pub torn: Vec<String>,
}

/// Merges files of records and writes the result. Shards may be missing, or not be finished, if `is_partial`: then the
/// result says so.
///
/// # Errors
///
/// If a file cannot be read or has what no sweep writes, two are of different studies or of the same shard, a batch is
/// in two of them, or something is missing.
pub fn merge(
    files: &[std::path::PathBuf],
    is_partial: bool,
    output: &mut dyn Write,
) -> Result<Merged, RecordsError> {
    let mut heads = Vec::new();
    for path in files {
        let Some(mut records) = Records::open(path)? else {
            return Err(RecordsError::unusable(path, "it has no header", "sweep that shard again"));
        };
        let next = records.next_batch()?;
        heads.push(Head { records, next });
    }
    let header = combined_header(&heads, is_partial)?;
    let failed = |source| RecordsError::io("write", Path::new("runs.jsonl"), source);
    let line = serde_json::to_vec(&header).map_err(|error| failed(std::io::Error::other(error)))?;
    output.write_all(&line).and_then(|()| output.write_all(b"\n")).map_err(failed)?;
    let mut checker =
        RecordsChecker::new(&header).map_err(|unsound| heads[0].records.error_at_line(unsound))?;
    let mut last: Option<(u64, usize)> = None;
    while let Some((place, first)) = first(&header, &heads) {
        if let Some((_, other)) = last.filter(|(before, _)| *before == place) {
            return Err(duplicate_error(&heads[first], &heads[other]));
        }
        let head = &mut heads[first];
        if let Some(batch) = &head.next {
            checker.next(batch).map_err(|unsound| head.records.error_at_line(unsound))?;
        }
        // As it was written: reading and writing a number again may change its last digit.
        output.write_all(head.records.line()).map_err(failed)?;
        head.next = head.records.next_batch()?;
        last = Some((place, first));
    }
    checker.end().map_err(|unsound| heads[0].records.error_at_line(unsound))?;
    let torn = heads
        .iter()
        .filter(|head| head.records.is_torn())
        .map(|head| display_path(head.records.path()))
        .collect();
    Ok(Merged { header, torn })
}

/// The place of the batch that comes first, and the shard whose it is.
fn first(header: &StudyHeader, heads: &[Head]) -> Option<(u64, usize)> {
    let place = |head: &Head| head.next.as_ref().map(|batch| Order::place_of(header, batch));
    heads.iter().enumerate().filter_map(|(head, it)| Some((place(it)?, head))).min()
}

fn duplicate_error(head: &Head, other: &Head) -> RecordsError {
    let (number, cell) = head.next.as_ref().map_or((0, 0), |batch| (batch.batch, batch.cell));
    let cause =
        format!("the batch {number} of cell {cell} is in it and in `{}`", display_path(other.records.path()));
    RecordsError::unusable(head.records.path(), cause, "a file was changed: sweep both shards again")
}

/// The header of the whole, if these are all its shards, or of a part of it.
fn combined_header(heads: &[Head], is_partial: bool) -> Result<StudyHeader, RecordsError> {
    let Some(one) = heads.first() else {
        return Err(RecordsError::unusable(
            Path::new("."),
            "no records are named",
            "name the shards' folders",
        ));
    };
    let of = one.records.header().shard[1];
    let mut seen: BTreeMap<u64, &Path> = BTreeMap::new();
    for head in heads {
        refuse_whole(head, heads.len())?;
        refuse_other_study(head, one)?;
        refuse_other_division(head, one)?;
        let (number, path) = (head.records.header().shard[0], head.records.path());
        if let Some(other) = seen.insert(number, path) {
            return Err(same_shard(path, other, (number, of)));
        }
    }
    let mut header = StudyHeader { shard: [1, 1], ..one.records.header().clone() };
    if is_partial && header.partial.is_none() {
        header.partial = Some(PartialHeader { shards: seen.into_keys().collect(), of });
    } else if !is_partial {
        refuse_missing(&seen, of, one.records.path())?;
    }
    Ok(header)
}

fn same_shard(path: &Path, other: &Path, (number, of): (u64, u64)) -> RecordsError {
    if path == other {
        return RecordsError::unusable(path, "it is named twice", "name each file once");
    }
    let cause = format!("they are shard {number} of {of}, and so is `{}`", display_path(other));
    RecordsError::unusable(path, cause, "name each shard once: leave one of them out")
}

fn refuse_other_division(head: &Head, one: &Head) -> Result<(), RecordsError> {
    let ([number, parts], [_, of]) = (head.records.header().shard, one.records.header().shard);
    if parts == of {
        return Ok(());
    }
    let first = display_path(one.records.path());
    let cause = format!("they are shard {number} of {parts}, and `{first}` is one of {of}");
    let hint = "merge shards of one number of shards: leave the others out";
    Err(RecordsError::unusable(head.records.path(), cause, hint))
}

/// Records of a whole study cannot be merged with any others.
fn refuse_whole(head: &Head, count: usize) -> Result<(), RecordsError> {
    if count == 1 || head.records.header().shard[1] != 1 {
        return Ok(());
    }
    let hint = "leave the file out; `doublehold report DIR DIR` makes one page of several sweeps";
    Err(RecordsError::unusable(head.records.path(), "they are of a whole study, and of no shard", hint))
}

fn refuse_other_study(head: &Head, one: &Head) -> Result<(), RecordsError> {
    let first = format!("`{}`", display_path(one.records.path()));
    match difference(head.records.header(), (one.records.header(), &first)) {
        None => Ok(()),
        Some(Difference { cause, hint }) => {
            let cause = format!("they and {first} are not of one study: {cause}");
            Err(RecordsError::unusable(
                head.records.path(),
                cause,
                format!("{hint}; or leave one of them out"),
            ))
        }
    }
}

/// There may be more shards than a machine could count one by one in a list.
fn refuse_missing(seen: &BTreeMap<u64, &Path>, of: u64, one: &Path) -> Result<(), RecordsError> {
    const NAMED: usize = 8;
    let some: Vec<String> =
        (1..=of).filter(|number| !seen.contains_key(number)).take(NAMED).map(|it| it.to_string()).collect();
    let Some(first) = some.first() else { return Ok(()) };
    let missing = of - seen.len() as u64;
    let are = if missing == 1 { "one is" } else { "some are" };
    let more = missing.saturating_sub(NAMED as u64);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let cause = format!("of {of} shards, {are} missing: {}{more}", list(&some));
    let hint = format!(
        "name them too; `--shard {first}/{of}` makes one that was not swept, and `--partial` takes what there is"
    );
    Err(RecordsError::unusable(one, cause, hint))
}
