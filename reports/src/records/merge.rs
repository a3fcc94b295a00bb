//! Merging shards: their batches, in the one order that all batches of a study have. So the result is the file that
//! one sweep without shards writes, byte for byte, whatever order the shards are named in.

use std::io::Write;
use std::path::Path;

use doublehold_history::words::list;
use doublehold_scenarios::sweep::{Batch, Order, StudyHeader};

use super::difference::{Difference, difference};
use super::{Records, RecordsError, shown};

/// A shard that is being read, with its next batch.
struct Head {
    records: Records,
    next: Option<Batch>,
}

/// Merges files of records and writes the result. Returns its header, and which of the files ended in a torn line.
///
/// # Errors
///
/// If a file cannot be read, two are of different studies, of the same shard, or a shard is missing.
pub fn merge(
    files: &[std::path::PathBuf],
    output: &mut dyn Write,
) -> Result<(StudyHeader, Vec<String>), RecordsError> {
    let mut heads = Vec::new();
    for path in files {
        let Some(mut records) = Records::open(path)? else {
            return Err(RecordsError::refused(path, "it has no header", "sweep that shard again"));
        };
        let next = records.next_batch()?;
        heads.push(Head { records, next });
    }
    let header = whole(&heads)?;
    let failed = |source| RecordsError::io("write", Path::new("runs.jsonl"), source);
    let line = serde_json::to_vec(&header).map_err(|error| failed(std::io::Error::other(error)))?;
    output.write_all(&line).and_then(|()| output.write_all(b"\n")).map_err(failed)?;
    while let Some(first) = first(&header, &heads) {
        let head = &mut heads[first];
        // As it was written: reading and writing a number again may change its last digit.
        output.write_all(head.records.line()).map_err(failed)?;
        head.next = head.records.next_batch()?;
    }
    let torn =
        heads.iter().filter(|head| head.records.is_torn()).map(|head| shown(head.records.path())).collect();
    Ok((header, torn))
}

/// The shard whose next batch comes first.
fn first(header: &StudyHeader, heads: &[Head]) -> Option<usize> {
    let place = |head: &Head| head.next.as_ref().map(|batch| Order::place_of(header, batch));
    let places = heads.iter().enumerate().filter_map(|(head, it)| Some((place(it)?, head)));
    places.min().map(|(_, head)| head)
}

/// The header of the whole, if these are all its shards.
fn whole(heads: &[Head]) -> Result<StudyHeader, RecordsError> {
    let Some(one) = heads.first() else {
        return Err(RecordsError::refused(
            Path::new("."),
            "no records are named",
            "name the shards' folders",
        ));
    };
    let of = one.records.header().shard[1];
    let mut seen: Vec<Option<&Path>> = vec![None; usize::try_from(of).unwrap_or_default()];
    for head in heads {
        refuse_whole(head, heads.len())?;
        refuse_other_study(head, one)?;
        let ([number, parts], path) = (head.records.header().shard, head.records.path());
        let place = usize::try_from(number).ok().and_then(|number| seen.get_mut(number.checked_sub(1)?));
        match place.filter(|_| parts == of) {
            Some(place @ None) => *place = Some(path),
            Some(Some(other)) if *other == path => {
                return Err(RecordsError::refused(path, "it is named twice", "name each file once"));
            }
            Some(Some(other)) => {
                let cause = format!("they are shard {number} of {of}, and so is `{}`", shown(other));
                return Err(RecordsError::refused(
                    path,
                    cause,
                    "name each shard once: leave one of them out",
                ));
            }
            None => {
                let first = shown(one.records.path());
                let cause = format!("they are shard {number} of {parts}, and `{first}` is one of {of}");
                let hint = "merge shards of one number of shards: leave the others out";
                return Err(RecordsError::refused(path, cause, hint));
            }
        }
    }
    refuse_missing(&seen, one.records.path())?;
    Ok(StudyHeader { shard: [1, 1], ..one.records.header().clone() })
}

/// Records of a whole study cannot be merged with any others.
fn refuse_whole(head: &Head, count: usize) -> Result<(), RecordsError> {
    if count == 1 || head.records.header().shard[1] != 1 {
        return Ok(());
    }
    let hint = "leave the file out; `doublehold report DIR DIR` makes one page of several sweeps";
    Err(RecordsError::refused(head.records.path(), "they are of a whole study, and of no shard", hint))
}

fn refuse_other_study(head: &Head, one: &Head) -> Result<(), RecordsError> {
    let first = format!("`{}`", shown(one.records.path()));
    match difference(head.records.header(), (one.records.header(), &first)) {
        None => Ok(()),
        Some(Difference { cause, hint }) => {
            let cause = format!("they and {first} are not of one study: {cause}");
            Err(RecordsError::refused(
                head.records.path(),
                cause,
                format!("{hint}; or leave one of them out"),
            ))
        }
    }
}

fn refuse_missing(seen: &[Option<&Path>], one: &Path) -> Result<(), RecordsError> {
    let missing: Vec<String> = (1..)
        .zip(seen)
        .filter(|(_, it)| it.is_none())
        .map(|(number, _): (u64, _)| number.to_string())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let some: Vec<String> = missing.iter().take(8).cloned().collect();
    let are = if missing.len() == 1 { "one is" } else { "some are" };
    let cause = format!("of {} shards, {are} missing: {}", seen.len(), list(&some));
    let hint = format!("name them too; `--shard {}/{}` makes one that was not swept", some[0], seen.len());
    Err(RecordsError::refused(one, cause, hint))
}
