//! A hash on one node, or on whichever is master: the field of a thread that holds the lock counts how often it took
//! it.
//!
//! Whoever finds its own field counts it up, and so takes a lock again that it has; whoever gives back counts down,
//! and deletes the key at nothing. A field is called `id:thread`: an id that a process draws once, and the number of
//! a thread in it. Each lock that is built is a thread of its own.  The count is the node's. So a reply that is lost
//! may leave it one too high, and a key that ended between an outer and an inner acquire begins anew at one: the
//! inner release deletes it, and the outer one finds nothing.
//!
//! Assumes nodes that do not forget. Does not model fair queues, nor threads whose numbers are used again.

mod config;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use redis::Value;

use crate::connection::cached_script::CachedScript;
use crate::connection::link::{Failure, Link};
use crate::connection::request::{Request, says_yes};
use crate::connection::units::millis;
use crate::env::{Env, NodeName};
use crate::lock::{Acquired, Doubt, Extended, Grant, Lock, Refusal, Released, Token, TooFewReplicas};
use crate::locks::replicated::{Masters, NO_MASTER, Trouble};
use crate::parts::timing::Lease;
use crate::parts::waiting::{Wait, signal_of};
use crate::parts::watchdog::Renewable;

pub(in crate::locks) use config::HashConfig;
pub(crate) use config::{Hash, HashReplicated};
use config::{Synced, link};

pub(in crate::locks) fn scripts() -> Vec<String> {
    [&ACQUIRE, &RELEASE, &EXTEND].map(|script| script.source().to_owned()).into()
}

/// Takes the lock, or takes it again; otherwise how long it will be there.
pub(crate) static ACQUIRE: LazyLock<CachedScript> = LazyLock::new(|| {
    CachedScript::new(
        "if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then \
         return redis.call('PTTL', KEYS[1]) end \
         redis.call('HINCRBY', KEYS[1], ARGV[1], 1) \
         redis.call('PEXPIRE', KEYS[1], ARGV[2]) \
         return nil",
    )
});

/// Counts down. What is left has its whole lease again, and where nothing is, whoever waits is told.
pub(crate) static RELEASE: LazyLock<CachedScript> = LazyLock::new(|| {
    CachedScript::new(
        "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end \
         if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then \
         redis.call('PEXPIRE', KEYS[1], ARGV[2]) \
         return 1 end \
         redis.call('DEL', KEYS[1]) \
         redis.call('PUBLISH', KEYS[2], 'released') \
         return 1",
    )
});

pub(crate) static EXTEND: LazyLock<CachedScript> = LazyLock::new(|| {
    CachedScript::new(
        "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end \
         return redis.call('PEXPIRE', KEYS[1], ARGV[2])",
    )
});

/// The number of replicas that a master says it has.
fn followers(role: &Value) -> u64 {
    match role {
        Value::Array(fields) => match fields.get(2) {
            Some(Value::Array(replicas)) => u64::try_from(replicas.len()).unwrap_or(u64::MAX),
            _ => 0,
        },
        _ => 0,
    }
}

/// The things that threads of a process share: its id, and how many there are.
#[derive(Default)]
struct Process {
    id: OnceLock<String>,
    threads: AtomicU64,
}

impl Process {
    fn id<E: Env>(&self, env: &E) -> &str {
        self.id.get_or_init(|| {
            let mut drawn = [0; 16];
            env.random(&mut drawn);
            drawn.iter().fold(String::new(), |mut id, byte| {
                // Writing into a string does not fail.
                let _ = write!(id, "{byte:02x}");
                id
            })
        })
    }
}

pub(in crate::locks) struct HashLock<E: Env> {
    env: E,
    config: HashConfig,
    synced: (Synced, Duration),
    /// The number of replicas that followed the master when it was asked; none if it is to be asked.
    followers: Option<u64>,
    masters: Masters<E>,
    /// Its number among the threads of its process.
    thread: u64,
    /// The lease that was asked for last: a release that is not the last of a hold makes it that long again.
    lease: Duration,
    /// The number of grants of each lock that it has not given back.
    held: BTreeMap<String, u64>,
}

/// An acquire that came to no grant.
enum Failed {
    /// Another has it, or nothing was sent.
    Without(Acquired),
    /// It was counted up, and is not to be.
    Counted(Acquired),
    /// It may have been counted up.
    Doubtful(Acquired),
}

impl<E: Env> HashLock<E> {
    fn new(env: E, config: HashConfig, synced: (Synced, Duration), masters: Masters<E>) -> Self {
        let thread = Self::next_thread(&env);
        let (lease, held) = (Duration::ZERO, BTreeMap::new());
        Self { env, config, synced, followers: None, masters, thread, lease, held }
    }

