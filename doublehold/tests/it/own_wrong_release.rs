//! WR for locks of somebody's own that write more than one token: what they do to another's key is seen, and nobody is
//! blamed for what was right.

use std::io;
use std::time::Duration;

use doublehold::check::{
    Check, Client, Count, Existing, Fault, Guard, LockKind, Mark, MultiplexedConnection, Predicate, SimEnv,
    Wanted, When, World, check,
};
use redis::RedisResult;

/// What a lock knows while it is held.
struct Held {
    redis: MultiplexedConnection,
    key: String,
    token: String,
}

fn few(world: &World, lock: impl LockKind<SimEnv>) -> Check {
    check(world, lock).seeds(1..=8).no_files()
}

/// Deletes the key if it holds this token.
const COMPARED_DEL: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/// Extends its lease with a new token each time.
struct Rotating {
    held: Held,
    client: Client,
    compares: bool,
}

impl Guard for Rotating {
    fn token(&self) -> Vec<u8> {
        self.held.token.clone().into()
    }

    async fn extend(&mut self, ttl: Duration) -> Option<RedisResult<bool>> {
        // Made by its own means, so that it is known from the guard alone.
        let mut random = [0; 8];
        self.client.random(&mut random);
        let (token, millis) = (format!("{random:?}"), ttl.as_millis() as u64);
        let script = "if ARGV[4] == '0' or redis.call('GET', KEYS[1]) == ARGV[1] then \
                      redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) return 1 end return 0";
        let mut eval = redis::cmd("EVAL");
        eval.arg(script).arg(1).arg(&self.held.key).arg(&self.held.token);
        eval.arg(&token).arg(millis).arg(i64::from(self.compares));
        let extended = eval.query_async(&mut self.held.redis).await;
        if matches!(extended, Ok(true)) {
            self.held.token = token;
        }
        Some(extended)
    }

    async fn release(mut self) -> RedisResult<bool> {
        let mut eval = redis::cmd("EVAL");
        eval.arg(COMPARED_DEL).arg(1).arg(&self.held.key).arg(&self.held.token);
        eval.query_async(&mut self.held.redis).await
    }
}

#[test]
fn an_extension_that_takes_anothers_key_over_is_a_wrong_one() {
    let world = World::new("rotating")
        .nodes(["A"])
        .clients(2, ["acquire", "work 1s", "extend", "work 1s", "extend", "release"])
        .ttl(Duration::from_secs(3))
        .fault(Fault::pause("c1").at(When::event("c1", Mark::Grant)).lasting(Duration::from_secs(4)));
    let rotating = |compares| {
        let take = move |mut redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
            let (key, token) = (wanted.resource, client.token());
            let mut set = redis::cmd("SET");
            set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
            let set: Option<String> = set.query_async(&mut redis).await?;
            Ok(set.map(|_| Rotating { held: Held { redis, key, token }, client, compares }))
        };
        few(&world, Existing::on_one_node("rotating", take)).run().expect("it can be run")
    };
    let right = rotating(true);
    assert_eq!(right.count(Predicate::WR).holds, 8, "{right}");
    let wrong = rotating(false);
    let Count { violated, inconclusive, .. } = wrong.count(Predicate::WR);
    assert!(violated > 0 && inconclusive == 0, "{wrong}");
    assert!(wrong.to_string().contains("c1's extension of grant"), "{wrong}");
}

/// A re-entrant lock as Redisson's: a hash whose field is the owner, with how often it took the lock.
struct Reentrant {
    held: Held,
}

const TAKE: &str = "if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then \
                    redis.call('HINCRBY', KEYS[1], ARGV[1], 1) \
                    return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";
const GIVE: &str = "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end \
                    if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then \
                    return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return redis.call('DEL', KEYS[1])";

async fn reentrant(held: &mut Held, script: &str, millis: u64) -> RedisResult<bool> {
    let mut eval = redis::cmd("EVAL");
    eval.arg(script).arg(1).arg(&held.key).arg(&held.token).arg(millis).query_async(&mut held.redis).await
}

