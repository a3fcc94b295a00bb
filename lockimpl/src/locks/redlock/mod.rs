//! Redlock, as published on the Redis "Distributed locks" page: the same key on a majority of
//! independent nodes.
//!
//! Assumes that nodes do not forget a key before its time and that all clocks run at about the same
//! rate; those are the assumptions the debate is about. Does not make fencing numbers: there is no
//! counter that a majority agrees on. The delayed restart the page asks of crashed nodes is the
//! nodes' affair.

mod switches;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::ballot::{Ballot, answer};
use crate::clock::{Deadline, Lease};
use crate::env::{Env, NodeName};
use crate::join::join_in_order;
use crate::link::Link;
use crate::lock::{Acquired, Extended, Grant, Lock, Refusal, Released, Token};
use crate::request::Request;

pub(crate) use switches::Redlock;
pub use switches::{ExtensionVotes, OnFailedExtension, Order, Quorum, RedlockConfig, ReleaseOn, TokenScope};

/// Redlock; see [`RedlockConfig`].
pub struct RedlockLock<E: Env> {
    env: E,
    config: RedlockConfig,
    links: Vec<Link<E>>,
    /// Which nodes said yes to the latest grant of each resource, in node order.
    votes: BTreeMap<String, (Token, Vec<bool>)>,
}

impl<E: Env> RedlockLock<E> {
    /// A lock on `nodes`, which are independent masters. Connects when it is first used. A quorum
    /// that cannot be met, or no tries, gives a lock that is never granted;
    /// a [`Registry`](crate::Registry) refuses to build it.
    pub fn new(env: E, nodes: Vec<NodeName>, config: RedlockConfig) -> Self {
        let links =
            nodes.into_iter().map(|node| Link::new(node, config.node_timeout, config.on_timeout)).collect();
        Self { env, config, links, votes: BTreeMap::new() }
    }

    fn needed(&self) -> usize {
        self.config.quorum.votes(self.links.len())
    }

    /// One attempt: T1 is read right before the first request and T2 right after the last reply.
    async fn attempt(&mut self, resource: &str, ttl: Duration, token: Token) -> Result<Grant, Refusal> {
        let lease = self.config.timing.start(&self.env, ttl).await;
        let claim = Request::Claim { key: resource, token: &token, ttl: lease.ttl() };
        let ballot = self.ask_all(&claim).await;
        let in_time = lease.grant_in_time(&self.env).await;
        let (votes, needed) = (ballot.yes(), self.needed());
        let refusal = if votes < needed {
            Refusal::TooFewVotes { votes, needed }
        } else if let Err(late) = in_time {
            late
        } else {
            self.remember(resource, &token, ballot.votes());
            return Ok(Grant { deadline: self.told(&lease), ..Grant::new(resource, token) });
        };
        if self.config.release_on_failure {
            self.release_where(resource, &token, &ballot.votes()).await;
        }
        Err(refusal)
    }

    /// The deadline that a holder gets to see.
    fn told(&self, lease: &Lease) -> Option<Deadline> {
        lease.deadline().filter(|_| self.config.tells_deadline)
    }

    /// A grant was given on these votes. Whoever watches is told.
    fn remember(&mut self, resource: &str, token: &Token, votes: Vec<bool>) {
        let counted = self.links.iter().zip(&votes).filter(|(_, yes)| **yes).map(|(link, _)| link.node());
        self.env.votes(&counted.collect::<Vec<_>>());
        self.votes.insert(resource.to_owned(), (token.clone(), votes));
    }

    /// Which nodes said yes to a grant; all, for a grant that is not the latest of its resource.
    fn said_yes(&self, grant: &Grant) -> Vec<bool> {
        match self.votes.get(&grant.resource) {
            Some((token, votes)) if *token == grant.token => votes.clone(),
            _ => vec![true; self.links.len()],
        }
    }

    /// Sleeps between two attempts.
    async fn wait_to_retry(&self) {
        let delay = if self.config.jitter {
            let mut bytes = [0; 8];
            self.env.random(&mut bytes);
            uniform(self.config.retry_delay, u64::from_le_bytes(bytes))
        } else {
            self.config.retry_delay
        };
        let now = self.env.monotonic().await;
        self.env.sleep_until(now.saturating_add(delay)).await;
    }

