//! Somebody's own lock under a check: flaws are found, and code that cannot be run says why.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use doublehold::check::{
    Acquired, BoxLock, Check, CheckError, Checked, Client, ConfigError, Count, Descriptor, Env, Existing,
    Fault, Grant, Guard, Lock, LockKind, Mark, MultiplexedConnection, NodeName, Nodes, Nondeterminism,
    Predicate, Refusal, Released, Seed, SimEnv, Switches, Task, Token, Wanted, When, World, check, replay,
};
use redis::RedisResult;

fn two_clients() -> World {
    World::new("two clients")
        .nodes(["A"])
        .clients(2, ["acquire", "read", "work 1s", "write", "release"])
        .rounds(3)
}

/// Takes the lock by whatever command a test gives, and gives it back by a plain `DEL`.
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

/// A lock that forgets NX, as a lock's own author may write it: over `Env`.
struct Forgetful<E: Env> {
    env: E,
    node: NodeName,
}

impl<E: Env> Lock for Forgetful<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        let token = Token::draw(&self.env);
        let Ok(mut redis) = self.env.connect(&self.node).await else {
            return Acquired::Refused(Refusal::Unreachable("the node".into()));
        };
        let mut set = redis::cmd("SET");
        set.arg(resource).arg(token.as_bytes()).arg("PX").arg(ttl.as_millis() as u64);
        match set.query_async::<String>(&mut redis).await {
            Ok(_) => Acquired::Granted(Grant::new(resource, token)),
            Err(_) => Acquired::Refused(Refusal::Taken),
        }
    }

    async fn release(&mut self, _: &Grant) -> Released {
        Released::Released
    }
}

struct ForgetfulKind;

impl<E: Env> LockKind<E> for ForgetfulKind {
    fn descriptor(&self) -> Descriptor {
        Descriptor::from_config::<()>("forgetful", "SET without NX", "this test", Nodes::One)
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, _: &Switches) -> Result<BoxLock, ConfigError> {
        Ok(BoxLock::new(Forgetful { env, node: nodes[0].clone() }))
    }
}

#[test]
fn a_lock_that_forgets_nx_is_found_out_and_its_plan_replays() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("forgetful");
    let checked =
        check(&two_clients(), ForgetfulKind).seeds(1..=20).files(&folder).run().expect("it can be run");
    assert!(checked.count(Predicate::P1).violated > 10, "{checked}");
    assert!(!checked.holds(&[Predicate::P1]));

    let bad = checked.bad.as_ref().expect("the first bad run is shown");
    assert_eq!(Some(bad.report.seed), checked.tally.first());
    let said = checked.to_string();
    assert!(said.contains("c1 and c2 both held") || said.contains("c2 and c1 both held"), "{said}");
    let line = format!(
        "replay: DOUBLEHOLD_SEED={} cargo test own_lock::a_lock_that_forgets_nx_is_found_out_and_its_plan_replays",
        bad.report.seed
    );
    assert!(said.contains(&line), "{said}");

    let plan = bad
        .files
        .iter()
        .find(|file| file.extension().is_some_and(|it| it == "plan"))
        .expect("there is a plan");
    let again = replay(plan, ForgetfulKind).expect("it replays");
    assert_eq!(again.trace_hash, bad.report.trace_hash);
    assert_eq!(again.is_same_run(), Some(true));
}

#[test]
fn a_plan_of_another_lock_is_refused_by_its_name() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("another");
    let checked =
        check(&two_clients(), ForgetfulKind).seeds(1..=20).files(&folder).run().expect("it can be run");
    let plan = &checked.bad.expect("it is flawed").files[1];
    let error = replay(plan, plain("mine", async |_, _, _| Ok(None::<Held>)))
        .expect_err("it is no plan of this lock");
    assert!(
        error.to_string().contains("the plan is of the lock `forgetful`, which is not known here"),
        "{error}"
    );
    assert!(error.to_string().contains("doublehold::check::replay"), "{error}");
}

