//! The protocol with one node: what is asked of it, and what its replies mean.
//!
//! Assumes that whoever uses it knows the node: for the lock on a single node, and for the one on whichever is master.

use std::time::Duration;

use redis::Value;

use super::quirks::KeyExpiry;
use super::{DeadlineFrom, ExtendBy, Probe, Quirks, ReplicaWait, SingleConfig};
use crate::connection::link::{Failure, Link};
use crate::connection::request::{ReleaseMethod, Request, says_yes};
use crate::connection::units::millis;
use crate::env::{Deadline, Env};
use crate::lock::{Acquired, Doubt, Extended, Grant, Refusal, Released, Token, TooFewReplicas};

/// Reads the reply to a release.
pub(super) fn read_release(reply: Result<Value, Failure>) -> Released {
    match reply {
        Ok(reply) if says_yes(&reply) => Released::Released,
        Ok(_) => Released::NotOwner,
        Err(failure) => Released::Unknown(failure.into_doubt()),
    }
}

/// The protocol with one node, for the lock on a single node and for the one on whichever node is
/// master.
pub(crate) struct Protocol<'a, E: Env> {
    pub(crate) env: &'a E,
    pub(crate) config: &'a SingleConfig,
    pub(crate) quirks: &'a Quirks,
    pub(crate) wait: Option<ReplicaWait>,
    pub(crate) link: &'a mut Link<E>,
}

