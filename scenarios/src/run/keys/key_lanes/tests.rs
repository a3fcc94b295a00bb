//! Lanes, touches and doubts of random sequences of commands, against a node of a few lines that knows who set what.
//!
//! Each call has a token of its own, which it tells before anything else, when all is over, or never; some commands are
//! of no call, and some values of no lock. Values that several calls share, counts and hashes are for `key_marks`
//! and `counters`.

mod model;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use doublehold_history::{CallId, EventKind, History, KeyOp, LockId, NodeId, TrueNs};
use doublehold_lockimpl::Env;
use doublehold_sim_redis::core::{KeyChange, Stored, StoredValue};
use proptest::prelude::*;

use self::model::{Call, Key, Meaning, Model, NO_CALL, Sent, Span, UNMARKED};
use crate::report::{KeyEnd, KeyOrigin, KeySpan};
use crate::run::Driver;
use crate::run::engine::env::Connection;
use crate::run::recorder::Recorder;
use crate::run::tests::{CLIENT, Client, recorded, send};

/// The locks and their keys: one is named otherwise.
const LOCKS: [(&str, &str); 2] = [("stock", "stock"), ("orders", "lock:orders")];
/// A message's way to the node.
const WAY: Duration = Duration::from_millis(1);
const MS: u64 = 1_000_000;
/// A value that is no call's token.
const NOBODYS: &str = "nobody's";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Tells {
    First,
    Last,
    Never,
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Begins(Tells),
    IsGranted,
    /// A call's own token, if it is its lock's key and it means to; otherwise a value that no lock has. If it is free,
    /// or anyway.
    Sets {
        own: bool,
        if_free: bool,
        ttl: Option<u64>,
    },
    /// For so long, or for ever.
    Prolongs(Option<u64>),
    /// In one of several ways.
    Deletes(usize),
    Reads,
    Flushes,
    /// The node's process ends, and another has its keys from its file.
    Restarts,
    /// A replica hears what its master holds.
    Copies,
    /// The replica's process ends.
    ForgetsCopies,
    Waits(u64),
}

#[derive(Clone, Copy, Debug)]
struct Step {
    /// Which of the calls so far; nobody's if there is none.
    by: Option<usize>,
    lock: usize,
    act: Act,
}

/// One run: the client that plays it, and the model that is told.
struct Play {
    client: Client,
    connection: Connection,
    model: Arc<Mutex<Model>>,
}