fn plain<F, Taken>(name: &'static str, take: F) -> impl LockKind<SimEnv>
where
    F: Fn(MultiplexedConnection, Client, Wanted) -> Taken + Send + Sync + 'static,
    Taken: Future<Output = RedisResult<Option<Held>>> + Send + 'static,
{
    Existing::on_one_node(name, take)
}

fn few(world: &World, lock: impl LockKind<SimEnv>) -> Check {
    check(world, lock).seeds(1..=8).no_files()
}

/// A lock that is right, as far as these worlds go.
async fn set_nx(
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

#[test]
fn a_panic_in_a_lock_is_what_its_run_came_to() {
    let panics = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        assert!(client.wall().await.0 < 0, "the year is wrong");
        set_nx(redis, client, wanted).await
    };
    let checked = few(&two_clients(), plain("panics", panics)).run().expect("it can be run");
    assert_eq!(checked.tally.panicked, Some((Seed(1), 8)));
    assert!(!checked.holds(&[Predicate::P1]), "a run that panicked shows nothing");
    let said = checked.to_string();
    assert!(said.contains("the lock panicked in 8 of these runs, first from seed 1"), "{said}");
    assert!(said.contains("the lock of c") && said.contains("panicked: the year is wrong"), "{said}");
    assert!(said.contains("replay: DOUBLEHOLD_SEED=1 cargo test own_lock::a_panic_in_a_lock"), "{said}");
}

#[test]
fn a_panic_in_a_watchdog_is_what_its_run_came_to() {
    let watched = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        let dog = client.clone();
        client.spawn(async move {
            dog.sleep(Duration::from_millis(300)).await;
            panic!("nobody fed the dog");
        });
        set_nx(redis, client, wanted).await
    };
    let checked = few(&two_clients(), plain("watched", watched)).run().expect("it can be run");
    assert_eq!(checked.tally.panicked, Some((Seed(1), 8)));
    assert!(checked.to_string().contains("nobody fed the dog"), "{checked}");
}

#[test]
fn code_that_connects_through_tokio_is_told_what_to_do() {
    let connects = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        tokio::net::TcpStream::connect("127.0.0.1:1").await?;
        set_nx(redis, client, wanted).await
    };
    let checked = few(&two_clients(), plain("connects", connects)).run().expect("it can be run");
    assert_eq!(checked.tally.panicked, Some((Seed(1), 8)));
    let said = checked.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("it wants of a tokio runtime what a simulated machine has not"), "{said}");
    assert!(said.contains("spawn and connect through the client that the lock is given"), "{said}");
}

/// Panics when it is dropped, as a guard does that wants to spawn its release on a runtime that is not there.
struct Dropped(Option<Held>);

impl Drop for Dropped {
    fn drop(&mut self) {
        assert!(self.0.is_none(), "dropped while it was held");
    }
}

impl Guard for Dropped {
    fn token(&self) -> Vec<u8> {
        self.0.as_ref().map_or_else(Vec::new, Guard::token)
    }

    async fn release(mut self) -> RedisResult<bool> {
        let held = self.0.take().expect("it is released once");
        held.release().await
    }
}

#[test]
fn a_panic_in_a_drop_is_what_its_run_came_to_also_when_the_process_crashes() {
    let take = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        Ok(set_nx(redis, client, wanted).await?.map(|held| Dropped(Some(held))))
    };
    let crash = Fault::crash("c1").at(When::event("c1", Mark::Grant)).lasting(Duration::from_secs(1));
    let lock = Existing::on_one_node("dropped", take);
    let checked = few(&two_clients().fault(crash), lock).run().expect("it can be run");
    assert_eq!(checked.tally.panicked, Some((Seed(1), 8)), "{checked}");
    assert!(checked.to_string().contains("panicked: dropped while it was held"), "{checked}");
}

/// Renews its lease by a task, over the connection of its lock.
struct Renewed {
    held: Held,
    task: Task,
}

impl Guard for Renewed {
    fn token(&self) -> Vec<u8> {
        self.held.token()
    }

    async fn release(self) -> RedisResult<bool> {
        self.task.abort();
        compare(&self.held, "DEL", None).await
    }
}

async fn compare(held: &Held, then: &str, millis: Option<u64>) -> RedisResult<bool> {
    let script = format!(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('{then}', KEYS[1]{}) end return 0",
        millis.map_or(String::new(), |millis| format!(", {millis}"))
    );
    let mut redis = held.redis.clone();
    redis::cmd("EVAL").arg(script).arg(1).arg(&held.key).arg(&held.token).query_async(&mut redis).await
}

