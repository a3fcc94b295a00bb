//! The way to a master that somebody has to be asked for: which Sentinels a driver asks, in which order, how patiently,
//! and what it does where none answers.
//!
//! Most drivers ask when they make a connection, and leave one that stands as it is: an old master that comes back goes
//! on serving whoever is still connected. Three hear of a new master meanwhile (`watch`). What else ends a connection
//! is in `link` and `driver` beside this.
//!
//! Not modelled: handshakes with a Sentinel, and Sentinels that a driver learns of from others.
//!
//! Decision: "A driver decides how its clients find the master" (docs/decisions/locks.md).

mod laws;
mod watch;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use redis::aio::ConnectionLike;
use redis::{Cmd, RedisError, Value};

use self::laws::{Hears, Law, Order, Question, UnderWay, WhenNone};
use self::watch::{Heard, Watch};
use super::link::{Failure, Link, OnTimeout, Unopened, connect};
use super::request::is_master;
use super::tries::sleep;
use super::wire::{NoReply, deadline_after, run_until};
use crate::config::MasterDiscovery;
use crate::env::{Env, MasterGroup, MonotonicTime, NodeName};

/// Whoever looks for the master for one link.
pub(super) struct Finder<E: Env> {
    discovery: MasterDiscovery,
    law: Law,
    /// Those who are asked: the Sentinels, or the nodes themselves.
    asked: Vec<Link<E>>,
    /// The name by which Sentinels know the master.
    name: NodeName,
    /// The master at the beginning.
    first: Option<NodeName>,
    /// The place of each of them in the order in which they are asked.
    order: Vec<usize>,
    /// The next one in that order, for a driver that goes round.
    cursor: usize,
    /// The last answer.
    last: Option<NodeName>,
    /// News from beside its connections.
    heard: Heard,
    /// The number of changes of the master when the last connection was made.
    used: u64,
    watch: Option<Arc<Watch>>,
    /// The Sentinel that is asked alone.
    kept: Option<usize>,
}

impl<E: Env> Finder<E> {
    /// For a link to the master of a group, whose driver waits so long for a command.
    pub(super) fn new(
        env: &E,
        name: &NodeName,
        group: &MasterGroup,
        asks: (MasterDiscovery, Option<Duration>),
    ) -> Self {
        let (by_driver, timeout) = asks;
        let discovery = match group.discovery.unwrap_or(by_driver) {
            MasterDiscovery::Fixed => MasterDiscovery::Fixed,
            _ if group.sentinels.is_empty() => MasterDiscovery::AskNodes,
            chosen => chosen,
        };
        let law = Law::of(discovery, timeout);
        let asked = match discovery {
            MasterDiscovery::Fixed => &[],
            MasterDiscovery::AskNodes => &group.nodes[..],
            _ => &group.sentinels[..],
        };
        let link = |node: &NodeName| link_to(env, &law, node);
        let asked: Vec<Link<E>> = asked.iter().map(link).collect();
        Self {
            discovery,
            order: (0..asked.len()).collect(),
            law,
            asked,
            name: name.clone(),
            first: group.nodes.first().cloned(),
            cursor: 0,
            last: None,
            heard: Heard::default(),
            used: 0,
            watch: None,
            kept: None,
        }
        .listening(env, group)
    }

    /// Begins to listen, if the driver does so from the beginning.
    fn listening(self, env: &E, group: &MasterGroup) -> Self {
        let at = (&self.name, &self.heard);
        let watch = match self.law.hears {
            Hears::Each => Some(Watch::listen_to_all(env, self.law, &group.sentinels, at)),
            Hears::Asking => Some(Watch::ask_for_ever(env, self.law, &group.sentinels, at)),
            Hears::Nothing | Hears::Kept | Hears::EachAnew => None,
        };
        Self { watch: watch.map(Arc::new), ..self }
    }

