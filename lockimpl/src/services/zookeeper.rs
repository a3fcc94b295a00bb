//! A client of ZooKeeper: its session, the heartbeats that keep it alive, and the way back to it.
//!
//! Two libraries are here, which differ in when they notice what. Both send a heartbeat when a third of the session's
//! timeout has passed. Kazoo takes a connection for dead when the next heartbeat is due and the last is unanswered, and
//! hears that its session is over when the service says so. ZooKeeper's own client takes it for dead when nothing has
//! come for two thirds of the timeout; Curator above it says LOST by its own wall clock, when the connection has been
//! away for the whole timeout, and begins a new session. All other times are readings of the monotonic clock.
//!
//! A process that is stopped hears nothing until it goes on.
//!
//! Not modelled: several hosts to choose from, authentication, and the read-only mode.
//!
//! Sources: kazoo 2.11.0, `protocol/connection.py`; ZooKeeper 3.8.0, `ClientCnxn.java`; Curator 5.4.0,
//! `ConnectionStateManager.java`.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use doublehold_services::ServiceKind;
use doublehold_services::zookeeper::{Answer, Request, SessionId, ZooKeeper};

use super::{LinkEnded, ServiceLink};
use crate::config::Choice;
use crate::env::jitter::up_to;
use crate::env::{DeadlinePassed, Env, MonotonicTime, NodeName, WallTime};
use crate::lock::Watch;

/// kazoo's heartbeats are early by as much at least, and by so much more at most.
const KAZOO_LEAST_JITTER: Duration = Duration::from_millis(10);
const KAZOO_MORE_JITTER: Duration = Duration::from_millis(390);
/// kazoo's pauses between two attempts to connect double, each give or take 40 %.
const KAZOO_FIRST_PAUSE: Duration = Duration::from_millis(100);
const KAZOO_LONGEST_PAUSE: Duration = Duration::from_secs(3600);
/// ZooKeeper's own client waits for so long where it has one host, and up to as long again.
const JAVA_PAUSE: Duration = Duration::from_secs(1);

/// A library that keeps a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionClient {
    /// kazoo, of Python.
    Kazoo,
    /// Curator, over ZooKeeper's own client of Java.
    Curator,
}

/// The news at which a holder stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Heeds {
    /// Nothing: it works on, whatever its library says.
    #[default]
    Nothing,
    /// LOST: the session is over.
    Lost,
    /// SUSPENDED: the connection is gone, and the session may be over.
    Suspended,
}

impl Choice for Heeds {
    const WORDS: &'static [(&'static str, Self)] =
        &[("nothing", Self::Nothing), ("lost", Self::Lost), ("suspended", Self::Suspended)];
}

/// The state of a client's session, in the words of both libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// No session yet, or the last one is over.
    Lost,
    /// The service answers.
    Connected,
    /// The connection is gone, and the session may be over.
    Suspended,
}

/// A client of ZooKeeper, which keeps one session at a time. Clones share it.
pub struct ZooKeeperClient<E: Env> {
    env: E,
    host: NodeName,
    library: SessionClient,
    heeds: Heeds,
    timeout: Duration,
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    status: SessionState,
    link: Option<ServiceLink<ZooKeeper>>,
    session: Option<SessionId>,
    /// The number of changes of the status.
    changes: u64,
    waiting: Vec<Waker>,
    /// The grants that rest on the session.
    grants: Vec<Watch>,
}

impl<E: Env> ZooKeeperClient<E> {
    /// A client whose session has this timeout, once it is [kept](Self::keep_session).
    pub(crate) fn new(
        env: &E,
        host: &NodeName,
        library: SessionClient,
        heeds: Heeds,
        timeout: Duration,
    ) -> Self {
        let shared = Shared {
            status: SessionState::Lost,
            link: None,
            session: None,
            changes: 0,
            waiting: Vec::new(),
            grants: Vec::new(),
        };
        let shared = Arc::new(Mutex::new(shared));
        Self { env: env.clone(), host: host.clone(), library, heeds, timeout, shared }
    }

    /// Returns the state of the session, as far as the client knows.
    pub fn state(&self) -> SessionState {
        self.shared().status
    }