impl Guard for Reentrant {
    fn token(&self) -> Vec<u8> {
        self.held.token.clone().into()
    }

    async fn release(mut self) -> RedisResult<bool> {
        reentrant(&mut self.held, GIVE, 30_000).await
    }
}

#[test]
fn a_reentrant_lock_is_right_also_where_its_key_outlives_a_call() {
    let take = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        // The one client has one owner, whichever call asks.
        let mut held = Held { redis, key: wanted.resource, token: "uuid:1".into() };
        client.marks(held.token.as_bytes());
        let taken = reentrant(&mut held, TAKE, wanted.ttl.as_millis() as u64);
        match client.timeout(Duration::from_millis(500), taken).await {
            Ok(taken) => Ok(taken?.then_some(Reentrant { held })),
            Err(late) => Err(io::Error::new(io::ErrorKind::TimedOut, late).into()),
        }
    };
    // The first call takes the lock and does not learn of it.
    let late = Fault::packet_delay("A", "c1", Duration::from_secs(2)).at(When::event("c1", Mark::Acquire));
    let world = World::new("re-entrant").nodes(["A"]).fault(late);
    let checked = |program: &[&'static str]| {
        let world = world.clone().clients(1, program.iter().copied()).rounds(4);
        few(&world, Existing::on_one_node("re-entrant", take)).run().expect("it can be run")
    };
    let apart = checked(&["acquire", "work 1s", "release", "work 1s"]);
    assert_eq!(apart.count(Predicate::WR).holds, 8, "{apart}");
    // The next call begins at the instant at which the one before it ends.
    let together = checked(&["acquire", "work 1s", "release"]);
    assert_eq!(together.count(Predicate::WR).holds, 8, "{together}");
}

#[test]
fn a_reentrant_lock_is_right_also_where_it_gives_back_late_what_a_lost_call_took() {
    let take = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        let mut held = Held { redis, key: wanted.resource, token: "uuid:1".into() };
        client.marks(held.token.as_bytes());
        let taken = reentrant(&mut held, TAKE, wanted.ttl.as_millis() as u64);
        match client.timeout(Duration::from_millis(500), taken).await {
            Ok(taken) => Ok(taken?.then_some(Reentrant { held })),
            Err(_) => {
                // While the next call of the client has the lock.
                let later = client.clone();
                client.spawn(async move {
                    later.sleep(Duration::from_millis(3_137)).await;
                    let _ = reentrant(&mut held, GIVE, 30_000).await;
                });
                Ok(None)
            }
        }
    };
    let late = Fault::packet_delay("A", "c1", Duration::from_secs(2)).at(When::event("c1", Mark::Acquire));
    let world =
        World::new("re-entrant").nodes(["A"]).clients(1, ["acquire", "work 10s", "release"]).fault(late);
    let checked = few(&world, Existing::on_one_node("re-entrant", take)).run().expect("it can be run");
    assert_eq!(checked.count(Predicate::WR).holds, 8, "{checked}");
}

/// Gives the key back whosever it is, also where it was not granted.
struct Careless(Held);

impl Guard for Careless {
    fn token(&self) -> Vec<u8> {
        self.0.token.clone().into()
    }

    async fn release(mut self) -> RedisResult<bool> {
        redis::cmd("DEL").arg(&self.0.key).query_async(&mut self.0.redis).await
    }
}

