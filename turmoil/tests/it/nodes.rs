//! Nodes: clocks of their own, what a crash and a power loss leave, and what is told where something is wrong.

use std::io;
use std::time::Duration;

use doublehold_turmoil::{Guests, NodeConfig, Persistence};
use redis::aio::MultiplexedConnection;
use tokio::time::sleep;

use crate::{connect, with_redis};

const S: fn(u64) -> Duration = Duration::from_secs;

async fn get(redis: &mut MultiplexedConnection) -> redis::RedisResult<Option<String>> {
    redis::cmd("GET").arg("stock").query_async(redis).await
}

#[test]
fn each_host_has_a_wall_clock_of_its_own() {
    let guests = Guests::new(7);
    let mut sim = with_redis(&guests, NodeConfig::default());
    sim.client(
        "a",
        guests.process("a", |guest| async move {
            let mut redis = connect(&guest).await?;
            let (before, began) = (guest.wall(), tokio::time::Instant::now());
            sleep(S(5)).await;
            let ran = guest.wall().duration_since(before)?;
            assert_eq!(ran + S(60), began.elapsed() + S(3600), "an hour ahead and a minute back");
            let (seconds, _): (u64, u64) = redis::cmd("TIME").query_async(&mut redis).await?;
            let ours = guest.wall().duration_since(std::time::SystemTime::UNIX_EPOCH)?.as_secs();
            assert_eq!(ours - seconds, 3600 - 60 - 100);
            Ok(())
        }),
    );
    guests.set_ahead("a", S(1), S(3600));
    guests.set_back("a", S(2), S(60));
    guests.set_ahead("redis", S(3), S(100));
    guests.run(&mut sim).expect("the clocks differ by what they were set");
}

/// The rest of a key after a crash.
fn left_after(persistence: Persistence, power_loss: bool) -> Option<String> {
    let guests = Guests::new(7);
    let mut sim = with_redis(&guests, NodeConfig { persistence, ..NodeConfig::default() });
    let left = std::rc::Rc::<std::cell::RefCell<Option<String>>>::default();
    let seen = left.clone();
    sim.client(
        "a",
        guests.process("a", |guest| async move {
            let mut redis = connect(&guest).await?;
            let () = redis::cmd("SET").arg("stock").arg("a").query_async(&mut redis).await?;
            assert_eq!(get(&mut redis).await?.as_deref(), Some("a"));
            sleep(S(3)).await;
            *seen.borrow_mut() = get(&mut connect(&guest).await?).await?;
            Ok(())
        }),
    );
    let mut is_up = true;
    while !guests.step(&mut sim).expect("nothing fails") {
        if is_up && sim.elapsed() >= Duration::from_millis(900) {
            sim.crash("redis");
            if power_loss {
                guests.lose_power("redis");
            }
            sim.bounce("redis");
            is_up = false;
        }
    }
    left.take()
}

#[test]
fn a_crash_leaves_what_was_written_and_a_power_loss_what_was_synced() {
    let a = Some("a".to_owned());
    assert_eq!(left_after(Persistence::None, false), None);
    assert_eq!(left_after(Persistence::AofEverysec, false), a);
    assert_eq!(left_after(Persistence::AofEverysec, true), None);
    assert_eq!(left_after(Persistence::AofAlways, true), a);
}

#[test]
fn a_process_that_ends_closes_its_connections() {
    let guests = Guests::new(7);
    let mut sim = with_redis(&guests, NodeConfig::default());
    sim.client(
        "a",
        guests.process("a", |guest| async move {
            let mut redis = connect(&guest).await?;
            let () = redis::cmd("CLIENT").arg("SETNAME").arg("a").query_async(&mut redis).await?;
            // Sent, and not waited for: it still arrives.
            let mut raw = guest.connect("redis:6379").await?;
            tokio::io::AsyncWriteExt::write_all(&mut raw, b"SET last words\r\n").await?;
            Ok(())
        }),
    );
    sim.client(
        "b",
        guests.process("b", |guest| async move {
            let mut redis = connect(&guest).await?;
            sleep(S(3)).await;
            let clients: String = redis::cmd("CLIENT").arg("LIST").query_async(&mut redis).await?;
            assert_eq!(clients.lines().count(), 1, "{clients}");
            let last: String = redis::cmd("GET").arg("last").query_async(&mut redis).await?;
            assert_eq!(last, "words");
            Ok(())
        }),
    );
    guests.run(&mut sim).expect("only the second is connected in the end");
}

#[test]
fn a_simulation_that_does_not_run_its_processes_says_so() {
    let guests = Guests::new(7);
    let mut sim = turmoil::Builder::new().rng_seed(7).build();
    sim.client("a", guests.process("a", |_| async { Ok(()) }));
    let error = sim.run().expect_err("nobody runs the process");
    let said = "the process of `a` is not run: call `guests.run(&mut sim)` in place of `sim.run()`";
    assert_eq!(error.to_string(), said);
}

#[test]
fn a_process_that_fails_fails_the_simulation() {
    let guests = Guests::new(7);
    let mut sim = with_redis(&guests, NodeConfig::default());
    sim.client(
        "a",
        guests.process("a", |guest| async move {
            guest.connect("redis:1").await?;
            Ok(())
        }),
    );
    let error = guests.run(&mut sim).expect_err("no such port is open");
    assert!(
        error.downcast_ref::<io::Error>().is_some_and(|it| it.kind() == io::ErrorKind::ConnectionRefused)
    );
}

#[test]
#[should_panic(expected = "the code under test is wrong")]
fn a_panic_of_a_process_is_the_tests() {
    let guests = Guests::new(7);
    let mut sim = turmoil::Builder::new().rng_seed(7).build();
    sim.client("a", guests.process("a", |_| async { panic!("the code under test is wrong") }));
    let _ = guests.run(&mut sim);
}

#[test]
#[should_panic(expected = "`b` is no node or process of these guests")]
fn a_fault_of_nobody_is_refused() {
    let guests = Guests::new(7);
    let mut sim = with_redis(&guests, NodeConfig::default());
    guests.set_ahead("b", S(1), S(1));
    let _ = guests.run(&mut sim);
}

#[test]
#[should_panic(expected = "`redis` is a node, and only a process can be paused")]
fn a_pause_of_a_node_is_refused() {
    let guests = Guests::new(7);
    let mut sim = with_redis(&guests, NodeConfig::default());
    guests.pause("redis", S(1), S(1));
    let _ = guests.run(&mut sim);
}
