//! Locks that cheat the simulation do not pass: they sleep in real time, wait for real threads, read a real clock,
//! compare it with their lease, or keep a static. Honest ones pass, also while other threads take the processors away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use doublehold::check::{
    CheckError, Checked, Client, Existing, Guard, MultiplexedConnection, Nondeterminism, Predicate, Wanted,
    World, check,
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
        let script =
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
        redis::cmd("EVAL")
            .arg(script)
            .arg(1)
            .arg(&self.key)
            .arg(&self.token)
            .query_async(&mut self.redis)
            .await
    }
}

async fn take(
    mut redis: MultiplexedConnection,
    client: Client,
    wanted: Wanted,
    millis: u128,
) -> RedisResult<Option<Held>> {
    let (key, token) = (wanted.resource, client.token());
    let mut set = redis::cmd("SET");
    set.arg(&key).arg(&token).arg("NX").arg("PX").arg(millis as u64);
    let set: Option<String> = set.query_async(&mut redis).await?;
    Ok(set.map(|_| Held { redis, key, token }))
}

/// Checks a lock that does something of its own in each call, and says how long its key is to live.
fn checked(own: impl Fn(Duration) -> u128 + Copy + Send + Sync + 'static) -> Result<Checked, CheckError> {
    let lock = move |redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let millis = own(wanted.ttl);
        take(redis, client, wanted, millis).await
    };
    let world = World::new("two clients")
        .nodes(["A"])
        .clients(2, ["acquire", "read", "work 1s", "write", "release"])
        .rounds(3);
    check(&world, Existing::on_one_node("mine", lock)).seeds(1..=100).no_files().run()
}

/// The reason why a check does not pass, of which `own` is the cause.
#[track_caller]
fn refused(own: impl Fn(Duration) -> u128 + Copy + Send + Sync + 'static) -> Nondeterminism {
    match checked(own) {
        Err(CheckError::Nondeterminism(outside)) => outside,
        Err(other) => panic!("{other}"),
        Ok(checked) => panic!("it is green: {checked}"),
    }
}

#[test]
fn a_lock_that_sleeps_in_real_time_is_no_pass() {
    let sleeps = refused(|ttl| {
        thread::sleep(Duration::from_micros(300));
        ttl.as_millis()
    });
    assert!(matches!(sleeps, Nondeterminism::Waits(_)), "{sleeps}");
    let said = sleeps.to_string();
    assert!(said.starts_with("the lock's code waits in real time: the run from seed "), "{said}");
    assert!(said.ends_with("sleep, spawn and connect through its client"), "{said}");
}

#[test]
fn a_lock_that_waits_for_real_threads_is_no_pass() {
    let waits = refused(|ttl| thread::spawn(move || ttl.as_millis()).join().expect("a sum"));
    assert!(matches!(waits, Nondeterminism::Waits(_)), "{waits}");
}

#[test]
fn a_lock_that_reads_the_real_clock_is_no_pass() {
    let reads = refused(|ttl| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
        ttl.as_millis() + u128::from(now.subsec_micros() % 1_000)
    });
    assert!(matches!(reads, Nondeterminism::OtherRun(_)), "{reads}");
    let said = reads.to_string();
    assert!(said.starts_with("the lock's code is not deterministic: the run from seed "), "{said}");
    assert!(said.contains("reads a real clock or real randomness, or keeps state between runs"), "{said}");
}

#[test]
fn a_lock_that_counts_in_a_static_is_no_pass() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let counts = refused(|ttl| ttl.as_millis() + u128::from(CALLS.fetch_add(1, Ordering::Relaxed)));
    assert!(matches!(counts, Nondeterminism::OtherRun(_)), "{counts}");
}

/// Two threads that do nothing but take processors away, allocate and give back.
struct Load(Arc<AtomicBool>, Vec<thread::JoinHandle<()>>);

