//! Merging shards: their batches, in the one order that all batches of a study have. So the result is the file that
//! one sweep without shards writes, byte for byte, whatever order the shards are named in.
//!
//! Shards are read one after another: first their headers, then their batches, of which only the places are kept. Then
//! each line is copied from its place. So one shard is open at a time, however many there are, and memory grows by 32
//! bytes for each batch, which has some 4 kB of records. A line is checked again when it is copied: somebody may change
//! a shard meanwhile.
//!
//! Decision: "A merge opens one shard at a time" (docs/decisions/sweeps.md).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use doublehold_text::list;

use super::difference::{Difference, difference};
use super::opening::open_for_reading;
use super::read::line_error;
use super::validate::RecordsChecker;
use super::{Records, RecordsError, display_path};
use crate::sweep::{Batch, Order, PartialHeader, StudyHeader};

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
pub fn merge(files: &[PathBuf], is_partial: bool, output: &mut dyn Write) -> Result<Merged, RecordsError> {
    let header = combined_header(files, is_partial)?;
    let Index { lines, torn } = Index::new(files, &header)?;
    let failed = |source| RecordsError::io("write", Path::new("runs.jsonl"), source);
    let line = serde_json::to_vec(&header).map_err(|error| failed(io::Error::other(error)))?;
    output.write_all(&line).and_then(|()| output.write_all(b"\n")).map_err(failed)?;
    let mut checker = RecordsChecker::new(&header).map_err(|unsound| line_error(&files[0], 1, unsound))?;
    let mut reader = LineReader { files, open: None, line: Vec::new() };
    for line in &lines {
        let batch = reader.read(line, &header)?;
        checker.next(&batch).map_err(|unsound| line_error(&files[line.shard], line.number, unsound))?;
        // As it was written: reading and writing a number again may change its last digit.
        output.write_all(&reader.line).map_err(failed)?;
    }
    checker.end().map_err(|unsound| RecordsError::unusable(&files[0], unsound.cause, unsound.hint))?;
    Ok(Merged { header, torn })
}

/// The line of a batch.
struct Line {
    /// The batch's place in the order of its study.
    place: u64,
    /// The index of the file.
    shard: usize,
    /// The line's number in it, from 1.
    number: u64,
    /// The number of bytes before it.
    offset: u64,
}

/// The lines of all batches, in the order of their study.
struct Index {
    lines: Vec<Line>,
    /// The files that ended in a torn line.
    torn: Vec<String>,
}

impl Index {
    fn new(files: &[PathBuf], header: &StudyHeader) -> Result<Index, RecordsError> {
        let mut index = Index { lines: Vec::new(), torn: Vec::new() };
        for (shard, path) in files.iter().enumerate() {
            let mut records = open(path)?;
            while let Some(batch) = records.next_batch()? {
                let (place, number) = (Order::place_of(header, &batch), records.lines());
                let offset = records.bytes_read() - records.line().len() as u64;
                index.lines.push(Line { place, shard, number, offset });
            }
            if records.is_torn() {
                index.torn.push(display_path(path));
            }
        }
        index.lines.sort_unstable_by_key(|line| (line.place, line.shard));
        let twice = index.lines.windows(2).find(|pair| pair[0].place == pair[1].place);
        match twice {
            Some([other, line]) => Err(duplicate_error(files, line, other, header)),
            _ => Ok(index),
        }
    }
}

/// Reads lines wherever they are, with one file open at a time.
struct LineReader<'a> {
    files: &'a [PathBuf],
    open: Option<(usize, BufReader<File>)>,
    /// The line that was read last, with its end.
    line: Vec<u8>,
}

