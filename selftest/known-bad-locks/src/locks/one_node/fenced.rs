//! A key with a token, and a counter beside it that gives each grant a number for the resource to check.
//!
//! The resource refuses a number lower than one it has seen, which is why the numbers must never go back.

use std::time::Duration;

use doublehold::check::{
    Acquired, DelayLaw, Env, Event, FencingCheck, Grant, Lock, Mark, Nodes, Predicate, Refusal, Released,
    SimEnv, Token, When, World,
};
use redis::Value;

use super::Way;
use super::lease::Lease;
use super::scenes::*;
use super::searches::*;
use crate::node::{COMPARE_AND_DELETE, Node, Silence, millis, release_outcome};
use crate::{BadLock, Kind};

use Predicate::{P3, WR};

/// Takes the lock and counts the grant: its number.
const TAKE: &str = "if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end \
     local number = redis.call('INCR', KEYS[1] .. ':fencing') \
     redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return number";

/// WRONG: the counter ends with its lock, and begins again.
const TAKE_AND_EXPIRE_BOTH: &str = "if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end \
     local number = redis.call('INCR', KEYS[1] .. ':fencing') \
     redis.call('PEXPIRE', KEYS[1] .. ':fencing', ARGV[2]) \
     redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return number";

/// WRONG: the counter goes with its lock, and begins again.
const DELETE_BOTH: &str = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end \
     return redis.call('DEL', KEYS[1], KEYS[1] .. ':fencing')";

/// WRONG: an owner has more than one hold, one after the other.
const DELETE_OF_OWNER: &str = "local held = redis.call('GET', KEYS[1]) \
     if held and string.sub(held, 1, 20) == string.sub(ARGV[1], 1, 20) then return redis.call('DEL', KEYS[1]) end \
     return 0";

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    CounterExpires,
    CounterDeleted,
    RevisionIgnored,
}

/// One client's lock.
struct Fenced {
    env: SimEnv,
    node: Node,
    flaw: Flaw,
    /// The client, in the first half of its tokens.
    owner: Option<Token>,
}

impl Lock for Fenced {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let token = self.token();
        let lease = Lease::start(&self.env, ttl).await;
        let take = if self.flaw == Flaw::CounterExpires { TAKE_AND_EXPIRE_BOTH } else { TAKE };
        let ttl = millis(ttl).to_string();
        let refused = match self.node.run_script(take, resource, &[token.as_bytes(), ttl.as_bytes()]).await {
            Ok(Value::Int(number @ 1..)) => match lease.too_late(&self.env).await {
                None => {
                    let (fencing, deadline) = (Some(number.unsigned_abs()), lease.deadline());
                    return Acquired::Granted(Grant { fencing, deadline, ..Grant::new(resource, token) });
                }
                Some(why) => Acquired::Refused(why),
            },
            Ok(_) => return Acquired::Refused(Refusal::Taken),
            Err(Silence::Lost) => Silence::Lost.into_acquired(),
            Err(silence) => return silence.into_acquired(),
        };
        let _ignored = self.node.delete(resource, token.as_bytes()).await;
        refused
    }

    async fn release(&mut self, grant: &Grant) -> Released {
        let delete = match self.flaw {
            Flaw::CounterDeleted => DELETE_BOTH,
            Flaw::RevisionIgnored => DELETE_OF_OWNER,
            _ => COMPARE_AND_DELETE,
        };
        release_outcome(self.node.run_script(delete, &grant.resource, &[grant.token.as_bytes()]).await)
    }
}

impl Fenced {
    /// The owner, and then what is only this hold's.
    fn token(&mut self) -> Token {
        let (env, hold) = (&self.env, Token::draw(&self.env));
        let owner = self.owner.get_or_insert_with(|| Token::draw(env));
        let token = Token::new([owner.as_bytes(), hold.as_bytes()].concat());
        env.marks(token.as_bytes());
        token
    }
}

fn kind(name: &'static str, flaw: Flaw) -> Kind {
    Kind::new(name, Nodes::One, move |env, nodes| {
        let way = Way { env: env.clone(), name: nodes[0].clone() };
        Fenced { node: way.node(), env, flaw, owner: None }
    })
}

/// Writes at once.
const WRITE: [&str; 3] = ["acquire", "write", "release"];

/// All of them.
pub(super) fn bad_locks() -> Vec<BadLock> {
    let of = |(name, flaw), source, breaks, what, worlds: Worlds| {
        bad_lock((name, source), breaks, what, (kind(name, flaw), kind("fenced", Flaw::None)), worlds)
    };
    // Who comes later writes at once, long before c1 wakes.
    let two = c1_first(node().client("c1", TURN).client("c2", WRITE));
    // c2 is never seen at the resource, and c3 is there right after it.
    let three = node().client("c1", ["acquire", "read", "work 5s..9s", "write", "release"]);
    let three = c1_first(three.client("c2", ["acquire", "release"]).client("c3", WRITE));
    let three = starts(three, 2, at("c2", Mark::Release).delay_by(ms(3)));
    let three = three.with(|scenario| scenario.link.delay = DelayLaw::Fixed(ms(1)));
    let c1_oversleeps = |world: World| check_fencing(world).fault(oversleeps(at("c1", Mark::Read)));
    let owner = node().clients(1, ["acquire", "work 9500ms", "release"]).rounds(3);
    let second_release = When::from(Duration::ZERO).then(Event::mark("c1", Mark::Release), 2);
    vec![
        of(
            ("fencing-counter-expires", Flaw::CounterExpires),
            "redisson RedissonFencedLock.expire (S)",
            &[P3],
            "The counter has the lease of its lock, and gives the same numbers again when both have ended.",
            Worlds::new(
                strike_at_times(c1_oversleeps_only(check_fencing(turns(2).rounds(2)))),
                c1_oversleeps(two),
            )
            .under("pauses-only"),
        ),
        of(
            ("fencing-counter-deleted", Flaw::CounterDeleted),
            "redisson RedissonFencedLock.delete (S)",
            &[P3],
            "A release deletes the counter with its lock, and the same numbers are given again.",
            Worlds::new(
                strike_at_times(c1_oversleeps_only(check_fencing(three.clone()))),
                c1_oversleeps(three),
            )
            .under("pauses-only"),
        ),
        of(
            ("release-without-revision", Flaw::RevisionIgnored),
            "etcd#7634",
            &[WR],
            "A release compares the owner and not which of its holds it is: a late one deletes the next.",
            Worlds::new(turns(2).rounds(4), owner.fault(late_request(second_release, s(4)))),
        ),
    ]
}

/// The resource checks numbers, also of who reads.
fn check_fencing(world: World) -> World {
    world.with(|scenario| {
        scenario.resource.rules.fencing = FencingCheck::RejectLower;
        scenario.resource.rules.fence_reads = true;
    })
}