impl Load {
    fn begin() -> Load {
        let is_over = Arc::new(AtomicBool::new(false));
        let busy = |over: Arc<AtomicBool>| {
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let taken: Vec<Vec<u8>> = (1..200).map(|size| vec![1; size * 50]).collect();
                    assert_eq!(taken.len(), 199);
                }
            })
        };
        let threads = (0..2).map(|_| busy(is_over.clone())).collect();
        Load(is_over, threads)
    }

    fn end(self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.into_iter().for_each(|thread| thread.join().expect("it only allocates"));
    }
}

#[test]
fn an_honest_lock_passes_also_on_a_busy_machine() {
    let load = Load::begin();
    let all: Vec<Result<Checked, CheckError>> = (0..2).map(|_| checked(|ttl| ttl.as_millis())).collect();
    load.end();
    for checked in all {
        checked.expect("nothing reaches in").assert_holds(&[Predicate::P1, Predicate::WR]);
    }
}

/// A rule for a release, by the real time of the grant and the lease: true if the lock is to be given back.
type Back = fn(Instant, Duration) -> bool;

/// Held with a note of the real time; given back if that says so.
struct Timed(Held, Instant, Duration, Back);

impl Guard for Timed {
    fn token(&self) -> Vec<u8> {
        self.0.token()
    }

    async fn release(self) -> RedisResult<bool> {
        let Timed(held, since, lease, is_given_back) = self;
        if is_given_back(since, lease) { held.release().await } else { Ok(false) }
    }
}

/// Checks a lock that asks this when it is given back, with leases in whole seconds or not.
fn timed(is_given_back: Back, whole_seconds: bool) -> Result<Checked, CheckError> {
    let lock = move |redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let lease = if whole_seconds { Duration::from_secs(wanted.ttl.as_secs()) } else { wanted.ttl };
        let held = take(redis, client, wanted, lease.as_millis()).await?;
        Ok(held.map(|held| Timed(held, Instant::now(), lease, is_given_back)))
    };
    let program = ["acquire", "read", "work 1s", "write", "release"];
    let world = World::new("two clients").nodes(["A"]).clients(2, program);
    check(&world, Existing::on_one_node("timed", lock)).seeds(1..=20).no_files().run()
}

#[test]
fn a_lock_that_compares_real_time_with_its_lease_is_no_pass() {
    for whole_seconds in [false, true] {
        let outside = match timed(|since, lease| since.elapsed() < lease, whole_seconds) {
            Err(CheckError::Nondeterminism(outside)) => outside,
            Err(other) => panic!("{other}"),
            Ok(checked) => panic!("it is green: {checked}"),
        };
        assert_eq!(outside, Nondeterminism::RealTime);
        let said = outside.to_string();
        assert!(said.starts_with("the lock's code reads a real clock"), "{said}");
        assert!(said.ends_with("take the time from its client"), "{said}");
    }
}

/// It may be logged, for one.
#[test]
fn a_real_clock_that_is_read_and_decides_nothing_passes_also_on_a_busy_machine() {
    let load = Load::begin();
    let checked = timed(|since, _| since.elapsed() < Duration::MAX, false);
    load.end();
    checked.expect("nothing reaches in").assert_holds(&[Predicate::P1, Predicate::WR]);
}

/// A lock that comes back while it is searched, and spins once runs are made again: of 20 runs seven are.
#[test]
fn a_lock_that_does_not_come_back_when_it_is_run_again_is_given_up() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    let lock = |redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        if CALLS.fetch_add(1, Ordering::Relaxed) >= 25 {
            while !IS_OVER.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        }
        let millis = wanted.ttl.as_millis();
        take(redis, client, wanted, millis).await
    };
    let world = World::new("one client").nodes(["A"]).clients(1, ["acquire", "release"]);
    let check = check(&world, Existing::on_one_node("once", lock)).seeds(1..=20).no_files();
    let checked = check.patience(Duration::from_secs(2)).run();
    IS_OVER.store(true, Ordering::Relaxed);
    let Err(CheckError::Stuck(stuck)) = checked else { panic!("{checked:?}") };
    assert!(stuck.to_string().contains("has not come back"), "{stuck}");
    assert_ne!(stuck.seeds, [doublehold::check::Seed(20)], "the search itself came back");
}
