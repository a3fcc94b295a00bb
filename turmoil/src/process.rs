//! A process: code on a tokio runtime of its own, beside turmoil's, and the bytes between it and turmoil's network.
//!
//! turmoil runs a host's runtime at every tick and knows no way to leave one out, so what runs there cannot be stopped.
//! A process therefore runs between two ticks, on a runtime that turmoil does not know: one that is not run is paused,
//! with everything that was spawned on it. turmoil's network can only be used inside of a tick: on the host stands an
//! agent, which opens connections for the process and carries their bytes.
//!
//! Rejected: a gate around each task on turmoil's runtime. It misses what libraries spawn.
//!
//! Decision: "In a turmoil test, a client process runs beside turmoil's runtime, between two ticks"
//! (docs/decisions/engines.md).

use std::future::Future;
use std::io;
use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use tokio::io::{AsyncWriteExt, DuplexStream, copy, duplex, split};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet, LocalSet, spawn_local};
use tokio::time::{Instant, advance, sleep, sleep_until, timeout};
use turmoil::net::TcpStream;

use crate::hosts::Hosts;

/// One end of a connection over turmoil's network, as a process has it.
pub type GuestStream = DuplexStream;

/// Bytes on their way between a process and its host, each way: what a socket's buffer holds.
const BUFFER_BYTES: usize = 64 << 10;

/// A host waits so long for its process to be run for the first time.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time that the bytes a process had sent when it ended have to leave its host.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The simulation runs, and nobody runs its processes.
#[derive(Debug, thiserror::Error)]
#[error("the process of `{0}` is not run: call `guests.run(&mut sim)` in place of `sim.run()`")]
pub struct NotRun(String);

/// A process, run between turmoil's ticks.
pub(crate) struct Process {
    hosts: Hosts,
    name: Arc<str>,
    clock: Arc<ProcessClock>,
    /// Gone when the process has ended.
    running: Option<Running>,
    begins: Option<oneshot::Sender<()>>,
}

struct Running {
    runtime: Runtime,
    local: LocalSet,
    main: JoinHandle<turmoil::Result>,
    ends: oneshot::Sender<turmoil::Result>,
    errands: mpsc::UnboundedSender<Errand>,
}

/// The true time, as the process has come along with it.
struct ProcessClock {
    runtime: Handle,
    /// The runtime's clock when the process began.
    began: Instant,
    /// The true time of that.
    began_at: OnceLock<Duration>,
}

/// An errand of a process on its host.
enum Errand {
    Connect { address: String, reply: oneshot::Sender<io::Result<GuestStream>> },
    End,
}

/// A host, as its process sees it. Clones are handles to the same.
#[derive(Clone)]
pub struct Guest {
    hosts: Hosts,
    name: Arc<str>,
    clock: Arc<ProcessClock>,
    errands: mpsc::UnboundedSender<Errand>,
}

impl Guest {
    /// The host's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Opens a connection over turmoil's network, to an address like `redis:6379`.
    ///
    /// # Errors
    /// Those of [`turmoil::net::TcpStream::connect`], or that the process has ended.
    pub async fn connect(&self, address: impl Into<String>) -> io::Result<GuestStream> {
        let (reply, stream) = oneshot::channel();
        let ended = || io::Error::new(io::ErrorKind::NotConnected, "the process has ended");
        self.errands.send(Errand::Connect { address: address.into(), reply }).map_err(|_| ended())?;
        stream.await.map_err(|_| ended())?
    }

    /// The host's wall clock, which may be wrong.
    pub fn wall(&self) -> SystemTime {
        let micros = self.wall_us();
        let size = Duration::from_micros(micros.unsigned_abs());
        if micros < 0 { SystemTime::UNIX_EPOCH - size } else { SystemTime::UNIX_EPOCH + size }
    }

    pub(crate) fn wall_us(&self) -> i64 {
        let now = self.true_time();
        self.hosts.with_host(&self.name, |host| host.wall_us(now))
    }

    /// The true time of what this process does now.
    pub(crate) fn true_time(&self) -> Duration {
        self.clock.true_time()
    }

    /// The true time at which tokio's clock shows `instant` in this process.
    pub(crate) fn time_of(&self, instant: Instant) -> Duration {
        self.clock.time_of(instant)
    }
}

