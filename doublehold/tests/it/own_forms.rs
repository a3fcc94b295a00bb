//! The forms in which a lock can be written. That they compile, also without the types of arguments, is what is tested.

use doublehold::check::{
    Client, Existing, Guard, LockKind, MultiplexedConnection, SimEnv, Wanted, World, check,
};
use redis::RedisResult;

struct Held(String);

impl Guard for Held {
    fn token(&self) -> Vec<u8> {
        self.0.clone().into()
    }

    async fn release(self) -> RedisResult<bool> {
        Ok(true)
    }
}

async fn set(mut redis: MultiplexedConnection, key: String, token: String) -> RedisResult<Option<Held>> {
    let set: Option<String> =
        redis::cmd("SET").arg(key).arg(&token).arg("NX").query_async(&mut redis).await?;
    Ok(set.map(|_| Held(token)))
}

async fn take(redis: MultiplexedConnection, client: Client, wanted: Wanted) -> RedisResult<Option<Held>> {
    set(redis, wanted.resource, client.token()).await
}

#[track_caller]
fn assert_granted(lock: impl LockKind<SimEnv>) {
    let world = World::new("one").nodes(["A"]).clients(1, ["acquire", "release"]);
    let checked = check(&world, lock).seeds(1..=1).no_files().run().expect("it can be run");
    assert_eq!(checked.tally.grants, 1, "{checked}");
}

#[test]
fn on_one_node_a_lock_is_a_function_or_a_closure_with_or_without_types() {
    assert_granted(Existing::on_one_node("mine", take));
    assert_granted(Existing::on_one_node("mine", async |redis, client, wanted| {
        let token = client.token();
        set(redis, wanted.resource, token).await
    }));
    assert_granted(Existing::on_one_node("mine", async move |redis, client: Client, wanted| {
        set(redis, wanted.resource, client.token()).await
    }));
    assert_granted(Existing::on_one_node("mine", |redis, client, wanted| async move {
        set(redis, wanted.resource, client.token()).await
    }));
    let prefix = "lock:";
    assert_granted(Existing::on_one_node("mine", move |redis, client, wanted| async move {
        set(redis, format!("{prefix}{}", wanted.resource), client.token()).await
    }));
    let typed = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        let held = set(redis, wanted.resource, client.token()).await?;
        Ok(held)
    };
    assert_granted(Existing::on_one_node("mine", typed));
}

#[test]
fn on_several_nodes_it_is_the_same() {
    let connected = async |client: Client, wanted: Wanted| {
        let redis = client.connect(&client.nodes()[0]).await?;
        set(redis, wanted.resource, client.token()).await
    };
    assert_granted(Existing::on_nodes("mine", connected));
    assert_granted(Existing::on_nodes("mine", async |client, wanted| {
        let redis = client.connect(&client.nodes()[0]).await?;
        set(redis, wanted.resource, client.token()).await
    }));
    assert_granted(Existing::on_nodes("mine", |client, wanted| async move {
        let redis = client.connection().await?;
        set(redis, wanted.resource, client.token()).await
    }));
}