    /// True if the master has become another since the last connection was made, and the driver knows.
    pub(super) fn has_moved(&self) -> bool {
        self.heard.changes() != self.used
    }

    /// Runs a request on the last connection; the end of that connection, if the driver hears of another master
    /// meanwhile and does not let the request go on.
    pub(super) fn cut(&self) -> Option<Cut> {
        let fails_after = match self.law.under_way {
            UnderWay::GoesOn => return None,
            UnderWay::FailsAfter(time) => Some(time),
            UnderWay::IsForgotten => None,
        };
        Some(Cut { heard: self.heard.clone(), used: self.used, fails_after })
    }

    /// The way in which it finds the master.
    pub(super) fn discovery(&self) -> MasterDiscovery {
        self.discovery
    }

    /// The master's name; a failure if nobody tells it, for a driver that gives up.
    ///
    /// In a box: whom it asks is asked over links, which may look for a master themselves.
    pub(super) fn find<'a>(
        &'a mut self,
        env: &'a E,
    ) -> Pin<Box<dyn Future<Output = Result<NodeName, Failure>> + Send + 'a>> {
        Box::pin(async move {
            if self.discovery == MasterDiscovery::Fixed {
                return self.first.clone().ok_or_else(none_found);
            }
            if matches!(self.law.hears, Hears::Each | Hears::Asking)
                && let Some(master) = self.heard.master()
            {
                return Ok(master);
            }
            let mut rounds = 0;
            loop {
                if let Some(found) = self.ask_all(env).await {
                    self.last = Some(found.clone());
                    self.heard.tell(found.clone());
                    return Ok(found);
                }
                rounds += 1;
                match self.law.when_none {
                    WhenNone::GiveUp => return Err(none_found()),
                    WhenNone::LastKnown => return self.last.clone().ok_or_else(none_found),
                    WhenNone::AskAgain => sleep(env, Duration::from_millis((10 * rounds).min(1_000))).await,
                }
            }
        })
    }

    /// Asks one after the other, until one names a master.
    async fn ask_all(&mut self, env: &E) -> Option<NodeName> {
        if self.law.order == Order::AllAtOnce {
            return self.ask_kept(env).await;
        }
        if self.law.order != Order::Circle {
            self.cursor = 0;
        }
        while let Some(&index) = self.order.get(self.cursor) {
            self.cursor += 1;
            let (was_asked, found) = self.ask(env, index).await;
            if found.is_some() {
                if self.law.order == Order::AnsweringFirst {
                    self.order.swap(0, self.cursor - 1);
                }
                return found;
            }
            if was_asked && self.law.order == Order::FirstThatConnects {
                return None;
            }
        }
        self.cursor = 0;
        None
    }

    /// Asks the Sentinel that is kept, twice if it must be; without one, all at once.
    async fn ask_kept(&mut self, env: &E) -> Option<NodeName> {
        if let Some(kept) = self.kept {
            for _ in 0..2 {
                if let (_, Some(found)) = self.ask(env, kept).await {
                    return Some(found);
                }
            }
            (self.kept, self.watch) = (None, None);
        }
        let (question, name) = (self.law.question, &self.name);
        let answers = self.asked.iter_mut().enumerate().map(|(index, link)| async move {
            let reply = link.call(env, &question.command(name)).await.ok()?;
            Some((index, question.answer(&reply, name)?))
        });
        let mut answers: FuturesUnordered<_> = answers.collect();
        while let Some(answer) = answers.next().await {
            let Some((index, found)) = answer else { continue };
            drop(answers);
            let sentinel = self.asked[index].node().clone();
            self.kept = Some(index);
            self.watch = Some(Arc::new(Watch::listen_to_one(env, &sentinel, &self.name, &self.heard)));
            return Some(found);
        }
        None
    }

    /// Asks one of them. Whether it could be asked, and whom it names.
    async fn ask(&mut self, env: &E, index: usize) -> (bool, Option<NodeName>) {
        let link = &mut self.asked[index];
        let reply = link.call(env, &self.law.question.command(&self.name)).await;
        if !self.law.keeps_connection {
            link.disconnect();
        }
        let was_asked = !matches!(reply, Err(Failure::Unsent(_)));
        let found = reply.ok().and_then(|reply| self.law.question.answer(&reply, &self.name));
        let found =
            if self.law.question == Question::Role { found.map(|_| link.node().clone()) } else { found };
        (was_asked, found)
    }

    /// Finds the master and connects to it; within that time, once it is found.
    pub(super) async fn dial(&mut self, env: &E, limit: Option<Duration>) -> Result<E::Conn, Unopened> {
        if self.discovery == MasterDiscovery::GoRedis {
            // The time for one try holds the questions as well.
            let until = deadline_after(env, limit).await;
            let dialed = run_until(env, until, Box::pin(self.find_and_connect(env, None))).await;
            return dialed.unwrap_or(Err(Unopened::Late));
        }
        self.find_and_connect(env, limit).await
    }

    async fn find_and_connect(&mut self, env: &E, limit: Option<Duration>) -> Result<E::Conn, Unopened> {
        let found = self.find(env).await.map_err(|_| Unopened::Failed(NONE_FOUND.into()))?;
        let deadline = deadline_after(env, limit).await;
        let mut conn = connect(env, &found, deadline).await?;
        self.used = self.heard.changes();
        if self.law.hears == Hears::EachAnew {
            let sentinels = self.asked.iter().map(Link::node);
            self.watch = Some(Arc::new(Watch::listen_once(env, sentinels, (&self.name, &self.heard))));
        }
        if !self.discovery.checks_role() || self.is_master(env, &mut conn, deadline).await {
            return Ok(conn);
        }
        self.blame_last();
        Err(Unopened::Failed("the node that was named is no master".into()))
    }

    /// Looks at the role of a node, unless the driver leaves it meanwhile.
    async fn is_master(&self, env: &E, conn: &mut E::Conn, deadline: Option<MonotonicTime>) -> bool {
        let deadline = deadline.filter(|_| !self.discovery.waits_for_role());
        let mut info = Cmd::new();
        info.arg("INFO");
        let mut is_master = false;
        let looks = async {
            is_master = conn.req_packed_command(&info).await.is_ok_and(|info| says_master(&info));
            Ok(())
        };
        let looked = match self.cut() {
            Some(cut) => run_until(env, deadline, Box::pin(cut.run(env, None, looks))).await.is_ok(),
            None => run_until(env, deadline, looks).await.is_ok(),
        };
        looked && is_master
    }

    /// The same, for somebody else of this client.
    pub(super) fn twin(&self) -> Self {
        let asked = self.asked.iter().map(Link::twin).collect();
        let (order, name) = (self.order.clone(), self.name.clone());
        let (first, last) = (self.first.clone(), self.last.clone());
        let (heard, watch) = (self.heard.clone(), self.watch.clone());
        Self { asked, order, name, first, last, heard, watch, ..*self }
    }

    /// The node that was found is no master: the next one is asked first. ioredis turns its list.
    fn blame_last(&mut self) {
        if self.law.order == Order::Circle && self.order.len() > 1 {
            self.order.rotate_left(1);
            self.cursor = 0;
        }
    }
}

