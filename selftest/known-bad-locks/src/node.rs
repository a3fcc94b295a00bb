//! One client's way to one node, for locks that have a bug elsewhere: plain commands and scripts, a time limit on each,
//! and three answers: yes, no, and none.
//!
//! Deliberately less than what ships: no retry, one connection. After a timeout it is kept for one more request, so
//! that a release follows the claim that it takes back; after a second one it is opened anew.

use std::collections::BTreeSet;
use std::time::Duration;

use doublehold::check::{
    Acquired, DeadlinePassed, Doubt, Env, ErrorReply, NodeName, Refusal, Released, SimEnv,
};
use redis::aio::ConnectionLike as _;
use redis::{Cmd, ErrorKind, RedisError, ServerErrorKind, Value};

/// How long it may take to open a connection, at least: a pool has them open before the lock is asked for.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(250);

/// Deletes the key if it holds the token.
pub(crate) const COMPARE_AND_DELETE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/// Gives the key a new lease if it holds the token.
pub(crate) const COMPARE_AND_EXTEND: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Silence {
    /// Nothing was sent.
    Unsent,
    /// It was sent, and no reply came in time, or the connection broke.
    Lost,
    /// The node replied with an error.
    Error(RedisError),
}

impl Silence {
    /// As the answer to a caller who asked for the lock with nothing but this.
    pub(crate) fn into_acquired(self) -> Acquired {
        match self {
            Silence::Unsent => Acquired::Refused(Refusal::Unreachable("no connection".to_owned())),
            Silence::Lost => Acquired::Unknown(Doubt::Timeout),
            Silence::Error(error) => Acquired::Refused(Refusal::ErrorReply(error_reply(&error))),
        }
    }

    /// As the doubt of a caller who wanted to know whether a key is still its own.
    pub(crate) fn into_doubt(self) -> Doubt {
        match self {
            Silence::Unsent => Doubt::Unreachable("no connection".to_owned()),
            Silence::Lost => Doubt::Timeout,
            Silence::Error(error) => Doubt::ErrorReply(error_reply(&error)),
        }
    }
}

/// Outcome of a release, by a node's answer.
pub(crate) fn release_outcome(answer: Result<Value, Silence>) -> Released {
    match answer {
        Err(silence) => Released::Unknown(silence.into_doubt()),
        yes if is_yes(&yes) => Released::Released,
        Ok(_) => Released::NotOwner,
    }
}

fn error_reply(error: &RedisError) -> ErrorReply {
    let code = error.code().unwrap_or("ERR").to_owned();
    ErrorReply { code, message: error.detail().unwrap_or_default().to_owned() }
}

/// The way to one node.
pub(crate) struct Node {
    env: SimEnv,
    name: NodeName,
    /// The most time that one command may take.
    timeout: Duration,
    conn: Option<<SimEnv as Env>::Conn>,
    /// Whether the last request got no reply in time.
    was_late: bool,
    /// Whether scripts are called by their hash.
    by_hash: bool,
    /// Those that were loaded.
    loaded: BTreeSet<&'static str>,
}

impl Node {
    pub(crate) fn new(env: SimEnv, name: NodeName, timeout: Duration) -> Node {
        Node { env, name, timeout, conn: None, was_late: false, by_hash: false, loaded: BTreeSet::new() }
    }

    /// The same, which calls scripts by their hash and loads each once, or sends them whole.
    pub(crate) fn with_scripts_by_hash(self, by_hash: bool) -> Node {
        Node { by_hash, ..self }
    }

    pub(crate) fn name(&self) -> &NodeName {
        &self.name
    }

    /// Sends a command and waits for its reply.
    pub(crate) async fn call(&mut self, command: &Cmd) -> Result<Value, Silence> {
        let (env, name) = (self.env.clone(), self.name.clone());
        if self.conn.is_none() {
            let longest = self.timeout.max(CONNECT_TIMEOUT);
            let connected =
                limit_time(&env, longest, env.connect(&name)).await.map_err(|_| Silence::Unsent)?;
            self.conn = Some(connected.map_err(|_| Silence::Unsent)?);
        }
        let Some(conn) = &mut self.conn else { return Err(Silence::Unsent) };
        let reply = limit_time(&env, self.timeout, conn.req_packed_command(command)).await;
        let was_late = std::mem::replace(&mut self.was_late, reply.is_err());
        match reply.map(|reply| reply.and_then(Value::extract_error)) {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) if matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension) => {
                return Err(Silence::Error(error));
            }
            Err(DeadlinePassed) if !was_late => {}
            Ok(Err(_)) | Err(DeadlinePassed) => (self.conn, self.was_late) = (None, false),
        }
        Err(Silence::Lost)
    }

    /// Runs a script on one key.
    pub(crate) async fn run_script(
        &mut self,
        source: &'static str,
        key: &str,
        args: &[&[u8]],
    ) -> Result<Value, Silence> {
        if self.by_hash {
            return self.run_by_hash(source, key, args).await;
        }
        self.call(redis::cmd("EVAL").arg(source).arg(1).arg(key).arg(args)).await
    }

    /// Runs a script by its hash. One that the node does not know is loaded, but only once.
    async fn run_by_hash(
        &mut self,
        source: &'static str,
        key: &str,
        args: &[&[u8]],
    ) -> Result<Value, Silence> {
        let script = redis::Script::new(source);
        let mut call = redis::cmd("EVALSHA");
        call.arg(script.get_hash()).arg(1).arg(key).arg(args);
        match self.call(&call).await {
            Err(Silence::Error(error))
                if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
                    && self.loaded.insert(source) =>
            {
                self.call(redis::cmd("SCRIPT").arg("LOAD").arg(source)).await?;
                self.call(&call).await
            }
            answered => answered,
        }
    }

    /// `SET key token NX PX ttl`.
    pub(crate) async fn set_nx_px(
        &mut self,
        key: &str,
        token: &[u8],
        ttl: Duration,
    ) -> Result<Value, Silence> {
        self.call(redis::cmd("SET").arg(key).arg(token).arg("NX").arg("PX").arg(millis(ttl))).await
    }

    /// Deletes the key if it holds the token.
    pub(crate) async fn delete(&mut self, key: &str, token: &[u8]) -> Result<Value, Silence> {
        self.run_script(COMPARE_AND_DELETE, key, &[token]).await
    }

    /// Gives the key a new lease if it holds the token.
    pub(crate) async fn extend(&mut self, key: &str, token: &[u8], ttl: Duration) -> Result<Value, Silence> {
        self.run_script(COMPARE_AND_EXTEND, key, &[token, millis(ttl).to_string().as_bytes()]).await
    }
}

async fn limit_time<F>(env: &SimEnv, longest: Duration, operation: F) -> Result<F::Output, DeadlinePassed>
where
    F: Future + Send,
    F::Output: Send,
{
    let now = env.monotonic().await;
    env.race(operation, now.saturating_add(longest)).await
}

/// Whether a reply says yes.
pub(crate) fn is_yes(reply: &Result<Value, Silence>) -> bool {
    matches!(reply, Ok(Value::Okay) | Ok(Value::Int(1..)))
}

/// Whole milliseconds, rounded up.
pub(crate) fn millis(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