    /// The field that is its own.
    pub(in crate::locks) fn field(&self) -> Token {
        Token::new(format!("{}:{}", self.env.process_state::<Process>().id(&self.env), self.thread))
    }

    /// Runs a script on the master, and on another if it certainly had no effect there.
    async fn run(
        &mut self,
        script: &CachedScript,
        keys: &[&str],
        args: &[&[u8]],
    ) -> Result<(Value, Option<Doubt>), Failure> {
        let mut outcome = Err(Failure::Unsent(NO_MASTER.into()));
        for _ in 0..self.masters.tries() {
            let Some(link) = self.masters.link(&self.env).await else { break };
            outcome = match script.run(&self.env, link, keys, args).await {
                Ok(reply) => Ok((reply, self.wait_for_replicas().await)),
                Err(failure) => Err(failure),
            };
            let doubt = match &outcome {
                Ok((_, doubt)) => doubt.clone(),
                Err(failure) => Some(failure.clone().into_doubt()),
            };
            let trouble = doubt.map_or(Trouble::None, |doubt| Trouble::from_doubt(&doubt));
            // What was done is not repeated, whatever became of the replicas.
            if !self.masters.repeat_elsewhere(trouble) || outcome.is_ok() {
                break;
            }
        }
        outcome
    }

    /// Waits for replicas, on the connection that the write went through. Says what is wrong, if anything.
    async fn wait_for_replicas(&mut self) -> Option<Doubt> {
        let (synced, timeout) = self.synced;
        let others = u64::try_from(self.masters.tries()).unwrap_or(u64::MAX).saturating_sub(1);
        let followers = match (synced, self.followers) {
            (Synced::None, _) => return None,
            (Synced::All, _) => others,
            (Synced::Any, Some(followers)) => followers,
            (Synced::Any, None) => {
                let link = self.masters.link(&self.env).await?;
                match link.ask(&self.env, &Request::Role).await {
                    Ok(role) => *self.followers.insert(followers(&role)),
                    Err(failure) => return Some(failure.into_doubt()),
                }
            }
        };
        let wanted = if synced == Synced::All { others } else { followers.min(1) };
        let link = self.masters.link(&self.env).await?;
        let acknowledged = match link.ask(&self.env, &Request::Wait { replicas: followers, timeout }).await {
            Ok(Value::Int(count)) => u64::try_from(count).unwrap_or(0),
            Ok(_) => 0,
            Err(failure) => return Some(failure.into_doubt()),
        };
        // Where it is not as many as were there, they are counted anew.
        self.followers = self.followers.filter(|followers| *followers == acknowledged);
        (acknowledged < wanted).then_some(Doubt::TooFewReplicas(TooFewReplicas { acknowledged, wanted }))
    }

    async fn claim(&mut self, key: &str, field: &Token, lease: &Lease) -> Result<(), Failed> {
        let ttl = millis(lease.ttl()).to_string();
        let doubt = match self.run(&ACQUIRE, &[key], &[field.as_bytes(), ttl.as_bytes()]).await {
            Ok((Value::Nil, doubt)) => doubt,
            Ok(_) => return Err(Failed::Without(Acquired::Refused(Refusal::Taken))),
            Err(failure) => {
                let lost = matches!(failure, Failure::Lost(_));
                let acquired = failure.into_acquired();
                return Err(if lost { Failed::Doubtful(acquired) } else { Failed::Without(acquired) });
            }
        };
        match doubt {
            None => {}
            Some(Doubt::TooFewReplicas(few)) => {
                return Err(Failed::Counted(Acquired::Refused(Refusal::TooFewReplicas(few))));
            }
            // The reply to the script is there: what it counted is known.
            Some(doubt) => return Err(Failed::Counted(Acquired::Unknown(doubt))),
        }
        let late = |refusal| Failed::Counted(Acquired::Refused(refusal));
        lease.grant_in_time(&self.env).await.map_err(late)
    }

    /// Asks once. Whoever calls it says what marks the keys.
    pub(in crate::locks) async fn ask(&mut self, key: &str, ttl: Duration) -> Acquired {
        let field = self.field();
        self.lease = ttl;
        let lease = self.config.timing.start(&self.env, ttl).await;
        let failed = match self.claim(key, &field, &lease).await {
            Ok(()) => {
                *self.held.entry(key.to_owned()).or_default() += 1;
                let deadline = lease.deadline();
                return Acquired::Granted(Grant { deadline, ..Grant::new(key, field) });
            }
            Err(failed) => failed,
        };
        match failed {
            Failed::Without(acquired) => acquired,
            Failed::Counted(acquired) => {
                self.count_down(key, &field).await;
                acquired
            }
            Failed::Doubtful(acquired) => {
                // Of a lock that it has, it may be what it has that is counted down.
                if self.config.release_on_failure && !self.held.contains_key(key) {
                    self.count_down(key, &field).await;
                }
                acquired
            }
        }
    }

