//! Somebody's own lock under random faults: what is found is shrunk, and its plan replays.

use std::time::Duration;

use doublehold::check::{
    Check, Client, Existing, Guard, MultiplexedConnection, Predicate, Wanted, World, check, replay,
};
use redis::RedisResult;

struct Held {
    redis: MultiplexedConnection,
    key: String,
    token: String,
    panics: bool,
}

impl Guard for Held {
    fn token(&self) -> Vec<u8> {
        self.token.clone().into()
    }

    async fn release(mut self) -> RedisResult<bool> {
        if self.panics {
            let held: Option<String> = redis::cmd("GET").arg(&self.key).query_async(&mut self.redis).await?;
            assert!(held.as_ref() == Some(&self.token), "the key is somebody else's");
        }
        redis::cmd("DEL").arg(&self.key).query_async(&mut self.redis).await
    }
}

/// Deletes the key whoever has it. With `panics` it does not expect to have lost the lock.
fn lock(panics: bool) -> Check {
    let take = move |mut redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let (key, token) = (wanted.resource, client.token());
        let mut set = redis::cmd("SET");
        set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
        let set: Option<String> = set.query_async(&mut redis).await?;
        Ok::<_, redis::RedisError>(set.map(|_| Held { redis, key, token, panics }))
    };
    // Small, for debug builds: the shrinker makes hundreds of runs of it.
    let world = World::new("two in turn")
        .nodes(["A"])
        .clients(2, ["acquire", "work 50ms..1s", "release"])
        .rounds(2)
        .ttl(Duration::from_secs(2))
        .weather("pauses-only");
    check(&world, Existing::on_one_node("own", take)).seeds(1..=300)
}

#[test]
fn what_weather_finds_is_shrunk_and_its_plan_replays() {
    let folder = tempfile::tempdir().unwrap();
    let checked = lock(false).looking_for(&[Predicate::WR]).files(folder.path()).run().unwrap();
    assert!(checked.count(Predicate::WR).violated > 0, "{checked}");
    assert!(checked.tally.coverage.kind("pause").struck > 100, "{checked}");
    let bad = checked.bad.as_ref().expect("it is shown");
    let shrunk = bad.shrunk.as_ref().expect("it is shrunk");
    assert!(shrunk.is_minimal);
    assert!(shrunk.after.faults <= 2 && shrunk.after.clients == 2, "{}", bad.text);
    assert!(bad.text.starts_with("WR is violated, first from seed "), "{}", bad.text);
    assert!(bad.text.contains("c1 pauses") || bad.text.contains(" pauses for "), "{}", bad.text);
    let plan = bad.files.iter().find(|file| file.extension().is_some_and(|it| it == "plan")).unwrap();
    let take = |mut redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let (key, token) = (wanted.resource, client.token());
        let mut set = redis::cmd("SET");
        set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
        let set: Option<String> = set.query_async(&mut redis).await?;
        Ok::<_, redis::RedisError>(set.map(|_| Held { redis, key, token, panics: false }))
    };
    let again = replay(plan, Existing::on_one_node("own", take)).unwrap();
    assert_eq!(again.is_same_run(), Some(true));
    assert_eq!(again.verdicts.get(Predicate::WR).as_str(), "violated");
}

#[test]
fn a_panic_under_weather_is_what_is_shown_and_not_the_end() {
    let checked = lock(true).no_files().run().unwrap();
    assert_eq!(checked.tally.runs, 300);
    let (_, panics) = checked.tally.panicked.expect("some hold is overtaken");
    assert!(panics > 1, "{checked}");
    let bad = checked.bad.expect("the first is shown");
    assert!(bad.report.panicked.is_some());
    assert!(bad.text.starts_with("the lock panics, first from seed "), "{}", bad.text);
    assert!(bad.shrunk.is_some_and(|shrunk| shrunk.is_minimal));
}
