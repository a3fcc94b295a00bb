//! Waits without end in somebody's own lock: the world's limits end the run, and the check says so after a few runs.

use std::future::pending;
use std::time::Duration;

use doublehold::check::{
    Checked, Client, Existing, Guard, LockKind, MultiplexedConnection, Predicate, SimEnv, Wanted, World,
    check,
};
use redis::RedisResult;

struct Held;

impl Guard for Held {
    fn token(&self) -> Vec<u8> {
        Vec::new()
    }

    async fn release(self) -> RedisResult<bool> {
        pending().await
    }
}

type Taken = RedisResult<Option<Held>>;

/// All thousand seeds that a check has if nobody says how many.
fn checked(lock: impl LockKind<SimEnv>, weather: Option<&str>) -> Checked {
    let program = ["acquire", "work 1s", "release"];
    let world = World::new("endless").nodes(["A"]).clients(2, program).ttl(Duration::from_secs(10));
    let world = weather.map_or(world.clone(), |weather| world.weather(weather));
    check(&world, lock).no_files().run().expect("it can be run")
}

#[track_caller]
fn assert_told(checked: &Checked, runs: u64, why: &str, call: &str) {
    assert!(!checked.holds(&[Predicate::P1]), "{checked}");
    assert_eq!(checked.tally.runs, runs, "{checked}");
    let said = checked.endless.as_deref().unwrap_or_else(|| panic!("it is not said: {checked}"));
    assert!(said.starts_with("the lock `endless` waits without end: when the run from seed 1 "), "{said}");
    assert!(said.contains(why), "{said}");
    assert!(said.contains(call) && said.contains("had not come back"), "{said}");
    assert!(checked.to_string().contains(said), "{checked}");
}

#[test]
fn a_lock_that_sleeps_and_asks_for_ever_is_told_after_two_runs() {
    let events =
        "since the run had used up `limits.events`, which is 1,000,000, c1 in its acquire, called at ";
    for weather in [None, Some("cloud")] {
        let sleeps = async |_, client: Client, _: Wanted| -> Taken {
            loop {
                client.sleep(Duration::from_millis(1)).await;
            }
        };
        let sleeps = checked(Existing::on_one_node("endless", sleeps), weather);
        assert_told(&sleeps, 2, events, "and c2 in its acquire");
        let said = sleeps.to_string();
        let last = said.lines().last().expect("it says something");
        assert!(last.starts_with("replay: DOUBLEHOLD_SEED=1 cargo test own_endless::"), "{said}");
    }
    let asks = async |mut redis: MultiplexedConnection, _: Client, wanted: Wanted| -> Taken {
        loop {
            let _: Option<String> = redis::cmd("GET").arg(&wanted.resource).query_async(&mut redis).await?;
        }
    };
    assert_told(&checked(Existing::on_one_node("endless", asks), None), 2, events, "and c2 in its acquire");
    let reads = async |_, client: Client, _: Wanted| -> Taken {
        loop {
            client.monotonic().await;
        }
    };
    assert_told(
        &checked(Existing::on_one_node("endless", reads), None),
        2,
        "`limits.events`",
        "c1 in its acquire",
    );
}

/// Such a run is over at once, so that all are made.
#[test]
fn a_lock_that_waits_for_what_never_comes_is_told_with_the_call() {
    let stalled = "since nothing was left that could end it, c1 in its acquire, called at ";
    let waits = Existing::on_one_node("endless", async |_, _, _| pending::<Taken>().await);
    assert_told(&checked(waits, None), 1000, stalled, "and c2 in its acquire");
    let never_back = Existing::on_one_node("endless", async |_, _, _| Ok(Some(Held)));
    assert_told(&checked(never_back, None), 1000, "nothing was left", "in its release, called at ");
}
