//! A lock on etcd, in place of Redis. Whoever wants it puts a key of its own in line, which goes with its lease, and
//! waits until the keys before it are gone. Releases of etcd's Go client before 3.5 had the flaw that is found here.

use std::time::Duration;

use doublehold::check::{Checked, Client, Existing, Fault, Guard, Predicate, Wanted, When, World, check};
use doublehold::services::{EtcdClient, LeaseKeeper, ServiceError, ServiceKind};

/// A key in line that is first, and its lease, which is renewed until this is dropped.
struct Held {
    etcd: EtcdClient,
    key: String,
    token: String,
    _lease: LeaseKeeper,
}

async fn take(
    etcd: EtcdClient,
    client: Client,
    wanted: Wanted,
    looks_again: bool,
) -> Result<Option<Held>, ServiceError> {
    let (line, token) = (format!("{}/", wanted.resource), client.token());
    let id = etcd.grant(wanted.ttl).await?;
    let _lease = etcd.keep(id, wanted.ttl);
    let key = format!("{line}{token}");
    let revision = etcd.put(&key, token.clone(), Some(id)).await?;
    while let Some((before, _)) = etcd.last_before(&line, revision).await? {
        etcd.wait_deleted(&before).await?;
    }
    // All who were before it are gone. So may be its own key, if its lease ended meanwhile.
    if looks_again && etcd.get(&key).await?.is_none() {
        return Ok(None);
    }
    Ok(Some(Held { etcd, key, token, _lease }))
}

impl Guard<ServiceError> for Held {
    fn token(&self) -> Vec<u8> {
        self.token.clone().into()
    }
    async fn release(self) -> Result<bool, ServiceError> {
        self.etcd.delete(&self.key).await
    }
}

/// `c2` stops for 15 s while it waits behind `c1`, and by then its lease of 10 s is over, and `c3` has the lock.
fn checked(looks_again: bool) -> Checked {
    let world = World::new("a pause in line")
        .service(ServiceKind::Etcd)
        .client("c1", ["acquire", "work 15s", "release"])
        .client("c2", ["work 1s", "acquire", "read", "work 5s", "write", "release"])
        .client("c3", ["work 2s", "acquire", "read", "work 10s", "write", "release"])
        .fault(Fault::pause("c2").at(When::from(Duration::from_secs(3))).lasting(Duration::from_secs(15)));
    let take = move |etcd, client, wanted| take(etcd, client, wanted, looks_again);
    check(&world, Existing::on_service("in-line", take)).seeds(1..=100).run().expect("the world makes sense")
}

#[test]
fn whoever_does_not_look_again_believes_in_a_key_that_is_gone() {
    let checked = checked(false);
    println!("{checked}");
    assert_eq!(checked.count(Predicate::P1).violated, 100, "two hold it: {checked}");
    assert_eq!(checked.count(Predicate::P4).violated, 100, "and an update is lost: {checked}");
}

#[test]
fn whoever_looks_again_stands_in_line_anew() {
    checked(true).assert_holds(&[Predicate::P1, Predicate::P2, Predicate::P3, Predicate::P4]);
}
