//! Redlock in the form most libraries have it, with one place for each of their bugs: [`Flaw`] says which one is in.
//!
//! With no flaw it is as published: `SET NX PX` on one node after the other, a time limit on each, a majority within
//! the lease less the drift allowance, a release on all nodes after a failed attempt. One attempt a call: programs ask
//! again. It measures with the boot clock, so that a suspended machine finds its lease over.

use std::time::Duration;

use doublehold::check::{
    Acquired, BootTime, Deadline, Doubt, Env, Extended, Grant, Lock, MonotonicTime, NodeName, Refusal,
    Released, SimEnv, Token,
};
use redis::Value;

use crate::node::{Node, Silence, is_yes, millis};

/// How long one command may take on one node.
pub(super) const NODE_TIMEOUT: Duration = Duration::from_millis(50);

/// What is wrong, if anything is. Each is looked at in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// Nothing: the control.
    None,
    /// A majority of the nodes that could be reached when the lock was first used.
    QuorumOfReached,
    /// The drift allowance is added to the lease.
    DriftAdded,
    /// No drift allowance.
    NoDrift,
    /// The lease is counted from the last reply.
    LeaseFromLastReply,
    /// What the acquire took is counted in a unit ten times too large.
    ElapsedInWrongUnit,
    /// A lease that is over is handed out, with its deadline.
    ExpiredHandedOut,
    /// A lease with nothing left is handed out, with its deadline.
    NothingLeftHandedOut,
    /// A clock that stands still during a suspension measures the lease.
    StandingClock,
    /// The nodes are asked for a shorter lease than is believed.
    LeaseFromWait,
    /// The lease is set once more at the end, whoever has the keys by then.
    FinalLeaseUnchecked,
    /// One node without an answer fails an attempt that has its majority, and the keys stay.
    ErrorAfterQuorum,
    /// After a timeout the keys stay.
    NoReleaseAfterTimeout,
    /// Only nodes whose yes arrived are told of a failed attempt.
    ReleaseWhereYes,
    /// A node that refuses because it has a key of this client's from before counts as one that agreed.
    OwnStaleEntryCounts,
    /// The answers to an extension are not counted.
    ExtensionUncounted,
    /// An extension counts from when it returned, however late that was.
    ExtensionIgnoresElapsed,
    /// A lost lock is asked for again until the old deadline, and then reported as unknown.
    LostIsTransient,
    /// A script that the node has forgotten stays forgotten.
    NoScriptFallback,
}

/// What a node's answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vote {
    Yes,
    No,
    /// It could not be asked, or replied with an error.
    Failed,
    /// No reply in time.
    Late,
}

impl Vote {
    fn from_answer(answer: &Result<Value, Silence>) -> Vote {
        match answer {
            yes if is_yes(yes) => Vote::Yes,
            Ok(_) => Vote::No,
            Err(Silence::Lost) => Vote::Late,
            Err(Silence::Unsent | Silence::Error(_)) => Vote::Failed,
        }
    }

    fn is_silent(self) -> bool {
        matches!(self, Vote::Failed | Vote::Late)
    }
}

pub(super) struct Redlock {
    env: SimEnv,
    nodes: Vec<Node>,
    flaw: Flaw,
    /// Whether it has asked for anything yet.
    used: bool,
    /// Of `OwnStaleEntryCounts`: what this process writes into every key.
    own: Option<Token>,
}

impl Redlock {
    pub(super) fn new(env: SimEnv, names: Vec<NodeName>, flaw: Flaw) -> Redlock {
        // WRONG: what was loaded once is never loaded again, and a node that restarts forgets it.
        let by_hash = flaw == Flaw::NoScriptFallback;
        let nodes = names
            .into_iter()
            .map(|name| Node::new(env.clone(), name, NODE_TIMEOUT).with_scripts_by_hash(by_hash));
        Redlock { nodes: nodes.collect(), env, flaw, used: false, own: None }
    }

    fn majority(&self) -> usize {
        self.nodes.len() / 2 + 1
    }

    /// Done once, before the first request.
    async fn first_use(&mut self) {
        if self.used {
            return;
        }
        self.used = true;
        if self.flaw == Flaw::QuorumOfReached {
            // WRONG: from here on a majority is one of those that are left.
            let mut reached = Vec::new();
            for mut node in std::mem::take(&mut self.nodes) {
                if node.call(&redis::cmd("PING")).await.is_ok() {
                    reached.push(node);
                }
            }
            self.nodes = reached;
        }
    }

