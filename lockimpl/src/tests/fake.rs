//! A world small enough to read: one true time, one client machine whose clocks can be set wrong, and
//! nodes that know the commands a lock sends.
//!
//! Nothing happens but by [`World::run`], which polls the code under test and, when it waits, moves
//! time to the next thing due. Does not model Lua (scripts are recognised by their hash) nor bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use redis::aio::ConnectionLike;
use redis::{Cmd, Pipeline, RedisFuture, RedisResult, Value};
use tokio::io::DuplexStream;

use super::adapter::Script;
use super::node::Node;
use crate::env::{BootTime, Env, MonotonicTime, NodeName, Pushes, Task, WallTime};

pub(super) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The wall clock of a world that has just begun.
pub(super) const WALL_START: i64 = 1_700_000_000_000_000_000;

/// The handle to everything; also the client's environment.
#[derive(Clone, Default)]
pub(super) struct World(Arc<Mutex<State>>);

type Change = Box<dyn FnOnce(&mut State) + Send>;

/// The world's state. Times are true times in nanoseconds.
#[derive(Default)]
pub(super) struct State {
    pub(super) now: u64,
    /// What the wall clock is wrong by.
    pub(super) wall_error: i64,
    /// How long the machine has been suspended: the monotonic clock stood still.
    suspended: u64,
    pub(super) nodes: BTreeMap<String, Node>,
    process_state: crate::ProcessState,
    /// What locks said they mark their keys with.
    pub(super) marks: Vec<Vec<u8>>,
    /// The keys that locks said are claims whatever they hold.
    pub(super) marked_keys: Vec<Vec<u8>>,
    /// The resources and their keys, as locks named them.
    pub(super) named: Vec<(String, Vec<u8>)>,
    /// The nodes whose yes a lock said it counted, for each grant.
    pub(super) votes: Vec<Vec<String>>,
    /// Tasks that locks started, unless one of them is being polled.
    tasks: Vec<Pin<Box<dyn Future<Output = ()> + Send>>>,
    stop: Option<Stop>,
    timers: BTreeSet<u64>,
    /// What waits for anything at all; woken whenever time has moved.
    waiting: Vec<Waker>,
    due: BTreeMap<(u64, u64), Change>,
    counter: u64,
    /// The answers that nodes are to give to code over redis-rs' own connection.
    pub(super) script: Script,
}

#[derive(Clone, Copy)]
struct Stop {
    from: u64,
    to: u64,
    clocks_too: bool,
}

impl World {
    /// A world with these nodes, 1 ms away each way.
    pub(super) fn with_nodes(names: &[&str]) -> Self {
        let world = Self::default();
        world.state().nodes = names.iter().map(|name| ((*name).to_owned(), Node::default())).collect();
        world
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test panics while it holds the world")
    }

    /// Changes one node now.
    pub(super) fn node<T>(&self, name: &str, change: impl FnOnce(&mut Node) -> T) -> T {
        change(self.state().nodes.get_mut(name).expect("the test names a node of its world"))
    }

    /// Does something at a true time.
    pub(super) fn at(&self, time: Duration, change: impl FnOnce(&mut State) + Send + 'static) {
        self.state().schedule(nanos(time), Box::new(change));
    }

    /// Stops the client's code between two true times. Its clocks run.
    pub(super) fn pause(&self, from: Duration, to: Duration) {
        self.state().stop = Some(Stop { from: nanos(from), to: nanos(to), clocks_too: false });
    }

    /// Stops the client's machine between two true times, and its monotonic clock with it.
    pub(super) fn suspend(&self, from: Duration, to: Duration) {
        self.state().stop = Some(Stop { from: nanos(from), to: nanos(to), clocks_too: true });
    }

    pub(super) fn now(&self) -> Duration {
        Duration::from_nanos(self.state().now)
    }

    /// How many tasks of locks have not ended.
    pub(super) fn tasks(&self) -> usize {
        self.state().tasks.len()
    }

