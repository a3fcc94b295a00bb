//! Refusals of worlds and locks that do not fit, each with its cause and the way out.

use std::time::Duration;

use doublehold::check::{
    CheckError, Client, Existing, Guard, LockKind, MultiplexedConnection, SimEnv, Wanted, World, check,
};
use doublehold::services::{DatabaseClient, ServiceError, ServiceKind};
use redis::RedisResult;

use super::{TURN, locks};

/// A lock on Redis, which no world here has.
struct Nothing;

impl Guard for Nothing {
    fn token(&self) -> Vec<u8> {
        Vec::new()
    }

    async fn release(self) -> RedisResult<bool> {
        Ok(true)
    }
}

fn on_redis(name: &'static str) -> impl LockKind<SimEnv> {
    Existing::on_one_node(name, async |_: MultiplexedConnection, _: Client, _: Wanted| Ok(Some(Nothing)))
}

fn refused(world: World, lock: impl LockKind<SimEnv>) -> String {
    match check(&world.clients(2, TURN), lock).seeds(1..=2).no_files().run() {
        Err(CheckError::World(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_world_that_its_lock_does_not_fit_says_what_to_do() {
    let on = |service| World::new("mine").service(service);
    let etcd = || locks::on(ServiceKind::Etcd, true);
    for (said, says) in [
        (
            refused(on(ServiceKind::Etcd), on_redis("mine")),
            "cannot use `mine`: `service.kind`: the `mine` lock runs on Redis\n\
             hint: remove `[service]`, or let the lock run on it: `Existing::on_service` says so",
        ),
        (
            refused(on(ServiceKind::ZooKeeper), etcd()),
            "cannot use `mine`: `service.kind`: the `mine` lock needs etcd, not zookeeper\n\
             hint: write `kind = \"etcd\"`",
        ),
        (
            refused(on(ServiceKind::Etcd).nodes(["A", "B", "C"]), etcd()),
            "cannot use `mine`: `nodes.names` names 3 hosts: etcd is one host here, since the group behind it is taken \
             as correct\nhint: name one host; a fault inside the group cannot be simulated",
        ),
        (
            refused(on(ServiceKind::Etcd).ttl(Duration::from_millis(1500)), etcd()),
            "cannot use `mine`: etcd gives leases of whole seconds, 2s at least, and the ttl is 1.5s\n\
             hint: use whole seconds from \"2s\"",
        ),
        (
            refused(
                on(ServiceKind::ZooKeeper).ttl(Duration::from_secs(1)),
                locks::on(ServiceKind::ZooKeeper, true),
            ),
            "cannot use `mine`: `lock.ttl` is 1 s, and with a tick of 2 s ZooKeeper gives sessions from 4 s to 40 s: two \
             heartbeats fit into no less\nhint: use such a `ttl`, or another `service.tick`",
        ),
        (
            refused(on(ServiceKind::Etcd).master("etcd"), etcd()),
            "cannot use `mine`: `nodes.master` is a setting of Redis, and the node is etcd\n\
             hint: remove it; what a service can be told stands under `[service]`",
        ),
    ] {
        assert_eq!(said, says);
    }
}

#[test]
fn a_lock_of_a_service_stands_beside_none_of_another() {
    let world = World::new("two").service(ServiceKind::Etcd).clients(2, TURN);
    let of_redis = check(&world, locks::on(ServiceKind::Etcd, true)).beside(on_redis("theirs"));
    let said = of_redis.no_files().run().expect_err("no world fits both").to_string();
    assert_eq!(
        said,
        "`mine` runs on etcd and `theirs` on one node: no world fits both\n\
         hint: name a reference that runs on the same nodes"
    );
}

#[test]
fn a_database_lock_without_a_session_shows_nothing_where_clients_write_in_it() {
    let lock = || {
        Existing::on_service("mine", async |database: DatabaseClient, client: Client, wanted: Wanted| {
            let mut row = locks::row(database, client, wanted, true).await?;
            row.iter_mut().for_each(|row| row.shows_session = false);
            Ok::<_, ServiceError>(row)
        })
    };
    let world = World::new("no session").service(ServiceKind::Database).clients(2, TURN);
    let said = check(&world, lock()).seeds(1..=2).no_files().run().expect("it can be run").to_string();
    assert!(said.contains("a grant came without one: return it from `Guard::session`"), "{said}");

    let elsewhere = world.with(|scenario| scenario.resource.in_session = false);
    let checked = check(&elsewhere, lock()).seeds(1..=10).no_files().run().expect("it can be run");
    checked.assert_holds(&super::EXCLUSION);
}
