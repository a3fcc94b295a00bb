//! Writing records: a sweep's own file, begun or gone on with.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::difference::difference;
use super::{Records, RecordsError};
use crate::sweep::{Batch, HandOut, Order, StudyHeader, Unit};

/// The file that a sweep adds batches to.
pub struct Journal {
    path: PathBuf,
    file: File,
}

/// What a sweep finds when it begins.
pub struct Begun {
    /// How many runs are in the file.
    pub runs: u64,
    /// Whether a torn line was dropped.
    pub is_torn: bool,
}

impl Journal {
    /// Opens a sweep's file: begins it, or goes on with it. What is in it is taken out of `order`.
    ///
    /// # Errors
    ///
    /// If the file cannot be used, is of another study, or is being written by somebody else.
    pub fn open(
        path: &Path,
        header: &StudyHeader,
        order: &mut Order,
    ) -> Result<(Journal, Begun), RecordsError> {
        let failed = |source| RecordsError::io("write", path, source);
        if path.exists() && !path.is_file() {
            return Err(failed(io::Error::other("it is no file")));
        }
        // Going on writes where the link leads, which whoever sent the folder chose; in a file of its own it would
        // begin anew.
        if path.is_symlink() {
            let hint = "put the file itself there, or sweep into another folder with `--out DIR`";
            return Err(RecordsError::unusable(path, "they are a link to another file", hint));
        }
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).open(path).map_err(failed)?;
        lock(path, &file)?;
        let mut journal = Journal { path: path.to_owned(), file };
        let (whole, begun) = match Records::open(path)? {
            Some(records) => journal.go_on(records, header, order)?,
            None => (0, Begun { runs: 0, is_torn: journal.file.metadata().map_err(failed)?.len() > 0 }),
        };
        journal.file.set_len(whole).and_then(|()| journal.file.seek(SeekFrom::End(0))).map_err(failed)?;
        if whole == 0 {
            journal.add(header)?;
        }
        Ok((journal, begun))
    }

    /// Reads what is there, and how much of it is whole.
    fn go_on(
        &self,
        mut records: Records,
        header: &StudyHeader,
        order: &mut Order,
    ) -> Result<(u64, Begun), RecordsError> {
        if let Some(difference) = difference(records.header(), (header, "this sweep")) {
            let hint = "sweep into another folder with `--out DIR`, or remove this one";
            let cause = format!("they are of another sweep: {}", difference.cause);
            return Err(RecordsError::unusable(&self.path, cause, hint));
        }
        if records.header().partial.is_some() {
            let hint = "merge them again once all shards are finished, or sweep into another folder";
            return Err(RecordsError::unusable(
                &self.path,
                "they are a part of a study, merged with `--partial`",
                hint,
            ));
        }
        let mut runs = 0;
        while let Some(batch) = records.next_batch()? {
            match order.hand_out() {
                HandOut::Run(unit) if is_batch_of(unit, &batch) => order.add_batch(&batch),
                _ => return Err(self.misplaced_error(&batch)),
            }
            runs += batch.runs;
        }
        Ok((records.bytes_read(), Begun { runs, is_torn: records.is_torn() }))
    }

    /// The error for a batch that is out of its turn.
    fn misplaced_error(&self, batch: &Batch) -> RecordsError {
        let (number, cell) = (batch.batch, batch.cell);
        let cause = format!("the batch {number} of cell {cell} is not where it belongs in this sweep");
        RecordsError::unusable(&self.path, cause, "sweep into another folder with `--out DIR`")
    }

    /// Adds a batch.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn add(&mut self, line: &impl Serialize) -> Result<(), RecordsError> {
        let failed = |source| RecordsError::io("write", &self.path, source);
        let mut text = serde_json::to_vec(line).map_err(|error| failed(io::Error::other(error)))?;
        text.push(b'\n');
        self.file.write_all(&text).map_err(failed)
    }
}

fn is_batch_of(unit: Unit, batch: &Batch) -> bool {
    let is_whole = batch.runs == unit.runs || batch.weight == Some(0.0);
    is_whole && (unit.cell.0, unit.stratum, unit.batch) == (batch.cell, batch.stratum, batch.batch)
}

fn lock(path: &Path, file: &File) -> Result<(), RecordsError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(RecordsError::unusable(
            path,
            "another sweep is writing them",
            "wait for it, or sweep into another folder with `--out DIR`",
        )),
        // Some network file systems have no locks: then nobody is warned.
        Err(TryLockError::Error(_)) => Ok(()),
    }
}
