//! The lock under test: one key for each switch of the algorithms, each refused where it would do nothing.

use std::num::NonZeroU32;
use std::time::Duration;

use doublehold_lockimpl::{
    Algorithm, Clock, Drift, OnFailedExtension, OnTimeout, Order, Quorum, Ratio, RedlockConfig,
    ReleaseMethod, ReleaseOn, ReplicaWait, ReplicatedConfig, SingleConfig, Timing, TokenScope,
};

use super::problem::Result;
use super::section::{Choices, Field, Section};
use super::suggest;
use super::vocabulary::{Key, words_of};
use crate::scenario::LockSetup;

const ALGORITHMS: [&str; 3] = ["single", "replicated", "redlock"];
const EVERY: [&str; 11] = [
    "algorithm",
    "name",
    "ttl",
    "elapsed_check",
    "unchecked_deadline",
    "clock",
    "drift_ratio",
    "drift_constant",
    "on_timeout",
    "release",
    "extend_if_missing",
];
const ONE_NODE: [&str; 3] = ["request_timeout", "fencing", "release_on_failure"];
const REPLICATED: [&str; 2] = ["wait_replicas", "wait_timeout"];
const REDLOCK: [&str; 9] = [
    "quorum",
    "order",
    "node_timeout",
    "token",
    "tries",
    "retry_delay",
    "jitter",
    "release_on",
    "on_failed_extension",
];

const CLOCKS: Choices<Clock> =
    &[("wall", Clock::Wall), ("monotonic", Clock::Monotonic), ("boot", Clock::Boot)];
const QUORUMS: Choices<Quorum> = &[
    ("majority", Quorum::Majority),
    ("half-of-others", Quorum::HalfOfOthers),
    ("more-than-majority", Quorum::MoreThanMajority),
];
const ORDERS: Choices<Order> = &[("sequential", Order::Sequential), ("parallel", Order::Parallel)];
const TOKENS: Choices<TokenScope> = &[("call", TokenScope::Call), ("attempt", TokenScope::Attempt)];
const RELEASE: Choices<ReleaseMethod> = &[
    ("compare-and-delete", ReleaseMethod::CompareAndDelete),
    ("plain-delete", ReleaseMethod::PlainDelete),
    ("get-then-delete", ReleaseMethod::GetThenDelete),
];
const RELEASE_ON: Choices<ReleaseOn> = &[("all", ReleaseOn::All), ("answered", ReleaseOn::Answered)];
const ON_TIMEOUT: Choices<OnTimeout> = &[("reconnect", OnTimeout::Reconnect), ("keep", OnTimeout::Keep)];
const ON_FAILED_EXTENSION: Choices<OnFailedExtension> =
    &[("keep", OnFailedExtension::Keep), ("release", OnFailedExtension::Release)];
/// What stands for a timeout that never comes.
const NO_TIMEOUT: &str = "none";

/// What `[lock]` takes.
pub(super) fn vocabulary() -> Vec<Key> {
    let mut keys = Key::all("lock", &known());
    let values = [
        ("algorithm", ALGORITHMS.to_vec()),
        ("clock", words_of(CLOCKS)),
        ("quorum", words_of(QUORUMS)),
        ("order", words_of(ORDERS)),
        ("token", words_of(TOKENS)),
        ("release", words_of(RELEASE)),
        ("release_on", words_of(RELEASE_ON)),
        ("on_timeout", words_of(ON_TIMEOUT)),
        ("on_failed_extension", words_of(ON_FAILED_EXTENSION)),
        ("request_timeout", vec![NO_TIMEOUT]),
        ("node_timeout", vec![NO_TIMEOUT]),
    ];
    keys.extend(values.iter().flat_map(|(key, words)| Key::words(&format!("lock.{key}"), words)));
    keys
}

fn known() -> Vec<&'static str> {
    [&EVERY[..], &ONE_NODE, &REPLICATED, &REDLOCK].concat()
}

/// Reads `[lock]`; the number of nodes decides whether a quorum can be met.
pub(super) fn read(root: &Section<'_>, nodes: usize) -> Result<LockSetup> {
    let lock = root.require("lock", "{ algorithm = \"redlock\", ttl = \"10s\" }")?.section(&known())?;
    let algorithm = lock.require("algorithm", "\"redlock\"")?;
    let name = algorithm.choice(&ALGORITHMS.map(|name| (name, name)))?;
    refuse_misfits(&lock, name)?;
    let ttl = lock.require("ttl", "\"10s\"")?.positive_duration()?;
    let timing = timing(&lock, name == "redlock", ttl)?;
    let algorithm = match name {
        "single" => Algorithm::Single(single(&lock, timing)?),
        "replicated" => Algorithm::Replicated(replicated(&lock, timing, nodes)?),
        _ => Algorithm::Redlock(redlock(&lock, timing, nodes)?),
    };
    let name = lock.get("name").map_or(Ok("stock".to_owned()), |field| field.name())?;
    Ok(LockSetup { name, ttl, algorithm })
}

/// A switch of another algorithm would be ignored, and a scenario that relies on it would say nothing.
fn refuse_misfits(lock: &Section<'_>, algorithm: &str) -> Result<()> {
    let owners = |key: &str| match key {
        key if ONE_NODE.contains(&key) => &ALGORITHMS[..2],
        key if REPLICATED.contains(&key) => &ALGORITHMS[1..2],
        key if REDLOCK.contains(&key) => &ALGORITHMS[2..],
        _ => &ALGORITHMS[..],
    };
    for (key, field) in lock.fields() {
        let owners = owners(key);
        if !owners.contains(&algorithm) {
            let cause = format!("`{}` does not fit the `{algorithm}` lock", field.path);
            let hint =
                format!("it is a switch of {}: remove it, or change `lock.algorithm`", suggest::list(owners));
            return Err(field.problem(cause, hint));
        }
    }
    Ok(())
}

