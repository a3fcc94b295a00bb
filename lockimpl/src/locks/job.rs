//! A job of a queue that one worker at a time may hold: a key with an end says that it is being worked at, and a check
//! that every worker makes now and then hands a job whose key has ended to whoever asks next.
//!
//! The resource is a job that is there again as soon as it is done. Its keys are `{job}` (the lock), `{job}:active` (a
//! worker took it and has not said that it is done), `{job}:stalled` (it was active at the last check and was not heard
//! of since) and `{job}:stalled-check` (somebody looked a short while ago). A job whose lock has ended is nobody's yet:
//! it is handed on by the second check at the earliest, so that a worker that is late, but alive, can say so before.
//!
//! Assumes that a worker that waits is the one that checks. Does not model how often a job may stall, queues with
//! several jobs, nor priorities.

use std::sync::LazyLock;
use std::time::Duration;

use redis::Value;

use crate::config::{Descriptor, Facts, Form, LockConfig, Nodes, Sends, Switches};
use crate::connection::cached_script::CachedScript;
use crate::connection::link::{Failure, Link, OnTimeout};
use crate::connection::request::{RUNS_A_SCRIPT, says_yes};
use crate::connection::transport::{Transport, choose_request_timeout};
use crate::connection::units::millis;
use crate::env::{Env, MonotonicTime, NodeName};
use crate::lock::{Acquired, Extended, Grant, Lock, Refusal, Released, Token};
use crate::parts::watchdog::{Renewable, WatchedConfig};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};

/// The switches of a job's lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JobConfig {
    /// The least time between two checks for stalled jobs, of one worker and of all.
    stalled_check: Duration,
    /// How long one command may take, connecting included.
    request_timeout: Option<Duration>,
    /// What happens to a connection on which a reply did not come in time.
    on_timeout: OnTimeout,
    /// What the driver does about a connection that broke.
    transport: Transport,
}

impl LockConfig for JobConfig {
    fn read(form: &mut Form<'_>) -> Self {
        Self {
            stalled_check: form.positive_duration(
                "stalled_check",
                Duration::from_secs(30),
                "how often jobs are looked for whose holder is not heard of",
            ),
            request_timeout: choose_request_timeout(form),
            on_timeout: OnTimeout::choose(form),
            transport: Transport::choose(form),
        }
    }

    fn facts(&self) -> Facts {
        let sends = RUNS_A_SCRIPT.to_vec();
        Facts {
            sends: Some(Sends { to_hold: sends.clone(), to_extend: sends }),
            extends: true,
            deadline: false,
            fencing: false,
            waits: false,
            renews: false,
            readmits: false,
        }
    }
}

/// The kind of this lock.
pub(crate) struct Job;

impl<E: Env> LockKind<E> for Job {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<WatchedConfig<JobConfig>>(
            NAME,
            "a job of a queue: a key with an end holds it, and a check for stalled jobs hands it on once that has ended",
            "the job queues Bull and BullMQ: locks of jobs, and the stalled check",
            Nodes::One,
        )
        .with_scripts(SCRIPTS.map(|script| script.source().to_owned()).into())
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let node = only_node(NAME, nodes)?;
        let WatchedConfig { lock: config, renewal } = WatchedConfig::from_switches(chosen)?;
        Ok(renewal.wrap_lock(env.clone(), JobLock::new(env, node, config)))
    }
}

const NAME: &str = "job";

/// A waiting job becomes active, and its taker has the lock. As the queues do it, in one step.
pub(crate) static TAKE: LazyLock<CachedScript> = LazyLock::new(|| {
    CachedScript::new(
        "if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end \
         redis.call('SET', KEYS[2], '1') \
         redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) \
         return 1",
    )
});

/// The lock has its whole length again, and the job is not suspected any more.
pub(crate) static EXTEND: LazyLock<CachedScript> = LazyLock::new(|| {
    CachedScript::new(
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end \
         redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) \
         redis.call('DEL', KEYS[3]) \
         return 1",
    )
});

