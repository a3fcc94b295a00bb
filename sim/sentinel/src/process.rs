//! A Sentinel's process on its machine: one task for its timer, one for each connection to another, and the server that
//! clients and other Sentinels connect to.
//!
//! Redis looks at everything ten to nineteen times a second, each time with another pause, so that Sentinels do not
//! stay in step. Here the ticks at which nothing is due are left out: the timer is set for the first tick after the
//! next thing to do.

use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use doublehold_sim_redis::core::{CoreConfig, Peer};
use doublehold_sim_redis::wait::{First, first};
use doublehold_sim_redis::{BootError, Machine, Node, NodeConfig};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::commands::Desk;
use crate::config::{Address, SentinelConfig};
use crate::file::{FILE, Saved};
use crate::reply;
use crate::sentinel::{Sentinel, SentinelEvent};
use crate::tilt::LastLook;
use crate::time::WallMillis;
use crate::wires::WireId;

/// The longest time between two ticks: a clock that was set back is noticed after it.
const LONGEST_REST: Duration = Duration::from_secs(1);

/// The least that one read asks for.
const READ_BYTES: usize = 4 << 10;

/// Is told of everything that a Sentinel announces, as it announces it.
pub trait Listener: Send + Sync {
    /// A Sentinel announces something.
    fn announced(&self, event: &SentinelEvent);
}

/// A running Sentinel. Clones are handles to the same.
pub struct SentinelProcess<M: Machine> {
    shared: Arc<Shared<M>>,
}

impl<M: Machine> Clone for SentinelProcess<M> {
    fn clone(&self) -> SentinelProcess<M> {
        SentinelProcess { shared: Arc::clone(&self.shared) }
    }
}

struct Shared<M: Machine> {
    machine: M,
    node: Node<M>,
    sentinel: Arc<Mutex<Sentinel>>,
    /// Of the task with the timer.
    timer: Mutex<Timer>,
    last_look: Mutex<LastLook>,
    saving: Mutex<Saving>,
    listener: Option<Arc<dyn Listener>>,
}

/// Writes to the disk that are under way, and who waits for them: nothing is sent meanwhile, and nothing else done.
#[derive(Default)]
struct Saving {
    under_way: u32,
    waiting: Vec<Waker>,
}

#[derive(Default)]
struct Timer {
    waker: Option<Waker>,
    is_called: bool,
    /// The time for which it is set, on the monotonic clock.
    set_for: Duration,
}

/// The grid of ticks since the last one that was not left out.
#[derive(Clone, Copy)]
struct Ticks {
    last: Duration,
    period: Duration,
}

impl Ticks {
    /// The first tick at or after a moment, and after the last one.
    fn next_from(self, moment: Duration) -> Duration {
        let passed = moment.saturating_sub(self.last).as_nanos();
        let count = passed.div_ceil(self.period.as_nanos()).max(1);
        self.last + self.period * u32::try_from(count).unwrap_or(u32::MAX)
    }
}

impl<M: Machine> SentinelProcess<M> {
    /// Starts a Sentinel on a machine: reads what it kept there, and begins to watch.
    ///
    /// # Errors
    /// If the machine's disk does not give its file back.
    pub fn boot(
        machine: M,
        config: SentinelConfig,
        listener: Option<Arc<dyn Listener>>,
    ) -> Result<SentinelProcess<M>, BootError> {
        let read = machine.read(FILE).map_err(|source| BootError::ReadData { file: FILE, source })?;
        let saved = Saved::read(&String::from_utf8_lossy(&read));
        let (port, limits) = (config.own.port, config.limits.clone());
        let (now, random) = (machine.wall().into(), machine.clone());
        let draw = Box::new(move || {
            let mut bytes = [0; 4];
            random.random(&mut bytes);
            u32::from_le_bytes(bytes)
        });
        let sentinel = Arc::new(Mutex::new(Sentinel::new(config, saved, now, draw)));
        let program = Arc::new(Desk(Arc::clone(&sentinel)));
        let core = CoreConfig { port, limits, program: Some(program), ..CoreConfig::default() };
        let node = Node::boot(machine.clone(), NodeConfig { core, ..NodeConfig::default() })?;
        let shared = Arc::new(Shared {
            machine: machine.clone(),
            node,
            sentinel,
            timer: Mutex::new(Timer { set_for: machine.monotonic(), ..Timer::default() }),
            last_look: Mutex::new(LastLook::new(now, machine.monotonic())),
            saving: Mutex::new(Saving::default()),
            listener,
        });
        machine.spawn(keep_ticking(Arc::clone(&shared)));
        Ok(SentinelProcess { shared })
    }

