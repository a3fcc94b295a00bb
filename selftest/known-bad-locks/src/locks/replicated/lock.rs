//! The lock on a replicated master, with one place for each of the bugs: [`Flaw`] says which one is in.
//!
//! With no flaw a grant is one that every replica has, in time: `SET NX PX`, then `WAIT` for all of them, and a boot
//! clock that measures both. So whichever is promoted has the key. The price is that no replica may be away, which is
//! more than what ships asks for.

use std::time::Duration;

use doublehold::check::{
    Acquired, BootTime, Deadline, Env, Grant, Lock, NodeName, Refusal, Released, SimEnv, Token,
};
use redis::Value;

use crate::node::{Node, Silence, millis, release_outcome};

/// How long one command may take, `WAIT` excepted.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How long the master waits for its replicas.
const REPLICAS_TIMEOUT: Duration = Duration::from_millis(500);

/// How often a release is sent at most.
const RELEASES: usize = 5;

/// What is wrong, if anything is. Each is looked at in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// Nothing: the control.
    None,
    /// Nothing is waited for.
    NoWait,
    /// How many replicas have the key is not looked at.
    WaitIgnored,
    /// How many replicas there are is asked once.
    ReplicaCountCached,
    /// The key stays when too few replicas have it.
    KeyStays,
    /// An error reply means that the lock is taken.
    ErrorIsTaken,
    /// An error reply to a release means that it is given back.
    ReleaseErrorSwallowed,
}

pub(super) struct Replicated {
    env: SimEnv,
    nodes: Vec<Node>,
    flaw: Flaw,
    /// Which node said last that it is the master.
    master: Option<usize>,
    /// Of `ReplicaCountCached`.
    replicas: Option<usize>,
}

impl Replicated {
    pub(super) fn new(env: SimEnv, names: Vec<NodeName>, flaw: Flaw) -> Replicated {
        let nodes = names.into_iter().map(|name| Node::new(env.clone(), name, TIMEOUT)).collect();
        Replicated { env, nodes, flaw, master: None, replicas: None }
    }

    /// The node that says that it is the master, the one known first. One whose replicas are away is none to be used.
    async fn master(&mut self) -> Option<&mut Node> {
        let all = self.nodes.len() - 1;
        for (index, node) in self.nodes.iter_mut().enumerate() {
            if self.master.is_some() {
                break;
            }
            let Ok(Value::Array(role)) = node.call(&redis::cmd("ROLE")).await else { continue };
            let (Some(Value::BulkString(role)), Some(Value::Array(replicas))) = (role.first(), role.get(2))
            else {
                continue;
            };
            // WRONG with `ReplicaCountCached`: from here on as many are waited for as there are now.
            let is_ready = replicas.len() >= all || self.flaw == Flaw::ReplicaCountCached;
            if role == b"master" && is_ready {
                self.master = Some(index);
                self.replicas.get_or_insert(replicas.len());
            }
        }
        self.master.and_then(|index| self.nodes.get_mut(index))
    }

    /// Number of replicas that must have a key.
    fn required_replicas(&self) -> usize {
        let all = self.nodes.len() - 1;
        match self.flaw {
            Flaw::ReplicaCountCached => self.replicas.unwrap_or(all),
            _ => all,
        }
    }

    /// Whether enough replicas have what was written last.
    async fn is_replicated(&mut self) -> Result<bool, Silence> {
        if self.flaw == Flaw::NoWait {
            // WRONG: the master may be gone before any replica has the key.
            return Ok(true);
        }
        let wanted = self.required_replicas();
        let Some(master) = self.master().await else { return Err(Silence::Unsent) };
        let acknowledged = master.call(redis::cmd("WAIT").arg(wanted).arg(millis(REPLICAS_TIMEOUT))).await?;
        let Value::Int(count) = acknowledged else { return Ok(false) };
        let enough = usize::try_from(count).is_ok_and(|count| count >= wanted);
        // WRONG with `WaitIgnored`: it waits, and goes on whatever came of it.
        Ok(enough || self.flaw == Flaw::WaitIgnored)
    }

    /// What becomes of a claim that is no grant. A master that errs, or says nothing, is looked for again.
    async fn fail(&mut self, resource: &str, token: &Token, silence: Silence) -> Acquired {
        let is_error = matches!(silence, Silence::Error(_));
        if is_error && self.flaw == Flaw::ErrorIsTaken {
            // WRONG: a demoted master refuses for ever.
            return Acquired::Refused(Refusal::Taken);
        }
        let failed = silence.into_acquired();
        if matches!(failed, Acquired::Unknown(_)) {
            self.give_back(resource, token).await;
        }
        self.master = None;
        failed
    }

    async fn give_back(&mut self, resource: &str, token: &Token) -> Released {
        match self.master().await {
            Some(master) => release_outcome(master.delete(resource, token.as_bytes()).await),
            None => release_outcome(Err(Silence::Unsent)),
        }
    }
}

impl Lock for Replicated {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let token = Token::draw(&self.env);
        let started = self.env.boot().await.0;
        let Some(master) = self.master().await else { return Silence::Unsent.into_acquired() };
        match master.set_nx_px(resource, token.as_bytes(), ttl).await {
            Ok(Value::Okay) => {}
            Ok(_) => return Acquired::Refused(Refusal::Taken),
            Err(silence) => return self.fail(resource, &token, silence).await,
        }
        let replicated = match self.is_replicated().await {
            Ok(replicated) => replicated,
            Err(silence) => return self.fail(resource, &token, silence).await,
        };
        let allowed = ttl - ttl / 100 - Duration::from_millis(2);
        let until = started + u64::try_from(allowed.as_nanos()).unwrap_or(u64::MAX);
        if replicated && self.env.boot().await.0 < until {
            let deadline = Some(Deadline::Boot(BootTime(until)));
            return Acquired::Granted(Grant { deadline, ..Grant::new(resource, token) });
        }
        // WRONG with `KeyStays`: nobody holds it, and nobody gets it for a lease.
        if self.flaw != Flaw::KeyStays {
            self.give_back(resource, &token).await;
        }
        Acquired::Refused(Refusal::TooFewVotes { votes: 0, needed: self.required_replicas() })
    }

    /// As a claim, a release is one that every replica has: it is repeated where that may not be so, a few times.
    async fn release(&mut self, grant: &Grant) -> Released {
        let mut outcome = Released::NotOwner;
        for _ in 0..RELEASES {
            match self.give_back(&grant.resource, &grant.token).await {
                // WRONG: the key is still there.
                Released::Unknown(_) if self.flaw == Flaw::ReleaseErrorSwallowed => {
                    return Released::Released;
                }
                Released::NotOwner => {}
                known => outcome = known,
            }
            if !matches!(outcome, Released::Unknown(_)) && matches!(self.is_replicated().await, Ok(true)) {
                break;
            }
            self.master = None;
            let now = self.env.monotonic().await;
            self.env.sleep_until(now.saturating_add(REPLICAS_TIMEOUT)).await;
        }
        outcome
    }
}
