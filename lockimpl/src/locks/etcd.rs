//! The locks of etcd: a key that goes with a lease.
//!
//! In the way of Go's `concurrency.Mutex`, which `etcdctl lock` uses as well, waiters stand in line:
//!
//! 1. Ask for a lease, and keep it alive from then on.
//! 2. In one transaction, write a key of one's own under the lock's name, and ask which key there was made first. That
//!    one has the lock.
//! 3. Otherwise wait until the key made right before one's own is gone, and look for another such key.
//! 4. Look if one's own key is still there. Releases before 3.5 do not, and hand out locks of leases that are over.
//!
//! In the way of python-etcd3 all use one key, and who writes it first after it is gone has the lock.
//!
//! The lease is that of the key. No deadline is computed: the holder is told when its library gives the lease up.
//!
//! Sources: etcd 3.4.23 and 3.5.0, `clientv3/concurrency/mutex.go` and `key.go`; python-etcd3 0.12.0, `locks.py`.

use std::time::Duration;

use doublehold_services::ServiceKind;
use doublehold_services::etcd::{Answer, LeaseId, Op, OpResult, Request};

use crate::config::{Descriptor, FENCING, Facts, Form, LockConfig, Nodes, Sends, Switches};
use crate::env::{DeadlinePassed, Env, MonotonicTime, NodeName};
use crate::lock::{Acquired, Doubt, Grant, Lock, Refusal, Released, Token, Watch};
use crate::registry::{BoxLock, ConfigError, LockKind, only_node};
use crate::services::LinkEnded;
use crate::services::etcd::{EtcdClient, LeaseClient};

/// The lock as one of these libraries has it.
pub(crate) struct EtcdKind(pub(crate) LeaseClient);

/// The switches of one lock. A library has some of them.
#[derive(Clone, Copy)]
struct Config {
    checks_key: bool,
    heeds_loss: bool,
    fencing: bool,
}

/// The switches of `concurrency.Mutex`.
struct MutexConfig(Config);
/// The switches of `etcdctl lock`, which tells its command nothing.
struct EtcdctlConfig(Config);
/// The switches of python-etcd3, in which nobody waits in line.
struct Etcd3Config(Config);

fn choose_check(form: &mut Form<'_>, default: bool) -> bool {
    form.flag(
        "checks_key",
        default,
        "look, after a wait, if the own key is still there; releases before 3.5 do not",
    )
}

fn choose_heeds(form: &mut Form<'_>) -> bool {
    form.flag("heeds_loss", false, "stop when the library says that the lease is over")
}

fn choose_fencing(form: &mut Form<'_>) -> bool {
    form.flag("fencing", false, FENCING)
}

impl LockConfig for MutexConfig {
    fn read(form: &mut Form<'_>) -> Self {
        let (checks_key, heeds_loss, fencing) =
            (choose_check(form, true), choose_heeds(form), choose_fencing(form));
        Self(Config { checks_key, heeds_loss, fencing })
    }

    fn facts(&self) -> Facts {
        facts(self.0)
    }
}

impl LockConfig for EtcdctlConfig {
    fn read(form: &mut Form<'_>) -> Self {
        let (checks_key, fencing) = (choose_check(form, false), choose_fencing(form));
        Self(Config { checks_key, heeds_loss: false, fencing })
    }

    fn facts(&self) -> Facts {
        facts(self.0)
    }
}

impl LockConfig for Etcd3Config {
    fn read(form: &mut Form<'_>) -> Self {
        let (heeds_loss, fencing) = (choose_heeds(form), choose_fencing(form));
        Self(Config { checks_key: false, heeds_loss, fencing })
    }

    fn facts(&self) -> Facts {
        facts(self.0)
    }
}

fn facts(config: Config) -> Facts {
    let to_hold = vec!["GRANT", "TXN", "WATCH", "KEEPALIVE", "REVOKE"];
    Facts {
        sends: Some(Sends { to_hold, to_extend: Vec::new() }),
        extends: false,
        deadline: false,
        fencing: config.fencing,
        waits: true,
        renews: true,
        readmits: false,
    }
}

impl<E: Env> LockKind<E> for EtcdKind {
    fn descriptor(&self) -> Descriptor {
        let described = match self.0 {
            LeaseClient::Go => Descriptor::from_config::<MutexConfig>(
                MUTEX,
                "etcd's concurrency.Mutex: a key in line that goes with a lease, kept alive beside its holder",
                "etcd 3.4.23 and 3.5.0, clientv3/concurrency/mutex.go",
                Nodes::One,
            ),
            LeaseClient::Etcdctl => Descriptor::from_config::<EtcdctlConfig>(
                ETCDCTL,
                "etcdctl lock NAME COMMAND: concurrency.Mutex around a command that hears of nothing",
                "etcd 3.4.23, etcdctl/ctlv3/command/lock_command.go",
                Nodes::One,
            ),
            LeaseClient::Etcd3 => Descriptor::from_config::<Etcd3Config>(
                ETCD3,
                "python-etcd3's Lock: one key that goes with a lease, which a thread of its user's refreshes",
                "python-etcd3 0.12.0, locks.py",
                Nodes::One,
            ),
        };
        described.on_service(ServiceKind::Etcd)
    }

