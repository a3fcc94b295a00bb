//! The machine under a served node or Sentinel: this machine, and where faults are asked for, what they have done to
//! it.

use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use doublehold_sim_redis::core::{Peer, WallMicros};
use doublehold_sim_redis::resp::Args;
use doublehold_sim_redis::{Machine, Received, TokioMachine};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::gate::Gated;
use super::host::Host;
use super::links::Links;

/// The machine under one served host. Clones are handles to the same.
#[derive(Clone)]
pub(crate) struct ServedMachine {
    real: TokioMachine,
    weather: Option<Arc<Place>>,
    /// What its process has started.
    tasks: Arc<Mutex<JoinSet<()>>>,
}

/// A host's place among all.
struct Place {
    front: Arc<dyn Front>,
    host: Arc<Host>,
}

/// Whoever stands between hosts and those who connect to them.
pub(crate) trait Front: Send + Sync {
    /// Where connections and their ends are known.
    fn links(&self) -> &Links;

    /// All hosts.
    fn hosts(&self) -> &[Arc<Host>];

    /// Decides what becomes of a request to a host.
    fn receive(self: Arc<Self>, host: &Arc<Host>, from: Peer, request: &Args<'_>) -> Received;
}

impl ServedMachine {
    /// A machine to which nothing happens.
    pub(crate) fn new(real: TokioMachine) -> ServedMachine {
        ServedMachine { real, weather: None, tasks: Arc::default() }
    }

    /// The same, as one of the hosts that faults strike.
    #[must_use]
    pub(crate) fn among(self, front: Arc<dyn Front>, host: Arc<Host>) -> ServedMachine {
        ServedMachine { weather: Some(Arc::new(Place { front, host })), ..self }
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all that its process has started, where it stands.
    pub(crate) async fn end_tasks(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks());
        tasks.shutdown().await;
    }

    /// Puts a connection that somebody made to the host behind the gates of its link.
    pub(crate) fn accept(&self, stream: TcpStream, peer: Peer) -> Gated<TcpStream> {
        let place = self.weather.as_deref();
        let link = place.map(|place| place.front.links().accept(&place.host, &stream, peer));
        Gated::new(stream, link, None)
    }
}

impl Machine for ServedMachine {
    type Stream = Gated<TcpStream>;

    fn wall(&self) -> WallMicros {
        let wall = self.real.wall();
        self.weather.as_ref().map_or(wall, |place| place.host.wall(wall))
    }

    fn monotonic(&self) -> Duration {
        match &self.weather {
            Some(place) => place.host.monotonic(),
            None => self.real.monotonic(),
        }
    }

    async fn sleep(&self, duration: Duration) {
        match &self.weather {
            Some(place) => place.host.sleep(duration).await,
            None => self.real.sleep(duration).await,
        }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    async fn connect(&self, host: &str, port: u16) -> io::Result<Gated<TcpStream>> {
        let Some(Place { front, host: from }) = self.weather.as_deref() else {
            return Ok(Gated::new(self.real.connect(host, port).await?, None, None));
        };
        from.stop.opened().await;
        let link = front.links().open(from, port, front.hosts());
        link.outward.opened().await;
        link.inward.opened().await;
        let stream = self.real.connect(host, port).await?;
        front.links().note_own(&stream);
        Ok(Gated::new(stream, Some(link), Some(Arc::clone(&from.stop))))
    }

    fn random(&self, buf: &mut [u8]) {
        self.real.random(buf);
    }

    fn append(&self, file: &str, bytes: &[u8]) {
        self.real.append(file, bytes);
    }

    async fn fsync(&self, file: &str) -> io::Result<()> {
        let synced = self.real.fsync(file).await;
        if let Some(place) = &self.weather {
            place.host.stop.opened().await;
        }
        synced
    }

    fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        self.real.read(file)
    }

    fn truncate(&self, file: &str, len: u64) {
        self.real.truncate(file, len);
    }

    fn replace(&self, file: &str, bytes: &[u8]) {
        self.real.replace(file, bytes);
    }

    async fn be_busy(&self, time: Duration) {
        match &self.weather {
            Some(place) => place.host.be_busy(time).await,
            None => self.real.sleep(time).await,
        }
    }

    fn command_time(&self, _command: &[u8]) -> Option<Duration> {
        self.weather.as_ref()?.host.slowness()
    }

    fn receive(&self, from: Peer, request: &Args<'_>) -> Received {
        match &self.weather {
            Some(place) => Arc::clone(&place.front).receive(&place.host, from, request),
            None => Received::Execute,
        }
    }
}
