//! `SETNX` of the time at which the lock ends; when that time has passed, `GETSET` of a new one takes the lock over.
//!
//! Its flaws: the time is one client's wall clock and is compared with another's, so that a clock that is ahead takes
//! a lock that is held; and a client that loses the race for an ended lock has already written its own time over the
//! winner's. Two clients may also write the same time: the value tells nobody whose the key is.

use std::time::Duration;

use redis::Value;

use crate::config::{Choice, Descriptor, Facts, Form, LockConfig, Nodes, Switches};
use crate::connection::link::Failure;
use crate::connection::plain_node::{PlainNode, facts};
use crate::connection::request::{ReleaseMethod, says_yes};
use crate::connection::units::millis;
use crate::env::{Deadline, Env, NodeName, WallTime};
use crate::lock::{Acquired, Grant, Lock, Refusal, Released, Token};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};

/// The kind of this lock.
pub(crate) struct SetnxGetset;

/// Its switches.
struct Getset {
    gives_back: GivesBack,
    /// Ask anew where a key that refused is gone when it is read, as redis-mutex. Off, it is taken over, also from
    /// whoever got it meanwhile.
    asks_again: bool,
    /// The time after its end for which a lock is left alone, by the clock of who would take it over. None, as
    /// published.
    grace: Duration,
}

/// How a key is given back that may be another's by now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum GivesBack {
    /// By `DEL`, unless its time has passed by the client's clock: as the page has it.
    #[default]
    UnlessOver,
    /// By `GET`, a comparison, and `DEL`, as redis-mutex: the key may change hands in between.
    GetThenDelete,
    /// By a script that compares.
    CompareAndDelete,
    /// By `DEL`, whatever the time.
    PlainDelete,
}

impl Choice for GivesBack {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("unless-over", Self::UnlessOver),
        ("get-then-delete", Self::GetThenDelete),
        ("compare-and-delete", Self::CompareAndDelete),
        ("plain-delete", Self::PlainDelete),
    ];
}

impl LockConfig for Getset {
    fn read(form: &mut Form<'_>) -> Self {
        Self {
            gives_back: form.choice(
                "gives_back",
                GivesBack::default(),
                "how a key is given back that may be another's by now",
            ),
            asks_again: form.flag(
                "asks_again",
                false,
                "ask anew for a key that is gone when it is read, and do not take it over",
            ),
            grace: form.duration(
                "grace",
                Duration::ZERO,
                "how long after its end a lock is left alone by who would take it over",
            ),
        }
    }

    fn facts(&self) -> Facts {
        let release = match self.gives_back {
            GivesBack::UnlessOver | GivesBack::PlainDelete => ReleaseMethod::PlainDelete,
            GivesBack::GetThenDelete => ReleaseMethod::GetThenDelete,
            GivesBack::CompareAndDelete => ReleaseMethod::CompareAndDelete,
        };
        Facts { deadline: true, ..facts(&[&["SETNX", "GET", "GETSET"], release.sends()].concat()) }
    }
}

impl<E: Env> LockKind<E> for SetnxGetset {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<Getset>(
            NAME,
            "SETNX of the time it ends by the client's clock; once that has passed, GETSET of another takes it over",
            "Redis documentation, SETNX: \"Design pattern: Locking with SETNX\", handling deadlocks",
            Nodes::One,
        )
        .with_scripts(crate::connection::scripts::release_scripts())
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let node = PlainNode::new(env, only_node(NAME, nodes)?);
        Ok(BoxLock::new(SetnxGetsetLock(node, Getset::from_switches(chosen)?)))
    }
}

const NAME: &str = "setnx-getset";
const NANOS_PER_MILLI: i64 = 1_000_000;

struct SetnxGetsetLock<E: Env>(PlainNode<E>, Getset);

impl<E: Env> Lock for SetnxGetsetLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        match self.take(resource, ttl).await {
            Ok(Some(ends)) => {
                let deadline = Some(Deadline::Wall(WallTime(ends.saturating_mul(NANOS_PER_MILLI))));
                Acquired::Granted(Grant { deadline, ..Grant::new(resource, Token::new(ends.to_string())) })
            }
            Ok(None) => Acquired::Refused(Refusal::Taken),
            Err(failure) => failure.into_acquired(),
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let method = match self.1.gives_back {
            GivesBack::GetThenDelete => Some(ReleaseMethod::GetThenDelete),
            GivesBack::CompareAndDelete => Some(ReleaseMethod::CompareAndDelete),
            GivesBack::PlainDelete => Some(ReleaseMethod::PlainDelete),
            GivesBack::UnlessOver => None,
        };
        if let Some(method) = method {
            return self.0.release(grant, method).await;
        }
        match grant.deadline {
            // Once its time has passed it may be somebody else's.
            Some(deadline) if deadline.has_passed(&self.0.env).await => Released::NotOwner,
            _ => self.0.release(grant, ReleaseMethod::PlainDelete).await,
        }
    }
}

impl<E: Env> SetnxGetsetLock<E> {
    /// When the lock ends, if it was taken.
    async fn take(&mut self, key: &str, ttl: Duration) -> Result<Option<i64>, Failure> {
        let held = loop {
            let ends = self.new_end(ttl).await;
            if says_yes(&self.0.call(redis::cmd("SETNX").arg(key).arg(ends)).await?) {
                return Ok(Some(ends));
            }
            let held = self.0.call(redis::cmd("GET").arg(key)).await?;
            if !self.1.asks_again || held != Value::Nil {
                break held;
            }
        };
        if !self.is_over(&held).await {
            return Ok(None);
        }
        let ends = self.new_end(ttl).await;
        let replaced = self.0.call(redis::cmd("GETSET").arg(key).arg(ends)).await?;
        // Somebody else was faster if the time it replaced is yet to come; that it is replaced cannot be undone.
        Ok(self.is_over(&replaced).await.then_some(ends))
    }

    /// The time that a lease beginning now ends, and a millisecond, as the page has it.
    async fn new_end(&self, ttl: Duration) -> i64 {
        let ttl = i64::try_from(millis(ttl)).unwrap_or(i64::MAX);
        let ends = self.now().await.saturating_add(ttl).saturating_add(1);
        self.0.env.marks(ends.to_string().as_bytes());
        ends
    }

    /// Whether the time in a key has passed. A key that is gone has no time left; what is no time is another program's.
    async fn is_over(&self, held: &Value) -> bool {
        let Value::BulkString(text) = held else { return *held == Value::Nil };
        let ends = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
        let now = self.now().await;
        let grace = i64::try_from(self.1.grace.as_millis()).unwrap_or(i64::MAX);
        ends.is_some_and(|ends| ends.saturating_add(grace) < now)
    }

    /// The wall clock in milliseconds.
    async fn now(&self) -> i64 {
        self.0.env.wall().await.0.div_euclid(NANOS_PER_MILLI)
    }
}