    /// Lets true time pass with the client idle.
    pub(super) fn sleep(&self, by: Duration) {
        let until = self.state().now + nanos(by);
        self.state().timers.insert(until);
        while self.state().now < until {
            self.state().advance();
        }
    }

    /// Runs the code under test to its end.
    pub(super) fn run<F: Future>(&self, code: F) -> F::Output {
        let mut code = pin!(code);
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(output) = code.as_mut().poll(&mut cx) {
                return output;
            }
            self.poll_tasks(&mut cx);
            // What the tasks did may be all that the code waits for.
            if let Poll::Ready(output) = code.as_mut().poll(&mut cx) {
                return output;
            }
            self.state().advance();
            let waiting = std::mem::take(&mut self.state().waiting);
            waiting.into_iter().for_each(Waker::wake);
        }
    }
}

impl World {
    /// Polls each task once, also those that tasks start.
    fn poll_tasks(&self, cx: &mut Context<'_>) {
        let mut polled = Vec::new();
        loop {
            let mut tasks = std::mem::take(&mut self.state().tasks);
            if tasks.is_empty() {
                break;
            }
            tasks.retain_mut(|task| task.as_mut().poll(cx).is_pending());
            polled.append(&mut tasks);
        }
        self.state().tasks = polled;
    }
}

impl State {
    fn schedule(&mut self, at: u64, change: Change) {
        self.counter += 1;
        self.due.insert((at, self.counter), change);
    }

    fn monotonic(&self) -> u64 {
        self.now - self.suspended
    }

    /// Moves time to whatever comes next, or to the end of a pause that would begin before it.
    fn advance(&mut self) {
        let timer = self.timers.range(self.now + 1..).next().copied();
        let event = self.due.keys().next().map(|(at, _)| *at);
        let next =
            timer.into_iter().chain(event).min().expect("the lock waits for something that never comes");
        let next = match self.stop.filter(|stop| next >= stop.from) {
            Some(stop) => {
                self.stop = None;
                self.suspended += if stop.clocks_too { stop.to - stop.from } else { 0 };
                stop.to
            }
            None => next,
        };
        while let Some(entry) = self.due.first_entry().filter(|entry| entry.key().0 <= next) {
            let ((at, _), change) = entry.remove_entry();
            self.now = self.now.max(at);
            change(self);
        }
        self.now = self.now.max(next);
    }
}

impl Env for World {
    type Conn = Conn;
    type Stream = DuplexStream;

    async fn wall(&self) -> WallTime {
        let state = self.state();
        WallTime(WALL_START + i64::try_from(state.now).expect("tests are short") + state.wall_error)
    }

    async fn monotonic(&self) -> MonotonicTime {
        MonotonicTime(self.state().monotonic())
    }

    async fn boot(&self) -> BootTime {
        BootTime(self.state().now)
    }