    async fn ask_all(&mut self, request: &Request<'_>) -> Ballot {
        let everyone = vec![true; self.links.len()];
        self.ask(request, &everyone).await
    }

    async fn release_where(&mut self, resource: &str, token: &Token, said_yes: &[bool]) -> Ballot {
        let request = Request::Release { key: resource, token, method: self.config.release };
        match self.config.release_on {
            ReleaseOn::All => self.ask_all(&request).await,
            ReleaseOn::Answered => self.ask(&request, said_yes).await,
        }
    }

    /// Puts `request` to the nodes `chosen`, in the configured order.
    async fn ask(&mut self, request: &Request<'_>, chosen: &[bool]) -> Ballot {
        let (env, first) = (&self.env, request.first_command());
        let asked = self.links.iter_mut().zip(chosen);
        let answers = match self.config.order {
            Order::Sequential => {
                let mut answers = Vec::with_capacity(chosen.len());
                for (link, chosen) in asked {
                    answers.push(answer(env, link, request, &first, *chosen).await);
                }
                answers
            }
            Order::Parallel => {
                join_in_order(asked.map(|(link, chosen)| answer(env, link, request, &first, *chosen))).await
            }
        };
        Ballot(answers)
    }
}

impl<E: Env> Lock for RedlockLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let mut token = Token::draw(&self.env);
        let mut refusal = Refusal::TooFewVotes { votes: 0, needed: self.needed() };
        for attempt in 0..self.config.tries {
            if attempt > 0 {
                self.wait_to_retry().await;
                if self.config.token == TokenScope::Attempt {
                    token = Token::draw(&self.env);
                }
            }
            match self.attempt(resource, ttl, token.clone()).await {
                Ok(grant) => return Acquired::Granted(grant),
                Err(why) => refusal = why,
            }
        }
        Acquired::Refused(refusal)
    }

    /// The extension script on all nodes; kept if a quorum renewed it before the new lease and the
    /// old promise ran out.
    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        let lease = self.config.timing.start(&self.env, ttl).await;
        let (key, ttl, or_set) = (&grant.resource, lease.ttl(), self.config.extend_if_missing);
        let ballot = self.ask_all(&Request::Extend { key, token: &grant.token, ttl, or_set }).await;
        let promised = grant.deadline.filter(|_| !self.config.late_renewal_counts);
        let in_time = lease.extended_in_time(&self.env, promised).await;
        let mut said_yes = self.said_yes(grant);
        for (held, renewed) in said_yes.iter_mut().zip(ballot.votes()) {
            *held |= renewed;
        }
        if let Some((token, votes)) = self.votes.get_mut(&grant.resource)
            && *token == grant.token
        {
            votes.clone_from(&said_yes);
        }
        let votes = match self.config.extension_votes {
            ExtensionVotes::Renewed => ballot.yes(),
            ExtensionVotes::Answered => ballot.answered(),
        };
        let failed = if votes < self.needed() {
            ballot.undecided(self.needed()).map_or(Extended::NotOwner, Extended::Unknown)
        } else if !in_time {
            Extended::TooLate
        } else {
            grant.deadline = self.told(&lease);
            return Extended::Extended { deadline: grant.deadline };
        };
        if self.config.on_failed_extension == OnFailedExtension::Release && self.config.release_on_failure {
            self.release_where(&grant.resource, &grant.token, &said_yes).await;
        }
        failed
    }

    /// Tells every node. Released if as many as make a quorum gave their key up, not the owner if so
    /// many said that there was none that a quorum was no longer held.
    async fn release(&mut self, grant: &Grant) -> Released {
        let said_yes = self.said_yes(grant);
        let ballot = self.release_where(&grant.resource, &grant.token, &said_yes).await;
        if ballot.yes() >= self.needed() {
            return Released::Released;
        }
        ballot.undecided(self.needed()).map_or(Released::NotOwner, Released::Unknown)
    }
}

/// Scales 64 random bits to zero up to and including `longest`.
pub(crate) fn uniform(longest: Duration, random: u64) -> Duration {
    let longest = u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX);
    let scaled = (u128::from(random) * (u128::from(longest) + 1)) >> 64;
    // The product is below 2^64 * (longest + 1), so that what is left of it fits in `longest`.
    Duration::from_nanos(u64::try_from(scaled).unwrap_or(longest))
}