    fn build(&self, env: E, nodes: Vec<NodeName>, chosen: &Switches) -> Result<BoxLock, ConfigError> {
        let config = match self.0 {
            LeaseClient::Go => MutexConfig::from_switches(chosen)?.0,
            LeaseClient::Etcdctl => EtcdctlConfig::from_switches(chosen)?.0,
            LeaseClient::Etcd3 => Etcd3Config::from_switches(chosen)?.0,
        };
        let client = EtcdClient::new(&env, only_node(MUTEX, nodes)?);
        Ok(BoxLock::new(EtcdLock { env, client, library: self.0, config, held: Vec::new() }))
    }
}

const MUTEX: &str = "etcd-mutex";
const ETCDCTL: &str = "etcdctl-lock";
const ETCD3: &str = "etcd3";

struct EtcdLock<E: Env> {
    env: E,
    client: EtcdClient<E>,
    library: LeaseClient,
    config: Config,
    /// The key of each grant.
    held: Vec<(Token, Key)>,
}

/// A key that is written, and goes with its lease.
#[derive(Clone)]
struct Key {
    name: String,
    created: u64,
    lease: LeaseId,
    watch: Watch,
}

/// The end of an attempt without the lock.
enum Stopped {
    /// Another has it, or the time was up.
    Taken,
    /// The own key is gone: the lease ended during the wait.
    LeaseOver,
    /// There was no answer.
    Lost,
}

impl From<LinkEnded> for Stopped {
    fn from(_: LinkEnded) -> Self {
        Stopped::Lost
    }
}

impl From<DeadlinePassed> for Stopped {
    fn from(_: DeadlinePassed) -> Self {
        Stopped::Taken
    }
}

impl<E: Env> EtcdLock<E> {
    async fn take(&mut self, resource: &str, ttl: Duration, limit: Duration, waits: bool) -> Acquired {
        let deadline = self.env.monotonic().await.saturating_add(limit);
        let token = Token::draw(&self.env);
        let taken = match self.library {
            LeaseClient::Go | LeaseClient::Etcdctl => {
                self.stand_in_line(resource, &token, ttl, deadline, waits).await
            }
            LeaseClient::Etcd3 => self.be_first(resource, &token, ttl, deadline, waits).await,
        };
        match taken {
            Ok(key) => {
                let fencing = self.config.fencing.then_some(key.created);
                let watch = Some(key.watch.clone());
                self.held.push((token.clone(), key));
                Acquired::Granted(Grant { fencing, watch, ..Grant::new(resource, token) })
            }
            Err(Stopped::Taken) => Acquired::Refused(Refusal::Taken),
            Err(Stopped::LeaseOver) => Acquired::Unknown(Doubt::ConnectionLost("session expired".to_owned())),
            Err(Stopped::Lost) => {
                self.client.pause().await;
                Acquired::Unknown(Doubt::ConnectionLost("to etcd".to_owned()))
            }
        }
    }

    /// Go's way: one key for each, in the order of their revisions.
    async fn stand_in_line(
        &mut self,
        resource: &str,
        token: &Token,
        ttl: Duration,
        deadline: MonotonicTime,
        waits: bool,
    ) -> Result<Key, Stopped> {
        let lease = self.grant(ttl, deadline).await?;
        let watch = self.keep(lease, ttl);
        let prefix = format!("{resource}/");
        let name = format!("{prefix}{:016x}", lease.0);
        let put = Op::Put { key: name.clone(), value: token.as_bytes().to_vec(), lease: Some(lease) };
        let first = Op::First { prefix: prefix.clone() };
        let request = Request::Transaction {
            key: name.clone(),
            created: 0,
            then: vec![put, first],
            otherwise: Vec::new(),
        };
        let answer = self.env.race(self.client.ask(&request), deadline).await??;
        let Answer::Done { revision, results, .. } = answer else { return Err(Stopped::LeaseOver) };
        let key = Key { name, created: revision, lease, watch };
        let is_first = matches!(&results[..], [_, OpResult::Got(Some((first, _)))] if *first == key.name);
        if is_first {
            return Ok(key);
        }
        let waited = match waits {
            true => self.wait_in_line(&prefix, &key, deadline).await,
            false => Err(Stopped::Taken),
        };
        match waited {
            Ok(()) => Ok(key),
            Err(stopped) => {
                self.give_up(&key).await;
                Err(stopped)
            }
        }
    }