fn renewed(compares: bool) -> impl LockKind<SimEnv> {
    let take = move |redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let millis = wanted.ttl.as_millis() as u64;
        let Some(held) = set_nx(redis, client.clone(), wanted).await? else { return Ok(None) };
        let mine = Held { redis: held.redis.clone(), key: held.key.clone(), token: held.token.clone() };
        let machine = client.clone();
        let task = client.spawn(async move {
            loop {
                machine.sleep(Duration::from_millis(900)).await;
                if compares {
                    compare(&mine, "PEXPIRE", Some(millis)).await.expect("the node answers");
                } else {
                    let mut renew = redis::cmd("PEXPIRE");
                    renew.arg(&mine.key).arg(millis);
                    renew.query_async::<i64>(&mut mine.redis.clone()).await.expect("the node answers");
                }
            }
        });
        Ok(Some(Renewed { held, task }))
    };
    Existing::on_one_node("renewed", take)
}

#[test]
fn what_a_watchdog_sends_belongs_to_the_call_that_started_it() {
    let world = World::new("long work")
        .nodes(["A"])
        .clients(2, ["acquire", "work 4s..6s", "release"])
        .rounds(2)
        .ttl(Duration::from_secs(3));
    let right = few(&world, renewed(true)).run().expect("it can be run");
    assert_eq!(
        right.count(Predicate::WR).holds,
        8,
        "a watchdog that compares extends its own key only: {right}"
    );
    // It sleeps through its lease, and then renews whatever is there.
    let pause = Fault::pause("c1").at(When::event("c1", Mark::Grant)).lasting(Duration::from_secs(6));
    let wrong = few(&world.clone().fault(pause), renewed(false)).run().expect("it can be run");
    assert!(wrong.count(Predicate::WR).violated > 0, "{wrong}");
}

#[test]
fn a_lock_that_counts_in_a_static_is_said_to_be_another_each_time() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let counts = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        client.sleep(Duration::from_millis(CALLS.fetch_add(1, Ordering::Relaxed))).await;
        set_nx(redis, client, wanted).await
    };
    let world = two_clients().ttl(Duration::from_millis(900));
    let Err(CheckError::Nondeterminism(Nondeterminism::OtherRun(_))) =
        few(&world, plain("counts", counts)).run()
    else {
        panic!("it is not said")
    };
}

/// Ends the loop below when its test is over, so that no thread is left to spin.
static ENOUGH: AtomicBool = AtomicBool::new(false);

#[test]
fn code_that_never_comes_back_is_said_to() {
    let spins = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        while !ENOUGH.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        set_nx(redis, client, wanted).await
    };
    let stuck = few(&two_clients(), plain("spins", spins)).patience(Duration::from_millis(500)).run();
    ENOUGH.store(true, Ordering::Relaxed);
    let Err(CheckError::Stuck(stuck)) = stuck else { panic!("{stuck:?}") };
    assert!(stuck.seeds.contains(&Seed(1)), "{stuck}");
    assert!(
        stuck.to_string().contains("not come back: the lock loops without ever awaiting anything"),
        "{stuck}"
    );
}

#[test]
fn code_that_waits_for_ever_ends_its_run_and_nothing_holds_for_it() {
    let waits = async |_, _, _| std::future::pending::<RedisResult<Option<Held>>>().await;
    let world = two_clients().with(|scenario| scenario.limits.obtain_within = Some(Duration::from_secs(5)));
    let checked = few(&world, plain("waits", waits)).run().expect("it can be run");
    assert!(!checked.holds(&[Predicate::LV]), "{checked}");
    assert_eq!(checked.count(Predicate::LV).holds, 0, "{checked}");
}

#[test]
fn a_check_in_which_the_fault_never_strikes_is_no_pass() {
    let never = Fault::pause("c1").at(Duration::from_secs(3000)).lasting(Duration::from_secs(12));
    let checked = few(&two_clients().fault(never), plain("mine", set_nx)).run().expect("it can be run");
    assert!(
        matches!(checked.count(Predicate::P1), Count { holds: 0, violated: 0, inconclusive: 8, .. }),
        "{checked}"
    );
    assert!(
        checked.to_string().contains("inconclusive, first from seed 1: the fault `c1 pauses for 12 s"),
        "{checked}"
    );
    assert!(!checked.holds(&[Predicate::P1]));
}

/// As in many services: the key has a prefix that the lock's name has not.
async fn with_prefix(
    redis: MultiplexedConnection,
    client: Client,
    wanted: Wanted,
) -> RedisResult<Option<Held>> {
    let resource = format!("lock:{}", wanted.resource);
    set_nx(redis, client, Wanted { resource, ..wanted }).await
}

