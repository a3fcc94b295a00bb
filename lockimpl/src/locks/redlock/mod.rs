//! Redlock, as published on the Redis "Distributed locks" page: the same key on a majority of
//! independent nodes.
//!
//! Assumes that nodes do not forget a key before its time and that all clocks run at about the same
//! rate; those are the assumptions the debate is about. Does not make fencing numbers: there is no
//! counter that a majority agrees on. The delayed restart the page asks of crashed nodes is the
//! nodes' affair.

mod config;
mod fan_out;
mod options;
mod retry;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::connection::link::Link;
use crate::env::{Deadline, Env, NodeName};
use crate::lock::{Acquired, Doubt, Extended, Grant, Lock, Refusal, Released, Token};
use crate::parts::ballot::Ballot;
use crate::parts::timing::Lease;
use crate::parts::tokens::{ObjectTokens, TokenScope};
use crate::parts::watchdog::Renewable;

pub(crate) use config::Redlock;
pub use config::RedlockConfig;
use fan_out::{Question, ReturnedLinks, What};
pub use options::{
    Expiry, ExtendCheck, ExtensionVotes, OnFailedExtension, OnNodeError, Order, Quorum, ReleaseOn, Subset,
    Tie, WaitFor,
};
pub use retry::Retry;

/// Redlock; see [`RedlockConfig`].
pub struct RedlockLock<E: Env> {
    env: E,
    config: RedlockConfig,
    links: Vec<Link<E>>,
    /// Which nodes said yes to the latest grant of each resource, in node order.
    votes: BTreeMap<String, (Token, Vec<bool>)>,
    /// The tokens of its resources, where each has one for good.
    tokens: ObjectTokens,
    /// The ways to nodes that were in use beside a call.
    returned: ReturnedLinks<E>,
}

/// An attempt that came to nothing.
struct Missed {
    why: Acquired,
    /// Which nodes said yes.
    said_yes: Vec<bool>,
    /// True if the call ends here, and leaves the keys where they are.
    ends: bool,
}

impl<E: Env> RedlockLock<E> {
    /// A lock on `nodes`, which are independent masters. Connects when it is first used. A quorum
    /// that cannot be met, or no tries, gives a lock that is never granted;
    /// a [`Registry`](crate::Registry) refuses to build it.
    pub fn new(env: E, nodes: Vec<NodeName>, config: RedlockConfig) -> Self {
        let link = |node| {
            Link::new(node, config.node_timeout, config.on_timeout).with_transport(&env, config.transport)
        };
        let links = nodes.into_iter().map(link).collect();
        let (votes, tokens) = (BTreeMap::new(), ObjectTokens::default());
        Self { env, config, links, votes, tokens, returned: ReturnedLinks::default() }
    }

    /// The votes that make a quorum.
    fn needed_votes(&self) -> usize {
        self.config.quorum.votes(self.links.len())
    }

    /// One attempt: T1 is read right before the first request and T2 right after the last reply.
    async fn attempt(&mut self, resource: &str, ttl: Duration, token: Token) -> Result<Grant, Missed> {
        let lease = self.config.timing.start(&self.env, ttl).await;
        let what = match self.config.expiry {
            Expiry::Px => What::Claim(lease.ttl()),
            Expiry::None => What::ClaimForEver,
        };
        let ballot = self.ask_all(Question::new(resource, &token, what)).await;
        let in_time = lease.grant_in_time(&self.env).await;
        if let Some(silence) = self.stopped_at(&ballot) {
            return Err(Missed { why: Acquired::Unknown(silence), said_yes: ballot.votes(), ends: true });
        }
        let (votes, needed) = (ballot.yes(), self.needed_votes());
        let (refusal, mut ends) = match in_time {
            Err(late) if !self.config.release_on_late => (Some(late), true),
            _ if votes < needed => (Some(Refusal::TooFewVotes { votes, needed }), false),
            in_time => (in_time.err(), false),
        };
        let why = match (refusal, ballot.silence()) {
            (Some(refusal), _) => Acquired::Refused(refusal),
            (None, Some(silence)) if self.config.on_node_error == OnNodeError::Raise => {
                ends = true;
                Acquired::Unknown(silence)
            }
            (None, _) => {
                self.remember(resource, &token, ballot.votes());
                return Ok(Grant { deadline: self.visible_deadline(&lease), ..Grant::new(resource, token) });
            }
        };
        let said_yes = ballot.votes();
        if self.config.release_on_failure && self.config.release_between_tries && !ends {
            self.release_where(resource, &token, &said_yes).await;
        }
        Err(Missed { why, said_yes, ends })
    }

    /// The missing answer that ended a question, for a lock that goes no further.
    fn stopped_at(&self, ballot: &Ballot) -> Option<Doubt> {
        ballot.silence().filter(|_| self.config.on_node_error == OnNodeError::Stop)
    }

    /// The token that a call begins with.
    fn first_token(&mut self, resource: &str) -> Token {
        if self.config.token != TokenScope::Object {
            return Token::draw(&self.env);
        }
        self.tokens.get_or_draw(&self.env, resource)
    }

    /// The time from which a call makes no more attempts, if there is such a time.
    async fn gives_up_at(&self) -> Option<Deadline> {
        match self.config.retry.limit {
            Some(limit) => Some(self.config.timing.clock.deadline_after(&self.env, limit).await),
            None => None,
        }
    }

