//! One host's disk: what its files read as, kept apart from what would survive a power loss.
//!
//! An append is visible at once (it reached the operating system) and durable only when an fsync that began after it
//! has finished. A process crash loses nothing; a power loss leaves the durable bytes, or with a torn tail those and
//! a random part of the rest.
//!
//! Not modelled: directories and the fsync of a directory entry, reads that fail, bit rot, and a full disk.

use std::collections::BTreeMap;

use crate::random::Stream;

/// A file's two faces.
#[derive(Clone, Debug, Default)]
struct File {
    /// What the process and, after a crash, the next process reads.
    written: Vec<u8>,
    /// What a power loss leaves.
    durable: Vec<u8>,
    /// How many leading bytes of `written` are known to equal `durable`: appends keep it, other writes lower it.
    common: usize,
    /// `written` was put in the file's place as a whole: until it is durable, a power loss leaves the old content.
    replaced: bool,
}

/// The files of one host.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    files: BTreeMap<String, File>,
    snapshot: Option<Box<Disk>>,
    /// An fsync reports success and does nothing.
    pub lying: bool,
}

impl Disk {
    /// Adds bytes to a file, which it makes if there is none.
    pub fn append(&mut self, name: &str, bytes: &[u8]) {
        match self.files.get_mut(name) {
            Some(file) => file.written.extend_from_slice(bytes),
            None => {
                let file = File { written: bytes.to_vec(), ..File::default() };
                self.files.insert(name.to_owned(), file);
            }
        }
    }

    /// The file as written; empty if there is none.
    pub fn read(&self, name: &str) -> Vec<u8> {
        self.files.get(name).map(|file| file.written.clone()).unwrap_or_default()
    }

    /// Cuts a file to its first `len` bytes.
    pub fn truncate(&mut self, name: &str, len: usize) {
        if let Some(file) = self.files.get_mut(name) {
            file.written.truncate(len);
            file.common = file.common.min(len);
        }
    }

    /// Puts new content in a file's place.
    pub fn replace(&mut self, name: &str, bytes: &[u8]) {
        let file = self.files.entry(name.to_owned()).or_default();
        file.written.clear();
        file.written.extend_from_slice(bytes);
        file.common = 0;
        file.replaced = true;
    }

    /// How many bytes of the file an fsync that begins now will cover.
    pub fn len(&self, name: &str) -> usize {
        self.files.get(name).map_or(0, |file| file.written.len())
    }

    /// An fsync that covered the first `covered` bytes of what the file holds finished. Returns how many bytes are
    /// durable now.
    pub fn sync(&mut self, name: &str, covered: usize) -> usize {
        let lying = self.lying;
        let Some(file) = self.files.get_mut(name) else { return 0 };
        if !lying {
            // Two fsyncs can overlap: the one that covered less must not take back what the other made durable.
            let durable = covered.clamp(file.common, file.written.len());
            file.durable.truncate(file.common);
            file.durable.extend_from_slice(&file.written[file.common..durable]);
            file.common = durable;
            file.replaced = false;
        }
        file.durable.len()
    }

    /// The power went: only durable bytes remain, or with `torn` a random part of the others too.
    pub fn lose_power(&mut self, mut torn: Option<&mut Stream>) {
        for file in self.files.values_mut() {
            let mut left = std::mem::take(&mut file.durable);
            let appended_only = file.common == left.len() && !file.replaced;
            if let (Some(stream), true) = (&mut torn, appended_only) {
                let tail = &file.written[left.len()..];
                let kept = stream.below(tail.len() as u64 + 1) as usize;
                left.extend_from_slice(&tail[..kept]);
            }
            *file = File { written: left.clone(), common: left.len(), durable: left, replaced: false };
        }
    }

    /// How many bytes the files hold, written and durable.
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|file| (file.written.len() + file.durable.len()) as u64).sum()
    }

    /// The disk as it was when it was last remembered.
    pub fn remembered_disk(&self) -> Option<&Disk> {
        self.snapshot.as_deref()
    }

    /// Remembers the disk as it is.
    pub fn snapshot(&mut self) {
        self.snapshot = None;
        self.snapshot = Some(Box::new(self.clone()));
    }

    /// Everything as it was at the snapshot, and durable: a restored image is on the disk.
    pub fn roll_back(&mut self) {
        let mut restored = self.snapshot.as_deref().cloned().unwrap_or_default();
        for file in restored.files.values_mut() {
            file.durable.clone_from(&file.written);
            file.common = file.written.len();
            file.replaced = false;
        }
        restored.lying = self.lying;
        restored.snapshot = self.snapshot.take();
        *self = restored;
    }
}