fn timing(lock: &Section<'_>, checked: bool, ttl: Duration) -> Result<Timing> {
    let published = if checked { Timing::checked() } else { Timing::unchecked() };
    let timing = Timing {
        elapsed_check: lock.flag_or("elapsed_check", published.elapsed_check)?,
        unchecked_deadline: lock.flag_or("unchecked_deadline", published.unchecked_deadline)?,
        clock: lock.choice_or("clock", CLOCKS, published.clock)?,
        drift: Drift {
            ratio: lock.get("drift_ratio").map_or(Ok(published.drift.ratio), |field| drift_ratio(&field))?,
            constant: lock.duration_or("drift_constant", published.drift.constant)?,
        },
    };
    if timing.elapsed_check && timing.drift.allowance(ttl) >= ttl {
        let cause = "the drift allowance is as long as `lock.ttl`, so that no lock is ever granted";
        return Err(lock.problem(cause, "use a longer `ttl`, or a smaller `drift_ratio` or `drift_constant`"));
    }
    Ok(timing)
}

fn drift_ratio(field: &Field<'_>) -> Result<Ratio> {
    let refused = || {
        field.must_be("a ratio below 1 such as \"1/100\"", "it is the share of the ttl given up for drift")
    };
    let (numerator, denominator) = field.text()?.split_once('/').ok_or_else(refused)?;
    let numerator: u32 = numerator.trim().parse().map_err(|_| refused())?;
    let denominator: NonZeroU32 = denominator.trim().parse().map_err(|_| refused())?;
    if numerator >= denominator.get() {
        return Err(refused());
    }
    Ok(Ratio { numerator, denominator })
}

fn single(lock: &Section<'_>, timing: Timing) -> Result<SingleConfig> {
    let published = SingleConfig::default();
    Ok(SingleConfig {
        timing,
        request_timeout: timeout(lock, "request_timeout", published.request_timeout)?,
        on_timeout: on_timeout(lock)?,
        release: release(lock)?,
        fencing: lock.flag_or("fencing", published.fencing)?,
        extend_if_missing: lock.flag_or("extend_if_missing", published.extend_if_missing)?,
        release_on_failure: lock.flag_or("release_on_failure", published.release_on_failure)?,
    })
}

fn replicated(lock: &Section<'_>, timing: Timing, nodes: usize) -> Result<ReplicatedConfig> {
    let wait = match (lock.get("wait_replicas"), lock.get("wait_timeout")) {
        (Some(replicas), timeout) => Some(ReplicaWait {
            replicas: replicas.number(1, nodes.saturating_sub(1).max(1) as u64)?,
            timeout: timeout.map_or(Ok(Duration::from_secs(1)), |timeout| timeout.positive_duration())?,
        }),
        (None, Some(timeout)) => {
            let cause = format!("`{}` without `wait_replicas` waits for nobody", timeout.path);
            return Err(timeout.problem(cause, "add `wait_replicas = 1`"));
        }
        (None, None) => None,
    };
    Ok(ReplicatedConfig { lock: single(lock, timing)?, wait })
}

fn redlock(lock: &Section<'_>, timing: Timing, nodes: usize) -> Result<RedlockConfig> {
    let published = RedlockConfig::default();
    Ok(RedlockConfig {
        timing,
        quorum: lock.get("quorum").map_or(Ok(published.quorum), |field| quorum(&field, nodes))?,
        order: lock.choice_or("order", ORDERS, published.order)?,
        node_timeout: timeout(lock, "node_timeout", published.node_timeout)?,
        on_timeout: on_timeout(lock)?,
        token: lock.choice_or("token", TOKENS, published.token)?,
        tries: lock.get("tries").map_or(Ok(u64::from(published.tries)), |tries| tries.number(1, 1000))?
            as u32,
        retry_delay: lock.duration_or("retry_delay", published.retry_delay)?,
        jitter: lock.flag_or("jitter", published.jitter)?,
        release: release(lock)?,
        release_on: lock.choice_or("release_on", RELEASE_ON, published.release_on)?,
        on_failed_extension: lock.choice_or(
            "on_failed_extension",
            ON_FAILED_EXTENSION,
            published.on_failed_extension,
        )?,
        extend_if_missing: lock.flag_or("extend_if_missing", published.extend_if_missing)?,
    })
}

fn quorum(field: &Field<'_>, nodes: usize) -> Result<Quorum> {
    if field.text().is_err() {
        return Ok(Quorum::Fixed(field.number(1, nodes as u64)? as usize));
    }
    field.choice(QUORUMS)
}

/// A timeout, or `none`, which waits for ever.
fn timeout(lock: &Section<'_>, key: &str, published: Option<Duration>) -> Result<Option<Duration>> {
    match lock.get(key) {
        None => Ok(published),
        Some(field) if field.text() == Ok(NO_TIMEOUT) => Ok(None),
        Some(field) => field.positive_duration().map(Some),
    }
}

fn on_timeout(lock: &Section<'_>) -> Result<OnTimeout> {
    lock.choice_or("on_timeout", ON_TIMEOUT, OnTimeout::default())
}

fn release(lock: &Section<'_>) -> Result<ReleaseMethod> {
    lock.choice_or("release", RELEASE, ReleaseMethod::default())
}