    /// Waits until no key that was made before its own is there.
    async fn wait_in_line(&self, prefix: &str, key: &Key, deadline: MonotonicTime) -> Result<(), Stopped> {
        while let Some(before) =
            self.read(Op::LastBefore { prefix: prefix.to_owned(), revision: key.created }, deadline).await?
        {
            self.env.race(self.client.ask(&Request::Watch { key: before.clone() }), deadline).await??;
            self.env.race(self.client.wait_gone(&before), deadline).await??;
        }
        if self.config.checks_key && self.read(Op::Get { key: key.name.clone() }, deadline).await?.is_none() {
            return Err(Stopped::LeaseOver);
        }
        Ok(())
    }

    /// python-etcd3's way: one key for all, and a new lease for each attempt.
    async fn be_first(
        &mut self,
        resource: &str,
        token: &Token,
        ttl: Duration,
        deadline: MonotonicTime,
        waits: bool,
    ) -> Result<Key, Stopped> {
        let name = format!("/locks/{resource}");
        loop {
            let lease = self.grant(ttl, deadline).await?;
            let put = Op::Put { key: name.clone(), value: token.as_bytes().to_vec(), lease: Some(lease) };
            let request = Request::Transaction {
                key: name.clone(),
                created: 0,
                then: vec![put],
                otherwise: Vec::new(),
            };
            let answer = self.env.race(self.client.ask(&request), deadline).await??;
            let Answer::Done { revision, succeeded, .. } = answer else { return Err(Stopped::LeaseOver) };
            if succeeded {
                let watch = self.keep(lease, ttl);
                return Ok(Key { name, created: revision, lease, watch });
            }
            if !waits {
                return Err(Stopped::Taken);
            }
            self.env.race(self.client.ask(&Request::Watch { key: name.clone() }), deadline).await??;
            self.env.race(self.client.wait_gone(&name), deadline).await??;
        }
    }

    async fn grant(&self, ttl: Duration, deadline: MonotonicTime) -> Result<LeaseId, Stopped> {
        match self.env.race(self.client.ask(&Request::Grant { ttl }), deadline).await?? {
            Answer::Granted { lease, .. } => Ok(lease),
            _ => Err(Stopped::Lost),
        }
    }

    fn keep(&self, lease: LeaseId, ttl: Duration) -> Watch {
        let watch = Watch::new(None);
        let (library, heeds) = (self.library, self.config.heeds_loss);
        let keeping = self.client.clone().keep_alive(library, lease, ttl, watch.clone(), heeds);
        watch.runs(self.env.spawn(keeping));
        watch
    }

    /// Reads one key: its name, if there is one.
    async fn read(&self, op: Op, deadline: MonotonicTime) -> Result<Option<String>, Stopped> {
        let request =
            Request::Transaction { key: String::new(), created: 0, then: vec![op], otherwise: Vec::new() };
        match self.env.race(self.client.ask(&request), deadline).await?? {
            Answer::Done { mut results, .. } => match results.pop() {
                Some(OpResult::Got(found)) => Ok(found.map(|(name, _)| name)),
                _ => Err(Stopped::Lost),
            },
            _ => Err(Stopped::Lost),
        }
    }

    async fn give_up(&self, key: &Key) {
        key.watch.stop();
        // If no answer comes, the key goes with its lease.
        let _: Result<Answer, LinkEnded> = self.client.ask(&Request::Revoke { lease: key.lease }).await;
    }
}

impl<E: Env> Lock for EtcdLock<E> {
    async fn acquire(&mut self, resource: &str, ttl: Duration) -> Acquired {
        self.take(resource, ttl, ttl, false).await
    }

    async fn acquire_within(&mut self, resource: &str, ttl: Duration, limit: Duration) -> Acquired {
        self.take(resource, ttl, limit, true).await
    }

    /// Deletes the key if it is the holder's. Go's client says nothing of one that is gone.
    async fn release(&mut self, grant: &Grant) -> Released {
        let Some(at) = self.held.iter().position(|(token, _)| *token == grant.token) else {
            return Released::NotOwner;
        };
        let (_, key) = self.held.swap_remove(at);
        key.watch.stop();
        let delete = Op::Delete { key: key.name.clone() };
        let request = Request::Transaction {
            key: key.name,
            created: key.created,
            then: vec![delete],
            otherwise: Vec::new(),
        };
        match self.client.ask(&request).await {
            Ok(Answer::Done { succeeded: false, .. }) if self.library == LeaseClient::Etcd3 => {
                Released::NotOwner
            }
            Ok(_) => Released::Released,
            Err(LinkEnded) => Released::Unknown(Doubt::ConnectionLost("to etcd".to_owned())),
        }
    }
}
