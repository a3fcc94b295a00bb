//! The lock on a single node: `SET key token NX PX ttl` takes it, a script that compares the token
//! gives it back. The published form of it checks no time at all; the switches add what was asked of
//! it since.
//!
//! Assumes a node that does not forget. Does not retry: asking again is the caller's decision, or its driver's.
//! Assumes a node that does not forget. Asks again only where it is told how to wait.

use std::time::Duration;

use redis::Value;

use crate::clock::{Lease, Timing};
use crate::descriptor::{Descriptor, Facts, Nodes, Sends};
use crate::env::{Env, NodeName};
use crate::form::{Form, LockConfig};
use crate::link::{Failure, Link, OnTimeout};
use crate::lock::{Acquired, Doubt, Extended, Grant, Lock, Refusal, Released, Token, TooFewReplicas};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};
use crate::renewal::{Renewable, Renewed};
use crate::request::{RUNS_A_SCRIPT, ReleaseMethod, Request, says_yes};
use crate::switch::{Switches, Unfit};
use crate::transport::Transport;
use crate::waiting::{Signals, Wait, Waiting};

/// The switches of the lock on one node. The default is the lock of the Redis documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SingleConfig {
    /// Whether replies can come too late, and who measures it. Published without any check: an OK
    /// that arrives after the lease has ended is a grant. antirez: any lock that expires should
    /// check. A grant has a deadline only if it is computed here.
    pub timing: Timing,
    /// How long one command may take, connecting included; none waits for ever. Default 1 s. A
    /// command that was given up may still be executed.
    pub request_timeout: Option<Duration>,
    /// What happens to a connection on which a reply did not come in time.
    pub on_timeout: OnTimeout,
    /// How often the driver connects anew, and when. Published: never.
    pub transport: Transport,
    /// How the key is given back.
    pub release: ReleaseMethod,
    /// Take the lock by a script that also increments the counter at key `{resource}:fencing` (the
    /// braces are part of it), whose value becomes the grant's fencing number. Off as published.
    /// Kleppmann asks for such a number, and objects that a counter on one node is only as durable
    /// as the node: lost increments make numbers go backwards.
    pub fencing: bool,
    /// Let an extension set the key again when it is absent, as redsync offers and RedLock.net
    /// does. Another client may have held the lock in the gap, and nobody is told. Off.
    pub extend_if_missing: bool,
    /// After a claim that may have set the key without a grant (no reply, a reply too late, too few
    /// replicas), try once to release it. Default on, as Redlock does; off, the key locks everybody
    /// out for a lease.
    pub release_on_failure: bool,
}

impl LockConfig for SingleConfig {
    fn read(form: &mut Form<'_>) -> Self {
        Self {
            timing: Timing::choose(form, Timing::unchecked()),
            request_timeout: form.timeout(
                "request_timeout",
                Some(Duration::from_secs(1)),
                "how long one command may take, connecting included",
            ),
            on_timeout: OnTimeout::choose(form),
            transport: Transport::choose(form),
            release: ReleaseMethod::choose(form),
            fencing: form.flag("fencing", false, "count grants on the node, and hand out the number"),
            extend_if_missing: choose_extend_if_missing(form),
            release_on_failure: form.flag(
                "release_on_failure",
                true,
                "try once to take back a claim that failed and may have set the key",
            ),
        }
    }

    fn facts(&self) -> Facts {
        let claim: &[&str] = if self.fencing { &RUNS_A_SCRIPT } else { &["SET"] };
        Facts {
            sends: Some(Sends {
                to_hold: [claim, self.release.sends()].concat(),
                to_extend: RUNS_A_SCRIPT.to_vec(),
            }),
            extends: true,
            deadline: self.timing.has_deadline(),
            fencing: self.fencing,
            waits: false,
            renews: false,
            readmits: false,
        }
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        self.timing.unfit(ttl)
    }
}

impl Default for SingleConfig {
    fn default() -> Self {
        Self::published()
    }
}

/// The lock on one node, and how its clients wait. Apart, since a lock on a replicated master takes the first alone.
struct Patient {
    lock: SingleConfig,
    waiting: Waiting,
}

impl LockConfig for Patient {
    fn read(form: &mut Form<'_>) -> Self {
        Self { lock: SingleConfig::read(form), waiting: Waiting::choose(form) }
    }

    fn facts(&self) -> Facts {
        let mut facts = Facts { waits: self.waiting.waits(), ..self.lock.facts() };
        if let Some(sends) = &mut facts.sends {
            sends.to_hold.extend(self.waiting.sends());
        }
        facts
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        let silent = self.waiting.is_told() && self.lock.release != ReleaseMethod::CompareAndDelete;
        let silent = silent.then(|| Unfit {
            cause: "only a release by a script tells those who wait".into(),
            hint: "use `release = \"compare-and-delete\"`, or another `wake`".into(),
        });
        self.lock.unfit(ttl).or_else(|| self.waiting.unfit()).or(silent)
    }
}

