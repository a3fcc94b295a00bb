//! A lock on each service, as somebody may write it, right or with a plain mistake: a wrong one grants what it asked
//! for, whatever the service has answered.

use doublehold::check::{
    BoxLock, Client, ConfigError, Descriptor, Existing, Guard, LockKind, NodeName, SimEnv, Switches, Wanted,
};
use doublehold::services::{
    CreateMode, CreatedNode, DataSession, DatabaseClient, EtcdClient, LeaseKeeper, Op, ServiceError,
    ServiceKind, SessionState, ZooKeeperClient,
};

/// A lock on a service, right or wrong.
pub(super) fn on(service: ServiceKind, right: bool) -> AnyKind {
    AnyKind(match service {
        ServiceKind::ZooKeeper => {
            let take = move |zookeeper, client, wanted| in_line(zookeeper, client, wanted, right);
            Box::new(Existing::on_service("mine", take))
        }
        ServiceKind::Etcd => {
            let take = move |etcd, client, wanted| key_with_lease(etcd, client, wanted, right);
            Box::new(Existing::on_service("mine", take))
        }
        ServiceKind::Database => {
            let take = move |database, client, wanted| row(database, client, wanted, right);
            Box::new(Existing::on_service("mine", take))
        }
    })
}

/// One of several kinds.
pub(super) struct AnyKind(Box<dyn LockKind<SimEnv>>);

impl LockKind<SimEnv> for AnyKind {
    fn descriptor(&self) -> Descriptor {
        self.0.descriptor()
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.0.check()
    }

    fn awaits_tokio(&self) -> bool {
        self.0.awaits_tokio()
    }

    fn build(&self, env: SimEnv, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        self.0.build(env, nodes, chosen)
    }
}

/// A node in ZooKeeper's line.
struct Place {
    zookeeper: ZooKeeperClient,
    node: CreatedNode,
    token: String,
}

async fn in_line(
    zookeeper: ZooKeeperClient,
    client: Client,
    wanted: Wanted,
    right: bool,
) -> Result<Option<Place>, ServiceError> {
    let (lock, token) = (format!("/{}", wanted.resource), client.token());
    let own = format!("{lock}/n-");
    let node = loop {
        zookeeper.wait_connected().await;
        match zookeeper.create(&own, token.clone(), CreateMode::EphemeralSequential).await {
            Ok(node) => break node,
            // The node may be in line, without anybody who knows its number.
            Err(_) => remove_own(&zookeeper, &lock, &token).await,
        }
    };
    loop {
        if !right {
            break;
        }
        zookeeper.wait_connected().await;
        let Ok(names) = zookeeper.children(&lock).await else { continue };
        let line: Vec<String> = names.iter().map(|name| format!("{lock}/{name}")).collect();
        if !line.contains(&node.path) {
            return Ok(None); // the session is over, and the node went with it
        }
        match line.into_iter().filter(|path| *path < node.path).max() {
            None => break,
            // If the connection ends, the line is looked at again.
            Some(before) => zookeeper.wait_deleted(&before).await.unwrap_or_default(),
        }
    }
    Ok(Some(Place { zookeeper, node, token }))
}

/// Removes every node of the line that holds the token.
async fn remove_own(zookeeper: &ZooKeeperClient, lock: &str, token: &str) {
    let sweep = async || {
        for name in zookeeper.children(lock).await? {
            let path = format!("{lock}/{name}");
            if zookeeper.data(&path).await?.as_deref() == Some(token.as_bytes()) {
                zookeeper.delete(&path).await?;
            }
        }
        Ok(())
    };
    loop {
        zookeeper.wait_connected().await;
        match sweep().await {
            Err(ServiceError::Disconnected) => {}
            // Swept, or there is no line yet.
            Ok(()) | Err(_) => return,
        }
    }
}

impl Guard<ServiceError> for Place {
    fn token(&self) -> Vec<u8> {
        self.token.clone().into()
    }

    fn lost(&self) -> Option<bool> {
        Some(self.zookeeper.state() == SessionState::Lost)
    }

    fn fencing(&self) -> Option<u64> {
        Some(self.node.zxid)
    }

    async fn release(self) -> Result<bool, ServiceError> {
        loop {
            self.zookeeper.wait_connected().await;
            if let Ok(was_there) = self.zookeeper.delete(&self.node.path).await {
                return Ok(was_there);
            }
        }
    }
}

/// A key of etcd that goes with its lease.
struct Key {
    etcd: EtcdClient,
    name: String,
    token: String,
    revision: u64,
    lease: LeaseKeeper,
}

async fn key_with_lease(
    etcd: EtcdClient,
    client: Client,
    wanted: Wanted,
    right: bool,
) -> Result<Option<Key>, ServiceError> {
    let (name, token) = (wanted.resource, client.token());
    let id = etcd.grant(wanted.ttl).await?;
    let put = Op::Put { key: name.clone(), value: token.clone().into(), lease: Some(id) };
    let put = etcd.transact(&name, 0, vec![put], Vec::new()).await?;
    if right && !put.succeeded {
        etcd.revoke(id).await?;
        etcd.wait_deleted(&name).await?;
        return Ok(None); // who is refused asks again
    }
    let lease = etcd.keep(id, wanted.ttl);
    Ok(Some(Key { etcd, name, token, revision: put.revision, lease }))
}

impl Guard<ServiceError> for Key {
    fn token(&self) -> Vec<u8> {
        self.token.clone().into()
    }

    fn lost(&self) -> Option<bool> {
        Some(self.lease.is_over())
    }

    fn fencing(&self) -> Option<u64> {
        Some(self.revision)
    }

    async fn release(self) -> Result<bool, ServiceError> {
        let delete = Op::Delete { key: self.name.clone() };
        Ok(self.etcd.transact(&self.name, self.revision, vec![delete], Vec::new()).await?.succeeded)
    }
}

/// A row that is locked in a transaction.
pub(super) struct Row {
    session: DataSession,
    token: String,
    /// The guard shows the session, so that its holder writes in it.
    pub(super) shows_session: bool,
}

pub(super) async fn row(
    database: DatabaseClient,
    client: Client,
    wanted: Wanted,
    right: bool,
) -> Result<Option<Row>, ServiceError> {
    let (session, token) = (database.session().await?, client.token());
    session.begin().await?;
    match right {
        true => session.select_for_update(&wanted.resource, token.clone()).await?,
        false => drop(session.try_select_for_update(&wanted.resource, token.clone()).await?),
    }
    Ok(Some(Row { session, token, shows_session: true }))
}

impl Guard<ServiceError> for Row {
    fn token(&self) -> Vec<u8> {
        self.token.clone().into()
    }

    fn session(&self) -> Option<DataSession> {
        self.shows_session.then(|| self.session.clone())
    }

    async fn release(self) -> Result<bool, ServiceError> {
        Ok(self.session.commit().await.is_ok())
    }
}
