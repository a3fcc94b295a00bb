//! The lock of ZooKeeper's recipes: an ephemeral node in a line, and each waits for the one before it.
//!
//! 1. Make an ephemeral node with the next number below the node that is called as the lock.
//! 2. Ask for all nodes there. The one with the lowest number has the lock.
//! 3. Otherwise watch the node right before one's own, and go to 2 when it is gone.
//!
//! A waiter whose connection changes goes to 2 as well, and one whose session is over goes to 1. The lease is the
//! timeout of the session, and no deadline is computed: its holder hears SUSPENDED and LOST, and does with it what
//! `heeds` says.
//!
//! Sources: ZooKeeper Recipes and Solutions, "Locks"; kazoo 2.11.0, `recipe/lock.py`; Curator 5.4.0,
//! `LockInternals.java` and `StandardLockInternalsDriver.java`.

use std::time::Duration;

use doublehold_services::ServiceKind;
use doublehold_services::zookeeper::{Answer, Request};

use crate::config::{Choice, Descriptor, FENCING, Facts, Form, LockConfig, Nodes, Sends, Switches};
use crate::env::{DeadlinePassed, Env, MonotonicTime, NodeName};
use crate::lock::{Acquired, Doubt, Grant, Lock, Refusal, Released, Token, Watch};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};
use crate::services::LinkEnded;
use crate::services::zookeeper::{Heeds, SessionClient, ZooKeeperClient};

/// The lock as one of these libraries has it.
pub(crate) struct ZooKeeperKind(pub(crate) SessionClient);

/// Its switches.
pub(crate) struct Config {
    heeds: Heeds,
    fencing: bool,
    release_says: ReleaseSays,
}

/// The outcome of a release whose node is not there any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReleaseSays {
    /// That it has released the lock, as kazoo and Curator do.
    #[default]
    Done,
    /// That the lock was lost.
    Lost,
}

impl Choice for ReleaseSays {
    const WORDS: &'static [(&'static str, Self)] = &[("done", Self::Done), ("lost", Self::Lost)];
}

impl LockConfig for Config {
    fn read(form: &mut Form<'_>) -> Self {
        Self {
            heeds: form.choice("heeds", Heeds::default(), "the news of its session at which a holder stops"),
            fencing: form.flag("fencing", false, FENCING),
            release_says: form.choice(
                "release_says",
                ReleaseSays::default(),
                "what a release says that finds the holder's node gone",
            ),
        }
    }

    fn facts(&self) -> Facts {
        let to_hold = vec!["CONNECT", "CREATE", "CHILDREN", "DATA", "DELETE", "PING"];
        Facts {
            sends: Some(Sends { to_hold, to_extend: Vec::new() }),
            extends: false,
            deadline: false,
            fencing: self.fencing,
            waits: true,
            renews: true,
            readmits: false,
        }
    }
}

impl<E: Env> LockKind<E> for ZooKeeperKind {
    fn descriptor(&self) -> Descriptor {
        let (name, meaning, source) = match self.0 {
            SessionClient::Kazoo => (
                KAZOO,
                "kazoo's Lock: an ephemeral node in ZooKeeper's line, kept alive beside its holder",
                "kazoo 2.11.0, recipe/lock.py; ZooKeeper Recipes and Solutions, \"Locks\"",
            ),
            SessionClient::Curator => (
                CURATOR,
                "Curator's InterProcessMutex: an ephemeral node in ZooKeeper's line, kept alive beside its holder",
                "Curator 5.4.0, LockInternals.java; ZooKeeper Recipes and Solutions, \"Locks\"",
            ),
        };
        Descriptor::from_config::<Config>(name, meaning, source, Nodes::One)
            .on_service(ServiceKind::ZooKeeper)
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let config = Config::from_switches(chosen)?;
        let host = only_node(KAZOO, nodes)?;
        Ok(BoxLock::new(ZooKeeperLock { env, host, library: self.0, config, client: None, held: Vec::new() }))
    }
}

const KAZOO: &str = "kazoo";
const CURATOR: &str = "curator";

struct ZooKeeperLock<E: Env> {
    env: E,
    host: NodeName,
    library: SessionClient,
    config: Config,
    client: Option<ZooKeeperClient<E>>,
    /// The node of each grant.
    held: Vec<(Token, String)>,
}

/// A node in line.
struct Place {
    path: String,
    zxid: u64,
}

/// The end of a wait without the lock.
enum Stopped {
    /// The time was up.
    Late,
    /// The answer was lost, or none that was expected.
    Lost,
}

impl From<LinkEnded> for Stopped {
    fn from(_: LinkEnded) -> Self {
        Stopped::Lost
    }
}

impl From<DeadlinePassed> for Stopped {
    fn from(_: DeadlinePassed) -> Self {
        Stopped::Late
    }
}

impl<E: Env> ZooKeeperLock<E> {
    /// The client, which is started where it is needed first.
    fn client(&mut self, ttl: Duration) -> ZooKeeperClient<E> {
        let (env, host, heeds) = (&self.env, &self.host, self.config.heeds);
        let start = || {
            let client = ZooKeeperClient::new(env, host, self.library, heeds, ttl);
            env.spawn(client.clone().keep_session());
            client
        };
        self.client.get_or_insert_with(start).clone()
    }