const NONE_FOUND: &str = "nobody names a master";

fn none_found() -> Failure {
    Failure::Unsent(NONE_FOUND.into())
}

impl Question {
    fn command(self, name: &NodeName) -> Cmd {
        let mut command = Cmd::new();
        match self {
            Self::Address => command.arg("SENTINEL").arg("GET-MASTER-ADDR-BY-NAME").arg(name.as_str()),
            Self::Masters => command.arg("SENTINEL").arg("MASTERS"),
            Self::Role => command.arg("ROLE"),
        };
        command
    }

    fn answer(self, reply: &Value, name: &NodeName) -> Option<NodeName> {
        match self {
            Self::Address => match reply {
                Value::Array(words) => words.first().and_then(text).map(|host| NodeName::new(&host)),
                _ => None,
            },
            Self::Masters => {
                let Value::Array(masters) = reply else { return None };
                let named = |master: &&Value| field(master, "name").as_deref() == Some(name.as_str());
                let master = masters.iter().find(named)?;
                let flags = field(master, "flags")?;
                let is = |flag: &str| flags.split(',').any(|word| word == flag);
                let is_up = is("master") && !is("s_down") && !is("o_down");
                field(master, "ip").filter(|_| is_up).map(|host| NodeName::new(&host))
            }
            Self::Role => is_master(reply).then(|| name.clone()),
        }
    }
}

