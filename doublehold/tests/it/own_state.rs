//! What the processes of somebody's own lock keep: made by a function of the user's, once for each process of each run.
//! What its closure captured instead is refused, since all clients of all runs would share it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use doublehold::check::{
    CheckError, Client, Existing, Fault, Guard, LockKind, Mark, MultiplexedConnection, PrepareError, SimEnv,
    Wanted, When, World, check,
};
use doublehold_history::EventKind;
use doublehold_scenarios::scenario::{HostSetup, Role};
use doublehold_scenarios::{Engine, OwnLocks, Scenario, builtin_locks};
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
        redis::cmd("DEL").arg(&self.key).query_async(&mut self.redis).await
    }
}

async fn take(mut redis: MultiplexedConnection, wanted: Wanted, token: String) -> RedisResult<Option<Held>> {
    let key = wanted.resource;
    let mut set = redis::cmd("SET");
    set.arg(&key).arg(&token).arg("NX").arg("PX").arg(wanted.ttl.as_millis() as u64);
    let set: Option<String> = set.query_async(&mut redis).await?;
    Ok(set.map(|_| Held { redis, key, token }))
}

/// A client id, as a lock manager draws one when it is made.
struct Manager {
    id: String,
}

fn with_id() -> impl LockKind<SimEnv> {
    let take = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        take(redis, wanted, client.state::<Manager>().id.clone()).await
    };
    Existing::on_one_node("mine", take).with_state(|client: &Client| Manager { id: client.token() })
}

fn world() -> World {
    World::new("ids")
        .nodes(["A"])
        .clients(2, ["acquire", "work 100ms", "release"])
        .rounds(3)
        .ttl(Duration::from_secs(10))
}

/// Whose token each grant of a run had, in order.
fn tokens(world: &World, seed: u64) -> Vec<(u32, String)> {
    let engine = OwnLocks(builtin_locks().with(with_id()));
    let scenario = world.scenario("mine", engine.locks()).expect("the world makes sense");
    let report = engine.run(&scenario, seed);
    let granted = |kind: &EventKind| match kind {
        EventKind::Granted { client, token, .. } => Some((client.0, token.clone())),
        _ => None,
    };
    report.history.events().iter().filter_map(|event| granted(&event.what)).collect()
}

#[test]
fn a_process_makes_its_state_once_and_no_other_process_or_run_has_it() {
    let of = |seed, client| {
        let tokens = tokens(&world(), seed).into_iter().filter(|(who, _)| *who == client);
        tokens.map(|(_, token)| token).collect::<Vec<_>>()
    };
    let mut all = BTreeSet::new();
    for (seed, client) in [(1, 0), (1, 1), (2, 0), (2, 1)] {
        let tokens = of(seed, client);
        assert_eq!(tokens.len(), 3, "client {client} has three rounds");
        assert!(tokens.iter().all(|token| token == &tokens[0]), "one process, one id: {tokens:?}");
        assert!(all.insert(tokens[0].clone()), "seed {seed}, client {client}: another's id");
    }
    assert_eq!(of(1, 0), of(1, 0), "the same seed draws the same");
}

#[test]
fn a_process_that_was_restarted_makes_its_state_again() {
    let crash = Fault::crash("c1").at(When::event("c1", Mark::Release));
    let tokens = tokens(&world().fault(crash.lasting(Duration::from_secs(1))), 1);
    let ids: BTreeSet<&str> =
        tokens.iter().filter(|(who, _)| *who == 0).map(|(_, token)| token.as_str()).collect();
    assert_eq!(ids.len(), 2, "one before the crash, one after: {tokens:?}");
}

/// Makes all clients threads of one process.
fn share_process(scenario: &mut Scenario) {
    let first = scenario.clients[0].host;
    let process = HostSetup { name: "web".to_owned(), ..scenario.hosts[first.0].clone() };
    scenario.hosts.insert(first.0, process);
    if scenario.resource.host >= first {
        scenario.resource.host.0 += 1;
    }
    for client in &mut scenario.clients {
        client.host.0 += 1;
        scenario.hosts[client.host.0].role = Role::Thread(first);
    }
}

