//! Reading records, a line at a time: a sweep of ten million runs has some hundred megabytes of them. Records that no
//! sweep writes are refused here, whoever reads (see `validate`).
//!
//! Decision: "The reader checks records, once for everybody who reads them" (docs/decisions/sweeps.md).

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use doublehold_text::shorten;
use serde::Deserialize;

use super::RecordsError;
use super::opening;
use super::validate::{InvalidRecords, RecordsChecker};
use crate::sweep::{Batch, FIRST_FORMAT, FORMAT, StudyHeader};

/// A file of records, being read.
pub struct Records {
    path: PathBuf,
    reader: BufReader<File>,
    header: StudyHeader,
    checker: RecordsChecker,
    line: Vec<u8>,
    /// How many lines were read.
    lines: u64,
    /// How many bytes of the file are whole lines that were read.
    whole: u64,
    /// Whether a torn line was met.
    torn: bool,
}

/// What of a header is the same in all versions.
#[derive(Deserialize)]
struct Version {
    sweep: u32,
    program: String,
}

impl Records {
    /// Opens a file and reads its header; `None` if not even that is whole.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is no such file, or is of another version.
    pub fn open(path: &Path) -> Result<Option<Records>, RecordsError> {
        let file =
            opening::open_for_reading(path).map_err(|source| RecordsError::io("read", path, source))?;
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        read_line(&mut reader, &mut line).map_err(|source| RecordsError::io("read", path, source))?;
        if line.last() != Some(&b'\n') {
            return Ok(None);
        }
        let header = header(path, &line)?;
        let checker = RecordsChecker::new(&header).map_err(|unsound| line_error(path, 1, unsound))?;
        let (path, whole) = (path.to_owned(), line.len() as u64);
        Ok(Some(Records { path, reader, header, checker, line, lines: 1, whole, torn: false }))
    }

    /// The study.
    pub fn header(&self) -> &StudyHeader {
        &self.header
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes of the file were read, up to the end of a whole line.
    pub fn bytes_read(&self) -> u64 {
        self.whole
    }

    /// Whether the file ends in the middle of a line, which was left out.
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    /// The line of the last batch, with its end.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// How many lines were read: the number of the last one.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// The next batch; `None` at the end.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, a line before the last is not a batch, or a batch is not one that a sweep writes.
    pub fn next_batch(&mut self) -> Result<Option<Batch>, RecordsError> {
        let batch = self.next_line()?;
        let sound = match &batch {
            Some(batch) => self.checker.next(batch),
            None => self.checker.end(),
        };
        match sound {
            Ok(()) => Ok(batch),
            Err(unsound) => Err(line_error(&self.path, self.lines, unsound)),
        }
    }

    fn next_line(&mut self) -> Result<Option<Batch>, RecordsError> {
        let failed = |source| RecordsError::io("read", &self.path, source);
        self.line.clear();
        read_line(&mut self.reader, &mut self.line).map_err(failed)?;
        if self.line.is_empty() {
            return Ok(None);
        }
        if self.line.last() != Some(&b'\n') {
            self.torn = true;
            return Ok(None);
        }
        self.lines += 1;
        match serde_json::from_slice(&self.line) {
            Ok(batch) => {
                self.whole += self.line.len() as u64;
                Ok(Some(batch))
            }
            // A machine that lost its power may have written the end of a line before its beginning.
            Err(_) if self.reader.fill_buf().map_err(failed)?.is_empty() => {
                self.torn = true;
                Ok(None)
            }
            Err(error) => Err(RecordsError::unusable(
                &self.path,
                format!("line {} is no batch: {}", self.lines, shorten(&error.to_string())),
                "the file was changed: cut it off before that line and sweep again, or begin anew in another folder",
            )),
        }
    }
}

/// The error for unsound records, with the number of their line.
pub(super) fn line_error(
    path: &Path,
    line: u64,
    InvalidRecords { cause, hint }: InvalidRecords,
) -> RecordsError {
    RecordsError::unusable(path, format!("line {line}: {cause}"), hint)
}

fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<()> {
    reader.read_until(b'\n', line).map(|_| ())
}

fn header(path: &Path, line: &[u8]) -> Result<StudyHeader, RecordsError> {
    let version: Version = serde_json::from_slice(line).map_err(|_| {
        let hint = "name a folder that `doublehold sweep` wrote to";
        RecordsError::unusable(path, "its first line is not the header of a sweep", hint)
    })?;
    if !(FIRST_FORMAT..=FORMAT).contains(&version.sweep) {
        let cause = format!(
            "it was written by doublehold {} as format {} of records, and this program reads formats {FIRST_FORMAT} to {FORMAT}",
            shorten(&version.program),
            version.sweep
        );
        return Err(RecordsError::unusable(
            path,
            cause,
            "use that version, or sweep again into another folder",
        ));
    }
    serde_json::from_slice(line).map_err(|error| {
        let cause = format!("its header is damaged: {}", shorten(&error.to_string()));
        RecordsError::unusable(path, cause, "sweep again into another folder")
    })
}