/// The value of a name in a list of names and values, or in a map.
fn field(fields: &Value, name: &str) -> Option<String> {
    match fields {
        Value::Array(words) => {
            let mut pairs = words.chunks_exact(2);
            pairs.find_map(|pair| (text(&pair[0])? == name).then(|| text(&pair[1])).flatten())
        }
        Value::Map(pairs) => {
            pairs.iter().find_map(|(key, value)| (text(key)? == name).then(|| text(value)).flatten())
        }
        _ => None,
    }
}

/// The end of a connection at which a driver finds out that it leads to a node that is not the master any more.
#[derive(Clone)]
pub(super) struct Cut {
    heard: Heard,
    used: u64,
    /// The time after which a request fails; `None`: it is forgotten.
    fails_after: Option<Duration>,
}

impl Cut {
    /// Runs a request, unless the driver ends its connection meanwhile: then it fails, or nothing comes of it until
    /// its time is over.
    pub(super) async fn run<E: Env>(
        &self,
        env: &E,
        limit: Option<Duration>,
        request: impl Future<Output = Result<(), NoReply>> + Send,
    ) -> Result<(), NoReply> {
        let until = deadline_after(env, limit).await;
        let request = match select(Box::pin(request), Box::pin(self.comes())).await {
            Either::Left((done, _)) => return done,
            Either::Right(((), request)) => request,
        };
        let Some(time) = self.fails_after else {
            let over: Result<(), _> = run_until(env, until, std::future::pending()).await;
            return Err(over.map_or_else(NoReply::from, |()| NoReply::Late));
        };
        let closed = deadline_after(env, Some(time)).await;
        run_until(env, closed, request)
            .await
            .unwrap_or_else(|_| Err(NoReply::Error(Box::new(closed_error()))))
    }

    /// Waits until the driver hears of another master.
    pub(super) async fn comes(&self) {
        self.heard.changed(self.used).await;
    }

    /// Waits until a connection has ended of which the driver has said that it ends it: its other end does so once it
    /// has answered all requests, or the driver after a while. A PING stands for that question.
    pub(super) async fn ends<E: Env>(&self, env: &E, conn: &E::Conn) {
        let mut ping = Cmd::new();
        ping.arg("PING");
        // What is forgotten is asked nothing: a node that stands still would never answer.
        let closed = deadline_after(env, Some(self.fails_after.unwrap_or_default())).await;
        // Either way it has ended.
        let _answered = run_until(env, closed, conn.clone().req_packed_command(&ping)).await;
    }
}

fn closed_error() -> RedisError {
    std::io::Error::new(std::io::ErrorKind::ConnectionAborted, "the driver closed the connection").into()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) => Some(text.clone()),
        _ => None,
    }
}

/// True if an INFO is a master's.
fn says_master(info: &Value) -> bool {
    text(info).is_some_and(|info| info.lines().any(|line| line == "role:master"))
}

/// The way to one of those who are asked.
fn link_to<E: Env>(env: &E, law: &Law, node: &NodeName) -> Link<E> {
    let link = Link::new(node.clone(), law.reply_timeout, OnTimeout::Reconnect);
    link.with_transport(env, law.transport())
}
