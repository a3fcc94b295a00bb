//! A world made in Rust: what is wrong with it is said without a file, and checks do not share their files.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use doublehold::check::{
    Check, CheckError, Client, Existing, Fault, Guard, Mark, MultiplexedConnection, Predicate, Wanted, When,
    World, check,
};
use redis::RedisResult;

/// Takes a lock with neither NX nor a release: two clients hold it as soon as they can.
struct Anybody;

impl Guard for Anybody {
    fn token(&self) -> Vec<u8> {
        b"anybody".into()
    }

    async fn release(self) -> RedisResult<bool> {
        Ok(true)
    }
}

async fn take(mut redis: MultiplexedConnection, _: Client, wanted: Wanted) -> RedisResult<Option<Anybody>> {
    redis::cmd("SET").arg(wanted.resource).arg("anybody").query_async::<String>(&mut redis).await?;
    Ok(Some(Anybody))
}

fn of(world: &World, lock: &'static str) -> Check {
    check(world, Existing::on_one_node(lock, take)).seeds(1..=2)
}

fn two(world: World) -> World {
    world.nodes(["A"]).clients(2, ["acquire", "read", "work 1s", "write", "release"])
}

/// Why this world cannot be used.
fn refused(world: World) -> String {
    match of(&world, "mine").no_files().run() {
        Err(CheckError::World(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_wrong_with_a_world_is_said_without_a_line_of_a_file() {
    let pause = |host: &str| Fault::pause(host).lasting(Duration::from_secs(1));
    for (world, says) in [
        (
            two(World::new("mine")).fault(pause("c9")),
            "cannot use `mine`: `faults.0.host`: there is no host `c9`\nhint: did you mean `c1`?",
        ),
        (
            two(World::new("mine")).fault(Fault::pause("c1")),
            "cannot use `mine`: `faults.0` has no `for`\nhint: say how long: `.lasting(Duration::from_secs(12))`",
        ),
        (
            two(World::new("mine")).fault(pause("c1").at(When::event("c1", Mark::Check))),
            "cannot use `mine`: `faults.0.at`: `c1's check` cannot happen\nhint: the program of `c1` has no `check` \
             step: add one",
        ),
        (
            World::new("mine").clients(2, ["acquire", "release"]),
            "cannot use `mine`: there is no node\nhint: add one: `.nodes([\"A\"])`",
        ),
        (
            World::new("mine").nodes(["A"]),
            "cannot use `mine`: the scenario has no clients\nhint: add some: \
             `.clients(2, [\"acquire\", \"work 1s\", \"release\"])`",
        ),
    ] {
        assert_eq!(refused(world), says);
    }
}

#[test]
fn a_lock_over_one_connection_in_a_world_of_two_nodes_is_told_what_runs_on_several() {
    let said = refused(two(World::new("mine")).nodes(["B"]));
    assert_eq!(
        said,
        "cannot use `mine`: the `mine` lock runs on one node, and there are 2\nhint: name one node, or let the lock \
         run on several: `Existing::on_nodes`, or `Nodes::Independent` in its descriptor, says so"
    );
}

#[test]
fn a_replicated_lock_in_a_world_without_a_master_is_told_how_to_name_one() {
    let world = World::new("mine").nodes(["M", "R1"]).clients(1, ["acquire", "release"]);
    let refused = world.scenario("replicated", doublehold_lockimpl::descriptors()).expect_err("no master");
    assert!(refused.to_string().contains("`.with(|scenario| scenario.nodes.master = Some(HostIndex(0)))`"));
}

#[test]
fn the_fault_that_nobody_gave_a_time_is_shown_at_the_beginning() {
    let checked =
        of(&two(World::new("mine")).fault(Fault::clock_step("A", 1_000_000)), "mine").no_files().run();
    let said = checked.expect("it can be run").to_string();
    assert!(said.contains("0.000 s  A has its wall clock stepped by +1 ms, at the beginning"), "{said}");
}

#[test]
fn waits_are_judged_by_the_bound_that_a_world_states() {
    let lv = |world: World| {
        let counted = of(&world, "mine").no_files().run().expect("it can be run").count(Predicate::LV);
        (counted.holds, counted.inconclusive)
    };
    assert_eq!(lv(two(World::new("mine"))), (0, 2), "no bound, no answer");
    assert_eq!(lv(two(World::new("mine")).obtain_within(Duration::from_secs(30))), (2, 0));
    assert_eq!(lv(two(World::new("mine")).obtain_free_within(Duration::from_secs(30))), (2, 0));
}

#[test]
fn names_that_are_alike_do_not_share_files() {
    let folder = std::env::temp_dir().join(format!("doublehold-own-world-{}", std::process::id()));
    let mut files: Vec<PathBuf> = Vec::new();
    for (world, lock) in
        [("a b", "mine"), ("a-b", "mine"), ("a_b", "mine"), ("a/b", "mine"), ("a b", "mi-ne")]
    {
        let checked = of(&two(World::new(world)), lock).files(&folder).run().expect("it can be run");
        files.extend(checked.bad.expect("two clients hold it").files);
    }
    assert_eq!(files.len(), 10);
    for (index, file) in files.iter().enumerate() {
        assert!(file.exists() && !files[..index].contains(file), "{files:?}");
        let name = file.file_name().expect("a file").to_string_lossy();
        assert!(
            name.starts_with("own_world.names_that_are_alike_do_not_share_files."),
            "tests share no files: {name}"
        );
    }
    std::fs::remove_dir_all(folder).expect("it was there");
}

/// Panics in every run, at one of two places.
async fn panics(_: MultiplexedConnection, client: Client, _: Wanted) -> RedisResult<Option<Anybody>> {
    let mut byte = [0];
    client.random(&mut byte);
    assert!(byte[0] < 128, "a large number");
    panic!("a small number");
}

#[test]
fn of_panics_at_one_place_the_first_is_shown() {
    const INSIDE: &str = "DOUBLEHOLD_TEST_PANICS";
    if std::env::var_os(INSIDE).is_some() {
        let lock = Existing::on_one_node("panics", panics);
        let checked = check(&two(World::new("mine")), lock).seeds(1..=100).no_files().run();
        assert_eq!(checked.expect("it can be run").tally.panicked.map(|(_, runs)| runs), Some(100));
        return;
    }
    let inside = Command::new(std::env::current_exe().expect("this test"))
        .args(["own_world::of_panics_at_one_place_the_first_is_shown", "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("it runs again");
    let said = String::from_utf8(inside.stderr).expect("text");
    assert!(inside.status.success(), "{said}");
    for what in ["panicked at", "a large number", "a small number"] {
        let count = if what == "panicked at" { 2 } else { 1 };
        assert_eq!(said.matches(what).count(), count, "{what}: {said}");
    }
}