impl<E: Env> Protocol<'_, E> {
    pub(crate) async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let token = Token::draw(self.env);
        self.acquire_with(resource, ttl, token).await
    }

    pub(super) async fn acquire_with(&mut self, resource: &str, ttl: Duration, token: Token) -> Acquired {
        if let Err(failed) = self.probe(resource, ttl).await {
            return failed.into_acquired();
        }
        match self.claim(resource, &token, ttl).await {
            Ok((fencing, deadline)) => {
                Acquired::Granted(Grant { fencing, deadline, ..Grant::new(resource, token) })
            }
            Err(failed) => {
                if failed.may_have_set_the_key() && self.config.release_on_failure {
                    self.release(resource, &token).await;
                }
                failed.into_acquired()
            }
        }
    }

    /// Looks for the lock, in a way that may take it.
    async fn probe(&mut self, key: &str, ttl: Duration) -> Result<(), FailedClaim> {
        let taken = match self.quirks.probe {
            Probe::None => false,
            Probe::Reads => says_yes(&self.link.ask(self.env, &Request::Exists { key }).await?),
            Probe::Takes => {
                let token = Token::draw(self.env);
                let taken = !says_yes(&self.ask_for(key, &token, ttl).await?);
                if !taken {
                    let method = ReleaseMethod::CompareAndDelete;
                    // Nobody looks at what it came to.
                    let _ = self.link.ask(self.env, &Request::Release { key, token: &token, method }).await;
                }
                taken
            }
        };
        if taken { Err(FailedClaim::NoKey(Refusal::Taken)) } else { Ok(()) }
    }

    /// The fencing number and the deadline of what was granted.
    async fn claim(
        &mut self,
        key: &str,
        token: &Token,
        ttl: Duration,
    ) -> Result<(Option<u64>, Option<Deadline>), FailedClaim> {
        let first = self.quirks.initial_ttl.unwrap_or(ttl);
        let mut lease = self.config.timing.start(self.env, first).await;
        let fencing = match self.ask_for(key, token, first).await? {
            Value::Okay => None,
            Value::Int(number) => match u64::try_from(number) {
                Ok(number) => Some(number),
                Err(_) => return Err(FailedClaim::Key(Refusal::CounterBelowZero(number))),
            },
            _ if self.quirks.own_token_counts && self.is_own(key, token, first).await? => None,
            _ => return Err(FailedClaim::NoKey(Refusal::Taken)),
        };
        match self.wait_for_replicas().await {
            Ok(()) => {}
            Err(Doubt::TooFewReplicas(few)) => return Err(FailedClaim::Key(Refusal::TooFewReplicas(few))),
            Err(doubt) => return Err(FailedClaim::Doubt(doubt)),
        }
        if self.quirks.deadline_from == DeadlineFrom::Reply {
            lease = self.config.timing.start(self.env, first).await;
        }
        lease.grant_in_time(self.env).await.map_err(FailedClaim::Key)?;
        if self.quirks.initial_ttl.is_some() && self.quirks.extends() {
            lease = self.config.timing.start(self.env, ttl).await;
            match self.ask_for_more(key, token, ttl).await {
                Ok(reply) if says_yes(&reply) => {}
                Ok(_) => return Err(FailedClaim::NoKey(Refusal::Taken)),
                Err(failure) => return Err(FailedClaim::with_key_set(failure)),
            }
            if self.quirks.deadline_from == DeadlineFrom::Reply {
                lease = self.config.timing.start(self.env, ttl).await;
            }
            lease.grant_in_time(self.env).await.map_err(FailedClaim::Key)?;
        }
        Ok((fencing, lease.deadline().filter(|_| self.quirks.tells_deadline)))
    }

    /// Asks for the key.
    async fn ask_for(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<Value, Failure> {
        let counter;
        let request = match self.quirks.key_expiry() {
            _ if self.config.fencing => {
                counter = format!("{{{key}}}:fencing");
                Request::ClaimFenced { key, counter: &counter, token, ttl }
            }
            KeyExpiry::Px => Request::Claim { key, token, ttl },
            KeyExpiry::None => Request::ClaimForEver { key, token },
            KeyExpiry::PxatByClient => {
                let at = self.moment(ttl).await;
                Request::ClaimUntil { key, token, at }
            }
        };
        self.link.ask(self.env, &request).await
    }

    /// Asks for another lease of a key that is held.
    async fn ask_for_more(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<Value, Failure> {
        let request = match self.quirks.extend_by {
            ExtendBy::Compare if self.quirks.extend_adds => Request::ExtendMore { key, token, more: ttl },
            ExtendBy::Compare if self.quirks.key_expiry() == KeyExpiry::PxatByClient => {
                let at = self.moment(ttl).await;
                Request::ExtendUntil { key, token, at }
            }
            ExtendBy::Compare => Request::Extend { key, token, ttl, or_set: self.config.extend_if_missing },
            ExtendBy::SetXx => Request::Overwrite { key, token, ttl, compared: false },
            ExtendBy::SetIfeq => Request::Overwrite { key, token, ttl, compared: true },
            ExtendBy::Plain => Request::Postpone { key, ttl },
        };
        self.link.ask(self.env, &request).await
    }

    /// The moment at which a lease that begins now ends, by the client's wall clock, in milliseconds.
    async fn moment(&self, ttl: Duration) -> u64 {
        let now = u64::try_from(self.env.wall().await.0.div_euclid(1_000_000)).unwrap_or(0);
        now.saturating_add(millis(ttl))
    }

    /// True if the key holds this token. If it has an end, its lease begins anew.
    async fn is_own(&mut self, key: &str, token: &Token, ttl: Duration) -> Result<bool, Failure> {
        let request = match self.quirks.key_expiry() {
            KeyExpiry::None => {
                let held = self.link.ask(self.env, &Request::Read { key }).await?;
                return Ok(held == Value::BulkString(token.as_bytes().into()));
            }
            KeyExpiry::Px => Request::Extend { key, token, ttl, or_set: false },
            KeyExpiry::PxatByClient => {
                let at = self.moment(ttl).await;
                Request::ExtendUntil { key, token, at }
            }
        };
        Ok(says_yes(&self.link.ask(self.env, &request).await?))
    }

    pub(crate) async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        if !self.quirks.extends() {
            return Extended::Unsupported;
        }
        let mut lease = self.config.timing.start(self.env, ttl).await;
        match self.ask_for_more(&grant.resource, &grant.token, ttl).await {
            Ok(reply) if says_yes(&reply) => {}
            Ok(_) => return Extended::NotOwner,
            Err(failure) => return Extended::Unknown(failure.into_doubt()),
        }
        if let Err(doubt) = self.wait_for_replicas().await {
            return Extended::Unknown(doubt);
        }
        if self.quirks.deadline_from == DeadlineFrom::Reply {
            lease = self.config.timing.start(self.env, ttl).await;
        }
        if !lease.extended_in_time(self.env, grant.deadline).await {
            return Extended::TooLate;
        }
        grant.deadline = lease.deadline().filter(|_| self.quirks.tells_deadline);
        Extended::Extended { deadline: grant.deadline }
    }

    pub(crate) async fn release(&mut self, resource: &str, token: &Token) -> Released {
        let request = Request::Release { key: resource, token, method: self.config.release };
        read_release(self.link.ask(self.env, &request).await)
    }

    /// Waits for as many replicas as are asked for. `WAIT` speaks of the writes of the connection it
    /// is sent on, which is the one the write just went through: a link changes its connection only
    /// after a failure.
    async fn wait_for_replicas(&mut self) -> Result<(), Doubt> {
        let Some(ReplicaWait { replicas: wanted, timeout }) = self.wait else { return Ok(()) };
        let request = Request::Wait { replicas: wanted, timeout };
        match self.link.ask(self.env, &request).await {
            Ok(Value::Int(count)) => {
                let acknowledged = u64::try_from(count).unwrap_or(0);
                if acknowledged >= wanted {
                    Ok(())
                } else {
                    Err(Doubt::TooFewReplicas(TooFewReplicas { acknowledged, wanted }))
                }
            }
            Ok(_) => Err(Doubt::TooFewReplicas(TooFewReplicas { acknowledged: 0, wanted })),
            Err(failure) => Err(failure.into_doubt()),
        }
    }
}

/// A claim that did not become a grant, by what it left behind.
enum FailedClaim {
    NoKey(Refusal),
    Key(Refusal),
    Doubt(Doubt),
}

impl From<Failure> for FailedClaim {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unsent(why) => Self::NoKey(Refusal::Unreachable(why)),
            Failure::ErrorReply(error) => Self::NoKey(Refusal::ErrorReply(error)),
            Failure::Lost(doubt) => Self::Doubt(doubt),
        }
    }
}

impl FailedClaim {
    /// A failure of a later step, when the key is set.
    fn with_key_set(failure: Failure) -> Self {
        match failure {
            Failure::Unsent(why) => Self::Key(Refusal::Unreachable(why)),
            Failure::ErrorReply(error) => Self::Key(Refusal::ErrorReply(error)),
            Failure::Lost(doubt) => Self::Doubt(doubt),
        }
    }

    fn may_have_set_the_key(&self) -> bool {
        matches!(self, Self::Key(_) | Self::Doubt(_))
    }

    fn into_acquired(self) -> Acquired {
        match self {
            Self::NoKey(refusal) | Self::Key(refusal) => Acquired::Refused(refusal),
            Self::Doubt(doubt) => Acquired::Unknown(doubt),
        }
    }
}