    async fn count_down(&mut self, key: &str, field: &Token) -> Released {
        let (signal, ttl) = (signal_of(key), millis(self.lease).to_string());
        match self.run(&RELEASE, &[key, &signal], &[field.as_bytes(), ttl.as_bytes()]).await {
            Ok((reply, _)) if says_yes(&reply) => Released::Released,
            Ok(_) => Released::NotOwner,
            Err(failure) => Released::Unknown(failure.into_doubt()),
        }
    }
}

impl<E: Env> Lock for HashLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        self.env.marks(self.field().as_bytes());
        self.ask(resource, ttl).await
    }

    async fn acquire_within(&mut self, resource: &str, ttl: Duration, limit: Duration) -> Acquired {
        self.env.marks(self.field().as_bytes());
        self.ask_within(resource, ttl, limit).await
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        let lease = self.config.timing.start(&self.env, ttl).await;
        match self.prolong(&grant.resource, &grant.token, ttl).await {
            Ok((false, _)) => return Extended::NotOwner,
            Ok((true, Some(doubt))) => return Extended::Unknown(doubt),
            Ok((true, None)) => {}
            Err(failure) => return Extended::Unknown(failure.into_doubt()),
        }
        if !lease.extended_in_time(&self.env, grant.deadline).await {
            return Extended::TooLate;
        }
        grant.deadline = lease.deadline();
        Extended::Extended { deadline: grant.deadline }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        self.give_back(&grant.resource, &grant.token).await
    }
}

/// The same thread of the same process: what renews counts nothing.
impl<E: Env> Renewable for HashLock<E> {
    fn twin(&self) -> Self {
        Self {
            env: self.env.clone(),
            config: self.config.clone(),
            synced: self.synced,
            followers: self.followers,
            masters: self.masters.twin(),
            thread: self.thread,
            lease: self.lease,
            held: self.held.clone(),
        }
    }
}

impl<E: Env> HashLock<E> {
    /// The same, and waits for so long at most.
    pub(in crate::locks) async fn ask_within(
        &mut self,
        resource: &str,
        ttl: Duration,
        limit: Duration,
    ) -> Acquired {
        let (env, waiting) = (self.env.clone(), self.config.waiting.clone());
        let Some(link) = self.masters.link(&env).await else { return self.ask(resource, ttl).await };
        let way = (link.node().clone(), self.config.request_timeout);
        let mut wait = Wait::begin(&env, &waiting, way, (resource, limit)).await;
        loop {
            let acquired = self.ask(resource, ttl).await;
            if let Some(link) = self.masters.link(&env).await {
                wait.move_to(link.node());
            }
            // What is no answer of the node is an error for the caller, who does not wait any longer.
            if acquired != Acquired::Refused(Refusal::Taken) || !wait.turn().await {
                return acquired;
            }
        }
    }

    /// Makes the lease long again where the field is there, and says whether it is.
    pub(in crate::locks) async fn prolong(
        &mut self,
        key: &str,
        field: &Token,
        ttl: Duration,
    ) -> Result<(bool, Option<Doubt>), Failure> {
        let millis = millis(ttl).to_string();
        let reply = self.run(&EXTEND, &[key], &[field.as_bytes(), millis.as_bytes()]).await;
        reply.map(|(reply, doubt)| (says_yes(&reply), doubt))
    }

    pub(in crate::locks) async fn give_back(&mut self, key: &str, field: &Token) -> Released {
        if let Some(count) = self.held.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                self.held.remove(key);
            }
        }
        self.count_down(key, field).await
    }

    /// The way to the node, for a command that the lock itself does not send.
    pub(in crate::locks) async fn link(&mut self) -> Option<&mut Link<E>> {
        self.masters.link(&self.env).await
    }

    /// The same lock on one node of several, of one thread with the others.
    pub(in crate::locks) fn new_member(env: E, config: HashConfig, node: NodeName, thread: u64) -> Self {
        let link = link(&env, &config, node);
        let (lease, held, synced) = (Duration::ZERO, BTreeMap::new(), (Synced::None, Duration::ZERO));
        Self { env, config, synced, followers: None, masters: Masters::only(link), thread, lease, held }
    }

    /// The number of a thread that begins.
    pub(in crate::locks) fn next_thread(env: &E) -> u64 {
        env.process_state::<Process>().threads.fetch_add(1, Ordering::Relaxed) + 1
    }
}
