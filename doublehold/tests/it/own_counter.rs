//! A lock of somebody's own that counts: whoever counts to one has it, and no value tells whose it is.

use std::time::Duration;

use doublehold::check::{
    Checked, Client, Existing, Guard, MultiplexedConnection, Predicate, Wanted, World, check,
};
use redis::RedisResult;

struct Counted {
    redis: MultiplexedConnection,
    key: String,
}

async fn count(redis: &mut MultiplexedConnection, by: &str, key: &str) -> RedisResult<i64> {
    redis::cmd(by).arg(key).query_async(redis).await
}

impl Guard for Counted {
    fn token(&self) -> Vec<u8> {
        Vec::new()
    }

    async fn release(mut self) -> RedisResult<bool> {
        Ok(count(&mut self.redis, "DECR", &self.key).await? == 0)
    }
}

fn checked(work: &str) -> Checked {
    let take = |mut redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let key = wanted.resource;
        client.marks_key(&key);
        if count(&mut redis, "INCR", &key).await? > 1 {
            count(&mut redis, "DECR", &key).await?;
            return Ok(None);
        }
        let millis = wanted.ttl.as_millis() as u64;
        let _: i64 = redis::cmd("PEXPIRE").arg(&key).arg(millis).query_async(&mut redis).await?;
        Ok(Some(Counted { redis, key }))
    };
    let program = ["acquire", "read", work, "write", "release"];
    let world = World::new("counting").nodes(["A"]).clients(2, program).ttl(Duration::from_secs(10));
    check(&world, Existing::on_one_node("counter", take))
        .seeds(1..=20)
        .no_files()
        .run()
        .expect("it can be run")
}

#[test]
fn a_counter_that_is_given_back_in_time_releases_nobody_elses() {
    let checked = checked("work 1s");
    assert_eq!(checked.count(Predicate::WR).holds, 20, "{checked}");
}

#[test]
fn a_counter_that_is_given_back_late_releases_anothers() {
    let checked = checked("work 12s");
    assert_eq!(checked.count(Predicate::WR).violated, 20, "{checked}");
}
