//! A lock of one's own beside a reference: what only one of the two does.

use doublehold::check::{
    BesideOutcome, CheckError, Client, Existing, Guard, LockKind, MultiplexedConnection, Predicate, Rule,
    SimEnv, Wanted, World, check,
};
use redis::{RedisResult, Script};

const COMPARE_AND_DELETE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
const DELETE: &str = "return redis.call('DEL', KEYS[1])";

struct Held {
    redis: MultiplexedConnection,
    key: String,
    token: String,
    script: &'static str,
}

impl Guard for Held {
    fn token(&self) -> Vec<u8> {
        self.token.clone().into()
    }
    async fn release(mut self) -> RedisResult<bool> {
        Script::new(self.script).key(&self.key).arg(&self.token).invoke_async(&mut self.redis).await
    }
}

async fn take(
    mut redis: MultiplexedConnection,
    client: Client,
    wanted: Wanted,
    script: &'static str,
) -> RedisResult<Option<Held>> {
    let (key, token) = (wanted.resource, client.token());
    let mut set = redis::cmd("SET");
    set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
    let set: Option<String> = set.query_async(&mut redis).await?;
    Ok(set.map(|_| Held { redis, key, token, script }))
}

fn lock(script: &'static str) -> impl LockKind<SimEnv> {
    Existing::on_one_node("mine", move |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        take(redis, client, wanted, script)
    })
}

#[test]
fn a_plain_delete_is_worse_than_its_repair_and_the_picture_shows_both_locks() {
    let found =
        check(&World::family(), lock(DELETE)).beside(lock(COMPARE_AND_DELETE)).pairs(600).no_files().run();
    let found = found.expect("both run");
    assert_eq!(found.outcome(), BesideOutcome::Worse, "{found}");
    assert!(found.worse().contains(&Predicate::WR), "{found}");
    let text = found.to_string();
    assert!(text.contains("the same plan with mine (the reference)"), "{text}");
    assert!(found.findings.examples[0].example.convinces(), "{text}");
}

#[test]
fn a_lock_beside_itself_is_never_told_apart() {
    let found = check(&World::family(), lock(COMPARE_AND_DELETE)).beside(lock(COMPARE_AND_DELETE));
    let found = found.pairs(300).no_files().run().expect("both run");
    assert_eq!(found.outcome(), BesideOutcome::NeverReached, "{found}");
}

#[test]
fn a_family_without_a_reference_says_what_to_write() {
    let refused =
        check(&World::family(), lock(DELETE)).no_files().run().expect_err("nothing stands beside it");
    assert!(matches!(refused, CheckError::FamilyAlone));
    assert!(refused.to_string().contains(".beside_ours()"), "{refused}");
}

#[test]
fn without_a_repaired_form_the_lock_of_ours_for_the_same_nodes_stands_beside() {
    let found =
        check(&World::family(), lock(DELETE)).beside_ours().pairs(600).no_files().run().expect("both run");
    assert!(found.worse().contains(&Predicate::WR), "{found}");
}

/// Whoever lists faults asks about these, in the world as it is.
#[test]
fn a_world_of_ones_own_stays_as_it_is() {
    let world = World::new("in turn").nodes(["A"]).clients(2, ["acquire", "work 100ms", "release"]);
    let found = check(&world, lock(DELETE)).beside(lock(COMPARE_AND_DELETE)).pairs(200).no_files().run();
    let found = found.expect("both run");
    assert!(found.to_string().contains("`in turn` under 60 weathers"), "{found}");
}

/// It waits for replies as long as redis-rs does, and counts as long as its caller believes in it.
#[test]
fn a_careful_lock_without_a_deadline_does_no_worse_than_ours() {
    let found = check(&World::family(), lock(COMPARE_AND_DELETE)).beside_ours().pairs(600).no_files().run();
    let found = found.expect("both run");
    assert!(found.worse().is_empty(), "{found}");
    assert!(found.to_string().contains("mine tells no deadline (`Guard::deadline`)"), "{found}");
}

#[test]
fn a_lock_that_never_asks_some_of_its_nodes_is_told_so() {
    let one_of_three = Existing::on_nodes("mine", async |client: Client, wanted: Wanted| {
        take(client.connection().await?, client, wanted, COMPARE_AND_DELETE).await
    });
    let found = check(&World::family(), one_of_three).beside_ours().pairs(60).no_files().run();
    let said = found.expect("both run").to_string();
    assert!(said.contains("mine set no key on B and C in a run without faults"), "{said}");
}

#[test]
fn marks_and_rules_are_not_lost_in_silence_beside_a_reference() {
    for asked in [
        check(&World::family(), lock(DELETE)).reaches(&["a place"]),
        check(&World::family(), lock(DELETE)).looking_for_rules(&[Rule::Margin]),
    ] {
        let refused = asked.beside_ours().no_files().run().expect_err("nobody would ask");
        assert!(
            refused.to_string().contains("asks all white-box rules by itself and counts no marks"),
            "{refused}"
        );
    }
}