/// The job is done, if it is still its worker's.
pub(crate) static FINISH: LazyLock<CachedScript> = LazyLock::new(|| {
    CachedScript::new(
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end \
         return redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])",
    )
});

/// The job waits again if it was suspected and its lock has ended; if it is active, it is suspected from now on.
pub(crate) static CHECK: LazyLock<CachedScript> = LazyLock::new(|| {
    CachedScript::new(
        "if redis.call('EXISTS', KEYS[4]) == 1 then return 0 end \
         redis.call('SET', KEYS[4], '1', 'PX', ARGV[1]) \
         local suspected = redis.call('DEL', KEYS[3]) \
         if suspected == 1 and redis.call('EXISTS', KEYS[1]) == 0 then redis.call('DEL', KEYS[2]) end \
         if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('SET', KEYS[3], '1') end \
         return 1",
    )
});

static SCRIPTS: [&LazyLock<CachedScript>; 4] = [&TAKE, &EXTEND, &FINISH, &CHECK];

struct JobLock<E: Env> {
    env: E,
    link: Link<E>,
    config: JobConfig,
    /// When this worker looks for stalled jobs again.
    next_check: Option<MonotonicTime>,
}

impl<E: Env> JobLock<E> {
    fn new(env: E, node: NodeName, config: JobConfig) -> Self {
        let link =
            Link::new(node, config.request_timeout, config.on_timeout).with_transport(&env, config.transport);
        Self { env, link, config, next_check: None }
    }

    /// Runs a script on the keys of a job.
    async fn run(
        &mut self,
        script: &'static CachedScript,
        job: &str,
        args: &[&[u8]],
    ) -> Result<Value, Failure> {
        let others = ["active", "stalled", "stalled-check"].map(|part| format!("{job}:{part}"));
        let keys = [job, &others[0], &others[1], &others[2]];
        script.run(&self.env, &mut self.link, &keys, args).await
    }

    /// Looks for a stalled job, if it is time: at first when the worker begins to ask.
    async fn check(&mut self, job: &str) -> Result<(), Failure> {
        let now = self.env.monotonic().await;
        if self.next_check.is_some_and(|next| now < next) {
            return Ok(());
        }
        let interval = self.config.stalled_check;
        self.next_check = Some(now.saturating_add(interval));
        self.run(&CHECK, job, &[millis(interval).to_string().as_bytes()]).await.map(|_| ())
    }

    async fn take(&mut self, job: &str, token: &Token, ttl: Duration) -> Result<Value, Failure> {
        self.check(job).await?;
        self.run(&TAKE, job, &[token.as_bytes(), millis(ttl).to_string().as_bytes()]).await
    }
}

impl<E: Env> Renewable for JobLock<E> {
    fn twin(&self) -> Self {
        let Self { env, link, config, next_check } = self;
        Self { env: env.clone(), link: link.twin(), config: config.clone(), next_check: *next_check }
    }
}

impl<E: Env> Lock for JobLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let token = Token::draw(&self.env);
        match self.take(resource, &token, ttl).await {
            Ok(reply) if says_yes(&reply) => Acquired::Granted(Grant::new(resource, token)),
            Ok(_) => Acquired::Refused(Refusal::Taken),
            Err(failure) => failure.into_acquired(),
        }
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        let args = [grant.token.as_bytes(), millis(ttl).to_string().as_bytes()].map(<[u8]>::to_vec);
        match self.run(&EXTEND, &grant.resource, &[&args[0], &args[1]]).await {
            Ok(reply) if says_yes(&reply) => Extended::Extended { deadline: None },
            Ok(_) => Extended::NotOwner,
            Err(failure) => Extended::Unknown(failure.into_doubt()),
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        match self.run(&FINISH, &grant.resource, &[grant.token.as_bytes()]).await {
            Ok(reply) if says_yes(&reply) => Released::Released,
            Ok(_) => Released::NotOwner,
            Err(failure) => Released::Unknown(failure.into_doubt()),
        }
    }
}
