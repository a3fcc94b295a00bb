//! A client of etcd: its connection, and what keeps a lease alive.
//!
//! Three libraries are here. The session of Go's client renews when a third of the lease has passed since the last
//! answer, and gives the lease up by its own monotonic clock; both are seen by loops that look now and then. `etcdctl
//! lock` is that client, and tells the command that it runs nothing. With python-etcd3 the user's own thread renews,
//! and learns of a lease that is over by an answer with no time left, which raises nothing.
//!
//! No call has a timeout of its own: in a cut it waits until TCP delivers it.
//!
//! Not modelled: several hosts to choose from, and the deadline of the first keep-alive.
//!
//! Sources: etcd 3.4.23, `clientv3/lease.go`, `clientv3/concurrency/session.go` and
//! `etcdctl/ctlv3/command/lock_command.go`; python-etcd3 0.12.0, `leases.py`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use doublehold_services::ServiceKind;
use doublehold_services::etcd::{Answer, Etcd, LeaseId, Request};

use super::{LinkEnded, ServiceLink};
use crate::env::{Env, MonotonicTime, NodeName};
use crate::lock::Watch;

/// The time between two looks of Go's client if a keep-alive is due.
const SEND_LOOK: Duration = Duration::from_millis(500);
/// The time between two of its looks if a lease must have ended.
const DEADLINE_LOOK: Duration = Duration::from_secs(1);
/// The first pause of gRPC before it connects again.
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);

/// A library that keeps a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaseClient {
    /// Go's `concurrency.Session`.
    Go,
    /// `etcdctl lock NAME COMMAND`.
    Etcdctl,
    /// python-etcd3, with a thread of the user's that calls `refresh()`.
    Etcd3,
}

/// A client of etcd. Clones share its connection, which is opened when it is first needed, and anew after it has ended.
pub struct EtcdClient<E: Env> {
    pub(super) env: E,
    host: NodeName,
    link: Arc<Mutex<Option<ServiceLink<Etcd>>>>,
}

impl<E: Env> EtcdClient<E> {
    pub(crate) fn new(env: &E, host: NodeName) -> Self {
        Self { env: env.clone(), host, link: Arc::default() }
    }

    /// Sends a request and waits for its answer, for as long as that takes.
    ///
    /// # Errors
    ///
    /// If there is no connection to be had, or it ends before the answer comes.
    pub(crate) async fn ask(&self, request: &Request) -> Result<Answer, LinkEnded> {
        self.link().await?.ask(request).await
    }

    /// Waits until a key that is watched is gone, or the connection ends.
    ///
    /// # Errors
    ///
    /// If the connection ends.
    pub(crate) async fn wait_gone(&self, key: &str) -> Result<(), LinkEnded> {
        let link = self.link().await?;
        loop {
            let (known, ended) = link.progress();
            if ended {
                return Err(LinkEnded);
            }
            if link
                .take_events()
                .iter()
                .any(|event| matches!(event, Answer::KeyGone { key: gone } if gone == key))
            {
                return Ok(());
            }
            link.wait_for_more(known).await;
        }
    }

    /// Waits before the next attempt to connect.
    pub(crate) async fn pause(&self) {
        self.sleep(RECONNECT_PAUSE).await;
    }

    /// Keeps a lease alive until it is known to be over, or `watch` is stopped. Then tells its holder.
    pub(crate) async fn keep_alive(
        self,
        library: LeaseClient,
        lease: LeaseId,
        ttl: Duration,
        watch: Watch,
        heeds: bool,
    ) {
        let notice = match library {
            LeaseClient::Go => {
                self.renew_as_go(lease, ttl).await;
                "Done"
            }
            // It learns the same, and tells nobody.
            LeaseClient::Etcdctl => return self.renew_as_go(lease, ttl).await,
            LeaseClient::Etcd3 => {
                self.refresh(lease, ttl).await;
                "TTL 0"
            }
        };
        self.env.notice_loss(notice).await;
        watch.lose(heeds);
        if library == LeaseClient::Etcd3 && !heeds {
            // The thread goes on, and so do its answers.
            loop {
                self.refresh(lease, ttl).await;
            }
        }
    }

    /// Renews until an answer says that no time is left, or the lease must have ended by this client's clock. Both are
    /// looked at now and then, from the beginning of the session on.
    pub(super) async fn renew_as_go(&self, lease: LeaseId, ttl: Duration) {
        let began = self.env.monotonic().await;
        let mut deadline = began.saturating_add(ttl);
        loop {
            let seen = next_look(began, deadline, DEADLINE_LOOK);
            match self.env.race(self.ask(&Request::KeepAlive { lease }), seen).await {
                Err(_) => return,
                Ok(Ok(Answer::Alive { ttl })) if ttl.is_zero() => return,
                Ok(Ok(_)) => {
                    let now = self.env.monotonic().await;
                    deadline = now.saturating_add(ttl);
                    self.env.sleep_until(next_look(began, now.saturating_add(ttl / 3), SEND_LOOK)).await;
                }
                Ok(Err(LinkEnded)) => self.sleep(SEND_LOOK).await,
            }
            if self.env.monotonic().await >= next_look(began, deadline, DEADLINE_LOOK) {
                return;
            }
        }
    }

    /// Renews every third of the lease, as its user's thread does, until an answer says that no time is left.
    async fn refresh(&self, lease: LeaseId, ttl: Duration) {
        loop {
            self.sleep(ttl / 3).await;
            match self.ask(&Request::KeepAlive { lease }).await {
                Ok(Answer::Alive { ttl }) if ttl.is_zero() => return,
                // An error goes to a log.
                Ok(_) | Err(LinkEnded) => {}
            }
        }
    }

    pub(super) async fn link(&self) -> Result<ServiceLink<Etcd>, LinkEnded> {
        let known = self.link.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(link) = known.filter(|link| !link.progress().1) {
            return Ok(link);
        }
        let stream =
            self.env.stream(self.host.as_str(), ServiceKind::Etcd.port()).await.map_err(|_| LinkEnded)?;
        let link = ServiceLink::new(&self.env, stream);
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = Some(link.clone());
        Ok(link)
    }

    async fn sleep(&self, by: Duration) {
        let until = self.env.monotonic().await.saturating_add(by);
        self.env.sleep_until(until).await;
    }
}

/// Returns the first look at or after a time, of looks that come so often since a beginning.
fn next_look(began: MonotonicTime, at: MonotonicTime, every: Duration) -> MonotonicTime {
    let passed = u128::from(at.0.saturating_sub(began.0));
    let looks = passed.div_ceil(every.as_nanos());
    began.saturating_add(Duration::from_nanos(u64::try_from(looks * every.as_nanos()).unwrap_or(u64::MAX)))
}

impl<E: Env> Clone for EtcdClient<E> {
    fn clone(&self) -> Self {
        Self { env: self.env.clone(), host: self.host.clone(), link: self.link.clone() }
    }
}
