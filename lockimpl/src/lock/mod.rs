//! What every lock offers and what its calls can come to. A lock answers three ways, not two: yes,
//! no, and "a reply was lost": whoever merges the last two loses either safety or the lock.
//!
//! [`Watch`], in `watch`, is what a holder has of the watchdog beside it.
//!
//! Assumes nothing about how a lock is taken. Does not model waiting for a lock that is taken:
//! asking again is the caller's decision.

mod watch;

use std::fmt::{self, Write as _};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::env::{Clock, Deadline, Env};
use crate::services::database::DataSession;

pub use watch::Watch;

/// A lock on named resources, held by one client at a time if the algorithm keeps its word.
///
/// A lease of `ttl` is rounded up to whole milliseconds, at least one, as Redis counts them: the key
/// may outlive the lease by less than a millisecond, never the other way round.
pub trait Lock: Send {
    /// Asks for `resource` for `ttl`. Returns when the algorithm has decided; it does not wait for
    /// another holder beyond the attempts its configuration allows.
    fn acquire(&mut self, resource: &str, ttl: Duration) -> impl Future<Output = Acquired> + Send;

    /// Asks for `resource` for `ttl`, and waits for it as long as `limit` in the lock's own way: by asking again, for a
    /// message, in a queue. A lock without such a way asks once, and [says so](crate::Facts::waits).
    fn acquire_within(
        &mut self,
        resource: &str,
        ttl: Duration,
        limit: Duration,
    ) -> impl Future<Output = Acquired> + Send {
        let _ = limit;
        self.acquire(resource, ttl)
    }

    /// Asks to keep a granted lock for `ttl` from now. On success `grant` carries the new deadline;
    /// otherwise it is left as it was, and so is its deadline. A lock that cannot be extended leaves this as it is.
    fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> impl Future<Output = Extended> + Send {
        let _ = (grant, ttl);
        async { Extended::Unsupported }
    }

    /// Gives the lock back.
    fn release(&mut self, grant: &Grant) -> impl Future<Output = Released> + Send;
}

/// What a lock writes into its key: any bytes. At best they tell this acquisition's key from every other's.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Token(Arc<[u8]>);

impl Token {
    /// The bytes as they are, whatever they are worth: `"1"` tells no owner from another.
    pub fn new(bytes: impl AsRef<[u8]>) -> Self {
        Self(bytes.as_ref().into())
    }

    /// A new token: 20 random bytes, as published. The keys of the acquire call under way will hold it, and
    /// the environment is [told so](Env::marks).
    pub fn draw<E: Env>(env: &E) -> Self {
        let mut token = [0; 20];
        env.random(&mut token);
        env.marks(&token);
        Self::new(token)
    }

    /// The value of the key.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Token {
    /// As it is if it can be read, otherwise in hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match std::str::from_utf8(&self.0) {
            Ok(text) if text.bytes().all(|byte| byte.is_ascii_graphic()) => f.write_str(text),
            _ => self
                .0
                .iter()
                .flat_map(|byte| [byte >> 4, byte & 0xf])
                .try_for_each(|digit| f.write_char(char::from(b"0123456789abcdef"[usize::from(digit)]))),
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({self})")
    }
}

/// One successful acquisition.
///
/// ```
/// use doublehold_lockimpl::{Grant, Token};
///
/// let grant = Grant { fencing: Some(34), ..Grant::new("stock", Token::new("client-7:thread-1")) };
/// assert_eq!((grant.token.to_string().as_str(), grant.deadline), ("client-7:thread-1", None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The resource that is locked, and the name of its key on the nodes.
    pub resource: String,
    /// The value of that key.
    pub token: Token,
    /// A number larger than that of every earlier grant, for the resource to check, if the lock
    /// was asked for one. It lasts as long as the node's memory does.
    pub fencing: Option<u64>,
    /// When to stop believing, on this client's own clock; none if the lock does not compute it.
    pub deadline: Option<Deadline>,
    /// The session of a database through which its holder may read and write; none of other locks.
    pub session: Option<DataSession>,
    /// The watchdog that renews the lease beside its holder, and moves the [deadline](Grant::current_deadline); none
    /// if nothing does.
    pub watch: Option<Watch>,
}

impl Grant {
    /// A grant without a fencing number and without a deadline.
    pub fn new(resource: impl Into<String>, token: Token) -> Self {
        Self { resource: resource.into(), token, fencing: None, deadline: None, session: None, watch: None }
    }

    /// The deadline as it is now: that of the last renewal, where there are any.
    pub fn current_deadline(&self) -> Option<Deadline> {
        self.watch.as_ref().map_or(self.deadline, Watch::deadline)
    }
}

/// What [`Lock::acquire`] came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acquired {
    /// The client may believe that it holds the lock.
    Granted(Grant),
    /// It may not, and no key of this attempt is left unless a node could not be told.
    Refused(Refusal),
    /// A reply was lost: the node may or may not have set the key. Do not act on the resource.
    Unknown(Doubt),
}

