//! A lock of somebody's own that panics when its lease was lost: what makes it panic is shrunk like a violation.

use std::time::Duration;

use doublehold_lockimpl::{Client, Existing, Guard, Registry, Wanted};
use doublehold_scenarios::build::World;
use doublehold_scenarios::fault::Fault;
use doublehold_scenarios::when::{Mark, When};
use doublehold_scenarios::{Engine, OwnLocks, Prepared, Seed, SimEnv, builtin_locks};
use doublehold_search::shrink::{Case, Effort, Target, shrink};
use redis::RedisResult;
use redis::aio::MultiplexedConnection;

struct Held {
    redis: MultiplexedConnection,
    key: String,
    token: String,
}

impl Guard for Held {
    fn token(&self) -> Vec<u8> {
        self.token.clone().into()
    }

    async fn release(mut self) -> RedisResult<bool> {
        let deleted: u32 = redis::cmd("DEL").arg(&self.key).query_async(&mut self.redis).await?;
        assert!(deleted == 1, "nobody else can have deleted my key");
        Ok(true)
    }
}

fn locks() -> Registry<SimEnv> {
    let take = async |mut redis: MultiplexedConnection, client: Client<SimEnv>, wanted: Wanted| {
        let (key, token) = (wanted.resource, client.token());
        let mut set = redis::cmd("SET");
        set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
        let set: Option<String> = set.query_async(&mut redis).await?;
        Ok(set.map(|_| Held { redis, key, token }))
    };
    builtin_locks().with(Existing::on_one_node("sure", take))
}

#[test]
fn a_panic_of_ones_own_lock_is_shrunk_to_what_makes_it_panic() {
    let engine = OwnLocks(locks());
    let s = Duration::from_secs;
    let world = World::new("sure")
        .nodes(["A"])
        .clients(3, ["acquire", "read", "work 1s", "write", "release"])
        .fault(Fault::pause("c2").at(s(1)).lasting(Duration::from_millis(30)))
        .fault(Fault::pause("c1").at(When::event("c1", Mark::Read)).lasting(s(17)));
    let scenario = world.scenario("sure", engine.locks()).expect("a world");
    let run = engine.prepare(&scenario).expect("it can be run").judge(1);
    assert_eq!(Target::find_in(&run), Some(Target::Panics));
    let case = Case { scenario: &scenario, seed: Seed(1), target: Target::Panics };
    let shrunk = shrink(&engine, &case, &Effort::default()).expect("it panics");
    assert_eq!((shrunk.after.faults, shrunk.after.clients, shrunk.after.steps), (1, 1, 2));
    // The lease is 10 s, and the release comes right after the grant.
    assert_eq!(shrunk.scenario.faults[0].to_string(), "c1 pauses for 10 s, at c1's grant");
    assert_eq!(shrunk.scenario.claim, "The code of the `sure` lock panics");
}
