//! The lock on a single node: `SET key token NX PX ttl` takes it, a script that compares the token
//! gives it back. The published form of it checks no time at all; the switches add what was asked of
//! it since.
//!
//! Assumes a node that does not forget. Asks again only where it is told how to wait.

mod habits;

use std::time::Duration;

use redis::Value;

use crate::clock::{Deadline, Timing};
use crate::descriptor::{Descriptor, Facts, Nodes, Sends};
use crate::env::{Env, NodeName};
use crate::form::{Form, LockConfig};
use crate::link::{Failure, Link, OnTimeout};
use crate::lock::{Acquired, Doubt, Extended, Grant, Lock, Refusal, Released, Token, TooFewReplicas};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};
use crate::renewal::{Renewable, Renewed};
use crate::request::{RUNS_A_SCRIPT, ReleaseMethod, Request, millis, says_yes};
use crate::switch::{Switches, Unfit};
use crate::tokens::Tokens;
use crate::transport::Transport;
use crate::waiting::{Signals, Wait, Waiting};

pub use habits::{DeadlineFrom, ExpiryClock, ExtendBy, Habits, Probe};

use habits::KeyExpiry;

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

/// The lock on one node, what libraries do otherwise with it, and how its clients wait. Apart, since a lock on a
/// replicated master takes the first alone.
struct Patient {
    lock: SingleConfig,
    habits: Habits,
    waiting: Waiting,
}

impl LockConfig for Patient {
    fn read(form: &mut Form<'_>) -> Self {
        Self { lock: SingleConfig::read(form), habits: Habits::read(form), waiting: Waiting::choose(form) }
    }

    fn facts(&self) -> Facts {
        let lock = self.lock.facts();
        let deadline = lock.deadline && self.habits.tells_deadline;
        let (waits, extends) = (self.waiting.waits(), self.habits.extends());
        let mut facts = Facts { waits, extends, deadline, ..lock };
        if let Some(sends) = &mut facts.sends {
            sends.to_hold.extend(self.habits.sends_to_hold());
            sends.to_hold.extend(self.waiting.sends());
            sends.to_extend = self.habits.sends_to_extend();
        }
        facts
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        let silent = self.waiting.is_told() && self.lock.release != ReleaseMethod::CompareAndDelete;
        let silent = silent.then(|| Unfit {
            cause: "only a release by a script tells those who wait".into(),
            hint: "use `release = \"compare-and-delete\"`, or another `wake`".into(),
        });
        let habits = self.habits.unfit(self.lock.fencing, self.lock.extend_if_missing);
        self.lock.unfit(ttl).or(habits).or_else(|| self.waiting.unfit()).or(silent)
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
        .sending(
            [
                crate::request::scripts(),
                crate::request::scripts_of_habits(),
                Signals::new().scripts().into(),
            ]
            .concat(),
        )
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let node = only_node("single", nodes)?;
        let Renewed { lock: Patient { lock, habits, waiting }, renewal } = Renewed::chosen(chosen)?;
        let lock = SingleLock::new(env.clone(), node, lock).with(habits).waiting(waiting);
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
    habits: Habits,
    link: Link<E>,
    tokens: Tokens<E>,
    waiting: Option<(Waiting, Signals)>,
}

impl<E: Env> SingleLock<E> {
    /// A lock on `node`. Connects when it is first used.
    pub fn new(env: E, node: NodeName, config: SingleConfig) -> Self {
        let link = Link::new(node, config.request_timeout, config.on_timeout).through(&env, config.transport);
        let habits = Habits::published();
        let tokens = Tokens::new(&env, habits.token, habits.token_value);
        Self { env, config, habits, link, tokens, waiting: None }
    }

    /// The same, as a library has it.
    #[must_use]
    pub fn with(self, habits: Habits) -> Self {
        let tokens = Tokens::new(&self.env, habits.token, habits.token_value);
        Self { habits, tokens, ..self }
    }

    /// The same, whose clients wait.
    #[must_use]
    pub fn waiting(self, waiting: Waiting) -> Self {
        let waiting = waiting.waits().then(|| (waiting, Signals::new()));
        Self { waiting, ..self }
    }

    fn exchange(&mut self) -> Exchange<'_, E> {
        let Self { env, config, habits, link, .. } = self;
        Exchange { env, config, habits, wait: None, link }
    }
}

