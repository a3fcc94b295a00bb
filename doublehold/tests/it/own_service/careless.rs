//! A lock on etcd that removes its key whoever made it: as on Redis, that is a wrong release.

use std::time::Duration;

use doublehold::check::{Checked, Client, Existing, Guard, Predicate, Wanted, World, check};
use doublehold::services::{EtcdClient, Op, ServiceError, ServiceKind};

/// A key whose lease nobody keeps alive.
struct Key {
    etcd: EtcdClient,
    name: String,
    token: String,
    revision: u64,
    compares: bool,
}

async fn take(
    etcd: EtcdClient,
    client: Client,
    wanted: Wanted,
    compares: bool,
) -> Result<Option<Key>, ServiceError> {
    let (name, token) = (wanted.resource, client.token());
    let lease = Some(etcd.grant(wanted.ttl).await?);
    let put = Op::Put { key: name.clone(), value: token.clone().into(), lease };
    let put = etcd.transact(&name, 0, vec![put], Vec::new()).await?;
    Ok(put.succeeded.then_some(Key { etcd, name, token, revision: put.revision, compares }))
}

impl Guard<ServiceError> for Key {
    fn token(&self) -> Vec<u8> {
        self.token.clone().into()
    }

    async fn release(self) -> Result<bool, ServiceError> {
        if !self.compares {
            return self.etcd.delete(&self.name).await;
        }
        let delete = Op::Delete { key: self.name.clone() };
        Ok(self.etcd.transact(&self.name, self.revision, vec![delete], Vec::new()).await?.succeeded)
    }
}

/// Work that takes longer than the lease: by the time that c1 gives the lock back, c2 has it.
fn checked(compares: bool) -> Checked {
    let world = World::new("long work")
        .service(ServiceKind::Etcd)
        .clients(2, ["acquire", "work 3s..5s", "release"])
        .ttl(Duration::from_secs(2));
    let take = move |etcd, client, wanted| take(etcd, client, wanted, compares);
    check(&world, Existing::on_service("mine", take)).seeds(1..=20).no_files().run().expect("it can be run")
}

#[test]
fn a_key_that_is_removed_whoever_made_it_is_a_wrong_release() {
    let careless = checked(false);
    assert!(careless.count(Predicate::WR).violated > 10, "{careless}");
    checked(true).assert_holds(&[Predicate::WR]);
}
