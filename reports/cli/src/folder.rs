//! A folder for what a search finds: tried before the first run, and gone again if nothing was put in it.
//!
//! Nothing in it is ever removed but what this program made: files of earlier searches stay, and are named, since they
//! look like this one's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use doublehold_text::{clean, list};

use crate::error::CliError;
use crate::output::{self, OutputFile};

/// The way out where the folder cannot be used.
const HINT: &str = "name a folder that you may write to, or one that is not there yet";
/// How many files of earlier searches are named.
const NAMED: usize = 8;

/// A folder that can be written to.
pub(crate) struct Folder {
    path: PathBuf,
    /// What was made for it: the folder, and those that it is in.
    fresh: Vec<PathBuf>,
}

impl Folder {
    /// Makes the folder if it is not there, and writes to it. `what` is to be put in it.
    pub(crate) fn open(what: &'static str, path: &str) -> Result<Folder, CliError> {
        if path.is_empty() {
            let source = io::Error::other("a folder has a name");
            return Err(CliError::Output { what, path: String::new(), source, hint: HINT });
        }
        let path = PathBuf::from(path);
        let is_new = |it: &&Path| !it.as_os_str().is_empty() && !it.exists();
        let fresh = path.ancestors().take_while(is_new).map(Path::to_owned).collect();
        let folder = Folder { path, fresh };
        match fs::create_dir_all(&folder.path).and_then(|()| folder.try_to_write()) {
            Ok(()) => Ok(folder),
            Err(source) => {
                let is_file = folder.path.is_file();
                let source = if is_file { io::Error::new(source.kind(), "it is a file") } else { source };
                let path = clean(&folder.path.to_string_lossy());
                Err(CliError::Output { what, path, source, hint: HINT })
            }
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it.
    pub(crate) fn file(&self, name: &str) -> String {
        self.path.join(name).to_string_lossy().into_owned()
    }

    /// Opens a file of ours in it. A link in its place is replaced and not followed: its name is ours, and whoever sent
    /// the folder, or wrote to it before, chose where it leads. Where a user names the file, a link is the user's own.
    pub(crate) fn create(&self, what: &'static str, name: &str) -> Result<OutputFile, CliError> {
        let path = self.file(name);
        Folder::unlink(what, &path)?;
        OutputFile::create(what, &path)
    }

    /// Makes a folder in it, in the place of a link.
    pub(crate) fn create_folder(&self, what: &'static str, name: &str) -> Result<(), CliError> {
        let path = self.file(name);
        Folder::unlink(what, &path)?;
        let refused = |source| CliError::Output { what, path: clean(&path), source, hint: HINT };
        fs::create_dir_all(&path).map_err(refused)
    }

    fn unlink(what: &'static str, path: &str) -> Result<(), CliError> {
        if !Path::new(path).is_symlink() {
            return Ok(());
        }
        let hint = "remove the link, or name another folder with `--out DIR`";
        fs::remove_file(path).map_err(|source| CliError::Output { what, path: clean(path), source, hint })
    }

    /// Says which files in it have names that searches give, and are none of those that were written.
    pub(crate) fn tell_of_others(&self, written: &[&str], is_ours: impl Fn(&str) -> bool) {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let is_other = |name: &String| is_ours(name) && !written.contains(&self.file(name).as_str());
        let mut others: Vec<String> = names.filter(is_other).collect();
        others.sort();
        if others.is_empty() {
            return;
        }
        let mut named: Vec<String> = others.iter().take(NAMED).map(|name| clean(name)).collect();
        if others.len() > NAMED {
            named.push(format!("{} more", others.len() - NAMED));
        }
        output::inform(&format!(
            "`{}` also has files of earlier searches, which say nothing about this one: {}",
            clean(&self.path.to_string_lossy()),
            list(&named)
        ));
    }

    fn try_to_write(&self) -> io::Result<()> {
        tempfile::Builder::new().prefix(".doublehold-").tempfile_in(&self.path).map(drop)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Fails where there is something in it, and that is meant.
        let _ignored = self.fresh.iter().try_for_each(fs::remove_dir);
    }
}
