//! The job of a queue: who has it, when a check hands it on, and what the scripts do, once more in Rust.

use std::time::Duration;

use redis::Value;

use super::fake::World;
use super::node::Node;
use crate::locks::job::{CHECK, EXTEND, FINISH, TAKE};
use crate::{Acquired, BoxLock, Extended, Grant, Lock, NodeName, Refusal, Registry, Released, Switches};

const TTL: Duration = Duration::from_secs(30);
const INTERVAL: Duration = Duration::from_secs(30);

/// Runs a script of a job's lock; nothing if it is none.
pub(super) fn run_script(node: &mut Node, args: &[Vec<u8>], words: &[String], now: u64) -> Option<Value> {
    let (hash, [lock, active, stalled, check]) =
        (words[1].as_str(), [&words[3], &words[4], &words[5], &words[6]]);
    let ours = node.keys.get(lock.as_str()).is_some_and(|key| key.value == args[7]);
    const FOR_EVER: &str = "1000000000";
    if hash == TAKE.hash() {
        if node.keys.contains_key(active.as_str()) {
            return Some(Value::Int(0));
        }
        node.set(active, b"1", FOR_EVER, now);
        node.set(lock, &args[7], &words[8], now);
    } else if hash == EXTEND.hash() {
        if !ours {
            return Some(Value::Int(0));
        }
        node.set(lock, &args[7], &words[8], now);
        node.keys.remove(stalled.as_str());
    } else if hash == FINISH.hash() {
        if !ours {
            return Some(Value::Int(0));
        }
        for key in [lock, active, stalled] {
            node.keys.remove(key.as_str());
        }
    } else if hash == CHECK.hash() {
        if node.keys.contains_key(check.as_str()) {
            return Some(Value::Int(0));
        }
        node.set(check, b"1", &words[7], now);
        let suspected = node.keys.remove(stalled.as_str()).is_some();
        if suspected && !node.keys.contains_key(lock.as_str()) {
            node.keys.remove(active.as_str());
        }
        if node.keys.contains_key(active.as_str()) {
            node.set(stalled, b"1", FOR_EVER, now);
        }
    } else {
        return None;
    }
    Some(Value::Int(1))
}

fn worker(world: &World) -> BoxLock {
    let nodes = vec![NodeName::new("a")];
    Registry::builtin().build("job", world.clone(), nodes, &Switches::new()).expect("it can be built")
}

fn taken(world: &World, worker: &mut BoxLock) -> Option<Grant> {
    match world.run(worker.acquire("mail", TTL)) {
        Acquired::Granted(grant) => Some(grant),
        Acquired::Refused(Refusal::Taken) => None,
        other => panic!("the node answers: {other:?}"),
    }
}

#[test]
fn a_job_without_a_lock_is_handed_on_by_the_second_check_and_not_before() {
    let world = World::with_nodes(&["a"]);
    let (mut first, mut second) = (worker(&world), worker(&world));
    let held = taken(&world, &mut first).expect("the job waits");
    // The first worker has looked when nothing was active, which counts as a look for all.
    world.sleep(INTERVAL + Duration::from_secs(1));
    assert_eq!(taken(&world, &mut second), None, "the lock has ended, and the job is only suspected");
    world.sleep(INTERVAL - Duration::from_secs(2));
    assert_eq!(taken(&world, &mut second), None, "nobody has looked again");
    world.sleep(Duration::from_secs(3));
    let stolen = taken(&world, &mut second).expect("the second look finds no lock");
    assert_eq!(world.run(first.release(&held)), Released::NotOwner, "the first worker is told at its end");
    assert_eq!(world.run(second.release(&stolen)), Released::Released);
    assert!(taken(&world, &mut first).is_some(), "the job is there again");
}

#[test]
fn a_worker_that_extends_between_two_checks_is_not_suspected_any_more() {
    let world = World::with_nodes(&["a"]);
    let (mut first, mut second) = (worker(&world), worker(&world));
    let mut held = taken(&world, &mut first).expect("the job waits");
    for _ in 0..8 {
        world.sleep(TTL / 2);
        let extended = world.run(first.extend(&mut held, TTL));
        assert_eq!(extended, Extended::Extended { deadline: None });
        assert_eq!(taken(&world, &mut second), None);
    }
    world.sleep(TTL + Duration::from_secs(1));
    let late = world.run(first.extend(&mut held, TTL));
    assert_eq!(late, Extended::NotOwner, "an extension does not set a key again that is gone");
}
