//! The lock that is a hash: whose field it is, what a thread may take again, and what the scripts do, once more in
//! Rust.

use std::time::Duration;

use redis::Value;

use super::fake::{World, ms};
use super::node::{Key, Node, Replies};
use crate::locks::hash::{ACQUIRE, EXTEND, RELEASE};
use crate::{
    Acquired, BoxLock, Doubt, Extended, Grant, Lock, NodeName, Refusal, Registry, Released, Switches,
    TooFewReplicas,
};

const TTL: Duration = ms(10_000);

/// Runs a script of the hash; nothing if it is none. A hash of one field is kept as `field=count`.
pub(super) fn run_script(node: &mut Node, args: &[Vec<u8>], words: &[String], now: u64) -> Option<Value> {
    let (hash, key) = (words[1].as_str(), words[3].as_str());
    let held = node.keys.get(key).and_then(field_and_count);
    let set = |node: &mut Node, field: &str, count: u64, millis: &str| {
        node.set(key, format!("{field}={count}").as_bytes(), millis, now);
    };
    let reply = if hash == ACQUIRE.hash() {
        let (field, ttl) = (&words[4], &words[5]);
        match held {
            Some((owner, _)) if owner != *field => Value::Int(5_000),
            held => {
                set(node, field, held.map_or(0, |(_, count)| count) + 1, ttl);
                Value::Nil
            }
        }
    } else if hash == EXTEND.hash() {
        let (field, ttl) = (&words[4], &words[5]);
        match held {
            Some((owner, count)) if owner == *field => {
                set(node, field, count, ttl);
                Value::Int(1)
            }
            _ => Value::Int(0),
        }
    } else if hash == RELEASE.hash() {
        let (field, ttl) = (&words[5], &words[6]);
        match held {
            Some((owner, 1)) if owner == *field => {
                node.keys.remove(key);
                node.publish(&args[4], b"released");
                Value::Int(1)
            }
            Some((owner, count)) if owner == *field => {
                set(node, field, count - 1, ttl);
                Value::Int(1)
            }
            _ => Value::Int(0),
        }
    } else {
        return None;
    };
    Some(reply)
}

fn field_and_count(key: &Key) -> Option<(String, u64)> {
    let text = String::from_utf8(key.value.clone()).ok()?;
    let (field, count) = text.split_once('=')?;
    Some((field.to_owned(), count.parse().ok()?))
}

fn world() -> World {
    let world = World::with_nodes(&["a", "b", "c"]);
    for node in ["a", "b", "c"] {
        world.node(node, |node| {
            node.scripts.extend([&ACQUIRE, &RELEASE, &EXTEND].map(|script| script.hash().to_owned()));
        });
    }
    world
}

fn lock(world: &World, chosen: &Switches) -> BoxLock {
    Registry::builtin().build("hash", world.clone(), vec![NodeName::new("a")], chosen).expect("a lock")
}

fn granted(outcome: Acquired) -> Grant {
    match outcome {
        Acquired::Granted(grant) => grant,
        other => panic!("not granted: {other:?}"),
    }
}

fn count(world: &World) -> Option<(String, u64)> {
    world.node("a", |node| node.keys.get("stock").and_then(field_and_count))
}

#[test]
fn threads_of_a_process_have_one_id_and_a_number_each() {
    let world = world();
    let [mut first, mut second] = [(); 2].map(|()| lock(&world, &Switches::new()));
    let stock = granted(world.run(first.acquire("stock", TTL))).token.to_string();
    let orders = granted(world.run(second.acquire("orders", TTL))).token.to_string();
    let (id, thread) = stock.split_once(':').expect("an id and a thread");
    assert_eq!((id.len(), thread), (32, "1"));
    assert_eq!(orders, format!("{id}:2"));
    assert_eq!(world.run(second.acquire("stock", TTL)), Acquired::Refused(Refusal::Taken));
}

#[test]
fn a_lost_reply_leaves_the_count_one_too_high_unless_it_is_counted_down() {
    for (counts_down, left) in [(false, Some(1)), (true, None)] {
        let world = world();
        let mut lock = lock(&world, &Switches::new().with("release_on_failure", counts_down));
        world.node("a", |node| node.replies = Replies::Vanish);
        world.at(ms(1_000), |state| {
            let node = state.nodes.get_mut("a").expect("a node");
            node.replies = Replies::Arrive;
        });
        assert_eq!(world.run(lock.acquire("stock", TTL)), Acquired::Unknown(Doubt::Timeout));
        let grant = granted(world.run(lock.acquire("stock", TTL)));
        assert_eq!(world.run(lock.release(&grant)), Released::Released);
        assert_eq!(count(&world).map(|(_, count)| count), left);
    }
}

