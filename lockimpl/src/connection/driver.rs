//! A driver that keeps one connection open beside whoever uses it: it notices when the connection ends, opens another,
//! and gives up what waits when that took too often.
//!
//! Assumes that a connection is ready when it is open. Where the environment does not say that an idle connection has
//! [ended](Env::wait_closed), the next request notices.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use futures_util::future::{Either, select};

use super::discovery::{Cut, Finder};
use super::transport::Transport;
use crate::env::{Env, NodeName, Task};

/// The time that ioredis waits for a connection, where nobody says otherwise.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// The driver of one link; clones are the same driver. It ends with the last of them.
pub(crate) struct Driver<E: Env>(Arc<Running<E>>);

struct Running<E: Env> {
    shared: Shared<E::Conn>,
    task: Task,
}

impl<E: Env> Clone for Driver<E> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<E: Env> Drop for Running<E> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<E: Env> Driver<E> {
    /// Starts to connect.
    pub(super) fn start(env: &E, node: &NodeName, transport: Transport, finder: Option<Finder<E>>) -> Self {
        let shared = Shared(Arc::new(Mutex::new(State {
            open: None,
            cut: None,
            opened: 0,
            flushes: 0,
            waiting: Vec::new(),
            task: None,
        })));
        let target = match finder {
            Some(finder) => Target::Master(Box::new(finder)),
            None => Target::Node(node.clone()),
        };
        let task = env.spawn(keep_connected(env.clone(), target, transport, shared.clone()));
        Self(Arc::new(Running { shared, task }))
    }

    /// How often what waited was given up. A request is given up when this grows.
    pub(crate) fn flushes(&self) -> u64 {
        self.0.shared.lock().flushes
    }

    /// Waits for a connection, with its number, and with its end if the driver leaves it by itself; none if requests
    /// from before the `flushes`-th time are given up.
    pub(super) async fn connection(&self, flushes: u64) -> Option<(u64, E::Conn, Option<Cut>)> {
        poll_fn(|cx| {
            let mut state = self.0.shared.lock();
            if state.flushes > flushes {
                return Poll::Ready(None);
            }
            if let Some(conn) = &state.open {
                return Poll::Ready(Some((state.opened, conn.clone(), state.cut.clone())));
            }
            state.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// The connection of that number broke under a request.
    pub(crate) fn broke(&self, number: u64) {
        let mut state = self.0.shared.lock();
        if state.opened == number && state.open.take().is_some() {
            let task = state.task.take();
            drop(state);
            task.into_iter().for_each(Waker::wake);
        }
    }
}

/// What a driver connects to.
enum Target<E: Env> {
    Node(NodeName),
    /// Whichever node is the master then.
    Master(Box<Finder<E>>),
}

impl<E: Env> Target<E> {
    /// Connects, if that works within the limit. To ask for a master takes the time that it takes.
    async fn connect(&mut self, env: &E, limit: Duration) -> Option<E::Conn> {
        match self {
            Self::Node(node) => {
                let until = env.monotonic().await.saturating_add(limit);
                env.race(env.connect(node), until).await.ok()?.ok()
            }
            Self::Master(finder) => finder.dial(env, Some(limit)).await.ok(),
        }
    }

    /// The end of the last connection, if the driver leaves it by itself.
    fn cut(&self) -> Option<Cut> {
        match self {
            Self::Node(_) => None,
            Self::Master(finder) => finder.cut(),
        }
    }
}

async fn keep_connected<E: Env>(
    env: E,
    mut target: Target<E>,
    transport: Transport,
    shared: Shared<E::Conn>,
) {
    let mut failures: u32 = 0;
    loop {
        let limit = transport.connect_timeout.unwrap_or(CONNECT_LIMIT);
        if let Some(conn) = target.connect(&env, limit).await {
            failures = 0;
            let cut = target.cut();
            shared.change(|state| {
                state.open = Some(conn.clone());
                state.cut.clone_from(&cut);
                state.opened += 1;
            });
            shared.wait_for_end(&env, conn, cut).await;
        }
        failures = failures.saturating_add(1);
        if failures.is_multiple_of(transport.retries.saturating_add(1)) {
            shared.change(|state| state.flushes += 1);
        }
        let pause = transport.reconnect.pause(&env, failures);
        let now = env.monotonic().await;
        env.sleep_until(now.saturating_add(pause)).await;
    }
}

/// The state that a driver and its requests share.
struct Shared<C>(Arc<Mutex<State<C>>>);

struct State<C> {
    open: Option<C>,
    cut: Option<Cut>,
    /// The number of the connection opened last.
    opened: u64,
    flushes: u64,
    /// Requests without a connection.
    waiting: Vec<Waker>,
    /// The driver, while it waits for the end of its connection.
    task: Option<Waker>,
}

impl<C> Clone for Shared<C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<C> Shared<C> {
    fn lock(&self) -> MutexGuard<'_, State<C>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something, and wakes the requests that wait.
    fn change(&self, change: impl FnOnce(&mut State<C>)) {
        let mut state = self.lock();
        change(&mut state);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        // Not under the lock: whom it wakes may run at once.
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Waits until the connection has ended: its machine says so, a request found out, or the driver leaves it.
    async fn wait_for_end<E: Env<Conn = C>>(&self, env: &E, conn: C, cut: Option<Cut>) {
        let Some(cut) = cut else { return self.wait_for_break(env, &conn).await };
        if let Either::Right(_) = select(pin!(self.wait_for_break(env, &conn)), pin!(cut.comes())).await {
            self.lock().open = None;
            cut.ends(env, &conn).await;
        }
    }

    /// Waits until the machine says that it has ended, or a request found out.
    async fn wait_for_break<E: Env<Conn = C>>(&self, env: &E, conn: &C) {
        let mut closed = pin!(env.wait_closed(conn));
        poll_fn(|cx| {
            if closed.as_mut().poll(cx).is_ready() {
                self.lock().open = None;
                return Poll::Ready(());
            }
            let mut state = self.lock();
            state.task = Some(cx.waker().clone());
            if state.open.is_none() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}