/// A process that begins with `main`, and what stands for it on its host.
pub(crate) fn start<F>(
    hosts: Hosts,
    name: &str,
    main: impl FnOnce(Guest) -> F + 'static,
) -> (Process, impl Future<Output = turmoil::Result> + 'static)
where
    F: Future<Output = turmoil::Result> + 'static,
{
    let name: Arc<str> = name.into();
    let (errands, asked) = mpsc::unbounded_channel();
    let (begins, begun) = oneshot::channel();
    let (ends, ended) = oneshot::channel();
    let (runtime, began) = paused_runtime(&hosts, &name);
    let clock =
        Arc::new(ProcessClock { runtime: runtime.handle().clone(), began, began_at: OnceLock::new() });
    let guest =
        Guest { hosts: hosts.clone(), name: name.clone(), clock: clock.clone(), errands: errands.clone() };
    let local = LocalSet::new();
    let main = local.spawn_local(async { main(guest).await });
    let agent = agent(name.clone(), asked, begun, ended);
    let running = Some(Running { runtime, local, main, ends, errands });
    (Process { hosts, name, clock, running, begins: Some(begins) }, agent)
}

/// A runtime whose clock moves only when it waits, and what that clock shows.
fn paused_runtime(hosts: &Hosts, name: &str) -> (Runtime, Instant) {
    let mut builder = Builder::new_current_thread();
    let mut seed = [0; 32];
    hosts.with_host(name, |host| host.random.fill(&mut seed));
    #[cfg(tokio_unstable)]
    builder.rng_seed(tokio::runtime::RngSeed::from_bytes(&seed));
    let runtime = builder.enable_time().start_paused(true).build().expect("no file is needed for it");
    // To a whole millisecond, as turmoil does: timers end at whole ones.
    let now = runtime.block_on(async {
        sleep(Duration::from_millis(1)).await;
        Instant::now()
    });
    (runtime, now)
}

impl Process {
    /// Comes along from one true time to another, unless it is paused.
    pub(crate) fn run(&mut self, from: Duration, to: Duration) {
        self.clock.began_at.get_or_init(|| from);
        if let Some(begins) = self.begins.take() {
            // Nobody hears it when the simulation is over.
            let _ = begins.send(());
        }
        if self.hosts.with_host(&self.name, |host| host.is_paused(from)) {
            return;
        }
        let Some(Running { runtime, local, main, .. }) = &mut self.running else { return };
        // All at once: what came due in a pause is overdue when it ends.
        let behind = from.saturating_sub(self.clock.true_time());
        let until = self.clock.instant_of(to);
        runtime.block_on(local.run_until(async {
            if !behind.is_zero() {
                advance(behind).await;
            }
            sleep_until(until).await;
        }));
        if main.is_finished() {
            self.end();
        }
    }

    /// Drops the tasks of a process whose main task has ended, and tells its host.
    fn end(&mut self) {
        let Some(Running { runtime, local, main, ends, errands }) = self.running.take() else { return };
        let result = runtime.block_on(main).unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(cancelled) => Err(cancelled.into()),
        });
        drop((local, runtime));
        // Nobody is there when the simulation is over.
        let _ = ends.send(result);
        let _ = errands.send(Errand::End);
    }
}

impl ProcessClock {
    fn true_time(&self) -> Duration {
        let _context = self.runtime.enter();
        self.time_of(Instant::now())
    }

    fn time_of(&self, instant: Instant) -> Duration {
        self.began_at() + instant.saturating_duration_since(self.began)
    }

    fn instant_of(&self, time: Duration) -> Instant {
        self.began + time.saturating_sub(self.began_at())
    }

    fn began_at(&self) -> Duration {
        self.began_at.get().copied().unwrap_or_default()
    }
}

/// A process's agent on its host: connects for it, and ends when it has.
async fn agent(
    name: Arc<str>,
    mut asked: mpsc::UnboundedReceiver<Errand>,
    begun: oneshot::Receiver<()>,
    ended: oneshot::Receiver<turmoil::Result>,
) -> turmoil::Result {
    if timeout(PATIENCE, begun).await.is_err() {
        return Err(NotRun(name.to_string()).into());
    }
    let mut connections = JoinSet::new();
    while let Some(Errand::Connect { address, reply }) = asked.recv().await {
        connections.spawn_local(connect(address, reply));
    }
    // A partition may hold it back: then the host ends all the same, as after a crash.
    let _ = timeout(LAST_WORDS, async { while connections.join_next().await.is_some() {} }).await;
    ended.await.unwrap_or(Ok(()))
}

/// Opens a connection and carries what the process sends, until the process closes it.
async fn connect(address: String, reply: oneshot::Sender<io::Result<GuestStream>>) {
    let stream = match TcpStream::connect(address.as_str()).await {
        Ok(stream) => stream,
        Err(error) => {
            // The process may have given up.
            let _ = reply.send(Err(error));
            return;
        }
    };
    let (near, far) = duplex(BUFFER_BYTES);
    if reply.send(Ok(near)).is_err() {
        return;
    }
    let (mut from_network, mut to_network) = stream.into_split();
    let (mut from_process, mut to_process) = split(far);
    spawn_local(async move {
        // However it ends, the process reads an end.
        let _ = copy(&mut from_network, &mut to_process).await;
        let _ = to_process.shutdown().await;
    });
    // The other end may be gone: nothing is left to tell it.
    let _ = copy(&mut from_process, &mut to_network).await;
    let _ = to_network.shutdown().await;
}
