//! The records of a sweep, `runs.jsonl`: a header that says what the study is, and a line for each batch.
//!
//! Lines are only ever added, each with one write. A program that is killed leaves at most a torn last line, which is
//! dropped by whoever reads the file next. A file that is being written is locked, so that two sweeps do not write to
//! it at once; whoever only reads does not care.

mod difference;
mod examples;
mod header_check;
mod merge;
pub mod opening;
mod read;
mod validate;
mod write;

use std::io;
use std::path::{Path, PathBuf};

use doublehold_text::{clean, list};
pub use examples::{EXAMPLES, Example, Shrinkage, TimedSentence, examples_in};
pub use merge::{Merged, merge};
pub use read::Records;
use thiserror::Error;
pub use validate::is_precise;
pub use write::{Begun, Journal};

use crate::sweep::{PartialHeader, Shard};

/// Why records cannot be used.
#[derive(Debug, Error)]
pub enum RecordsError {
    /// The file cannot be read or written.
    #[error("cannot {what} the records `{file}`: {source}\nhint: {hint}")]
    Io {
        /// Read, write.
        what: &'static str,
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
        /// The way out.
        hint: &'static str,
    },
    /// What is in the file cannot be used.
    #[error("cannot use the records `{file}`: {cause}\nhint: {hint}")]
    Refused {
        /// The file.
        file: String,
        /// Why.
        cause: String,
        /// The way out.
        hint: String,
    },
}

impl RecordsError {
    fn io(what: &'static str, file: &Path, source: io::Error) -> RecordsError {
        let hint = match what {
            "read" => "name a folder that `doublehold sweep` wrote to",
            _ => "name a folder that you may write to",
        };
        RecordsError::Io { what, file: display_path(file), source, hint }
    }

    pub(crate) fn unusable(file: &Path, cause: impl Into<String>, hint: impl Into<String>) -> RecordsError {
        RecordsError::Refused { file: display_path(file), cause: cause.into(), hint: hint.into() }
    }
}

fn display_path(file: &Path) -> String {
    clean(&file.to_string_lossy())
}

/// Of which shards records are, in words: `shards 1 and 3 of 4`.
pub fn shards(partial: &PartialHeader) -> String {
    /// More numbers than these nobody reads.
    const NAMED: usize = 8;
    let PartialHeader { shards, of } = partial;
    let numbers: Vec<String> = shards.iter().take(NAMED).map(u64::to_string).collect();
    match shards.len() {
        1 => format!("shard {} of {of}", numbers[0]),
        more if more > NAMED => format!("{more} of {of} shards"),
        _ => format!("shards {} of {of}", list(&numbers)),
    }
}

/// The name of a shard's records: `runs.jsonl`, or `runs.3-of-8.jsonl`.
pub fn file_name(shard: Shard) -> String {
    if shard == Shard::WHOLE {
        "runs.jsonl".to_owned()
    } else {
        format!("runs.{}-of-{}.jsonl", shard.number(), shard.total())
    }
}

/// The records in a folder: all files with such a name, in the order of their names. A file stands for itself.
///
/// # Errors
///
/// If it is neither, or cannot be listed.
pub fn files_in(place: &Path) -> Result<Vec<PathBuf>, RecordsError> {
    if place.is_file() {
        return Ok(vec![place.to_owned()]);
    }
    let failed = |source| RecordsError::io("read", place, source);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(place).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let text = name.to_string_lossy();
        if text.starts_with("runs.") && text.ends_with("jsonl") {
            files.push(place.join(&name));
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(RecordsError::unusable(
            place,
            "it has no `runs.jsonl`",
            "name a folder that `doublehold sweep` wrote to",
        ));
    }
    Ok(files)
}