    fn token(&mut self) -> Token {
        if self.flaw != Flaw::OwnStaleEntryCounts {
            return Token::draw(&self.env);
        }
        let own = self.own.get_or_insert_with(|| Token::draw(&self.env)).clone();
        self.env.marks(own.as_bytes());
        own
    }

    /// Reads the clock that measures leases, in nanoseconds.
    async fn now(&self) -> i128 {
        match self.flaw {
            // WRONG: the nodes' clocks run on while the machine is suspended.
            Flaw::StandingClock => self.env.monotonic().await.0.into(),
            _ => self.env.boot().await.0.into(),
        }
    }

    fn deadline(&self, at: i128) -> Deadline {
        let at = u64::try_from(at.max(0)).unwrap_or(u64::MAX);
        match self.flaw {
            Flaw::StandingClock => Deadline::Monotonic(MonotonicTime(at)),
            _ => Deadline::Boot(BootTime(at)),
        }
    }

    /// Until when a lease may be believed that was asked for at `started` and agreed to at `now`.
    fn believed_until(&self, started: i128, now: i128, ttl: Duration) -> i128 {
        let drift = nanos(ttl / 100 + Duration::from_millis(2));
        let ttl = nanos(ttl);
        match self.flaw {
            // WRONG: the sign.
            Flaw::DriftAdded => started + ttl + drift,
            // WRONG: nodes' clocks may run faster than this one.
            Flaw::NoDrift => started + ttl,
            // WRONG: the first key is older than the last reply.
            Flaw::LeaseFromLastReply => now + ttl - drift,
            // WRONG: a tenth of what it took.
            Flaw::ElapsedInWrongUnit => now + ttl - drift - (now - started) / 10,
            _ => started + ttl - drift,
        }
    }

    /// One vote of each node for a claim.
    async fn claim(&mut self, key: &str, token: &Token, ttl: Duration) -> Vec<Vote> {
        let ttl = match self.flaw {
            // WRONG: what a caller would wait for the lock, not how long it wants it.
            Flaw::LeaseFromWait => ttl / 5,
            _ => ttl,
        };
        let mut votes = Vec::new();
        for node in &mut self.nodes {
            let mut vote = Vote::from_answer(&node.set_nx_px(key, token.as_bytes(), ttl).await);
            if self.flaw == Flaw::OwnStaleEntryCounts && vote == Vote::No {
                // WRONG: that key's lease began when it was set, in an attempt that failed.
                let held = node.call(redis::cmd("GET").arg(key)).await;
                if matches!(held, Ok(Value::BulkString(value)) if value == token.as_bytes()) {
                    vote = Vote::Yes;
                }
            }
            votes.push(vote);
        }
        votes
    }

    /// True if these votes are a grant, lateness aside.
    fn is_granted(&self, votes: &[Vote]) -> bool {
        // WRONG: it holds the lock, and says that it does not.
        let is_fooled = self.flaw == Flaw::ErrorAfterQuorum && votes.iter().any(|vote| vote.is_silent());
        count(votes, |vote| vote == Vote::Yes) >= self.majority() && !is_fooled
    }

    /// After an attempt that failed.
    async fn clean_up(&mut self, key: &str, token: &Token, votes: &[Vote]) {
        let asked = match self.flaw {
            // WRONG: the keys that were set stay for a lease.
            Flaw::ErrorAfterQuorum if votes.iter().any(|vote| vote.is_silent()) => vec![false; votes.len()],
            Flaw::NoReleaseAfterTimeout if votes.contains(&Vote::Late) => vec![false; votes.len()],
            // WRONG: a yes that came late or not at all stays for a lease.
            Flaw::ReleaseWhereYes => votes.iter().map(|vote| *vote == Vote::Yes).collect(),
            _ => vec![true; votes.len()],
        };
        self.give_back(key, token, &asked).await;
    }

    async fn give_back(&mut self, key: &str, token: &Token, asked: &[bool]) -> Vec<Vote> {
        let mut votes = Vec::new();
        for (node, _) in self.nodes.iter_mut().zip(asked).filter(|(_, asked)| **asked) {
            votes.push(Vote::from_answer(&node.delete(key, token.as_bytes()).await));
        }
        votes
    }

