//! A lock of one's own on turmoil's network: found, written down and replayed there, and refused if it draws what no
//! seed decides.

use std::path::Path;

use doublehold::check::{CheckError, Client, Effort, Existing, Guard, Nondeterminism, Wanted, World};
use doublehold::check::{check, check_on, replay, replay_on};
use doublehold_history::Predicate;
use doublehold_scenarios::report::Replay;
use doublehold_scenarios::{
    Engine as _, OwnLocks, Prepared as _, PreparedSim, TakesLocks as _, builtin_locks,
};
use doublehold_turmoil_engine::OwnLocksOnTurmoil;
use redis::aio::MultiplexedConnection;

struct Held(MultiplexedConnection, String, String);

/// Takes a key for a while. Giving it back takes it from whoever has it by then.
async fn take(
    mut redis: MultiplexedConnection,
    client: Client,
    wanted: Wanted,
) -> redis::RedisResult<Option<Held>> {
    let (key, token) = (wanted.resource, client.token());
    let mut set = redis::cmd("SET");
    set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
    let set: Option<String> = set.query_async(&mut redis).await?;
    Ok(set.map(|_| Held(redis, key, token)))
}

/// The same, with a choice at random: whether it asks once or twice.
async fn take_at_random(
    mut redis: MultiplexedConnection,
    client: Client,
    wanted: Wanted,
) -> redis::RedisResult<Option<Held>> {
    let asks_first = tokio::select! { () = async {} => true, () = async {} => false };
    if asks_first {
        let () = redis::cmd("EXISTS").arg(&wanted.resource).query_async(&mut redis).await?;
    }
    take(redis, client, wanted).await
}

impl Guard for Held {
    fn token(&self) -> Vec<u8> {
        self.2.clone().into()
    }

    async fn release(mut self) -> redis::RedisResult<bool> {
        redis::cmd("DEL").arg(&self.1).query_async(&mut self.0).await
    }
}

fn world() -> World {
    let world = World::new("a lock of one's own on two networks").nodes(["A"]);
    world.clients(2, ["acquire", "work 1s..3s", "release"]).weather("pauses-only")
}

#[test]
fn what_is_wrong_with_a_lock_is_found_written_down_and_replayed_on_turmoil() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let effort = Effort { replays_max: 200, ..Effort::default() };
    let on_sim =
        check(&world(), Existing::on_one_node("mine", take)).seeds(1..=60).no_files().effort(effort).run();
    let on_turmoil = check_on::<OwnLocksOnTurmoil>(&world(), Existing::on_one_node("mine", take))
        .seeds(1..=60)
        .files(folder.path())
        .effort(effort)
        .run()
        .expect("it can be run");
    let on_sim = on_sim.expect("it can be run");
    let found = on_turmoil.count(Predicate::P2).violated;
    assert!(found > 0, "{on_turmoil}");
    assert_eq!(found, on_sim.count(Predicate::P2).violated);

    let files = folder.path().read_dir().expect("a folder").map(|entry| entry.expect("a file").path());
    let plan =
        files.into_iter().find(|path| path.extension().is_some_and(|it| it == "plan")).expect("a plan");
    let again =
        replay_on::<OwnLocksOnTurmoil>(&plan, Existing::on_one_node("mine", take)).expect("a plan of ours");
    assert_eq!(again.replays, Some(Replay::Same));
    refuses_to_replay(&plan);
}

/// Faults are placed at steps, and those of a run on turmoil are others.
#[test]
fn a_seed_means_the_same_faults_for_a_lock_of_ones_own_on_both_engines() {
    let locks = builtin_locks().with(Existing::on_one_node("mine", take));
    let scenario = world().scenario("mine", locks.descriptors()).expect("a world");
    let on_sim = OwnLocks(locks.clone()).prepare(&scenario).expect("it can be run");
    let on_turmoil = OwnLocksOnTurmoil::from_locks(locks).prepare(&scenario).expect("it can be run");
    let faults = |prepared: &PreparedSim| -> Vec<_> {
        (1..=20).map(|seed| prepared.run(seed).scenario.faults.clone()).collect()
    };
    let drawn = faults(&on_sim);
    assert!(drawn.iter().flatten().count() > 20, "too few to compare");
    assert_eq!(faults(&on_turmoil), drawn);
}

fn refuses_to_replay(plan: &Path) {
    let refused = replay(plan, Existing::on_one_node("mine", take)).expect_err("it is of turmoil");
    assert_eq!(
        refused.to_string(),
        "the plan is of a run on the engine `turmoil`, and this is `sim`: name that engine in `replay_on`"
    );
}

/// tokio draws the first branch of a `select!` from the operating system.
#[test]
fn a_lock_that_chooses_by_a_select_is_refused_on_turmoil() {
    let lock = Existing::on_one_node("mine", take_at_random);
    let refused = check_on::<OwnLocksOnTurmoil>(&world(), lock).seeds(1..=60).no_files().run();
    assert!(matches!(refused, Err(CheckError::Nondeterminism(Nondeterminism::OtherRun(_)))), "{refused:?}");
}