    /// Returns how often the state has changed.
    pub(super) fn changes(&self) -> u64 {
        self.shared().changes
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    ///
    /// If there is no connection, or it ends first.
    pub(crate) async fn ask(&self, request: Request) -> Result<Answer, LinkEnded> {
        let (link, changes) = {
            let shared = self.shared();
            (shared.link.clone().ok_or(LinkEnded)?, shared.changes)
        };
        let answer = link.ask(&request).await;
        if answer.is_err() {
            // Who asks again at once would ask before anybody has noticed.
            self.wait_for_change(changes).await;
        }
        answer
    }

    async fn wait_for_change(&self, known: u64) {
        poll_fn(|cx| {
            let mut shared = self.shared();
            if shared.changes != known {
                return Poll::Ready(());
            }
            shared.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Waits until the service answers: until there is a session with a connection.
    pub async fn wait_connected(&self) {
        poll_fn(|cx| {
            let mut shared = self.shared();
            if shared.status == SessionState::Connected {
                return Poll::Ready(());
            }
            shared.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Waits until a watch fires, or the connection changes.
    pub(crate) async fn wait_for_watch(&self) {
        let (link, changes) = {
            let shared = self.shared();
            (shared.link.clone(), shared.changes)
        };
        let Some(link) = link else { return };
        loop {
            let (known, ended) = link.progress();
            if ended || !link.take_events().is_empty() || self.shared().changes != changes {
                return;
            }
            link.wait_for_more(known).await;
        }
    }

    /// Waits until a watch of a node fires, on the connection that there was after so many changes.
    ///
    /// # Errors
    ///
    /// If that connection has ended.
    pub(super) async fn wait_for_watch_of(&self, node: &str, connection: u64) -> Result<(), LinkEnded> {
        let link = {
            let shared = self.shared();
            shared.link.clone().filter(|_| shared.changes == connection).ok_or(LinkEnded)?
        };
        loop {
            let (known, ended) = link.progress();
            if link.take_event(|event| matches!(event, Answer::Fired { path, .. } if path == node)) {
                return Ok(());
            }
            if ended {
                return Err(LinkEnded);
            }
            link.wait_for_more(known).await;
        }
    }

    /// Lets a grant hear of what becomes of the session.
    pub(crate) fn add_grant(&self, watch: Watch) {
        self.shared().grants.push(watch);
    }

    /// A grant was given back.
    pub(crate) fn remove_grant(&self, watch: &Watch) {
        self.shared().grants.retain(|grant| grant != watch);
    }

    /// Begins a session, and keeps it alive for as long as the process lives; begins another when it is over.
    pub(crate) async fn keep_session(self) {
        let mut pause = None;
        // Curator's: since when the connection has been away.
        let mut away: Option<WallTime> = None;
        loop {
            match self.unless_given_up(away, self.connect_after(pause)).await {
                None => {
                    self.shared().session = None;
                    self.lose().await;
                    (pause, away) = (None, None);
                }
                Some(None) => pause = Some(self.next_pause(pause)),
                Some(Some(link)) => {
                    self.keep_connection(&link).await;
                    link.close();
                    self.suspend().await;
                    (pause, away) = (Some(self.next_pause(None)), Some(self.env.wall().await));
                }
            }
        }
    }

    /// Does `what`, unless Curator gives the session up first: when its wall clock says that the connection has been
    /// away for the whole timeout.
    async fn unless_given_up<T: Send>(
        &self,
        away: Option<WallTime>,
        what: impl Future<Output = T> + Send,
    ) -> Option<T> {
        let Some(since) = away.filter(|_| self.library == SessionClient::Curator) else {
            return Some(what.await);
        };
        let passed = u64::try_from(self.env.wall().await.0.saturating_sub(since.0)).unwrap_or(0);
        let left = self.timeout.saturating_sub(Duration::from_nanos(passed));
        let gives_up = self.env.monotonic().await.saturating_add(left);
        self.env.race(what, gives_up).await.ok()
    }

    async fn connect_after(&self, pause: Option<Duration>) -> Option<ServiceLink<ZooKeeper>> {
        if let Some(pause) = pause {
            let until = self.env.monotonic().await.saturating_add(pause);
            self.env.sleep_until(until).await;
        }
        self.connect().await
    }

    /// Returns the pause before the next attempt to connect, after one that came after `last`.
    fn next_pause(&self, last: Option<Duration>) -> Duration {
        match self.library {
            SessionClient::Kazoo => {
                let doubled = last.map_or(KAZOO_FIRST_PAUSE, |last| last * 2).min(KAZOO_LONGEST_PAUSE);
                doubled * 6 / 10 + up_to(&self.env, doubled * 8 / 10)
            }
            SessionClient::Curator => JAVA_PAUSE + up_to(&self.env, JAVA_PAUSE),
        }
    }

    /// Connects, and goes on with the session or begins one. A session that is over is said to be lost.
    async fn connect(&self) -> Option<ServiceLink<ZooKeeper>> {
        let limit = self.env.monotonic().await.saturating_add(self.timeout);
        let stream = self
            .env
            .race(self.env.stream(self.host.as_str(), ServiceKind::ZooKeeper.port()), limit)
            .await
            .ok()?
            .ok()?;
        let link = ServiceLink::new(&self.env, stream);
        let session = self.shared().session;
        let connect = Request::Connect { session, timeout: self.timeout };
        match self.env.race(link.ask(&connect), limit).await {
            Ok(Ok(Answer::Connected { session, .. })) => {
                let is_back = {
                    let mut shared = self.shared();
                    let is_back = shared.status == SessionState::Suspended;
                    (shared.session, shared.link) = (Some(session), Some(link.clone()));
                    shared.set_status(SessionState::Connected);
                    is_back
                };
                if is_back {
                    self.env
                        .notice_recovery(match self.library {
                            SessionClient::Kazoo => "CONNECTED",
                            SessionClient::Curator => "RECONNECTED",
                        })
                        .await;
                }
                Some(link)
            }
            Ok(Ok(Answer::Expired)) => {
                link.close();
                self.shared().session = None;
                self.lose().await;
                None
            }
            _ => {
                link.close();
                None
            }
        }
    }

    /// Sends heartbeats until the connection is dead.
    async fn keep_connection(&self, link: &ServiceLink<ZooKeeper>) {
        match self.library {
            SessionClient::Kazoo => self.keep_as_kazoo(link).await,
            SessionClient::Curator => self.keep_as_java(link).await,
        }
    }

    /// A heartbeat is due when half of the read timeout has passed, less a jitter; if the last one is unanswered then,
    /// the connection is dead. The read timeout is two thirds of the session's.
    async fn keep_as_kazoo(&self, link: &ServiceLink<ZooKeeper>) {
        let (mut last_sent, mut unanswered) = (self.env.monotonic().await, None);
        loop {
            let jitter = KAZOO_LEAST_JITTER + up_to(&self.env, KAZOO_MORE_JITTER);
            let due = last_sent.saturating_add((self.timeout / 3).saturating_sub(jitter));
            if !self.hears_until(link, due).await {
                return;
            }
            let (received, _) = link.progress();
            if unanswered == Some(received) {
                return;
            }
            if self.env.monotonic().await >= due {
                send_heartbeat(&self.env, link);
                (last_sent, unanswered) = (self.env.monotonic().await, Some(received));
            }
        }
    }

    /// A heartbeat is due when nothing was sent for half of the read timeout; the connection is dead when nothing has
    /// come for all of it.
    async fn keep_as_java(&self, link: &ServiceLink<ZooKeeper>) {
        let mut last_sent = self.env.monotonic().await;
        let (mut last_received, mut received) = (last_sent, link.progress().0);
        loop {
            let ping_due = last_sent.saturating_add(self.timeout / 3);
            let dead_at = last_received.saturating_add(self.timeout * 2 / 3);
            if !self.hears_until(link, ping_due.min(dead_at)).await {
                return;
            }
            let now = self.env.monotonic().await;
            let (heard, _) = link.progress();
            if heard > received {
                (last_received, received) = (now, heard);
            } else if now >= dead_at {
                return;
            }
            if now >= ping_due {
                send_heartbeat(&self.env, link);
                last_sent = now;
            }
        }
    }

    /// Waits until something comes or the clock shows `due`; false if the connection has ended.
    async fn hears_until(&self, link: &ServiceLink<ZooKeeper>, due: MonotonicTime) -> bool {
        let (known, _) = link.progress();
        // Both are looked at below, whichever came first.
        let _: Result<(), DeadlinePassed> = self.env.race(link.wait_for_more(known), due).await;
        !link.progress().1
    }

    /// The connection is gone. Curator gives the session up by its own clock.
    async fn suspend(&self) {
        {
            let mut shared = self.shared();
            shared.link = None;
            shared.set_status(SessionState::Suspended);
        }
        self.tell("SUSPENDED", Heeds::Suspended).await;
    }

    /// The session is over, or is taken to be.
    async fn lose(&self) {
        let was_lost = {
            let mut shared = self.shared();
            let was_lost = shared.status == SessionState::Lost;
            shared.set_status(SessionState::Lost);
            was_lost
        };
        if !was_lost {
            self.tell("LOST", Heeds::Lost).await;
        }
    }

    /// Tells the process, which stops if it heeds such news, or milder news.
    async fn tell(&self, notice: &'static str, news: Heeds) {
        self.env.notice_loss(notice).await;
        let heeds = match self.heeds {
            Heeds::Nothing => false,
            Heeds::Lost => news == Heeds::Lost,
            Heeds::Suspended => true,
        };
        if heeds {
            let grants = self.shared().grants.clone();
            grants.iter().for_each(|watch| watch.lose(true));
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Env> Clone for ZooKeeperClient<E> {
    fn clone(&self) -> Self {
        Self { env: self.env.clone(), host: self.host.clone(), shared: self.shared.clone(), ..*self }
    }
}

impl Shared {
    fn set_status(&mut self, status: SessionState) {
        self.status = status;
        self.changes += 1;
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

/// Sends a heartbeat. The count of messages shows later if it was answered.
fn send_heartbeat<E: Env>(env: &E, link: &ServiceLink<ZooKeeper>) {
    let pong = link.ask(&Request::Ping);
    env.spawn(async move {
        let _: Result<Answer, LinkEnded> = pong.await;
    });
}
