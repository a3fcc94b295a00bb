//! Takes, extends and releases a lock on a real Redis server, and says what happened.
//!
//! ```text
//! cargo run -p doublehold-lockimpl --example acquire [redis://127.0.0.1:6379]
//! ```
//!
//! It also asks for the lock a second time while it is held, as another client would, and expects to
//! be refused. It touches the keys `doublehold:example` and `{doublehold:example}:fencing` and leaves
//! the second, a counter.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::fmt;
use std::process::ExitCode;
use std::time::Duration;

use doublehold_lockimpl::{
    Acquired, Deadline, Env, Extended, Grant, Lock, NodeName, Refusal, Released, SingleConfig, SingleLock,
    Timing, TokioEnv,
};

const DEFAULT_URL: &str = "redis://127.0.0.1:6379";
const RESOURCE: &str = "doublehold:example";
const TTL: Duration = Duration::from_secs(10);

/// What went wrong, for the reader of the terminal.
struct Trouble(String);

impl fmt::Debug for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Trouble> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().unwrap_or_else(|| DEFAULT_URL.to_owned());
    if arguments.next().is_some() || url.starts_with('-') {
        println!("usage: acquire [URL]   (default {DEFAULT_URL})");
        return Ok(ExitCode::from(2));
    }
    let env = TokioEnv::new();
    let mut lock = client(&env, &url);

    let mut grant = take(&mut lock, &url).await?;
    println!("{url}: took {RESOURCE:?} for {TTL:?}");
    println!("  token {}, fencing number {}", grant.token, grant.fencing.unwrap_or_default());
    println!("  ours for another {:?} by this machine's monotonic clock", left(&env, &grant).await);

    match client(&env, &url).acquire(RESOURCE, TTL).await {
        Acquired::Refused(Refusal::Taken) => println!("a second client asked for it and was refused: taken"),
        other => return Err(Trouble(format!("a second client should have been refused, but got {other:?}"))),
    }
    match lock.extend(&mut grant, 2 * TTL).await {
        Extended::Extended { .. } => {
            println!("extended it: ours for another {:?}", left(&env, &grant).await);
        }
        other => return Err(Trouble(format!("could not extend the lock: {other:?}"))),
    }
    match lock.release(&grant).await {
        Released::Released => println!("released it"),
        other => return Err(Trouble(format!("could not release the lock: {other:?}"))),
    }
    match lock.release(&grant).await {
        Released::NotOwner => println!("released it again: it is not ours any more, and nothing was touched"),
        other => return Err(Trouble(format!("a second release should find nothing, but got {other:?}"))),
    }
    Ok(ExitCode::SUCCESS)
}

/// A client that checks how long its acquisition took, and counts its grants.
fn client(env: &TokioEnv, url: &str) -> SingleLock<TokioEnv> {
    let config = SingleConfig { timing: Timing::checked(), fencing: true, ..SingleConfig::default() };
    SingleLock::new(env.clone(), NodeName::new(url), config)
}

async fn take(lock: &mut SingleLock<TokioEnv>, url: &str) -> Result<Grant, Trouble> {
    match lock.acquire(RESOURCE, TTL).await {
        Acquired::Granted(grant) => Ok(grant),
        Acquired::Refused(Refusal::Unreachable(why)) => Err(Trouble(format!(
            "no Redis server at `{url}`: {why}\nhint: start one with `redis-server`, or pass its URL: acquire {DEFAULT_URL}"
        ))),
        Acquired::Refused(why) => Err(Trouble(format!("{RESOURCE:?} was refused: {why}"))),
        Acquired::Unknown(why) => Err(Trouble(format!("nobody knows whether {RESOURCE:?} is held: {why}"))),
    }
}

/// How long the client may go on believing in its grant.
async fn left(env: &TokioEnv, grant: &Grant) -> Duration {
    let Some(Deadline::Monotonic(deadline)) = grant.deadline else { return Duration::ZERO };
    let left = Duration::from_nanos(deadline.0.saturating_sub(env.monotonic().await.0));
    Duration::from_millis(u64::try_from(left.as_millis()).unwrap_or(u64::MAX))
}
