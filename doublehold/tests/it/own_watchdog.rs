//! Somebody's own lock that is renewed beside its holder: the verdicts, the check before a write and the holder follow
//! the deadline as it moves, and what the watchdog says of a lock that is lost.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use doublehold::check::{
    Checked, Client, Deadline, Existing, Fault, Guard, LockKind, Mark, MonotonicTime, MultiplexedConnection,
    Predicate, Seed, SimEnv, Task, Wanted, When, World, check,
};
use doublehold_history::EventKind;
use doublehold_scenarios::{Engine, OwnLocks, builtin_locks};
use redis::RedisResult;

/// What the holder and its watchdog have in common.
struct Lease {
    ends: MonotonicTime,
    lost: bool,
}

struct Renewed {
    redis: MultiplexedConnection,
    key: String,
    token: String,
    lease: Arc<Mutex<Lease>>,
    task: Task,
    tells: bool,
}

impl Guard for Renewed {
    fn token(&self) -> Vec<u8> {
        self.token.clone().into()
    }

    fn deadline(&self) -> Option<Deadline> {
        Some(Deadline::Monotonic(self.lease.lock().expect("nobody panics").ends))
    }

    fn lost(&self) -> Option<bool> {
        self.tells.then(|| self.lease.lock().expect("nobody panics").lost)
    }

    async fn release(mut self) -> RedisResult<bool> {
        self.task.abort();
        compare(&mut self.redis, &self.key, &self.token, "DEL", "").await
    }
}

async fn compare(
    redis: &mut MultiplexedConnection,
    key: &str,
    token: &str,
    then: &str,
    millis: &str,
) -> RedisResult<bool> {
    let script = format!(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('{then}', KEYS[1]{millis}) end return 0"
    );
    redis::cmd("EVAL").arg(script).arg(1).arg(key).arg(token).query_async(redis).await
}

#[derive(Clone, Copy)]
struct Form {
    /// The guard says whether it is lost.
    tells: bool,
    /// The watchdog asks the node. Otherwise it moves the deadline and nothing else.
    asks: bool,
}

fn lock(form: Form) -> impl LockKind<SimEnv> {
    let take = move |mut redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let (key, token, ttl) = (wanted.resource, client.token(), wanted.ttl);
        let asked = client.monotonic().await;
        let mut set = redis::cmd("SET");
        set.arg(&key).arg(&token).arg("NX").arg("PX").arg(ttl.as_millis() as u64);
        let Some(_) = set.query_async::<Option<String>>(&mut redis).await? else { return Ok(None) };
        let lease = Arc::new(Mutex::new(Lease { ends: asked.saturating_add(ttl), lost: false }));
        let (machine, shared, mut to) = (client.clone(), lease.clone(), redis.clone());
        let (mine, held) = (key.clone(), token.clone());
        let task = client.spawn(async move {
            loop {
                machine.sleep(ttl / 3).await;
                let asked = machine.monotonic().await;
                let millis = format!(", {}", ttl.as_millis());
                let is_kept = !form.asks
                    || compare(&mut to, &mine, &held, "PEXPIRE", &millis).await.expect("the node answers");
                let mut lease = shared.lock().expect("nobody panics");
                if !is_kept {
                    lease.lost = true;
                    return;
                }
                lease.ends = asked.saturating_add(ttl);
            }
        });
        Ok(Some(Renewed { redis, key, token, lease, task, tells: form.tells }))
    };
    Existing::on_one_node("renewed", take)
}

