//! A real machine under a server: its clocks, its network through tokio, and files in memory, but for the configuration
//! file, which can be one of the machine's. The one place in this crate that may use them.
//!
//! Everything a server starts runs on the thread, and in the runtime, that it was booted in: one with time and I/O
//! enabled.
//!
//! Not modelled: a disk for the nodes' data. What is in memory is gone when the program ends.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "on a real machine the clocks, the tasks and the randomness are the system's"
)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::net::TcpStream;

use crate::core::WallMicros;
use crate::machine::Machine;

/// The names of configuration files end so.
const CONFIG_ENDING: &str = ".conf";

/// This machine: its clocks, its network through tokio, and files in memory.
#[derive(Clone, Debug)]
pub struct TokioMachine {
    began: Instant,
    /// Whether masters may be on other machines.
    remote_masters: bool,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    /// Where the configuration file is, if it is on disk.
    config_dir: Option<PathBuf>,
}

impl TokioMachine {
    /// The machine this program runs on. Without `remote_masters` its nodes connect to masters on this machine only,
    /// whatever a name means by then.
    pub fn new(remote_masters: bool) -> TokioMachine {
        TokioMachine { began: Instant::now(), remote_masters, files: Arc::default(), config_dir: None }
    }

    /// The same machine, whose one server has its configuration file in `folder`, which exists: `redis.conf`, or
    /// `sentinel.conf` if it is a Sentinel.
    #[must_use]
    pub fn with_config_in(self, folder: PathBuf) -> TokioMachine {
        TokioMachine { config_dir: Some(folder), ..self }
    }

    /// The path of a file that is on disk.
    fn disk_path(&self, file: &str) -> Option<PathBuf> {
        let is_config = file.ends_with(CONFIG_ENDING);
        self.config_dir.as_ref().filter(|_| is_config).map(|folder| folder.join(file))
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Machine for TokioMachine {
    type Stream = TcpStream;

    fn wall(&self) -> WallMicros {
        let micros = |duration: Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        WallMicros(match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => micros(since),
            Err(before) => -micros(before.duration()),
        })
    }

    fn monotonic(&self) -> Duration {
        self.began.elapsed()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(duration)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(task);
    }

    async fn connect(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        // The core has refused names of other machines; what a name means is the resolver's to say.
        let mut addresses = tokio::net::lookup_host((host, port)).await?;
        let near = addresses.find(|address| self.remote_masters || address.ip().is_loopback());
        let stream = TcpStream::connect(near.ok_or(io::ErrorKind::AddrNotAvailable)?).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    fn random(&self, buf: &mut [u8]) {
        // Ids must be different, not secret: the keys of std's hasher come from the operating system.
        let source = RandomState::new();
        for (index, chunk) in buf.chunks_mut(8).enumerate() {
            chunk.copy_from_slice(&source.hash_one(index).to_le_bytes()[..chunk.len()]);
        }
    }

    fn append(&self, file: &str, bytes: &[u8]) {
        self.files().entry(file.to_owned()).or_default().extend_from_slice(bytes);
    }

    async fn fsync(&self, file: &str) -> io::Result<()> {
        match self.disk_path(file) {
            Some(path) => replace_durably(&path, self.files().get(file).map_or(&[], Vec::as_slice)),
            None => Ok(()),
        }
    }

    fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        if let Some(path) = self.disk_path(file) {
            return match fs::read(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
                bytes => bytes,
            };
        }
        Ok(self.files().get(file).cloned().unwrap_or_default())
    }

    fn truncate(&self, file: &str, len: u64) {
        if let Some(bytes) = self.files().get_mut(file) {
            bytes.truncate(usize::try_from(len).unwrap_or(usize::MAX));
        }
    }

    fn replace(&self, file: &str, bytes: &[u8]) {
        self.files().insert(file.to_owned(), bytes.to_vec());
    }
}

/// Writes a file beside `path` and renames it over it, both so that a loss of power undoes neither. The thread waits
/// for the disk: its node does nothing else meanwhile.
fn replace_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("conf.new");
    let mut file = File::create(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&fresh, path)?;
    // Elsewhere a folder cannot be opened, and its entries are the file system's to keep.
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
