//! Merging shards: their batches, in the one order that all batches of a study have. So the result is the file that
//! one sweep without shards writes, byte for byte, whatever order the shards are named in.

use std::io::Write;
use std::path::Path;

use doublehold_history::words::list;
use doublehold_scenarios::sweep::{Batch, Order, StudyHeader};

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
        let (header, path) = (head.records.header(), head.records.path());
        if let Some(what) = header.difference(one.records.header()) {
            let cause =
                format!("they are not of the study of `{}`: {what} differs", shown(one.records.path()));
            return Err(RecordsError::refused(path, cause, "merge the shards of one study"));
        }
        let place =
            usize::try_from(header.shard[0]).ok().and_then(|number| seen.get_mut(number.checked_sub(1)?));
        match place {
            Some(place @ None) if header.shard[1] == of => *place = Some(path),
            Some(Some(other)) if header.shard[1] == of => {
                let cause = format!("they are the same shard as `{}`", shown(other));
                return Err(RecordsError::refused(path, cause, "name each shard once"));
            }
            _ => {
                let cause = format!(
                    "they are shard {} of {}, and others are of {of}",
                    header.shard[0], header.shard[1]
                );
                return Err(RecordsError::refused(path, cause, "merge shards of one number of shards"));
            }
        }
    }
    let missing: Vec<String> =
        (1..=of).zip(&seen).filter(|(_, it)| it.is_none()).map(|(it, _)| it.to_string()).collect();
    if !missing.is_empty() {
        let some: Vec<String> = missing.iter().take(8).cloned().collect();
        let cause = format!(
            "of {of} shards, {} missing: {}",
            if missing.len() == 1 { "one is" } else { "some are" },
            list(&some)
        );
        return Err(RecordsError::refused(
            one.records.path(),
            cause,
            "sweep these shards, and name them too",
        ));
    }
    Ok(StudyHeader { shard: [1, 1], ..one.records.header().clone() })
}