    /// One vote of each node for an extension, and what they come to: `None` is a yes.
    async fn ask_to_extend(&mut self, grant: &Grant, ttl: Duration) -> Option<Extended> {
        let (key, token) = (&grant.resource, grant.token.as_bytes());
        let mut votes = Vec::new();
        for node in &mut self.nodes {
            votes.push(Vote::from_answer(&node.extend(key, token, ttl).await));
        }
        let silent = count(&votes, Vote::is_silent);
        let yes = match self.flaw {
            // WRONG: "not yours" and silence count as "extended".
            Flaw::ExtensionUncounted => votes.len(),
            _ => count(&votes, |vote| vote == Vote::Yes),
        };
        let nodes = votes.len();
        match self.majority() {
            needed if yes >= needed => None,
            needed if yes + silent >= needed => {
                Some(Extended::Unknown(Doubt::TooFewAnswers { answers: nodes - silent, nodes }))
            }
            _ => Some(Extended::NotOwner),
        }
    }

    /// Of `LostIsTransient`: asks again until the old deadline, as if a lost lock could come back.
    async fn retry_extend(&mut self, grant: &Grant, ttl: Duration) -> Option<Extended> {
        loop {
            let failed = self.ask_to_extend(grant, ttl).await?;
            let over = match grant.deadline {
                Some(deadline) => deadline.has_passed(&self.env).await,
                None => true,
            };
            if over {
                let nodes = self.nodes.len();
                return Some(match failed {
                    // WRONG: nobody is told that it is lost.
                    Extended::NotOwner => Extended::Unknown(Doubt::TooFewAnswers { answers: nodes, nodes }),
                    other => other,
                });
            }
            let now = self.env.monotonic().await;
            self.env.sleep_until(now.saturating_add(Duration::from_millis(200))).await;
        }
    }
}

impl Lock for Redlock {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        self.first_use().await;
        let token = self.token();
        let mut started = self.now().await;
        let votes = self.claim(resource, &token, ttl).await;
        let mut now = self.now().await;
        if self.flaw == Flaw::FinalLeaseUnchecked
            && count(&votes, |vote| vote == Vote::Yes) >= self.majority()
        {
            // WRONG: keys that are gone are gone, and others' are others'.
            for node in &mut self.nodes {
                let _ = node.call(redis::cmd("PEXPIRE").arg(resource).arg(millis(ttl))).await;
            }
            started = now;
            now = self.now().await;
        }
        let until = self.believed_until(started, now, ttl);
        let in_time = match self.flaw {
            // WRONG: whoever does not look at the deadline has an expired lock.
            Flaw::ExpiredHandedOut => true,
            // WRONG: the published rule says that something must be left.
            Flaw::NothingLeftHandedOut => now <= until,
            _ => now < until,
        };
        let granted = self.is_granted(&votes);
        if granted && in_time {
            let counted = self.nodes.iter().zip(&votes).filter(|(_, vote)| **vote == Vote::Yes);
            self.env.votes(&counted.map(|(node, _)| node.name()).collect::<Vec<_>>());
            return Acquired::Granted(Grant {
                session: None,
                deadline: Some(self.deadline(until)),
                ..Grant::new(resource, token)
            });
        }
        self.clean_up(resource, &token, &votes).await;
        let (yes, needed) = (count(&votes, |vote| vote == Vote::Yes), self.majority());
        Acquired::Refused(Refusal::TooFewVotes { votes: yes, needed })
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        let started = self.now().await;
        let failed = match self.flaw {
            Flaw::LostIsTransient => self.retry_extend(grant, ttl).await,
            _ => self.ask_to_extend(grant, ttl).await,
        };
        let now = self.now().await;
        let until = match self.flaw {
            // WRONG: the keys' new lease began long ago.
            Flaw::ExtensionIgnoresElapsed => self.believed_until(now, now, ttl),
            _ => self.believed_until(started, now, ttl),
        };
        match failed {
            Some(failed) => failed,
            None if now < until => {
                grant.deadline = Some(self.deadline(until));
                Extended::Extended { deadline: grant.deadline }
            }
            None => Extended::TooLate,
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let votes = self.give_back(&grant.resource, &grant.token, &vec![true; self.nodes.len()]).await;
        let (yes, silent, nodes) =
            (count(&votes, |vote| vote == Vote::Yes), count(&votes, Vote::is_silent), votes.len());
        match self.majority() {
            needed if yes >= needed => Released::Released,
            needed if yes + silent >= needed => {
                Released::Unknown(Doubt::TooFewAnswers { answers: nodes - silent, nodes })
            }
            _ => Released::NotOwner,
        }
    }
}

fn count(votes: &[Vote], which: impl Fn(Vote) -> bool) -> usize {
    votes.iter().filter(|vote| which(**vote)).count()
}

fn nanos(duration: Duration) -> i128 {
    i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX)
}