/// The kind of this lock.
pub(crate) struct Single;

impl<E: Env> LockKind<E> for Single {
    fn descriptor(&self) -> Descriptor {
        Descriptor::of::<Renewed<Patient>>(
            "single",
            "a key on one node: SET NX PX takes it, a script that compares the token gives it back",
            "Redis documentation, \"Distributed Locks with Redis\": a correct implementation with a single instance",
            Nodes::One,
        )
        .sending([crate::request::scripts(), Signals::new().scripts().into()].concat())
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let node = only_node("single", nodes)?;
        let Renewed { lock: Patient { lock, waiting }, renewal } = Renewed::chosen(chosen)?;
        let lock = SingleLock::new(env.clone(), node, lock).waiting(waiting);
        Ok(renewal.over(env, lock))
    }
}

/// Asks for a switch that every lock has which extends a lease.
pub(crate) fn choose_extend_if_missing(form: &mut Form<'_>) -> bool {
    form.flag("extend_if_missing", false, "let an extension set a key again that is gone")
}

/// A write counts only if that many replicas have it: `WAIT` after every claim and extension, on the
/// same connection. The time it takes is part of the lease.
///
/// Redisson relies on it. It makes a lost lock rarer: the replicas acknowledge from memory, and the
/// one that is promoted need not be one that acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaWait {
    /// How many replicas must acknowledge.
    pub replicas: u64,
    /// How long the master waits for them, rounded up to whole milliseconds, at least one.
    pub timeout: Duration,
}

/// The lock on one node; see [`SingleConfig`].
pub struct SingleLock<E: Env> {
    env: E,
    config: SingleConfig,
    link: Link<E>,
    waiting: Option<(Waiting, Signals)>,
}

impl<E: Env> SingleLock<E> {
    /// A lock on `node`. Connects when it is first used.
    pub fn new(env: E, node: NodeName, config: SingleConfig) -> Self {
        let link = Link::new(node, config.request_timeout, config.on_timeout).through(&env, config.transport);
        Self { env, config, link, waiting: None }
    }

    /// The same, whose clients wait.
    #[must_use]
    pub fn waiting(self, waiting: Waiting) -> Self {
        let waiting = waiting.waits().then(|| (waiting, Signals::new()));
        Self { waiting, ..self }
    }

    fn exchange(&mut self) -> Exchange<'_, E> {
        Exchange { env: &self.env, config: &self.config, wait: None, link: &mut self.link }
    }
}

impl<E: Env> Lock for SingleLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        self.exchange().acquire(resource, ttl).await
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        self.exchange().extend(grant, ttl).await
    }

    async fn acquire_within(&mut self, resource: &str, ttl: Duration, limit: Duration) -> Acquired {
        let Self { env, config, link, waiting } = self;
        let mut exchange = Exchange { env, config, wait: None, link };
        let Some((waiting, _)) = waiting else { return exchange.acquire(resource, ttl).await };
        let way = (exchange.link.node().clone(), config.request_timeout);
        let mut wait = Wait::begin(env, waiting, way, (resource, limit)).await;
        loop {
            let acquired = exchange.acquire(resource, ttl).await;
            if matches!(acquired, Acquired::Granted(_)) || !wait.turn().await {
                return acquired;
            }
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let Self { env, link, waiting: Some((waiting, signals)), .. } = self else {
            return self.exchange().release(&grant.resource, &grant.token).await;
        };
        if !waiting.is_told() {
            return self.exchange().release(&grant.resource, &grant.token).await;
        }
        released(signals.release(env, link, waiting, (&grant.resource, &grant.token)).await)
    }
}

/// Waits for nothing.
impl<E: Env> Renewable for SingleLock<E> {
    fn twin(&self) -> Self {
        let Self { env, config, link, .. } = self;
        Self { env: env.clone(), config: config.clone(), link: link.twin(), waiting: None }
    }
}

/// What the reply to a release means.
fn released(reply: Result<Value, Failure>) -> Released {
    match reply {
        Ok(reply) if says_yes(&reply) => Released::Released,
        Ok(_) => Released::NotOwner,
        Err(failure) => Released::Unknown(failure.into_doubt()),
    }
}

/// The protocol with one node, for the lock on a single node and for the one on whichever node is
/// master.
pub(crate) struct Exchange<'a, E: Env> {
    pub(crate) env: &'a E,
    pub(crate) config: &'a SingleConfig,
    pub(crate) wait: Option<ReplicaWait>,
    pub(crate) link: &'a mut Link<E>,
}