impl LineReader<'_> {
    fn read(&mut self, line: &Line, header: &StudyHeader) -> Result<Batch, RecordsError> {
        let path = &self.files[line.shard];
        self.read_bytes(line).map_err(|source| RecordsError::io("read", path, source))?;
        let batch: Option<Batch> = serde_json::from_slice(&self.line).ok();
        batch.filter(|batch| Order::place_of(header, batch) == line.place).ok_or_else(|| {
            let cause = format!("line {}: it was changed while it was merged", line.number);
            RecordsError::unusable(path, cause, "merge when nobody writes to the shards")
        })
    }

    fn read_bytes(&mut self, line: &Line) -> io::Result<()> {
        if self.open.as_ref().is_none_or(|(shard, _)| *shard != line.shard) {
            self.open = None;
        }
        let (_, reader) = match &mut self.open {
            Some(open) => open,
            none => none.insert((line.shard, BufReader::new(open_for_reading(&self.files[line.shard])?))),
        };
        reader.seek(SeekFrom::Start(line.offset))?;
        self.line.clear();
        reader.read_until(b'\n', &mut self.line).map(|_| ())
    }
}

fn open(path: &Path) -> Result<Records, RecordsError> {
    let no_header = || RecordsError::unusable(path, "it has no header", "sweep that shard again");
    Records::open(path)?.ok_or_else(no_header)
}

fn duplicate_error(files: &[PathBuf], line: &Line, other: &Line, header: &StudyHeader) -> RecordsError {
    let batch = LineReader { files, open: None, line: Vec::new() }.read(line, header);
    let Batch { batch: number, cell, .. } = match batch {
        Ok(batch) => batch,
        Err(error) => return error,
    };
    let (path, other) = (&files[line.shard], display_path(&files[other.shard]));
    let cause = format!("the batch {number} of cell {cell} is in it and in `{other}`");
    RecordsError::unusable(path, cause, "a file was changed: sweep both shards again")
}

/// A shard's header, and its file.
struct Head<'a> {
    path: &'a Path,
    header: StudyHeader,
}

/// The header of the whole, if these are all its shards, or of a part of it.
fn combined_header(files: &[PathBuf], is_partial: bool) -> Result<StudyHeader, RecordsError> {
    let read = |path: &'_ PathBuf| open(path).map(|records| records.header().clone());
    let Some(path) = files.first() else {
        return Err(RecordsError::unusable(
            Path::new("."),
            "no records are named",
            "name the shards' folders",
        ));
    };
    let one = Head { path, header: read(path)? };
    let of = one.header.shard[1];
    let mut seen: BTreeMap<u64, &Path> = BTreeMap::new();
    for path in files {
        let head = Head { path, header: read(path)? };
        refuse_whole(&head, files.len())?;
        refuse_other_study(&head, &one)?;
        refuse_other_division(&head, &one)?;
        let number = head.header.shard[0];
        if let Some(other) = seen.insert(number, path) {
            return Err(same_shard(path, other, (number, of)));
        }
    }
    let mut header = StudyHeader { shard: [1, 1], ..one.header };
    if is_partial && header.partial.is_none() {
        header.partial = Some(PartialHeader { shards: seen.into_keys().collect(), of });
    } else if !is_partial {
        refuse_missing(&seen, of, one.path)?;
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

fn refuse_other_division(head: &Head<'_>, one: &Head<'_>) -> Result<(), RecordsError> {
    let ([number, parts], [_, of]) = (head.header.shard, one.header.shard);
    if parts == of {
        return Ok(());
    }
    let first = display_path(one.path);
    let cause = format!("they are shard {number} of {parts}, and `{first}` is one of {of}");
    let hint = "merge shards of one number of shards: leave the others out";
    Err(RecordsError::unusable(head.path, cause, hint))
}

/// Records of a whole study cannot be merged with any others.
fn refuse_whole(head: &Head<'_>, count: usize) -> Result<(), RecordsError> {
    if count == 1 || head.header.shard[1] != 1 {
        return Ok(());
    }
    let hint = "leave the file out; `doublehold report DIR DIR` makes one page of several sweeps";
    Err(RecordsError::unusable(head.path, "they are of a whole study, and of no shard", hint))
}

fn refuse_other_study(head: &Head<'_>, one: &Head<'_>) -> Result<(), RecordsError> {
    let first = format!("`{}`", display_path(one.path));
    match difference(&head.header, (&one.header, &first)) {
        None => Ok(()),
        Some(Difference { cause, hint }) => {
            let cause = format!("they and {first} are not of one study: {cause}");
            Err(RecordsError::unusable(head.path, cause, format!("{hint}; or leave one of them out")))
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