impl Play {
    fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().expect("no step panics")
    }

    /// The time now, and what the wall clocks say, in milliseconds.
    fn now(&self) -> (u64, i64) {
        let clocks = self.client.host.clocks();
        (clocks.monotonic.0, clocks.wall.0.div_euclid(MS as i64))
    }

    async fn take(&mut self, step: Step) {
        let calls = self.model().calls.len();
        let by = step.by.filter(|_| calls > 0).map(|by| by % calls);
        match by {
            Some(by) => self.client.recorder.enter(CLIENT, CallId(by as u64 + 1)),
            None => self.client.recorder.leave(CLIENT),
        }
        match step.act {
            Act::Begins(tells) => self.begins(step.lock, tells),
            Act::IsGranted => by.into_iter().for_each(|by| self.is_granted(by)),
            Act::Waits(millis) => self.client.host.sleep(Duration::from_millis(millis)).await,
            Act::Restarts | Act::Copies | Act::ForgetsCopies => self.node_does(step),
            _ => {
                let (at, at_ms) = self.now();
                let sent = Sent { by, at: at + WAY.as_nanos() as u64, at_ms: at_ms + WAY.as_millis() as i64 };
                let words = self.command(step, sent);
                send(&mut self.connection, &words.iter().map(String::as_str).collect::<Vec<_>>()).await;
            }
        }
    }

    fn begins(&self, lock: usize, tells: Tells) {
        self.client.recorder.begin(CLIENT, LockId(lock as u32));
        let mut model = self.model();
        if tells == Tells::First {
            self.client.env.marks(token(model.calls.len()).as_bytes());
        }
        model.calls.push(Call { lock, tells, granted: false, has_changed_a_key: false });
    }

    fn is_granted(&self, call: usize) {
        let mut model = self.model();
        if !std::mem::replace(&mut model.calls[call].granted, true) {
            model.granted.push(call);
            self.client.granted_of(CallId(call as u64 + 1), LockId(model.calls[call].lock as u32));
        }
    }

    /// The words of a command, which the model is told of as if it had been executed.
    fn command(&self, Step { lock, act, .. }: Step, sent: Sent) -> Vec<String> {
        let (mut model, key) = (self.model(), LOCKS[lock].1);
        model.expire(sent.at, sent.at_ms);
        let words = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
        match act {
            Act::Sets { own, if_free, ttl } => {
                let of = sent.by.filter(|by| own && model.calls[*by].lock == lock);
                model.set(lock, sent, of, if_free, ttl);
                let mut set = vec!["SET".to_owned(), key.to_owned(), of.map_or(NOBODYS.to_owned(), token)];
                set.extend(ttl.iter().flat_map(|ttl| ["PX".to_owned(), ttl.to_string()]));
                set.extend(if_free.then(|| "NX".to_owned()));
                set
            }
            Act::Prolongs(ttl) => {
                model.expires(lock, sent, ttl.map(|ttl| sent.at_ms + ttl as i64));
                words(&ttl.map_or(format!("PERSIST {key}"), |ttl| format!("PEXPIRE {key} {ttl}")))
            }
            Act::Deletes(way) => {
                model.delete(lock, sent, KeyEnd::Deleted);
                let script = ["EVAL", "return redis.call('DEL', KEYS[1])", "1", key].map(str::to_owned);
                let plain = ["DEL", "UNLINK", "GETDEL"].get(way);
                plain.map_or(script.into(), |command| words(&format!("{command} {key}")))
            }
            Act::Flushes => {
                (0..LOCKS.len()).for_each(|lock| model.delete(lock, sent, KeyEnd::Flushed));
                words("FLUSHALL")
            }
            _ => words(&format!("GET {key}")),
        }
    }

    /// What the nodes do by themselves.
    fn node_does(&self, Step { lock, act, .. }: Step) {
        let (mut model, recorder, (at, at_ms)) = (self.model(), &self.client.recorder, self.now());
        model.expire(at, at_ms);
        match act {
            Act::Restarts => {
                model.restart(at);
                recorder.forget_node(NodeId(0));
                let keys = model.keys.iter();
                keys.for_each(|(lock, key)| tell(recorder, KeyOrigin::Loaded, *lock, (None, Some(key))));
            }
            Act::Copies => {
                let (had, has) = (model.copies.get(&lock), model.keys.get(&lock));
                if had.is_some() || has.is_some() {
                    tell(recorder, KeyOrigin::Replicated, lock, (had, has));
                }
                model.copy(lock, at);
            }
            _ => {
                model.forget_copies(at);
                recorder.forget_node(NodeId(1));
            }
        }
    }
}

/// A node tells of a key that no client's command changed.
fn tell(recorder: &Recorder, origin: KeyOrigin, lock: usize, (had, has): (Option<&Key>, Option<&Key>)) {
    let value = |key: &Key| key.of.map_or(NOBODYS.to_owned(), token);
    let values = [had, has].map(|key| key.map_or(String::new(), value));
    let stored = |key: Option<&Key>, place: usize| {
        let expires_at_ms = key?.expires_at_ms;
        Some(Stored { value: StoredValue::String(values[place].as_bytes()), expires_at_ms })
    };
    let (before, after) = (stored(had, 0), stored(has, 1));
    let command = if after.is_some() { "SET" } else { "DEL" };
    let change = KeyChange { database: 0, key: LOCKS[lock].1.as_bytes(), before, after, command };
    let node = NodeId(u32::from(origin == KeyOrigin::Replicated));
    recorder.record_key_change(node, origin, None, &change);
}

fn token(call: usize) -> String {
    format!("token {call}")
}

