//! How a lock waits for a key that another holds: by asking again, or for something that the node says, and then it
//! asks again.
//!
//! Whatever wakes a waiter, it is the claim that decides: a wake-up is a hint, and may be late, false or lost. So each
//! way also asks again when the key is due to be gone and every `poll`, unless these are off. A waiter has a connection
//! of its own while it waits. Does not queue: of those that wake, the fastest wins.

use std::time::Duration;

use redis::Value;

use crate::config::{Choice, Form, Unfit};
use crate::connection::cached_script::CachedScript;
use crate::connection::link::{Failure, Link};
use crate::connection::subscription::Subscription;
use crate::connection::units::millis;
use crate::connection::wire::deadline_after;
use crate::env::{Env, MonotonicTime, NodeName, Push, WallTime};
use crate::lock::Token;

/// What makes a waiting client ask again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wake {
    /// Nothing: a call asks once, and asking again is the caller's decision.
    #[default]
    None,
    /// Time: it asks every `poll`.
    Poll,
    /// A message that a release publishes. It subscribes after a refusal, and asks once more when the subscription
    /// stands: a release in between has told nobody.
    Pubsub,
    /// An element that a release puts on a list, for the one who has waited longest. It lives `signal_ttl`.
    List,
    /// The node's own word that the key was deleted or has expired (`notify-keyspace-events`). A key that nobody asks
    /// for expires for the node when it gets round to it, which may be later than its time.
    Keyspace,
    /// The node's own word that a key is not any more as it was read (`CLIENT TRACKING`).
    Tracking,
}

impl Choice for Wake {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("none", Self::None),
        ("poll", Self::Poll),
        ("pubsub", Self::Pubsub),
        ("list", Self::List),
        ("keyspace", Self::Keyspace),
        ("tracking", Self::Tracking),
    ];
}

/// The clock that says when a wait has lasted as long as it may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitClock {
    /// One that nobody sets.
    #[default]
    Monotonic,
    /// One that can be set: back, and the wait is longer than was asked for; ahead, and it is over at once.
    Wall,
}

impl Choice for WaitClock {
    const WORDS: &'static [(&'static str, Self)] = &[("monotonic", Self::Monotonic), ("wall", Self::Wall)];
}

/// The switches of a lock that can wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// What makes a waiting client ask again.
    pub wake: Wake,
    /// How often it asks again though nothing woke it; none: never. Default 100 ms.
    pub poll: Option<Duration>,
    /// Whether it also asks the node how long the key will be there, and asks again when it is gone. Default on.
    pub until_expiry: bool,
    /// How long a signal of a release stays on its list. Default 1 s.
    pub signal_ttl: Duration,
    /// Which clock says that a wait is over.
    pub clock: WaitClock,
}

impl Waiting {
    /// Asks for the switches.
    pub(crate) fn choose(form: &mut Form<'_>) -> Self {
        let wake = form.choice("wake", Wake::default(), "what makes a waiting client ask again");
        let poll = form.timeout(
            "poll",
            Some(Duration::from_millis(100)),
            "how often a waiting client asks again though nothing woke it",
        );
        form.needs("wake");
        let until_expiry = form.flag(
            "until_expiry",
            true,
            "ask how long a key will be there, and ask for the lock again when it is to be gone",
        );
        form.needs("wake");
        let signal_ttl = form.positive_duration(
            "signal_ttl",
            Duration::from_secs(1),
            "how long what a release puts on a list stays there",
        );
        form.needs("wake");
        let clock =
            form.choice("wait_clock", WaitClock::default(), "the clock that says that a wait is over");
        form.needs("wake");
        Self { wake, poll, until_expiry, signal_ttl, clock }
    }

    /// Whether a call can wait.
    pub(crate) fn waits(&self) -> bool {
        self.wake != Wake::None
    }

    /// The commands that waiting takes.
    pub(crate) fn sends(&self) -> Vec<&'static str> {
        let own: &[&'static str] = match self.wake {
            Wake::None | Wake::Poll => &[],
            Wake::Pubsub | Wake::Keyspace => &["SUBSCRIBE"],
            Wake::List => &["BLPOP"],
            Wake::Tracking => &["CLIENT", "GET"],
        };
        let asks = self.until_expiry && !own.is_empty();
        own.iter().copied().chain(asks.then_some("PTTL")).collect()
    }

    /// Whether a release has to tell those who wait.
    pub(crate) fn is_told(&self) -> bool {
        matches!(self.wake, Wake::Pubsub | Wake::List)
    }

    /// Why nobody can wait like this.
    pub(crate) fn unfit(&self) -> Option<Unfit> {
        (self.wake == Wake::Poll && self.poll.is_none()).then(|| Unfit {
            cause: "a client that waits by `poll`, and every `none`, never asks again".into(),
            hint: "use a duration for `poll`, or another `wake`".into(),
        })
    }
}