    async fn sleep_until(&self, at: MonotonicTime) {
        poll_fn(|cx| {
            let mut state = self.state();
            if state.monotonic() >= at.0 {
                return Poll::Ready(());
            }
            let due = at.0 + state.suspended;
            state.timers.insert(due);
            state.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn random(&self, bytes: &mut [u8]) {
        let mut state = self.state();
        state.counter += 1;
        bytes.fill(u8::try_from(state.counter % 251).expect("below 251"));
    }

    fn marks(&self, value: &[u8]) {
        self.state().marks.push(value.to_vec());
    }

    fn marks_key(&self, key: &[u8]) {
        self.state().marked_keys.push(key.to_vec());
    }

    fn names_key(&self, resource: &str, key: &[u8]) {
        self.state().named.push((resource.to_owned(), key.to_vec()));
    }

    fn votes(&self, nodes: &[&NodeName]) {
        self.state().votes.push(nodes.iter().map(|node| node.as_str().to_owned()).collect());
    }

    fn process_state<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.state().process_state.get()
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Task {
        let (handle, task) = Task::new(task);
        self.state().tasks.push(Box::pin(task));
        handle
    }

    async fn stream(&self, _: &str, _: u16) -> io::Result<DuplexStream> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this world has nodes only"))
    }

    async fn connect(&self, node: &NodeName) -> RedisResult<Conn> {
        let name = node.as_str().to_owned();
        if self.node(&name, |node| node.refuses_connections) {
            return Err(std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into());
        }
        if self.node(&name, |node| node.loses_connections) {
            std::future::pending::<()>().await;
        }
        Ok(Conn { world: self.clone(), node: name, stream: Arc::default(), listens: None })
    }

    async fn listen(&self, node: &NodeName) -> RedisResult<(Conn, Pushes)> {
        let conn = self.connect(node).await?;
        let (sender, pushes) = Pushes::channel();
        let listens = Some(self.node(node.as_str(), |node| node.listen(sender)));
        Ok((Conn { listens, ..conn }, pushes))
    }
}

/// A connection: requests arrive in the order sent, and so do replies.
#[derive(Clone)]
pub(super) struct Conn {
    world: World,
    node: String,
    stream: Arc<Mutex<Stream>>,
    /// By which number the node knows it, if it may push here.
    listens: Option<usize>,
}

#[derive(Default)]
struct Stream {
    last_arrival: u64,
    last_reply: u64,
    broken: bool,
}

type Slot = Arc<Mutex<Option<RedisResult<Value>>>>;

impl Conn {
    fn send(&self, cmd: &Cmd) -> RedisResult<Slot> {
        if self.stream.lock().expect("not poisoned").broken {
            return Err(std::io::Error::from(std::io::ErrorKind::BrokenPipe).into());
        }
        let args: Vec<Vec<u8>> = cmd
            .args_iter()
            .map(|arg| match arg {
                redis::Arg::Simple(bytes) => bytes.to_vec(),
                _ => panic!("a lock sends no cursors"),
            })
            .collect();
        let (slot, conn) = (Slot::default(), self.clone());
        let mut state = self.world.state();
        let delay = state.nodes[&self.node].request_delay;
        let arrival =
            in_order(&mut self.stream.lock().expect("not poisoned").last_arrival, state.now + nanos(delay));
        let reply_to = slot.clone();
        state.schedule(arrival, Box::new(move |state| conn.arrive(state, &args, reply_to)));
        Ok(slot)
    }

    async fn reply(&self, slot: Slot) -> RedisResult<Value> {
        poll_fn(|cx| match slot.lock().expect("not poisoned").take() {
            Some(reply) => Poll::Ready(reply),
            None => {
                self.world.state().waiting.push(cx.waker().clone());
                Poll::Pending
            }
        })
        .await
    }

    fn arrive(&self, state: &mut State, args: &[Vec<u8>], reply_to: Slot) {
        let now = state.now;
        let node = state.nodes.get_mut(&self.node).expect("the node was there when the request was sent");
        let Some((reply, after)) = node.serve(args, now) else { return };
        if let Some(listener) = self.listens.filter(|_| args[0] == b"SUBSCRIBE") {
            node.subscribe(listener, &args[1]);
        }
        let (said, way) = (node.said(), now + nanos(node.reply_delay));
        for (listener, push) in said {
            // A listener that is gone hears nothing.
            state.schedule(way, Box::new(move |_| drop(listener.send(push))));
        }
        let mut stream = self.stream.lock().expect("not poisoned");
        stream.broken |= reply.is_err();
        let at = in_order(&mut stream.last_reply, now + nanos(after));
        state.schedule(at, Box::new(move |_| *reply_to.lock().expect("not poisoned") = Some(reply)));
    }
}

impl ConnectionLike for Conn {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move { self.reply(self.send(cmd)?).await })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        _: usize,
        _: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let sent: RedisResult<Vec<Slot>> = pipeline.cmd_iter().map(|cmd| self.send(cmd)).collect();
            let mut replies = Vec::new();
            for slot in sent? {
                replies.push(self.reply(slot).await?);
            }
            Ok(replies)
        })
    }

    fn get_db(&self) -> i64 {
        0
    }
}

fn in_order(last: &mut u64, at: u64) -> u64 {
    *last = at.max(*last);
    *last
}

pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("tests are short")
}
