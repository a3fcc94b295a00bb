//! Where results go: standard output, and files that are made before the work and filled after it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::error::CliError;

/// Writes to standard output. A reader that went away has read enough: that is no error.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Stdout(error)),
        _ => Ok(()),
    }
}

/// A file for a result.
pub(crate) struct OutputFile {
    what: &'static str,
    path: String,
    file: File,
    /// It was made by this process, and nothing was written to it yet.
    fresh: bool,
}

impl OutputFile {
    /// Opens a file for writing and leaves what is in it alone until there is something to replace it with.
    pub(crate) fn create(what: &'static str, path: &str) -> Result<OutputFile, CliError> {
        let fresh = !Path::new(path).exists();
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = opened.map_err(|source| CliError::Output { what, path: path.to_owned(), source })?;
        Ok(OutputFile { what, path: path.to_owned(), file, fresh })
    }

    /// Replaces the file's content.
    pub(crate) fn fill(
        mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), CliError> {
        self.fresh = false;
        self.replace(write).map_err(|source| CliError::Output {
            what: self.what,
            path: self.path.clone(),
            source,
        })
    }

    fn replace(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        // A pipe or a terminal has no length.
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        let mut writer = BufWriter::new(&self.file);
        write(&mut writer)?;
        writer.flush()
    }
}

impl Drop for OutputFile {
    /// A command that is refused leaves no empty file behind.
    fn drop(&mut self) {
        if self.fresh {
            let _already_gone = std::fs::remove_file(&self.path);
        }
    }
}