/// The channel on which a release of `resource` is told, and the list on which it leaves a signal.
pub(crate) fn signal_of(resource: &str) -> String {
    format!("{{{resource}}}:released")
}

/// What deletes a key that is ours, and tells those who wait for it.
pub(crate) struct Signals {
    publish: CachedScript,
    push: CachedScript,
}

impl Signals {
    pub(crate) fn new() -> Self {
        let publish = CachedScript::new(
            "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end \
             redis.call('DEL', KEYS[1]) \
             redis.call('PUBLISH', KEYS[2], 'released') \
             return 1",
        );
        // One element is enough, whoever left another: it wakes one, who wakes the next when done.
        let push = CachedScript::new(
            "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end \
             redis.call('DEL', KEYS[1], KEYS[2]) \
             redis.call('RPUSH', KEYS[2], 'released') \
             redis.call('PEXPIRE', KEYS[2], ARGV[2]) \
             return 1",
        );
        Self { publish, push }
    }

    /// The sources of the scripts.
    pub(crate) fn scripts(&self) -> [String; 2] {
        [&self.publish, &self.push].map(|script| script.source().to_owned())
    }

    /// The names of the scripts: of the one that publishes, and of the one that leaves a signal.
    pub(crate) fn hashes(&self) -> [&str; 2] {
        [self.publish.hash(), self.push.hash()]
    }

    /// Releases a key in the way that wakes those who wait as `waiting` says.
    pub(crate) async fn release<E: Env>(
        &self,
        env: &E,
        link: &mut Link<E>,
        waiting: &Waiting,
        (resource, token): (&str, &Token),
    ) -> Result<Value, Failure> {
        let signal = signal_of(resource);
        let (keys, ttl) = ([resource, signal.as_str()], millis(waiting.signal_ttl).to_string());
        match waiting.wake {
            Wake::List => self.push.run(env, link, &keys, &[token.as_bytes(), ttl.as_bytes()]).await,
            _ => self.publish.run(env, link, &keys, &[token.as_bytes()]).await,
        }
    }
}

/// One client's wait for one lock, from the first refusal to the end of its limit.
pub(crate) struct Wait<'a, E: Env> {
    env: &'a E,
    waiting: &'a Waiting,
    node: NodeName,
    resource: &'a str,
    request_timeout: Option<Duration>,
    ends: Ends,
    listening: Option<Subscription<E>>,
}

/// When a wait is over.
enum Ends {
    Monotonic(MonotonicTime),
    Wall(WallTime),
}