impl<E: Env> Lock for SingleLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let token = self.tokens.next(resource, true).await;
        self.exchange().acquire_with(resource, ttl, token).await
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        self.exchange().extend(grant, ttl).await
    }

    async fn acquire_within(&mut self, resource: &str, ttl: Duration, limit: Duration) -> Acquired {
        let Self { env, config, habits, link, tokens, waiting } = self;
        let Some((waiting, _)) = waiting else { return self.acquire(resource, ttl).await };
        let mut exchange = Exchange { env, config, habits, wait: None, link };
        let way = (exchange.link.node().clone(), config.request_timeout);
        let mut wait = Wait::begin(env, waiting, way, (resource, limit)).await;
        let mut first = true;
        loop {
            let token = tokens.next(resource, first).await;
            let acquired = exchange.acquire_with(resource, ttl, token).await;
            if matches!(acquired, Acquired::Granted(_)) || !wait.turn().await {
                return acquired;
            }
            first = false;
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
        let Self { env, config, habits, link, .. } = self;
        Self {
            env: env.clone(),
            config: config.clone(),
            habits: habits.clone(),
            link: link.twin(),
            tokens: Tokens::new(env, habits.token, habits.token_value),
            waiting: None,
        }
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
    pub(crate) habits: &'a Habits,
    pub(crate) wait: Option<ReplicaWait>,
    pub(crate) link: &'a mut Link<E>,
}

impl<E: Env> Exchange<'_, E> {
    pub(crate) async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let token = Token::draw(self.env);
        self.acquire_with(resource, ttl, token).await
    }

    async fn acquire_with(&mut self, resource: &str, ttl: Duration, token: Token) -> Acquired {
        if let Err(failed) = self.probe(resource, ttl).await {
            return failed.into_acquired();
        }
        match self.claim(resource, &token, ttl).await {
            Ok((fencing, deadline)) => {
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

    /// Looks for the lock, in a way that may take it.
    async fn probe(&mut self, key: &str, ttl: Duration) -> Result<(), FailedClaim> {
        let taken = match self.habits.probe {
            Probe::None => false,
            Probe::Reads => says_yes(&self.link.ask(self.env, &Request::Exists { key }).await?),
            Probe::Takes => {
                let token = Token::draw(self.env);
                let taken = !says_yes(&self.ask_for(key, &token, ttl).await?);
                if !taken {
                    let method = ReleaseMethod::CompareAndDelete;
                    // Nobody looks at what it came to.
                    let _ = self.link.ask(self.env, &Request::Release { key, token: &token, method }).await;
                }
                taken
            }
        };
        if taken { Err(FailedClaim::NoKey(Refusal::Taken)) } else { Ok(()) }
    }

    /// The fencing number and the deadline of what was granted.
    async fn claim(
        &mut self,
        key: &str,
        token: &Token,
        ttl: Duration,
    ) -> Result<(Option<u64>, Option<Deadline>), FailedClaim> {
        let first = self.habits.initial_ttl.unwrap_or(ttl);
        let mut lease = self.config.timing.start(self.env, first).await;
        let fencing = match self.ask_for(key, token, first).await? {
            Value::Okay => None,
            Value::Int(number) => match u64::try_from(number) {
                Ok(number) => Some(number),
                Err(_) => return Err(FailedClaim::Key(Refusal::CounterBelowZero(number))),
            },
            _ if self.habits.own_token_counts && self.is_own(key, token, first).await? => None,
            _ => return Err(FailedClaim::NoKey(Refusal::Taken)),
        };
        match self.replicated().await {
            Ok(()) => {}
            Err(Doubt::TooFewReplicas(few)) => return Err(FailedClaim::Key(Refusal::TooFewReplicas(few))),
            Err(doubt) => return Err(FailedClaim::Doubt(doubt)),
        }
        if self.habits.deadline_from == DeadlineFrom::Reply {
            lease = self.config.timing.start(self.env, first).await;
        }
        lease.grant_in_time(self.env).await.map_err(FailedClaim::Key)?;
        if self.habits.initial_ttl.is_some() && self.habits.extends() {
            lease = self.config.timing.start(self.env, ttl).await;
            match self.ask_for_more(key, token, ttl).await {
                Ok(reply) if says_yes(&reply) => {}
                Ok(_) => return Err(FailedClaim::NoKey(Refusal::Taken)),
                Err(failure) => return Err(FailedClaim::after_a_key(failure)),
            }
            if self.habits.deadline_from == DeadlineFrom::Reply {
                lease = self.config.timing.start(self.env, ttl).await;
            }
            lease.grant_in_time(self.env).await.map_err(FailedClaim::Key)?;
        }
        Ok((fencing, lease.deadline().filter(|_| self.habits.tells_deadline)))
    }

    /// Asks for the key.
    async fn ask_for(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<Value, Failure> {
        let counter;
        let request = match self.habits.key_expiry() {
            _ if self.config.fencing => {
                counter = format!("{{{key}}}:fencing");
                Request::ClaimFenced { key, counter: &counter, token, ttl }
            }
            KeyExpiry::Px => Request::Claim { key, token, ttl },
            KeyExpiry::None => Request::ClaimForEver { key, token },
            KeyExpiry::PxatByClient => {
                let at = self.moment(ttl).await;
                Request::ClaimUntil { key, token, at }
            }
        };
        self.link.ask(self.env, &request).await
    }

    /// Asks for another lease of a key that is held.
    async fn ask_for_more(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<Value, Failure> {
        let request = match self.habits.extend_by {
            ExtendBy::Compare if self.habits.extend_adds => Request::ExtendMore { key, token, more: ttl },
            ExtendBy::Compare if self.habits.key_expiry() == KeyExpiry::PxatByClient => {
                let at = self.moment(ttl).await;
                Request::ExtendUntil { key, token, at }
            }
            ExtendBy::Compare => Request::Extend { key, token, ttl, or_set: self.config.extend_if_missing },
            ExtendBy::SetXx => Request::Overwrite { key, token, ttl, compared: false },
            ExtendBy::SetIfeq => Request::Overwrite { key, token, ttl, compared: true },
            ExtendBy::Plain => Request::Postpone { key, ttl },
        };
        self.link.ask(self.env, &request).await
    }

    /// When a lease that begins now ends, by the client's wall clock, in milliseconds.
    async fn moment(&self, ttl: Duration) -> u64 {
        let now = u64::try_from(self.env.wall().await.0.div_euclid(1_000_000)).unwrap_or(0);
        now.saturating_add(millis(ttl))
    }

    /// Whether the key holds this token. If it has an end, its lease begins anew.
    async fn is_own(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<bool, Failure> {
        let request = match self.habits.key_expiry() {
            KeyExpiry::None => {
                let held = self.link.ask(self.env, &Request::Read { key }).await?;
                return Ok(held == Value::BulkString(token.as_bytes().into()));
            }
            KeyExpiry::Px => Request::Extend { key, token, ttl, or_set: false },
            KeyExpiry::PxatByClient => {
                let at = self.moment(ttl).await;
                Request::ExtendUntil { key, token, at }
            }
        };
        Ok(says_yes(&self.link.ask(self.env, &request).await?))
    }

    pub(crate) async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        if !self.habits.extends() {
            return Extended::Unsupported;
        }
        let mut lease = self.config.timing.start(self.env, ttl).await;
        match self.ask_for_more(&grant.resource, &grant.token, ttl).await {
            Ok(reply) if says_yes(&reply) => {}
            Ok(_) => return Extended::NotOwner,
            Err(failure) => return Extended::Unknown(failure.into_doubt()),
        }
        if let Err(doubt) = self.replicated().await {
            return Extended::Unknown(doubt);
        }
        if self.habits.deadline_from == DeadlineFrom::Reply {
            lease = self.config.timing.start(self.env, ttl).await;
        }
        if !lease.extended_in_time(self.env, grant.deadline).await {
            return Extended::TooLate;
        }
        grant.deadline = lease.deadline().filter(|_| self.habits.tells_deadline);
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
    /// What failed when the key was set already.
    fn after_a_key(failure: Failure) -> Self {
        match failure {
            Failure::Unsent(why) => Self::Key(Refusal::Unreachable(why)),
            Failure::ErrorReply(error) => Self::Key(Refusal::ErrorReply(error)),
            Failure::Lost(doubt) => Self::Doubt(doubt),
        }
    }

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
