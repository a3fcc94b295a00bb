//! A lock in two stages: a mutex in the process, which its threads wait at, and behind it a key on one node, which
//! processes ask for again and again. The key holds the process's id, and whoever finds its own id is let in.
//!
//! So the mutex alone keeps threads of one process apart. It is one for each resource in a table of the process, as
//! Spring has it, or the lock object's, as articles print it. Each lock that is built is a lock object and a thread.
//!
//! Assumes that a lock object is used by one thread. Does not model a table that forgets what was not used for long.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use redis::Value;
use tokio::sync::{Mutex as Gate, OwnedMutexGuard};

use crate::config::{Choice, Descriptor, Facts, Form, LockConfig, Nodes, Sends, Switches, Unfit};
use crate::connection::cached_script::CachedScript;
use crate::connection::link::{Failure, Link, OnTimeout};
use crate::connection::request::{RUNS_A_SCRIPT, ReleaseMethod, Request, says_yes};
use crate::connection::transport::{Transport, choose_request_timeout};
use crate::connection::units::millis;
use crate::env::{Env, NodeName};
use crate::lock::{Acquired, Doubt, Extended, Grant, Lock, Refusal, Released, Token};
use crate::parts::waiting::WaitClock;
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};

/// Whose one of something is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Id {
    /// One for all that the process has.
    Process,
    /// One for each lock object.
    Lock,
}

impl Choice for Id {
    const WORDS: &'static [(&'static str, Self)] = &[("process", Self::Process), ("lock", Self::Lock)];
}

/// Whose the mutex is that threads wait at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Local {
    /// The lock object's: two objects of one resource know nothing of each other.
    Object,
    /// The process's: one for each resource.
    Process,
}

impl Choice for Local {
    const WORDS: &'static [(&'static str, Self)] = &[("object", Self::Object), ("process", Self::Process)];
}

/// The number of times that a limit is waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// Both stages share it.
    Once,
    /// Each stage has it all for itself, as articles print it.
    Twice,
}

impl Choice for Limit {
    const WORDS: &'static [(&'static str, Self)] = &[("once", Self::Once), ("twice", Self::Twice)];
}

/// The script that asks for the key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// It sets key and lease in one command.
    Whole,
    /// It sets the key, and then fails at a command with too few arguments. What a script did before is not taken back.
    FailsHalfway,
    /// An `if` is never closed: the node answers with an error each time, and runs nothing.
    DoesNotCompile,
    /// It sets key and lease, and its yes, a number, is taken for text: to its client that is an exception.
    ReadAsText,
}

impl Choice for Asks {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("whole", Self::Whole),
        ("fails-halfway", Self::FailsHalfway),
        ("does-not-compile", Self::DoesNotCompile),
        ("read-as-text", Self::ReadAsText),
    ];
}

struct LocalRemoteConfig {
    client_id: Id,
    local: Local,
    script: Asks,
    wait: Limit,
    wait_clock: WaitClock,
    poll: Option<Duration>,
    release: ReleaseMethod,
    request_timeout: Option<Duration>,
    on_timeout: OnTimeout,
    transport: Transport,
}

impl LockConfig for LocalRemoteConfig {
    fn read(form: &mut Form<'_>) -> Self {
        Self {
            client_id: form.choice("client_id", Id::Process, "whose one id is that keys hold"),
            local: form.choice("local", Local::Process, "whose the mutex is that threads wait at"),
            script: form.choice(
                "script",
                Asks::Whole,
                "whether the script that asks for the key is sound, and how its reply is read",
            ),
            wait: form.choice("wait", Limit::Once, "how often a limit is waited for: once, or by each stage"),
            wait_clock: form.choice(
                "wait_clock",
                WaitClock::default(),
                "the clock that says that a wait is over",
            ),
            poll: form.timeout(
                "poll",
                Some(Duration::from_millis(100)),
                "how often a waiting client asks again though nothing woke it",
            ),
            release: ReleaseMethod::choose(form),
            request_timeout: choose_request_timeout(form),
            on_timeout: OnTimeout::choose(form),
            transport: Transport::choose(form),
        }
    }

    fn facts(&self) -> Facts {
        let to_hold = [&RUNS_A_SCRIPT[..], self.release.sends()].concat();
        Facts {
            sends: Some(Sends { to_hold, to_extend: RUNS_A_SCRIPT.to_vec() }),
            extends: true,
            deadline: false,
            fencing: false,
            waits: true,
            renews: false,
            readmits: true,
        }
    }