    /// Empties the file in which a Sentinel keeps whom it knows: the next one on this machine knows whom its settings
    /// name.
    pub fn forget(machine: &M) {
        machine.replace(FILE, &[]);
    }

    /// Serves one connection until either side closes; see [`Node::serve`].
    pub async fn serve<S>(self, stream: S, peer: Peer, address: String)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let shared = self.shared;
        let caller = Caller { stream, shared: Arc::clone(&shared) };
        shared.node.serve(caller, peer, address).await;
    }

    /// Ends when the Sentinel has been shut down.
    pub async fn closed(&self) {
        self.shared.node.closed().await;
    }

    /// Ends the process in order; see [`Node::drain`].
    pub fn drain(&self) {
        self.shared.node.drain();
    }

    /// The address of the master that clients are told.
    pub fn current_master(&self) -> Address {
        self.shared.lock().current_master().clone()
    }
}

impl<M: Machine> Shared<M> {
    fn lock(&self) -> MutexGuard<'_, Sentinel> {
        self.sentinel.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn timer(&self) -> MutexGuard<'_, Timer> {
        self.timer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn saving(&self) -> MutexGuard<'_, Saving> {
        self.saving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ready when what was decided is on disk.
    fn poll_saved(&self, cx: &Context<'_>) -> Poll<()> {
        let mut saving = self.saving();
        if saving.under_way == 0 {
            return Poll::Ready(());
        }
        saving.waiting.push(cx.waker().clone());
        Poll::Pending
    }

    /// Looks at the clock, before anything is done.
    fn look(&self) -> WallMillis {
        let now = self.now();
        let due = self.timer().set_for;
        let mut last = self.last_look.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_odd(now, self.machine.monotonic(), due) {
            self.lock().distrust_clock();
        }
        now
    }

    fn now(&self) -> WallMillis {
        self.machine.wall().into()
    }

    /// Sees to what a change has brought about: the file, connections to open, events to tell, and what is due sooner
    /// than it was. `has_put_off`: by itself the change has put off what was due.
    fn settle(self: &Arc<Self>, has_put_off: bool) {
        let (undialed, events, file, is_urgent) = {
            let mut sentinel = self.lock();
            let file = std::mem::take(&mut sentinel.is_unsaved).then(|| sentinel.file());
            let events = std::mem::take(&mut sentinel.events);
            (sentinel.wires.take_undialed(), events, file, sentinel.is_urgent)
        };
        // Most messages put off what is due, and it costs as much as they do to find out what is due next.
        let may_be_late = !has_put_off || is_urgent || file.is_some() || !undialed.is_empty();
        if let Some(file) = file {
            self.machine.replace(FILE, file.as_bytes());
            self.saving().under_way += 1;
            let shared = Arc::clone(self);
            self.machine.spawn(async move {
                // A disk that fails under Redis' Sentinel is logged, and it goes on.
                let _ = shared.machine.fsync(FILE).await;
                let mut saving = shared.saving();
                saving.under_way -= 1;
                let waiting = std::mem::take(&mut saving.waiting);
                drop(saving);
                waiting.into_iter().for_each(Waker::wake);
            });
        }
        for (id, address) in undialed {
            self.machine.spawn(keep_wire(Arc::clone(self), id, address));
        }
        for event in &events {
            if let Some(listener) = &self.listener {
                listener.announced(event);
            }
            self.node.publish(event.kind, &event.text);
        }
        if may_be_late {
            self.call_timer_if_late();
        }
    }

    /// The next thing to do, on the monotonic clock.
    fn due(&self) -> Duration {
        let (now, monotonic) = (self.now(), self.machine.monotonic());
        let rest = u64::try_from(self.lock().next_due(now).since(now)).unwrap_or(0);
        monotonic + Duration::from_millis(rest).min(LONGEST_REST)
    }

    fn call_timer_if_late(&self) {
        let due = self.due();
        let mut timer = self.timer();
        if due < timer.set_for {
            timer.is_called = true;
            if let Some(waker) = timer.waker.take() {
                waker.wake();
            }
        }
    }