impl<E: Env> Exchange<'_, E> {
    pub(crate) async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let token = Token::draw(self.env);
        let lease = self.config.timing.start(self.env, ttl).await;
        match self.claim(resource, &token, &lease).await {
            Ok(fencing) => {
                let deadline = lease.deadline();
                Acquired::Granted(Grant { fencing, deadline, ..Grant::new(resource, token) })
            }
            Err(failed) => {
                if failed.may_have_set_the_key() && self.config.release_on_failure {
                    self.release(resource, &token).await;
                }
                failed.into_acquired()
            }
        }
    }

    async fn claim(&mut self, key: &str, token: &Token, lease: &Lease) -> Result<Option<u64>, FailedClaim> {
        let ttl = lease.ttl();
        let reply = if self.config.fencing {
            let counter = format!("{{{key}}}:fencing");
            self.link.ask(self.env, &Request::ClaimFenced { key, counter: &counter, token, ttl }).await
        } else {
            self.link.ask(self.env, &Request::Claim { key, token, ttl }).await
        };
        let fencing = match reply? {
            Value::Okay => None,
            Value::Int(number) => match u64::try_from(number) {
                Ok(number) => Some(number),
                Err(_) => return Err(FailedClaim::Key(Refusal::CounterBelowZero(number))),
            },
            _ => return Err(FailedClaim::NoKey(Refusal::Taken)),
        };
        match self.replicated().await {
            Ok(()) => {}
            Err(Doubt::TooFewReplicas(few)) => return Err(FailedClaim::Key(Refusal::TooFewReplicas(few))),
            Err(doubt) => return Err(FailedClaim::Doubt(doubt)),
        }
        lease.grant_in_time(self.env).await.map_err(FailedClaim::Key)?;
        Ok(fencing)
    }

    pub(crate) async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        let lease = self.config.timing.start(self.env, ttl).await;
        let request = Request::Extend {
            key: &grant.resource,
            token: &grant.token,
            ttl: lease.ttl(),
            or_set: self.config.extend_if_missing,
        };
        match self.link.ask(self.env, &request).await {
            Ok(reply) if says_yes(&reply) => {}
            Ok(_) => return Extended::NotOwner,
            Err(failure) => return Extended::Unknown(failure.into_doubt()),
        }
        if let Err(doubt) = self.replicated().await {
            return Extended::Unknown(doubt);
        }
        if !lease.extended_in_time(self.env, grant.deadline).await {
            return Extended::TooLate;
        }
        grant.deadline = lease.deadline();
        Extended::Extended { deadline: grant.deadline }
    }

    pub(crate) async fn release(&mut self, resource: &str, token: &Token) -> Released {
        let request = Request::Release { key: resource, token, method: self.config.release };
        released(self.link.ask(self.env, &request).await)
    }

    /// Waits for as many replicas as are asked for. `WAIT` speaks of the writes of the connection it
    /// is sent on, which is the one the write just went through: a link changes its connection only
    /// after a failure.
    async fn replicated(&mut self) -> Result<(), Doubt> {
        let Some(ReplicaWait { replicas: wanted, timeout }) = self.wait else { return Ok(()) };
        let request = Request::Wait { replicas: wanted, timeout };
        match self.link.ask(self.env, &request).await {
            Ok(Value::Int(count)) => {
                let acknowledged = u64::try_from(count).unwrap_or(0);
                if acknowledged >= wanted {
                    Ok(())
                } else {
                    Err(Doubt::TooFewReplicas(TooFewReplicas { acknowledged, wanted }))
                }
            }
            Ok(_) => Err(Doubt::TooFewReplicas(TooFewReplicas { acknowledged: 0, wanted })),
            Err(failure) => Err(failure.into_doubt()),
        }
    }
}

/// A claim that did not become a grant, by what it left behind.
enum FailedClaim {
    NoKey(Refusal),
    Key(Refusal),
    Doubt(Doubt),
}

impl From<Failure> for FailedClaim {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unsent(why) => Self::NoKey(Refusal::Unreachable(why)),
            Failure::ErrorReply(error) => Self::NoKey(Refusal::ErrorReply(error)),
            Failure::Lost(doubt) => Self::Doubt(doubt),
        }
    }
}

impl FailedClaim {
    fn may_have_set_the_key(&self) -> bool {
        matches!(self, Self::Key(_) | Self::Doubt(_))
    }

    fn into_acquired(self) -> Acquired {
        match self {
            Self::NoKey(refusal) | Self::Key(refusal) => Acquired::Refused(refusal),
            Self::Doubt(doubt) => Acquired::Unknown(doubt),
        }
    }
}