#[test]
fn a_lock_whose_key_nobody_saw_says_nothing_about_wrong_releases() {
    let checked = few(&two_clients(), plain("prefix", with_prefix)).run().expect("it can be run");
    assert!(
        matches!(checked.count(Predicate::WR), Count { holds: 0, violated: 0, inconclusive: 8, .. }),
        "{checked}"
    );
    assert!(checked.to_string().contains("say how the lock's key is named"), "{checked}");
    assert_eq!(checked.count(Predicate::P1).holds, 8, "the rest is judged: {checked}");

    let named = Existing::on_one_node("prefix", with_prefix).key(|name| format!("lock:{name}"));
    let checked = few(&two_clients(), named).run().expect("it can be run");
    assert_eq!(checked.count(Predicate::WR).holds, 8, "{checked}");
}

#[test]
fn what_a_world_says_is_checked_as_a_file_is() {
    let refused =
        |world: World| few(&world, plain("mine", set_nx)).run().expect_err("it makes no sense").to_string();
    let error = refused(World::new("odd").nodes(["A"]).client("c1", ["acquire", "relese"]));
    assert!(error.contains("did you mean `release`?"), "{error}");
    let pause = Fault::pause("c9").at(Duration::from_secs(1)).lasting(Duration::from_secs(1));
    let error = refused(two_clients().fault(pause));
    assert!(error.contains("c9"), "{error}");
    let error = refused(two_clients().ttl(Duration::ZERO));
    assert!(error.contains("`lock.ttl` is zero"), "{error}");
}

#[test]
fn a_check_comes_out_alike_each_time() {
    let run = || -> Checked {
        let lock = plain("mine", set_nx);
        let world = two_clients().ttl(Duration::from_millis(900));
        few(&world, lock).run().expect("it can be run")
    };
    let (one, another) = (run(), run());
    assert!(one.tally.first().is_some(), "work takes longer than some leases: {one}");
    assert_eq!(one.to_string(), another.to_string());
}

/// Run by the test below, in a process of its own.
#[expect(clippy::print_stdout, reason = "the other process reads it")]
#[test]
fn prints_its_check() {
    let checked = few(&two_clients(), plain("mine", set_nx)).run();
    println!("{}", checked.map_or_else(|error| error.to_string(), |checked| checked.to_string()));
}

/// What it prints with these variables set.
fn said_with(variables: &[(&str, &str)]) -> String {
    let mut run = Command::new(std::env::current_exe().expect("a test has a file"));
    run.args(["--exact", "own_lock::prints_its_check", "--nocapture"]).envs(variables.iter().copied());
    String::from_utf8(run.output().expect("it runs").stdout).expect("it is text")
}

#[test]
fn one_seed_can_be_asked_for_from_outside() {
    let said = |seed| said_with(&[("DOUBLEHOLD_SEED", seed)]);
    let one = said("77");
    assert!(one.contains("the lock `mine`, 1 run, seed 77"), "{one}");
    assert!(one.contains("c1 is granted"), "its picture is shown, although nothing is wrong: {one}");
    let none = said("many");
    assert!(
        none.contains("the variable DOUBLEHOLD_SEED is `many`: set it to the number of a seed, or unset it"),
        "{none}"
    );
}

#[test]
fn more_seeds_or_a_time_can_be_asked_for_from_outside() {
    let some = said_with(&[("DOUBLEHOLD_SEEDS", "12")]);
    assert!(some.contains("the lock `mine`, 12 runs, seeds 1 to 12"), "{some}");
    let range = said_with(&[("DOUBLEHOLD_SEEDS", "40..=42"), ("DOUBLEHOLD_SEED", "")]);
    assert!(range.contains("the lock `mine`, 3 runs, seeds 40 to 42"), "{range}");
    // One block of seeds at least, and more than the eight that the check says, however slow the machine.
    let timed = said_with(&[("DOUBLEHOLD_TIME", "1ms")]);
    assert!(timed.contains(" runs, seeds 1 to ") && !timed.contains("seeds 1 to 8\n"), "{timed}");
    let both = said_with(&[("DOUBLEHOLD_TIME", "1s"), ("DOUBLEHOLD_SEED", "7")]);
    let refused = "the variables DOUBLEHOLD_SEED and DOUBLEHOLD_TIME are both set: unset one of them";
    assert!(both.contains(refused), "{both}");
}