impl<'a, E: Env> Wait<'a, E> {
    /// Begins to count. Sends nothing.
    pub(crate) async fn begin(
        env: &'a E,
        waiting: &'a Waiting,
        (node, request_timeout): (NodeName, Option<Duration>),
        (resource, limit): (&'a str, Duration),
    ) -> Self {
        let ends = match waiting.clock {
            WaitClock::Monotonic => Ends::Monotonic(env.monotonic().await.saturating_add(limit)),
            WaitClock::Wall => Ends::Wall(env.wall().await.saturating_add(limit)),
        };
        Self { env, waiting, node, resource, request_timeout, ends, listening: None }
    }

    /// From now on waits at this node: where it is another, what was said at the last one is of no more use.
    pub(crate) fn move_to(&mut self, node: &NodeName) {
        if self.node != *node {
            (self.node, self.listening) = (node.clone(), None);
        }
    }

    /// Waits after a refusal until it is time to ask again; false once the limit has passed.
    pub(crate) async fn turn(&mut self) -> bool {
        if self.waiting.wake == Wake::None || self.time_left().await.is_zero() {
            return false;
        }
        if self.wait().await.is_err() {
            // What was said on it meanwhile is lost: the next turn opens another, and asks when that stands.
            self.listening = None;
            self.sleep(self.waiting.poll.unwrap_or(REOPEN)).await;
        }
        // Also after the last wait: what woke it may have been a release.
        true
    }

    /// The time that it may still last.
    async fn time_left(&self) -> Duration {
        let nanos = match self.ends {
            Ends::Monotonic(ends) => i128::from(ends.0) - i128::from(self.env.monotonic().await.0),
            Ends::Wall(ends) => i128::from(ends.0) - i128::from(self.env.wall().await.0),
        };
        Duration::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
    }

    async fn sleep(&self, pause: Duration) {
        let pause = pause.min(self.time_left().await);
        let now = self.env.monotonic().await;
        self.env.sleep_until(now.saturating_add(pause)).await;
    }

    async fn wait(&mut self) -> Result<(), Failure> {
        match self.waiting.wake {
            Wake::None => Ok(()),
            Wake::Poll => {
                self.sleep(self.waiting.poll.unwrap_or(REOPEN)).await;
                Ok(())
            }
            Wake::Pubsub => self.wait_for_message(&signal_of(self.resource)).await,
            Wake::Keyspace => self.wait_for_message(&format!("__keyspace@0__:{}", self.resource)).await,
            Wake::List => self.wait_for_signal().await,
            Wake::Tracking => self.wait_for_change().await,
        }
    }

    /// Opens the connection that is waited on. Whether it was not there before.
    async fn open(&mut self) -> Result<bool, Failure> {
        if self.listening.is_some() {
            return Ok(false);
        }
        let deadline = deadline_after(self.env, self.request_timeout).await;
        self.listening = Some(Subscription::open(self.env, &self.node, deadline).await?);
        Ok(true)
    }

    async fn call(&mut self, command: &redis::Cmd) -> Result<Value, Failure> {
        let deadline = deadline_after(self.env, self.request_timeout).await;
        match &mut self.listening {
            Some(listening) => listening.call(self.env, command, deadline).await,
            None => Err(Failure::Unsent("no connection".into())),
        }
    }

    /// The longest time to wait for a word; `Some(0)` where the key is gone, `None` where nothing limits it.
    async fn longest_wait(&mut self) -> Result<Option<Duration>, Failure> {
        let mut most = self.waiting.poll;
        if self.waiting.until_expiry
            && let Value::Int(left) = self.call(redis::cmd("PTTL").arg(self.resource)).await?
            && left != WITHOUT_END
        {
            // A key of which nothing is left is there for another millisecond, and -2 is no key.
            let left = u64::try_from(left).map_or(Duration::ZERO, |left| Duration::from_millis(left + 1));
            most = Some(most.map_or(left, |most| most.min(left)));
        }
        Ok(most)
    }

    async fn wait_for_message(&mut self, channel: &str) -> Result<(), Failure> {
        if self.open().await? {
            let deadline = deadline_after(self.env, self.request_timeout).await;
            return match &mut self.listening {
                Some(listening) => listening.subscribe(self.env, channel, deadline).await,
                None => Ok(()),
            };
        }
        let most = self.longest_wait().await?;
        self.wait_for_push(most, |push| match push {
            Push::Message { payload, .. } => {
                matches!(payload.as_slice(), b"released" | b"del" | b"expired" | b"evicted")
            }
            _ => false,
        })
        .await
    }

    /// A key that was read is tracked until it changes, and then is to be read again.
    async fn wait_for_change(&mut self) -> Result<(), Failure> {
        if self.open().await? {
            self.call(redis::cmd("CLIENT").arg("TRACKING").arg("ON")).await?;
        }
        if self.call(redis::cmd("GET").arg(self.resource)).await? == Value::Nil {
            return Ok(());
        }
        let most = self.longest_wait().await?;
        self.wait_for_push(most, |push| matches!(push, Push::Changed(_) | Push::Flushed)).await
    }

    /// Waits for what `wakes`, up to a limit of this turn and of the whole wait.
    async fn wait_for_push(
        &mut self,
        most: Option<Duration>,
        wakes: impl Fn(&Push) -> bool,
    ) -> Result<(), Failure> {
        let left = self.time_left().await;
        let until = self.env.monotonic().await.saturating_add(most.map_or(left, |most| most.min(left)));
        let Some(listening) = &mut self.listening else { return Ok(()) };
        loop {
            match listening.next(self.env, Some(until)).await {
                Ok(Push::Ended) => return Err(Failure::Unsent("the connection has ended".into())),
                Ok(push) if wakes(&push) => return Ok(()),
                Ok(_) => {}
                Err(_) => return Ok(()),
            }
        }
    }

    async fn wait_for_signal(&mut self) -> Result<(), Failure> {
        self.open().await?;
        let most = self.longest_wait().await?;
        if most == Some(Duration::ZERO) {
            return Ok(());
        }
        let left = self.time_left().await;
        let limit = most.map_or(left, |most| most.min(left));
        // The node answers by then: what takes longer has the time that any command has.
        let patience = self.request_timeout.map(|timeout| timeout.saturating_add(limit));
        let deadline = deadline_after(self.env, patience).await;
        let Some(listening) = &mut self.listening else { return Ok(()) };
        listening.pop(self.env, &signal_of(self.resource), Some(limit), deadline).await.map(drop)
    }
}

/// What `PTTL` says of a key that stays.
const WITHOUT_END: i64 = -1;

/// How long a client without a `poll` lets pass before it opens a connection anew.
const REOPEN: Duration = Duration::from_millis(100);
