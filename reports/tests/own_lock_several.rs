//! Somebody's own lock with several resources: existing code keeps a guard for each.

use std::time::Duration;

use doublehold::check::{Client, Existing, Guard, MultiplexedConnection, Predicate, Wanted, World, check};
use redis::RedisResult;

/// SET NX PX and a plain `DEL`: good enough where nobody outlives the lease.
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
        redis::cmd("DEL").arg(&self.key).query_async(&mut self.redis).await
    }
}

#[test]
fn a_client_holds_several_locks_of_existing_code_at_once_and_gives_back_each() {
    let world = World::new("two locks")
        .nodes(["A"])
        .locks(["stock", "orders"])
        .client(
            "c1",
            [
                "acquire stock",
                "acquire orders",
                "read stock",
                "write stock",
                "release stock",
                "read orders",
                "write orders",
                "release orders",
            ],
        )
        .client("c2", ["acquire orders", "read orders", "work 1s", "write orders", "release orders"])
        .client("c3", ["acquire stock", "read stock", "work 1s", "write stock", "release stock"])
        .rounds(3)
        // Less than a lease: a key that nobody gave back would keep others waiting longer.
        .with(|scenario| scenario.limits.obtain_free_within = Some(Duration::from_secs(5)));
    let take = |mut redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let (key, token) = (wanted.resource, client.token());
        let mut set = redis::cmd("SET");
        set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
        let set: Option<String> = set.query_async(&mut redis).await?;
        Ok(set.map(|_| Held { redis, key, token }))
    };
    let checked = check(&world, Existing::on_one_node("mine", take)).seeds(1..=50).no_files().run();
    let checked = checked.expect("it can be run");
    checked.assert_holds(&Predicate::ALL);
}
