//! Somebody's own lock with several resources: existing code keeps a guard for each.

use std::time::Duration;

use doublehold::check::{
    Client, Existing, Guard, LockKind, Mark, MultiplexedConnection, Predicate, SimEnv, Wanted, When, World,
    check,
};
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

async fn taken(
    mut redis: MultiplexedConnection,
    client: Client,
    wanted: Wanted,
) -> RedisResult<Option<Held>> {
    let (key, token) = (wanted.resource, client.token());
    let mut set = redis::cmd("SET");
    set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
    let set: Option<String> = set.query_async(&mut redis).await?;
    Ok(set.map(|_| Held { redis, key, token }))
}

fn mine() -> impl LockKind<SimEnv> {
    Existing::on_one_node("mine", taken)
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
    let checked = check(&world, mine()).seeds(1..=50).no_files().run();
    let checked = checked.expect("it can be run");
    checked.assert_holds(&Predicate::ALL);
}

/// The second call begins at the instant at which the first ends.
#[test]
fn calls_that_follow_each_other_at_once_are_told_apart() {
    let both =
        ["acquire stock", "acquire orders", "read orders", "write orders", "release orders", "release stock"];
    let world = World::new("at once").locks(["stock", "orders"]).nodes(["A"]).clients(2, both);
    let checked = check(&world, mine()).seeds(1..=20).no_files().run().expect("it can be run");
    let count = checked.count(Predicate::WR);
    assert_eq!((count.holds, count.inconclusive), (20, 0), "{checked}");
}

#[test]
fn a_wrong_release_right_after_another_is_seen() {
    let late = [
        "acquire stock",
        "read stock",
        "work 3500ms",
        "acquire orders",
        "read orders",
        "write orders",
        "release orders",
        "release stock",
    ];
    let world = World::new("c1 is late with its first lock")
        .locks(["stock", "orders"])
        .nodes(["A"])
        .ttl(Duration::from_secs(3))
        .client("c1", late)
        .client("c2", ["acquire stock", "read stock", "work 2s", "write stock", "release stock"])
        .with(|scenario| scenario.clients[1].start = Some(When::event("c1", Mark::Grant)));
    let checked = check(&world, mine()).seeds(1..=20).no_files().run().expect("it can be run");
    assert_eq!(checked.count(Predicate::WR).violated, 20, "{checked}");
}

#[test]
fn two_locks_with_one_key_are_told_so() {
    let take = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        taken(redis, client, Wanted { resource: "global".into(), ..wanted }).await
    };
    let lock = Existing::on_one_node("global", take).key(|_| "global".into());
    let program = ["acquire stock", "release stock", "work 1s", "acquire orders", "release orders"];
    let world = World::new("one key").locks(["stock", "orders"]).nodes(["A"]).clients(1, program);
    let checked = check(&world, lock).seeds(1..=3).no_files().run().expect("it can be run");
    let why = checked.count(Predicate::WR).unsaid.map(|(_, why)| why).unwrap_or_default();
    assert!(why.contains(r#"the locks "stock" and "orders" have the same key `global`"#), "{checked}");
}