    async fn take(&mut self, resource: &str, ttl: Duration, limit: Duration, waits: bool) -> Acquired {
        let deadline = self.env.monotonic().await.saturating_add(limit);
        let client = self.client(ttl);
        let token = Token::draw(&self.env);
        let mut line = Line {
            env: &self.env,
            client: &client,
            resource,
            token: &token,
            deadline,
            place: None,
            has_asked: false,
        };
        match line.stand(waits).await {
            Ok(Some(place)) => {
                let watch = Watch::new(None);
                client.add_grant(watch.clone());
                self.held.push((token.clone(), place.path));
                let fencing = self.config.fencing.then_some(place.zxid);
                Acquired::Granted(Grant { fencing, watch: Some(watch), ..Grant::new(resource, token) })
            }
            Ok(None) => line.leave(Acquired::Refused(Refusal::Taken)).await,
            Err(Stopped::Late) => {
                let was_in_line = line.place.is_some();
                let unreachable = Acquired::Unknown(Doubt::Unreachable("no session".to_owned()));
                line.leave(if was_in_line { Acquired::Refused(Refusal::Taken) } else { unreachable }).await
            }
            Err(Stopped::Lost) => Acquired::Unknown(Doubt::ConnectionLost("of the session".to_owned())),
        }
    }
}

impl<E: Env> Lock for ZooKeeperLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        self.take(resource, ttl, ttl, false).await
    }

    async fn acquire_within(&mut self, resource: &str, ttl: Duration, limit: Duration) -> Acquired {
        self.take(resource, ttl, limit, true).await
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let Some(client) = self.client.clone() else { return Released::NotOwner };
        if let Some(watch) = &grant.watch {
            client.remove_grant(watch);
        }
        let Some(at) = self.held.iter().position(|(token, _)| *token == grant.token) else {
            return Released::NotOwner;
        };
        let (_, path) = self.held.swap_remove(at);
        // Both libraries ask until they are answered, also across connections.
        loop {
            client.wait_connected().await;
            return match client.ask(Request::Delete { path: path.clone() }).await {
                Err(LinkEnded) => continue,
                Ok(Answer::Deleted) => Released::Released,
                Ok(_) if self.config.release_says == ReleaseSays::Done => Released::Released,
                Ok(_) => Released::NotOwner,
            };
        }
    }
}

/// A client's way through the line of one lock.
struct Line<'a, E: Env> {
    env: &'a E,
    client: &'a ZooKeeperClient<E>,
    resource: &'a str,
    token: &'a Token,
    deadline: MonotonicTime,
    place: Option<Place>,
    /// True once it has asked for a node.
    has_asked: bool,
}

impl<E: Env> Line<'_, E> {
    /// Stands in line until its node is first; `None` if another is and it does not wait.
    async fn stand(&mut self, waits: bool) -> Result<Option<Place>, Stopped> {
        loop {
            self.env.race(self.client.wait_connected(), self.deadline).await?;
            let Ok(before) = self.look().await else { continue };
            match before {
                None => return Ok(self.place.take()),
                Some(_) if !waits => return Ok(None),
                Some(before) => {
                    let watched = Request::Data { path: format!("/{}/{before}", self.resource), watch: true };
                    // A node that is gone by now, or a lost connection: look again.
                    if let Ok(Answer::Data(_)) = self.client.ask(watched).await {
                        self.env.race(self.client.wait_for_watch(), self.deadline).await?;
                    }
                }
            }
        }
    }

    /// Takes a place in the line, unless it has one, and returns the node right before it.
    async fn look(&mut self) -> Result<Option<String>, LinkEnded> {
        let name = format!("{}-lock-", self.token);
        let children = || Request::Children { path: format!("/{}", self.resource), watch: false };
        if self.place.is_none() && std::mem::replace(&mut self.has_asked, true) {
            // The answer to the first request may be lost, and its node in line.
            if let Answer::Children(names) = self.client.ask(children()).await?
                && let Some(own) = names.into_iter().find(|child| child.starts_with(&name))
            {
                // Its number is not known: a new node has one.
                self.client.ask(Request::Delete { path: format!("/{}/{own}", self.resource) }).await?;
            }
        }
        if self.place.is_none() {
            let create = Request::Create {
                path: format!("/{}/{name}", self.resource),
                data: self.token.as_bytes().to_vec(),
                ephemeral: true,
                sequential: true,
            };
            if let Answer::Created { path, zxid } = self.client.ask(create).await? {
                self.place = Some(Place { path, zxid });
            }
        }
        let Answer::Children(mut names) = self.client.ask(children()).await? else { return Err(LinkEnded) };
        names.sort_by(|one, other| sequence(one).cmp(sequence(other)));
        match names.iter().position(|child| child.starts_with(&name)) {
            Some(0) => Ok(None),
            Some(at) => Ok(Some(names[at - 1].clone())),
            None => {
                // The session is over, and the node went with it.
                self.place = None;
                Err(LinkEnded)
            }
        }
    }

    /// Gives its place up.
    async fn leave(&mut self, came_to: Acquired) -> Acquired {
        if let Some(place) = self.place.take() {
            let deleted = self.client.ask(Request::Delete { path: place.path }).await;
            if deleted.is_err() {
                return Acquired::Unknown(Doubt::ConnectionLost("of the session".to_owned()));
            }
        }
        came_to
    }
}

/// The ten digits at the end of a node's name, which are its place in the line.
fn sequence(name: &str) -> &str {
    name.get(name.len().saturating_sub(10)..).unwrap_or(name)
}