fn world(program: &[&'static str]) -> World {
    World::new("renewed").nodes(["A"]).clients(2, program.iter().copied()).ttl(Duration::from_secs(3))
}

fn checked(world: &World, form: Form) -> Checked {
    check(world, lock(form)).seeds(1..=8).no_files().run().expect("it can be run")
}

#[test]
fn a_deadline_that_a_watchdog_moves_is_the_one_that_counts() {
    let world = world(&["acquire", "work 8s", "release"]);
    // The key is gone after 3 s, and the holder believes in it to the end.
    let moved = checked(&world, Form { tells: true, asks: false });
    assert_eq!(moved.count(Predicate::P2).violated, 8, "{moved}");
    // Read once, the deadline ended the claim before the other was granted the lock.
    let fixed = checked(&world, Form { tells: false, asks: false });
    assert_eq!(fixed.count(Predicate::P2).violated, 0, "{fixed}");
    let right = checked(&world, Form { tells: true, asks: true });
    right.assert_holds(&[Predicate::P1, Predicate::P2, Predicate::WR]);
}

/// How many writes were sent in a run, and how many claims were given up at the news that the lock is lost.
fn writes_and_losses(world: &World, form: Form) -> (usize, usize) {
    let engine = OwnLocks(builtin_locks().with(lock(form)));
    let scenario = world.scenario("renewed", engine.locks()).expect("the world makes sense");
    let report = engine.run(&scenario, Seed(1));
    let count =
        |is: fn(&EventKind) -> bool| report.history.events().iter().filter(|event| is(&event.what)).count();
    (
        count(|what| matches!(what, EventKind::WriteSent { .. })),
        count(|what| matches!(what, EventKind::ExpiryNoticed { .. })),
    )
}

#[test]
fn a_check_before_a_write_asks_for_the_deadline_as_it_is_now() {
    let world = world(&["acquire", "read", "work 8s", "check", "write", "release"]);
    assert_eq!(writes_and_losses(&world, Form { tells: true, asks: true }), (2, 0));
    assert_eq!(writes_and_losses(&world, Form { tells: false, asks: true }), (0, 2));
}

#[test]
fn a_holder_that_hears_that_its_lock_is_lost_writes_no_more() {
    let pause = Fault::pause("c1").at(When::event("c1", Mark::Grant).delay_by(Duration::from_millis(500)));
    let world = world(&["acquire", "read", "work 8s", "write", "release"])
        .fault(pause.lasting(Duration::from_secs(5)));
    assert_eq!(writes_and_losses(&world, Form { tells: true, asks: true }), (1, 1));
    assert_eq!(writes_and_losses(&world, Form { tells: false, asks: true }), (2, 0));
}

/// A watchdog of one's own renews in a program without an `extend` step.
#[test]
fn a_fault_can_wait_for_the_renewal_of_a_watchdog() {
    let pause = Fault::pause("c1").at(When::event("c1", Mark::Extending)).lasting(Duration::from_secs(5));
    let world = world(&["acquire", "read", "work 8s", "write", "release"]).fault(pause);
    assert_eq!(writes_and_losses(&world, Form { tells: true, asks: true }), (1, 1));
}

/// Its deadline is counted from each question.
struct TwoTongued(AtomicU64);

impl Guard for TwoTongued {
    fn token(&self) -> Vec<u8> {
        Vec::new()
    }

    fn deadline(&self) -> Option<Deadline> {
        Some(Deadline::Monotonic(MonotonicTime(self.0.fetch_add(1_000, Ordering::Relaxed))))
    }

    async fn release(self) -> RedisResult<bool> {
        Ok(true)
    }
}

#[test]
fn a_guard_that_tells_two_deadlines_at_once_is_told_what_to_return() {
    let take = async |_, _, _| Ok(Some(TwoTongued(AtomicU64::new(0))));
    let world = world(&["acquire", "release"]);
    let lock = Existing::on_one_node("two-tongued", take);
    let said = check(&world, lock).seeds(1..=2).no_files().run().expect("a panic is a finding").to_string();
    assert!(said.contains("the guard of the lock `two-tongued` tells two deadlines at once"), "{said}");
    assert!(said.contains("let `Guard::deadline` return what is kept"), "{said}");
}

/// A process that ends takes its watchdog with it, also where nobody aborts that: the key lasts for one more lease.
#[test]
fn a_watchdog_ends_with_the_process_of_a_holder_that_never_gives_the_lock_back() {
    let ttl = Duration::from_secs(2);
    let world = World::new("left").nodes(["A"]).ttl(ttl).obtain_free_within(ttl + Duration::from_secs(1));
    let world = world
        .client("c1", ["acquire", "work 5s"])
        .client("c2", ["acquire", "release"])
        .with(|scenario| scenario.clients[1].start = Some(When::from(Duration::from_millis(500))));
    let left = check(&world, lock(Form { tells: true, asks: true })).seeds(1..=20).no_files().run();
    let left = left.expect("it can be run");
    left.assert_holds(&[Predicate::P1, Predicate::LV]);
    assert_eq!(left.tally.grants, 40, "both had it, one after the other: {left}");
}
