//! The plans that a check keeps: one is written where an assertion fails for a violation, and replayed from then on.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use doublehold::check::{
    Check, CheckError, Checked, Client, Existing, Guard, LockKind, MultiplexedConnection, Predicate, SimEnv,
    Wanted, World, check,
};
use redis::RedisResult;

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

/// It forgets NX, unless it is repaired.
fn lock(is_repaired: bool) -> impl LockKind<SimEnv> {
    let take = move |mut redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let (key, token) = (wanted.resource, client.token());
        let mut set = redis::cmd("SET");
        set.arg(&key).arg(&token).arg("PX").arg(wanted.ttl.as_millis() as u64);
        let set = if is_repaired { set.arg("NX") } else { &mut set };
        let set: Option<String> = set.query_async(&mut redis).await?;
        Ok(set.map(|_| Held { redis, key, token }))
    };
    Existing::on_one_node("mine", take)
}

fn world() -> World {
    World::new("two").nodes(["A"]).clients(2, ["acquire", "work 1s", "release"]).ttl(Duration::from_secs(10))
}

fn checked(lock: impl LockKind<SimEnv>, folder: &Path) -> Check {
    check(&world(), lock).seeds(1..=8).no_files().regressions(folder)
}

fn plans(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("it is there").path()).collect()
}

/// What an assertion says that fails.
fn said(checked: &Checked, predicates: &[Predicate]) -> String {
    let failed = catch_unwind(AssertUnwindSafe(|| checked.assert_holds(predicates)));
    *failed.expect_err("it fails").downcast::<String>().expect("a text")
}

#[test]
fn a_plan_is_kept_where_an_assertion_fails_and_replayed_before_any_seed() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("mine");
    let bad = checked(lock(false), &folder).run().expect("it can be run");
    assert!(bad.count(Predicate::P1).violated > 0, "{bad}");
    assert_eq!(plans(&folder), [] as [PathBuf; 0], "whoever counts expects it");

    let failed = said(&bad, &[Predicate::P1]);
    let kept = plans(&folder);
    let [plan] = &kept[..] else { panic!("one plan is kept: {kept:?}") };
    let last = failed.lines().last().expect("it says something");
    assert_eq!(last, format!("plan: {} (commit it: this check replays it before any seed)", plan.display()));

    // From another seed alone nothing need be found, and the plan is: nothing is left to chance.
    let again = checked(lock(false), &folder).seeds(100..=100).run().expect("it can be run");
    assert!(!again.holds(&[Predicate::P1]), "{again}");
    let text = again.to_string();
    assert!(text.contains("plans that were replayed first: 1, of which still fail: 1 (in "), "{text}");
    assert!(text.contains(&format!("as in the plan {}", plan.display())), "{text}");
    assert!(text.contains("P2 is violated, P1 is violated, WR is violated, as in the plan"), "{text}");

    let repaired = checked(lock(true), &folder).run().expect("it can be run");
    repaired.assert_holds(&[Predicate::P1, Predicate::WR]);
    assert!(
        repaired.to_string().contains("plans that were replayed first: 1, of which still fail: 0"),
        "{repaired}"
    );
}

#[test]
fn a_plan_counts_for_what_is_asserted_and_a_lock_that_only_looks_right_from_some_seeds_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let bad = checked(lock(false), folder.path()).run().expect("it can be run");
    said(&bad, &[Predicate::P1]);
    // Nothing is violated in a run of one client, and the plan is of two.
    let alone = World::new("one").nodes(["A"]).clients(1, ["acquire", "release"]);
    let of_one = |folder: Option<&Path>| {
        let check = check(&alone, lock(false)).seeds(1..=4).no_files();
        folder.map_or(check.clone(), |folder| check.regressions(folder)).run().expect("it can be run")
    };
    assert!(of_one(None).holds(&[Predicate::P1]));
    assert!(!of_one(Some(folder.path())).holds(&[Predicate::P1]));
    assert!(of_one(Some(folder.path())).holds(&[]), "nobody asked for what it shows");
}

#[test]
fn a_plan_that_cannot_be_read_is_said_with_the_way_out() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("old.plan"), "not a plan").expect("there is room");
    let error = checked(lock(true), folder.path()).run().expect_err("it is no plan");
    assert!(matches!(error, CheckError::Regression(_)), "{error}");
    assert!(error.to_string().contains("hint: delete it if the lock has changed"), "{error}");
}
