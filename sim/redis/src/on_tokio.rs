//! A real machine under a node: its clocks, its network through tokio, and files in memory. The one place in this crate
//! that may use them.
//!
//! Everything a node starts runs on the thread, and in the runtime, that the node was booted in: one with time and I/O
//! enabled.
//!
//! Not modelled: a disk. The files are gone when the program ends.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "on a real machine the clocks, the tasks and the randomness are the system's"
)]

use std::collections::BTreeMap;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::net::TcpStream;

use crate::core::WallMicros;
use crate::machine::Machine;

/// This machine: its clocks, its network through tokio, and files in memory.
#[derive(Clone, Debug)]
pub struct TokioMachine {
    began: Instant,
    /// Whether masters may be on other machines.
    remote_masters: bool,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl TokioMachine {
    /// The machine this program runs on. Without `remote_masters` its nodes connect to masters on this machine only,
    /// whatever a name means by then.
    pub fn new(remote_masters: bool) -> TokioMachine {
        TokioMachine { began: Instant::now(), remote_masters, files: Arc::default() }
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

    async fn fsync(&self, _file: &str) -> io::Result<()> {
        Ok(())
    }

    fn read(&self, file: &str) -> io::Result<Vec<u8>> {
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