    /// The deadline that a holder gets to see.
    fn visible_deadline(&self, lease: &Lease) -> Option<Deadline> {
        lease.deadline().filter(|_| self.config.tells_deadline)
    }

    /// A grant was given on these votes. Whoever watches is told.
    fn remember(&mut self, resource: &str, token: &Token, votes: Vec<bool>) {
        let counted = self.links.iter().zip(&votes).filter(|(_, yes)| **yes).map(|(link, _)| link.node());
        self.env.votes(&counted.collect::<Vec<_>>());
        self.votes.insert(resource.to_owned(), (token.clone(), votes));
    }

    /// Which nodes said yes to a grant; all that are asked, for a grant that is not the latest of its resource.
    fn said_yes(&self, grant: &Grant) -> Vec<bool> {
        match self.votes.get(&grant.resource) {
            Some((token, votes)) if *token == grant.token => votes.clone(),
            _ => self.asked_nodes(),
        }
    }

    /// Selects the nodes that are asked when nobody is left out for what it said.
    fn asked_nodes(&self) -> Vec<bool> {
        self.config.subset.select_nodes(self.links.len())
    }

    async fn ask_all(&mut self, question: Question) -> Ballot {
        let asked = self.asked_nodes();
        self.ask(question, &asked).await
    }

    async fn release_where(&mut self, resource: &str, token: &Token, said_yes: &[bool]) -> Ballot {
        let question = Question::new(resource, token, What::Release(self.config.release));
        match self.config.release_on {
            ReleaseOn::All => self.ask_all(question).await,
            ReleaseOn::Answered => self.ask(question, said_yes).await,
        }
    }

    /// True if the old lease is over already, for a lock that looks before it extends.
    async fn is_too_late_to_extend(&self, grant: &Grant) -> bool {
        match grant.deadline {
            Some(deadline) if self.config.extend_check == ExtendCheck::AtStart => {
                deadline.has_passed(&self.env).await
            }
            _ => false,
        }
    }
}

/// Knows who said yes. A node that has not answered yet is asked over a connection of its own: the way that is in use
/// comes back to whoever sent the request.
impl<E: Env> Renewable for RedlockLock<E> {
    fn twin(&self) -> Self {
        Self {
            env: self.env.clone(),
            config: self.config.clone(),
            links: self.returned.twin_links(&self.links),
            votes: self.votes.clone(),
            tokens: self.tokens.clone(),
            returned: ReturnedLinks::default(),
        }
    }
}

impl<E: Env> Lock for RedlockLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let mut token = self.first_token(resource);
        let gives_up = self.gives_up_at().await;
        let mut came_to = Acquired::Refused(Refusal::TooFewVotes { votes: 0, needed: self.needed_votes() });
        let mut left = vec![false; self.links.len()];
        for attempt in 0..self.config.retry.tries {
            if attempt > 0 {
                self.config.retry.wait(&self.env).await;
                if let Some(limit) = gives_up
                    && limit.has_passed(&self.env).await
                {
                    break;
                }
                if self.config.token == TokenScope::Attempt {
                    token = Token::draw(&self.env);
                }
            }
            match self.attempt(resource, ttl, token.clone()).await {
                Ok(grant) => return Acquired::Granted(grant),
                Err(Missed { why, ends: true, .. }) => return why,
                Err(Missed { why, said_yes, .. }) => {
                    came_to = why;
                    left.iter_mut().zip(said_yes).for_each(|(left, yes)| *left |= yes);
                }
            }
        }
        if !self.config.release_between_tries && self.config.release_on_failure {
            self.release_where(resource, &token, &left).await;
        }
        came_to
    }

    /// The extension script on all nodes; kept if a quorum renewed it before the new lease and the
    /// old promise ran out.
    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        if self.is_too_late_to_extend(grant).await {
            return Extended::TooLate;
        }
        let lease = self.config.timing.start(&self.env, ttl).await;
        let what = What::Extend { ttl: lease.ttl(), or_set: self.config.extend_if_missing };
        let ballot = self.ask_all(Question::new(&grant.resource, &grant.token, what)).await;
        let in_time = match self.config.extend_check {
            ExtendCheck::Both => lease.extended_in_time(&self.env, grant.deadline).await,
            ExtendCheck::NewLease => lease.extended_in_time(&self.env, None).await,
            ExtendCheck::AtStart | ExtendCheck::None => true,
        };
        let mut said_yes = self.said_yes(grant);
        for (held, renewed) in said_yes.iter_mut().zip(ballot.votes()) {
            *held |= renewed;
        }
        if let Some((token, votes)) = self.votes.get_mut(&grant.resource)
            && *token == grant.token
        {
            votes.clone_from(&said_yes);
        }
        if let Some(silence) = self.stopped_at(&ballot) {
            return Extended::Unknown(silence);
        }
        let votes = match self.config.extension_votes {
            ExtensionVotes::Renewed => ballot.yes(),
            ExtensionVotes::Answered => ballot.answer_count(),
        };
        let failed = if votes < self.needed_votes() {
            ballot.doubt_about_quorum(self.needed_votes()).map_or(Extended::NotOwner, Extended::Unknown)
        } else if !in_time {
            Extended::TooLate
        } else {
            grant.deadline = self.visible_deadline(&lease);
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
        if ballot.yes() >= self.needed_votes() {
            return Released::Released;
        }
        ballot.doubt_about_quorum(self.needed_votes()).map_or(Released::NotOwner, Released::Unknown)
    }
}
