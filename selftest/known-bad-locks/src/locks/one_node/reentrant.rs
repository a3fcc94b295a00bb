//! A hash at the key whose field is the owner and whose value counts its holds, as Redisson has it, with a watchdog.
//!
//! A program cannot take a lock that it holds. So `extend` stands for code that the holder calls, which takes the lock
//! once more and gives it back: a hold inside the hold.

use std::collections::BTreeMap;
use std::time::Duration;

use doublehold::check::{
    Acquired, Doubt, Env, Extended, Grant, Lock, Mark, Nodes, Predicate, Refusal, Released, SimEnv, Token,
};
use redis::Value;

use super::Way;
use super::lease::Lease;
use super::scenes::*;
use super::searches::*;
use super::watchdog::{Hold, Watchdog, WatchdogOptions};
use crate::node::{Node, Silence, millis};
use crate::{BadLock, Kind};

use Predicate::{LV, P1};

/// Takes the lock, or once more where it is the owner's: its count, or 0. A hold inside another is not the first.
const ENTER: &str = "local mine = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 \
     if not mine and (ARGV[3] == 'inner' or redis.call('EXISTS', KEYS[1]) == 1) then return 0 end \
     local count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1) \
     redis.call('PEXPIRE', KEYS[1], ARGV[2]) return count";

/// Gives one hold back: 1, or 0 where the lock is not the owner's.
const LEAVE: &str = "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end \
     if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) < 1 then redis.call('DEL', KEYS[1]) end return 1";

/// Gives all holds back.
const LEAVE_ALL: &str =
    "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end return redis.call('DEL', KEYS[1])";

const RENEW: &str = "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end return redis.call('PEXPIRE', KEYS[1], ARGV[2])";

/// How often a release is asked for whose reply is lost.
const TRIES: u32 = 3;

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    CountStays,
    OwnerIsThread,
    InnerLeaveStops,
    InnerLeaveDeletes,
}

/// One client's lock.
struct Reentrant {
    way: Way,
    node: Node,
    flaw: Flaw,
    owner: Option<Token>,
    watchdogs: BTreeMap<String, Watchdog>,
}

impl Lock for Reentrant {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let owner = self.owner();
        let lease = Lease::start(&self.way.env, ttl).await;
        match self.enter(resource, &owner, ttl, "outer").await {
            Ok(true) => {}
            Ok(false) => return Acquired::Refused(Refusal::Taken),
            Err(silence) => {
                // WRONG: the count may be one up, and the next call counts from there.
                if matches!(silence, Silence::Lost) && self.flaw != Flaw::CountStays {
                    self.leave(LEAVE_ALL, resource, &owner).await;
                }
                return silence.into_acquired();
            }
        }
        if let Some(why) = lease.too_late(&self.way.env).await {
            self.leave(LEAVE_ALL, resource, &owner).await;
            return Acquired::Refused(why);
        }
        let (key, token) = (resource.to_owned(), owner.as_bytes().to_vec());
        let hold = Hold { key: key.clone(), token, ttl, renew: RENEW, release: LEAVE_ALL };
        let watchdog = Watchdog::start(&self.way, hold, lease.valid_until(), WatchdogOptions::correct(ttl));
        self.watchdogs.insert(key, watchdog);
        Acquired::Granted(Grant::new(resource, owner))
    }

    async fn extend(&mut self, grant: &mut Grant, ttl: Duration) -> Extended {
        match self.enter(&grant.resource, &grant.token, ttl, "inner").await {
            Ok(true) => {}
            Ok(false) => return Extended::NotOwner,
            Err(silence) => return Extended::Unknown(silence.into_doubt()),
        }
        let leave = match self.flaw {
            // WRONG: the hold around it goes as well.
            Flaw::InnerLeaveDeletes => LEAVE_ALL,
            _ => LEAVE,
        };
        // WRONG: the hold around it is still there.
        if self.flaw == Flaw::InnerLeaveStops {
            self.stop(&grant.resource);
        }
        match self.leave(leave, &grant.resource, &grant.token).await {
            Released::Released => Extended::Extended { deadline: None },
            Released::NotOwner => Extended::NotOwner,
            Released::Unknown(doubt) => Extended::Unknown(doubt),
        }
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        self.stop(&grant.resource);
        let mut outcome = self.leave(LEAVE, &grant.resource, &grant.token).await;
        for _ in 1..TRIES {
            if !matches!(outcome, Released::Unknown(_)) {
                break;
            }
            // It may have been counted down already: this is the outermost hold, so that nothing is to be left.
            if self.leave(LEAVE_ALL, &grant.resource, &grant.token).await == Released::Released {
                outcome = Released::Released;
            }
        }
        outcome
    }
}

