//! Several locks at once: the hash of a lock on each of several nodes, asked for one after another.
//!
//! All of them have to be taken, or a majority, as one reads Redlock into it. While it goes from one to the next the
//! members have a lease that is counted from the limit of the wait; at the end each gets the one that was asked for.
//!
//! Assumes nodes that know nothing of each other, and that each holds a lock of the same name. Does not model locks of
//! several names.

use std::time::Duration;

use crate::config::{Choice, Descriptor, Facts, Form, LockConfig, Nodes, Switches, Unfit};
use crate::connection::units::millis;
use crate::env::{Env, NodeName};
use crate::lock::{Acquired, Doubt, Extended, Grant, Lock, Refusal, Released};
use crate::locks::hash::{HashConfig, HashLock, scripts};
use crate::parts::timing::Timing;
use crate::parts::waiting::WaitClock;
use crate::registry::{BoxLock, ConfigError, LockKind};

/// The number of members that have to be taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Members {
    /// All of them: a lock of several.
    All,
    /// More than half: Redlock.
    Majority,
}

impl Choice for Members {
    const WORDS: &'static [(&'static str, Self)] = &[("all", Self::All), ("majority", Self::Majority)];
}

/// The lease that members have until all are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeaseFrom {
    /// Twice the limit of the wait, where there is one.
    Wait,
    /// The lease that was asked for.
    Lease,
}

impl Choice for LeaseFrom {
    const WORDS: &'static [(&'static str, Self)] = &[("wait", Self::Wait), ("lease", Self::Lease)];
}

/// The command that gives members their lease at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FinalExpire {
    /// `PEXPIRE`, whoever has the key, and whatever it says.
    Unchecked,
    /// A script that looks at the field. Too few, and nothing is granted.
    Checked,
}

impl Choice for FinalExpire {
    const WORDS: &'static [(&'static str, Self)] =
        &[("unchecked", Self::Unchecked), ("checked", Self::Checked)];
}

struct MultiConfig {
    lock: HashConfig,
    members: Members,
    lease_from: LeaseFrom,
    final_expire: FinalExpire,
}

impl LockConfig for MultiConfig {
    fn read(form: &mut Form<'_>) -> Self {
        Self {
            lock: HashConfig::read(form),
            members: form.choice("members", Members::All, "how many of the members have to be taken"),
            lease_from: form.choice(
                "lease_from",
                LeaseFrom::Lease,
                "the lease of members until all are taken: from the limit of the wait, or as asked for",
            ),
            final_expire: form.choice(
                "final_expire",
                FinalExpire::Checked,
                "what gives members their lease at the end: whoever has them, or their holder only",
            ),
        }
    }

    fn facts(&self) -> Facts {
        let mut facts = self.lock.facts();
        if let Some(sends) = &mut facts.sends {
            sends.to_hold.extend((self.final_expire == FinalExpire::Unchecked).then_some("PEXPIRE"));
        }
        facts
    }

    fn unfit(&self, ttl: Duration) -> Option<Unfit> {
        self.lock.unfit(ttl)
    }
}

/// The kind of this lock.
pub(crate) struct Multi;

impl<E: Env> LockKind<E> for Multi {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<MultiConfig>(
            "multi-lock",
            "a hash on each of several nodes, one after another: all of them, or a majority",
            "Redisson's RedissonMultiLock and RedissonRedLock",
            Nodes::Independent,
        )
        .with_scripts(scripts())
        .min_nodes(2)
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        if nodes.is_empty() {
            return Err(ConfigError::NoNodes);
        }
        let config = MultiConfig::from_switches(chosen)?;
        // The time is looked at once, at the end, and not by each member.
        let mut member = config.lock.clone();
        member.timing = Timing::unchecked();
        let thread = HashLock::next_thread(&env);
        let locks = nodes
            .iter()
            .map(|node| HashLock::new_member(env.clone(), member.clone(), node.clone(), thread))
            .collect();
        Ok(BoxLock::new(MultiLock { env, config, nodes, locks }))
    }
}

struct MultiLock<E: Env> {
    env: E,
    config: MultiConfig,
    nodes: Vec<NodeName>,
    locks: Vec<HashLock<E>>,
}

impl<E: Env> MultiLock<E> {
    /// The number of members that need not be taken.
    fn spare(&self) -> usize {
        match self.config.members {
            Members::All => 0,
            Members::Majority => self.locks.len() - (self.locks.len() / 2 + 1),
        }
    }

    fn too_few(&self, votes: usize) -> Acquired {
        Acquired::Refused(Refusal::TooFewVotes { votes, needed: self.locks.len() - self.spare() })
    }

    async fn now(&self) -> i128 {
        match self.config.lock.waiting.clock {
            WaitClock::Monotonic => self.env.monotonic().await.0.into(),
            WaitClock::Wall => self.env.wall().await.0.into(),
        }
    }

    async fn give_back(&mut self, key: &str, taken: &[usize]) {
        for index in taken {
            let field = self.locks[*index].field();
            self.locks[*index].give_back(key, &field).await;
        }
    }