    fn poll_called(&self, cx: &Context<'_>) -> Poll<()> {
        let mut timer = self.timer();
        if std::mem::take(&mut timer.is_called) {
            return Poll::Ready(());
        }
        timer.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

async fn keep_ticking<M: Machine>(shared: Arc<Shared<M>>) {
    let mut ticks = Ticks { last: shared.machine.monotonic(), period: draw_period(&shared) };
    shared.settle(true);
    loop {
        let next = ticks.next_from(shared.due());
        shared.timer().set_for = next;
        let rest = next.saturating_sub(shared.machine.monotonic());
        let called = poll_fn(|cx| shared.poll_called(cx));
        if let First::Left(()) = first(called, shared.machine.sleep(rest)).await {
            continue;
        }
        let now = shared.look();
        shared.lock().tick(now);
        // The timer is set anew in any case.
        shared.settle(true);
        poll_fn(|cx| shared.poll_saved(cx)).await;
        ticks = Ticks { last: shared.machine.monotonic(), period: draw_period(&shared) };
    }
}

/// The time to the next tick of Redis' timer: its frequency is drawn anew each time, between 10 and 19 Hz.
fn draw_period<M: Machine>(shared: &Shared<M>) -> Duration {
    let hertz = 10 + shared.lock().draw_below(10).unsigned_abs();
    Duration::from_millis(1000 / hertz)
}

/// One connection to another, from its opening to its end.
async fn keep_wire<M: Machine>(shared: Arc<Shared<M>>, id: WireId, address: Address) {
    let dialed = first(
        poll_fn(|cx| shared.lock().wires.poll_closed(id, cx)),
        shared.machine.connect(&address.host, address.port),
    );
    if let First::Right(Ok(stream)) = dialed.await {
        // Whatever ended it, the next tick opens another.
        let _ = Wire { stream, input: Vec::new(), out: Vec::new() }.run(&shared, id).await;
    }
    shared.lock().wire_ended(id);
    shared.settle(false);
}

/// A connection that stands.
struct Wire<S> {
    stream: S,
    input: Vec<u8>,
    out: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    async fn run<M: Machine>(&mut self, shared: &Arc<Shared<M>>, id: WireId) -> io::Result<()> {
        loop {
            let ended = poll_fn(|cx| self.poll(shared, id, cx)).await?;
            if ended {
                return Ok(());
            }
            let mut rest = self.input.as_slice();
            let (now, mut has_put_off) = (shared.look(), true);
            while let Some(reply) = reply::take(&mut rest).map_err(|_| io::ErrorKind::InvalidData)? {
                has_put_off &= shared.lock().receive(id, &reply, now);
            }
            let taken = self.input.len() - rest.len();
            self.input.drain(..taken);
            shared.settle(has_put_off);
        }
    }

    /// Sends what there is to send; ready when something came, true at the end of the connection.
    fn poll<M: Machine>(
        &mut self,
        shared: &Shared<M>,
        id: WireId,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<bool>> {
        ready!(shared.poll_saved(cx));
        if shared.lock().wires.poll_out(id, &mut self.out, cx).is_ready() {
            return Poll::Ready(Ok(true));
        }
        while !self.out.is_empty() {
            match Pin::new(&mut self.stream).poll_write(cx, &self.out) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Ok(true)),
                Poll::Ready(Ok(written)) => drop(self.out.drain(..written)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => break,
            }
        }
        // Not of zeros: to write these at each look took a sixth of a run.
        let mut bytes = [MaybeUninit::uninit(); READ_BYTES];
        let mut buffer = ReadBuf::uninit(&mut bytes);
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
        self.input.extend_from_slice(buffer.filled());
        Poll::Ready(Ok(buffer.filled().is_empty()))
    }
}

/// The stream of somebody who asks: after each request was answered, what that brought about is seen to.
struct Caller<S, M: Machine> {
    stream: S,
    shared: Arc<Shared<M>>,
}

impl<S: AsyncRead + Unpin, M: Machine> AsyncRead for Caller<S, M> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.shared.look();
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin, M: Machine> AsyncWrite for Caller<S, M> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.shared.settle(false);
        ready!(self.shared.poll_saved(cx));
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
