//! `check(&world, mine).beside(reference)`: what is found, what is refused, and in whose words.

use std::fs;
use std::sync::Arc;

use doublehold::check::{
    BesideOutcome, BoxLock, CheckedBeside, Client, ConfigError, Descriptor, Existing, Guard, LockKind,
    MultiplexedConnection, NodeName, Predicate, SimEnv, Switches, Wanted, World, check,
};
use doublehold_scenarios::builtin_locks;

struct Held {
    redis: MultiplexedConnection,
    key: String,
    token: String,
    compares: bool,
}

impl Guard for Held {
    fn token(&self) -> Vec<u8> {
        self.token.clone().into()
    }

    async fn release(mut self) -> redis::RedisResult<bool> {
        let same =
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
        let any = "return redis.call('DEL', KEYS[1])";
        let script = redis::Script::new(if self.compares { same } else { any });
        script.key(&self.key).arg(&self.token).invoke_async(&mut self.redis).await
    }
}

/// A lock that compares before it deletes, or does not.
fn lock(compares: bool) -> impl LockKind<SimEnv> {
    Existing::on_one_node(
        "mine",
        move |mut redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
            let (key, token) = (wanted.resource, client.token());
            let mut set = redis::cmd("SET");
            set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
            let set: Option<String> = set.query_async(&mut redis).await?;
            redis::RedisResult::Ok(set.map(|_| Held { redis, key, token, compares }))
        },
    )
}

/// A lock of ours, as a kind of one's own.
struct Ours(Arc<dyn LockKind<SimEnv>>);

impl LockKind<SimEnv> for Ours {
    fn descriptor(&self) -> Descriptor {
        self.0.descriptor()
    }

    fn build(&self, env: SimEnv, nodes: Vec<NodeName>, switches: &Switches) -> Result<BoxLock, ConfigError> {
        self.0.build(env, nodes, switches)
    }
}

fn ours(name: &str) -> Ours {
    Ours(builtin_locks().get(name).expect("a lock of ours").clone())
}

fn turns() -> World {
    World::new("turns").nodes(["A"]).clients(2, ["acquire", "work 1s", "release"])
}

#[track_caller]
fn refused(mine: impl LockKind<SimEnv>, reference: impl LockKind<SimEnv>, world: &World) -> String {
    let checked = check(world, mine).beside(reference).pairs(40).no_files().run();
    checked.map(|found| found.to_string()).expect_err("it is refused").to_string()
}

#[test]
fn a_lock_beside_itself_is_never_reached_and_no_worse() {
    let found =
        check(&World::family(), lock(true)).beside(lock(true)).pairs(300).no_files().run().expect("it runs");
    assert_eq!((found.outcome(), found.worse()), (BesideOutcome::NeverReached, Vec::new()));
    let text = found.to_string();
    assert!(text.contains("mine, beside mine (the reference)"), "{text}");
    assert!(
        text.contains("neither lock met ") && text.contains("NEVER REACHED: both runs of all 300 pairs"),
        "{text}"
    );
    found.assert_no_worse();
}

#[test]
fn what_cannot_be_compared_is_refused_in_words_of_the_library() {
    let family = World::family();
    assert_eq!(
        refused(lock(true), ours("redlock"), &family),
        "`mine` runs on one node and `redlock` on independent nodes: no world fits both\n\
         hint: name a reference that runs on the same nodes"
    );
    let extends =
        World::new("turns").nodes(["A"]).clients(2, ["acquire", "work 1s", "extend", "work 1s", "release"]);
    let said = "the program has the step `extend`, and `mine` cannot extend its lease\n\
                hint: leave the step out, or name a lock that can";
    assert_eq!(refused(lock(true), ours("single"), &extends), said);
    assert_eq!(refused(ours("single"), lock(true), &extends), said);
    assert_eq!(
        refused(lock(true), ours("set-ex"), &family),
        "the reference `set-ex` breaks P1 even without faults, in `world 0 of the family`: nothing can be held against \
         it\nhint: name a reference that keeps P1, or leave P1 out of what is asked"
    );
    let nothing = World::family().with(|scenario| scenario.clients.clear());
    let said = refused(lock(true), lock(false), &nothing);
    assert!(said.contains("client"), "{said}");
}

#[test]
fn a_reference_is_surveyed_once_and_a_changed_one_anew() {
    let folder = std::env::temp_dir().join(format!("doublehold-beside-{}", std::process::id()));
    let found = |mine: bool, reference: bool| -> CheckedBeside {
        let check = check(&turns(), lock(mine)).files(&folder).no_regressions();
        check.beside(lock(reference)).pairs(60).run().expect("it runs")
    };
    let runs = [found(false, true), found(false, true), found(true, false), found(true, false)]
        .map(|found| found.findings.survey_runs);
    assert!(runs[0] > 0 && runs[1] == 0, "the same reference is known: {runs:?}");
    assert!(runs[2] > 0 && runs[3] == 0, "a changed one of the same name is not: {runs:?}");
    fs::remove_dir_all(&folder).expect("it was made for this test");
}

#[test]
fn what_only_my_lock_does_is_found_and_its_repair_passes() {
    let worse =
        check(&World::family(), lock(false)).beside(lock(true)).pairs(500).no_files().run().expect("it runs");
    assert!(worse.outcome() == BesideOutcome::Worse && worse.worse() == [Predicate::WR], "{worse}");
    let better = check(&World::family(), lock(true)).beside(lock(false)).pairs(500).no_files().run();
    better.expect("it runs").assert_no_worse();
}