    fn unfit(&self, _: Duration) -> Option<Unfit> {
        self.poll.is_none().then(|| Unfit {
            cause: "nothing but `poll` makes a waiting client ask again, and it is `none`".into(),
            hint: "use a duration for `poll`".into(),
        })
    }
}

/// The kind of this lock.
pub(crate) struct LocalRemote;

impl<E: Env> LockKind<E> for LocalRemote {
    fn descriptor(&self) -> Descriptor {
        let own = [&ASK, &FAIL].map(|script| script.source().to_owned());
        Descriptor::from_config::<LocalRemoteConfig>(
            NAME,
            "a mutex in the process, and behind it a key on one node that holds the process's id",
            "articles after Spring's RedisLockRegistry: a local re-entrant lock before the remote one",
            Nodes::One,
        )
        .with_scripts([crate::connection::scripts::scripts(), own.into()].concat())
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let (node, config) = (only_node(NAME, nodes)?, LocalRemoteConfig::from_switches(chosen)?);
        let link =
            Link::new(node, config.request_timeout, config.on_timeout).with_transport(&env, config.transport);
        let table = match config.local {
            Local::Object => Arc::default(),
            Local::Process => env.process_state::<Table>(),
        };
        Ok(BoxLock::new(LocalRemoteLock { env, link, config, table, id: None, holds: BTreeMap::new() }))
    }
}

const NAME: &str = "local-remote";

/// Makes the lease long again where the id is ours, and takes the key where there is none.
pub(crate) static ASK: LazyLock<CachedScript> = LazyLock::new(|| {
    CachedScript::new(
        "local owner = redis.call('GET', KEYS[1]) \
         if owner == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 1 end \
         if owner then return 0 end \
         redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) \
         return 1",
    )
});

/// The same with a mistake after its first write: the key's name is missing.
pub(crate) static FAIL: LazyLock<CachedScript> = LazyLock::new(|| {
    CachedScript::new(
        "local owner = redis.call('GET', KEYS[1]) \
         if owner == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 1 end \
         if owner then return 0 end \
         redis.call('SET', KEYS[1], ARGV[1]) \
         redis.call('PEXPIRE', ARGV[2]) \
         return 1",
    )
});

/// The same with a second `if` that nobody closes. No node can load it.
pub(crate) static BROKEN: LazyLock<CachedScript> = LazyLock::new(|| {
    CachedScript::new(
        "local owner = redis.call('GET', KEYS[1]) \
         if owner == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 1 \
         else if owner then return 0 end \
         redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) \
         return 1",
    )
});

/// The id of a process.
#[derive(Default)]
struct ProcessId(OnceLock<Token>);

/// The mutexes that threads wait at, by resource.
#[derive(Default)]
struct Table(Mutex<BTreeMap<String, Arc<Gate<()>>>>);

impl Table {
    fn gate(&self, resource: &str) -> Arc<Gate<()>> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gates.entry(resource.to_owned()).or_default().clone()
    }
}

struct LocalRemoteLock<E: Env> {
    env: E,
    link: Link<E>,
    config: LocalRemoteConfig,
    table: Arc<Table>,
    /// Its own id, where it has one.
    id: Option<Token>,
    holds: BTreeMap<String, Hold>,
}

/// A mutex that this thread has, and how often.
struct Hold {
    times: u64,
    _gate: OwnedMutexGuard<()>,
}

/// A moment at which a wait is over, on the clock of the switch.
type Moment = i128;

impl<E: Env> LocalRemoteLock<E> {
    fn id(&mut self) -> Token {
        let draw = |env: &E| {
            let mut drawn = [0; 16];
            env.random(&mut drawn);
            Token::new(drawn.iter().fold(String::new(), |mut id, byte| {
                // Writing into a string does not fail.
                let _ = write!(id, "{byte:02x}");
                id
            }))
        };
        match self.config.client_id {
            Id::Process => self.env.process_state::<ProcessId>().0.get_or_init(|| draw(&self.env)).clone(),
            Id::Lock => self.id.get_or_insert_with(|| draw(&self.env)).clone(),
        }
    }

