//! What locks say to one node: every command and script, and what a reply means. The rest of the
//! crate decides whom to ask and what to make of the answers.
//!
//! Assumes Redis 2.6.12 or later (`SET … NX PX`, scripts). Does not cover Redis Cluster: the
//! fencing counter is named so that it shares its lock's slot, but redirections are not followed.

use std::sync::LazyLock;
use std::time::Duration;

use redis::aio::ConnectionLike;
use redis::{Cmd, ErrorKind, RedisResult, Script, ServerErrorKind, Value};

use crate::lock::Token;

/// How a key is given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReleaseMethod {
    /// A script deletes the key if it holds this grant's token: as published.
    #[default]
    CompareAndDelete,
    /// `DEL`, whoever the key belongs to. A holder that overran its lease frees the next holder's
    /// lock; with Redlock, so does the cleaning up of every failed attempt.
    PlainDelete,
    /// `GET`, compare here, `DEL`: the key may expire and change hands in between.
    GetThenDelete,
}

/// One exchange with one node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request<'a> {
    /// Set the key if it is absent.
    Claim { key: &'a str, token: &'a Token, ttl: Duration },
    /// The same, and count the grant.
    ClaimFenced { key: &'a str, counter: &'a str, token: &'a Token, ttl: Duration },
    /// Renew the key if it is ours, or set it if it is absent and `or_set` allows.
    Extend { key: &'a str, token: &'a Token, ttl: Duration, or_set: bool },
    /// Delete the key, if it is ours or regardless.
    Release { key: &'a str, token: &'a Token, method: ReleaseMethod },
    /// Ask whether the node is a master.
    Role,
    /// Wait until that many replicas have this connection's last write.
    Wait { replicas: u64, timeout: Duration },
}

// INCR comes before SET: a script's writes stay when it fails later, and a counter that ran ahead
// does no harm, while a key without a grant locks everybody out for a lease.
static CLAIM_FENCED: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('EXISTS', KEYS[1]) == 1 then return false end \
         local number = redis.call('INCR', KEYS[2]) \
         redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) \
         return number",
    )
});

static COMPARE_AND_DELETE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end \
         return 0",
    )
});

static EXTEND: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then \
         return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end \
         return 0",
    )
});

static EXTEND_OR_SET: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local value = redis.call('GET', KEYS[1]) \
         if value == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end \
         if value then return 0 end \
         redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) \
         return 1",
    )
});

impl Request<'_> {
    /// Sends the request and returns the reply. An error reply is an `Err`.
    pub(crate) async fn send<C: ConnectionLike + Send>(&self, conn: &mut C) -> RedisResult<Value> {
        match *self {
            Self::Claim { key, token, ttl } => {
                let mut set = Cmd::with_capacity(6, 64 + key.len());
                set.arg("SET").arg(key).arg(&token.0).arg("NX").arg("PX").arg(millis(ttl));
                set.query_async(conn).await
            }
            Self::ClaimFenced { key, counter, token, ttl } => {
                run(&CLAIM_FENCED, conn, &[key, counter], token, Some(ttl)).await
            }
            Self::Extend { key, token, ttl, or_set } => {
                let script = if or_set { &EXTEND_OR_SET } else { &EXTEND };
                run(script, conn, &[key], token, Some(ttl)).await
            }
            Self::Release { key, token, method } => release(conn, key, token, method).await,
            Self::Role => command("ROLE").query_async(conn).await,
            Self::Wait { replicas, timeout } => {
                command("WAIT").arg(replicas).arg(millis(timeout)).query_async(conn).await
            }
        }
    }

    /// How long the node may take on purpose before it answers.
    pub(crate) fn served_in(&self) -> Duration {
        match self {
            Self::Wait { timeout, .. } => *timeout,
            _ => Duration::ZERO,
        }
    }
}

/// Whether a reply to a claim, extension or release says yes.
pub(crate) fn says_yes(reply: &Value) -> bool {
    match reply {
        Value::Okay => true,
        Value::Int(count) => *count > 0,
        _ => false,
    }
}

/// Whether a reply to `ROLE` is a master's.
pub(crate) fn is_master(reply: &Value) -> bool {
    let Value::Array(fields) = reply else { return false };
    match fields.first() {
        Some(Value::BulkString(role)) => role == b"master",
        Some(Value::SimpleString(role)) => role == "master",
        _ => false,
    }
}

async fn release<C: ConnectionLike + Send>(
    conn: &mut C,
    key: &str,
    token: &Token,
    method: ReleaseMethod,
) -> RedisResult<Value> {
    match method {
        ReleaseMethod::CompareAndDelete => run(&COMPARE_AND_DELETE, conn, &[key], token, None).await,
        ReleaseMethod::PlainDelete => command("DEL").arg(key).query_async(conn).await,
        ReleaseMethod::GetThenDelete => {
            let value: Value = command("GET").arg(key).query_async(conn).await?;
            match value {
                Value::BulkString(value) if value == token.0 => {
                    command("DEL").arg(key).query_async(conn).await
                }
                _ => Ok(Value::Int(0)),
            }
        }
    }
}

/// EVALSHA; if the node does not know the script (it forgets them all when it restarts), SCRIPT LOAD
/// and once more.
async fn run<C: ConnectionLike + Send>(
    script: &Script,
    conn: &mut C,
    keys: &[&str],
    token: &Token,
    ttl: Option<Duration>,
) -> RedisResult<Value> {
    let mut call = Cmd::with_capacity(6, 128 + keys.iter().map(|key| key.len()).sum::<usize>());
    call.arg("EVALSHA").arg(script.get_hash()).arg(keys.len()).arg(keys).arg(&token.0);
    if let Some(ttl) = ttl {
        call.arg(millis(ttl));
    }
    match call.query_async(conn).await {
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
            script.load_async(conn).await?;
            call.query_async(conn).await
        }
        reply => reply,
    }
}

fn command(name: &str) -> Cmd {
    let mut command = Cmd::with_capacity(3, 64);
    command.arg(name);
    command
}

/// Whole milliseconds, rounded up: `PEXPIRE key 0` would delete the key, and a lease rounded down
/// would end before its holder thinks.
fn millis(duration: Duration) -> u64 {
    let millis = duration.as_nanos().div_ceil(1_000_000).max(1);
    u64::try_from(millis).unwrap_or(u64::MAX)
}