impl Reentrant {
    /// Whose holds are counted together: those of this object.
    fn owner(&mut self) -> Token {
        let env: &SimEnv = &self.way.env;
        let owner = match self.flaw {
            // WRONG: each process has a thread of that number.
            Flaw::OwnerIsThread => Token::new("thread-1"),
            _ => self.owner.get_or_insert_with(|| Token::draw(env)).clone(),
        };
        env.marks(owner.as_bytes());
        owner
    }

    async fn enter(&mut self, key: &str, owner: &Token, ttl: Duration, which: &str) -> Result<bool, Silence> {
        let ttl = millis(ttl).to_string();
        let count =
            self.node.run_script(ENTER, key, &[owner.as_bytes(), ttl.as_bytes(), which.as_bytes()]).await?;
        Ok(matches!(count, Value::Int(1..)))
    }

    async fn leave(&mut self, script: &'static str, key: &str, owner: &Token) -> Released {
        match self.node.run_script(script, key, &[owner.as_bytes()]).await {
            Ok(Value::Int(1..)) => Released::Released,
            Ok(_) => Released::NotOwner,
            Err(Silence::Lost) => Released::Unknown(Doubt::Timeout),
            Err(silence) => Released::Unknown(silence.into_doubt()),
        }
    }

    fn stop(&mut self, resource: &str) {
        if let Some(watchdog) = self.watchdogs.remove(resource) {
            watchdog.stop();
        }
    }
}

fn kind(name: &'static str, flaw: Flaw) -> Kind {
    Kind::new(name, Nodes::One, move |env, nodes| {
        let way = Way { env, name: nodes[0].clone() };
        Reentrant { node: way.node(), way, flaw, owner: None, watchdogs: BTreeMap::new() }
    })
}

/// All of them.
pub(super) fn bad_locks() -> Vec<BadLock> {
    let of = |(name, flaw), source, breaks, what, worlds: Worlds| {
        bad_lock((name, source), breaks, what, (kind(name, flaw), kind("reentrant", Flaw::None)), worlds)
    };
    let nested = || node().clients(2, ["acquire", "read", "extend", "work 15s..20s", "write", "release"]);
    vec![
        of(
            ("count-not-rolled-back", Flaw::CountStays),
            "redisson#4822",
            &[LV],
            "A call whose reply is lost leaves its count, the next is taken for a re-entry, and one release is not enough.",
            Worlds::new(
                free_long_before_a_lease_ends(node().clients(2, SHORT_TURN).rounds(20)),
                free_soon(turns(2)).fault(late_reply(nth_arrived(Mark::Acquire, 1), ms(1500))),
            ),
        ),
        of(
            ("owner-is-the-thread", Flaw::OwnerIsThread),
            "redisson#5221",
            &[P1],
            "The owner is a thread's number, which another process has as well: it enters where it should wait.",
            Worlds::quiet(turns(2)),
        ),
        of(
            ("renewal-stops-on-inner-release", Flaw::InnerLeaveStops),
            "redisson#6144",
            &[P1],
            "To leave a hold inside another stops the watchdog of both.",
            Worlds::quiet(nested()),
        ),
        of(
            ("inner-release-deletes", Flaw::InnerLeaveDeletes),
            "redisson#891",
            &[P1],
            "To leave a hold inside another deletes the lock of both.",
            Worlds::quiet(nested()),
        ),
    ]
}