/// What [`Lock::extend`] came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extended {
    /// The lock is kept, with a new deadline if the algorithm computes one.
    Extended {
        /// The same as is now in the grant.
        deadline: Option<Deadline>,
    },
    /// The lock is lost: its key expired, or belongs to another grant.
    NotOwner,
    /// The nodes agreed, but too late to rely on: the old promise or the new lease had run out.
    TooLate,
    /// Nobody can say: rely on the old deadline.
    Unknown(Doubt),
    /// This lock has no way to extend a lease.
    Unsupported,
}

impl Extended {
    /// The new deadline, if the algorithm computes one.
    ///
    /// # Errors
    ///
    /// In words why the lease is not known to be kept.
    pub fn outcome(&self) -> Result<Option<Deadline>, String> {
        match self {
            Self::Extended { deadline } => Ok(*deadline),
            Self::NotOwner => Err("not the owner".to_owned()),
            Self::TooLate => Err("too late".to_owned()),
            Self::Unknown(doubt) => Err(doubt.to_string()),
            Self::Unsupported => Err("this lock cannot be extended".to_owned()),
        }
    }
}

/// What [`Lock::release`] came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Released {
    /// The key is gone, and with a plain `DEL` it may have been somebody else's.
    Released,
    /// There was nothing to release: the lock was lost before.
    NotOwner,
    /// A reply was lost; the key goes at the latest when its lease ends.
    Unknown(Doubt),
}

/// Why a lock was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The key is there: somebody holds the lock, or held it and has not been expired.
    #[error("taken")]
    Taken,
    /// Too few nodes agreed.
    #[error("{votes} of the {needed} votes needed")]
    TooFewVotes {
        /// How many nodes said yes.
        votes: usize,
        /// How many would have been enough.
        needed: usize,
    },
    /// The replies came when the lease was over, or nearly.
    #[error(
        "{TOO_LATE}; {} had passed on its {clock} clock, {} were allowed", words(*elapsed), words(*allowed)
    )]
    TooLate {
        /// How long it took until the last reply was in.
        elapsed: Duration,
        /// How long it was to take less than: the lease, without what is given up for clocks that drift.
        allowed: Duration,
        /// The client's clock that counted both.
        clock: Clock,
    },
    /// The node could not be reached: nothing was sent.
    #[error("unreachable: {0}")]
    Unreachable(String),
    /// The node answered with an error.
    #[error(transparent)]
    ErrorReply(ErrorReply),
    /// The fencing counter is below zero, where no number is a fencing number.
    #[error("the fencing counter stands at `{0}`: set it above every number given out")]
    CounterBelowZero(i64),
    /// The master agreed, but not enough replicas have the key.
    #[error(transparent)]
    TooFewReplicas(TooFewReplicas),
}

impl Refusal {
    /// What the words of a grant that was refused for coming too late begin with.
    pub const TOO_LATE: &'static str = TOO_LATE;
}

const TOO_LATE: &str = "granted too late to be valid";

/// A time in milliseconds or seconds, with three decimals at most.
fn words(time: Duration) -> String {
    let micros = (time.as_nanos() + 500) / 1_000;
    let (thousandths, unit) = if micros < 1_000_000 { (micros, "ms") } else { ((micros + 500) / 1_000, "s") };
    let digits = format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000);
    format!("{} {unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// Why nobody can say what became of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    /// No reply in time; the request may still be executed, also later.
    #[error("no reply in time")]
    Timeout,
    /// The connection broke before the reply came.
    #[error("connection lost: {0}")]
    ConnectionLost(String),
    /// Nobody could be asked: nothing was sent.
    #[error("unreachable: {0}")]
    Unreachable(String),
    /// The node answered with an error.
    #[error(transparent)]
    ErrorReply(ErrorReply),
    /// The reply came, and the client took it for something else.
    #[error("the reply could not be read")]
    Misread,
    /// Too few nodes answered to tell.
    #[error("only {answers} of {nodes} nodes answered")]
    TooFewAnswers {
        /// How many answered at all.
        answers: usize,
        /// How many were asked.
        nodes: usize,
    },
    /// The master did it, but not enough replicas have it.
    #[error(transparent)]
    TooFewReplicas(TooFewReplicas),
}

/// A write that not enough replicas have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{acknowledged} of the {wanted} replicas wanted have it")]
pub struct TooFewReplicas {
    /// How many replicas acknowledged the write in time.
    pub acknowledged: u64,
    /// How many were asked for.
    pub wanted: u64,
}

/// An error a node replied with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the node replied `{code} {message}`")]
pub struct ErrorReply {
    /// The first word, such as `READONLY`.
    pub code: String,
    /// The rest.
    pub message: String,
}