    /// Takes as many as it takes; which ones, or what it came to.
    async fn walk(
        &mut self,
        key: &str,
        ttl: Duration,
        limit: Option<Duration>,
    ) -> Result<Vec<usize>, Acquired> {
        let count = self.locks.len();
        let lease = match (limit, self.config.lease_from) {
            (Some(limit), LeaseFrom::Wait) => limit.saturating_mul(2),
            _ => ttl,
        };
        // Redlock shares the limit out, so that one member cannot use it up.
        let share = match self.config.members {
            Members::All => 1,
            Members::Majority => u32::try_from(count).unwrap_or(u32::MAX),
        };
        let nanos = |limit: Duration| i128::try_from(limit.as_nanos()).unwrap_or(i128::MAX);
        let ends = match limit {
            Some(limit) => Some((self.now().await.saturating_add(nanos(limit)), limit / share)),
            None => None,
        };
        'rounds: loop {
            let (mut taken, mut spare) = (Vec::new(), self.spare());
            for index in 0..count {
                let acquired = match ends {
                    Some((ends, each)) => {
                        let left = u64::try_from((ends - self.now().await).max(0)).unwrap_or(u64::MAX);
                        let each = each.min(Duration::from_nanos(left));
                        self.locks[index].ask_within(key, lease, each).await
                    }
                    None => self.locks[index].ask(key, lease).await,
                };
                let mut again = false;
                if matches!(acquired, Acquired::Granted(_)) {
                    taken.push(index);
                } else if count - taken.len() == self.spare() {
                    break;
                } else if spare == 0 {
                    self.give_back(key, &taken).await;
                    if limit.is_none() {
                        return Err(self.too_few(taken.len()));
                    }
                    (taken, again) = (Vec::new(), true);
                } else {
                    spare -= 1;
                }
                if let Some((ends, _)) = ends
                    && self.now().await >= ends
                {
                    self.give_back(key, &taken).await;
                    return Err(self.too_few(taken.len()));
                }
                if again {
                    continue 'rounds;
                }
            }
            return Ok(taken);
        }
    }

    /// Gives those that were taken the lease that was asked for. How many of them have it.
    async fn expire(&mut self, key: &str, taken: &[usize], ttl: Duration) -> Result<usize, Doubt> {
        let mut kept = 0;
        for index in taken {
            let lock = &mut self.locks[*index];
            match self.config.final_expire {
                FinalExpire::Checked => {
                    let field = lock.field();
                    kept += usize::from(matches!(lock.prolong(key, &field, ttl).await, Ok((true, _))));
                }
                FinalExpire::Unchecked => {
                    let Some(link) = lock.link().await else { continue };
                    let mut command = redis::cmd("PEXPIRE");
                    link.call(&self.env, command.arg(key).arg(millis(ttl)))
                        .await
                        .map_err(|it| it.into_doubt())?;
                    kept += 1;
                }
            }
        }
        Ok(kept)
    }

    async fn take(&mut self, key: &str, ttl: Duration, limit: Option<Duration>) -> Acquired {
        let Some(field) = self.locks.first().map(HashLock::field) else { return self.too_few(0) };
        self.env.marks(field.as_bytes());
        let lease = self.config.lock.timing.start(&self.env, ttl).await;
        let taken = match self.walk(key, ttl, limit).await {
            Ok(taken) => taken,
            Err(acquired) => return acquired,
        };
        let refused = match self.expire(key, &taken, ttl).await {
            Ok(kept) if kept < self.locks.len() - self.spare() => Some(self.too_few(kept)),
            Ok(_) => lease.grant_in_time(&self.env).await.err().map(Acquired::Refused),
            // An error of the last step goes to the caller, and nothing is taken back.
            Err(doubt) => return Acquired::Unknown(doubt),
        };
        if let Some(refused) = refused {
            self.give_back(key, &taken).await;
            return refused;
        }
        let votes: Vec<&NodeName> = taken.iter().map(|index| &self.nodes[*index]).collect();
        self.env.votes(&votes);
        let deadline = lease.deadline();
        Acquired::Granted(Grant { deadline, ..Grant::new(key, field) })
    }
}

impl<E: Env> Lock for MultiLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        self.take(resource, ttl, None).await
    }

    async fn acquire_within(&mut self, resource: &str, ttl: Duration, limit: Duration) -> Acquired {
        // Members that do not wait would be asked again and again without a pause.
        let limit = Some(limit).filter(|_| self.config.lock.waiting.waits());
        self.take(resource, ttl, limit).await
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        let lease = self.config.lock.timing.start(&self.env, ttl).await;
        let mut kept = 0;
        for lock in &mut self.locks {
            let prolonged = lock.prolong(&grant.resource, &grant.token, ttl).await;
            kept += usize::from(matches!(prolonged, Ok((true, _))));
        }
        if kept < self.locks.len() - self.spare() {
            return Extended::NotOwner;
        }
        if !lease.extended_in_time(&self.env, grant.deadline).await {
            return Extended::TooLate;
        }
        grant.deadline = lease.deadline();
        Extended::Extended { deadline: grant.deadline }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let mut outcome = Released::NotOwner;
        for lock in &mut self.locks {
            match lock.give_back(&grant.resource, &grant.token).await {
                Released::Released => outcome = Released::Released,
                Released::Unknown(doubt) if outcome == Released::NotOwner => {
                    outcome = Released::Unknown(doubt);
                }
                Released::Unknown(_) | Released::NotOwner => {}
            }
        }
        outcome
    }
}
