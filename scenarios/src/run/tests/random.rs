//! Locks used in any order: many small runs from seeds, each beside a model that knows what was right.
//!
//! Assumes that each command is answered: a reply that is lost is one that its call does not look at. What else can go
//! wrong on the way is left to the catalogue.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use doublehold_history::{CallId, EventKind, wrong_release};
use doublehold_lockimpl::Env;
use redis::Value;
use redis::aio::ConnectionLike;

use crate::run::engine::env::Connection;
use crate::run::tests::{CLIENT, Client, LOCK, ask, del, doubts, run, send, touches};

/// How many runs a test is: each takes about a millisecond.
const RUNS: u64 = 300;

/// Random numbers from a seed.
pub(in crate::run) struct Dice(pub(in crate::run) u64);

impl Dice {
    /// One of 0 to `sides - 1`.
    pub(in crate::run) fn roll(&mut self, sides: usize) -> usize {
        // Knuth's, of which the upper bits are the better ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

/// A client that rolls dice.
struct Player {
    client: Client,
    connection: Connection,
    dice: Dice,
    /// Whether it gave back or extended what was another call's.
    did_wrong: Arc<AtomicBool>,
}

impl Player {
    async fn number(&mut self, words: &[&str]) -> i64 {
        match self.connection.req_packed_command(redis::cmd(words[0]).arg(&words[1..])).await {
            Ok(Value::Int(number)) => number,
            other => panic!("{words:?}: {other:?}"),
        }
    }

    async fn tell(&mut self, words: &[&str]) {
        send(&mut self.connection, words).await;
    }

    /// Gives the key this lease, or one that is a little longer.
    async fn lease(&mut self, ms: usize) {
        let ms = ms + self.dice.roll(9);
        self.tell(&["PEXPIRE", "stock", &ms.to_string()]).await;
    }

    /// One of those that are held, taken out.
    fn takes_out<T>(&mut self, held: &mut Vec<T>) -> T {
        held.swap_remove(self.dice.roll(held.len()))
    }

    fn refused(&self, call: CallId) {
        self.client.recorder.leave(CLIENT);
        let why = "another has it".to_owned();
        self.client.recorder.note(CLIENT, |client| EventKind::Refused { client, call, why });
    }

    fn unknown(&self, call: CallId) {
        self.client.recorder.leave(CLIENT);
        let why = "a reply was lost".to_owned();
        self.client.recorder.note(CLIENT, |client| EventKind::AcquireUnknown { client, call, why });
    }

    fn leaves(&self) {
        self.client.recorder.leave(CLIENT);
    }
}

/// Plays a game from many seeds: WR is violated where the player says that it did wrong, and holds elsewhere. In how
/// many runs it did.
fn play<F>(game: impl Fn(Player) -> F + Copy + Send + Sync + 'static) -> usize
where
    F: Future<Output = ()> + Send + 'static,
{
    let plays = |seed: &u64| {
        let (seed, did_wrong) = (*seed, Arc::new(AtomicBool::new(false)));
        let shared = did_wrong.clone();
        let history = run(move |client| {
            let did_wrong = shared.clone();
            async move {
                let connection = client.connect().await;
                game(Player { client, connection, dice: Dice(seed), did_wrong }).await;
            }
        });
        let did_wrong = did_wrong.load(Ordering::Relaxed);
        let expected = if did_wrong { "violated" } else { "holds" };
        let said = (touches(&history), doubts(&history));
        assert_eq!(wrong_release(&history).as_str(), expected, "seed {seed}: {said:?}");
        did_wrong
    };
    (0..RUNS).filter(plays).count()
}

/// What every call of a re-entrant lock does to give back what it counted up.
async fn gives_back(player: &mut Player, field: &str) {
    if player.number(&["HINCRBY", "stock", field, "-1"]).await > 0 {
        player.lease(30_000).await;
    } else {
        ask(&mut player.connection, &del()).await;
    }
}

async fn reentrant(mut player: Player) {
    let (mut held, owner) = (Vec::new(), "uuid:1");
    for _ in 0..12 {
        match player.dice.roll(8) {
            0..=2 => {
                let call = player.client.acquires(owner);
                player.number(&["HINCRBY", "stock", owner, "1"]).await;
                player.lease(30_000).await;
                match player.dice.roll(6) {
                    0 => player.unknown(call),
                    // It cleans up before it says no.
                    1 => {
                        gives_back(&mut player, owner).await;
                        player.refused(call);
                    }
                    more => {
                        // The first reply was lost, so it asks again; and will give back once.
                        if more == 2 {
                            player.number(&["HINCRBY", "stock", owner, "1"]).await;
                        }
                        player.client.granted(call);
                        held.push(call);
                    }
                }
            }
            3..=4 if !held.is_empty() => {
                let call = held[player.dice.roll(held.len())];
                player.client.recorder.enter(CLIENT, call);
                player.lease(30_000).await;
                player.leaves();
            }
            5.. if !held.is_empty() => {
                let call = player.takes_out(&mut held);
                player.client.releases(call);
                gives_back(&mut player, owner).await;
                player.leaves();
            }
            _ => {}
        }
    }
}

#[test]
fn a_reentrant_lock_is_right_in_whatever_order_its_calls_give_it_back() {
    assert_eq!(play(reentrant), 0);
}

/// Who counts to one has the lock; all others count down again, some time.
async fn counter(mut player: Player) {
    let (mut held, mut in_vain) = (None, Vec::new());
    for _ in 0..14 {
        match (player.dice.roll(6), held) {
            (0..=2, _) => {
                let call = player.client.recorder.begin(CLIENT, LOCK);
                player.client.env.marks_key(b"stock");
                if player.number(&["INCR", "stock"]).await == 1 {
                    player.lease(30_000).await;
                    player.client.granted(call);
                    held = Some(call);
                } else {
                    player.refused(call);
                    in_vain.push(call);
                }
            }
            (3, Some(call)) => {
                player.client.releases(call);
                player.number(&["DECR", "stock"]).await;
                player.leaves();
                held = None;
            }
            (4..=5, _) if !in_vain.is_empty() => {
                let call = player.takes_out(&mut in_vain);
                player.client.recorder.enter(CLIENT, call);
                player.number(&["DECR", "stock"]).await;
                player.leaves();
            }
            _ => {}
        }
    }
}

#[test]
fn a_counter_is_right_whenever_those_who_came_second_count_down() {
    assert_eq!(play(counter), 0);
}

/// Two owners of a re-entrant lock whose lease ends while calls hold it. Some later call of the same owner may have
/// the key when a call comes back: what that call then does to it is wrong.
async fn expiring(mut player: Player) {
    let owners = ["uuid:0", "uuid:1"];
    let mut held: Vec<(CallId, usize)> = Vec::new();
    // Whose the key is, and what each call has counted up of it.
    let mut key: Option<(usize, BTreeMap<CallId, i64>)> = None;
    for _ in 0..14 {
        match player.dice.roll(9) {
            0..=3 => {
                let owner = player.dice.roll(2);
                let call = player.client.acquires(owners[owner]);
                if key.as_ref().is_some_and(|(has, _)| *has != owner) {
                    player.refused(call);
                    continue;
                }
                player.number(&["HINCRBY", "stock", owners[owner], "1"]).await;
                player.lease(30_000).await;
                let (_, counts) = key.get_or_insert_with(|| (owner, BTreeMap::new()));
                counts.insert(call, 1);
                if player.dice.roll(5) == 0 {
                    player.unknown(call);
                } else {
                    player.client.granted(call);
                    held.push((call, owner));
                }
            }
            4 => {
                player.leaves();
                player.client.host.sleep(Duration::from_secs(31)).await;
                key = None;
            }
            5 if !held.is_empty() => {
                let (call, owner) = held[player.dice.roll(held.len())];
                // A watchdog that looks whether its owner's field is there.
                let Some((_, counts)) = key.as_ref().filter(|(has, _)| *has == owner) else { continue };
                player.client.recorder.enter(CLIENT, call);
                player.lease(29_000).await;
                player.leaves();
                if !counts.contains_key(&call) {
                    return player.did_wrong.store(true, Ordering::Relaxed);
                }
            }
            _ if !held.is_empty() => {
                let (call, owner) = player.takes_out(&mut held);
                player.client.releases(call);
                if let Some((_, counts)) = key.as_mut().filter(|(has, _)| *has == owner) {
                    gives_back(&mut player, owners[owner]).await;
                    match counts.get_mut(&call) {
                        Some(count) if *count > 0 => *count -= 1,
                        _ => return player.did_wrong.store(true, Ordering::Relaxed),
                    }
                    if counts.values().sum::<i64>() == 0 {
                        key = None;
                    }
                }
                player.leaves();
            }
            _ => {}
        }
    }
}

#[test]
fn a_wrong_release_of_a_reentrant_lock_is_seen_where_there_was_one_and_nowhere_else() {
    let wrong = play(expiring);
    assert!(wrong > 10, "it was right in nearly all runs: {wrong}");
}

/// Whether the key holds this owner's name.
async fn is_its(player: &mut Player, name: &str) -> bool {
    let cmd = redis::cmd("GET").arg("stock").to_owned();
    player.connection.req_packed_command(&cmd).await == Ok(Value::BulkString(name.into()))
}

/// Takes the key for an owner: if it is there already, it may lengthen its lease, or set it again.
async fn takes(player: &mut Player, name: &str) -> bool {
    if is_its(player, name).await {
        match player.dice.roll(3) {
            0 => player.tell(&["SET", "stock", name, "XX", "PX", "30000"]).await,
            1 => player.lease(30_000).await,
            _ => {}
        }
    } else if player.dice.roll(2) == 0 {
        player.tell(&["SET", "stock", name, "NX", "PX", "30000"]).await;
    } else if player.number(&["SETNX", "stock", name]).await == 1 {
        player.lease(30_000).await;
    }
    is_its(player, name).await
}

/// A string that is its owner's name, which looks before it does anything.
async fn named(mut player: Player) {
    let mut held: [Option<CallId>; 2] = [None; 2];
    for _ in 0..14 {
        let owner = player.dice.roll(2);
        let name = ["a", "b"][owner];
        match (player.dice.roll(9), held[owner]) {
            (0..=4, None) => {
                let call = player.client.acquires(name);
                if !takes(&mut player, name).await {
                    player.refused(call);
                } else if player.dice.roll(4) == 0 {
                    player.unknown(call);
                } else {
                    player.client.granted(call);
                    held[owner] = Some(call);
                }
            }
            (5, _) => {
                player.leaves();
                player.client.host.sleep(Duration::from_secs(31)).await;
                for grant in held.iter_mut().filter_map(Option::take) {
                    let noticed = |client| EventKind::ExpiryNoticed { client, grant };
                    player.client.recorder.note(CLIENT, noticed);
                }
            }
            (6, Some(call)) => {
                player.client.recorder.enter(CLIENT, call);
                if is_its(&mut player, name).await {
                    match player.dice.roll(2) {
                        0 => player.lease(29_000).await,
                        _ => player.tell(&["SET", "stock", name, "PX", "30000"]).await,
                    }
                }
                player.leaves();
            }
            (_, Some(call)) => {
                player.client.releases(call);
                if is_its(&mut player, name).await {
                    ask(&mut player.connection, &del()).await;
                }
                player.leaves();
                held[owner] = None;
            }
            _ => {}
        }
    }
}

#[test]
fn an_owners_name_is_right_whichever_of_its_calls_took_it_without_learning_of_it() {
    assert_eq!(play(named), 0);
}