#[test]
fn a_key_that_a_call_took_without_learning_of_it_is_known_as_that_calls() {
    let take = async |mut redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        let (key, token) = (wanted.resource, client.token());
        let mut set = redis::cmd("SET");
        set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
        let taken =
            client.timeout(Duration::from_millis(500), set.query_async::<Option<String>>(&mut redis)).await;
        let taken = taken.map_err(|late| io::Error::new(io::ErrorKind::TimedOut, late))?;
        let mut held = Held { redis, key, token };
        if taken?.is_none() {
            redis::cmd("DEL").arg(&held.key).query_async::<u32>(&mut held.redis).await?;
            return Ok(None);
        }
        Ok(Some(Careless(held)))
    };
    let late = Fault::packet_delay("A", "c1", Duration::from_secs(2)).at(When::event("c1", Mark::Acquire));
    let world = World::new("careless").nodes(["A"]).clients(1, ["acquire", "work 1s", "release"]).fault(late);
    let checked = few(&world, Existing::on_one_node("careless", take)).run().expect("it can be run");
    assert_eq!(checked.count(Predicate::WR).violated, 8, "{checked}");
}

#[test]
fn a_hash_that_holds_its_token_in_a_field_is_not_judged_by_what_nobody_told() {
    let world = World::new("hash")
        .nodes(["A"])
        .client("c1", ["acquire", "work 100ms", "release"])
        .client("c2", ["acquire", "work 2500ms", "release"])
        .ttl(Duration::from_secs(3))
        .fault(Fault::pause("c1").at(When::event("c1", Mark::Grant)).lasting(Duration::from_secs(4)));
    let take = async |mut redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        let (key, token) = (wanted.resource, client.token());
        let script = "if redis.call('HSETNX', KEYS[1], 'owner', ARGV[1]) == 0 then return 0 end \
                      redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 1";
        let mut eval = redis::cmd("EVAL");
        eval.arg(script).arg(1).arg(&key).arg(&token).arg(wanted.ttl.as_millis() as u64);
        let taken: bool = eval.query_async(&mut redis).await?;
        Ok(taken.then_some(Careless(Held { redis, key, token })))
    };
    let checked = few(&world, Existing::on_one_node("hash", take)).run().expect("it can be run");
    assert_eq!(checked.count(Predicate::WR).inconclusive, 8, "{checked}");
}

/// A majority of nodes, where what an earlier call of the same owner took counts as a yes.
struct Majority {
    nodes: Vec<MultiplexedConnection>,
    key: String,
}

const OWNER: &str = "owner-1";

impl Guard for Majority {
    fn token(&self) -> Vec<u8> {
        OWNER.into()
    }

    async fn release(mut self) -> RedisResult<bool> {
        let mut yes = 0;
        for redis in &mut self.nodes {
            let mut eval = redis::cmd("EVAL");
            eval.arg(COMPARED_DEL).arg(1).arg(&self.key).arg(OWNER);
            yes += eval.query_async::<u32>(redis).await?;
        }
        Ok(yes >= 2)
    }
}

#[test]
fn a_majority_lock_may_give_back_what_an_earlier_call_of_its_owner_took() {
    let take = async |client: Client, wanted: Wanted| {
        let (key, mut nodes, mut yes) = (wanted.resource, Vec::new(), 0);
        client.marks(OWNER.as_bytes());
        for name in client.nodes() {
            let Ok(mut redis) = client.connect(name).await else { continue };
            let mut set = redis::cmd("SET");
            set.arg(&key).arg(OWNER).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
            let is_set = set.query_async::<Option<String>>(&mut redis).await?.is_some();
            let found: Option<String> = redis::cmd("GET").arg(&key).query_async(&mut redis).await?;
            yes += u32::from(is_set || found.as_deref() == Some(OWNER));
            nodes.push(redis);
        }
        // A moment, so that it is known which call sent what.
        client.sleep(Duration::from_millis(50)).await;
        Ok((yes >= 2).then_some(Majority { nodes, key }))
    };
    // The first call reaches one node, and takes no majority.
    let down = |node| Fault::crash(node).lasting(Duration::from_secs(1));
    let world = World::new("majority").nodes(["A", "B", "C"]).fault(down("B")).fault(down("C"));
    let world = world.clients(1, ["acquire", "work 1s", "release"]);
    let checked = few(&world, Existing::on_nodes("majority", take)).run().expect("it can be run");
    assert_eq!(checked.count(Predicate::WR).holds, 8, "{checked}");
}