async fn play(client: Client, steps: Arc<[Step]>, model: Arc<Mutex<Model>>) {
    LOCKS.iter().for_each(|(lock, key)| client.env.names_key(lock, key.as_bytes()));
    let mut play = Play { connection: client.connect().await, client, model };
    for step in steps.iter() {
        play.take(*step).await;
    }
    // Longer than any key lasts.
    play.client.host.sleep(Duration::from_secs(1)).await;
    let (mut model, (at, at_ms)) = (play.model(), play.now());
    model.expire(at, at_ms);
    for (call, _) in model.calls.iter().enumerate().filter(|(_, call)| call.tells == Tells::Last) {
        play.client.recorder.enter(CLIENT, CallId(call as u64 + 1));
        play.client.env.marks(token(call).as_bytes());
    }
}

fn told(history: &History) -> Vec<(u64, Meaning)> {
    let told = history.events().iter().filter_map(|event| {
        let told = match &event.what {
            EventKind::KeyTouched { lock, by, held, op, .. } => {
                Meaning::Touched { lock: lock.0, by: by.0, held: held.0, is_release: *op == KeyOp::Release }
            }
            EventKind::Unattributed { node: Some(_), why, .. } => Meaning::Doubt(
                [NO_CALL, UNMARKED].into_iter().find(|it| why.contains(it)).unwrap_or("another"),
            ),
            _ => return None,
        };
        Some((event.at.0, told))
    });
    let mut told: Vec<_> = told.collect();
    told.sort();
    told
}

fn spans(spans: Vec<KeySpan>) -> Vec<Span> {
    let plain = |it: KeySpan| {
        let until = it.until.map(|(TrueNs(at), how)| (at, how));
        (it.node.0 == 0, it.lock.0, it.grant.0, it.origin, it.from.0, until)
    };
    spans.into_iter().map(plain).collect()
}

fn steps() -> impl Strategy<Value = Step> {
    let tells = prop_oneof![4 => Just(Tells::First), 1 => Just(Tells::Last), 1 => Just(Tells::Never)];
    let acts = prop_oneof![
        3 => tells.prop_map(Act::Begins),
        3 => Just(Act::IsGranted),
        6 => (proptest::bool::weighted(0.9), any::<bool>(), proptest::option::of(1..60_u64))
            .prop_map(|(own, if_free, ttl)| Act::Sets { own, if_free, ttl }),
        7 => proptest::option::weighted(0.9, 1..90_u64).prop_map(Act::Prolongs),
        3 => (0..4_usize).prop_map(Act::Deletes),
        1 => Just(Act::Reads),
        1 => Just(Act::Flushes),
        1 => Just(Act::Restarts),
        5 => Just(Act::Copies),
        1 => Just(Act::ForgetsCopies),
        3 => (0..40_u64).prop_map(Act::Waits),
    ];
    let step = (proptest::option::weighted(0.9, any::<usize>()), 0..LOCKS.len(), acts);
    step.prop_map(|(by, lock, act)| Step { by, lock, act })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keys_are_whose_a_plain_account_of_all_commands_says(steps in proptest::collection::vec(steps(), 1..60)) {
        let (steps, model): (Arc<[Step]>, Arc<Mutex<Model>>) = (steps.into(), Arc::default());
        let known = model.clone();
        let work = move |client: Client| play(client, steps.clone(), known.clone());
        let (history, lanes) = recorded(Driver::RedisRs, work);
        let model = model.lock().expect("no step panicked");
        prop_assert_eq!(told(&history), model.told());
        prop_assert_eq!(spans(lanes), model.spans());
        let unseen = history.events().iter().find_map(|event| match &event.what {
            EventKind::Unattributed { node: None, why, .. } => Some(why),
            _ => None,
        });
        let expected = model.unseen();
        let is_told = unseen.zip(expected.as_ref()).is_some_and(|(why, words)| why.contains(words));
        prop_assert!(is_told || unseen.is_none() && expected.is_none(), "{unseen:?}, not {expected:?}");
    }
}