    async fn now(&self) -> Moment {
        match self.config.wait_clock {
            WaitClock::Monotonic => self.env.monotonic().await.0.into(),
            WaitClock::Wall => self.env.wall().await.0.into(),
        }
    }

    /// Waits for the mutex for so long at most; whoever has it has it again.
    async fn enter(&mut self, resource: &str, limit: Duration) -> bool {
        if let Some(hold) = self.holds.get_mut(resource) {
            hold.times += 1;
            return true;
        }
        let gate = self.table.gate(resource);
        let deadline = self.env.monotonic().await.saturating_add(limit);
        match self.env.race(gate.lock_owned(), deadline).await {
            Ok(gate) => {
                self.holds.insert(resource.to_owned(), Hold { times: 1, _gate: gate });
                true
            }
            Err(_) => false,
        }
    }

    fn leave(&mut self, resource: &str) {
        match self.holds.get_mut(resource) {
            Some(hold) if hold.times > 1 => hold.times -= 1,
            _ => {
                self.holds.remove(resource);
            }
        }
    }

    /// Asks for the key once.
    async fn ask(&mut self, resource: &str, id: &Token, ttl: Duration) -> Result<bool, Failure> {
        let script: &CachedScript = match self.config.script {
            Asks::Whole | Asks::ReadAsText => &ASK,
            Asks::FailsHalfway => &FAIL,
            Asks::DoesNotCompile => &BROKEN,
        };
        let ttl = millis(ttl).to_string();
        let args = [id.as_bytes(), ttl.as_bytes()];
        let reply = script.run(&self.env, &mut self.link, &[resource], &args).await?;
        match says_yes(&reply) {
            true if self.config.script == Asks::ReadAsText => Err(Failure::Lost(Doubt::Misread)),
            is_ours => Ok(is_ours),
        }
    }

    /// Asks for the key until it is its own or the time is over.
    async fn ask_until(
        &mut self,
        resource: &str,
        id: &Token,
        ttl: Duration,
        ends: Moment,
    ) -> Result<bool, Failure> {
        loop {
            if self.ask(resource, id, ttl).await? {
                return Ok(true);
            }
            let Some(poll) = self.config.poll else { return Ok(false) };
            if self.now().await >= ends {
                return Ok(false);
            }
            let now = self.env.monotonic().await;
            self.env.sleep_until(now.saturating_add(poll)).await;
        }
    }
}

impl<E: Env> Lock for LocalRemoteLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        self.acquire_within(resource, ttl, Duration::ZERO).await
    }

    async fn acquire_within(&mut self, resource: &str, ttl: Duration, limit: Duration) -> Acquired {
        let id = self.id();
        self.env.marks(id.as_bytes());
        let limit_ns = Moment::try_from(limit.as_nanos()).unwrap_or(Moment::MAX);
        let began = self.now().await;
        if !self.enter(resource, limit).await {
            return Acquired::Refused(Refusal::Taken);
        }
        let from = if self.config.wait == Limit::Twice { self.now().await } else { began };
        let asked = self.ask_until(resource, &id, ttl, from.saturating_add(limit_ns)).await;
        if !matches!(asked, Ok(true)) {
            self.leave(resource);
        }
        match asked {
            Ok(true) => Acquired::Granted(Grant::new(resource, id)),
            Ok(false) => Acquired::Refused(Refusal::Taken),
            Err(failure) => failure.into_acquired(),
        }
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        let request = Request::Extend { key: &grant.resource, token: &grant.token, ttl, or_set: false };
        match self.link.ask(&self.env, &request).await {
            Ok(reply) if says_yes(&reply) => Extended::Extended { deadline: None },
            Ok(_) => Extended::NotOwner,
            Err(failure) => Extended::Unknown(failure.into_doubt()),
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        if self.holds.get(&grant.resource).is_some_and(|hold| hold.times > 1) {
            self.leave(&grant.resource);
            return Released::Released;
        }
        let (key, token, method) = (&grant.resource, &grant.token, self.config.release);
        let reply: Result<Value, Failure> =
            self.link.ask(&self.env, &Request::Release { key, token, method }).await;
        // Whatever became of the key, the next thread may ask for it.
        self.leave(&grant.resource);
        match reply {
            Ok(reply) if says_yes(&reply) => Released::Released,
            Ok(_) => Released::NotOwner,
            Err(failure) => Released::Unknown(failure.into_doubt()),
        }
    }
}
