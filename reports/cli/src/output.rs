//! Where results go: standard output, and files that are opened before the work and replaced after it.
//!
//! A file is written beside its place and then moved there, so that a write that fails leaves what was there before,
//! and several results are all written before any is moved. Devices, pipes and standard output under another name have
//! no content to lose and are written directly. Not promised: that a result survives a power failure right after (no
//! fsync), and that a hard link to the file sees the new content.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use doublehold_sweeps::records::opening::{self, Refusal};
use doublehold_text::clean;
use same_file::Handle;
use tempfile::NamedTempFile;

use crate::cleanup::unfinished_files;
use crate::error::CliError;

/// Writes to standard output. A reader that went away has read enough: that is no error.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Stdout(error)),
        _ => Ok(()),
    }
}

/// Writes a line to standard error: whatever is not the result.
pub(crate) fn inform(line: &str) {
    // Without standard error there is nobody to tell.
    let _ignored = writeln!(io::stderr(), "{line}");
}

/// A place for a result.
pub(crate) struct OutputFile {
    what: &'static str,
    path: String,
    place: Place,
}

enum Place {
    /// A file, behind whatever links name it.
    File {
        opened: Handle,
        target: PathBuf,
        /// It was made by this process, and nothing was moved there yet.
        fresh: bool,
    },
    /// A device, a pipe or a terminal.
    Stream(File),
    /// A file that is standard output: what is printed follows the result.
    Stdout,
}

impl OutputFile {
    /// Opens a file for writing and leaves what is in it alone until there is something to replace it with.
    pub(crate) fn create(what: &'static str, path: &str) -> Result<OutputFile, CliError> {
        let refused = |Refusal { source, hint }| CliError::Output { what, path: clean(path), source, hint };
        let place = opening::open_patiently(path, || open(path)).map_err(refused)?;
        Ok(OutputFile { what, path: path.to_owned(), place })
    }

    /// The file as it was named.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Whether both are one file, however each is named. Streams take any number of results.
    pub(crate) fn is_same_file(&self, other: &OutputFile) -> bool {
        match (&self.place, &other.place) {
            (Place::File { opened, .. }, Place::File { opened: other, .. }) => opened == other,
            _ => false,
        }
    }

    /// Whether it is the file at a path, however it is named.
    pub(crate) fn is_file_at(&self, path: &str) -> bool {
        match &self.place {
            Place::File { opened, .. } => Handle::from_path(path).is_ok_and(|other| other == *opened),
            Place::Stream(_) | Place::Stdout => false,
        }
    }

    /// Writes the result beside its place; what is there stays until [`Written::keep`].
    pub(crate) fn write(
        self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Written, CliError> {
        let written = match &self.place {
            Place::File { opened, target, .. } => write_beside(opened.as_file(), target, write).map(Some),
            Place::Stream(stream) => write_buffered(stream, write).map(|()| None),
            Place::Stdout => write_buffered(io::stdout().lock(), write).map(|()| None),
        };
        let beside = written.map_err(|source| self.output_error(source))?;
        Ok(Written { output: self, beside })
    }

    fn output_error(&self, source: io::Error) -> CliError {
        CliError::Output { what: self.what, path: clean(&self.path), source, hint: opening::ELSEWHERE }
    }
}

impl Drop for OutputFile {
    /// A command that is refused leaves no empty file behind.
    fn drop(&mut self) {
        if let Place::File { target, fresh: true, .. } = &self.place {
            let mut unfinished = unfinished_files();
            let _ignored = fs::remove_file(target);
            unfinished.remove(target);
        }
    }
}

/// A result that is written and not yet in its place.
#[must_use]
pub(crate) struct Written {
    output: OutputFile,
    beside: Option<NamedTempFile>,
}

impl Written {
    /// Puts the result in its place.
    pub(crate) fn keep(mut self) -> Result<(), CliError> {
        let Some(beside) = self.beside.take() else { return Ok(()) };
        let Place::File { target, fresh, .. } = &mut self.output.place else { return Ok(()) };
        let mut unfinished = unfinished_files();
        let temporary = beside.path().to_owned();
        let moved = beside.persist(&*target);
        unfinished.remove(&temporary);
        match moved {
            Ok(_) => {
                *fresh = false;
                unfinished.remove(target);
                Ok(())
            }
            Err(refused) => {
                // Removing both takes the list again.
                drop(unfinished);
                Err(self.output.output_error(refused.error))
            }
        }
    }
}

fn open(path: &str) -> io::Result<Place> {
    // Held until it is known whose file it is: a signal must not come in between.
    let mut unfinished = unfinished_files();
    let fresh = !Path::new(path).exists();
    // Opened although it is only moved over later: this says whether it may be written, and follows links to the end.
    let file = opening::open_for_writing(path)?;
    if !file.metadata()?.is_file() {
        return Ok(Place::Stream(file));
    }
    let opened = Handle::from_file(file)?;
    if Handle::stdout().is_ok_and(|stdout| stdout == opened) {
        return Ok(Place::Stdout);
    }
    let target = fs::canonicalize(path)?;
    if fresh {
        unfinished.insert(target.clone());
    }
    Ok(Place::File { opened, target, fresh })
}

/// The result in a file of its own, in the directory of `target` and with its permissions.
fn write_beside(
    opened: &File,
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<NamedTempFile> {
    let folder = target.parent().unwrap_or(Path::new("."));
    let beside = {
        let mut unfinished = unfinished_files();
        let beside = tempfile::Builder::new().prefix(".doublehold-").tempfile_in(folder)?;
        unfinished.insert(beside.path().to_owned());
        beside
    };
    beside.as_file().set_permissions(opened.metadata()?.permissions())?;
    write_buffered(beside.as_file(), write)?;
    Ok(beside)
}

fn write_buffered(
    output: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::new(output);
    write(&mut writer)?;
    writer.flush()
}