#[test]
fn the_threads_of_a_process_share_its_state() {
    let tokens = tokens(&world().with(share_process), 1);
    let threads: BTreeSet<u32> = tokens.iter().map(|(who, _)| *who).collect();
    let ids: BTreeSet<&str> = tokens.iter().map(|(_, token)| token.as_str()).collect();
    assert_eq!((threads.len(), ids.len()), (2, 1), "two threads, one id: {tokens:?}");
}

#[track_caller]
fn assert_refused(lock: impl LockKind<SimEnv>) {
    match check(&world(), lock).seeds(1..=2).no_files().run() {
        Err(error @ CheckError::Prepare(PrepareError::Lock(_))) => {
            let said = error.to_string();
            assert!(
                said.starts_with("the lock `mine` owns what all clients of all runs would share"),
                "{said}"
            );
            assert!(said.contains("`Existing::with_state` make what a process keeps"), "{said}");
        }
        Err(other) => panic!("another error: {other}"),
        Ok(checked) => panic!("it is not refused: {checked}"),
    }
}

/// The runs are the same whether or not an earlier one has left its token here, so that no trace tells.
#[test]
fn what_a_closure_shares_among_runs_is_refused_where_no_trace_tells() {
    let cached: Arc<Mutex<Option<String>>> = Arc::default();
    let lock = move |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        let cached = cached.clone();
        async move {
            let token = client.token();
            *cached.lock().expect("nobody panics") = Some(token.clone());
            take(redis, wanted, token).await
        }
    };
    assert_refused(Existing::on_one_node("mine", lock));
}

#[test]
fn what_a_closure_owns_is_refused_on_several_nodes_too_and_of_a_state_maker() {
    let prefix = String::from("lock:");
    let lock = move |client: Client, wanted: Wanted| {
        let key = format!("{prefix}{}", wanted.resource);
        async move {
            let redis = client.connect(&client.nodes()[0]).await?;
            let token = client.token();
            take(redis, Wanted { resource: key, ttl: wanted.ttl }, token).await
        }
    };
    assert_refused(Existing::on_nodes("mine", lock));

    let ids = Arc::new(Mutex::new(0));
    let lock = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        take(redis, wanted, client.state::<Manager>().id.clone()).await
    };
    let manager = move |_: &Client| {
        let mut last = ids.lock().expect("nobody panics");
        *last += 1;
        Manager { id: last.to_string() }
    };
    assert_refused(Existing::on_one_node("mine", lock).with_state(manager));
}

#[test]
fn constants_that_a_closure_copies_are_its_own() {
    let (prefix, tries) = ("lock:", 3);
    let lock = move |redis: MultiplexedConnection, client: Client, wanted: Wanted| async move {
        let token = format!("{tries}{}", client.token());
        take(redis, Wanted { resource: format!("{prefix}{}", wanted.resource), ..wanted }, token).await
    };
    let lock = Existing::on_one_node("mine", lock).key(|name| format!("lock:{name}"));
    check(&world(), lock).seeds(1..=2).no_files().run().expect("it owns nothing");
}

#[test]
fn a_state_that_nobody_makes_is_said_with_the_way_out() {
    let lock = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        take(redis, wanted, client.state::<Manager>().id.clone()).await
    };
    let checked = check(&world(), Existing::on_one_node("mine", lock)).seeds(1..=2).no_files().run();
    let said = checked.expect("a panic is a finding").to_string();
    assert!(said.contains("no process of the lock keeps a `it::own_state::Manager`"), "{said}");
    assert!(said.contains("give `Existing::with_state` a function that makes it"), "{said}");
}

#[test]
fn a_state_maker_that_panics_is_what_its_run_came_to() {
    let lock = async |redis: MultiplexedConnection, client: Client, wanted: Wanted| {
        take(redis, wanted, client.state::<Manager>().id.clone()).await
    };
    let lock = Existing::on_one_node("mine", lock).with_state(|client: &Client| {
        let id = client.state::<Manager>().id.clone();
        Manager { id }
    });
    let checked = check(&world(), lock).seeds(1..=2).no_files().run().expect("a panic is a finding");
    assert!(checked.tally.panicked.is_some(), "{checked}");
}