#[test]
fn an_inner_acquire_without_a_reply_never_counts_down_the_outer_hold() {
    let world = world();
    let mut lock = lock(&world, &Switches::new().with("release_on_failure", true));
    let outer = granted(world.run(lock.acquire("stock", TTL)));
    world.node("a", |node| node.unreachable = true);
    world.at(ms(1_000), |state| state.nodes.get_mut("a").expect("a node").unreachable = false);
    assert_eq!(world.run(lock.acquire("stock", TTL)), Acquired::Unknown(Doubt::Timeout));
    assert_eq!(count(&world).map(|(_, count)| count), Some(1));
    assert_eq!(world.run(lock.release(&outer)), Released::Released);
    assert_eq!(count(&world), None);
}

#[test]
fn an_acquire_that_too_few_replicas_have_is_counted_down() {
    for (synced, is_granted) in [("any", true), ("all", false)] {
        let world = world();
        world.node("a", |node| node.acknowledging = 1);
        let nodes = ["a", "b", "c"].map(NodeName::new).to_vec();
        let chosen = Switches::new().with("synced", synced);
        let mut lock =
            Registry::builtin().build("hash-replicated", world.clone(), nodes, &chosen).expect("a lock");
        let few = TooFewReplicas { acknowledged: 1, wanted: 2 };
        match world.run(lock.acquire("stock", TTL)) {
            Acquired::Granted(_) => assert!(is_granted),
            other => {
                assert_eq!(other, Acquired::Refused(Refusal::TooFewReplicas(few)));
                assert!(!is_granted);
            }
        }
        assert_eq!(count(&world).is_some(), is_granted);
    }
}

/// A lock with hold counts, by the book: who has it, how often, and until when.
#[derive(Default)]
struct Model {
    held: Option<(usize, u64, u64)>,
}

impl Model {
    fn now(&mut self, now: u64) {
        self.held = self.held.filter(|(_, _, ends)| *ends >= now);
    }

    fn acquire(&mut self, thread: usize, now: u64) -> bool {
        self.now(now);
        let count = match self.held {
            None => 0,
            Some((owner, count, _)) if owner == thread => count,
            Some(_) => return false,
        };
        self.held = Some((thread, count + 1, now + nanos(TTL)));
        true
    }

    fn extend(&mut self, thread: usize, now: u64) -> bool {
        self.now(now);
        match &mut self.held {
            Some((owner, _, ends)) if *owner == thread => {
                *ends = now + nanos(TTL);
                true
            }
            _ => false,
        }
    }

    fn release(&mut self, thread: usize, now: u64) -> bool {
        self.now(now);
        match self.held {
            Some((owner, count, _)) if owner == thread => {
                self.held = (count > 1).then_some((thread, count - 1, now + nanos(TTL)));
                true
            }
            _ => false,
        }
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("short")
}

/// What comes next, after a well-known generator: nothing but variety is asked of it.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

#[test]
fn hold_counts_are_those_of_a_model_over_random_sequences() {
    let (mut nested, mut expired) = (0, 0);
    for seed in 0..200 {
        let world = world();
        let mut threads = [(); 3].map(|()| lock(&world, &Switches::new()));
        let mut grants: [Vec<Grant>; 3] = Default::default();
        let (mut model, mut random) = (Model::default(), seed);
        for _ in 0..60 {
            let thread = usize::try_from(draw(&mut random, 3)).expect("three");
            // Each call takes 1 ms to the node and 1 ms back.
            let at = nanos(world.now()) + nanos(ms(1));
            match draw(&mut random, 5) {
                0 | 1 => {
                    let acquired = world.run(threads[thread].acquire("stock", TTL));
                    assert_eq!(matches!(acquired, Acquired::Granted(_)), model.acquire(thread, at));
                    if let Acquired::Granted(grant) = acquired {
                        grants[thread].push(grant);
                    }
                    nested += usize::from(model.held.is_some_and(|(_, count, _)| count > 1));
                }
                2 => {
                    let Some(grant) = grants[thread].last_mut() else { continue };
                    let extended = world.run(threads[thread].extend(grant, TTL));
                    assert_eq!(matches!(extended, Extended::Extended { .. }), model.extend(thread, at));
                }
                3 => {
                    let Some(grant) = grants[thread].pop() else { continue };
                    let released = world.run(threads[thread].release(&grant));
                    assert_eq!(released == Released::Released, model.release(thread, at));
                    expired += usize::from(released == Released::NotOwner);
                }
                _ => world.sleep(ms(1_000 * draw(&mut random, 12))),
            }
            model.now(nanos(world.now()));
            let owner = |(owner, count, _): (usize, u64, u64)| ((owner + 1).to_string(), count);
            let seen = count(&world).map(|(field, count)| {
                (field.split_once(':').expect("an id and a thread").1.to_owned(), count)
            });
            let alive = seen.filter(|_| model.held.is_some() || !ended(&world));
            assert_eq!(alive, model.held.map(owner), "seed {seed}");
        }
    }
    assert!(nested > 500 && expired > 100, "{nested} nested holds, {expired} that had ended");
}

/// Whether the key's time is up: the node finds out when it is asked for something.
fn ended(world: &World) -> bool {
    let now = nanos(world.now());
    world.node("a", |node| node.keys.get("stock").is_none_or(|key| key.expires_at < now))
}
